/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A timeline on a terminal: title, axis, one line per row, legend.
 *
 * With colours a column is a block in its label's colour: as high as labels cover of it, low where
 * the label says idle, and with the second label beside it where that has a quarter or more, else at its foot.
 * Without colours a column is its label's letter, '+' where no label has a third of it, or ':' where it is idle and
 * something else; see term_letter(). Gaps are slashes: in the colour of what is known within their column;
 * where there are no colours its letter takes their place, if it is nowhere else. A scope of a few columns has its
 * name: on its colour, or between brackets where there are none.
 */
#include "visualize/terminal/term.h"

#include "visualize/chart/axis.h"
#include "visualize/model/counter.h"
#include "visualize/model/legend.h"
#include "visualize/model/palette.h"
#include "visualize/model/row.h"

#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TERM_WIDTH_MIN 40u
#define TERM_NO_COLOUR UINT32_MAX
#define TERM_IDLE_AND_MORE ':'
#define TERM_EDGE  128u /* [1/255 of a column] of it that makes the column part of its bar */
#define TERM_NAMED 5u /* [columns] least width of a scope that has its name in it */

struct term {
	FILE *to;
	const struct ktr__term_options *options;
	const struct ktr__view *view;
	uint32_t ink, paper; /* now */
	unsigned label_width, columns, remark_width;
	struct ktr__label_name *name; /* owned: of the lines; NULL: no memory */
	int has_short; /* a state was drawn where another one has most of the time */
};

