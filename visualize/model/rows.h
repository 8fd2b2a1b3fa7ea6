/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a timeline: who has one, and what is known of each.
 *
 * A row is an identity (process, group and id of KTR_STATE, START, COUNTER and POINT), a thread, or
 * a CPU. It has a lane (states, open spans, or who ran), an area (a counter), marks (how many
 * points or events a column has), and totals per label that do not depend on columns.
 *
 * A nest is the scopes of a thread (KTR_SCOPE, functions that are probed) in each other, as a flame chart has
 * them. It has none of these, but levels: rows whose lanes have the scopes' names. What a level shows lies within
 * what the level before shows.
 *
 * Memory is bounded: KTR__ROWS_MAX rows, and KTR__ROWS_BYTES of columns; what finds no room is
 * counted in n_crowded. Names are clean (visualize/model/label.h) and belong to the table, which neither
 * moves rows nor frees them before ktr__rows_free(). One thread at a time.
 */
#ifndef VISUALIZE_ROWS_H
#define VISUALIZE_ROWS_H

#include "conf/kit/arena.h"
#include "visualize/model/levels.h"
#include "visualize/model/losses.h"

#include <ktr/reader.h>

#define KTR__ROWS_MAX    65536u
#define KTR__ROWS_BYTES  (160u << 20)
#define KTR__ROWS_LABELS 4096u /* different states; later ones share KTR__LABEL_OTHER */
#define KTR__LANES_MAX   256u  /* spans of one row that can be open at once */
#define KTR__ROWS_LEVELS 64u   /* of a nest: a picture has room for no more; deeper scopes are counted */
#define KTR__ROWS_STAYS  64u   /* different states of one row that have totals of their own */

#define KTR__LABEL_NONE  0u
#define KTR__LABEL_OTHER 1u

enum ktr__row_kind {
	KTR__ROW_ID,
	KTR__ROW_THREAD,
	KTR__ROW_CPU,
	KTR__ROW_NEST /* and its levels, which are in no table */
};

/* struct ktr__row.has */
#define KTR__ROW_STATES   1u
#define KTR__ROW_SPANS    2u
#define KTR__ROW_COUNTERS 4u
#define KTR__ROW_POINTS   8u

/*
 * How long a row had a label, within the window; n is 0 where it only had it before. Of a state that is until the
 * first gap of rings that the row is from: nobody knows what the row did then, nor, up to its next event, what it
 * does since. A span that has not ended goes on after a gap; time within gaps is left out, and a stay that lies in
 * gaps for more than half of its time is left out as a whole.
 */
struct ktr__stay {
	uint16_t label;
	uint16_t open; /* the longest one had not ended when the trace did */
	uint32_t n;
	uint64_t total_ns;
	uint64_t longest_ns;
	uint64_t longest_from_ns;
};

struct ktr__row {
	enum ktr__row_kind kind;
	unsigned number; /* in the table's row[] */
	uint32_t pid;
	uint64_t process_key; /* ktr__tables_process_key() */
	uint32_t cpu;
	const char *process; /* clean */
	const char *group;   /* clean; "" for threads and CPUs */
	const char *name;    /* clean */
	const char *ident;   /* as recorded */
	size_t n_ident;
	uint64_t hash;
	struct ktr__row *chain;
	const struct ktr_reader_thread *thread; /* who alone wrote to it; NULL: several did */
	const struct ktr_reader_thread *latest; /* who wrote to it last; NULL: nobody */
	uint64_t left_ns; /* when its state was left, by who alone told of it; 0: it was not */
	unsigned has;
	int is_lock;	   /* its states say who has a lock (analyze/derive/) */
	uint64_t n_events; /* in the window */
	uint64_t first_ns; /* of them */
	struct ktr__lane lane;
	uint16_t label; /* that it has, as far as anybody knows: the lane's, if that is known */
	struct ktr__rings rings; /* that its events came from: what is lost in others is not its own */
	uint32_t gap_at; /* of the table's gaps the next one that the lane has not heard of */
	uint64_t lost_until_ns; /* the end of those before that its rings had */
	struct ktr__area area;
	uint32_t area_gap_at; /* likewise of the area */
	uint64_t area_lost_until_ns; /* as lost_until_ns */
	uint64_t area_doubt_ns; /* the moment of its last number, if that was in a gap; else 0 */
	uint32_t *marks;        /* owned, per column; NULL: none */
	struct ktr__stay *stay; /* owned */
	unsigned n_stays;
	uint64_t taken[KTR__LANES_MAX / 64]; /* a bit for each lane that a span is in */
	unsigned n_open;                     /* spans */
	struct ktr__row **level; /* owned: of a nest, from the outermost on */
	unsigned n_levels;
	uint64_t n_deeper;           /* scopes in the window that no level was left for */
	const struct ktr__row *nest; /* of a level: whose it is; NULL: it is none */
	unsigned depth;              /* of a level */
};

