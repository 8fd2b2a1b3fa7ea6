/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One table of rows for all kinds of them. A lock that was taken before the first event, or whose taking was lost,
 * has no time of holding; recursive takings are part of the first. Where events are lost all that is under way is
 * forgotten, and until the gap ends nothing new is followed: what a thread took, gave and took again in the gap
 * would be one holding.
 *
 * A thread tells that it has a lock after it has taken it, but a CPU may read the clock before the instruction is
 * done that takes it, which waits for the lock to come from another CPU. So a lock may be seen taken some 100 ns
 * before the one before has given it back: that one is late.
 */
#include "analyze/lock/locks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOCKS_LATE_NS 100000 /* later than this it was not the same holding */

/* ---- rows ---- */

static void locks_key(const struct ktr__locks_row *of, uint64_t key[4])
{
	key[0] = (uint64_t)of->kind << 56 | (uint64_t)(of->life & 0xffffff) << 32 | of->proc;
	key[1] = (uint64_t)of->tid << 32 | of->other;
	key[2] = of->lock;
	key[3] = of->caller;
}

static struct ktr__locks_row *locks_find(const struct ktr__locks *locks, const struct ktr__locks_row *of)
{
	uint64_t key[4];

	locks_key(of, key);
	return ktr__keyed_find(&locks->rows, key);
}

/* NULL without memory. */
static struct ktr__locks_row *locks_get(struct ktr__locks *locks, const struct ktr__locks_row *of)
{
	struct ktr__locks_row *row;
	uint64_t key[4];

	locks_key(of, key);
	row = ktr__keyed_get(&locks->rows, key, sizeof(*row));
	if (!row)
		return NULL;
	row->kind = of->kind;
	row->proc = of->proc;
	row->life = of->life;
	row->tid = of->tid;
	row->other = of->other;
	row->lock = of->lock;
	row->caller = of->caller;
	return row;
}

static struct ktr__locks_row *locks_add(struct ktr__locks *locks, const struct ktr__locks_row *of, uint64_t ns)
{
	struct ktr__locks_row *row = locks_get(locks, of);

	if (!row)
		return NULL;
	row->n++;
	row->ns += ns;
	if (ns > row->max_ns)
		row->max_ns = ns;
	return row;
}

/* A line of a table: a lock and where it was called for; of readers and writers, whose tables follow each other. */
static int locks_place(struct ktr__locks *locks, const struct ktr__lock_event *e, enum ktr__locks_kind kind,
		       uint64_t ns, const struct ktr__framed *stack)
{
	const struct ktr__locks_row of = { .kind = kind + (e->write != 0), .proc = e->proc, .lock = e->lock,
					   .life = e->life, .caller = e->caller };
	unsigned step = ns ? 63 - (unsigned)__builtin_clzll(ns) : 0;
	struct ktr__locks_row *row;

	if (ns < locks->least_ns)
		return 0;
	row = locks_add(locks, &of, ns);
	if (!row)
		return -ENOMEM;
	if (ns == row->max_ns)
		row->stack = stack;
	row->took[step < KTR__LOCKS_STEPS ? step : KTR__LOCKS_STEPS - 1]++;
	return 0;
}

/* Whose a lock is: of a lock's readers each has a row. */
static struct ktr__locks_row locks_held(const struct ktr__lock_event *e)
{
	return (struct ktr__locks_row){ .kind = KTR__LOCKS_HELD,
					.proc = e->proc,
					.lock = e->lock,
					.life = e->life,
					.tid = e->kind == KTR__LOCK_RW && !e->write ? e->tid : 0 };
}

/* The same of who may write. */
static struct ktr__locks_row locks_owned(const struct ktr__lock_event *e)
{
	return (struct ktr__locks_row){
		.kind = KTR__LOCKS_HELD, .proc = e->proc, .lock = e->lock, .life = e->life
	};
}

static struct ktr__locks_row locks_use(const struct ktr__lock_event *e)
{
	return (struct ktr__locks_row){ .kind = KTR__LOCKS_USE,
					.proc = e->proc,
					.lock = e->lock,
					.life = e->life,
					.other = e->kind };
}

static struct ktr__locks_row locks_waits(uint32_t proc, uint32_t tid)
{
	return (struct ktr__locks_row){ .kind = KTR__LOCKS_WAITING, .proc = proc, .tid = tid };
}

