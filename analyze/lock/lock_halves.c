/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/lock/lock_halves.h"

#include <errno.h>

#define HALVES_LATE 100000000u /* [ns] so long some may come that were on their way; later it is on again */

struct halves_process {
	struct ktr__keyed_row keyed; /* first: process */
	uint64_t off_ns[KTR__LOCK_KINDS][KTR__LOCK_WHATS]; /* 0: it is on */
};

static struct halves_process *halves_process(const struct ktr__lock_halves *halves, uint32_t proc)
{
	const uint64_t key[4] = { proc };

	return halves->processes.n ? ktr__keyed_find(&halves->processes, key) : NULL;
}

int ktr__lock_halves_event(struct ktr__lock_halves *halves, const struct ktr__lock_event *e)
{
	struct halves_process *process = halves_process(halves, e->proc);
	const uint64_t key[4] = { e->proc };
	uint64_t *off_ns;

	if (e->what == KTR__LOCK_OFF) {
		process = ktr__keyed_get(&halves->processes, key, sizeof(*process));
		if (!process)
			return -ENOMEM;
		process->off_ns[e->kind][e->off] = e->event->time_ns ? e->event->time_ns : 1;
		return 0;
	}
	if (!process)
		return 0;
	off_ns = &process->off_ns[e->kind][e->what];
	if (*off_ns && e->event->time_ns - *off_ns > HALVES_LATE)
		*off_ns = 0;
	return 0;
}

static enum ktr__lock_what halves_other(enum ktr__lock_what what)
{
	switch (what) {
	case KTR__LOCK_TAKE:
		return KTR__LOCK_GIVE;
	case KTR__LOCK_GIVE:
		return KTR__LOCK_TAKE;
	case KTR__LOCK_BLOCK:
		return KTR__LOCK_BLOCKED;
	case KTR__LOCK_BLOCKED:
		return KTR__LOCK_BLOCK;
	default:
		return what;
	}
}

int ktr__lock_is_half(const struct ktr__lock_halves *halves, const struct ktr__lock_event *e)
{
	const struct halves_process *process = halves_process(halves, e->proc);

	return process && (process->off_ns[e->kind][e->what] || process->off_ns[e->kind][halves_other(e->what)]);
}

void ktr__lock_halves_free(struct ktr__lock_halves *halves)
{
	ktr__keyed_free(&halves->processes);
}
