/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happens on one row: labels begin and end, spans open and close, counters change, events
 * pass.
 *
 * The lane carries the present label and since when; every change of label first adds what has
 * passed to the row's totals, and takes out of the lane what nobody knows: what a row does is known up to a
 * gap of a ring that its events came from, and not within it; a state is known again from the row's next event
 * on, a span, which its own end tells of, from the end of the gap on. Columns are allocated when a row first
 * needs them, as long as all of them together stay below KTR__ROWS_BYTES.
 *
 * Spans of one row may overlap. Its label is then how many are open, so that a bar says "2 open", and each is in a
 * lane of its own: the first that is free.
 */
#include "visualize/model/row.h"

#include "analyze/stats/ends.h"
#include "conf/kit/array.h"
#include "visualize/model/rows.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Room for columns, or 0 when there is none any more. */
static int row_charge(struct ktr__rows *rows, size_t bytes_per_column)
{
	uint64_t bytes = bytes_per_column * rows->grid.n_columns;

	if (rows->n_bytes + bytes > KTR__ROWS_BYTES) {
		rows->n_crowded++;
		return 0;
	}
	rows->n_bytes += bytes;
	return 1;
}

static void row_seen(const struct ktr__rows *rows, struct ktr__row *row, uint64_t ns)
{
	if (ns >= rows->grid.from_ns && row->n_events++ == 0)
		row->first_ns = ns;
}

static struct ktr__stay *row_stay(struct ktr__row *row, uint16_t label)
{
	for (unsigned i = 0; i < row->n_stays; i++)
		if (row->stay[i].label == label)
			return &row->stay[i];
	if (row->n_stays == KTR__ROWS_STAYS)
		return row_stay(row, KTR__LABEL_OTHER);
	if ((row->n_stays & (row->n_stays - 1)) == 0) { /* 0 and powers of two: full */
		size_t room = row->n_stays ? 2 * (size_t)row->n_stays : 1;
		struct ktr__stay *more = realloc(row->stay, room * sizeof(*more));

		if (more == NULL)
			return NULL;
		row->stay = more;
	}
	/* The last place is for what finds none, so that the call above ends. */
	if (row->n_stays == KTR__ROWS_STAYS - 1)
		label = KTR__LABEL_OTHER;
	row->stay[row->n_stays] = (struct ktr__stay){ .label = label };
	return &row->stay[row->n_stays++];
}

const struct ktr__stay *ktr__row_stay(const struct ktr__row *row, uint16_t label)
{
	for (unsigned i = 0; i < row->n_stays; i++)
		if (row->stay[i].label == label)
			return &row->stay[i];
	return NULL;
}

uint8_t ktr__row_lost(const struct ktr__row *row, const struct ktr__losses *losses, unsigned column)
{
	uint8_t lost = row->kind == KTR__ROW_CPU ? ktr__losses_at(losses, column, (int)row->cpu)
						 : ktr__losses_of(losses, column, ktr__row_rings(row));

	/* Up to its next event nobody knows what it does, nor its number. */
	if (row->lane.cell != NULL && row->lane.cell[column].unknown > lost)
		lost = row->lane.cell[column].unknown;
	if (row->area.cell != NULL && column < row->area.n_filled && isnan(row->area.cell[column].last))
		lost = 255;
	return lost;
}

int ktr__rows_gap(struct ktr__rows *rows, const struct ktr__rows_gap *gap)
{
	if (ktr__array_grow(&rows->gap, &rows->gap_room, rows->n_gaps, sizeof(*rows->gap)) != 0)
		return -ENOMEM;
	rows->gap[rows->n_gaps++] = *gap;
	return 0;
}

static int row_has_gap(const struct ktr__row *row, const struct ktr__rows_gap *gap)
{
	return ktr__rings_have(ktr__row_rings(row), gap->cpu, (int)gap->keep);
}

/* [ns] How much of [from, to) lies in gaps of rings that the row is from, which may overlap. */
static uint64_t row_in_gaps(const struct ktr__rows *rows, const struct ktr__row *row, uint64_t from, uint64_t to)
{
	uint64_t ns = 0, lost = row->lost_until_ns < to ? row->lost_until_ns : to;

	if (lost > from) {
		ns = lost - from;
		from = lost;
	}
	for (uint32_t i = row->gap_at; i < rows->n_gaps && from < to; i++) {
		const struct ktr__rows_gap *gap = &rows->gap[i];
		uint64_t begin = gap->from_ns > from ? gap->from_ns : from;
		uint64_t end = gap->to_ns < to ? gap->to_ns : to;

		if (begin >= end || !row_has_gap(row, gap))
			continue;
		ns += end - begin;
		from = end;
	}
	return ns;
}

