/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The look of all charts. Texts are labels at screen coordinates, because gnuplot's own title and
 * key know neither wrapping nor what else has to find room; their widths are estimated from the
 * font's average advance, on the safe side, since gnuplot picks whatever sans-serif font there is.
 */
#include "visualize/chart/chart.h"

#include "conf/kit/utf8.h"
#include "visualize/chart/axis.h"
#include "visualize/model/number.h"
#include "visualize/model/palette.h"

#include <math.h>
#include <string.h>

#define CHART_EDGE    20.0 /* [pixels] of empty border */
#define CHART_HEAD    12.0 /* [pixels] above the title */
#define CHART_FOOT    8.0  /* [pixels] below the caption */
#define CHART_APART   6.0  /* [pixels] between texts and what is drawn */
#define CHART_STEP    1.75 /* [pixels per point] from one line of text to the next */
#define CHART_MADE_BY "made by: %s"
#define CHART_FAR     8e307 /* where an axis of numbers ends */

/*
 * [pixels per character and point] of DejaVu Sans, the widest of the usual fonts, with a reserve.
 */
#define CHART_ADVANCE 0.72
#define CHART_FIT_LEAST 8   /* [columns] no text is cut shorter for its wide letters */
#define CHART_FIT_OVER  1.1 /* so much wider than usual a text may be */

int ktr__chart_begin(struct ktr__chart *chart, const char *path, unsigned width, unsigned height,
		     struct ktr_error *err)
{
	memset(chart, 0, sizeof(*chart));
	if (ktr__gnuplot_begin(&chart->plot, path, width, height, err) != 0)
		return -err->code;
	chart->to = chart->plot.to;
	chart->is_text = chart->plot.format == KTR__GNUPLOT_TEXT;
	/* Characters are laid out as pixels of the usual canvas; gnuplot scales them down. */
	chart->width = chart->is_text ? KTR__CHART_WIDTH : width;
	chart->height = chart->is_text ? KTR__CHART_HEIGHT : height;
	chart->bottom = chart->height;
	return 0;
}

int ktr__chart_end(struct ktr__chart *chart, struct ktr_error *err)
{
	return ktr__gnuplot_end(&chart->plot, err);
}

void ktr__chart_cover(struct ktr__chart *chart, char *to, size_t size, const char *text)
{
	FILE *out;

	if (!ktr__gnuplot_has_fonts(&chart->plot) || text[ktr__utf8_plain(text, strlen(text))] == '\0' ||
	    (out = fmemopen(to, size, "w")) == NULL) {
		snprintf(to, size, "%s", text);
		return;
	}
	ktr__glyphs_write(&chart->plot.glyphs, out, text, strlen(text));
	/* What does not fit is cut at the end, which is NUL then. */
	fflush(out);
	fclose(out);
	to[size - 1] = '\0';
}

/* [columns] of letters as wide as usual: capitals and digits are wider, DejaVu Sans by a third and a sixth. */
static double chart_columns(const char *text)
{
	double columns = ktr__label_columns(text);

	for (; *text != '\0'; text++)
		columns += (*text >= 'A' && *text <= 'Z') || *text == '+' ? 0.33
			   : *text >= '0' && *text <= '9'                 ? 0.16
									  : 0;
	return columns;
}

unsigned ktr__chart_fit(struct ktr__chart *chart, char *to, size_t size, const char *text, unsigned columns)
{
	char covered[4 * KTR__LABEL_BYTES];

	ktr__chart_cover(chart, covered, sizeof(covered), text);
	for (unsigned room = columns;; room--) {
		unsigned used = ktr__label_fit(to, size, covered, room, 0);

		if (room <= CHART_FIT_LEAST || chart_columns(to) <= columns * CHART_FIT_OVER)
			return used;
	}
}

double ktr__chart_text_width(const char *text, unsigned size)
{
	return chart_columns(text) * size * CHART_ADVANCE;
}

/* SVG names families as CSS does and finds "Bold" after a blank, cairo after a colon. */
const char *ktr__chart_font(const struct ktr__chart *chart, int bold)
{
	if (chart->plot.format == KTR__GNUPLOT_SVG)
		return bold ? "sans-serif Bold" : "sans-serif";
	return bold ? "sans:Bold" : "sans";
}

