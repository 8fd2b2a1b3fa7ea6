/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lockstat says in words. Each sentence is one that another explanation has been excluded for, as far as what
 * was recorded goes; what it is told by stands in it.
 */
#include "tools/lockstat/lockstat_told.h"

#include <inttypes.h>

/* ---- who waits for each other ---- */

/*
 * [ns] As long as nobody was seen to take the locks, two that wait for each other may be one that has just been
 * woken: only if it lasts it is what it seems.
 */
#define TOLD_LASTS 1000000000u

/* The cycle that begins with a thread; told by the one with the lowest number. */
static void told_cycle(const struct lockstat_view *view, const struct ktr__locks_row *first, FILE *to)
{
	const struct ktr__locks_row *at = first;
	uint64_t since_ns = 0;
	char lock[LOCKSTAT_NAME];
	size_t n = 0;
	int all = 1, sure;

	do {
		since_ns = at->since_ns > since_ns ? at->since_ns : since_ns;
		at = ktr__locks_behind(view->locks, at, &sure);
		all &= sure;
	} while (at && at != first && at->tid > first->tid && ++n <= view->locks->rows.n);
	if (at != first)
		return;
	fputs(all || view->now_ns - since_ns >= TOLD_LASTS ? "\nDeadlock: " : "\nPerhaps a deadlock: ", to);
	do {
		const struct ktr__locks_row *behind = ktr__locks_behind(view->locks, at, &sure);

		lockstat_thread(at->thread, to);
		fprintf(to, " waits for %s, which ", lockstat_lock(view, at->proc, at->at, at->at_life, lock));
		if (behind == at)
			fputs("it has itself", to);
		else
			lockstat_thread(behind->thread, to);
		fputs(behind == first ? (behind == at ? "" : " has") : " has; ", to);
		at = behind;
	} while (at != first);
	if (!all && view->now_ns - since_ns < TOLD_LASTS)
		fprintf(to, " (as it was when they began to wait, %.3f ms before the end)",
			(double)(view->now_ns - since_ns) / 1e6);
	fputc('\n', to);
}

/* Threads that wait for conditions and the like wait for work. */
static int told_is_lock(const struct ktr__locks_row *waiting)
{
	return waiting->what == KTR__LOCK_MUTEX || waiting->what == KTR__LOCK_RW || waiting->what == KTR__LOCK_SPIN;
}

static void told_waiting(const struct lockstat_view *view, FILE *to)
{
	const struct ktr__locks *locks = view->locks;
	char lock[LOCKSTAT_NAME];

	for (size_t i = 0; i < locks->rows.n; i++) {
		const struct ktr__locks_row *row = ktr__locks_row(locks, i);
		uint32_t owner;
		int sure;

		if (row->kind != KTR__LOCKS_WAITING || !row->since_ns || !told_is_lock(row))
			continue;
		owner = ktr__locks_owner(locks, row, &sure);
		fputs("\nStill waiting at the end: ", to);
		lockstat_thread(row->thread, to);
		fprintf(to, " for %s", lockstat_lock(view, row->proc, row->at, row->at_life, lock));
		if (owner)
			fprintf(to, " of thread %" PRIu32, owner);
		fprintf(to, ", %.3f ms\n", (double)(view->now_ns - row->since_ns) / 1e6);
		lockstat_stack(view, "in", row->stack, to);
	}
	for (size_t i = 0; i < locks->rows.n; i++)
		if (ktr__locks_row(locks, i)->kind == KTR__LOCKS_WAITING && ktr__locks_row(locks, i)->since_ns)
			told_cycle(view, ktr__locks_row(locks, i), to);
}

/* ---- who may come to wait for each other ---- */

struct told_circles {
	const struct lockstat_view *view;
	FILE *to;
};

static void told_circle(void *context, const struct ktr__order_step *const *step, unsigned n)
{
	const struct told_circles *told = context;
	char lock[LOCKSTAT_NAME], caller[LOCKSTAT_NAME];

	fputs("\nLock order: ", told->to);
	for (unsigned i = 0; i < n; i++) {
		lockstat_thread(step[i]->thread, told->to);
		fprintf(told->to, " has %s", lockstat_lock(told->view, step[i]->proc, step[i]->has, step[i]->has_name, lock));
		fprintf(told->to, " (%s)", lockstat_caller(told->view, step[i]->proc, step[i]->has_caller, caller));
		fprintf(told->to, " and asks for %s", lockstat_lock(told->view, step[i]->proc, step[i]->asks, step[i]->asks_name, lock));
		fprintf(told->to, " (%s); ", lockstat_caller(told->view, step[i]->proc, step[i]->asks_caller, caller));
	}
	fprintf(told->to, "at the same time they %s\n",
		n == 2 ? "would wait for each other" : "would wait in a circle");
}