/* [ns] What a state that began at from is known for. */
static uint64_t row_until_gap(const struct ktr__rows *rows, const struct ktr__row *row, uint64_t from, uint64_t to)
{
	if (row->lost_until_ns > from || row->lane.label == KTR__LANE_UNKNOWN)
		return 0;
	for (uint32_t i = row->gap_at; i < rows->n_gaps; i++) {
		const struct ktr__rows_gap *gap = &rows->gap[i];

		/* Without columns it began before the window, and so may the gap. */
		if ((gap->to_ns > from || row->lane.cell == NULL) && gap->from_ns < to && row_has_gap(row, gap))
			return gap->from_ns > from ? gap->from_ns - from : 0;
	}
	return to - from;
}

/* How much of [from, to) is known to be the label's. 0 where too little is. */
static int row_known(const struct ktr__rows *rows, const struct ktr__row *row, uint64_t from, uint64_t to,
		     uint64_t *known)
{
	uint64_t in_gaps;

	if (row->has & KTR__ROW_STATES) {
		*known = row_until_gap(rows, row, from, to);
		return *known > 0 || to == from;
	}
	in_gaps = row_in_gaps(rows, row, from, to);
	*known = to - from - in_gaps;
	return in_gaps == 0 || in_gaps < (to - from) / 2;
}

/* Adds the present label, which lasts until ns, to the totals of the window. */
static int row_settle(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns, int open)
{
	uint64_t from = row->lane.cell != NULL ? row->lane.since_ns : rows->grid.from_ns;
	struct ktr__stay *stay;
	uint64_t known;

	if (row->label == 0)
		return 0;
	stay = row_stay(row, row->label);
	if (stay == NULL)
		return -ENOMEM;
	/* Before the window it is only remembered that the row knows this label. */
	if (ns < from || !row_known(rows, row, from, ns, &known))
		return 0;
	stay->n++;
	stay->total_ns += known;
	if (known >= stay->longest_ns) {
		stay->longest_ns = known;
		stay->longest_from_ns = from;
		stay->open = (uint16_t)(open && known == ns - from);
	}
	return 0;
}

/* After the gaps a span is open still, as its end will tell. Nobody knows that of a state. */
static int row_again(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns)
{
	if (row->lane.label != KTR__LANE_UNKNOWN || row->has & KTR__ROW_STATES || row->lost_until_ns >= ns)
		return 0;
	return ktr__lane_set(&row->lane, &rows->grid, row->lost_until_ns, row->label);
}

/* Takes out of the lane, up to ns, what lies in gaps. */
static int row_lose(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns)
{
	for (; row->gap_at < rows->n_gaps && rows->gap[row->gap_at].from_ns <= ns; row->gap_at++) {
		const struct ktr__rows_gap *gap = &rows->gap[row->gap_at];
		uint64_t from = gap->from_ns > row->lane.since_ns ? gap->from_ns : row->lane.since_ns;

		if (!row_has_gap(row, gap))
			continue;
		if (row_again(rows, row, from) != 0)
			return -ENOMEM;
		if (row->label != 0 && gap->to_ns > from && row->lane.label != KTR__LANE_UNKNOWN &&
		    ktr__lane_set(&row->lane, &rows->grid, from, KTR__LANE_UNKNOWN) != 0)
			return -ENOMEM;
		if (gap->to_ns > row->lost_until_ns)
			row->lost_until_ns = gap->to_ns;
	}
	return row_again(rows, row, ns);
}

/* Is it unknown whether the row still has its label? */
static int row_in_doubt(const struct ktr__rows *rows, struct ktr__row *row, uint64_t ns)
{
	if (row->lane.label == KTR__LANE_UNKNOWN)
		return 1;
	for (; row->gap_at < rows->n_gaps && rows->gap[row->gap_at].from_ns <= ns; row->gap_at++)
		if (row_has_gap(row, &rows->gap[row->gap_at]))
			return 1;
	return 0;
}

