/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each thread is in one state from switch to switch. What it was in before its first one follows from
 * that: who leaves a CPU was on it, who comes was off, since it started or the kernel was listened to. Two switches
 * of one kind in a row mean that one between them was lost; the time between is unknown then.
 */
#include "analyze/stats/oncpu.h"

#include "analyze/stats/ends.h"
#include "ktr/session/kernel_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* [ns] How far the kernel's clock, as it is converted, may be behind that of events. */
#define ONCPU_SKEW_NS 100000u

uint8_t ktr__oncpu_kind(const struct ktr_reader_site *site)
{
	const char *class_name;

	if (!site || strcmp(site->file, KTR_KERNEL_FILE) != 0 || !site->line || site->line >= KTR__KERNEL_SITES_END)
		return KTR__KERNEL_NONE;
	class_name = site->line >= KTR__KERNEL_MINOR ? KTR_KERNEL_FAULT_CLASS : KTR_KERNEL_SWITCH_CLASS;
	return strcmp(site->class_name, class_name) == 0 ? (uint8_t)site->line : KTR__KERNEL_NONE;
}

/* Keeps it if it is among the longest. */
static void oncpu_absence(struct ktr__oncpu *oncpu, const struct ktr__oncpu_thread *t, uint64_t ns, int open)
{
	struct ktr__oncpu_absence *all = oncpu->absence;
	unsigned at = oncpu->n_absences;

	while (at > 0 && all[at - 1].ns < ns - t->since_ns)
		at--;
	if (at == KTR__ONCPU_ABSENCES)
		return;
	if (oncpu->n_absences < KTR__ONCPU_ABSENCES)
		oncpu->n_absences++;
	memmove(&all[at + 1], &all[at], (oncpu->n_absences - at - 1) * sizeof(*all));
	all[at] = (struct ktr__oncpu_absence){ t->thread, t->since_ns, ns - t->since_ns, t->state, open,
					      t->before };
}

static void oncpu_account(struct ktr__oncpu *oncpu, struct ktr__oncpu_thread *t, uint64_t ns, int open)
{
	if (ns <= t->since_ns)
		return;
	t->total_ns[t->state] += ns - t->since_ns;
	if (t->state == KTR__ONCPU_READY || t->state == KTR__ONCPU_OFF)
		oncpu_absence(oncpu, t, ns, open);
	t->since_ns = ns;
}

/* What it did before its first switch. */
static void oncpu_begin(const struct ktr__oncpu *oncpu, struct ktr__oncpu_thread *t, int leaves)
{
	uint64_t start = t->thread->start_ns;

	/* Not before the kernel was listened to, and who records is on a CPU. */
	if (start < oncpu->known_ns)
		start = oncpu->known_ns;
	if (t->last.site && start < t->last.time_ns)
		start = t->last.time_ns;
	t->state = leaves ? KTR__ONCPU_ON : KTR__ONCPU_OFF;
	t->since_ns = start;
	t->before = t->last;
}

static void oncpu_switch(struct ktr__oncpu *oncpu, struct ktr__oncpu_thread *t, uint8_t kind, uint64_t ns)
{
	static const uint8_t states[] = { [KTR__KERNEL_IN] = KTR__ONCPU_ON,
					  [KTR__KERNEL_BLOCKED] = KTR__ONCPU_OFF,
					  [KTR__KERNEL_PREEMPTED] = KTR__ONCPU_READY,
					  [KTR__KERNEL_EXIT] = KTR__ONCPU_GONE };
	int leaves = kind != KTR__KERNEL_IN;

	if (!oncpu->known_ns)
		oncpu->known_ns = ns;
	if (!t->since_ns)
		oncpu_begin(oncpu, t, leaves);
	if (leaves != (t->state == KTR__ONCPU_ON))
		t->state = KTR__ONCPU_UNKNOWN;
	oncpu_account(oncpu, t, ns, 0);
	t->state = states[kind];
	t->since_ns = ns;
	t->before = t->last;
	t->n_preempted += kind == KTR__KERNEL_PREEMPTED;
	t->n_switches += kind == KTR__KERNEL_PREEMPTED || kind == KTR__KERNEL_BLOCKED;
}

/*
 * Who records is on a CPU: where its last switch says otherwise, the one that brought it back was lost, and
 * nobody knows when that was.
 */
static void oncpu_own(struct ktr__oncpu *oncpu, struct ktr__oncpu_thread *t, uint64_t ns)
{
	if ((t->state != KTR__ONCPU_OFF && t->state != KTR__ONCPU_READY) || !t->since_ns ||
	    ns < t->since_ns + ONCPU_SKEW_NS)
		return;
	t->state = KTR__ONCPU_UNKNOWN;
	oncpu_account(oncpu, t, ns, 0);
	t->state = KTR__ONCPU_ON;
}

void ktr__oncpu_see(struct ktr__oncpu *oncpu, const struct ktr_event *event)
{
	uint8_t kind = event->site->id < oncpu->n_sites ? oncpu->kind[event->site->id] : 0;
	struct ktr__oncpu_thread *t;

	oncpu->last_ns = event->time_ns;
	if (event->thread->id >= oncpu->n_threads)
		return;
	t = &oncpu->thread[event->thread->id];
	if (kind == KTR__KERNEL_NONE) {
		oncpu_own(oncpu, t, event->time_ns);
		t->last = *event;
		return;
	}
	t->thread = event->thread;
	if (kind == KTR__KERNEL_MINOR)
		t->n_minor++;
	else if (kind == KTR__KERNEL_MAJOR)
		t->n_major++;
	else
		oncpu_switch(oncpu, t, kind, event->time_ns);
}

static int oncpu_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	ktr__oncpu_see((struct ktr__oncpu *)sink, event);
	return 0;
}

int ktr__oncpu_init(struct ktr__oncpu *oncpu, const struct ktr_reader *reader)
{
	memset(oncpu, 0, sizeof(*oncpu));
	oncpu->reader = reader;
	oncpu->n_sites = ktr_reader_n_sites(reader);
	oncpu->n_threads = ktr_reader_n_threads(reader);
	oncpu->kind = calloc(oncpu->n_sites + 1, 1);
	oncpu->thread = calloc(oncpu->n_threads + 1, sizeof(*oncpu->thread));
	if (!oncpu->kind || !oncpu->thread)
		return -ENOMEM;
	for (unsigned i = 0; i < oncpu->n_sites; i++) {
		oncpu->kind[i] = ktr__oncpu_kind(ktr_reader_site(reader, i));
		oncpu->listens |= oncpu->kind[i] != KTR__KERNEL_NONE;
	}
	/* Without the kernel's events there is nothing to tell, and nothing to listen to. */
	if (oncpu->listens)
		oncpu->sink.event = oncpu_event;
	return 0;
}

void ktr__oncpu_finish(struct ktr__oncpu *oncpu)
{
	for (unsigned i = 0; i < oncpu->n_threads; i++) {
		struct ktr__oncpu_thread *t = &oncpu->thread[i];
		uint64_t end = oncpu->last_ns;

		if (!t->thread || !t->since_ns)
			continue;
		/* Its last switch is not told where it ended unseen. */
		if (ktr__ends_thread(t->thread) && ktr__ends_thread(t->thread) < end)
			end = ktr__ends_thread(t->thread);
		oncpu_account(oncpu, t, end, 1);
	}
}

void ktr__oncpu_free(struct ktr__oncpu *oncpu)
{
	free(oncpu->kind);
	free(oncpu->thread);
	memset(oncpu, 0, sizeof(*oncpu));
}
