/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A step for each two locks and each thread. A circle is looked for from its lowest lock on, so that each is found
 * once, in no more than ORDER_TRIES steps: a program with thousands of locks held together is not looked through.
 */
#include "analyze/lock/lock_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ORDER_TRIES 1000000u

struct order_held {
	uint64_t lock, life, caller;
	uint32_t depth, name;
	uint8_t write;
};

struct order_thread {
	struct ktr__keyed_row keyed; /* first */
	struct order_held held[KTR__ORDER_HELD];
	unsigned n;
};

static struct order_thread *order_thread(struct ktr__lock_order *order, const struct ktr__lock_event *e)
{
	return ktr__keyed_get(&order->threads, (const uint64_t[4]){ e->proc, e->tid, 0, 0 },
			      sizeof(struct order_thread));
}

/* A lock, as long as it is the same. */
struct order_lock {
	struct ktr__keyed_row keyed; /* first */
	uint64_t life;
	struct order_thread *owner; /* who took it last, not to read */
};

static struct order_lock *order_lock(struct ktr__lock_order *order, const struct ktr__lock_event *e)
{
	struct order_lock *lock =
		ktr__keyed_get(&order->locks, (const uint64_t[4]){ e->proc, e->lock, 0, 0 }, sizeof(*lock));

	if (lock && !lock->life)
		lock->life = ++order->n_lives;
	return lock;
}

static struct order_held *order_held(struct order_thread *thread, uint64_t lock)
{
	for (unsigned i = 0; i < thread->n; i++)
		if (thread->held[i].lock == lock)
			return &thread->held[i];
	return NULL;
}

/* Only what is held each time keeps others away. */
static void order_gates(struct ktr__order_step *step, const struct order_thread *thread)
{
	unsigned n = 0;

	if (!step->n) {
		for (unsigned i = 0; i < thread->n && step->n_gates < KTR__ORDER_GATES; i++)
			if (thread->held[i].life != step->has_life && thread->held[i].write)
				step->gate[step->n_gates++] = thread->held[i].life;
		return;
	}
	for (unsigned i = 0; i < step->n_gates; i++)
		for (unsigned k = 0; k < thread->n; k++)
			if (thread->held[k].life == step->gate[i] && thread->held[k].write) {
				step->gate[n++] = step->gate[i];
				break;
			}
	step->n_gates = n;
}

static int order_step(struct ktr__lock_order *order, const struct ktr__lock_event *e,
		      const struct order_thread *thread, const struct order_held *held, uint64_t life)
{
	uint8_t write = e->kind != KTR__LOCK_RW || e->write;
	struct ktr__order_step *step;

	step = ktr__keyed_get(&order->steps,
			      (const uint64_t[4]){ (uint64_t)e->proc << 32 | e->tid, held->life, life,
						   (uint64_t)held->write << 1 | write },
			      sizeof(*step));
	if (!step)
		return -ENOMEM;
	step->has_life = held->life;
	step->asks_life = life;
	order_gates(step, thread);
	if (!step->n++) {
		step->proc = e->proc;
		step->thread = e->event->thread;
		step->has = held->lock;
		step->asks = e->lock;
		step->has_name = held->name;
		step->asks_name = e->life;
		step->has_write = held->write;
		step->asks_write = write;
		step->has_caller = held->caller;
		step->asks_caller = e->caller;
		step->first_ns = e->event->time_ns;
	}
	step->last_ns = e->event->time_ns;
	return 0;
}

/* Asked for, by who would wait: told when it begins to wait, and when it has it. */
static int order_asks(struct ktr__lock_order *order, const struct ktr__lock_event *e, const struct order_lock *lock,
		      struct order_thread *thread)
{
	int rc = 0;

	if (order_held(thread, e->lock))
		return 0;
	for (unsigned i = 0; i < thread->n && !rc; i++)
		rc = order_step(order, e, thread, &thread->held[i], lock->life);
	return rc;
}

static void order_drop(struct order_thread *thread, uint64_t lock)
{
	struct order_held *held = order_held(thread, lock);

	if (!held)
		return;
	memmove(held, held + 1, (size_t)(&thread->held[thread->n] - (held + 1)) * sizeof(*held));
	thread->n--;
}

static void order_take(const struct ktr__lock_event *e, struct order_lock *lock, struct order_thread *thread)
{
	struct order_held *held = order_held(thread, e->lock);
	uint8_t write = e->kind != KTR__LOCK_RW || e->write;

	if (write && lock->owner && lock->owner != thread)
		order_drop(lock->owner, e->lock); /* another thread has given it back */
	lock->owner = write ? thread : lock->owner;
	if (held)
		held->depth++;
	else if (thread->n < KTR__ORDER_HELD)
		thread->held[thread->n++] =
			(struct order_held){ e->lock, lock->life, e->caller, 1, e->life, write };
}

static void order_give(const struct ktr__lock_event *e, struct order_lock *lock, struct order_thread *thread)
{
	struct order_held *held = order_held(thread, e->lock);

	if (!held && lock->owner)
		order_drop(lock->owner, e->lock);
	else if (held && !--held->depth)
		order_drop(thread, e->lock);
}

