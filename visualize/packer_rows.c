/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows what each row is doing, and gives spans lanes: the first that is free, so that spans of
 * one row that overlap lie side by side. Which STOP ends which START is decided as in row.c.
 */
#include "visualize/packer_rows.h"
#include "visualize/room.h"

#include <errno.h>

/* The latest open span with the key, or NULL. */
static struct ktr__packer_span *packer_rows_find(struct ktr__packer_row *row, uint64_t key)
{
	struct ktr__packer_span *found = NULL;

	for (uint32_t i = 0; i < row->n_lanes; i++)
		if (row->span[i].open && row->span[i].key == key &&
		    (found == NULL || row->span[i].from_ns >= found->from_ns))
			found = &row->span[i];
	return found;
}

static unsigned packer_rows_start(struct ktr__packer *pack, struct ktr__packer_row *row,
				  const struct ktr__packer_span *span, int unique)
{
	struct ktr__packer_span *at = packer_rows_find(row, span->key);
	uint32_t lane = 0;

	if (at == NULL || !(unique || at->n_losses != span->n_losses)) {
		while (lane < row->n_lanes && row->span[lane].open)
			lane++;
		if (lane == KTR__ROWS_OPEN)
			return 0;
		if (ktr__room(&row->span, &row->n_lanes, lane, sizeof(*row->span)) != 0) {
			pack->error = -ENOMEM;
			return 0;
		}
		at = &row->span[lane];
		if (lane >= row->max_lanes)
			row->max_lanes = lane + 1;
	}
	*at = *span;
	return 1 + (unsigned)(at - row->span);
}

static unsigned packer_rows_stop(struct ktr__packer_row *row, uint64_t key)
{
	struct ktr__packer_span *span = packer_rows_find(row, key);

	if (span == NULL)
		return 0;
	span->open = 0;
	return 1 + (unsigned)(span - row->span);
}

/* The row's record, marked as changed; NULL without memory. */
static struct ktr__packer_row *packer_rows_touch(struct ktr__packer *pack, uint32_t number)
{
	struct ktr__packer_row *row;

	if (ktr__room(&pack->row, &pack->n_rows, number, sizeof(*pack->row)) != 0 ||
	    ktr__room(&pack->touched, &pack->touched_room, pack->n_touched,
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
	struct ktr__packer_span span = { value, number, ns, n_losses, 1 };
	struct ktr__packer_row *at;

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
		at->count = value;
		at->count_event = number;
		at->count_ns = ns;
		return 0;
	case KTR_KIND_START:
		return packer_rows_start(pack, at, &span, site->ident != NULL);
	case KTR_KIND_STOP:
		return packer_rows_stop(at, value);
	default:
		return 0;
	}
}

static void packer_rows_moment(struct ktr__packer *pack, uint64_t event, uint64_t ns)
{
	ktr__column_number(&pack->states, event);
	ktr__column_signed(&pack->states, (int64_t)(ns - pack->from_ns));
}

static void packer_rows_write(struct ktr__packer *pack, uint32_t number)
{
	const struct ktr__packer_row *row = &pack->row[number];
	struct ktr__column *to = &pack->states;
	uint32_t n_open = 0;

	for (uint32_t i = 0; i < row->n_lanes; i++)
		n_open += row->span[i].open != 0;
	ktr__column_number(to, number);
	ktr__column_number(to, (row->state_ns ? 1u : 0) | (row->count_ns ? 2u : 0) |
				       (row->n_lanes ? 4u : 0));
	if (row->state_ns != 0) {
		ktr__column_number(to, row->label);
		packer_rows_moment(pack, row->state_event, row->state_ns);
	}
	if (row->count_ns != 0) {
		ktr__column_signed(to, (int64_t)row->count);
		packer_rows_moment(pack, row->count_event, row->count_ns);
	}
	if (row->n_lanes == 0)
		return;
	ktr__column_number(to, n_open);
	for (uint32_t i = 0; i < row->n_lanes; i++) {
		if (!row->span[i].open)
			continue;
		ktr__column_number(to, i);
		packer_rows_moment(pack, row->span[i].event, row->span[i].from_ns);
	}
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