void ktr__chart_text(struct ktr__chart *chart, double x, double y, const char *align, unsigned size,
		     int bold, uint32_t colour, const char *text)
{
	unsigned points = chart->plot.format == KTR__GNUPLOT_PDF   ? size * 9 / 10
			  : chart->plot.format == KTR__GNUPLOT_SVG ? size * 12 / 10
								   : size;
	char ltr[8 * KTR__LABEL_BYTES];

	if (chart->is_text)
		return;
	fprintf(chart->to, "set label %u ", ++chart->n_labels);
	ktr__label_ltr(ltr, sizeof(ltr), text);
	ktr__label_gnuplot(chart->to, ltr);
	fprintf(chart->to, " at screen %.5f, screen %.5f %s front font '%s,%u' tc rgb '#%06x'\n",
		x / chart->width, 1 - y / chart->height, align, ktr__chart_font(chart, bold),
		points, colour);
}

void ktr__chart_box(struct ktr__chart *chart, double x, double y, double width, double height,
		    uint32_t colour)
{
	if (chart->is_text)
		return;
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
	      "set grid lt 1 lw 1 lc rgb '#e0e0e0'\n"
	      "unset key\n",
	      chart->to);
}

void ktr__chart_numbers(struct ktr__chart *chart, char axis, double low, double high, unsigned n_ticks)
{
	double step, first;

	/* The largest doubles are farther apart than a double can say. */
	low = fmax(low, -CHART_FAR);
	high = fmin(high, CHART_FAR);
	step = ktr__axis_round_up((high - low) / n_ticks);
	first = ceil(low / step - 1e-9);
	fprintf(chart->to, "set %crange [%.17g:%.17g]\nset %ctics (", axis, low, high, axis);
	for (unsigned i = 0; i < 2 * n_ticks && (first + i) * step <= high; i++)
		fprintf(chart->to, "%s'%s' %.17g", i > 0 ? ", " : "", ktr__number_tick((first + i) * step, step).text,
			(first + i) * step);
	fputs(")\n", chart->to);
}

/* Ticks of a colour bar: 1, 2, 5 times powers of ten, or these alone, and the greatest, which has its room. */
static void chart_colour_ticks(struct ktr__chart *chart, double low, double high)
{
	static const double steps[] = { 1, 2, 5 };
	double power = pow(10, floor(log10(low)));

	fputs("set cbtics (", chart->to);
	for (; power < high; power *= 10)
		for (unsigned i = 0; i < (high / low < 1000 ? 3u : 1u); i++) {
			double at = power * steps[i];

			if (at < low * (1 - 1e-9) || log(high / at) < 0.05 * log(high / low))
				continue;
			fprintf(chart->to, "'%s' %.12g, ", ktr__number_tick(at, power).text, at);
		}
	fprintf(chart->to, "'%s' %.12g)\n", ktr__number_rate(high).text, high);
}

void ktr__chart_colours(struct ktr__chart *chart, double x, double top, double bottom, double low,
			double high, const char *what)
{
	/* gnuplot takes no range of one number. */
	double end = high > low ? high : 2 * low;

	fprintf(chart->to,
		KTR__CHART_MAP "set logscale cb\nset cbrange [%g:%.12g]\n"
			       "set cblabel '%s (log scale)' offset 1.5,0\n"
			       "set colorbox user origin screen %.4f, screen %.4f"
			       " size screen 0.012, screen %.4f\n",
		low, end, what, x / chart->width, 1 - bottom / chart->height,
		(bottom - top) / chart->height);
	if (high > low)
		chart_colour_ticks(chart, low, high);
	else
		fprintf(chart->to, "set cbtics ('%s' %.12g)\n", ktr__number_rate(low).text, low);
}

/* [pixels] of the first n bytes; of those that fit a label's buffer. */
static double chart_prefix_width(const char *text, size_t n, unsigned size)
{
	char piece[4 * KTR__LABEL_BYTES];

	if (n >= sizeof(piece))
		n = sizeof(piece) - 1;
	memcpy(piece, text, n);
	piece[n] = '\0';
	return ktr__chart_text_width(piece, size);
}

/*
 * How many bytes of a text make a line of so many pixels: up to a newline, or to a blank where
 * there is one.
 */
static size_t chart_break(const char *text, double pixels, unsigned size)
{
	size_t best = 0, all = strcspn(text, "\n");

	if (chart_prefix_width(text, all, size) <= pixels)
		return all;
	for (size_t n = strcspn(text, " "); n < all; n += 1 + strcspn(text + n + 1, " \n")) {
		if (chart_prefix_width(text, n, size) > pixels)
			break;
		best = n;
	}
	if (best > 0)
		return best;
	/* One long word: as many whole characters as fit. */
	for (best = 1; best < all; best++)
		if (((unsigned char)text[best] & 0xc0) != 0x80 &&
		    chart_prefix_width(text, best, size) > pixels)
			break;
	return best;
}

