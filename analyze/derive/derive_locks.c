/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of locks and of threads that wait for them. What is recorded is believed as it comes: who takes a lock has
 * it, whoever was thought to; a lock that is given back by another one than has it, as far as is known, stays that
 * one's.
 */
#include "analyze/derive/derive_locks.h"

#include "analyze/derive/derive_tell.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LOCKS_STATE (KTR__LOCK_NAME_BYTES + 32) /* [bytes] */

struct locks_lock {
	struct ktr__keyed_row keyed; /* first: process, address */
	const char *name, *waiters; /* NULL: it has no rows yet. Of the arena */
	const struct ktr_reader_thread *holder; /* who may write; NULL: nobody that is known */
	uint32_t n_readers, n_waiting;
	uint8_t is_seen;  /* its takings are recorded, too */
	uint8_t is_quiet; /* counted as one without rows */
	char state[LOCKS_STATE]; /* of its row */
};

struct locks_thread {
	struct ktr__keyed_row keyed; /* first: process, number */
	const struct ktr_reader_thread *thread;
	const char *name; /* of its row */
	struct locks_lock *waits; /* for that; NULL: for nothing */
};

struct locks_process {
	struct ktr__keyed_row keyed; /* first: process */
	uint64_t n_locks;
};

/* A name that a row of a process has. */
struct locks_name {
	struct ktr__keyed_row keyed; /* first: process, hash of the name, two words */
	uint64_t lock;
};

/* ---- names ---- */

static const char *const locks_kind[] = {
	[KTR__LOCK_MUTEX] = "mutex",	[KTR__LOCK_RW] = "rwlock",     [KTR__LOCK_SPIN] = "spin lock",
	[KTR__LOCK_COND] = "condition", [KTR__LOCK_SEM] = "semaphore", [KTR__LOCK_BARRIER] = "barrier",
};

static void locks_thread_name(char *text, size_t size, const struct ktr_reader_thread *thread)
{
	snprintf(text, size, "%.60s (%" PRIu32 ")", thread->name ? thread->name : "", thread->tid);
}

/* Has another lock of the process that name already? 0 or 1, or -ENOMEM. */
static int locks_is_taken(struct ktr__derive *derive, const struct ktr__lock_event *e, const char *name)
{
	uint64_t hash[2] = { 14695981039346656037ull, 0 };
	struct locks_name *row;

	for (const char *at = name; *at; at++) { /* FNV-1a, and another one */
		hash[0] = (hash[0] ^ (unsigned char)*at) * 1099511628211ull;
		hash[1] = hash[1] * 0x9e3779b97f4a7c15ull + (unsigned char)*at + 1;
	}
	row = ktr__keyed_get(&derive->names, (const uint64_t[4]){ e->proc, hash[0], hash[1], 0 }, sizeof(*row));
	if (!row)
		return -ENOMEM;
	if (!row->lock)
		row->lock = e->lock;
	return row->lock != e->lock;
}

/* From now on it has rows. 0 or -ENOMEM. */
static int locks_name(struct ktr__derive *derive, const struct ktr__lock_event *e, struct locks_lock *lock)
{
	char name[KTR__LOCK_NAME_BYTES], text[2 * KTR__LOCK_NAME_BYTES];
	const char *known = ktr__lock_names_of(&derive->lock_names, e->proc, e->lock, name);
	int taken, n;

	n = known ? snprintf(text, sizeof(text), "%s", known) :
		    snprintf(text, sizeof(text), "%s 0x%" PRIx64, locks_kind[e->kind], e->lock);
	taken = locks_is_taken(derive, e, text);
	if (taken < 0)
		return taken;
	if (taken)
		n = snprintf(text, sizeof(text), "%s (0x%" PRIx64 ")", known ? known : locks_kind[e->kind], e->lock);
	lock->name = ktr__arena_copy(&derive->arena, text, (size_t)n);
	n += snprintf(text + n, sizeof(text) - (size_t)n, ": waiters");
	lock->waiters = ktr__arena_copy(&derive->arena, text, (size_t)n);
	return lock->name && lock->waiters ? 0 : -ENOMEM;
}

/* ---- what is known ---- */

