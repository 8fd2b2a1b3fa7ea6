/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packs events into chunks. Running out of memory is remembered and told at the end of each call.
 */
#include "visualize/page/packer.h"

#include "analyze/read/tables.h"
#include "analyze/symbols/symbols.h"
#include "conf/kit/array.h"
#include "visualize/export/stack_text.h"
#include "visualize/model/label.h"
#include "visualize/page/packer_rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void ktr__packer_init(struct ktr__packer *pack, FILE *to, uint64_t from_ns,
		      struct ktr__symbols *symbols)
{
	memset(pack, 0, sizeof(*pack));
	pack->to = to;
	pack->from_ns = from_ns;
	pack->symbols = symbols;
}

void ktr__packer_free(struct ktr__packer *pack)
{
	struct ktr__column *const columns[] = { &pack->states, &pack->head,     &pack->time,
						&pack->sites,  &pack->track_of, &pack->lane,
						&pack->end,    &pack->index,  &pack->text };

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		free(columns[i]->bytes);
	for (uint32_t i = 0; i < pack->n_args; i++)
		free(pack->arg[i].bytes);
	for (uint32_t i = 0; i < pack->n_rows; i++)
		free(pack->row[i].span);
	for (uint32_t i = 0; i < pack->n_symbols; i++)
		free(pack->symbol[i].name);
	ktr__keymap_free(&pack->tracks);
	ktr__keymap_free(&pack->strings);
	ktr__keymap_free(&pack->addresses);
	ktr__pids_free(&pack->pids);
	free(pack->chunk);
	free(pack->site);
	free(pack->site_index);
	free(pack->track);
	free(pack->symbol);
	free(pack->row);
	free(pack->touched);
	free(pack->arg);
	free(pack->site_used);
	free(pack->clean);
	free(pack->ring_next);
	memset(pack, 0, sizeof(*pack));
}

const char *ktr__packer_clean(struct ktr__packer *pack, const char *bytes, size_t n)
{
	/* A byte becomes \xNN at most. */
	if (ktr__array_grow(&pack->clean, &pack->n_clean, (uint32_t)(4 * n + 4), 1) != 0) {
		pack->error = -ENOMEM;
		return "";
	}
	ktr__label_clean(pack->clean, pack->n_clean, bytes, n);
	return pack->clean;
}

static uint32_t packer_site(struct ktr__packer *pack, const struct ktr_reader_site *site)
{
	uint32_t i;

	if (ktr__array_grow(&pack->site_index, &pack->n_site_index, site->id, sizeof(uint32_t)) != 0)
		goto out;
	i = pack->site_index[site->id];
	if (i > 0)
		return i - 1;
	i = pack->n_sites;
	if (ktr__array_grow(&pack->site, &pack->site_room, i, sizeof(*pack->site)) != 0 ||
	    ktr__array_grow(&pack->site_used, &pack->n_site_used, i, 1) != 0 ||
	    ktr__array_grow(&pack->arg, &pack->n_args, (i + 1) * KTR_ARGS_MAX - 1, sizeof(*pack->arg)) !=
		    0)
		goto out;
	pack->site[i] = site;
	pack->site_index[site->id] = ++pack->n_sites;
	return i;
out:
	pack->error = -ENOMEM;
	return UINT32_MAX;
}

static uint32_t packer_track(struct ktr__packer *pack, const struct ktr_event *event)
{
	uint64_t key = (uint64_t)event->thread->id << 34 | (uint64_t)event->cpu << 2 |
		       (uint64_t)(event->keep != 0) << 1 | (event->approx != 0);
	uint32_t *at = ktr__keymap_at(&pack->tracks, ktr__hash_word(0, key));

	if (at != NULL && *at == 0 &&
	    ktr__array_grow(&pack->track, &pack->track_room, pack->n_tracks, sizeof(*pack->track)) == 0) {
		pack->track[pack->n_tracks++] = (struct ktr__packer_track){
			event->thread, event->cpu, event->keep != 0, event->approx != 0
		};
		*at = pack->n_tracks;
	}
	if (at != NULL && *at != 0)
		return *at - 1;
	pack->error = -ENOMEM;
	return 0;
}

