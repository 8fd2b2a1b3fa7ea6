/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scripts for gnuplot: written into memory, then run, or kept as a file that runs alone.
 *
 *	ktr__gnuplot_begin(&plot, "load.png", 1200, 800, err);
 *	fprintf(plot.to, "plot sin(x)\n");
 *	ktr__gnuplot_end(&plot, err);
 */
#ifndef VISUALIZE_GNUPLOT_H
#define VISUALIZE_GNUPLOT_H

#include "visualize/chart/glyphs.h"

#include <ktr/error.h>

#include <stddef.h>
#include <stdio.h>

enum ktr__gnuplot_format {
	KTR__GNUPLOT_PNG,
	KTR__GNUPLOT_SVG,
	KTR__GNUPLOT_PDF,
	KTR__GNUPLOT_GP,  /* the script itself */
	KTR__GNUPLOT_TEXT /* characters, for a terminal */
};

struct ktr__gnuplot {
	FILE *to;     /* the script, NULL when there is none */
	char *script; /* owned; valid after the end of writing */
	size_t n_script;
	const char *path; /* borrowed; NULL: standard output, as text */
	enum ktr__gnuplot_format format;
	unsigned width, height; /* [pixels], [columns] and [lines] with text */
	struct ktr__glyphs glyphs;
};

/* Does gnuplot draw the texts itself, with this machine's fonts? An SVG is drawn by whoever shows it. */
int ktr__gnuplot_has_fonts(const struct ktr__gnuplot *plot);

/*
 * The format that a file's name asks for. 0, or -EINVAL with the names there are. NULL, and "-",
 * are text on standard output.
 */
int ktr__gnuplot_format_of(const char *path, enum ktr__gnuplot_format *format,
			   struct ktr_error *err);

/*
 * Begins a script for that file with the terminal's settings. 0 or -errno; nothing is owned then.
 */
int ktr__gnuplot_begin(struct ktr__gnuplot *plot, const char *path, unsigned width, unsigned height,
		       struct ktr_error *err);

/*
 * Runs the script and frees it. The file appears complete or not at all, and an older one stays
 * where this fails. -ENOENT: gnuplot is not installed; -EPROTO: it did not like the script.
 */
int ktr__gnuplot_end(struct ktr__gnuplot *plot, struct ktr_error *err);

/* Frees the script without running it. */
void ktr__gnuplot_drop(struct ktr__gnuplot *plot);

#endif
