/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the commands that draw have in common: source, window, output, size, and the command line that
 * goes into the caption.
 *
 *	OPTIONS_PICTURE(struct plot_command, picture),		in the table of options
 *	...
 *	picture_init(&picture, argc, argv, 900, 500);
 *	rc = picture_check(&picture, 0);
 */
#ifndef TOOLS_PICTURE_H
#define TOOLS_PICTURE_H

#include "tools/filter_option.h"
#include "tools/options.h"
#include "tools/walk.h"
#include "visualize/chart/gnuplot.h"

#include <ktr/reader.h>

/* Takes --size. */
option_take_fn picture_size;

/* member: a struct picture. */
#define OPTIONS_PICTURE(of, member)                                                                \
	OPTIONS_SOURCE(of, member.find), OPTIONS_WINDOW(of, member), OPTION_FILTER(of, member.filter), \
	OPTION_TEXT(0, "around", "TIME", of, member.around, "look around a moment: 3.2s, or 3.2s+/-20ms"), \
	OPTION_TAKE(0, "size", "WxH", of, member, picture_size, "of the picture, in pixels (1200x800)")

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

/*
 * Which format has the output? other: one of the caller's, which is not looked at. 0, or 2 after a
 * complaint.
 */
int picture_check(struct picture *picture, int other);

/* The window; 0 where none was asked for. 0, or 2 after a complaint. */
int picture_window(const struct picture *picture, const struct ktr_reader_info *info,
		   uint64_t *from_ns, uint64_t *to_ns);

#endif
