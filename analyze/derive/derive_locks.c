/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of locks and of threads that wait for them. What is recorded is believed as it comes: who takes a lock has
 * it, whoever was thought to; a lock that is given back by another one than has it, as far as is known, stays that
 * one's. Where events are lost, or a probe is switched off, nothing is believed any more until it is told again.
 */
#include "analyze/derive/derive_locks.h"

#include "analyze/derive/derive_tell.h"
#include "analyze/read/tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LOCKS_STATE   (KTR__LOCK_NAME_BYTES + 32) /* [bytes] */
#define LOCKS_UNKNOWN "not known"

struct locks_lock {
	struct ktr__keyed_row keyed; /* first: process, address */
	const char *name, *waiters; /* NULL: it has no rows yet. Of the arena */
	const struct ktr_reader_thread *holder; /* who may write; NULL: nobody that is known */
	const struct ktr_reader_thread *last; /* who told of it last; of its process */
	uint32_t n_readers, n_waiting;
	uint32_t life;
	uint8_t kind;	  /* enum ktr__lock_kind */
	uint8_t is_seen;  /* its takings are recorded, too */
	uint8_t is_vague; /* there may be more readers than were seen */
	uint8_t is_quiet; /* counted as one without rows */
	char state[LOCKS_STATE]; /* of its row */
};

struct locks_thread {
	struct ktr__keyed_row keyed; /* first: process, number */
	const struct ktr_reader_thread *thread;
	const char *name; /* of its row */
	struct locks_lock *waits; /* for that; NULL: for nothing */
	char state[LOCKS_STATE];
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
	[KTR__LOCK_FUTEX] = "futex",
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
	const char *known = ktr__lock_names_of(&derive->lock_names, e->proc, e->lock, e->life, name);
	int taken, n;

	n = known ? snprintf(text, sizeof(text), "%s", known) :
		    snprintf(text, sizeof(text), "%s 0x%" PRIx64, locks_kind[e->kind], e->lock);
	taken = locks_is_taken(derive, e, text);
	if (taken < 0)
		return taken;
	if (taken)
		n = snprintf(text, sizeof(text), "%s (0x%" PRIx64 ")", known ? known : locks_kind[e->kind], e->lock);
	lock->name = ktr__arena_copy(&derive->arena, text, (size_t)n);
	n += snprintf(text + n, sizeof(text) - (size_t)n, KTR__DERIVE_WAITERS);
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
	if (!lock)
		return NULL;
	lock->last = e->event->thread;
	lock->kind = (uint8_t)e->kind;
	if (derive->locks.n == before)
		return lock;
	lock->life = e->life;
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
	thread->state[0] = '\0';
	locks_thread_name(name, sizeof(name), thread->thread);
	thread->name = ktr__arena_copy(&derive->arena, name, strlen(name));
	return thread->name ? thread : NULL;
}

/* ---- rows ---- */

/* The state of the lock's row, where it changes, at the moment of some event of its process. */
static int locks_say(struct ktr__derive *derive, const struct ktr_event *at, struct locks_lock *lock,
		     const char *state)
{
	if (!lock->name || strcmp(lock->state, state) == 0)
		return 0;
	snprintf(lock->state, sizeof(lock->state), "%s", state);
	return ktr__derive_state(derive, at, KTR__DERIVE_HOLDER, lock->name, lock->state);
}

static int locks_thread_say(struct ktr__derive *derive, const struct ktr_event *at, struct locks_thread *thread,
			    const char *state)
{
	snprintf(thread->state, sizeof(thread->state), "%s", state);
	return ktr__derive_state(derive, at, KTR__DERIVE_THREAD, thread->name, thread->state);
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
		snprintf(state, sizeof(state), "read by %" PRIu32 "%s", lock->n_readers,
			 lock->is_vague ? " or more" : "");
	} else if (whose) {
		snprintf(state, sizeof(state), "held by thread %" PRIu32, whose);
	} else if (lock->is_vague) {
		snprintf(state, sizeof(state), LOCKS_UNKNOWN);
	} else {
		snprintf(state, sizeof(state), "%s",
			 lock->is_seen ? "free" : lock->n_waiting ? "held" : "nobody waits");
	}
	return locks_say(derive, e->event, lock, state);
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
		lock->n_readers = lock->is_vague = 0;
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
	if (e->kind != KTR__LOCK_RW || e->write)
		lock->is_vague = 0;
	lock->holder = NULL;
	return locks_held(derive, e, lock, 0);
}

static int locks_made(struct ktr__derive *derive, const struct ktr__lock_event *e, struct locks_lock *lock)
{
	lock->holder = NULL;
	lock->n_readers = lock->is_vague = 0;
	return lock->state[0] ? locks_held(derive, e, lock, 0) : 0;
}

/* An event that is none, by which rows of a thread, or its process, are told. */
static struct ktr_event locks_moment(const struct ktr_reader_thread *thread, const struct ktr_event *like)
{
	return (struct ktr_event){
		.time_ns = like->time_ns, .cpu = like->cpu, .keep = like->keep, .thread = thread
	};
}

