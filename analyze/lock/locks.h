/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Locks, by the events of the provider lock: how often and how long threads waited and held, who waited for whom,
 * how often a lock changed hands, who waits for each other at the end, and what there is to say of a lock in
 * words.
 *
 *	ktr__locks_init(&locks, reader);
 *	ktr_reader_walk(reader, (struct ktr_sink *[]){ &locks.sink }, 1);
 *	for each row: ktr__locks_row(&locks, i)
 */
#ifndef ANALYZE_LOCKS_H
#define ANALYZE_LOCKS_H

#include "analyze/lock/lock_events.h"
#include "analyze/lock/lock_halves.h"
#include "analyze/lock/lock_names.h"
#include "analyze/lock/lock_order.h"
#include "analyze/stats/stacks.h"

/* What a row is of; the first ones are tables, in the order of plockstat's and then ours. */
enum ktr__locks_kind {
	KTR__LOCKS_MUTEX_HOLD,
	KTR__LOCKS_MUTEX_BLOCK,
	KTR__LOCKS_SPIN_HOLD,
	KTR__LOCKS_SPIN_SPIN,
	KTR__LOCKS_READ_HOLD,
	KTR__LOCKS_WRITE_HOLD,
	KTR__LOCKS_READ_BLOCK,
	KTR__LOCKS_WRITE_BLOCK,
	KTR__LOCKS_COND_BLOCK,
	KTR__LOCKS_SEM_BLOCK,
	KTR__LOCKS_BARRIER_BLOCK,
	KTR__LOCKS_FUTEX_BLOCK,
	KTR__LOCKS_TABLES,
	KTR__LOCKS_EDGE = KTR__LOCKS_TABLES, /* tid waited for other: n, ns */
	KTR__LOCKS_INVERTED, /* tid waited for other, whose priority is lower: n, ns without a CPU; use */
	KTR__LOCKS_ERROR, /* (other: a code of errno(3)) it could not be had, or given back: n */
	KTR__LOCKS_USE,     /* of a lock (other: enum ktr__lock_kind): use */
	KTR__LOCKS_HELD,    /* by whom, since when; since_ns 0: by nobody that is known */
	KTR__LOCKS_WAITING, /* what a thread waits for, since when; since_ns 0: for nothing */
	KTR__LOCKS_KINDS
};

#define KTR__LOCKS_STEPS 40

/* What became of a lock in all. */
struct ktr__locks_use {
	uint64_t changed;   /* times that another thread took it than before */
	uint64_t blocked;   /* times that somebody waited */
	uint64_t contended; /* takings after a wait, among n */
	uint64_t n_waiting, n_queued; /* threads that wait now; those that waited when one began to, summed up */
	uint64_t n_handed, handed_ns; /* given back while somebody waited, until it was taken again */
	uint64_t wanted_ns;	      /* held, of those holdings at whose end somebody waited */
	/* Conditions. */
	uint64_t n_all, n_woken, n_useless; /* broadcasts; who woke from them; who waited again at once */
	/* INVERTED: of the longest. */
	uint64_t waited_ns;
	int32_t priority, owner_priority;
	uint8_t by_all;			    /* it was a broadcast that woke last */
};

struct ktr__locks_row {
	struct ktr__keyed_row keyed; /* first */
	enum ktr__locks_kind kind;
	/* What it is found by. */
	uint32_t proc; /* row of the process */
	uint32_t tid, other;
	uint64_t lock, caller; /* addresses there */
	uint32_t life;	       /* which of the locks that lay there; WAITING: 0 */
	/* What is known of it. */
	uint64_t n, ns, max_ns;
	uint64_t since_ns;
	uint64_t given_ns; /* HELD: when it was given back last */
	uint64_t at;	   /* WAITING: the lock; HELD and EDGE: who took it, where the code calls; 0: not known */
	uint32_t whose;	   /* WAITING: its owner then; USE: who took it last. 0: not known */
	uint32_t depth;	   /* HELD: by a reader so often */
	uint32_t what;	   /* WAITING: enum ktr__lock_kind */
	uint32_t at_life;  /* WAITING: of the lock */
	uint8_t got;	   /* WAITING: it has waited for what it takes next */
	uint8_t woken;	   /* WAITING: a broadcast on `condition` woke it, and it has given nothing back since */
	uint64_t condition;
	uint64_t queued;    /* WAITING: which in line it was, as use.n_queued has it */
	uint64_t waited_ns; /* WAITING: how long it has waited last */
	uint64_t late_ns;   /* HELD: since when late_tid has had it, not seen to give it back; 0: nobody */
	uint64_t taken_ns;  /* HELD: when the one after it took it */
	uint32_t late_tid;
	struct ktr__locks_use use;
	uint32_t took[KTR__LOCKS_STEPS]; /* of tables: how many took from 2^i ns on; the last all that is longer */
	/*
	 * WAITING: of the wait; HELD: of who took it; of tables the one or the other, of the longest; EDGE: both.
	 * NULL: not known.
	 */
	const struct ktr__framed *stack, *at_stack;
	const struct ktr_reader_thread *thread; /* who was there last; of the reader */
};

struct ktr__locks {
	struct ktr_sink sink; /* first */
	struct ktr__lock_sites sites;
	struct ktr__lock_names names;
	struct ktr__lock_halves halves;
	struct ktr__keyed rows, stacks;
	struct ktr__lock_order order;
	uint64_t least_ns;  /* set after ktr__locks_init(): what took less is in no table, nor are its edges */
	uint64_t from_ns;   /* likewise: of what was before only names are of interest */
	uint64_t n_unknown; /* times that a lock was given back that nobody was seen to take */
	uint64_t n_lost;    /* events, of any kind, since the first one */
	uint64_t first_ns, last_ns;
	uint64_t blind_ns; /* until then events are lost: nothing that begins before is followed */
};

/* 0 or -ENOMEM; ktr__locks_free() is due in any case. The reader must outlive it. */
int ktr__locks_init(struct ktr__locks *locks, struct ktr_reader *reader);
void ktr__locks_free(struct ktr__locks *locks);

/* i < locks->rows.n; in the order of their first events. */
static inline const struct ktr__locks_row *ktr__locks_row(const struct ktr__locks *locks, size_t i)
{
	return (const struct ktr__locks_row *)(const void *)locks->rows.row[i];
}

/*
 * The thread that has what a thread waits for (a row of WAITING), or 0. *sure: it was seen to take it and not to
 * give it back; else the lock said so when the wait began, and it may have let go of it since.
 */
uint32_t ktr__locks_owner(const struct ktr__locks *locks, const struct ktr__locks_row *waiting, int *sure);

/* The row of WAITING of that thread; NULL: it does not wait, as far as is known. */
const struct ktr__locks_row *ktr__locks_behind(const struct ktr__locks *locks,
					       const struct ktr__locks_row *waiting, int *sure);

#endif