/* [pixels] that a line of text has; bold letters are wider. */
static double chart_room(const struct ktr__chart *chart, int bold)
{
	return (chart->width - 2 * CHART_EDGE) / (bold ? 1.15 : 1);
}

/* Writes a text in as many lines as it needs, two at most, from y downwards. Returns the next y. */
static double chart_lines(struct ktr__chart *chart, double y, unsigned size, int bold,
			  uint32_t colour, const char *text)
{
	double step = size * CHART_STEP, pixels = chart_room(chart, bold);
	char line[4 * KTR__LABEL_BYTES], covered[2048];

	ktr__chart_cover(chart, covered, sizeof(covered), text);
	text = covered;
	for (unsigned i = 0; text[0] != '\0' && i < 2; i++) {
		size_t n = chart_break(text, pixels, size);

		snprintf(line, sizeof(line), "%.*s%s", (int)n, text,
			 i == 1 && text[n] != '\0' ? "…" : "");
		ktr__chart_text(chart, CHART_EDGE, y + step / 2, "left", size, bold, colour, line);
		y += step;
		text += n;
		text += strspn(text, " \n");
	}
	return y;
}

/* [pixels] of that. */
static double chart_lines_height(const struct ktr__chart *chart, unsigned size, int bold, const char *text)
{
	if (text[0] == '\0')
		return 0;
	return size * CHART_STEP * (text[chart_break(text, chart_room(chart, bold), size)] == '\0' ? 1 : 2);
}

/* [pixels] of note and caption; command: as they say it. */
static double chart_foot(const struct ktr__chart *chart, const struct ktr__frame *frame, const char *command)
{
	return CHART_FOOT + chart_lines_height(chart, 8, 0, frame->note) +
	       chart_lines_height(chart, 8, 0, frame->source) +
	       (frame->command[0] != '\0' ? chart_lines_height(chart, 8, 0, command) : 0);
}

unsigned ktr__chart_frame_height(unsigned width, const struct ktr__frame *frame)
{
	struct ktr__chart chart = { .width = width };
	char command[sizeof(frame->command) + 16];

	snprintf(command, sizeof(command), CHART_MADE_BY, frame->command);
	return (unsigned)ceil(CHART_HEAD + chart_lines_height(&chart, 13, 1, frame->title) +
			      chart_lines_height(&chart, 10, 1, frame->also) +
			      chart_lines_height(&chart, 10, 0, frame->subtitle) +
			      chart_lines_height(&chart, 10, 1, frame->lost) + 2 * CHART_APART +
			      chart_foot(&chart, frame, command));
}

/* As text the words go before the picture, which is then all of the canvas. */
static void chart_words(struct ktr__chart *chart, const struct ktr__frame *frame)
{
	const char *const words[] = { frame->title, frame->also, frame->subtitle,
				      frame->lost,  frame->note, frame->source };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i][0] != '\0')
			printf("%s\n", words[i]);
	chart->top = 20;
	chart->bottom = chart->height;
}

void ktr__chart_frame(struct ktr__chart *chart, const struct ktr__frame *frame)
{
	char command[sizeof(frame->command) + 16];
	double y = CHART_HEAD, foot;

	if (chart->is_text) {
		chart_words(chart, frame);
		return;
	}

	y = chart_lines(chart, y, 13, 1, KTR__INK, frame->title);
	y = chart_lines(chart, y, 10, 1, KTR__INK, frame->also);
	y = chart_lines(chart, y, 10, 0, KTR__INK, frame->subtitle);
	y = chart_lines(chart, y, 10, 1, KTR__VERMILLION, frame->lost);
	chart->top = (unsigned)(y + CHART_APART);
	snprintf(command, sizeof(command), CHART_MADE_BY, frame->command);
	foot = chart->height - chart_foot(chart, frame, command);
	y = chart_lines(chart, foot, 8, 0, KTR__INK, frame->note);
	y = chart_lines(chart, y, 8, 0, KTR__FAINT, frame->source);
	if (frame->command[0] != '\0')
		chart_lines(chart, y, 8, 0, KTR__FAINT, command);
	chart->bottom = (unsigned)(foot - CHART_APART);
}
