/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ktr ship does with one trace: ship_walk.c reads it in the order of time, ship_sweep.c what lies there as a
 * whole stream by stream; ship_rows.c makes rows of events, ship_columns.c of many at once, and ship_tables.c of
 * what they refer to; ship_state.c writes down what is going to be sent, ship_send.c sends that. What rotation
 * removes meanwhile ship_spool.c keeps.
 *
 * A batch is the rows of the events that the walk came to after the batch before, of all streams, of counters, of
 * what was gone before it was shipped, and of the spans that these events ended. It is written down as it will be
 * sent, with how far each stream is after it, before it is sent; what is written down is sent again as it is, until
 * the server has it. So which events a
 * batch has depends on nothing that is read twice, and an event is in one batch alone: which numbers of its
 * stream have gone is known at any time.
 */
#ifndef SHIP_H
#define SHIP_H

#include "analyze/read/trace_head.h"
#include "analyze/spans/spans.h"
#include "tools/fleet/folder.h"
#include "tools/fleet/frame.h"
#include "tools/fleet/schema.h"
#include "tools/fleet/store.h"

#include <ktr/reader.h>

#define SHIP_BATCH_ROWS	 262144u	 /* [rows] ends a batch: some 30 MB of memory */
#define SHIP_BATCH_BYTES ((size_t)48 << 20) /* [bytes] the same, of rows with long texts */
#define SHIP_DAYS_MAX	 16
#define SHIP_PARTS_MAX	 (3 + SHIP_DAYS_MAX) /* events, counters, what was not shipped; spans of some days */
#define SHIP_BATCH_ROOM	 ((size_t)8 << 20)  /* [bytes] of one as most are: it is not moved as it grows */
#define SHIP_BATCH_HEAD	 ((size_t)64 << 10) /* [bytes] room before a batch, for what is written there */
#define SHIP_DAY_NS	 86400000000000ll
#define SHIP_GONE	 "unshipped" /* why a loss is one: it was removed before it was shipped */

/* How far a stream has been shipped. */
struct ship_stream {
	char name[40];
	uint64_t next;	/* [events] number of the first one that has not gone */
	uint64_t first; /* and of the first one that has; UINT64_MAX: none */
};

/* A block of a batch. */
struct ship_part {
	enum schema_table table;
	struct native_buffer query; /* with a NUL: what inserts it */
	struct native_buffer where; /* with a NUL: what finds its first row */
	size_t at, n;		    /* [bytes] compressed: where in the batch's `bytes` */
	uint64_t n_counted;	    /* rows that a view counts */
};

struct ship_batch {
	uint64_t number; /* from 1; 0: none */
	struct ship_part part[SHIP_PARTS_MAX];
	unsigned n_parts;
	struct native_buffer bytes; /* SHIP_BATCH_HEAD, and what its parts are, one after another */
};

struct ship_state {
	char *path; /* owned; without what follows */
	int lock_fd;
	struct ship_stream *stream; /* owned */
	uint32_t n_streams, stream_room;
	uint64_t n_batches; /* that were sent */
	uint64_t version;    /* of the rows that were sent last */
	uint64_t over_bytes; /* the trace had an end, and all of it was told when it had so many; 0: not so */
	int is_finished;    /* spans that were open at the end have gone, too */
	int is_new;	    /* nothing was written down before */
	int is_again;	    /* it began with --again: others may have shipped the trace, too */
	char id[17];	    /* of this shipping, drawn when it began */
	struct ship_batch pending; /* written down and not known to be there */
};

/* Spans of one day: a block that lies in two partitions would not be there as a whole or not at all. */
struct ship_day {
	int64_t day;
	struct native_block spans;
	struct native_buffer where;
	uint64_t n_counted; /* neither unsure nor open */
};

struct ship_counter_row;
struct ship_marks;
struct ship_site;
struct ship_span_keys;
struct ship_span_row;
struct ship_span_thread;
struct ship_spool;

