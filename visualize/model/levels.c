/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Levels: lanes and areas at the resolution of a picture.
 *
 * Events come in time order, so only one column of a lane is open at a time. Its labels and their
 * weights are in part[]; when time enters another column they become a cell (lane_close_column),
 * and columns that one label fills from border to border are written without going through part[].
 */
#include "visualize/model/levels.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

void ktr__grid_init(struct ktr__grid *grid, uint64_t from_ns, uint64_t to_ns, unsigned n_columns)
{
	uint64_t span = to_ns > from_ns ? to_ns - from_ns : 1;

	if (n_columns == 0)
		n_columns = 1;
	if (n_columns > KTR__GRID_COLUMNS)
		n_columns = KTR__GRID_COLUMNS;
	if (n_columns > span)
		n_columns = (unsigned)span;
	grid->from_ns = from_ns;
	grid->to_ns = from_ns + span;
	grid->n_columns = n_columns;
	grid->width_ns = span / n_columns;
	grid->left_ns = span % n_columns;
	grid->per_ns = (double)n_columns / (double)span;
	grid->at = 0;
	grid->at_ns = grid->at_width_ns = 0;
}

uint64_t ktr__grid_border(const struct ktr__grid *grid, unsigned column)
{
	uint64_t left = grid->left_ns * column; /* below 2^32, see KTR__GRID_COLUMNS */

	/* Rounded up, so that the column of a border is the one that begins there. */
	return grid->from_ns + grid->width_ns * column +
	       (left + grid->n_columns - 1) / grid->n_columns;
}

unsigned ktr__grid_column(const struct ktr__grid *grid, uint64_t ns)
{
	/* Borders are whole nanoseconds, and a double is off by far less than a millionth of a column. */
	double at, part, near = grid->per_ns + 1e-6;
	unsigned column;

	if (ns <= grid->from_ns)
		return 0;
	if (ns >= grid->to_ns)
		return grid->n_columns - 1;
	at = (double)(ns - grid->from_ns) * grid->per_ns;
	column = (unsigned)at;
	part = at - column;
	if (part > near && part < 1 - near)
		return column;
	if (column >= grid->n_columns)
		column = grid->n_columns - 1;
	/* A double is off by one column at most, and only next to a border. */
	if (ktr__grid_border(grid, column) > ns)
		return column - 1;
	if (column + 1 < grid->n_columns && ktr__grid_border(grid, column + 1) <= ns)
		return column + 1;
	return column;
}

unsigned ktr__grid_move(struct ktr__grid *grid, uint64_t ns)
{
	grid->at = ktr__grid_column(grid, ns);
	grid->at_ns = ktr__grid_border(grid, grid->at);
	grid->at_width_ns = ktr__grid_border(grid, grid->at + 1) - grid->at_ns;
	return grid->at;
}

static int lane_is_known(uint16_t label)
{
	return label != 0 && label != KTR__LANE_UNKNOWN;
}

/* A label that has been there since before the window starts in its first column. */
static int lane_start(struct ktr__lane *lane, const struct ktr__grid *grid, uint64_t ns)
{
	if (lane->cell != NULL)
		return 0;
	lane->cell = calloc(grid->n_columns, sizeof(*lane->cell));
	if (lane->cell == NULL)
		return -ENOMEM;
	lane->n_begun = lane_is_known(lane->label);
	lane->since_ns = lane->label != 0 ? grid->from_ns : ns;
	lane->column = ktr__grid_column(grid, lane->since_ns);
	return 0;
}

/*
 * Where a column has more labels than places, a new one takes the place and the weight of the
 * lightest: "space saving", Metwally, Agrawal and El Abbadi, ICDT 2005. The sum stays exact, and
 * what has more than 1/KTR__LANE_PARTS of the column is never lost.
 */
static void lane_add(struct ktr__lane *lane, uint16_t label, uint64_t weight)
{
	struct ktr__lane_part *lightest = lane->part;

	if (label == KTR__LANE_UNKNOWN) {
		lane->unknown += weight;
		return;
	}
	for (unsigned i = 0; i < lane->n_parts; i++) {
		if (lane->part[i].label == label) {
			lane->part[i].weight += weight;
			return;
		}
		if (lane->part[i].weight < lightest->weight)
			lightest = &lane->part[i];
	}
	if (lane->n_parts < KTR__LANE_PARTS) {
		lane->part[lane->n_parts++] = (struct ktr__lane_part){ weight, label };
	} else if (weight > 0) {
		lightest->weight += weight;
		lightest->label = label;
	}
}

