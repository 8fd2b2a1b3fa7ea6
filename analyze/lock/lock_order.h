/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In which order threads take locks that they hold together, and the circles in that: two threads that take two
 * locks in different order wait for each other for ever, should they meet; that they did not is luck.
 *
 * What looks like a circle and cannot come to it is none: steps of one thread; steps under another lock that all
 * of them hold; attempts that do not wait; locks that are only read; and what a thread did for the last time
 * before the other one was there.
 */
#ifndef ANALYZE_LOCK_ORDER_H
#define ANALYZE_LOCK_ORDER_H

#include "analyze/stats/keyed.h"
#include "analyze/lock/lock_events.h"

#define KTR__ORDER_HELD	 16 /* locks that a thread holds at a time; of more nothing is said */
#define KTR__ORDER_GATES 6  /* others that are held at a step; more of them are not looked at */
#define KTR__ORDER_STEPS 6  /* of a circle */

/* A thread asks for a lock while it has another one. */
struct ktr__order_step {
	struct ktr__keyed_row keyed; /* first */
	uint32_t proc;
	const struct ktr_reader_thread *thread;
	uint64_t has, asks; /* locks */
	uint64_t has_life, asks_life; /* numbers of them: what is made anew in its place is another one */
	uint32_t has_name, asks_name; /* their lives, as names go by */
	uint8_t has_write, asks_write; /* 1 of a mutex */
	uint64_t has_caller, asks_caller;
	uint64_t n, first_ns, last_ns;
	uint64_t gate[KTR__ORDER_GATES]; /* lives of locks that were held, too, each time */
	unsigned n_gates;
};

/* Zeroed is empty. */
struct ktr__lock_order {
	struct ktr__keyed threads, locks, steps;
	uint64_t blind_ns;
	uint64_t n_lives;
};

/* 0 or -ENOMEM. */
int ktr__lock_order_event(struct ktr__lock_order *order, const struct ktr__lock_event *e);

/* Events were lost: what threads hold is not known any more, nor what they take until then. */
void ktr__lock_order_forget(struct ktr__lock_order *order, uint64_t until_ns);
void ktr__lock_order_free(struct ktr__lock_order *order);

/*
 * Calls back for each circle, of two locks or more: step[i] asks for what step[i + 1] has, the last one for what
 * the first one has. Once for each set of locks, `most` at most. Returns how many there were.
 */
typedef void ktr__order_found(void *context, const struct ktr__order_step *const *step, unsigned n);

unsigned ktr__lock_order_circles(const struct ktr__lock_order *order, unsigned most, ktr__order_found *found,
				 void *context);

#endif
