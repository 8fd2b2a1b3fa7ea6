/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flame graph as SVG 1.1 without a script: a box for each frame, which says in full what it is where the mouse
 * rests on it. A row of boxes that are narrower than a pixel has one for each pixel.
 */
#ifndef VISUALIZE_FLAME_SVG_H
#define VISUALIZE_FLAME_SVG_H

#include "visualize/flame/flame_view.h"

#define KTR__FLAME_MIN_WIDTH 400u /* [pixels] */

/* 0 or -ENOMEM; whether all could be written, the stream knows. */
int ktr__flame_svg(const struct ktr__flame_view *view, FILE *to);

#endif
