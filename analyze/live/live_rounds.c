/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A round looks at each thread that there is. One that has slept on in the call that it was stopped in is not
 * stopped again: its stack is the same. That is so when it has gone to sleep exactly once since (in the stop it
 * slept, too, and then again), and is in the same call at the same place. So a thread that waits is stopped once
 * for each time that it waits, and only threads that run pay for the rate.
 *
 * Rounds have their times beforehand: one that is late leaves out those that are over, which are counted.
 */
#include "analyze/live/live_rounds.h"

#include "analyze/live/live_take.h"
#include "conf/kit/array.h"
#include "ktr/provider/syscall/tracee_memory.h"
#include "ktr/provider/syscall/tracee_proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS_REOPEN_NS 100000000ull /* objects that came are looked for so often at most */
#define ROUNDS_ROWS	 64u	      /* of threads that have ended, that are kept in any case */

/* What a round works with. */
struct rounds_work {
	struct ktr__live_rounds *rounds;
	struct ktr__live_taken taken;
	struct ktr__live_frame frame[KTR__LIVE_FRAMES];
	pid_t *tid; /* that there are; owned */
	uint32_t n;
	uint64_t round;
	uint64_t last; /* the one before it */
};

/* ---- rows ---- */

static void rounds_drop(struct ktr__live_rounds *rounds, struct ktr__live_row *row)
{
	if (rounds->sink && rounds->sink->forget)
		rounds->sink->forget(rounds->sink->context, row);
}

void ktr__live_rounds_free(struct ktr__live_rounds *rounds)
{
	for (uint32_t i = 0; i < rounds->n_rows; i++)
		rounds_drop(rounds, &rounds->row[i]);
	free(rounds->row);
}

struct ktr__live_row *ktr__live_rounds_row(struct ktr__live_rounds *rounds, pid_t tid)
{
	uint32_t from = 0, to = rounds->n_rows;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (rounds->row[middle].tid < tid)
			from = middle + 1;
		else
			to = middle;
	}
	if (from < rounds->n_rows && rounds->row[from].tid == tid)
		return &rounds->row[from];
	if (ktr__array_grow(&rounds->row, &rounds->room_rows, rounds->n_rows, sizeof(*rounds->row)))
		return NULL;
	memmove(&rounds->row[from + 1], &rounds->row[from], (rounds->n_rows - from) * sizeof(*rounds->row));
	rounds->n_rows++;
	rounds->row[from] = (struct ktr__live_row){ .tid = tid };
	return &rounds->row[from];
}

static void rounds_forget(struct ktr__live_rounds *rounds, uint64_t round, uint32_t n_there)
{
	uint32_t n = 0;

	if (!rounds->forgets || rounds->n_rows <= 2 * n_there + ROUNDS_ROWS)
		return;
	for (uint32_t i = 0; i < rounds->n_rows; i++)
		if (rounds->row[i].round == round)
			rounds->row[n++] = rounds->row[i];
		else
			rounds_drop(rounds, &rounds->row[i]);
	rounds->n_rows = n;
}

/* ---- who sleeps on ---- */

/* Where the call was made that it sleeps in, and how deep. 1 or 0. */
static int rounds_call(const struct ktr__live_rounds *rounds, pid_t tid, uint64_t *sp, uint64_t *pc)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)rounds->pid, (int)tid);
	return ktr__tracee_text(path, text, sizeof(text)) > 0 &&
	       sscanf(text, "%*d %*x %*x %*x %*x %*x %*x %" SCNx64 " %" SCNx64, sp, pc) == 2;
}

static int rounds_sleeps_on(const struct ktr__live_rounds *rounds, const struct ktr__live_row *row)
{
	uint64_t n, sp, pc;

	if (!row->is_asleep || ktr__tracee_status(row->tid, "voluntary_ctxt_switches:", 10, &n) ||
	    n != row->n_sleeps || !rounds_call(rounds, row->tid, &sp, &pc))
		return 0;
	/* A call that the kernel makes again may have another number then: restart_syscall(2). */
	return sp == row->sp && pc == row->pc;
}

static int rounds_in_call(const struct ktr__live_taken *taken)
{
#if defined(__x86_64__)
	return !taken->code && (int64_t)taken->stop.regs.orig_rax >= 0;
#else
	(void)taken;
	return 0;
#endif
}

