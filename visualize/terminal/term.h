/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A timeline on a terminal, in text that fits its width. What is written contains no control bytes
 * but newlines and, where colours are wanted, the SGR sequences of this file.
 */
#ifndef VISUALIZE_TERM_H
#define VISUALIZE_TERM_H

#include "visualize/model/frame.h"
#include "visualize/model/view.h"

#include <stdio.h>

enum ktr__term_colour {
	KTR__TERM_PLAIN, /* letters stand for states */
	KTR__TERM_256,
	KTR__TERM_RGB
};

struct ktr__term_options {
	unsigned width;  /* [columns] 40 or more */
	unsigned height; /* [lines] 0: as many as there are rows */
	enum ktr__term_colour colour;
	int ascii;
};

/*
 * Finds out about the terminal that fd leads to: its size (80 columns and no height where it has none),
 * its colours from TERM and COLORTERM, its character set from the locale. when is "auto" (colours
 * on a terminal, unless NO_COLOR is set, https://no-color.org/), "always" or "never".
 */
void ktr__term_detect(struct ktr__term_options *options, int fd, const char *when);

/* Columns for time, of which a timeline for this terminal should have as many. */
unsigned ktr__term_columns(const struct ktr__term_options *options);

/* Lines for rows and headings, so that all of the picture fits. */
unsigned ktr__term_lines(const struct ktr__term_options *options);

/* Draws. Errors are those of the stream. */
void ktr__term_draw(FILE *to, const struct ktr__view *view, const struct ktr__frame *frame,
		    const struct ktr__term_options *options);

#endif
