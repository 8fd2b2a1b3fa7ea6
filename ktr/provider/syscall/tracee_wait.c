/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * signal(7), "Interruption of system calls and library functions by stop signals", lists the calls that end with
 * EINTR when their thread stops, whatever is done about it; calls on sockets do where a timeout was set for those
 * (SO_RCVTIMEO, SO_SNDTIMEO). All others the kernel makes again, with what is left of their time.
 *
 * When a call began nobody tells. But a thread that waits has not run since, and /proc/PID/task/TID/sched says when
 * it last did, on the clock of its CPU, which those of other CPUs need not agree with: so we ask that CPU what time
 * it is. Where that cannot be had, the time begins anew.
 *
 * That clock stands still while the machine below ours has taken the CPU away: it falls behind, by milliseconds at
 * once. So by what it is behind now a call began too late, by what it was behind before the call began too early.
 */
#include "ktr/provider/syscall/tracee_wait.h"

#include "ktr/provider/syscall/tracee_memory.h"
#include "ktr/provider/syscall/tracee_proc.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t ktr__tracee_wait_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int ktr__tracee_wait_timeout(long call, int *is_ms)
{
	*is_ms = 0;
	switch (call) {
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
		*is_ms = 1;
		return 3;
	case SYS_epoll_pwait2:
	case SYS_semtimedop:
		return 3;
	case SYS_rt_sigtimedwait:
		return 2;
	case SYS_io_getevents:
	case SYS_io_pgetevents:
		return 4;
	default:
		return -1;
	}
}

/* Sockets: where a timeout was set. */
static int tracee_wait_socket(long call)
{
	switch (call) {
	case SYS_read: /* of inotify(7), too */
	case SYS_readv:
	case SYS_write:
	case SYS_writev:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect:
		return 1;
	default:
		return 0;
	}
}

int ktr__tracee_wait_repeats(long call)
{
	int is_ms;

	return call == SYS_semop || call == SYS_msgrcv || call == SYS_msgsnd ||
	       tracee_wait_socket(call) || ktr__tracee_wait_timeout(call, &is_ms) >= 0;
}

int64_t ktr__tracee_wait_left(int64_t ns, uint64_t over_ns)
{
	return ns <= 0 || (uint64_t)ns <= over_ns ? 0 : ns - (int64_t)over_ns;
}

/* Memory is being mapped, or its break moved: by malloc(3), or by the loader. */
int ktr__tracee_wait_maps(long call)
{
	return call == SYS_brk || call == SYS_mmap || call == SYS_munmap || call == SYS_mremap ||
	       call == SYS_madvise || call == SYS_mprotect;
}

static enum ktr__tracee_rank tracee_wait_rank(const struct ktr__tracee_wait *wait)
{
	int is_ms, at = ktr__tracee_wait_timeout(wait->call, &is_ms);

	if (ktr__tracee_wait_maps(wait->call))
		return KTR__RANK_BUSY;
	if (at < 0)
		return ktr__tracee_wait_repeats(wait->call) ? KTR__RANK_REPEATS : KTR__RANK_RESTARTS;
	return (is_ms ? (int32_t)wait->args[at] < 0 : !wait->args[at]) ? KTR__RANK_REPEATS
								       : KTR__RANK_TIMED;
}

/* ---- since when ---- */

/* What a thread's sched tells: se.exec_start [ns], which is printed in ms, and how often it has slept. 1 or 0. */
static int tracee_wait_sched(const char *path, uint64_t *ran, uint64_t *n_sleeps)
{
	const char *start, *sleeps;
	char text[2048];

	if (ktr__tracee_text(path, text, sizeof(text)) <= 0)
		return 0;
	start = strstr(text, "\nse.exec_start");
	start = start ? strchr(start, ':') : NULL;
	sleeps = strstr(text, "\nnr_voluntary_switches");
	sleeps = sleeps ? strchr(sleeps, ':') : NULL;
	if (!start || !sleeps)
		return 0;
	*ran = (uint64_t)(strtold(start + 1, NULL) * 1e6L);
	*n_sleeps = strtoull(sleeps + 1, NULL, 10);
	return 1;
}

#define WAIT_CPUS   64 /* of more, those that are the same by this share a place */
#define WAIT_AHEADS 32u

/* How far CLOCK_MONOTONIC was ahead of the clocks of CPUs, and when; under the mutex. */
static struct wait_aheads {
	struct {
		uint64_t at_ns;
		int64_t ahead;
	} was[WAIT_AHEADS];
	int cpu;
	uint32_t n;
} wait_aheads[WAIT_CPUS];
static pthread_mutex_t wait_mutex = PTHREAD_MUTEX_INITIALIZER;

static void wait_ahead_keep(int cpu, int64_t ahead)
{
	struct wait_aheads *aheads = &wait_aheads[cpu % WAIT_CPUS];

	pthread_mutex_lock(&wait_mutex);
	if (aheads->cpu != cpu)
		aheads->n = 0;
	aheads->cpu = cpu;
	aheads->was[aheads->n % WAIT_AHEADS].at_ns = ktr__tracee_wait_now();
	aheads->was[aheads->n++ % WAIT_AHEADS].ahead = ahead;
	pthread_mutex_unlock(&wait_mutex);
}