static struct locks_lock *locks_lock(struct ktr__derive *derive, const struct ktr__lock_event *e)
{
	struct locks_process *process;
	struct locks_lock *lock;
	size_t before = derive->locks.n;

	lock = ktr__keyed_get(&derive->locks, (const uint64_t[4]){ e->proc, e->lock, 0, 0 }, sizeof(*lock));
	if (!lock || derive->locks.n == before)
		return lock;
	process = ktr__keyed_get(&derive->processes, (const uint64_t[4]){ e->proc, 0, 0, 0 }, sizeof(*process));
	if (!process)
		return NULL;
	lock->is_quiet = ++process->n_locks > KTR__DERIVE_QUIET && !derive->all;
	derive->n_quiet += lock->is_quiet;
	return lock;
}

static struct locks_thread *locks_thread(struct ktr__derive *derive, const struct ktr__lock_event *e)
{
	struct locks_thread *thread;
	char name[96];

	thread = ktr__keyed_get(&derive->threads, (const uint64_t[4]){ e->proc, e->tid, 0, 0 }, sizeof(*thread));
	if (!thread || thread->thread == e->event->thread)
		return thread;
	/* New, or another one of that number. */
	thread->thread = e->event->thread;
	thread->waits = NULL;
	locks_thread_name(name, sizeof(name), thread->thread);
	thread->name = ktr__arena_copy(&derive->arena, name, strlen(name));
	return thread->name ? thread : NULL;
}

/* ---- rows ---- */

/* The state of the lock's row, where it changes. */
static int locks_say(struct ktr__derive *derive, const struct ktr__lock_event *e, struct locks_lock *lock,
		     const char *state)
{
	if (!lock->name || strcmp(lock->state, state) == 0)
		return 0;
	snprintf(lock->state, sizeof(lock->state), "%s", state);
	return ktr__derive_state(derive, e->event, KTR__DERIVE_HOLDER, lock->name, lock->state);
}

/* whose: the number of a thread of which no more is known; 0: it is nobody's. */
static int locks_held(struct ktr__derive *derive, const struct ktr__lock_event *e, struct locks_lock *lock,
		      uint32_t whose)
{
	char state[LOCKS_STATE], name[96];

	if (lock->holder) {
		locks_thread_name(name, sizeof(name), lock->holder);
		snprintf(state, sizeof(state), "held by %s", name);
	} else if (lock->n_readers) {
		snprintf(state, sizeof(state), "read by %" PRIu32, lock->n_readers);
	} else if (whose) {
		snprintf(state, sizeof(state), "held by thread %" PRIu32, whose);
	} else {
		snprintf(state, sizeof(state), "%s",
			 lock->is_seen ? "free" : lock->n_waiting ? "held" : "nobody waits");
	}
	return locks_say(derive, e, lock, state);
}

/* Does anybody have such a lock? */
static int locks_is_owned(const struct ktr__lock_event *e)
{
	return e->kind == KTR__LOCK_MUTEX || e->kind == KTR__LOCK_RW || e->kind == KTR__LOCK_SPIN;
}

/* ---- events ---- */

static int locks_take(struct ktr__derive *derive, const struct ktr__lock_event *e, struct locks_lock *lock)
{
	if (e->recursive)
		return 0;
	lock->is_seen = 1;
	if (e->kind == KTR__LOCK_RW && !e->write) {
		lock->n_readers++;
		lock->holder = NULL;
	} else {
		lock->n_readers = 0;
		lock->holder = e->event->thread;
	}
	return locks_held(derive, e, lock, 0);
}

static int locks_give(struct ktr__derive *derive, const struct ktr__lock_event *e, struct locks_lock *lock)
{
	if (e->recursive)
		return 0;
	lock->is_seen = 1;
	if (lock->n_readers)
		lock->n_readers--;
	lock->holder = NULL;
	return locks_held(derive, e, lock, 0);
}

static int locks_made(struct ktr__derive *derive, const struct ktr__lock_event *e, struct locks_lock *lock)
{
	lock->holder = NULL;
	lock->n_readers = 0;
	return lock->state[0] ? locks_held(derive, e, lock, 0) : 0;
}