/* The index of a string of the chunk; flag: cut or NULL. */
static uint32_t packer_string(struct ktr__packer *pack, const char *bytes, size_t n, unsigned flag)
{
	uint32_t *at = ktr__keymap_at(&pack->strings, ktr__hash_bytes(flag, bytes, n));
	const char *clean;
	size_t length;

	if (at == NULL) {
		pack->error = -ENOMEM;
		return 0;
	}
	if (*at == 0) {
		clean = ktr__packer_clean(pack, bytes, n);
		length = strlen(clean);
		ktr__column_number(&pack->text, flag);
		ktr__column_number(&pack->text, length);
		ktr__column_bytes(&pack->text, clean, length);
		*at = ++pack->n_strings;
	}
	return *at - 1;
}

static uint32_t packer_stack(struct ktr__packer *pack, const struct ktr_event *event, unsigned arg)
{
	char text[KTR__STACK_TEXT];
	size_t n = ktr__stack_text(event, arg, pack->symbols, " < ", text);

	return packer_string(pack, text, n, event->str[arg].cut != 0);
}

/* Keeps the name of an address, the first time it comes by. */
static void packer_symbol(struct ktr__packer *pack, const struct ktr_event *event, uint64_t address)
{
	uint64_t key = ktr__tables_process_key(event->thread);
	uint32_t *at;
	const char *name;

	if (pack->symbols == NULL || address == 0 || pack->n_symbols >= KTR__PACKER_SYMBOLS ||
	    pack->addresses.n >= 4 * KTR__PACKER_SYMBOLS)
		return;
	at = ktr__keymap_at(&pack->addresses, ktr__hash_word(key, address));
	if (at == NULL || *at != 0)
		return;
	*at = 1;
	name = ktr__symbols_at(pack->symbols, ktr__tables_proc(event->thread), address,
			       KTR__SYMBOLS_POINTER);
	if (name == NULL || ktr__array_grow(&pack->symbol, &pack->symbol_room, pack->n_symbols,
				      sizeof(*pack->symbol)) != 0)
		return;
	pack->symbol[pack->n_symbols].pid = ktr__pids_of(&pack->pids, key, event->thread->pid);
	pack->symbol[pack->n_symbols].address = address;
	pack->symbol[pack->n_symbols].name = strdup(ktr__packer_clean(pack, name, strlen(name)));
	if (pack->symbol[pack->n_symbols].name != NULL)
		pack->n_symbols++;
}

static void packer_args(struct ktr__packer *pack, const struct ktr_event *event, uint32_t site)
{
	struct ktr__column *column = &pack->arg[site * KTR_ARGS_MAX];

	for (unsigned i = 0; i < event->site->n_args; i++) {
		const struct ktr_event_bytes *str = &event->str[i];

		switch (event->site->arg[i].type) {
		case KTR_ARG_STR:
			ktr__column_delta(&column[i], packer_string(pack, str->bytes, str->n_bytes,
								    str->is_null ? 2 : str->cut));
			break;
		case KTR_ARG_STACK:
			ktr__column_delta(&column[i], packer_stack(pack, event, i));
			break;
		case KTR_ARG_PTR:
			packer_symbol(pack, event, event->arg[i]);
			/* fall through */
		default:
			ktr__column_delta(&column[i], event->arg[i]);
		}
		pack->error = column[i].error ? column[i].error : pack->error;
	}
}

static void packer_add_number(struct ktr__packer *pack, uint64_t number)
{
	ktr__column_clear(&pack->head);
	ktr__column_number(&pack->head, number);
	ktr__blob_add(&pack->blob, pack->head.bytes, pack->head.n);
}

static void packer_add_column(struct ktr__packer *pack, struct ktr__column *column)
{
	packer_add_number(pack, column->n);
	ktr__blob_add(&pack->blob, column->bytes, column->n);
	ktr__column_clear(column);
}