static struct ktr__locks_row *locks_waiting(struct ktr__locks *locks, const struct ktr__lock_event *e)
{
	struct ktr__locks_row of = locks_waits(e->proc, e->tid), *waiting = locks_get(locks, &of);

	if (waiting)
		waiting->thread = e->event->thread;
	return waiting;
}

/* What begins now may have an end that nobody tells. */
static int locks_is_blind(const struct ktr__locks *locks, const struct ktr__lock_event *e)
{
	return e->event->time_ns < locks->blind_ns || ktr__lock_is_half(&locks->halves, e);
}

/* ---- taken and given back ---- */

static int locks_take(struct ktr__locks *locks, const struct ktr__lock_event *e)
{
	struct ktr__locks_row of = locks_use(e), *use = locks_get(locks, &of), *held,
			      *waiting = locks_waiting(locks, e);

	of = locks_held(e);
	held = locks_get(locks, &of);
	if (!use || !held || !waiting)
		return -ENOMEM;
	use->n++;
	use->use.changed += use->whose && use->whose != e->tid;
	use->use.contended += waiting->got;
	use->whose = e->tid;
	use->thread = e->event->thread;
	waiting->got = 0;
	if (use->given_ns) {
		use->use.n_handed++;
		use->use.handed_ns += e->event->time_ns - use->given_ns;
		use->given_ns = 0;
	}
	/* A reader may have it several times; a mutex says so. */
	if (e->recursive || (held->tid && held->depth++ && held->since_ns))
		return 0;
	if (held->late_tid == e->tid)
		held->late_ns = 0; /* it was not seen to give it back */
	if (!held->tid && held->since_ns && held->thread->tid != e->tid) {
		held->late_ns = held->since_ns;
		held->late_tid = held->thread->tid;
		held->taken_ns = e->event->time_ns;
	}
	held->since_ns = locks_is_blind(locks, e) ? 0 : e->event->time_ns;
	held->at = e->caller;
	held->stack = NULL;
	held->thread = e->event->thread;
	return 0;
}

static const enum ktr__locks_kind locks_hold_kind[] = {
	[KTR__LOCK_MUTEX] = KTR__LOCKS_MUTEX_HOLD,
	[KTR__LOCK_RW] = KTR__LOCKS_READ_HOLD,
	[KTR__LOCK_SPIN] = KTR__LOCKS_SPIN_HOLD,
};

static int locks_give(struct ktr__locks *locks, const struct ktr__lock_event *e)
{
	struct ktr__locks_row of = locks_held(e), *held = locks_find(locks, &of), *use, *waiting;
	uint64_t ns, since_ns;
	int is_late;

	if (e->recursive)
		return 0;
	of = locks_waits(e->proc, e->tid);
	waiting = locks_find(locks, &of);
	if (waiting)
		waiting->woken = 0;
	is_late = held && held->late_ns && held->late_tid == e->tid;
	if (is_late && e->event->time_ns - held->taken_ns > LOCKS_LATE_NS) {
		held->late_ns = 0;
		locks->n_unknown++;
		return 0;
	}
	if (held)
		held->given_ns = e->event->time_ns;
	if (!held || !(is_late ? held->late_ns : held->since_ns)) {
		locks->n_unknown++;
		return 0;
	}
	if (held->tid && held->depth > 1) {
		held->depth--;
		return 0;
	}
	held->depth = 0;
	since_ns = is_late ? held->late_ns : held->since_ns;
	ns = e->event->time_ns - since_ns;
	*(is_late ? &held->late_ns : &held->since_ns) = 0;
	of = locks_use(e);
	use = locks_find(locks, &of);
	if (use && use->use.n_waiting && !is_late) {
		use->given_ns = e->event->time_ns;
		use->use.wanted_ns += ns;
	}
	return locks_place(locks, e, locks_hold_kind[e->kind], ns, is_late ? NULL : held->stack);
}

/* ---- waited for ---- */