static uint8_t lane_share(uint64_t part, uint64_t whole)
{
	double share = whole > 0 ? (double)part / (double)whole : 1;

	return share >= 1 ? 255 : share * 255 < 1 ? 1 : (uint8_t)(share * 255);
}

/* What is left of a cell is that of further labels: nothing where there are none, else something, however short. */
static void lane_leave(struct ktr__cell *cell, int has_more)
{
	int share = cell->covered - cell->rest;

	if (!has_more || share - 1 < cell->share)
		cell->share = (uint8_t)(share - has_more > 1 ? share - has_more : 1);
}

/* Turns the open column into a cell. whole: [weight] of a column that is fully covered. */
static void lane_close_column(struct ktr__lane *lane, uint64_t whole)
{
	struct ktr__lane_part first = { 0, 0 }, second = { 0, 0 };
	uint64_t all = 0;

	for (unsigned i = 0; i < lane->n_parts; i++) {
		struct ktr__lane_part part = lane->part[i];

		all += part.weight;
		if (first.label == 0 || part.weight > first.weight) {
			second = first;
			first = part;
		} else if (second.label == 0 || part.weight > second.weight) {
			second = part;
		}
	}
	if (lane->n_parts > 0) {
		struct ktr__cell *cell = &lane->cell[lane->column];

		if (whole == 0)
			whole = all;
		*cell = (struct ktr__cell){ first.label,
					    second.label,
					    lane_share(first.weight, whole),
					    second.label != 0 ? lane_share(second.weight, whole) : 0,
					    lane_share(all, whole),
					    (uint8_t)(lane->n_begun > 255 ? 255 : lane->n_begun),
					    0 };
		lane_leave(cell, lane->n_parts > 2);
	}
	if (lane->unknown > 0)
		lane->cell[lane->column].unknown = lane_share(lane->unknown, whole);
	lane->unknown = 0;
	lane->n_parts = 0;
	lane->n_begun = 0;
}

/* Adds what the present label had since since_ns, up to a moment. */
static void lane_advance(struct ktr__lane *lane, const struct ktr__grid *grid, uint64_t ns)
{
	unsigned to = ktr__grid_column(grid, ns);
	uint64_t at = lane->since_ns;

	while (lane->column < to) {
		uint64_t begin = ktr__grid_border(grid, lane->column);
		uint64_t end = ktr__grid_border(grid, lane->column + 1);

		if (lane->label != 0)
			lane_add(lane, lane->label, end > at ? end - at : 0);
		lane_close_column(lane, end - begin);
		at = end;
		lane->column++;
		lane->n_begun = lane_is_known(lane->label);
		if (lane->label == 0) {
			lane->column = to;
			break;
		}
	}
	if (lane->label != 0 && ns > at)
		lane_add(lane, lane->label, ns - at);
	lane->since_ns = ns;
}

int ktr__lane_set(struct ktr__lane *lane, const struct ktr__grid *grid, uint64_t ns, uint16_t label)
{
	if (ns < grid->from_ns) {
		lane->label = label;
		return 0;
	}
	if (lane_start(lane, grid, ns) != 0)
		return -ENOMEM;
	if (ns > lane->since_ns)
		lane_advance(lane, grid, ns);
	lane->label = label;
	if (lane_is_known(label)) {
		lane_add(lane, label, 0); /* one of no duration shows, too */
		lane->n_begun++;
	}
	return 0;
}

int ktr__lane_weigh(struct ktr__lane *lane, const struct ktr__grid *grid, uint64_t ns,
		    uint16_t label, uint64_t weight)
{
	unsigned column = ktr__grid_column(grid, ns);

	if (lane_start(lane, grid, ns) != 0)
		return -ENOMEM;
	lane->weighs = 1;
	if (column > lane->column) {
		lane_close_column(lane, 0);
		lane->column = column;
	}
	if (lane->n_parts == 0 || lane->part[lane->n_parts - 1].label != label)
		lane->n_begun++;
	lane_add(lane, label, weight);
	return 0;
}