/* As it was last known before a moment; where that is not known, as it is now. */
static int64_t wait_ahead_before(int cpu, uint64_t ns, int64_t now)
{
	struct wait_aheads *aheads = &wait_aheads[cpu % WAIT_CPUS];
	int64_t ahead = now;
	uint32_t n;

	pthread_mutex_lock(&wait_mutex);
	n = aheads->cpu == cpu ? aheads->n : 0;
	for (uint32_t i = 1; i <= n && i <= WAIT_AHEADS; i++)
		if (aheads->was[(n - i) % WAIT_AHEADS].at_ns <= ns) {
			ahead = aheads->was[(n - i) % WAIT_AHEADS].ahead;
			break;
		}
	pthread_mutex_unlock(&wait_mutex);
	return ahead < now ? ahead : now;
}

/*
 * How far CLOCK_MONOTONIC is ahead of a CPU's clock: we have just begun to run there. Where another took our place
 * in between it looks to be further than it is, so the least of a few is taken. 1 or 0: it cannot be had.
 */
static int tracee_wait_ahead(int cpu, int64_t *ahead)
{
	const struct timespec nap = { 0, 1000 };
	cpu_set_t before, one;
	char path[64];
	int known = 0;

	CPU_ZERO(&one);
	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(before), &before))
		return 0;
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return 0;
	snprintf(path, sizeof(path), "/proc/self/task/%ld/sched", syscall(SYS_gettid));
	for (int i = 0; i < 5; i++) {
		uint64_t now, n_sleeps;
		int64_t one_ahead;

		nanosleep(&nap, NULL);
		if (!tracee_wait_sched(path, &now, &n_sleeps))
			break;
		one_ahead = (int64_t)(ktr__tracee_wait_now() - now);
		*ahead = known && *ahead < one_ahead ? *ahead : one_ahead;
		known = 1;
	}
	sched_setaffinity(0, sizeof(before), &before);
	if (known)
		wait_ahead_keep(cpu, *ahead);
	return known;
}

/* The CPU that it was on last, the 39th field; the second ends with the last bracket. */
static int tracee_wait_cpu(const char *task)
{
	char path[600], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "%s/stat", task);
	at = ktr__tracee_text(path, text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
	for (int i = 2; at && i < 39; i++)
		at = strchr(at + 1, ' ');
	return at ? atoi(at) : -1;
}

static uint64_t tracee_wait_time(pid_t tid, const struct ktr__tracee_wait *wait)
{
	int is_ms, at = ktr__tracee_wait_timeout(wait->call, &is_ms);
	struct timespec time;

	if (is_ms)
		return (uint64_t)(int32_t)wait->args[at] * 1000000;
	if (ktr__tracee_read(tid, wait->args[at], &time, sizeof(time)) < sizeof(time) || time.tv_sec < 0 ||
	    time.tv_sec > INT32_MAX)
		return 0;
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* It may go on at any time: what is asked last tells whether all is of one call. */
static void tracee_wait_since(const char *task, const char *call, struct ktr__tracee_wait *wait)
{
	int cpu = tracee_wait_cpu(task);
	char path[600], text[1024];
	uint64_t ran = 0;
	int64_t ahead;

	if (!tracee_wait_ahead(cpu, &ahead))
		return;
	snprintf(path, sizeof(path), "%s/sched", task);
	if (!tracee_wait_sched(path, &ran, &wait->n_sleeps) || tracee_wait_cpu(task) != cpu)
		return;
	snprintf(path, sizeof(path), "%s/syscall", task);
	if (ktr__tracee_text(path, text, sizeof(text)) > 0 && strcmp(text, call) == 0 &&
	    (int64_t)ran + ahead > 0 && ran + (uint64_t)ahead < ktr__tracee_wait_now()) {
		wait->began_ns = ran + (uint64_t)ahead;
		wait->least_ns = ran + (uint64_t)wait_ahead_before(cpu, wait->began_ns, ahead);
	}
}

int ktr__tracee_wait_same(const char *proc, pid_t pid, pid_t tid, const struct ktr__tracee_wait *wait)
{
	uint64_t ran, n_sleeps = 0;
	char path[300];

	snprintf(path, sizeof(path), "%s/%d/task/%d/sched", proc, (int)pid, (int)tid);
	return wait->began_ns && tracee_wait_sched(path, &ran, &n_sleeps) &&
	       n_sleeps == wait->n_sleeps + 1;
}

void ktr__tracee_wait_look(const char *proc, pid_t pid, pid_t tid, struct ktr__tracee_wait *wait)
{
	char task[300], path[600], text[1024];
	const char *at;

	*wait = (struct ktr__tracee_wait){ .rank = KTR__RANK_RUNS, .call = -1 };
	snprintf(task, sizeof(task), "%s/%d/task/%d", proc, (int)pid, (int)tid);
	snprintf(path, sizeof(path), "%s/stat", task);
	at = ktr__tracee_text(path, text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
	if (!at || strlen(at) < 3 || strchr("ZXxtT", at[2])) {
		wait->rank = KTR__RANK_NEVER;
		return;
	}
	if (at[2] == 'D')
		wait->rank = KTR__RANK_BUSY;
	snprintf(path, sizeof(path), "%s/syscall", task);
	if (ktr__tracee_text(path, text, sizeof(text)) <= 0 || strncmp(text, "running", 7) == 0)
		return;
	if (sscanf(text, "%ld %lx %lx %lx %lx %lx %lx", &wait->call, &wait->args[0], &wait->args[1],
		   &wait->args[2], &wait->args[3], &wait->args[4], &wait->args[5]) != 7) {
		wait->call = -1;
		wait->rank = KTR__RANK_BUSY; /* a fault */
		return;
	}
	if (wait->rank != KTR__RANK_BUSY)
		wait->rank = tracee_wait_rank(wait);
	if (wait->rank == KTR__RANK_TIMED)
		tracee_wait_since(task, text, wait);
	if (wait->began_ns)
		wait->time_ns = tracee_wait_time(tid, wait);
}