static int locks_block(struct ktr__locks *locks, const struct ktr__lock_event *e)
{
	struct ktr__locks_row of = locks_use(e), *use = locks_get(locks, &of), *waiting = locks_waiting(locks, e);

	if (!waiting || !use)
		return -ENOMEM;
	waiting->queued = ktr__lock_is_half(&locks->halves, e) ? 0 : ++use->use.n_waiting;
	use->use.n_queued += waiting->queued;
	use->thread = e->event->thread;
	if (waiting->woken && e->kind == KTR__LOCK_COND && waiting->condition == e->lock)
		use->use.n_useless++;
	waiting->woken = 0;
	waiting->since_ns = locks_is_blind(locks, e) ? 0 : e->event->time_ns;
	waiting->at = e->lock;
	waiting->at_life = e->life;
	waiting->stack = NULL;
	waiting->whose = e->owner;
	waiting->what = e->kind;
	return 0;
}

/* Who woke from a broadcast; whether it finds something to do is seen only where its mutex is followed. */
static void locks_woken(struct ktr__locks *locks, const struct ktr__lock_event *e, struct ktr__locks_row *use,
			struct ktr__locks_row *waiting)
{
	struct ktr__locks_row of = { .kind = KTR__LOCKS_HELD, .proc = e->proc, .lock = e->mutex,
				     .life = ktr__lock_names_life(&locks->names, e->proc, e->mutex) };
	const struct ktr__locks_row *held = locks_find(locks, &of);

	waiting->woken = !e->error && use->use.by_all && held && held->since_ns && held->thread->tid == e->tid;
	waiting->condition = e->lock;
	use->use.n_woken += waiting->woken;
}

static int locks_fail(struct ktr__locks *locks, const struct ktr__lock_event *e)
{
	const struct ktr__locks_row of = { .kind = KTR__LOCKS_ERROR, .proc = e->proc, .lock = e->lock,
					   .life = e->life, .other = e->error, .caller = e->caller };

	return locks_add(locks, &of, 0) ? 0 : -ENOMEM;
}

static const enum ktr__locks_kind locks_block_kind[] = {
	[KTR__LOCK_MUTEX] = KTR__LOCKS_MUTEX_BLOCK, [KTR__LOCK_RW] = KTR__LOCKS_READ_BLOCK,
	[KTR__LOCK_SPIN] = KTR__LOCKS_SPIN_SPIN,    [KTR__LOCK_COND] = KTR__LOCKS_COND_BLOCK,
	[KTR__LOCK_SEM] = KTR__LOCKS_SEM_BLOCK,	    [KTR__LOCK_BARRIER] = KTR__LOCKS_BARRIER_BLOCK,
	[KTR__LOCK_FUTEX] = KTR__LOCKS_FUTEX_BLOCK,
};

static int locks_blocked(struct ktr__locks *locks, const struct ktr__lock_event *e)
{
	struct ktr__locks_row of = locks_use(e), *use = locks_get(locks, &of), *held, *edge,
			      *waiting = locks_waiting(locks, e);

	if (!use || !waiting)
		return -ENOMEM;
	use->thread = e->event->thread;
	use->use.n_waiting -= use->use.n_waiting != 0;
	waiting->since_ns = 0;
	if (e->refused)
		use->use.n_queued -= waiting->queued;
	waiting->queued = 0;
	if (e->refused)
		return locks_fail(locks, e);
	waiting->waited_ns = e->ns;
	if (e->last)
		return 0; /* for which the others waited */
	waiting->got = !e->error && e->kind != KTR__LOCK_COND;
	use->use.blocked++;
	if (e->kind == KTR__LOCK_COND)
		locks_woken(locks, e, use, waiting);
	if (locks_place(locks, e, locks_block_kind[e->kind], e->ns, waiting->stack))
		return -ENOMEM;
	if (!e->owner || e->ns < locks->least_ns)
		return 0;
	of = locks_owned(e);
	held = locks_find(locks, &of);
	edge = locks_add(locks, &(struct ktr__locks_row){ .kind = KTR__LOCKS_EDGE, .proc = e->proc, .tid = e->tid,
							  .other = e->owner, .lock = e->lock, .life = e->life,
							  .caller = e->caller },
			 e->ns);
	if (!edge)
		return -ENOMEM;
	/* Where the owner took it, if it is he who is known to have had it last; of the longest wait. */
	if (e->ns == edge->max_ns)
		edge->stack = waiting->stack;
	if (held && held->thread && held->thread->tid == e->owner && e->ns == edge->max_ns) {
		edge->at = held->at;
		edge->at_stack = held->stack;
	}
	return 0;
}