static int row_change(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns, uint16_t label)
{
	if (label == row->label && (label == 0 || !row_in_doubt(rows, row, ns)))
		return 0;
	if (row->lane.cell == NULL && ns >= rows->grid.from_ns &&
	    !row_charge(rows, sizeof(struct ktr__cell)))
		return 0;
	if (row_settle(rows, row, ns, 0) != 0 || row_lose(rows, row, ns) != 0)
		return -ENOMEM;
	row->label = label;
	if (ktr__lane_set(&row->lane, &rows->grid, ns, label) != 0)
		return -ENOMEM;
	/* Within a gap of another ring it is known for that moment. */
	return label != 0 && row->lost_until_ns > ns
		       ? ktr__lane_set(&row->lane, &rows->grid, ns, KTR__LANE_UNKNOWN)
		       : 0;
}

int ktr__row_label(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns, uint16_t label)
{
	row_seen(rows, row, ns);
	row->has |= KTR__ROW_STATES;
	return row_change(rows, row, ns, label);
}

int ktr__row_weigh(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns, uint16_t label)
{
	row_seen(rows, row, ns);
	if (ns < rows->grid.from_ns)
		return 0;
	if (row->lane.cell == NULL && !row_charge(rows, sizeof(struct ktr__cell)))
		return 0;
	return ktr__lane_weigh(&row->lane, &rows->grid, ns, label, 1);
}

/* From the first gap since its last number on nobody knows a counter's, up to ns. */
static int row_lose_number(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns)
{
	uint64_t from = row->area_doubt_ns > 0 ? row->area_doubt_ns : ns;

	for (; row->area_gap_at < rows->n_gaps && rows->gap[row->area_gap_at].from_ns <= ns; row->area_gap_at++) {
		const struct ktr__rows_gap *gap = &rows->gap[row->area_gap_at];

		if (!row_has_gap(row, gap))
			continue;
		from = gap->from_ns < from ? gap->from_ns : from;
		if (gap->to_ns > row->area_lost_until_ns)
			row->area_lost_until_ns = gap->to_ns;
	}
	return from < ns ? ktr__area_lose(&row->area, &rows->grid, from, ns) : 0;
}

int ktr__row_number(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns, double number)
{
	row_seen(rows, row, ns);
	row->has |= KTR__ROW_COUNTERS;
	if (row->area.cell == NULL && ns >= rows->grid.from_ns &&
	    !row_charge(rows, sizeof(struct ktr__area_cell)))
		return 0;
	if (row_lose_number(rows, row, ns) != 0)
		return -ENOMEM;
	/* Within a gap of another ring it is known for that moment. */
	row->area_doubt_ns = row->area_lost_until_ns > ns ? ns : 0;
	return ktr__area_set(&row->area, &rows->grid, ns, number);
}

int ktr__row_mark(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns)
{
	uint32_t *mark;

	row_seen(rows, row, ns);
	if (ns < rows->grid.from_ns)
		return 0;
	if (row->marks == NULL) {
		if (!row_charge(rows, sizeof(*row->marks)))
			return 0;
		row->marks = calloc(rows->grid.n_columns, sizeof(*row->marks));
		if (row->marks == NULL)
			return -ENOMEM;
	}
	mark = &row->marks[ktr__grid_at(&rows->grid, ns)];
	*mark += *mark < UINT32_MAX;
	return 0;
}

/* How many are open, as a label. */
static int row_depth(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns)
{
	uint16_t label;

	if (ktr__rows_depth(rows, row->n_open, &label) != 0)
		return -ENOMEM;
	return row_change(rows, row, ns, label);
}

void ktr__row_spans(const struct ktr__rows *rows, struct ktr__row *row, uint64_t ns)
{
	row_seen(rows, row, ns);
	row->has |= KTR__ROW_SPANS;
}

int ktr__row_start(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns, uint32_t *lane)
{
	unsigned word = 0;

	while (word < KTR__LANES_MAX / 64 && row->taken[word] == UINT64_MAX)
		word++;
	*lane = 64 * word;
	if (*lane == KTR__LANES_MAX) {
		rows->n_crowded++;
		return 0;
	}
	*lane += (uint32_t)__builtin_ctzll(~row->taken[word]);
	row->taken[word] |= (uint64_t)1 << *lane % 64;
	row->n_open++;
	return row_depth(rows, row, ns);
}

int ktr__row_stop(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns, uint32_t lane)
{
	if (lane == KTR__LANES_MAX)
		return 0;
	row->taken[lane / 64] &= ~((uint64_t)1 << lane % 64);
	row->n_open--;
	return row_depth(rows, row, ns > row->lane.since_ns ? ns : row->lane.since_ns);
}

