/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the commands that draw have in common: source, window, output, size, and the command line that
 * goes into the caption.
 *
 *	struct picture picture;
 *
 *	picture_init(&picture, argc, argv, 900, 500);
 *	while ((id = options_next(&options, argc, argv, &value)) > 0 && rc == 0) {
 *		rc = picture_option(&picture, id, value);	1: taken, 0: not one of these, -2: complained
 *		...
 *	}
 *	rc = picture_check(&picture, 0);
 */
#ifndef TOOLS_PICTURE_H
#define TOOLS_PICTURE_H

#include "tools/filter_option.h"
#include "tools/find.h"
#include "tools/options.h"

#include "visualize/chart/gnuplot.h"

#include <ktr/reader.h>

#define PICTURE_FROM   OPTION_LONG(90)
#define PICTURE_TO     OPTION_LONG(91)
#define PICTURE_AROUND OPTION_LONG(92)
#define PICTURE_SIZE   OPTION_LONG(95)

#define OPTIONS_PICTURE                                                                            \
	OPTIONS_SOURCE,                                                                            \
		{ PICTURE_FROM, "from", "TIME",                                                    \
		  "begin there: 1.5s, 20ms; -1s counts from the end" },                            \
		{ PICTURE_TO, "to", "TIME", "end before that" },                                   \
		FILTER_ROW,                                                                        \
		{ PICTURE_AROUND, "around", "TIME",                                                \
		  "look around a moment: 3.2s, or 3.2s+/-20ms" },                                  \
	{                                                                                          \
		PICTURE_SIZE, "size", "WxH", "of the picture, in pixels (1200x800)"                \
	}

struct picture {
	struct find find;
	const char *from, *to, *around, *filter;
	const char *output;              /* -o */
	unsigned width, height;          /* [pixels] */
	unsigned min_width, min_height;  /* [pixels] */
	int sized;                       /* --size was given */
	enum ktr__gnuplot_format format; /* of output; after picture_check() */
	char command[512];               /* for the caption */
};

void picture_init(struct picture *picture, int argc, char **argv, unsigned min_width,
		  unsigned min_height);
int picture_option(struct picture *picture, int id, const char *value);

/*
 * Which format has the output? other: one of the caller's, which is not looked at. 0, or 2 after a
 * complaint.
 */
int picture_check(struct picture *picture, int other);

/* The window; 0 where none was asked for. 0, or 2 after a complaint. */
int picture_window(const struct picture *picture, const struct ktr_reader_info *info,
		   uint64_t *from_ns, uint64_t *to_ns);

#endif