void ktr__term_detect(struct ktr__term_options *options, int fd, const char *when)
{
	const char *term = getenv("TERM"), *deep = getenv("COLORTERM"), *no = getenv("NO_COLOR");
	const char *width = getenv("COLUMNS");
	int tty = isatty(fd), colours = strcmp(when, "always") == 0;
	struct winsize size;

	memset(options, 0, sizeof(*options));
	options->width = 80;
	if (tty && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
		options->width = size.ws_col;
		options->height = size.ws_row;
	} else if (width != NULL && atoi(width) > 0) {
		options->width = (unsigned)atoi(width);
	}
	if (options->width < TERM_WIDTH_MIN)
		options->width = TERM_WIDTH_MIN;
	if (strcmp(when, "auto") == 0)
		colours = tty && (no == NULL || no[0] == '\0') && term != NULL &&
			  strcmp(term, "dumb") != 0;
	if (colours)
		options->colour = deep != NULL && (strcmp(deep, "truecolor") == 0 ||
						   strcmp(deep, "24bit") == 0)
					  ? KTR__TERM_RGB
					  : KTR__TERM_256;
	options->ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

static unsigned term_label_width(unsigned width)
{
	unsigned label = width / 5;

	return label < 12 ? 12 : label > 26 ? 26 : label;
}

static unsigned term_remark_width(unsigned width)
{
	return width < 100 ? 0 : width < 140 ? 22 : 28;
}

unsigned ktr__term_columns(const struct ktr__term_options *options)
{
	unsigned width = options->width < TERM_WIDTH_MIN ? TERM_WIDTH_MIN : options->width;

	return width - term_label_width(width) - term_remark_width(width) - 1;
}

unsigned ktr__term_lines(const struct ktr__term_options *options)
{
	/* Titles 4, axis 2, losses 2, legends and notes about 4, the next prompt 1. */
	if (options->height == 0)
		return 2 * KTR__ROWS_MAX;
	return options->height < 23 ? 10 : options->height - 13;
}

static int term_is_low(const struct term *t)
{
	return t->options->height > 0 && t->options->height < 30;
}

/* Are states blocks with heights, not letters? */
static int term_has_blocks(const struct term *t)
{
	return t->options->colour != KTR__TERM_PLAIN && !t->options->ascii;
}

/* Colours of what is written next; TERM_NO_COLOUR is the terminal's own. */
static void term_colour(struct term *t, uint32_t ink, uint32_t paper)
{
	if (t->options->colour == KTR__TERM_PLAIN || (ink == t->ink && paper == t->paper))
		return;
	fputs("\033[0", t->to);
	for (int i = 0; i < 2; i++) {
		uint32_t c = i == 0 ? ink : paper;

		if (c == TERM_NO_COLOUR)
			continue;
		if (t->options->colour == KTR__TERM_RGB)
			fprintf(t->to, ";%d;2;%u;%u;%u", i == 0 ? 38 : 48, c >> 16 & 255,
				c >> 8 & 255, c & 255);
		else
			fprintf(t->to, ";%d;5;%u", i == 0 ? 38 : 48, ktr__palette_xterm(c));
	}
	putc('m', t->to);
	t->ink = ink;
	t->paper = paper;
}

static void term_plain(struct term *t)
{
	term_colour(t, TERM_NO_COLOUR, TERM_NO_COLOUR);
}

static void term_bold(struct term *t, int on)
{
	if (t->options->colour != KTR__TERM_PLAIN)
		fputs(on ? "\033[1m" : "\033[0m", t->to);
}

/* A text in a field of so many columns. */
static void term_field(struct term *t, const char *text, unsigned columns)
{
	char fit[4 * KTR__LABEL_BYTES];
	unsigned used = ktr__label_fit(fit, sizeof(fit), text, columns, t->options->ascii);

	fprintf(t->to, "%s%*s", fit, (int)(columns - used), "");
}

/* A sentence, broken at blanks where it is wider than the terminal. */
static void term_sentence(struct term *t, const char *text, unsigned indent)
{
	unsigned room = t->options->width - indent, used = 0;
	char word[4 * KTR__LABEL_BYTES], fit[4 * KTR__LABEL_BYTES];

	if (text[0] == '\0')
		return;
	fprintf(t->to, "%*s", (int)indent, "");
	while (*text != '\0') {
		size_t n = strcspn(text, " ");
		unsigned width;

		snprintf(word, sizeof(word), "%.*s", (int)n, text);
		width = ktr__label_fit(fit, sizeof(fit), word, room, t->options->ascii);
		if (used > 0 && used + 1 + width > room) {
			fprintf(t->to, "\n%*s", (int)indent, "");
			used = 0;
		}
		fprintf(t->to, "%s%s", used > 0 ? " " : "", fit);
		used += width + (used > 0);
		text += n;
		text += strspn(text, " ");
	}
	putc('\n', t->to);
}

/* A block as high as level of 8, 0: none. */
static const char *term_block(const struct term *t, unsigned level)
{
	static const char *const fine[9] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const coarse[9] = { " ", ".", ".", ":", ":", "+", "+", "#", "#" };

	return t->options->ascii ? coarse[level] : fine[level];
}

/* On a terminal of any background idle is grey, and low, so that what is done stands out. */
static uint32_t term_paint(const struct ktr__legend_entry *entry)
{
	return entry->colour == KTR__PALE ? KTR__GREY : entry->colour;
}

/* Did one of the rings that the row is from lose most of a column? */
static int term_lost_of(const struct term *t, const struct ktr__row *row, unsigned column)
{
	return ktr__row_lost(row, &t->view->timeline->losses, column) >= 128;
}

/* Of a row: in how many cells a label has most of the time, in how many it is at all, and where little is lost. */
struct term_seen {
	uint16_t most[KTR__ROWS_LABELS], any[KTR__ROWS_LABELS], kept[KTR__ROWS_LABELS];
};

static void term_see(const struct term *t, struct term_seen *seen, const struct ktr__row *row)
{
	memset(seen, 0, sizeof(*seen));
	for (unsigned c = 0; c < t->columns; c++) {
		const struct ktr__cell *cell = &row->lane.cell[c];
		unsigned kept = !term_lost_of(t, row, c);

		seen->most[cell->first]++;
		seen->any[cell->first]++;
		seen->any[cell->second]++;
		seen->kept[cell->first] = (uint16_t)(seen->kept[cell->first] + kept);
		seen->kept[cell->second] = (uint16_t)(seen->kept[cell->second] + kept);
	}
}

/*
 * The letter of a cell. A state that has most of no cell, and is in few of them, is seen in those; idle with
 * something else beside it is a letter of its own.
 */
static char term_letter(struct term *t, const struct ktr__cell *cell, const struct term_seen *seen)
{
	struct ktr__legend_entry first = ktr__view_entry(t->view, cell->first);

	if (3u * cell->share < cell->covered)
		return '+';
	if (cell->second == 0)
		return first.letter;
	if (seen->most[cell->second] == 0 && 8u * seen->any[cell->second] <= t->columns)
		return ktr__view_entry(t->view, cell->second).letter;
	if (first.colour != KTR__PALE)
		return first.letter;
	t->has_short = 1;
	return TERM_IDLE_AND_MORE;
}

/* Where most is lost only what is seen nowhere else has its letter; the gap is seen in the line of losses, too. */
static void term_lost_cell(struct term *t, const struct ktr__cell *cell, const struct term_seen *seen)
{
	uint16_t label = seen->kept[cell->first] == 0 ? cell->first : cell->second;

	if (label != 0 && seen->kept[label] == 0)
		putc(ktr__view_entry(t->view, label).letter, t->to);
	else
		fputs(t->options->ascii ? "/" : "╱", t->to);
}

/* Two labels: half of the block each where the second one has a quarter, else the second one is a foot. */
static void term_two(struct term *t, const struct ktr__cell *cell)
{
	struct ktr__legend_entry first = ktr__view_entry(t->view, cell->first);
	struct ktr__legend_entry second = ktr__view_entry(t->view, cell->second);

	if (4u * cell->rest >= cell->covered) {
		term_colour(t, term_paint(&first), term_paint(&second));
		fputs("▌", t->to);
		return;
	}
	/* Beside idle, which is low itself, it takes all of the low block. */
	term_colour(t, term_paint(&second), first.colour == KTR__PALE ? TERM_NO_COLOUR : term_paint(&first));
	fputs(term_block(t, 2), t->to);
	t->has_short = 1;
}

static void term_cell(struct term *t, const struct ktr__cell *cell, const struct term_seen *seen, int lost)
{
	struct ktr__legend_entry first = ktr__view_entry(t->view, cell->first);
	uint32_t paint = term_paint(&first);
	const char *gap = t->options->ascii ? "/" : "╱";

	if (t->options->colour == KTR__TERM_PLAIN) {
		if (lost)
			term_lost_cell(t, cell, seen);
		else
			putc(cell->first == 0 ? ' ' : term_letter(t, cell, seen), t->to);
	} else if (lost) {
		term_colour(t, cell->first ? paint : KTR__GREY, TERM_NO_COLOUR);
		fputs(gap, t->to);
	} else if (cell->first == 0) {
		term_plain(t);
		putc(' ', t->to);
	} else if (t->options->ascii) {
		term_colour(t, ktr__palette_on(paint), paint);
		putc(term_letter(t, cell, seen), t->to);
	} else if (cell->second != 0) {
		term_two(t, cell);
	} else {
		/* Seven eighths at most, so that rows stay apart. */
		term_colour(t, paint, TERM_NO_COLOUR);
		fputs(term_block(t, first.colour == KTR__PALE ? 2 : 1u + cell->covered * 6u / 255),
		      t->to);
	}
}

/* The end of a call that is wide enough for a name, and in which nothing was lost; or the column itself. */
static unsigned term_scope_end(const struct term *t, const struct ktr__row *row, unsigned from)
{
	unsigned end = row->nest != NULL ? ktr__lane_bar(row->lane.cell, from, t->columns, TERM_EDGE) : from;

	for (unsigned c = from; c < end; c++)
		if (term_lost_of(t, row, c))
			end = c;
	return end - from >= TERM_NAMED ? end : from;
}

/* A bar with a name, and an edge at its end so that the next one is told from it. */
static void term_scope(struct term *t, const struct ktr__cell *cell, unsigned columns)
{
	struct ktr__legend_entry entry = ktr__view_entry(t->view, cell->first);
	const char *name = t->view->timeline->rows.label[cell->first];
	char fit[4 * KTR__LABEL_BYTES];
	unsigned used = ktr__label_fit(fit, sizeof(fit), name, columns - 2, t->options->ascii);

	if (!term_has_blocks(t)) {
		term_colour(t, ktr__palette_on(term_paint(&entry)), term_paint(&entry));
		fprintf(t->to, "[%s", fit);
		for (; used < columns - 2; used++)
			putc('-', t->to);
		putc(']', t->to);
		return;
	}
	term_colour(t, ktr__palette_on(term_paint(&entry)), term_paint(&entry));
	fprintf(t->to, " %s%*s", fit, (int)(columns - 2 - used), "");
	term_colour(t, term_paint(&entry), TERM_NO_COLOUR);
	fputs("▉", t->to);
}

static void term_lane(struct term *t, const struct ktr__row *row)
{
	const struct ktr__timeline *timeline = t->view->timeline;
	struct term_seen seen;

	term_see(t, &seen, row);
	for (unsigned c = 0, end; c < timeline->rows.grid.n_columns; c = end) {
		end = term_scope_end(t, row, c);
		if (end > c) {
			term_scope(t, &row->lane.cell[c], end - c);
			continue;
		}
		term_cell(t, &row->lane.cell[c], &seen, term_lost_of(t, row, c));
		end = c + 1;
	}
}

/* Heights of a row of numbers; those above 0 always show. */
static void term_level(struct term *t, double value, double most, int lost)
{
	double level = most > 0 ? ceil(7 * value / most) : 0;

	if (lost) {
		term_colour(t, KTR__GREY, TERM_NO_COLOUR);
		fputs(t->options->ascii ? "/" : "╱", t->to);
		return;
	}
	term_colour(t, KTR__BLUE, TERM_NO_COLOUR);
	fputs(term_block(t, level <= 0 ? 0 : level >= 7 ? 7 : (unsigned)level), t->to);
}

/* What is below zero hangs from the top, low or high: a line has no room for both sides. Zero is a line. */
static void term_below(struct term *t, double share)
{
	term_colour(t, share > 0 ? KTR__BLUE : KTR__GREY, TERM_NO_COLOUR);
	if (!(share > 0))
		fputs(t->options->ascii ? "_" : "─", t->to);
	else if (t->options->ascii)
		fputs(share < 0.5 ? "-" : "=", t->to);
	else
		fputs(share < 0.5 ? "▔" : "▀", t->to);
}

static void term_area(struct term *t, const struct ktr__row *row)
{
	const struct ktr__timeline *timeline = t->view->timeline;
	struct ktr__counter_scale scale;

	ktr__counter_scale(&scale, &row->area);
	for (unsigned c = 0; c < timeline->rows.grid.n_columns; c++) {
		const struct ktr__area_cell *cell = &row->area.cell[c];
		int known = c >= row->area.from && c < row->area.n_filled && !isnan(cell->last);
		int lost = term_lost_of(t, row, c);

		if (known && cell->greatest <= 0 && !lost)
			term_below(t, cell->greatest / scale.low);
		else
			term_level(t, known ? cell->greatest : 0, scale.high, lost);
	}
}

static void term_marks(struct term *t, const struct ktr__row *row)
{
	const struct ktr__timeline *timeline = t->view->timeline;
	uint32_t most = 0;

	for (unsigned c = 0; c < timeline->rows.grid.n_columns; c++)
		most = row->marks[c] > most ? row->marks[c] : most;
	for (unsigned c = 0; c < timeline->rows.grid.n_columns; c++)
		term_level(t, log1p(row->marks[c]), log1p(most), term_lost_of(t, row, c));
}

/* Names that differ look different. Without memory for that each is cut by itself. */
static void term_names(struct term *t)
{
	t->name = ktr__view_names(t->view);
	for (unsigned i = 0; t->name != NULL && i < t->view->n_lines; i++) {
		const struct ktr__line *line = &t->view->line[i];

		t->name[i].columns = line->row == NULL && line->marks == NULL
					     ? t->options->width - 1
					     : t->label_width - 3 - 2 * (unsigned)line->indent;
	}
	if (t->name != NULL)
		ktr__label_fit_names(t->name, t->view->n_lines, t->options->ascii);
}

static void term_row(struct term *t, unsigned i)
{
	const struct ktr__line *line = &t->view->line[i];
	const char *name = t->name != NULL ? t->name[i].fit : line->text;
	char remark[2 * KTR__LABEL_BYTES], label[KTR__LABEL_BYTES + 8], fit[4 * KTR__LABEL_BYTES];
	int indent = 2 + 2 * line->indent;

	term_plain(t);
	if (line->row == NULL && line->marks == NULL) {
		term_bold(t, 1);
		ktr__label_fit(fit, sizeof(fit), name, t->options->width - 1,
			       t->options->ascii);
		fputs(fit, t->to);
		term_bold(t, 0);
		putc('\n', t->to);
		return;
	}
	snprintf(label, sizeof(label), "%-*s%s", indent, line->said > 0 ? ">" : "", name);
	term_field(t, label, t->label_width - 1);
	putc(' ', t->to);
	if (line->row != NULL && line->row->lane.cell != NULL)
		term_lane(t, line->row);
	else if (line->row != NULL && line->row->area.cell != NULL)
		term_area(t, line->row);
	else if (line->marks != NULL && line->marks->marks != NULL)
		term_marks(t, line->marks);
	else
		fprintf(t->to, "%*s", (int)t->columns, "");
	term_plain(t);
	if (t->remark_width > 0) {
		ktr__view_remark(t->view, line, t->remark_width - 1, t->options->ascii, remark, sizeof(remark));
		ktr__label_fit(fit, sizeof(fit), remark, t->remark_width - 1, t->options->ascii);
		fprintf(t->to, " %s", fit);
	}
	putc('\n', t->to);
}

/* Two lines: numbers, and ticks below their first digits. */
static void term_axis(struct term *t)
{
	const struct ktr__grid *grid = &t->view->timeline->rows.grid;
	uint64_t begin = t->view->timeline->info->first_ns;
	uint64_t from = grid->from_ns > begin ? grid->from_ns - begin : 0;
	char numbers[1024], ticks[1024], text[40], label[32];
	unsigned width = t->columns < sizeof(numbers) ? t->columns : sizeof(numbers) - 1,
		 free_at = 0;
	struct ktr__axis axis;

	ktr__axis_fit(&axis, from, from + (grid->to_ns - grid->from_ns), t->columns / 12 + 2);
	memset(numbers, ' ', width);
	memset(ticks, '-', width);
	for (unsigned i = 0; i < axis.n_ticks; i++) {
		double ns = ktr__axis_tick(&axis, i, text, sizeof(text));
		unsigned at = ktr__grid_column(grid, begin + (uint64_t)(ns < 0 ? 0 : ns));
		size_t n = strlen(text);

		at = at < width ? at : width - 1;
		ticks[at] = '+';
		if (at + n > width && n <= width)
			at = width - (unsigned)n;
		if (at < free_at || at + n > width)
			continue;
		memcpy(numbers + at, text, n);
		free_at = at + (unsigned)n + 1;
	}
	numbers[width] = ticks[width] = '\0';
	snprintf(label, sizeof(label), "time [%s]", axis.unit);
	term_field(t, label, t->label_width);
	fprintf(t->to, "%s\n%*s", numbers, (int)t->label_width, "");
	for (unsigned c = 0; c < width; c++)
		fputs(t->options->ascii ? (ticks[c] == '+' ? "+" : "-")
					: (ticks[c] == '+' ? "┬" : "─"),
		      t->to);
	putc('\n', t->to);
}

/* A line of its own for the gaps of all rings. */
static void term_lost(struct term *t)
{
	const struct ktr__timeline *timeline = t->view->timeline;

	if (timeline->losses.n_events == (timeline->info->kind == KTR_SOURCE_TRACE ? 0 : timeline->losses.n_older))
		return;
	term_field(t, "  events lost", t->label_width);
	term_colour(t, KTR__VERMILLION, TERM_NO_COLOUR);
	for (unsigned c = 0; c < timeline->rows.grid.n_columns; c++)
		fputs(ktr__losses_at(&timeline->losses, c, -1) == 0 ? " "
		      : t->options->ascii                           ? "/"
								    : "╱",
		      t->to);
	term_plain(t);
	putc('\n', t->to);
}

/* 0 when it has no room: one line is all that a low window has for a legend. */
static int term_legend_entry(struct term *t, const char *text,
			     const struct ktr__legend_entry *entry, unsigned *used, unsigned indent)
{
	char fit[4 * KTR__LABEL_BYTES];
	unsigned width = ktr__label_fit(fit, sizeof(fit), text, t->options->width / 2,
					t->options->ascii);
	int full = *used > indent && *used + width + 6 > t->options->width;

	if (full && term_is_low(t)) {
		fputs(t->options->ascii ? " ~" : " …", t->to);
		return 0;
	}
	if (full) {
		fprintf(t->to, "\n%*s", (int)indent, "");
		*used = indent;
	} else if (*used > indent) {
		fputs("  ", t->to);
		*used += 2;
	}
	if (t->options->colour == KTR__TERM_PLAIN) {
		putc(entry->letter, t->to);
	} else if (entry->colour == KTR__PALE && !t->options->ascii) {
		/* As on the rows: low, which tells it from what is grey. */
		term_colour(t, term_paint(entry), TERM_NO_COLOUR);
		fputs(term_block(t, 2), t->to);
		term_plain(t);
	} else {
		term_colour(t, ktr__palette_on(term_paint(entry)), term_paint(entry));
		putc(t->options->ascii ? entry->letter : ' ', t->to);
		term_plain(t);
	}
	fprintf(t->to, " %s", fit);
	*used += width + 2;
	return 1;
}

static void term_legend(struct term *t, const struct ktr__legend *legend)
{
	unsigned indent = t->label_width, used = indent;
	struct ktr__legend_entry several = { 0, '+', KTR__GREY }, more = { 0, '*', KTR__GREY };
	struct ktr__legend_entry short_too = { 0, TERM_IDLE_AND_MORE, KTR__GREY };
	struct ktr__label_name name[KTR__LEGEND_ENTRIES];
	char text[64];
	int room = 1;

	term_field(t, legend->group, indent - 1);
	putc(' ', t->to);
	ktr__legend_fit(t->view, legend, t->options->width / 2, t->options->ascii, name);
	for (unsigned i = 0; i < legend->n && room; i++) {
		room = term_legend_entry(t, name[i].fit, &legend->entry[i], &used, indent);
		if (room && legend->entry[i].colour == KTR__PALE && t->has_short && !term_has_blocks(t))
			room = term_legend_entry(t, "and more", &short_too, &used, indent);
	}
	snprintf(text, sizeof(text), "%u more", legend->n_more);
	if (legend->n_more > 0 && room)
		room = term_legend_entry(t, text, &more, &used, indent);
	if (t->options->colour == KTR__TERM_PLAIN && legend->n > 1 && room)
		term_legend_entry(t, "none has a third", &several, &used, indent);
	putc('\n', t->to);
}

/* What tells what is short. */
static void term_heights(struct term *t)
{
	int has_lanes = 0;

	for (unsigned i = 0; i < t->view->n_lines; i++)
		has_lanes = has_lanes || (t->view->line[i].row != NULL && t->view->line[i].row->lane.cell != NULL);
	if (term_is_low(t) || !term_has_blocks(t) || !has_lanes)
		return;
	term_colour(t, KTR__GREY, TERM_NO_COLOUR);
	term_sentence(t, t->has_short ? "heights are shares of the time; a foot or a low block of another colour is a"
					" state that is short there"
				      : "heights are shares of the time", 0);
	term_plain(t);
}

void ktr__term_draw(FILE *to, const struct ktr__view *view, const struct ktr__frame *frame,
		    const struct ktr__term_options *options)
{
	struct term t = { to, options, view, TERM_NO_COLOUR, TERM_NO_COLOUR, 0, 0, 0, NULL, 0 };

	t.label_width = term_label_width(options->width);
	t.remark_width = term_remark_width(options->width);
	t.columns = view->timeline->rows.grid.n_columns;
	term_bold(&t, 1);
	term_sentence(&t, frame->title, 0);
	term_bold(&t, 0);
	term_sentence(&t, frame->also, 0);
	term_sentence(&t, frame->subtitle, 0);
	term_colour(&t, KTR__VERMILLION, TERM_NO_COLOUR);
	term_sentence(&t, frame->lost, 0);
	term_plain(&t);
	term_axis(&t);
	term_names(&t);
	for (unsigned i = 0; i < view->n_lines; i++)
		term_row(&t, i);
	free(t.name);
	term_lost(&t);
	for (unsigned i = 0; i < view->n_legends; i++)
		term_legend(&t, &view->legend[i]);
	term_heights(&t);
	term_colour(&t, KTR__GREY, TERM_NO_COLOUR);
	term_sentence(&t, frame->note, 0);
	if (!term_is_low(&t))
		term_sentence(&t, frame->source, 0);
	term_plain(&t);
}