/* A thread does not wait any more, as far as anybody knows: nobody has told the end. */
static int locks_wait_over(struct ktr__derive *derive, const struct ktr_event *like, struct locks_thread *thread)
{
	struct ktr_event at = locks_moment(thread->thread, like);
	struct locks_lock *lock = thread->waits;
	int rc = ktr__derive_span(derive, &at, KTR__DERIVE_WAIT_ENDS, lock->waiters, thread->thread->tid);

	thread->waits = NULL;
	lock->n_waiting -= lock->n_waiting != 0;
	return rc ? rc : locks_thread_say(derive, &at, thread, LOCKS_UNKNOWN);
}

/* Another one lies there, which has rows of its own: nobody has the one before, or waits for it. */
static int locks_anew(struct ktr__derive *derive, const struct ktr__lock_event *e, struct locks_lock *lock)
{
	int rc = lock->state[0] ? locks_say(derive, e->event, lock, "no more") : 0;

	for (size_t i = 0; i < derive->threads.n && lock->n_waiting && !rc; i++) {
		struct locks_thread *thread = (struct locks_thread *)(void *)derive->threads.row[i];

		if (thread->waits == lock)
			rc = locks_wait_over(derive, e->event, thread);
	}
	lock->life = e->life;
	lock->name = lock->waiters = NULL;
	lock->holder = NULL;
	lock->n_readers = lock->n_waiting = lock->is_vague = 0;
	lock->state[0] = '\0';
	return rc;
}

static int locks_block(struct ktr__derive *derive, const struct ktr__lock_event *e, struct locks_lock *lock)
{
	struct locks_thread *thread = locks_thread(derive, e);
	const struct locks_thread *owner;
	char state[LOCKS_STATE];
	int rc = 0;

	if (!thread)
		return -ENOMEM;
	/* One that a jump has left, or that a handler's comes in between of. */
	if (thread->waits)
		rc = locks_wait_over(derive, e->event, thread);
	if (rc)
		return rc;
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
	return rc ? rc : locks_thread_say(derive, e->event, thread, state);
}

static int locks_blocked(struct ktr__derive *derive, const struct ktr__lock_event *e, struct locks_lock *lock)
{
	struct locks_thread *thread = locks_thread(derive, e);
	int rc = 0;

	if (!thread)
		return -ENOMEM;
	if (thread->waits != lock) /* its beginning is not known */
		return thread->waits ? 0 : locks_thread_say(derive, e->event, thread, "not waiting");
	thread->waits = NULL;
	lock->n_waiting -= lock->n_waiting != 0;
	if (locks_is_owned(e) && !lock->is_seen) {
		/* While nobody waits nobody knows whose it is; and readers are many. */
		lock->holder = e->error || !lock->n_waiting || (e->kind == KTR__LOCK_RW && !e->write) ?
				       NULL :
				       e->event->thread;
		rc = locks_held(derive, e, lock, 0);
	}
	rc = rc ? rc : ktr__derive_span(derive, e->event, KTR__DERIVE_WAIT_ENDS, lock->waiters, e->tid);
	return rc ? rc : locks_thread_say(derive, e->event, thread, "not waiting");
}

/* ---- what is not known any more ---- */

static int locks_process_of(const struct ktr_reader_thread *thread)
{
	return (int)ktr__tables_proc(thread);
}

/* Waits of a kind in a process end as far as anybody knows; proc < 0, kind KTR__LOCK_KINDS: of any. */
static int locks_forget_waits(struct ktr__derive *derive, const struct ktr_event *like, int proc, unsigned kind)
{
	int rc = 0;

	for (size_t i = 0; i < derive->threads.n && !rc; i++) {
		struct locks_thread *thread = (struct locks_thread *)(void *)derive->threads.row[i];

		if (thread->waits && (proc < 0 || locks_process_of(thread->thread) == proc) &&
		    (kind == KTR__LOCK_KINDS || thread->waits->kind == kind))
			rc = locks_wait_over(derive, like, thread);
	}
	return rc;
}

/* So owners, which may be seen again. */
static int locks_forget_owners(struct ktr__derive *derive, const struct ktr_event *like, int proc, unsigned kind)
{
	int rc = 0;

	for (size_t i = 0; i < derive->locks.n && !rc; i++) {
		struct locks_lock *lock = (struct locks_lock *)(void *)derive->locks.row[i];
		struct ktr_event at = locks_moment(lock->last, like);

		if ((proc >= 0 && locks_process_of(lock->last) != proc) ||
		    (kind != KTR__LOCK_KINDS && lock->kind != kind))
			continue;
		lock->holder = NULL;
		lock->n_readers = 0;
		lock->is_vague = lock->kind == KTR__LOCK_RW && lock->is_seen;
		if (lock->state[0])
			rc = locks_say(derive, &at, lock, LOCKS_UNKNOWN);
	}
	return rc;
}

