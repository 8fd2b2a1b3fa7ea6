/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events packed for a page: chunks of KTR__PACKER_EVENTS, each an element of its own (visualize/page/blob.h)
 * with the id "c0", "c1"..., so that a viewer unpacks what it shows and no more.
 *
 * A chunk is columns, because what is alike then lies side by side. All numbers are those of
 * visualize/model/column.h; TEXT is a length in bytes and the bytes:
 *
 *	number of events; length and bytes of six columns:
 *		time	nanoseconds since the event before, the first one since the page's beginning
 *		site	index into the page's sites
 *		track	index into the page's tracks: thread, CPU, keep ring, approximate time
 *		lane	of each START and STOP: 1 + the lane its span lies in, 0 if it has none
 *		end	of each span that ends at an event without being ended by it: events since the one before,
 *			row, lane, nanoseconds that it ended before the event
 *		index	of each event's running number in its ring what it is more than one after the ring's event
 *			before it in the chunk, signed; of the first one all of it
 *	number of strings; of each: 1 if it was cut, 2 for NULL, else 0; TEXT
 *	number of call sites; of each: its index; of each argument, length and bytes of a column:
 *		numbers as differences (of strings and stacks: of indices into the strings), in the order of
 *		the site's events
 *
 * What a viewer must know of the time before a chunk is what each row was doing then. The column
 * `states` has, for each chunk, how many rows changed before it and since the chunk before, and of each
 * such row its number, a sum of 1 (state), 2 (counter), 4 (spans), 8 (they are scopes), and:
 *
 *	state	label; 1 + number of the event that set it, 0 if that is not in the page; signed time
 *	counter	lower and upper half of a double; event; signed time
 *	spans	how many are open; of each: lane; of a scope the label of its name; event; signed time
 *
 * Strings are clean (visualize/model/label.h).
 */
#ifndef VISUALIZE_PACKER_H
#define VISUALIZE_PACKER_H

#include "analyze/symbols/symbols.h"
#include "visualize/model/column.h"
#include "visualize/model/keymap.h"
#include "visualize/model/pids.h"
#include "visualize/model/timeline.h"
#include "visualize/page/blob.h"

#include <ktr/reader.h>

#define KTR__PACKER_EVENTS  32768u
#define KTR__PACKER_SYMBOLS 16384u /* addresses whose names are kept */

struct ktr__packer_chunk {
	uint32_t n_events;
	uint64_t first_ns, last_ns; /* since the page's beginning */
};

struct ktr__packer_track {
	const struct ktr_reader_thread *thread;
	uint32_t cpu;
	uint8_t keep, approx;
};

struct ktr__packer_symbol {
	uint32_t pid; /* of ktr__pids_of() */
	uint64_t address;
	char *name; /* owned, clean */
};

/* What a row is doing; by row number. */
struct ktr__packer_row {
	uint32_t touched; /* 1 + the chunk in which it last changed */
	uint16_t label;
	uint64_t state_event; /* 1 + number */
	uint64_t state_ns;
	double count;
	uint64_t count_event;
	uint64_t count_ns;
	struct ktr__packer_span {
		uint64_t event; /* 1 + number; 0: not in the page */
		uint64_t from_ns;
		int open;
		uint16_t label; /* of a scope; 0: it is none */
	} *span; /* owned, by lane */
	uint32_t n_spans;
};

struct ktr__packer {
	uint64_t from_ns; /* the page's beginning */
	uint64_t n_events;
	struct ktr__blob blob;
	FILE *to;                     /* borrowed */
	struct ktr__symbols *symbols; /* borrowed; may be NULL */
	struct ktr__packer_chunk *chunk;
	uint32_t n_chunks, chunk_room;
	const struct ktr_reader_site **site; /* of the page */
	uint32_t n_sites, site_room;
	uint32_t *site_index; /* 1 + index, by the reader's id */
	uint32_t n_site_index;
	struct ktr__packer_track *track;
	uint32_t n_tracks, track_room;
	struct ktr__keymap tracks, strings, addresses;
	struct ktr__pids pids; /* that the page knows processes by */
	struct ktr__packer_symbol *symbol;
	uint32_t n_symbols, symbol_room;
	struct ktr__packer_row *row;
	uint32_t n_rows;
	uint32_t *touched; /* rows that changed since the chunk before */
	uint32_t n_touched, touched_room;
	struct ktr__column states;
	/* The chunk that is being filled. */
	uint32_t n;
	uint64_t first_ns, last_ns;
	struct ktr__column head, time, sites, track_of, lane, end, index, text;
	uint64_t *ring_next; /* by ring: 1 + the number of its last event */
	uint32_t n_rings;
	uint32_t end_at; /* event of the last one of the column end */
	uint32_t n_strings;
	struct ktr__column *arg; /* KTR_ARGS_MAX by page site */
	uint32_t n_args;
	uint8_t *site_used;
	uint32_t n_site_used;
	char *clean; /* owned, for the cleaning of one string */
	uint32_t n_clean;
	int error;
};

void ktr__packer_init(struct ktr__packer *pack, FILE *to, uint64_t from_ns,
		      struct ktr__symbols *symbols);
void ktr__packer_free(struct ktr__packer *pack);

/*
 * The next event, after the timeline, which keeps what ended, has seen it: row is its identity's or NULL. With pack
 * 0 only what the row does is remembered. 0 or -ENOMEM.
 */
int ktr__packer_event(struct ktr__packer *pack, const struct ktr_event *event,
		      const struct ktr__timeline *timeline, const struct ktr__row *row, int pack_it);

/* Writes the last chunk. 0 or -ENOMEM. */
int ktr__packer_end(struct ktr__packer *pack);

/* A clean copy, valid until the next call; "" without memory, which is remembered. */
const char *ktr__packer_clean(struct ktr__packer *pack, const char *bytes, size_t n);

#endif