/* The rings that its events came from. */
static inline const struct ktr__rings *ktr__row_rings(const struct ktr__row *row)
{
	return row->nest != NULL ? &row->nest->rings : &row->rings;
}

struct ktr__rows {
	struct ktr__grid grid;
	struct ktr__arena names;
	struct ktr__row **row;
	uint32_t n_rows, row_room;
	struct ktr__row **bucket; /* power of two */
	unsigned n_buckets;
	const char *label[KTR__ROWS_LABELS]; /* clean */
	uint64_t label_hash[KTR__ROWS_LABELS];
	uint16_t label_bucket[2 * KTR__ROWS_LABELS];
	unsigned n_labels;
	uint32_t label_colour[KTR__ROWS_LABELS]; /* the same in all pictures of a trace */
	uint16_t label_depth[KTR__ROWS_LABELS];  /* so many spans are open; 0: it is a name */
	char label_letter[KTR__ROWS_LABELS];     /* likewise; '*' where all are taken */
	uint32_t colours_taken;                  /* of the palette, a bit each */
	struct ktr__colours *colours;            /* borrowed: of the trace's names; NULL: none are known */
	uint8_t letters_taken[128], scope_letters[128];
	uint8_t label_scope[KTR__ROWS_LABELS]; /* it is the name of a scope */
	uint16_t depth_label[KTR__LANES_MAX + 1]; /* "1 open", "2 open"...; 0: not made yet */
	uint64_t n_bytes;         /* of columns */
	uint64_t n_crowded;       /* [events] that found no room */
	uint64_t n_unpaired;      /* [events] STOPs without a START */
	struct ktr__rows_gap {
		uint64_t from_ns, to_ns;
		uint32_t cpu, keep;
	} *gap; /* owned: the same, in the order of from_ns */
	uint32_t n_gaps, gap_room;
};

/* A table for a window. Give back by ktr__rows_free() whatever this returns. 0 or -ENOMEM. */
int ktr__rows_init(struct ktr__rows *rows, const struct ktr__grid *grid);
void ktr__rows_free(struct ktr__rows *rows);

/*
 * The row of that kind, process and name, made when it is new. *out is NULL where there is no room.
 * group (bytes as recorded) may be ""; hint is a row that is likely to be it, or NULL. 0 or -ENOMEM.
 */
struct ktr__row_key {
	enum ktr__row_kind kind;
	const struct ktr_reader_thread *thread; /* one of the process; NULL: none */
	uint32_t cpu;
	const char *group;
	const char *ident;
	size_t n_ident;
};
int ktr__rows_find(struct ktr__rows *rows, const struct ktr__row_key *key, struct ktr__row *hint,
		   struct ktr__row **out);

/* The number of a label, KTR__LABEL_OTHER where there are too many. 0 or -ENOMEM. */
int ktr__rows_label(struct ktr__rows *rows, const char *bytes, size_t n, uint16_t *label);

/*
 * The number of the label of a scope's name, which is none of a state that is called so: it takes neither
 * colour nor letter from any. Likewise.
 */
int ktr__rows_scope(struct ktr__rows *rows, const char *name, uint16_t *label);

/* The label that says how many spans are open; 0: none. 0 or -ENOMEM. */
int ktr__rows_depth(struct ktr__rows *rows, unsigned n_open, uint16_t *label);

#endif