static void packer_add_sites(struct ktr__packer *pack)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pack->n_sites; i++)
		n += pack->site_used[i];
	packer_add_number(pack, n);
	for (uint32_t i = 0; i < pack->n_sites; i++) {
		if (!pack->site_used[i])
			continue;
		packer_add_number(pack, i);
		for (unsigned a = 0; a < pack->site[i]->n_args; a++)
			packer_add_column(pack, &pack->arg[i * KTR_ARGS_MAX + a]);
		pack->site_used[i] = 0;
	}
}

/* Writes the chunk and empties it. */
static int packer_flush(struct ktr__packer *pack)
{
	struct ktr__column *const columns[] = { &pack->time, &pack->sites, &pack->track_of,
						&pack->lane, &pack->end,   &pack->index };
	char id[16];

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		pack->error = columns[i]->error ? columns[i]->error : pack->error;
	if (pack->text.error || pack->states.error)
		pack->error = -ENOMEM;
	snprintf(id, sizeof(id), "c%u", pack->n_chunks);
	if (pack->error == 0 &&
	    ktr__array_grow(&pack->chunk, &pack->chunk_room, pack->n_chunks, sizeof(*pack->chunk)) != 0)
		pack->error = -ENOMEM;
	if (pack->error != 0 || ktr__blob_begin(&pack->blob, pack->to, id) != 0)
		return -ENOMEM;
	packer_add_number(pack, pack->n);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		packer_add_column(pack, columns[i]);
	packer_add_number(pack, pack->n_strings);
	ktr__blob_add(&pack->blob, pack->text.bytes, pack->text.n);
	ktr__column_clear(&pack->text);
	packer_add_sites(pack);
	ktr__blob_end(&pack->blob);
	pack->chunk[pack->n_chunks++] = (struct ktr__packer_chunk){ pack->n,
								    pack->first_ns - pack->from_ns,
								    pack->last_ns - pack->from_ns };
	pack->n = pack->n_strings = pack->end_at = 0;
	ktr__keymap_clear(&pack->strings);
	if (pack->n_rings > 0)
		memset(pack->ring_next, 0, pack->n_rings * sizeof(*pack->ring_next));
	return 0;
}

/* Hardly ever more than one number of a byte that is 0. */
static void packer_index(struct ktr__packer *pack, const struct ktr_event *event)
{
	uint32_t ring = 2 * event->cpu + (event->keep != 0);

	if (ktr__array_grow(&pack->ring_next, &pack->n_rings, ring, sizeof(*pack->ring_next)) != 0) {
		pack->error = -ENOMEM;
		return;
	}
	ktr__column_signed(&pack->index, (int64_t)(event->index - pack->ring_next[ring]));
	pack->ring_next[ring] = event->index + 1;
}

static void packer_add(struct ktr__packer *pack, const struct ktr_event *event, uint64_t ns)
{
	uint32_t site = packer_site(pack, event->site);

	if (site == UINT32_MAX)
		return;
	if (pack->n == 0) {
		ktr__packer_states(pack);
		pack->first_ns = ns;
		pack->last_ns = pack->from_ns;
	}
	pack->n++;
	pack->n_events++;
	pack->site_used[site] = 1;
	ktr__column_number(&pack->time, ns - pack->last_ns);
	ktr__column_number(&pack->sites, site);
	ktr__column_number(&pack->track_of, packer_track(pack, event));
	packer_index(pack, event);
	packer_args(pack, event, site);
	pack->last_ns = ns;
}

int ktr__packer_event(struct ktr__packer *pack, const struct ktr_event *event,
		      const struct ktr__timeline *timeline, const struct ktr__row *row, int pack_it)
{
	enum ktr_event_kind kind = event->site->kind;
	unsigned lane = 0;

	if (pack_it)
		packer_add(pack, event, timeline->now_ns);
	if (row != NULL)
		lane = ktr__packer_row(pack, event, timeline, row, pack_it);
	if (pack_it && (kind == KTR_KIND_START || kind == KTR_KIND_STOP))
		ktr__column_number(&pack->lane, lane);
	if (pack->error == 0 && pack->n == KTR__PACKER_EVENTS)
		return packer_flush(pack);
	return pack->error;
}

int ktr__packer_end(struct ktr__packer *pack)
{
	return pack->n > 0 ? packer_flush(pack) : pack->error;
}