/* The keys of a site's words in the block of events of a batch. */
struct ship_site_keys {
	uint32_t key[5]; /* class, site, kind, grp, id */
	uint32_t fill;	 /* which batch that is */
	uint64_t low;	 /* of each key a byte, the first one lowest */
};

struct ship_counts {
	uint64_t n_events, n_spans, n_lost, n_gone, n_batches, n_bytes;
};

struct ship {
	struct store *store;
	const char *command;
	const char *path;
	const char *host;
	const char *build; /* NULL: that of the first module */
	const char *filter_text; /* of events; NULL: all */
	int with_events, with_spans, again;
	int follow;	   /* go on with what comes, until the trace ends or a signal comes */
	uint64_t every_ns; /* what there is goes that often */
	const char *state_folder;
	char key[9]; /* of that folder, by which others' pieces are told from its own */
	struct ship_spool *spool; /* NULL: what rotation removes is not kept */

	struct ktr_reader *reader;
	const struct ktr_reader_info *info;
	const struct ktr__trace_head *head;
	int64_t utc_offset_ns;
	uint8_t uuid[16];  /* as Native has it */
	char trace[40], boot[40]; /* as SQL has them */
	char build_id[FOLDER_BUILD_BYTES];
	uint64_t version;
	uint64_t until_ns;   /* of a trace that is being written, and not followed:
		its last event when it was opened */
	uint64_t flushed_ns; /* when the last batch went, of CLOCK_MONOTONIC */
	uint64_t n_looked;   /* events */
	unsigned n_waits;    /* since an event came */
	int is_told;	     /* all of it was told before */
	int is_cut;	     /* the walk ends before the trace does */
	int is_followed;     /* it was being written when it was opened */
	int is_left;	     /* and is not any more, without an end: another walk finds the rest */

	struct native_block events;
	struct native_buffer where;
	struct native_block counters;
	struct native_buffer counters_where;
	int64_t day; /* of the blocks of events and counters */
	struct native_block gone; /* of losses: what rotation removed before it was shipped */
	struct native_buffer gone_where;
	struct ktr__filter *filter; /* owned; NULL: none */
	struct ship_day days[SHIP_DAYS_MAX];
	unsigned n_days;
	uint32_t n_span_rows;
	struct native_block losses;
	struct ktr__spans *spans;
	int is_fresh; /* the event being looked at has not gone yet, nor what it ends */
	uint32_t *place; /* owned; by cursor of the reader: its stream + 1 */
	uint32_t place_room;
	int is_swept;		   /* it is read stream by stream */
	struct ship_marks *marks;  /* owned; of a sweep: what spans are made of */
	struct ship_site *site;	   /* owned; by id: how its events become rows, */
	struct ship_site_keys *keys; /* owned; and the keys of its words in the batch being filled */
	uint32_t n_sites, n_keys;
	uint32_t fill; /* number of that batch, from 1 */
	uint32_t n_worded; /* rows of its events that have their sites' words */
	unsigned events_numbers; /* bit i: its events have EVENTS_I0 + i */
	struct ktr_event event;	 /* of a sweep: one that is looked at as a whole */
	struct frame_known known; /* of the trace, which all rows have */
	struct ship_counter_row *counter_row; /* owned; counters that are not in the block yet */
	uint32_t n_counter_pending, counter_room;
	struct ship_span_row *span_row; /* owned; spans that are in no block yet, */
	struct ship_day *span_day;	/* and which one they go to; NULL: there are none */
	struct ship_span_keys *span_keys; /* owned; by site: keys of its words in the blocks of spans */
	struct ship_span_thread *span_thread; /* owned; by thread: likewise */
	int64_t span_day_ts;		      /* [ns] when the day of those rows begins */
	uint32_t n_span_pending, span_room, n_span_keys, n_span_threads;
	uint64_t *line_hash[8]; /* owned; by file and id: what was told of it last */
	uint32_t line_room[8];
	uint64_t trace_hash;	/* likewise, of the trace itself */
	int no_questions; /* the user may not ask for rows: said once */
	struct ship_state state;
	struct ship_counts counts;
};

#endif
