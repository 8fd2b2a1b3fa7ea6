/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree of frames as text: a line each, larger ones first, with a bar for what it is of all. */
#ifndef VISUALIZE_FLAME_TEXT_H
#define VISUALIZE_FLAME_TEXT_H

#include "visualize/flame/flame_view.h"

/* columns: of the terminal; ascii: nothing but. least: a share of all; what is less is counted. 0 or -ENOMEM. */
int ktr__flame_print_tree(const struct ktr__flame_view *view, unsigned columns, int ascii, double least,
			  FILE *to);

#endif
