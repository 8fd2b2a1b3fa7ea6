/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A round looks at each thread that there is. One that has slept on in the call that it was stopped in is not
 * stopped again: its stack is the same. That is so when it has gone to sleep exactly once since (in the stop it
 * slept, too, and then again), and is in the same call at the same place. So a thread that waits is stopped once
 * for each time that it waits, and only threads that run pay for the rate.
 *
 * Rounds have their times beforehand: one that is late leaves out those that are over, which are counted.
 */
#include "tools/stacks/sample_take.h"

#include "conf/kit/array.h"
#include "ktr/provider/syscall/tracee_memory.h"
#include "ktr/provider/syscall/tracee_proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SAMPLE_REOPEN_NS 100000000ull /* objects that came are looked for so often at most */

void sample_free(struct sample *sample)
{
	free(sample->thread);
	sample_tree_free(&sample->tree);
}

/* Its row, made now if it is new. NULL: no memory. */
static struct sample_thread *sample_thread(struct sample *sample, pid_t tid)
{
	uint32_t from = 0, to = sample->n_threads;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (sample->thread[middle].tid < tid)
			from = middle + 1;
		else
			to = middle;
	}
	if (from < sample->n_threads && sample->thread[from].tid == tid)
		return &sample->thread[from];
	if (ktr__array_grow(&sample->thread, &sample->room_threads, sample->n_threads, sizeof(*sample->thread)))
		return NULL;
	memmove(&sample->thread[from + 1], &sample->thread[from],
		(sample->n_threads - from) * sizeof(*sample->thread));
	sample->n_threads++;
	sample->thread[from] = (struct sample_thread){ .tid = tid, .root = sample_tree_root(&sample->tree) };
	return sample->thread[from].root ? &sample->thread[from] : NULL;
}

/* ---- who sleeps on ---- */

static int sample_sleeps(pid_t tid, uint64_t *n)
{
	return ktr__tracee_status(tid, "voluntary_ctxt_switches:", 10, n) == 0;
}

/* The call that it sleeps in, where that was made and how deep. 1 or 0. */
static int sample_call(const struct sample *sample, pid_t tid, long *call, uint64_t *sp, uint64_t *pc)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)sample->pid, (int)tid);
	return ktr__tracee_text(path, text, sizeof(text)) > 0 &&
	       sscanf(text, "%ld %*x %*x %*x %*x %*x %*x %" SCNx64 " %" SCNx64, call, sp, pc) == 3;
}

static int sample_sleeps_on(const struct sample *sample, struct sample_thread *thread)
{
	uint64_t n, sp, pc;
	long call;

	if (!thread->is_asleep || !sample_sleeps(thread->tid, &n) || n != thread->n_sleeps ||
	    !sample_call(sample, thread->tid, &call, &sp, &pc))
		return 0;
	/* A call that the kernel makes again may have another number then: restart_syscall(2). */
	return sp == thread->sp && pc == thread->pc;
}

/* What it does after this stop, if it sleeps on. The count is that of the moment of the stop. */
static void sample_slept(struct sample_thread *thread, const struct stacks_thread *taken, uint64_t n_sleeps)
{
#if defined(__x86_64__)
	thread->is_asleep = !taken->code && taken->state == 'S' && (int64_t)taken->stop.regs.orig_rax >= 0;
#else
	thread->is_asleep = 0;
#endif
	thread->n_sleeps = n_sleeps + 1;
	thread->sp = ktr__live_sp(&taken->live.regs);
	thread->pc = ktr__live_pc(&taken->live.regs);
}

/* ---- a round ---- */

/* The frame of who could not be looked at. */
static const struct ktr__live_frame sample_nowhere;

static int sample_stack(struct sample *sample, struct sample_thread *thread, const struct stacks_thread *taken)
{
	static struct ktr__live_frame frame[KTR__LIVE_FRAMES];
	unsigned n = 1;
	const char *why;

	if (taken->code)
		frame[0] = sample_nowhere;
	else
		n = ktr__live_frames(sample->live, &taken->live, frame, &why);
	thread->last = sample_tree_add(&sample->tree, thread->root, frame, n);
	thread->n++;
	sample->n_samples++;
	return thread->last ? 0 : -ENOMEM;
}