/* A budget was spent: of a kind of locks nobody tells any more who takes them, or who waits. */
static int locks_off(struct ktr__derive *derive, const struct ktr__lock_event *e)
{
	int rc = ktr__lock_ends_waits(e) ? locks_forget_waits(derive, e->event, (int)e->proc, e->kind) : 0;

	if (rc || (!ktr__lock_ends_owners(e) && !ktr__lock_ends_waits(e)))
		return rc;
	rc = locks_forget_owners(derive, e->event, (int)e->proc, e->kind);
	for (size_t i = 0; i < derive->locks.n && ktr__lock_ends_owners(e); i++) {
		struct locks_lock *lock = (struct locks_lock *)(void *)derive->locks.row[i];

		if (lock->kind == e->kind && locks_process_of(lock->last) == (int)e->proc)
			lock->is_seen = lock->is_vague = 0;
	}
	return rc;
}

int ktr__derive_lock_loss(struct ktr__derive *derive, const struct ktr_loss *loss)
{
	/* In traces made of others it may be told later than it began. */
	const struct ktr_event like = { .time_ns = loss->from_ns > derive->now_ns ? loss->from_ns : derive->now_ns,
					.cpu = loss->cpu,
					.keep = loss->keep };
	uint64_t to_ns = loss->to_ns ? loss->to_ns : UINT64_MAX;
	int rc = locks_forget_waits(derive, &like, -1, KTR__LOCK_KINDS);

	derive->blind_ns = to_ns > derive->blind_ns ? to_ns : derive->blind_ns;
	return rc ? rc : locks_forget_owners(derive, &like, -1, KTR__LOCK_KINDS);
}

/* ---- where a window begins ---- */

int ktr__derive_lock_again(struct ktr__derive *derive, uint64_t ns)
{
	struct ktr_event at = { .time_ns = ns };
	int rc = 0;

	for (size_t i = 0; i < derive->locks.n && !rc; i++) {
		struct locks_lock *lock = (struct locks_lock *)(void *)derive->locks.row[i];

		at.thread = lock->last;
		if (lock->name && lock->state[0])
			rc = ktr__derive_state(derive, &at, KTR__DERIVE_HOLDER, lock->name, lock->state);
	}
	for (size_t i = 0; i < derive->threads.n && !rc; i++) {
		struct locks_thread *thread = (struct locks_thread *)(void *)derive->threads.row[i];

		at.thread = thread->thread;
		if (thread->waits)
			rc = ktr__derive_span(derive, &at, KTR__DERIVE_WAIT_BEGINS, thread->waits->waiters,
					      thread->thread->tid);
		if (!rc && thread->state[0])
			rc = ktr__derive_state(derive, &at, KTR__DERIVE_THREAD, thread->name, thread->state);
	}
	return rc;
}

/* ---- any event ---- */

static int locks_tell(struct ktr__derive *derive, const struct ktr__lock_event *e)
{
	struct locks_lock *lock = locks_lock(derive, e);
	int rc = 0;

	if (!lock || !locks_thread(derive, e))
		return -ENOMEM;
	if (lock->life != e->life)
		rc = locks_anew(derive, e, lock);
	if (e->what == KTR__LOCK_BLOCK && lock->is_quiet) {
		lock->is_quiet = 0;
		derive->n_quiet--;
	}
	/* Who makes it names it afterwards. */
	if (!rc && !lock->name && !lock->is_quiet && e->what != KTR__LOCK_MADE)
		rc = locks_name(derive, e, lock);
	if (rc)
		return rc;
	switch (e->what) {
	case KTR__LOCK_TAKE:
		return locks_take(derive, e, lock);
	case KTR__LOCK_GIVE:
		return locks_give(derive, e, lock);
	case KTR__LOCK_MADE:
		return locks_made(derive, e, lock);
	case KTR__LOCK_BLOCK:
		return locks_block(derive, e, lock);
	case KTR__LOCK_BLOCKED:
		return locks_blocked(derive, e, lock);
	default:
		return 0;
	}
}

int ktr__derive_lock(struct ktr__derive *derive, const struct ktr_event *event)
{
	struct ktr__lock_event e;
	int rc = ktr__lock_names_event(&derive->lock_names, event);

	if (rc || !ktr__lock_event(&derive->lock_sites, event, &e))
		return rc;
	rc = ktr__lock_halves_event(&derive->lock_halves, &e);
	if (rc || e.what == KTR__LOCK_OFF)
		return rc ? rc : locks_off(derive, &e);
	if (e.what == KTR__LOCK_STACK || e.what == KTR__LOCK_WAKE || e.what == KTR__LOCK_INVERTED ||
	    e.what == KTR__LOCK_FAIL)
		return 0;
	if (e.kind == KTR__LOCK_SEM && (e.what == KTR__LOCK_TAKE || e.what == KTR__LOCK_GIVE))
		return 0; /* it is nobody's */
	rc = ktr__lock_names_live(&derive->lock_names, &e);
	/* What is told between losses, or by halves, is as good as none. */
	if (rc || event->time_ns < derive->blind_ns || ktr__lock_is_half(&derive->lock_halves, &e))
		return rc;
	return locks_tell(derive, &e);
}