/* What it does after this stop, if it sleeps on. The count is that of the moment of the stop. */
static void rounds_slept(struct ktr__live_row *row, const struct ktr__live_taken *taken)
{
	row->is_asleep = rounds_in_call(taken) && taken->state == 'S';
	row->n_sleeps = taken->n_sleeps + 1;
	row->sp = ktr__live_sp(&taken->live.regs);
	row->pc = ktr__live_pc(&taken->live.regs);
}

/* ---- a round ---- */

static int rounds_tell(struct rounds_work *work, struct ktr__live_sample *sample)
{
	struct ktr__live_rounds *rounds = work->rounds;

	sample->round = work->round;
	sample->row->n++;
	rounds->n_samples++;
	rounds->n_kept += sample->is_same != 0;
	return rounds->sink->sample(rounds->sink->context, sample);
}

static int rounds_stack(struct rounds_work *work, struct ktr__live_row *row, uint64_t now)
{
	const struct ktr__live_taken *taken = &work->taken;
	struct ktr__live_sample sample = { .row = row, .time_ns = now, .state = taken->state, .code = taken->code,
					   .stopped_ns = taken->stopped_ns, .frame = work->frame,
					   .in_call = rounds_in_call(taken) };
	const char *why;

	if (!taken->code) {
		sample.n_frames = ktr__live_frames(work->rounds->live, &taken->live, work->frame, &why);
		sample.is_cut = why != NULL;
	}
	return rounds_tell(work, &sample);
}

static void rounds_count(struct ktr__live_rounds *rounds, const struct ktr__live_taken *taken)
{
	if (taken->code == EPERM || taken->code == EACCES || taken->code == ENOSYS)
		rounds->refused = taken->code;
	if (!taken->stopped_ns)
		return;
	rounds->n_stops++;
	rounds->stopped_ns += taken->stopped_ns;
	if (rounds->most_ns < taken->stopped_ns)
		rounds->most_ns = taken->stopped_ns;
}

static int rounds_one(struct rounds_work *work, struct ktr__live_row *row)
{
	struct ktr__live_taken *taken = &work->taken;
	uint64_t now = ktr__tracee_wait_now();
	int rc;

	if (row->is_late)
		row->is_late = ktr__tracee_late(row->tid) == 0;
	if (!row->is_late && rounds_sleeps_on(work->rounds, row)) {
		struct ktr__live_sample same = { .row = row, .time_ns = now, .state = 'S', .is_same = 1 };

		return rounds_tell(work, &same);
	}
	taken->tid = row->tid;
	taken->n_sleeps = 0;
	rc = row->is_late ? ktr__live_look(taken) : ktr__live_take(taken, ktr__live_maps(work->rounds->live));
	if (rc)
		return rc == -ESRCH ? 0 : rc;
	if (row->is_late) {
		taken->code = ETIMEDOUT;
		taken->stopped_ns = 0;
	}
	row->is_late = taken->code == ETIMEDOUT;
	memcpy(row->name, taken->name, sizeof(row->name));
	rounds_count(work->rounds, taken);
	rounds_slept(row, taken);
	/* Who has ended, and is not yet gone, is no sample. */
	return taken->code == ESRCH ? 0 : rounds_stack(work, row, now);
}

/* Those of the last round that the kernel's list has left out, and that are there. 0 or -ENOMEM. */
static int rounds_left_out(struct rounds_work *work)
{
	const struct ktr__live_rounds *rounds = work->rounds;
	uint32_t n = work->n, at = 0, more = 0;
	char path[64];
	pid_t *all;

	all = malloc((n + rounds->n_rows + 1u) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < rounds->n_rows; i++) {
		const struct ktr__live_row *row = &rounds->row[i];

		while (at < n && work->tid[at] < row->tid)
			all[more++] = work->tid[at++];
		if (row->round != work->last || (at < n && work->tid[at] == row->tid))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)rounds->pid, (int)row->tid);
		if (access(path, F_OK) == 0)
			all[more++] = row->tid;
	}
	while (at < n)
		all[more++] = work->tid[at++];
	free(work->tid);
	work->tid = all;
	work->n = more;
	return 0;
}

