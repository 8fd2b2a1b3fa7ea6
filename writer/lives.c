/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks at /proc/PID/stat and /proc/PID/task/TID/stat, which tell in one read whether it is there, since when,
 * and what it is called. A process that has gone through exec(2) is still there: it does not have the session
 * mapped any more. That takes longer to see, so it is looked at when a process is new, has another name, and in
 * the end.
 *
 * How often follows from how many there are: no more than a thousandth of a CPU goes for it.
 */
#include "writer/lives.h"

#include "ktr/session/clock.h"
#include "ktr/session/kernel.h"
#include "writer/format/clock_shift.h"
#include "writer/format/life.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIVES_NS      100000000ull /* between two looks at a few; */
#define LIVES_EACH_NS 10000000ull  /* a thousand times what a look at one takes */

static void *lives_map(uint32_t n)
{
	size_t bytes = (n ? n : 1) * sizeof(struct ktr__life);
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	madvise(at, bytes, MADV_DONTFORK);
	return at;
}

int ktr__lives_init(struct ktr__lives *lives, const struct ktr__session_map *map)
{
	uint64_t boot_id[2] = { 0 };
	struct stat st;

	memset(lives, 0, sizeof(*lives));
	lives->n_procs = map->header.region[KTR_REGION_proc].n_rows;
	lives->n_threads = map->header.region[KTR_REGION_thread].n_rows;
	lives->proc = lives_map(lives->n_procs);
	lives->thread = lives_map(lives->n_threads);
	if (!lives->proc || !lives->thread) {
		ktr__lives_fini(lives);
		return -ENOMEM;
	}
	ktr__kernel_boot_id(boot_id);
	lives->here = memcmp(boot_id, map->header.boot_id, sizeof(boot_id)) == 0;
	lives->pid_ns = ktr__proc_own_ns();
	lives->session_ino = fstat(map->fd, &st) == 0 ? st.st_ino : 0;
	return 0;
}

void ktr__lives_fini(struct ktr__lives *lives)
{
	if (lives->proc)
		munmap(lives->proc, (lives->n_procs ? lives->n_procs : 1) * sizeof(*lives->proc));
	if (lives->thread)
		munmap(lives->thread, (lives->n_threads ? lives->n_threads : 1) * sizeof(*lives->thread));
	memset(lives, 0, sizeof(*lives));
}

void ktr__lives_known(struct ktr__life *life, uint64_t alive_ns, uint64_t gone_ns)
{
	if (!gone_ns)
		return;
	life->alive_ns = alive_ns;
	life->gone_ns = gone_ns;
	life->state = KTR__LIFE_OVER;
}

uint64_t ktr__lives_ns(const struct ktr_trace_clock *clock, uint64_t ticks)
{
	uint64_t delta = ticks > clock->base_ticks ? ticks - clock->base_ticks : 0;

	return clock->base_ns + (uint64_t)((unsigned __int128)delta * clock->mult >> clock->shift);
}

/* A thread has noted one moment on both clocks: ticks are the same in all time namespaces. */
static int64_t lives_frame(const struct ktr__lives *lives, const struct ktr_thread_row *row)
{
	int64_t apart;

	if (!lives->clock.mult || row->start_ticks <= lives->clock.base_ticks || !row->start_ns)
		return 0;
	apart = (int64_t)(ktr__lives_ns(&lives->clock, row->start_ticks) - row->start_ns);
	return apart > KTR__CLOCK_SHIFT_NS || apart < -KTR__CLOCK_SHIFT_NS ? apart : 0;
}

static void lives_shift(uint64_t *ns, int64_t frame_ns)
{
	if (*ns)
		*ns += (uint64_t)frame_ns;
}

void ktr__lives_proc(struct ktr__lives *lives, uint32_t idx, struct ktr_proc_row *row)
{
	struct ktr__life *life = &lives->proc[idx];

	lives_shift(&row->start_ns, life->frame_ns);
	lives_shift(&row->exit_ns, life->frame_ns);
	if (row->state != KTR_ROW_READY) {
		life->state = KTR__LIFE_OVER;
		life->gone_ns = 0;
	}
	if (life->state != KTR__LIFE_NONE || !lives->here || row->pid_ns != lives->pid_ns || !row->start_time)
		return;
	life->state = KTR__LIFE_WATCHED;
	life->pid = row->pid;
	life->start_ns = row->start_ns;
	life->start_time = row->start_time;
	if (idx >= lives->end_procs)
		lives->end_procs = idx + 1;
}

/* Of threads that were there before us: a kill may come before the next look. */
static void lives_name(const struct ktr__lives *lives, struct ktr__life *life)
{
	struct ktr__life_stat stat;

	if (lives->next_ns || life->named || lives->proc[life->proc].state != KTR__LIFE_WATCHED ||
	    !ktr__life_stat(life->pid, life->tid, &stat) || !stat.start_time)
		return;
	memcpy(life->name, stat.name, sizeof(life->name));
}