static int locks_block(struct ktr__derive *derive, const struct ktr__lock_event *e, struct locks_lock *lock)
{
	struct locks_thread *thread = locks_thread(derive, e);
	const struct locks_thread *owner;
	char state[LOCKS_STATE];
	int rc = 0;

	if (!thread)
		return -ENOMEM;
	lock->n_waiting++;
	if (!lock->is_seen || (!lock->holder && !lock->n_readers)) {
		owner = ktr__keyed_find(&derive->threads, (const uint64_t[4]){ e->proc, e->owner, 0, 0 });
		lock->holder = owner ? owner->thread : NULL;
	}
	if (locks_is_owned(e))
		rc = locks_held(derive, e, lock, e->owner);
	thread->waits = lock;
	snprintf(state, sizeof(state), "%s %s", locks_is_owned(e) ? "blocked on" : "waiting for", lock->name);
	rc = rc ? rc : ktr__derive_span(derive, e->event, KTR__DERIVE_WAIT_BEGINS, lock->waiters, e->tid);
	return rc ? rc : ktr__derive_state(derive, e->event, KTR__DERIVE_THREAD, thread->name, state);
}

static int locks_blocked(struct ktr__derive *derive, const struct ktr__lock_event *e, struct locks_lock *lock)
{
	struct locks_thread *thread = locks_thread(derive, e);
	int rc = 0;

	if (!thread)
		return -ENOMEM;
	if (thread->waits != lock)
		return 0; /* its beginning is not known */
	thread->waits = NULL;
	lock->n_waiting -= lock->n_waiting != 0;
	if (locks_is_owned(e) && !lock->is_seen) {
		/* While nobody waits nobody knows whose it is. */
		lock->holder = e->error || !lock->n_waiting ? NULL : e->event->thread;
		rc = locks_held(derive, e, lock, 0);
	}
	rc = rc ? rc : ktr__derive_span(derive, e->event, KTR__DERIVE_WAIT_ENDS, lock->waiters, e->tid);
	return rc ? rc : ktr__derive_state(derive, e->event, KTR__DERIVE_THREAD, thread->name, "not waiting");
}

int ktr__derive_lock(struct ktr__derive *derive, const struct ktr_event *event)
{
	struct ktr__lock_event e;
	struct locks_lock *lock;
	int rc = ktr__lock_names_event(&derive->lock_names, event);

	if (rc || !ktr__lock_event(&derive->lock_sites, event, &e))
		return rc;
	if (e.what == KTR__LOCK_STACK || e.what == KTR__LOCK_WAKE || e.what == KTR__LOCK_INVERTED ||
	    e.what == KTR__LOCK_FAIL)
		return 0;
	if (e.kind == KTR__LOCK_SEM && (e.what == KTR__LOCK_TAKE || e.what == KTR__LOCK_GIVE))
		return 0; /* it is nobody's */
	lock = locks_lock(derive, &e);
	if (!lock || !locks_thread(derive, &e))
		return -ENOMEM;
	if (e.what == KTR__LOCK_BLOCK && lock->is_quiet) {
		lock->is_quiet = 0;
		derive->n_quiet--;
	}
	/* Who makes it names it afterwards. */
	if (!lock->name && !lock->is_quiet && e.what != KTR__LOCK_MADE)
		rc = locks_name(derive, &e, lock);
	if (rc)
		return rc;
	switch (e.what) {
	case KTR__LOCK_TAKE:
		return locks_take(derive, &e, lock);
	case KTR__LOCK_GIVE:
		return locks_give(derive, &e, lock);
	case KTR__LOCK_MADE:
		return locks_made(derive, &e, lock);
	case KTR__LOCK_BLOCK:
		return locks_block(derive, &e, lock);
	case KTR__LOCK_BLOCKED:
		return locks_blocked(derive, &e, lock);
	default:
		return 0;
	}
}

void ktr__derive_lock_loss(struct ktr__derive *derive)
{
	for (size_t i = 0; i < derive->locks.n; i++) {
		struct locks_lock *lock = (struct locks_lock *)(void *)derive->locks.row[i];

		lock->holder = NULL;
		lock->n_readers = lock->n_waiting = 0;
		lock->state[0] = '\0'; /* said again when it is known */
	}
	for (size_t i = 0; i < derive->threads.n; i++)
		((struct locks_thread *)(void *)derive->threads.row[i])->waits = NULL;
}