int ktr__lane_end(struct ktr__lane *lane, const struct ktr__grid *grid, uint64_t ns)
{
	uint64_t whole = 0;

	if (lane->cell == NULL && lane->label == 0)
		return 0;
	if (lane_start(lane, grid, ns) != 0)
		return -ENOMEM;
	if (ns > lane->since_ns && !lane->weighs)
		lane_advance(lane, grid, ns);
	if (!lane->weighs)
		whole = ktr__grid_border(grid, lane->column + 1) -
			ktr__grid_border(grid, lane->column);
	lane_close_column(lane, whole);
	return 0;
}

static int lane_alone(const struct ktr__cell *cell, const struct ktr__cell *first, unsigned share)
{
	return cell->first != 0 && cell->first == first->first && cell->second == 0 && cell->share >= share &&
	       (cell->n == 1 || cell == first);
}

unsigned ktr__lane_bar(const struct ktr__cell *cell, unsigned from, unsigned n_columns, unsigned edge)
{
	unsigned end = from;

	while (end < n_columns && lane_alone(&cell[end], &cell[from], end == from ? edge : 255))
		end++;
	return end > from && end < n_columns && lane_alone(&cell[end], &cell[from], edge) ? end + 1 : end;
}

/* Fills the columns between the last number and another one with what it was. */
static void area_fill(struct ktr__area *area, unsigned to)
{
	for (; area->n_filled < to; area->n_filled++)
		area->cell[area->n_filled] = (struct ktr__area_cell){ area->last, area->last,
								      area->last };
}

/* A number that has been there since before the window starts in its first column. */
static int area_start(struct ktr__area *area, const struct ktr__grid *grid, uint64_t ns,
		      double number)
{
	if (area->cell != NULL)
		return 0;
	area->cell = calloc(grid->n_columns, sizeof(*area->cell));
	if (area->cell == NULL)
		return -ENOMEM;
	area->from = area->n > 0 ? 0 : ktr__grid_column(grid, ns);
	area->n_filled = area->from;
	if (area->n == 0)
		area->last = number;
	area->least = area->greatest = area->last;
	return 0;
}

int ktr__area_set(struct ktr__area *area, const struct ktr__grid *grid, uint64_t ns, double number)
{
	unsigned column = ktr__grid_column(grid, ns);
	struct ktr__area_cell *cell;

	if (area->is_lost)
		area->last = number;
	area->is_lost = 0;
	if (ns >= grid->from_ns) {
		if (area_start(area, grid, ns, number) != 0)
			return -ENOMEM;
		if (column >= area->n_filled) {
			/* The number of before still stands at the column's beginning. */
			area_fill(area, column + 1);
		}
		cell = &area->cell[area->n_filled - 1];
		cell->least = number < cell->least ? number : cell->least;
		cell->greatest = number > cell->greatest ? number : cell->greatest;
		cell->last = number;
		area->least = number < area->least ? number : area->least;
		area->greatest = number > area->greatest ? number : area->greatest;
	}
	area->last = number;
	area->n++;
	return 0;
}

/* Fills columns of which nobody knows the number. */
static void area_fill_lost(struct ktr__area *area, unsigned to)
{
	for (; area->n_filled < to; area->n_filled++)
		area->cell[area->n_filled] = (struct ktr__area_cell){ NAN, NAN, NAN };
}

int ktr__area_lose(struct ktr__area *area, const struct ktr__grid *grid, uint64_t from_ns, uint64_t ns)
{
	if (area->n == 0 || ns < grid->from_ns)
		return 0;
	if (area->cell == NULL && from_ns <= grid->from_ns) {
		/* Nothing is known of what the window begins with. */
		area->n = 0;
		return 0;
	}
	area->is_lost = 1;
	if (area_start(area, grid, from_ns, area->last) != 0)
		return -ENOMEM;
	area_fill(area, ktr__grid_column(grid, from_ns) + 1);
	area_fill_lost(area, ktr__grid_column(grid, ns));
	return 0;
}

int ktr__area_end(struct ktr__area *area, const struct ktr__grid *grid, uint64_t ns)
{
	if (area->n == 0)
		return 0;
	if (area_start(area, grid, ns, area->last) != 0)
		return -ENOMEM;
	if (area->is_lost)
		area_fill_lost(area, ktr__grid_column(grid, ns) + 1);
	area_fill(area, ktr__grid_column(grid, ns) + 1);
	return 0;
}