int ktr__lock_order_event(struct ktr__lock_order *order, const struct ktr__lock_event *e)
{
	struct order_thread *thread;
	struct order_lock *lock;
	int rc = 0;

	if ((e->kind != KTR__LOCK_MUTEX && e->kind != KTR__LOCK_RW && e->kind != KTR__LOCK_SPIN) ||
	    e->event->time_ns < order->blind_ns)
		return 0;
	thread = order_thread(order, e);
	lock = order_lock(order, e);
	if (!thread || !lock)
		return -ENOMEM;
	if (e->what == KTR__LOCK_BLOCK || (e->what == KTR__LOCK_TAKE && !e->tried))
		rc = order_asks(order, e, lock, thread);
	if (e->what == KTR__LOCK_TAKE)
		order_take(e, lock, thread);
	else if (e->what == KTR__LOCK_GIVE)
		order_give(e, lock, thread);
	else if (e->what == KTR__LOCK_MADE)
		lock->life = ++order->n_lives;
	return rc;
}

void ktr__lock_order_forget(struct ktr__lock_order *order, uint64_t until_ns)
{
	order->blind_ns = until_ns;
	for (size_t i = 0; i < order->threads.n; i++)
		((struct order_thread *)(void *)order->threads.row[i])->n = 0;
}

void ktr__lock_order_free(struct ktr__lock_order *order)
{
	ktr__keyed_free(&order->threads);
	ktr__keyed_free(&order->locks);
	ktr__keyed_free(&order->steps);
}

/* ---- circles ---- */

struct order_search {
	const struct ktr__order_step **sorted; /* owned; by the lock that is held */
	size_t n_sorted;
	const struct ktr__order_step *step[KTR__ORDER_STEPS];
	unsigned n;
	unsigned most, n_found, n_tries;
	struct ktr__keyed seen; /* sets of locks */
	ktr__order_found *found;
	void *context;
};

/* Can both be under way at a time? Not before a thread is there. */
static int order_meet(const struct ktr__order_step *a, const struct ktr__order_step *b)
{
	if (a->thread == b->thread || a->thread->tid == b->thread->tid)
		return 0;
	if (b->thread->start_ns > a->last_ns || a->thread->start_ns > b->last_ns)
		return 0;
	for (unsigned i = 0; i < a->n_gates; i++)
		for (unsigned k = 0; k < b->n_gates; k++)
			if (a->gate[i] == b->gate[k])
				return 0;
	return 1;
}

/* Does a wait for what b has? Not where both read. */
static int order_leads(const struct ktr__order_step *a, const struct ktr__order_step *b)
{
	return a->asks_life == b->has_life && (a->asks_write || b->has_write);
}

static void order_tell(struct order_search *search)
{
	uint64_t key[4] = { search->step[0]->proc, search->n, 0, 0 };
	struct ktr__keyed_row *row;
	size_t before = search->seen.n;

	for (unsigned i = 0; i < search->n; i++) {
		key[2] ^= search->step[i]->has_life * 0x9e3779b97f4a7c15ull;
		key[3] += search->step[i]->has_life;
	}
	row = ktr__keyed_get(&search->seen, key, sizeof(*row));
	if (row && search->seen.n == before)
		return;
	search->n_found++;
	search->found(search->context, search->step, search->n);
}

static int order_by_has(const void *a, const void *b)
{
	const struct ktr__order_step *x = *(const struct ktr__order_step *const *)a,
				     *y = *(const struct ktr__order_step *const *)b;

	return (x->has_life > y->has_life) - (x->has_life < y->has_life);
}

/* The first of the steps that have a lock. */
static size_t order_from(const struct order_search *search, uint64_t life)
{
	size_t low = 0, high = search->n_sorted;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (search->sorted[middle]->has_life < life)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int order_fits(const struct order_search *search, const struct ktr__order_step *next)
{
	if (next->has_life < search->step[0]->has_life || !order_leads(search->step[search->n - 1], next))
		return 0;
	for (unsigned i = 0; i < search->n; i++)
		if (search->step[i]->has_life == next->has_life || !order_meet(search->step[i], next))
			return 0;
	return 1;
}

static void order_search(struct order_search *search)
{
	uint64_t asks = search->step[search->n - 1]->asks_life;
	size_t i = order_from(search, asks);

	if (search->n > 1 && order_leads(search->step[search->n - 1], search->step[0])) {
		order_tell(search);
		return;
	}
	for (; i < search->n_sorted && search->sorted[i]->has_life == asks; i++) {
		if (search->n == KTR__ORDER_STEPS || search->n_found >= search->most ||
		    ++search->n_tries > ORDER_TRIES)
			return;
		if (!order_fits(search, search->sorted[i]))
			continue;
		search->step[search->n++] = search->sorted[i];
		order_search(search);
		search->n--;
	}
}

unsigned ktr__lock_order_circles(const struct ktr__lock_order *order, unsigned most, ktr__order_found *found,
				 void *context)
{
	struct order_search search = {
		.n_sorted = order->steps.n, .most = most, .found = found, .context = context
	};

	search.sorted = calloc(search.n_sorted + 1, sizeof(*search.sorted));
	if (!search.sorted)
		return 0;
	for (size_t i = 0; i < search.n_sorted; i++)
		search.sorted[i] = (const struct ktr__order_step *)(const void *)order->steps.row[i];
	qsort(search.sorted, search.n_sorted, sizeof(*search.sorted), order_by_has);
	for (size_t i = 0; i < search.n_sorted; i++) {
		search.step[0] = search.sorted[i];
		search.n = 1;
		order_search(&search);
	}
	ktr__keyed_free(&search.seen);
	free(search.sorted);
	return search.n_found;
}