static int locks_wake(struct ktr__locks *locks, const struct ktr__lock_event *e)
{
	struct ktr__locks_row of = locks_use(e), *use = locks_get(locks, &of);

	if (!use)
		return -ENOMEM;
	use->thread = e->event->thread;
	use->use.by_all = e->all;
	use->use.n_all += e->all;
	return 0;
}

/* What was there before is gone. */
static int locks_made(struct ktr__locks *locks, const struct ktr__lock_event *e)
{
	struct ktr__locks_row of = locks_use(e), *use = locks_find(locks, &of), *held;

	of = locks_owned(e);
	held = locks_find(locks, &of);
	if (use) {
		use->whose = 0;
		use->given_ns = use->use.n_waiting = 0;
	}
	if (held)
		held->since_ns = held->given_ns = held->late_ns = 0;
	return 0;
}

/* The owner had too little of the CPUs, while it was waited for: told right after the wait. */
static int locks_inverted(struct ktr__locks *locks, const struct ktr__lock_event *e)
{
	struct ktr__locks_row *waiting = locks_waiting(locks, e), *row;
	const struct ktr__locks_row of = { .kind = KTR__LOCKS_INVERTED, .proc = e->proc, .lock = e->lock,
					   .life = e->life, .tid = e->tid, .other = e->owner };

	row = locks_add(locks, &of, e->ns);
	if (!row || !waiting)
		return -ENOMEM;
	if (row->n > 1 && e->ns < row->max_ns)
		return 0;
	row->thread = e->event->thread;
	row->use.waited_ns = waiting->waited_ns;
	row->use.priority = e->priority;
	row->use.owner_priority = e->owner_priority;
	return 0;
}

/* It is of the event before it of the same thread, which has begun to wait, or has taken the lock. */
static int locks_stack(struct ktr__locks *locks, const struct ktr__lock_event *e)
{
	struct ktr__locks_row of = locks_waits(e->proc, e->tid), *waiting = locks_find(locks, &of), *held;
	const struct ktr__framed *stack = ktr__framed_get(&locks->stacks, e->proc, e->stack, 0, sizeof(*stack));

	if (!stack)
		return -ENOMEM;
	if (waiting && waiting->since_ns && waiting->at == e->lock) {
		waiting->stack = stack;
		return 0;
	}
	of = locks_owned(e);
	held = locks_find(locks, &of);
	if (!held || !held->thread || held->thread->tid != e->tid) {
		of.tid = e->tid; /* a reader */
		held = locks_find(locks, &of);
	}
	if (held && held->since_ns)
		held->stack = stack;
	return 0;
}

static int locks_is_owned(const struct ktr__locks_row *row)
{
	return row->kind == KTR__LOCKS_HELD || row->kind == KTR__LOCKS_USE;
}

/* A budget was spent: of a kind of locks nobody tells any more who has them, or who waits. */
static void locks_off(struct ktr__locks *locks, const struct ktr__lock_event *e)
{
	for (size_t i = 0; i < locks->rows.n; i++) {
		struct ktr__locks_row *row = (struct ktr__locks_row *)(void *)locks->rows.row[i];

		if (row->proc != e->proc)
			continue;
		if (ktr__lock_ends_owners(e) && locks_is_owned(row))
			row->since_ns = row->given_ns = row->late_ns = row->depth = 0;
		if (ktr__lock_ends_waits(e) && row->kind == KTR__LOCKS_WAITING && row->what == e->kind)
			row->since_ns = row->woken = row->got = 0;
		if (ktr__lock_ends_waits(e) && row->kind == KTR__LOCKS_USE && row->other == e->kind)
			row->use.n_waiting = 0;
	}
	if (ktr__lock_ends_owners(e))
		ktr__lock_order_forget(&locks->order, locks->blind_ns);
}

/* ---- the walk ---- */

