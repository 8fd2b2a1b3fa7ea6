/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flame graph as one HTML page that needs nothing but a browser: a click makes a frame as wide as the page, a
 * search marks frames and says what they have together. Nothing of a trace gets into it as HTML or as a program.
 */
#ifndef VISUALIZE_FLAME_PAGE_H
#define VISUALIZE_FLAME_PAGE_H

#include "visualize/flame/flame_view.h"

/* 0 or -ENOMEM; whether all could be written, the stream knows. */
int ktr__flame_page(const struct ktr__flame_view *view, FILE *to);

#endif
