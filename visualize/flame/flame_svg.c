/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Boxes lie on levels, one pixel apart; all positions are [pixels]. What a graph looks like is Brendan Gregg's,
 * "The Flame Graph", CACM 59(6), 2016: the outermost at the bottom, children by name; and of a comparison his too:
 * red is more, blue is less, the width is that of the trace that is shown.
 */
#include "visualize/flame/flame_svg.h"

#include "visualize/chart/markup.h"
#include "visualize/model/label.h"
#include "visualize/model/palette.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SVG_ROW	   17
#define SVG_MARGIN 12
#define SVG_LINE   17   /* of text */
#define SVG_LEVELS 40  /* they fit on a screen; of more, those are drawn that are not all narrow: */
#define SVG_LEAST  100 /* together a part in so many of the width */
#define SVG_COLUMN 6.7  /* a character of 11 pixels, DejaVu Sans Mono and its like */
#define SVG_CUT    6    /* [columns] of a name that lost its middle, at least: fewer say nothing */

struct svg {
	const struct ktr__flame_view *view;
	FILE *to;     /* NULL: only how high things are is asked */
	double per;   /* pixels of 1 */
	int *narrow;  /* owned; by level: the pixel of the last narrow box, or -1 */
	unsigned levels, more; /* that are drawn; that are not, for what is so far out is narrow */
	int top;      /* of the graph */
};

static unsigned svg_levels(const struct ktr__flame *flame, uint32_t node)
{
	unsigned most = 0;

	for (uint32_t i = flame->node[node].child; i != 0; i = flame->node[i].sibling) {
		unsigned levels = flame->node[i].total[0] > 0 ? svg_levels(flame, i) : 0;

		most = levels > most ? levels : most;
	}
	return most + 1;
}

/* What all frames of each level have, together. */
static void svg_sums(const struct ktr__flame *flame, uint32_t node, uint64_t *sum)
{
	*sum += flame->node[node].total[0];
	for (uint32_t i = flame->node[node].child; i != 0; i = flame->node[i].sibling)
		if (flame->node[i].total[0] > 0)
			svg_sums(flame, i, sum + 1);
}

static int svg_choose(struct svg *s)
{
	const struct ktr__flame *flame = s->view->flame;
	unsigned levels = svg_levels(flame, 0);
	uint64_t *sum = calloc(levels, sizeof(*sum));

	if (sum == NULL)
		return -ENOMEM;
	svg_sums(flame, 0, sum);
	for (s->levels = levels; s->levels > SVG_LEVELS && sum[s->levels - 1] < sum[0] / SVG_LEAST;)
		s->levels--;
	s->more = levels - s->levels;
	free(sum);
	return 0;
}

static void svg_box(const struct svg *s, uint32_t node, unsigned level, double x, double width)
{
	char text[KTR__FLAME_NAME_BYTES + 256], fit[KTR__FLAME_NAME_BYTES];
	int y = s->top + SVG_ROW * (int)(s->view->icicle ? level : s->levels - 1 - level);
	unsigned columns = (unsigned)fmax(0, (width - 6) / SVG_COLUMN);

	ktr__flame_tell(s->view, node, text, sizeof(text));
	fputs("<g><title>", s->to);
	ktr__markup_text(s->to, text);
	fprintf(s->to, "</title><rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"#%06x\"/>", x, y,
		width > 1.5 ? width - 0.5 : width, SVG_ROW - 1, ktr__flame_colour(s->view, node));
	if (columns >= SVG_CUT || ktr__label_columns(ktr__flame_text(s->view->flame, node)) <= columns) {
		uint32_t ink = ktr__palette_on(ktr__flame_colour(s->view, node));

		ktr__label_fit(fit, sizeof(fit), ktr__flame_text(s->view->flame, node), columns, 0);
		fprintf(s->to, "<text x=\"%.2f\" y=\"%d\" fill=\"#%06x\">", x + 3, y + SVG_ROW - 5, ink);
		ktr__markup_text(s->to, fit);
		fputs("</text>", s->to);
	}
	fputs("</g>\n", s->to);
}

static void svg_frame(struct svg *s, uint32_t node, unsigned level, double x)
{
	const struct ktr__flame_node *n = &s->view->flame->node[node];
	double width = (double)n->total[0] * s->per;

	if (n->total[0] == 0 || level >= s->levels)
		return;
	if (width >= 1) {
		svg_box(s, node, level, x, width);
	} else if (s->narrow[level] != (int)x) {
		s->narrow[level] = (int)x;
		svg_box(s, node, level, floor(x), 1);
	}
	for (uint32_t i = n->child; i != 0; i = s->view->flame->node[i].sibling) {
		svg_frame(s, i, level + 1, x);
		x += (double)s->view->flame->node[i].total[0] * s->per;
	}
}