static int locks_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__locks *locks = (struct ktr__locks *)(void *)sink;
	struct ktr__lock_event e;
	int rc;

	rc = ktr__lock_names_event(&locks->names, event);
	if (event->time_ns < locks->from_ns)
		return rc || !ktr__lock_event(&locks->sites, event, &e) ? rc :
									  ktr__lock_names_live(&locks->names, &e);
	locks->first_ns = locks->first_ns ? locks->first_ns : event->time_ns;
	locks->last_ns = event->time_ns;
	if (rc || !ktr__lock_event(&locks->sites, event, &e))
		return rc;
	rc = ktr__lock_halves_event(&locks->halves, &e);
	if (!rc && e.what == KTR__LOCK_OFF)
		locks_off(locks, &e);
	if (rc || e.what == KTR__LOCK_OFF ||
	    (e.kind == KTR__LOCK_SEM && (e.what == KTR__LOCK_TAKE || e.what == KTR__LOCK_GIVE)))
		return rc; /* it is nobody's */
	rc = ktr__lock_names_live(&locks->names, &e);
	if (!rc && e.what == KTR__LOCK_STACK)
		return locks_stack(locks, &e);
	if (!rc && !ktr__lock_is_half(&locks->halves, &e))
		rc = ktr__lock_order_event(&locks->order, &e);
	if (rc)
		return rc;
	switch (e.what) {
	case KTR__LOCK_TAKE:
		return locks_take(locks, &e);
	case KTR__LOCK_GIVE:
		return locks_give(locks, &e);
	case KTR__LOCK_BLOCK:
		return locks_block(locks, &e);
	case KTR__LOCK_BLOCKED:
		return locks_blocked(locks, &e);
	case KTR__LOCK_MADE:
		return locks_made(locks, &e);
	case KTR__LOCK_INVERTED:
		return locks_inverted(locks, &e);
	case KTR__LOCK_WAKE:
		return locks_wake(locks, &e);
	case KTR__LOCK_FAIL:
		return locks_fail(locks, &e);
	default:
		return 0;
	}
}

/* One from before the beginning has nothing before it that could be mistaken. */
static int locks_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct ktr__locks *locks = (struct ktr__locks *)(void *)sink;
	uint64_t to_ns = loss->to_ns ? loss->to_ns : UINT64_MAX;

	if (!loss->from_ns || to_ns < locks->from_ns)
		return 0;
	locks->n_lost += loss->n_events;
	if (to_ns > locks->blind_ns)
		locks->blind_ns = to_ns;
	ktr__lock_order_forget(&locks->order, locks->blind_ns);
	for (size_t i = 0; i < locks->rows.n; i++) {
		struct ktr__locks_row *row = (struct ktr__locks_row *)(void *)locks->rows.row[i];

		row->since_ns = row->given_ns = row->late_ns = 0;
		row->depth = row->woken = row->got = 0;
		row->use.n_waiting = 0;
	}
	return 0;
}

/* ---- who waits for each other ---- */

uint32_t ktr__locks_owner(const struct ktr__locks *locks, const struct ktr__locks_row *waiting, int *sure)
{
	struct ktr__locks_row of = { .kind = KTR__LOCKS_HELD, .proc = waiting->proc, .lock = waiting->at,
				     .life = waiting->at_life };
	const struct ktr__locks_row *held = locks_find(locks, &of);

	*sure = held && held->since_ns;
	if (*sure)
		return held->thread->tid;
	return held && held->given_ns >= waiting->since_ns ? 0 : waiting->whose;
}

const struct ktr__locks_row *ktr__locks_behind(const struct ktr__locks *locks,
					       const struct ktr__locks_row *waiting, int *sure)
{
	uint32_t whose = ktr__locks_owner(locks, waiting, sure);
	struct ktr__locks_row of = locks_waits(waiting->proc, whose);
	const struct ktr__locks_row *behind = whose ? locks_find(locks, &of) : NULL;

	return behind && behind->since_ns ? behind : NULL;
}

int ktr__locks_init(struct ktr__locks *locks, struct ktr_reader *reader)
{
	int rc;

	*locks = (struct ktr__locks){ .sink = { locks_event, locks_loss, NULL } };
	rc = ktr__lock_sites_init(&locks->sites, reader);
	return rc ? rc : ktr__lock_names_init(&locks->names, reader);
}

void ktr__locks_free(struct ktr__locks *locks)
{
	ktr__keyed_free(&locks->rows);
	ktr__framed_free(&locks->stacks);
	ktr__lock_order_free(&locks->order);
	ktr__lock_sites_free(&locks->sites);
	ktr__lock_names_free(&locks->names);
	ktr__lock_halves_free(&locks->halves);
}