/* The threads that are to be looked at. 0 or -errno. */
static int rounds_threads(struct rounds_work *work)
{
	const struct ktr__live_rounds *rounds = work->rounds;
	char path[64];

	free(work->tid);
	work->n = 0;
	if (!rounds->tid) {
		work->tid = ktr__live_threads(rounds->pid, &work->n);
		if (!work->tid)
			return errno == ENOENT ? -ESRCH : -errno;
		return rounds->n_rounds ? rounds_left_out(work) : 0;
	}
	work->tid = malloc(sizeof(*work->tid));
	if (!work->tid)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)rounds->pid, (int)rounds->tid);
	work->tid[work->n++] = rounds->tid;
	return access(path, F_OK) ? -ESRCH : 0;
}

/* -ESRCH: the process has ended. */
static int rounds_round(struct rounds_work *work)
{
	struct ktr__live_rounds *rounds = work->rounds;
	uint64_t before = rounds->n_samples;
	int rc = rounds_threads(work);

	for (uint32_t i = 0; !rc && i < work->n; i++) {
		struct ktr__live_row *row = ktr__live_rounds_row(rounds, work->tid[i]);

		if (!row)
			return -ENOMEM;
		row->round = work->round;
		rc = rounds_one(work, row);
	}
	rounds_forget(rounds, work->round, work->n);
	return !rc && rounds->n_samples == before ? -ESRCH : rc;
}

/* Objects have come, by dlopen(3), or it is another program now. */
static int rounds_is_other(const struct ktr__live_maps *now, const struct ktr__live_maps *then)
{
	if (!now->n_objects || !then->n_objects)
		return now->n_objects != 0;
	return now->n_objects > then->n_objects || now->object[0].start != then->object[0].start ||
	       now->object[0].inode != then->object[0].inode;
}

/* What is told of addresses is of the objects that there are in the end. */
void ktr__live_rounds_reopen(struct ktr__live_rounds *rounds)
{
	struct ktr__live_maps maps = { 0 };
	struct ktr__live *live;

	if (ktr__live_maps_read(rounds->pid, &maps) == 0 && rounds_is_other(&maps, ktr__live_maps(rounds->live)) &&
	    ktr__live_open(rounds->pid, &live) == 0) {
		ktr__live_close(rounds->live);
		rounds->live = live;
		/* What was taken meanwhile was followed through the objects of before. */
		for (uint32_t i = 0; i < rounds->n_rows; i++)
			rounds->row[i].is_asleep = 0;
	}
	ktr__live_maps_free(&maps);
}

/* Waits for the next round that is not over. 0, or 1: it is to end, or there is none. */
static int rounds_wait(struct ktr__live_rounds *rounds, uint64_t began)
{
	uint64_t now = ktr__tracee_wait_now(), due = rounds->n_rounds + rounds->n_missed;
	uint64_t over = (now - began) / rounds->period_ns; /* the round that is to begin now */

	if (over > due) {
		over = rounds->rounds && over > rounds->rounds ? rounds->rounds : over;
		rounds->n_missed += over - due;
		due = over;
	}
	if (rounds->rounds && due >= rounds->rounds)
		return 1;
	return rounds->sink->wait(rounds->sink->context, began + due * rounds->period_ns);
}

int ktr__live_rounds(struct ktr__live_rounds *rounds)
{
	struct rounds_work *work = calloc(1, sizeof(*work));
	uint64_t began = ktr__tracee_wait_now(), opened = began;
	int rc = 0;

	if (work)
		work->taken.room = malloc(KTR__LIVE_STACK);
	if (!work || !work->taken.room)
		rc = -ENOMEM;
	else
		*work = (struct rounds_work){ .rounds = rounds,
					      .taken = { .pid = rounds->pid, .room = work->taken.room } };
	while (!rc && !rounds_wait(rounds, began)) {
		work->last = work->round;
		work->round = rounds->n_rounds + rounds->n_missed;
		rc = rounds_round(work);
		rounds->n_rounds += !rc;
		if (!rc && ktr__tracee_wait_now() - opened > ROUNDS_REOPEN_NS) {
			ktr__live_rounds_reopen(rounds);
			opened = ktr__tracee_wait_now();
		}
	}
	if (work) {
		free(work->tid);
		free(work->taken.room);
	}
	free(work);
	return rc;
}
