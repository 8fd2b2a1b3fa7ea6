/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows out of what providers record: a sink that hands on all that comes, and after an event of the providers lock
 * and heap (ktr/provider/) what it means for the rows of a picture, as states, spans and counters like those of
 * KTR_STATE and its kin. So whoever draws such rows draws these, too, of a program without a line for it.
 *
 *	ktr__derive_new(&derive, reader, &timeline.sink, 0);
 *	sinks[0] = ktr__derive_sink(derive);
 *	ktr_reader_walk(reader, sinks, 1);
 *
 * Rows, by group and id:
 *
 *	locks	a lock's name: "held by worker (12)", "read by 3", "free"; where only waiting was recorded, whose it
 *		was while others waited, else "nobody waits"; "not known" after a loss, or when its probes have spent
 *		their budget; "no more" where another one lies in its place
 *	locks	a lock's name and ": waiters": a span of each wait, by the thread that waits
 *	waits	"worker (12)": "blocked on" a lock or "waiting for" a condition, a semaphore, a barrier, or "not waiting"
 *	memory	bytes in use, of malloc(3) and its like, bytes mapped, of mmap(2), to a thousandth of what was most
 *
 * A lock is called by the name that the program has given it (KTR_LOCK_NAME), or its variable's, or by its address.
 * Beyond KTR__DERIVE_QUIET locks of a process only those have rows that a thread has waited for, from then on.
 */
#ifndef ANALYZE_DERIVE_H
#define ANALYZE_DERIVE_H

#include <ktr/reader.h>

#define KTR__DERIVE_LOCKS  "locks"
#define KTR__DERIVE_WAITERS ": waiters" /* after a lock's name: of the row of its waits */
#define KTR__DERIVE_WAITS  "waits"
#define KTR__DERIVE_MEMORY "memory"
#define KTR__DERIVE_FILE   "(derived)" /* of their sites */

#define KTR__DERIVE_QUIET 20u

struct ktr__derive;

/*
 * all: every lock has its rows. 0 with an owned object, or -ENOMEM. Reader and sink are borrowed. Where the source
 * has nothing of these providers ktr__derive_sink() is the sink itself. Events refer to sites of the object's own:
 * it must live as long as what refers to them.
 */
int ktr__derive_new(struct ktr__derive **derive, struct ktr_reader *reader, struct ktr_sink *to, int all);
struct ktr_sink *ktr__derive_sink(struct ktr__derive *derive);
void ktr__derive_free(struct ktr__derive *derive);

/*
 * Of what comes before that moment nothing is handed on, but what it has come to, at the moment: so a window knows
 * what came before. A walk begins with the source's first event, and ends with ktr__derive_end(), which returns as
 * a sink does.
 */
void ktr__derive_from(struct ktr__derive *derive, uint64_t from_ns);
int ktr__derive_end(struct ktr__derive *derive);

/* Events that were not handed on. */
uint64_t ktr__derive_n_before(const struct ktr__derive *derive);

/* Does it look at the arguments of this site's events? */
int ktr__derive_wants(const struct ktr__derive *derive, const struct ktr_reader_site *site);

/* Locks that have no row, as nobody waited for them. */
uint64_t ktr__derive_n_quiet(const struct ktr__derive *derive);

/* Is it an event that was made here, which no program has recorded? */
static inline int ktr__derive_is(const struct ktr_reader_site *site)
{
	return site->file && site->file[0] == '(' && __builtin_strcmp(site->file, KTR__DERIVE_FILE) == 0;
}

/* Is it one of a lock's row, which is nobody's, whoever tells of it? */
static inline int ktr__derive_is_lock(const struct ktr_reader_site *site)
{
	return ktr__derive_is(site) && __builtin_strcmp(site->group, KTR__DERIVE_LOCKS) == 0;
}

#endif