static int sample_one(struct sample *sample, struct sample_thread *thread, struct stacks_thread *taken)
{
	int rc;

	if (thread->is_late)
		thread->is_late = ktr__tracee_late(thread->tid) == 0;
	if (!thread->is_late && sample_sleeps_on(sample, thread)) {
		sample->tree.node[thread->last].self++;
		thread->n++;
		sample->n_samples++;
		sample->n_kept++;
		return 0;
	}
	taken->tid = thread->tid;
	taken->n_sleeps = 0;
	rc = thread->is_late ? 0 : stacks_take(taken, ktr__live_maps(sample->live));
	if (rc)
		return rc == -ESRCH ? 0 : rc;
	if (thread->is_late)
		taken->code = ETIMEDOUT;
	thread->is_late = taken->code == ETIMEDOUT;
	memcpy(thread->name, taken->name, sizeof(thread->name));
	if (taken->code == EPERM || taken->code == EACCES || taken->code == ENOSYS)
		sample->refused = taken->code;
	if (taken->stopped_ns) {
		sample->n_stops++;
		sample->stopped_ns += taken->stopped_ns;
		if (sample->most_ns < taken->stopped_ns)
			sample->most_ns = taken->stopped_ns;
	}
	sample_slept(thread, taken, taken->n_sleeps);
	/* Who has ended, and is not yet gone, is no sample. */
	return taken->code == ESRCH ? 0 : sample_stack(sample, thread, taken);
}

/* -ESRCH: the process has ended. */
static int sample_round(struct sample *sample, struct stacks_thread *taken)
{
	uint64_t before = sample->n_samples;
	uint32_t n;
	pid_t *tid = stacks_threads(sample->pid, &n);
	int rc = tid ? 0 : -errno;

	for (uint32_t i = 0; i < n && !rc; i++) {
		struct sample_thread *thread = sample_thread(sample, tid[i]);

		rc = thread ? sample_one(sample, thread, taken) : -ENOMEM;
	}
	free(tid);
	if (rc == -ENOENT || (!rc && sample->n_samples == before))
		return -ESRCH;
	return rc;
}

/* Objects that came since, by dlopen(3): nodes stay, their addresses are named by what is there in the end. */
static void sample_reopen(struct sample *sample)
{
	struct ktr__live_maps maps = { 0 };
	struct ktr__live *live;

	if (ktr__live_maps_read(sample->pid, &maps) == 0 &&
	    maps.n_objects > ktr__live_maps(sample->live)->n_objects &&
	    ktr__live_open(sample->pid, &live) == 0) {
		ktr__live_close(sample->live);
		sample->live = live;
	}
	ktr__live_maps_free(&maps);
}

/* Sleeps until the next round that is not over. 0, or 1: a signal came, or there is none. */
static int sample_wait(struct sample *sample, uint64_t began)
{
	uint64_t now = ktr__tracee_wait_now(), due;
	struct timespec at;

	while (began + (sample->n_rounds + sample->n_missed) * sample->period_ns + sample->period_ns <= now &&
	       sample->n_rounds + sample->n_missed < sample->rounds)
		sample->n_missed++;
	if (sample->n_rounds + sample->n_missed >= sample->rounds)
		return 1;
	due = began + (sample->n_rounds + sample->n_missed) * sample->period_ns;
	at = (struct timespec){ (time_t)(due / 1000000000), (long)(due % 1000000000) };
	return due > now && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR;
}

int sample_take(struct sample *sample, const volatile int *stop)
{
	struct stacks_thread *taken = calloc(1, sizeof(*taken));
	uint64_t began = ktr__tracee_wait_now(), opened = began;
	int rc = 0;

	if (taken)
		taken->room = malloc(KTR__LIVE_STACK);
	if (!taken || !taken->room)
		rc = -ENOMEM;
	else
		taken->pid = sample->pid;
	while (!rc && !*stop) {
		if (sample_wait(sample, began))
			break;
		rc = sample_round(sample, taken);
		sample->n_rounds++;
		if (!rc && ktr__tracee_wait_now() - opened > SAMPLE_REOPEN_NS) {
			sample_reopen(sample);
			opened = ktr__tracee_wait_now();
		}
	}
	if (taken)
		free(taken->room);
	free(taken);
	return rc == -ESRCH && sample->n_samples ? 0 : rc;
}
