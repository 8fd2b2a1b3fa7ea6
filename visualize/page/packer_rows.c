/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows what each row is doing. Spans of one row that overlap lie side by side, in lanes. */
#include "visualize/page/packer_rows.h"
#include "conf/kit/array.h"

#include "analyze/read/ktrgraph.h"

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

unsigned ktr__packer_row(struct ktr__packer *pack, const struct ktr_event *event, uint64_t ns,
			 const struct ktr__row *row, uint64_t n_losses, int in_page)
{
	const struct ktr_reader_site *site = event->site;
	uint64_t value = site->value_arg >= 0 ? event->arg[site->value_arg] : 0;
	uint64_t number = in_page ? pack->n_events : 0;
	struct ktr__lane_span span = {
		.key = value, .event = number, .from_ns = ns, .n_losses = n_losses
	};
	struct ktr__lane_span *lane;
	struct ktr__packer_row *at;
	uint64_t replaced_ns;

	if (site->kind == KTR_KIND_POINT)
		return 0;
	at = packer_rows_touch(pack, row->number);
	if (at == NULL)
		return 0;
	switch (site->kind) {
	case KTR_KIND_STATE:
		at->label = row->lane.label;
		at->state_event = number;
		at->state_ns = ns;
		return 0;
	case KTR_KIND_COUNTER:
		at->count = ktr__event_number(event, (unsigned)site->value_arg);
		at->count_event = number;
		at->count_ns = ns;
		return 0;
	case KTR_KIND_START:
		lane = ktr__lanes_start(&at->lanes, &span, site->ident != NULL, &replaced_ns,
					&pack->error);
		return lane != NULL ? 1 + (unsigned)(lane - at->lanes.span) : 0;
	case KTR_KIND_STOP:
		lane = ktr__lanes_stop(&at->lanes, value);
		return lane != NULL ? 1 + (unsigned)(lane - at->lanes.span) : 0;
	default:
		return 0;
	}
}

static void packer_rows_moment(struct ktr__packer *pack, uint64_t event, uint64_t ns)
{
	ktr__column_number(&pack->states, event);
	ktr__column_signed(&pack->states, (int64_t)(ns - pack->from_ns));
}

static void packer_rows_spans(struct ktr__packer *pack, const struct ktr__lanes *lanes)
{
	uint32_t n_open = 0;

	for (uint32_t i = 0; i < lanes->n; i++)
		n_open += lanes->span[i].open != 0;
	ktr__column_number(&pack->states, n_open);
	for (uint32_t i = 0; i < lanes->n; i++) {
		if (!lanes->span[i].open)
			continue;
		ktr__column_number(&pack->states, i);
		packer_rows_moment(pack, lanes->span[i].event, lanes->span[i].from_ns);
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

	ktr__column_number(to, number);
	ktr__column_number(to, (row->state_ns ? 1u : 0) | (row->count_ns ? 2u : 0) |
				       (row->lanes.n ? 4u : 0));
	if (row->state_ns != 0) {
		ktr__column_number(to, row->label);
		packer_rows_moment(pack, row->state_event, row->state_ns);
	}
	if (row->count_ns != 0) {
		packer_rows_double(to, row->count);
		packer_rows_moment(pack, row->count_event, row->count_ns);
	}
	if (row->lanes.n > 0)
		packer_rows_spans(pack, &row->lanes);
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
