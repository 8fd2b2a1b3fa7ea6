/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows what each row is doing. Spans of one row that overlap lie side by side, in lanes. */
#include "visualize/page/packer_rows.h"

#include "analyze/read/ktrgraph.h"
#include "conf/kit/array.h"

#include <errno.h>
#include <string.h>

/* The row's record, marked as changed; NULL without memory. */
static struct ktr__packer_row *packer_rows_touch(struct ktr__packer *pack, uint32_t number)
{
	struct ktr__packer_row *row;

	if (ktr__array_grow(&pack->row, &pack->n_rows, number, sizeof(*pack->row)) != 0 ||
	    ktr__array_grow(&pack->touched, &pack->touched_room, pack->n_touched,
		      sizeof(*pack->touched)) != 0) {
		pack->error = -ENOMEM;
		return NULL;
	}
	row = &pack->row[number];
	if (row->touched != pack->n_chunks + 1)
		pack->touched[pack->n_touched++] = number;
	row->touched = pack->n_chunks + 1;
	return row;
}

/* A span begins on its row. */
static void packer_rows_begun(struct ktr__packer *pack, const struct ktr__span *span, uint64_t number,
			      uint16_t label)
{
	struct ktr__packer_row *row = packer_rows_touch(pack, ((const struct ktr__row *)span->row)->number);

	if (row == NULL)
		return;
	if (ktr__array_grow(&row->span, &row->n_spans, span->lane, sizeof(*row->span)) != 0)
		pack->error = -ENOMEM;
	else
		row->span[span->lane] = (struct ktr__packer_span){ number, span->from_ns, 1, label };
}

/* It ends; at an event that is not its own STOP, a page is told of that. */
static void packer_rows_ended(struct ktr__packer *pack, const struct ktr__span *span, uint64_t ns, int in_page)
{
	uint32_t number = ((const struct ktr__row *)span->row)->number;
	struct ktr__packer_row *row = packer_rows_touch(pack, number);

	if (row == NULL || span->lane >= row->n_spans)
		return;
	row->span[span->lane].open = 0;
	if (!in_page || span->end_thread != NULL)
		return;
	ktr__column_number(&pack->end, pack->n - 1 - pack->end_at);
	ktr__column_number(&pack->end, number);
	ktr__column_number(&pack->end, span->lane);
	ktr__column_number(&pack->end, ns > span->to_ns ? ns - span->to_ns : 0);
	pack->end_at = pack->n - 1;
}

/* What an event began and ended; as ktr__packer_row(). */
static unsigned packer_rows_spans_of(struct ktr__packer *pack, const struct ktr__timeline *t, uint64_t number,
				     int in_page)
{
	unsigned lane = 0;

	for (uint32_t i = 0; i < t->n_ended; i++) {
		const struct ktr__span *span = &t->ended[i];

		if (span->kind != KTR_KIND_START || span->lane == KTR__LANES_MAX)
			continue;
		packer_rows_ended(pack, span, t->now_ns, in_page);
		if (span->end_thread != NULL)
			lane = 1 + span->lane;
	}
	if (t->begun == NULL || t->begun->kind != KTR_KIND_START || t->begun->lane == KTR__LANES_MAX)
		return lane;
	packer_rows_begun(pack, t->begun, number, t->site[t->begun->site->id].label);
	return 1 + t->begun->lane;
}

unsigned ktr__packer_row(struct ktr__packer *pack, const struct ktr_event *event,
			 const struct ktr__timeline *timeline, const struct ktr__row *row, int in_page)
{
	const struct ktr_reader_site *site = event->site;
	uint64_t number = in_page ? pack->n_events : 0;
	struct ktr__packer_row *at;

	if (site->kind == KTR_KIND_POINT)
		return 0;
	at = packer_rows_touch(pack, row->number);
	if (at == NULL)
		return 0;
	if (site->kind == KTR_KIND_STATE) {
		at->label = row->label;
		at->state_event = number;
		at->state_ns = timeline->now_ns;
	} else if (site->kind == KTR_KIND_COUNTER) {
		at->count = ktr__event_number(event, (unsigned)site->value_arg);
		at->count_event = number;
		at->count_ns = timeline->now_ns;
	}
	return packer_rows_spans_of(pack, timeline, number, in_page);
}

static void packer_rows_moment(struct ktr__packer *pack, uint64_t event, uint64_t ns)
{
	ktr__column_number(&pack->states, event);
	ktr__column_signed(&pack->states, (int64_t)(ns - pack->from_ns));
}

/* A row has scopes or other spans, never both. */
static int packer_rows_nest(const struct ktr__packer_row *row)
{
	for (uint32_t i = 0; i < row->n_spans; i++)
		if (row->span[i].label != 0)
			return 1;
	return 0;
}

static void packer_rows_spans(struct ktr__packer *pack, const struct ktr__packer_row *row, int nest)
{
	uint32_t n_open = 0;

	for (uint32_t i = 0; i < row->n_spans; i++)
		n_open += row->span[i].open != 0;
	ktr__column_number(&pack->states, n_open);
	for (uint32_t i = 0; i < row->n_spans; i++) {
		if (!row->span[i].open)
			continue;
		ktr__column_number(&pack->states, i);
		if (nest)
			ktr__column_number(&pack->states, row->span[i].label);
		packer_rows_moment(pack, row->span[i].event, row->span[i].from_ns);
	}
}

/* The halves of its word, the lower one first. */
static void packer_rows_double(struct ktr__column *to, double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	ktr__column_number(to, word & UINT32_MAX);
	ktr__column_number(to, word >> 32);
}

static void packer_rows_write(struct ktr__packer *pack, uint32_t number)
{
	const struct ktr__packer_row *row = &pack->row[number];
	struct ktr__column *to = &pack->states;
	int nest = packer_rows_nest(row);

	ktr__column_number(to, number);
	ktr__column_number(to, (row->state_ns ? 1u : 0) | (row->count_ns ? 2u : 0) |
				       (row->n_spans ? 4u : 0) | (nest ? 8u : 0));
	if (row->state_ns != 0) {
		ktr__column_number(to, row->label);
		packer_rows_moment(pack, row->state_event, row->state_ns);
	}
	if (row->count_ns != 0) {
		packer_rows_double(to, row->count);
		packer_rows_moment(pack, row->count_event, row->count_ns);
	}
	if (row->n_spans > 0)
		packer_rows_spans(pack, row, nest);
}

void ktr__packer_states(struct ktr__packer *pack)
{
	ktr__column_number(&pack->states, pack->n_touched);
	for (uint32_t i = 0; i < pack->n_touched; i++) {
		packer_rows_write(pack, pack->touched[i]);
		pack->row[pack->touched[i]].touched = 0;
	}
	pack->n_touched = 0;
}
