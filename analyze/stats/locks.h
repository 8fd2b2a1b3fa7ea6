/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Locks, by the events of the provider lock (ktr/provider/lock/probes.h): how often and how long threads waited and
 * held, who waited for whom, how often a lock changed hands, and who waits for each other at the end.
 *
 *	ktr__locks_init(&locks, reader);
 *	ktr_reader_walk(reader, (struct ktr_sink *[]){ &locks.sink }, 1);
 *	for each row: locks.row[i]
 */
#ifndef ANALYZE_LOCKS_H
#define ANALYZE_LOCKS_H

#include <ktr/reader.h>

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
	KTR__LOCKS_TABLES,
	KTR__LOCKS_EDGE = KTR__LOCKS_TABLES, /* tid waited for other: n, ns */
	KTR__LOCKS_USE,     /* of a lock: n times taken, changed: by another thread than before, blocked */
	KTR__LOCKS_HELD,    /* by whom, since when; since_ns 0: by nobody that is known */
	KTR__LOCKS_WAITING, /* what a thread waits for, since when; since_ns 0: for nothing */
	KTR__LOCKS_KINDS
};

struct ktr__locks_row {
	struct ktr__locks_row *chain;
	enum ktr__locks_kind kind;
	/* What it is found by. */
	uint32_t proc; /* row of the process */
	uint32_t tid, other;
	uint64_t lock, caller; /* addresses there */
	/* What is known of it. */
	uint64_t n, ns, max_ns;
	uint64_t changed, blocked;
	uint64_t since_ns;
	uint64_t at;    /* WAITING: the lock */
	uint32_t whose; /* WAITING: its owner then; USE: who took it last. 0: not known */
	const struct ktr_reader_thread *thread; /* who was there last; of the reader */
};

struct ktr__locks {
	struct ktr_sink sink; /* first */
	uint8_t *probe; /* owned; by site: which probe, from 1 */
	unsigned n_sites;
	unsigned n_probes; /* sites that are the provider's */
	struct ktr__locks_row **row; /* owned, each too; in the order of their first events */
	size_t n, room;
	struct ktr__locks_row **bucket;
	uint64_t n_unknown; /* times that a lock was given back that nobody was seen to take */
	uint64_t first_ns, last_ns;
};

/* 0 or -ENOMEM; ktr__locks_free() is due in any case. The reader must outlive it. */
int ktr__locks_init(struct ktr__locks *locks, const struct ktr_reader *reader);
void ktr__locks_free(struct ktr__locks *locks);

/* The row of that key, or NULL. HELD: tid 0, of readers their tid; WAITING: tid, lock 0. */
const struct ktr__locks_row *ktr__locks_find(const struct ktr__locks *locks, const struct ktr__locks_row *key);

/*
 * Whom does a thread that waits (a row of WAITING) wait for in the end? The row of WAITING of the thread that has
 * its lock, NULL if that does not wait or is not known.
 */
const struct ktr__locks_row *ktr__locks_behind(const struct ktr__locks *locks,
					       const struct ktr__locks_row *waiting);

#endif