void ktr__lives_thread(struct ktr__lives *lives, uint32_t idx, struct ktr_thread_row *row)
{
	struct ktr__life *life = &lives->thread[idx];
	int64_t frame_ns = lives_frame(lives, row);

	lives_shift(&row->start_ns, frame_ns);
	lives_shift(&row->exit_ns, frame_ns);
	if (row->proc < lives->n_procs)
		lives->proc[row->proc].frame_ns = frame_ns;
	life->named = row->named != 0;
	if (row->state != KTR_ROW_READY) {
		life->state = KTR__LIFE_OVER;
		life->gone_ns = 0;
	} else if (life->state == KTR__LIFE_NONE && row->proc && row->proc < lives->n_procs) {
		life->state = KTR__LIFE_WATCHED;
		life->pid = row->pid;
		life->start_ns = row->start_ns;
		life->tid = row->tid;
		life->proc = row->proc;
		lives_name(lives, life);
		if (idx >= lives->end_threads)
			lives->end_threads = idx + 1;
	}
	if (row->state == KTR_ROW_READY && life->name[0] && !life->named)
		memcpy(row->name, life->name, sizeof(row->name));
}

/* It may have gone through exec(2); ours has not, for we are in it. */
static bool lives_left(const struct ktr__lives *lives, const struct ktr__life *life, const char *name, bool last)
{
	return life->pid != (uint32_t)getpid() && lives->session_ino &&
	       (last || !life->alive_ns || strcmp(life->name, name) != 0) &&
	       !ktr__proc_maps(life->pid, lives->session_ino);
}

static void lives_over(const struct ktr__lives *lives, struct ktr__life *life)
{
	life->gone_ns = ktr__clock_now(KTR_CLOCK_MONOTONIC) + (uint64_t)lives->frame_ns;
	life->state = KTR__LIFE_OVER;
	life->is_new = 1;
}

/* In another time namespace a process has another start time. */
static bool lives_elsewhere(uint32_t pid)
{
	struct stat own, its;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%u/ns/time", pid);
	return stat("/proc/self/ns/time", &own) == 0 && stat(path, &its) == 0 && own.st_ino != its.st_ino;
}

static void lives_look_proc(const struct ktr__lives *lives, struct ktr__life *life, uint64_t now_ns, bool last)
{
	struct ktr__life_stat stat;

	if (!ktr__life_stat(life->pid, 0, &stat))
		return;
	if (stat.start_time && stat.start_time != life->start_time && !life->alive_ns && lives_elsewhere(life->pid))
		life->start_time = stat.start_time;
	if (stat.start_time != life->start_time || lives_left(lives, life, stat.name, last)) {
		lives_over(lives, life);
		return;
	}
	memcpy(life->name, stat.name, sizeof(life->name));
	life->alive_ns = now_ns + (uint64_t)lives->frame_ns;
}

/* The end of a process is that of its threads: it is told once. */
static void lives_look_thread(const struct ktr__lives *lives, struct ktr__life *life, uint64_t now_ns)
{
	struct ktr__life_stat stat;

	if (lives->proc[life->proc].state != KTR__LIFE_WATCHED || !ktr__life_stat(life->pid, life->tid, &stat))
		return;
	if (!stat.start_time || (life->start_time && stat.start_time != life->start_time)) {
		lives_over(lives, life);
		return;
	}
	life->is_new = !life->named && strcmp(life->name, stat.name) != 0;
	memcpy(life->name, stat.name, sizeof(life->name));
	life->start_time = stat.start_time;
	life->alive_ns = now_ns + (uint64_t)lives->frame_ns;
}

/* Of one that was never seen by then: since it began. */
static void lives_since(const struct ktr__life *life, uint64_t *since_ns)
{
	uint64_t ns = life->alive_ns > life->start_ns ? life->alive_ns : life->start_ns;

	if (life->is_new && life->gone_ns && (!*since_ns || ns < *since_ns))
		*since_ns = ns ? ns : 1;
}

uint64_t ktr__lives_look(struct ktr__lives *lives, uint64_t now_ns, bool last)
{
	uint64_t n = 0, since_ns = 0;

	for (uint32_t i = 0; i < lives->end_procs; i++) {
		if (lives->proc[i].state != KTR__LIFE_WATCHED)
			continue;
		n++;
		lives_look_proc(lives, &lives->proc[i], now_ns, last);
		lives_since(&lives->proc[i], &since_ns);
	}
	for (uint32_t i = 0; i < lives->end_threads; i++) {
		if (lives->thread[i].state != KTR__LIFE_WATCHED)
			continue;
		n++;
		lives_look_thread(lives, &lives->thread[i], now_ns);
		lives_since(&lives->thread[i], &since_ns);
	}
	lives->next_ns = now_ns + (n * LIVES_EACH_NS > LIVES_NS ? n * LIVES_EACH_NS : LIVES_NS);
	return since_ns;
}