static void svg_text(const struct svg *s, int *y, int size, uint32_t colour, const char *text)
{
	if (text[0] == '\0')
		return;
	*y += SVG_LINE + (size > 12 ? 3 : 0);
	if (s->to == NULL)
		return;
	fprintf(s->to, "<text x=\"%d\" y=\"%d\" style=\"font:%dpx 'DejaVu Sans',sans-serif;fill:#%06x\">", SVG_MARGIN,
		*y, size, colour);
	ktr__markup_text(s->to, text);
	fputs("</text>\n", s->to);
}

/* A long line as several. */
static void svg_lines(const struct svg *s, int *y, int size, uint32_t colour, const char *text)
{
	char line[512];

	while (*text != '\0') {
		size_t most = (s->view->width - 2 * SVG_MARGIN) * 12 / 7 / (unsigned)size, n = strlen(text);

		if (n > most) {
			for (n = most; n > most / 2 && text[n] != ' ';)
				n--;
			while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
				n--;
		}
		if (n >= sizeof(line))
			n = sizeof(line) - 1;
		snprintf(line, n + 1, "%s", text);
		svg_text(s, y, size, colour, line);
		text += n;
		text += *text == ' ';
	}
}

/* From the most that was less to the most that was more. */
static void svg_legend(const struct svg *s, int *y)
{
	int x = SVG_MARGIN, shades = (int)KTR__FLAME_SHADES;
	char text[128];

	if (!s->view->diff)
		return;
	*y += 20;
	if (s->to == NULL)
		return;
	for (int i = -shades; i <= shades; i++, x += 22)
		fprintf(s->to, "<rect x=\"%d\" y=\"%d\" width=\"22\" height=\"12\" fill=\"#%06x\"/>\n", x, *y - 12,
			ktr__flame_shade(i));
	snprintf(text, sizeof(text), "blue: up to %s less for itself, red: more",
		 ktr__flame_number(s->view, s->view->most).text);
	fprintf(s->to, "<text x=\"%d\" y=\"%d\">", x + 8, *y - 2);
	ktr__markup_text(s->to, text);
	fputs("</text>\n", s->to);
}

static void svg_head(const struct svg *s, int *y)
{
	const struct ktr__frame *frame = &s->view->frame;
	char text[128];

	svg_lines(s, y, 15, 0x202020u, frame->title);
	svg_lines(s, y, 12, 0x606060u, frame->subtitle);
	svg_lines(s, y, 12, 0xd55e00u, frame->lost);
	svg_lines(s, y, 12, 0x606060u, frame->note);
	if (s->more) {
		snprintf(text, sizeof(text), "%u more levels, in less than a hundredth of it, are in the page that -o FILE.html writes",
			 s->more);
		svg_lines(s, y, 12, 0x606060u, text);
	}
	svg_legend(s, y);
}

static void svg_foot(const struct svg *s, int *y)
{
	svg_lines(s, y, 11, 0x606060u, s->view->frame.source);
	svg_lines(s, y, 11, 0x606060u, s->view->frame.command);
}

static void svg_whole(struct svg *s)
{
	FILE *to = s->to;
	unsigned width = s->view->width;
	int y = 0, foot = 0, height;

	/* How high are they? */
	s->to = NULL;
	svg_head(s, &y);
	svg_foot(s, &foot);
	s->to = to;
	s->top = y + 10;
	height = s->top + (int)s->levels * SVG_ROW + foot + SVG_LINE;
	fprintf(to,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%d\" viewBox=\"0 0 %u %d\" "
		"style=\"font:11px 'DejaVu Sans Mono',monospace\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		width, height, width, height);
	y = 0;
	svg_head(s, &y);
	svg_frame(s, 0, 0, SVG_MARGIN);
	y = s->top + (int)s->levels * SVG_ROW;
	svg_foot(s, &y);
	fputs("</svg>\n", to);
}

int ktr__flame_svg(const struct ktr__flame_view *view, FILE *to)
{
	struct svg s = { .view = view, .to = to };

	if (svg_choose(&s))
		return -ENOMEM;
	s.narrow = malloc(s.levels * sizeof(*s.narrow));
	if (s.narrow == NULL)
		return -ENOMEM;
	memset(s.narrow, -1, s.levels * sizeof(*s.narrow));
	s.per = (view->width - 2.0 * SVG_MARGIN) / (double)view->flame->node[0].total[0];
	svg_whole(&s);
	free(s.narrow);
	return 0;
}
