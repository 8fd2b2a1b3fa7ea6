/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The look of all charts. Texts are labels at screen coordinates, because gnuplot's own title and key
 * know neither wrapping nor what else has to find room; their widths are estimated from the font's
 * average advance, on the safe side, since gnuplot picks whatever sans-serif font there is.
 */
#include "visualize/chart.h"
#include "visualize/palette.h"

#include <string.h>

#define CHART_EDGE 20.0 /* [pixels] of empty border */

/* [pixels per character and point] of DejaVu Sans, the widest of the usual fonts, with a reserve. */
#define CHART_ADVANCE 0.72

int ktr__chart_begin(struct ktr__chart *chart, const char *path, unsigned width, unsigned height,
		     struct ktr_error *err)
{
	memset(chart, 0, sizeof(*chart));
	chart->width = width;
	chart->height = height;
	chart->bottom = height;
	if (ktr__gnuplot_begin(&chart->plot, path, width, height, err) != 0)
		return -err->code;
	chart->to = chart->plot.to;
	return 0;
}

int ktr__chart_end(struct ktr__chart *chart, struct ktr_error *err)
{
	return ktr__gnuplot_end(&chart->plot, err);
}

double ktr__chart_text_width(const char *text, unsigned size)
{
	return ktr__label_columns(text) * size * CHART_ADVANCE;
}

void ktr__chart_text(struct ktr__chart *chart, double x, double y, const char *align, unsigned size,
		     int bold, uint32_t colour, const char *text)
{
	unsigned points = chart->plot.format == KTR__GNUPLOT_PDF ? size * 9 / 10 :
			  chart->plot.format == KTR__GNUPLOT_SVG ? size * 12 / 10 : size;

	fprintf(chart->to, "set label %u ", ++chart->n_labels);
	ktr__label_gnuplot(chart->to, text);
	fprintf(chart->to, " at screen %.5f, screen %.5f %s front font 'sans%s,%u' tc rgb '#%06x'\n",
		x / chart->width, 1 - y / chart->height, align, bold ? ":Bold" : "", points, colour);
}

void ktr__chart_box(struct ktr__chart *chart, double x, double y, double width, double height,
		    uint32_t colour)
{
	fprintf(chart->to,
		"set object rectangle from screen %.5f, screen %.5f to screen %.5f, screen %.5f"
		" fs solid noborder fc rgb '#%06x'\n",
		x / chart->width, 1 - (y + height) / chart->height, (x + width) / chart->width,
		1 - y / chart->height, colour);
}

void ktr__chart_area(struct ktr__chart *chart, double left, double right, double top, double bottom)
{
	fprintf(chart->to,
		"set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
		"set tmargin at screen %.5f\nset bmargin at screen %.5f\n",
		left / chart->width, right / chart->width, 1 - top / chart->height,
		1 - bottom / chart->height);
}

void ktr__chart_style(struct ktr__chart *chart)
{
	fputs("set border 3 lw 1 lc rgb '#808080'\n"
	      "set tics nomirror out scale 0.6 tc rgb '#202020'\n"
	      "set grid lw 0.5 lc rgb '#d0d0d0'\n"
	      "unset key\n", chart->to);
}

/* How many characters of a text make a line of so many pixels: up to a blank where there is one. */
static size_t chart_break(const char *text, double pixels, unsigned size)
{
	char piece[4 * KTR__LABEL_BYTES];
	size_t best = 0;

	if (ktr__chart_text_width(text, size) <= pixels)
		return strlen(text);
	for (size_t n = strcspn(text, " "); text[n] != '\0'; n += 1 + strcspn(text + n + 1, " ")) {
		snprintf(piece, sizeof(piece), "%.*s", (int)n, text);
		if (n >= sizeof(piece) || ktr__chart_text_width(piece, size) > pixels)
			break;
		best = n;
	}
	if (best > 0)
		return best;
	/* One long word: as many whole characters as fit. */
	for (best = 1; text[best] != '\0'; best++) {
		snprintf(piece, sizeof(piece), "%.*s", (int)best, text);
		if (((unsigned char)text[best] & 0xc0) != 0x80 && ktr__chart_text_width(piece, size) > pixels)
			break;
	}
	return best;
}

/* Writes a text in as many lines as it needs, two at most, from y downwards. Returns the next y. */
static double chart_lines(struct ktr__chart *chart, double y, unsigned size, int bold,
			  uint32_t colour, const char *text)
{
	double step = size * 1.75, pixels = (chart->width - 2 * CHART_EDGE) / (bold ? 1.15 : 1);
	char line[4 * KTR__LABEL_BYTES];

	for (unsigned i = 0; text[0] != '\0' && i < 2; i++) {
		size_t n = chart_break(text, pixels, size);

		snprintf(line, sizeof(line), "%.*s%s", (int)n, text, i == 1 && text[n] ? "…" : "");
		ktr__chart_text(chart, CHART_EDGE, y + step / 2, "left", size, bold, colour, line);
		y += step;
		text += n;
		text += strspn(text, " ");
	}
	return y;
}

static unsigned chart_n_lines(const struct ktr__chart *chart, unsigned size, const char *text)
{
	double pixels = chart->width - 2 * CHART_EDGE;

	if (text[0] == '\0')
		return 0;
	return text[chart_break(text, pixels, size)] == '\0' ? 1 : 2;
}

void ktr__chart_frame(struct ktr__chart *chart, const struct ktr__frame *frame)
{
	char command[sizeof(frame->command) + 16];
	double y = 12, foot;

	y = chart_lines(chart, y, 13, 1, KTR__INK, frame->title);
	y = chart_lines(chart, y, 10, 1, KTR__INK, frame->also);
	y = chart_lines(chart, y, 10, 0, KTR__INK, frame->subtitle);
	y = chart_lines(chart, y, 10, 1, KTR__VERMILLION, frame->lost);
	chart->top = (unsigned)y + 6;
	snprintf(command, sizeof(command), "made by: %s", frame->command);
	foot = chart->height - 8 -
	       8 * 1.75 * (chart_n_lines(chart, 8, frame->note) +
			   chart_n_lines(chart, 8, frame->source) +
			   (frame->command[0] ? chart_n_lines(chart, 8, command) : 0));
	y = chart_lines(chart, foot, 8, 0, KTR__INK, frame->note);
	y = chart_lines(chart, y, 8, 0, KTR__FAINT, frame->source);
	if (frame->command[0] != '\0')
		chart_lines(chart, y, 8, 0, KTR__FAINT, command);
	chart->bottom = (unsigned)foot - 6;
}