/* ---- what is to be said of single locks ---- */

/* Below so many nothing is a habit. */
#define TOLD_LEAST 20

/*
 * A convoy: who takes the lock has often waited for it, in a queue, and handing it over takes longer than what is
 * done under it. A lock that is contended because it is held long is none.
 */
static void told_convoy(const struct lockstat_view *view, const struct ktr__locks_row *use, FILE *to)
{
	const struct ktr__locks_use *u = &use->use;
	char lock[LOCKSTAT_NAME];

	if (u->contended < TOLD_LEAST || 4 * u->contended < use->n || u->n_queued < 2 * u->blocked ||
	    u->n_handed < TOLD_LEAST || u->handed_ns < u->wanted_ns)
		return;
	fprintf(to,
		"\nConvoy: %s was waited for in %" PRIu64 " of %" PRIu64 " takings, %.1f threads in line; it was held "
		"%.3f us each time and took %.3f us to hand over\n",
		lockstat_lock(view, use->proc, use->lock, use->life, lock), u->contended, use->n,
		(double)u->n_queued / (double)u->blocked, (double)u->wanted_ns / 1e3 / (double)u->n_handed,
		(double)u->handed_ns / 1e3 / (double)u->n_handed);
}

/*
 * A herd: of those that a broadcast wakes most find nothing to do, and wait again without having let go of the
 * mutex.
 */
static void told_herd(const struct lockstat_view *view, const struct ktr__locks_row *use, FILE *to)
{
	const struct ktr__locks_use *u = &use->use;
	char lock[LOCKSTAT_NAME];

	if (!u->n_all || u->n_woken < 3 * u->n_all || 2 * u->n_useless < u->n_woken)
		return;
	fprintf(to,
		"\nHerd: %" PRIu64 " broadcasts of %s woke %" PRIu64 " threads, of which %" PRIu64
		" found nothing to do and waited again\n",
		u->n_all, lockstat_lock(view, use->proc, use->lock, use->life, lock), u->n_woken, u->n_useless);
}

/*
 * Priority inversion: the owner of lower priority could have run for most of the time that it was waited for, and
 * got no CPU, as others had them. One that slept or worked meanwhile holds its lock long, and is none.
 */
#define TOLD_INVERTED 1000000u /* [ns] */

static void told_inversion(const struct lockstat_view *view, const struct ktr__locks_row *row, FILE *to)
{
	uint64_t without_ns = row->max_ns < row->use.waited_ns ? row->max_ns : row->use.waited_ns;
	char lock[LOCKSTAT_NAME];

	if (row->max_ns < TOLD_INVERTED || 2 * row->max_ns < row->use.waited_ns)
		return;
	fputs("\nPriority inversion: ", to);
	lockstat_thread(row->thread, to);
	fprintf(to,
		" of priority %" PRId32 " waited %.3f ms for %s of thread %" PRIu32 " of priority %" PRId32
		", which got no CPU for %.3f ms of it\n",
		row->use.priority, (double)row->use.waited_ns / 1e6,
		lockstat_lock(view, row->proc, row->lock, row->life, lock), row->other, row->use.owner_priority,
		(double)without_ns / 1e6);
}

void lockstat_tell(const struct lockstat_view *view, FILE *to)
{
	struct told_circles told = { view, to };

	for (size_t i = 0; i < view->locks->rows.n; i++) {
		const struct ktr__locks_row *row = ktr__locks_row(view->locks, i);

		if (row->kind == KTR__LOCKS_INVERTED)
			told_inversion(view, row, to);
		if (row->kind != KTR__LOCKS_USE)
			continue;
		told_convoy(view, row, to);
		told_herd(view, row, to);
	}
	ktr__lock_order_circles(&view->locks->order, view->top ? (unsigned)view->top : UINT32_MAX, told_circle,
				&told);
	told_waiting(view, to);
}