static int row_add_level(struct ktr__row *nest)
{
	struct ktr__row *level = calloc(1, sizeof(*level));
	struct ktr__row **more = realloc(nest->level, (nest->n_levels + 1) * sizeof(struct ktr__row *));

	if (more != NULL)
		nest->level = more;
	if (level == NULL || more == NULL) {
		free(level);
		return -ENOMEM;
	}
	*level = (struct ktr__row){ .kind = KTR__ROW_NEST,
				    .number = nest->number,
				    .pid = nest->pid,
				    .process_key = nest->process_key,
				    .process = nest->process,
				    .group = nest->group,
				    .name = nest->name,
				    .ident = nest->ident,
				    .n_ident = nest->n_ident,
				    .thread = nest->thread,
				    .has = KTR__ROW_SPANS,
				    .nest = nest,
				    .depth = nest->n_levels };
	nest->level[nest->n_levels++] = level;
	return 0;
}

static int row_scope(struct ktr__rows *rows, struct ktr__row *level, uint64_t ns, uint16_t label)
{
	return row_change(rows, level, ns > level->lane.since_ns ? ns : level->lane.since_ns, label);
}

int ktr__row_enter(struct ktr__rows *rows, struct ktr__row *nest, uint64_t ns, unsigned level, uint16_t label,
		   uint32_t *lane)
{
	*lane = level < KTR__ROWS_LEVELS ? level : KTR__LANES_MAX;
	if (*lane == KTR__LANES_MAX)
		return 0;
	while (nest->n_levels <= level)
		if (row_add_level(nest) != 0)
			return -ENOMEM;
	nest->n_open++;
	row_seen(rows, nest->level[level], ns);
	return row_scope(rows, nest->level[level], ns, label);
}

int ktr__row_exit(struct ktr__rows *rows, struct ktr__row *nest, uint64_t ns, uint32_t lane)
{
	if (lane == KTR__LANES_MAX) {
		nest->n_deeper += ns >= rows->grid.from_ns;
		return 0;
	}
	nest->n_open--;
	return row_scope(rows, nest->level[lane], ns, KTR__LABEL_NONE);
}

int ktr__row_left(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns)
{
	/* What was recorded after that, on the way out, is of the row, too. */
	row->left_ns = ns > row->lane.since_ns ? ns : row->lane.since_ns;
	return row_change(rows, row, row->left_ns, KTR__LABEL_NONE);
}

uint64_t ktr__row_end_ns(const struct ktr__row *row)
{
	if (row->kind != KTR__ROW_ID || row->latest == NULL || row->has & KTR__ROW_STATES)
		return row->left_ns;
	return row->thread != NULL ? ktr__ends_thread(row->thread) : ktr__ends_process(row->latest);
}

static int row_end(struct ktr__rows *rows, struct ktr__row *row, uint64_t ns)
{
	uint64_t end_ns = ktr__row_end_ns(row);

	if (row->lane.label != 0 && row->lane.cell == NULL &&
	    !row_charge(rows, sizeof(struct ktr__cell)))
		row->lane.label = row->label = 0;
	if (row->area.n > 0 && row->area.cell == NULL &&
	    !row_charge(rows, sizeof(struct ktr__area_cell)))
		row->area.n = 0;
	if (!row->lane.weighs && (row_settle(rows, row, ns, 1) != 0 || row_lose(rows, row, ns) != 0))
		return -ENOMEM;
	if (ktr__lane_end(&row->lane, &rows->grid, ns) != 0)
		return -ENOMEM;
	if (end_ns == 0 || end_ns > ns)
		end_ns = ns;
	if (end_ns < rows->grid.from_ns)
		end_ns = rows->grid.from_ns;
	if (row_lose_number(rows, row, end_ns) != 0)
		return -ENOMEM;
	return ktr__area_end(&row->area, &rows->grid, end_ns);
}

int ktr__rows_end(struct ktr__rows *rows, uint64_t ns)
{
	for (unsigned i = 0; i < rows->n_rows; i++) {
		struct ktr__row *row = rows->row[i];

		if (row_end(rows, row, ns) != 0)
			return -ENOMEM;
		for (unsigned k = 0; k < row->n_levels; k++)
			if (row_end(rows, row->level[k], ns) != 0)
				return -ENOMEM;
	}
	return 0;
}
