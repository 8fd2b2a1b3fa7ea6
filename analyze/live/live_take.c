/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One thread is stopped at a time, for as long as it takes to copy its stack: so no thread waits for the looking at
 * another one, and a process of thousands never stands still. What is lost is that all stacks are of one moment.
 *
 * A thread in an uninterruptible wait (D) does not stop before that ends, and is not asked to.
 */
#include "analyze/live/live_take.h"

#include "conf/kit/array.h"
#include "ktr/provider/syscall/tracee_memory.h"
#include "ktr/provider/syscall/tracee_proc.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define TAKE_LOOKS    5	    /* for all threads, at most */
#define TAKE_RED_ZONE 128   /* [bytes] below the stack pointer, which a function may use */
#define TAKE_FAR_DOWN 32768 /* [bytes] where no handler of a signal comes to within the moment that it takes */
#define TAKE_LEFT     ((uint64_t)16) /* [bytes] a timespec */
#define TAKE_NEAR_NS  300000 /* what lies between a look and its stop, mostly; and how late a timer may be */
#define TAKE_NEAR_LOOKS 4

static int take_order(const void *a, const void *b)
{
	const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

/* Once through the folder. *n_there: how many there were in the end. Owned; NULL with errno set. */
static pid_t *take_threads(pid_t pid, uint32_t *n, uint32_t *n_there)
{
	struct dirent *entry;
	uint32_t room = 0;
	pid_t *tid = NULL;
	struct stat st;
	char path[64];
	DIR *dir;

	*n = *n_there = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return NULL;
	while ((entry = readdir(dir)) != NULL) {
		pid_t one = (pid_t)strtol(entry->d_name, NULL, 10);

		if (one <= 0)
			continue;
		if (ktr__array_grow(&tid, &room, *n, sizeof(*tid))) {
			free(tid);
			closedir(dir);
			errno = ENOMEM;
			return NULL;
		}
		tid[(*n)++] = one;
	}
	if (fstat(dirfd(dir), &st) == 0 && st.st_nlink > 2)
		*n_there = (uint32_t)st.st_nlink - 2;
	closedir(dir);
	if (!tid)
		errno = ESRCH;
	return tid;
}

/* Where a thread ends while the kernel lists them it may leave out others, or name one twice: it is asked again. */
pid_t *ktr__live_threads(pid_t pid, uint32_t *n)
{
	uint32_t n_there, n_all, looks = 0;
	pid_t *tid = NULL;

	do {
		free(tid);
		tid = take_threads(pid, n, &n_there);
		if (!tid)
			return NULL;
		n_all = *n;
		qsort(tid, n_all, sizeof(*tid), take_order);
		*n = 1;
		for (uint32_t i = 1; i < n_all; i++)
			if (tid[i] != tid[*n - 1])
				tid[(*n)++] = tid[i];
	} while (*n < n_there && ++looks < TAKE_LOOKS);
	return tid;
}

int ktr__live_look(struct ktr__live_taken *thread)
{
	char path[64], text[1024];
	const char *at;
	ssize_t n;

	thread->name[0] = '\0';
	ktr__tracee_comm(thread->tid, thread->name);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/wchan", (int)thread->pid, (int)thread->tid);
	if (ktr__tracee_text(path, thread->wchan, sizeof(thread->wchan)) <= 0 || strcmp(thread->wchan, "0") == 0)
		thread->wchan[0] = '\0';
	ktr__tracee_wait_look("/proc", thread->pid, thread->tid, &thread->stop.wait);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)thread->pid, (int)thread->tid);
	n = ktr__tracee_text(path, text, sizeof(text));
	at = n > 0 ? strrchr(text, ')') : NULL;
	if (!at || strlen(at) < 3)
		return n < 0 && n != -ENOENT ? (int)n : -ESRCH;
	thread->state = at[2];
	return 0;
}

/* How much of it there is: to the end of its mapping. */
static size_t take_size(const struct ktr__live_maps *maps, uint64_t sp)
{
	const struct ktr__live_region *region = ktr__live_maps_region(maps, sp);

	return region && region->end - sp < KTR__LIVE_STACK ? (size_t)(region->end - sp) : KTR__LIVE_STACK;
}

/* A place on its stack that nobody uses; 0: none is known. */
static uint64_t take_left(const struct ktr__live_maps *maps, uint64_t sp)
{
	const struct ktr__live_region *region = ktr__live_maps_region(maps, sp);
	uint64_t least = region ? region->start : sp, room = sp - least;

	if (room < TAKE_RED_ZONE + TAKE_LEFT + TAKE_LEFT)
		return 0;
	return ((room > TAKE_FAR_DOWN ? sp - TAKE_FAR_DOWN : least) + TAKE_LEFT - 1) & ~(TAKE_LEFT - 1);
}

/* Where a time of a call may be changed: code of the C library, which is known not to rely on it. */
static void take_libc(struct ktr__tracee_stop *stop, const struct ktr__live_maps *maps)
{
	stop->libc = stop->libc_end = 0;
	for (uint32_t i = 0; i < maps->n_objects; i++) {
		const char *name = strrchr(maps->object[i].path, '/');

		if (name && (strncmp(name, "/libc.so.6", 10) == 0 || strncmp(name, "/libc-2.", 8) == 0)) {
			stop->libc = maps->object[i].start;
			stop->libc_end = maps->object[i].end;
			return;
		}
	}
}

static void take_stopped(struct ktr__live_taken *thread, const struct ktr__live_maps *maps)
{
	uint64_t sp = ktr__live_sp(&thread->stop.regs);

	thread->live = (struct ktr__live_thread){ .tid = thread->tid, .regs = thread->stop.regs, .base = sp,
						  .bytes = thread->room };
	if (thread->room)
		thread->live.n_bytes = ktr__tracee_read(thread->tid, sp, thread->room, take_size(maps, sp));
}

/* Where a tracer cannot make a call again that its stop ends, who is in one is left alone. */
static int take_is_left_alone(const struct ktr__live_taken *thread)
{
#if defined(__x86_64__)
	return thread->state == 'D';
#else
	return thread->state == 'D' || ktr__tracee_wait_repeats(thread->stop.wait.call);
#endif
}

/*
 * Whoever kills us lets a thread go that is stopped then; ^C and the like wait: its call would end with EINTR. Of
 * our own threads one stops another at a time, for no two may stop the same.
 */
static int take_stop(struct ktr__live_taken *thread, const struct ktr__live_maps *maps)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	sigset_t ends, before;
	int rc;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &ends, &before);
	pthread_mutex_lock(&one);
	rc = ktr__tracee_stop(&thread->stop);
	if (!rc) {
		take_stopped(thread, maps);
		ktr__tracee_status(thread->tid, "voluntary_ctxt_switches:", 10, &thread->n_sleeps);
		ktr__tracee_go(&thread->stop, take_left(maps, thread->live.base));
		thread->stopped_ns = ktr__tracee_wait_now() - thread->stop.ran_ns;
	}
	pthread_mutex_unlock(&one);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/*
 * A call whose time is nearly over may have ended by the moment of the stop, and the next one like it be taken
 * for it: it is let end.
 */
static int take_is_near_its_end(const struct ktr__tracee_wait *wait)
{
	uint64_t now = ktr__tracee_wait_now();

	return wait->began_ns && wait->time_ns && now + TAKE_NEAR_NS > wait->least_ns + wait->time_ns;
}

int ktr__live_take(struct ktr__live_taken *thread, const struct ktr__live_maps *maps)
{
	const struct timespec nap = { 0, TAKE_NEAR_NS };
	int rc = ktr__live_look(thread);

	for (int i = 0; i < TAKE_NEAR_LOOKS && !rc && take_is_near_its_end(&thread->stop.wait); i++) {
		nanosleep(&nap, NULL);
		rc = ktr__live_look(thread);
	}
	thread->code = 0;
	thread->stopped_ns = 0;
	if (rc)
		return rc;
	if (strchr("ZX", thread->state) || take_is_left_alone(thread)) {
		thread->code = strchr("ZX", thread->state) ? ESRCH : EBUSY;
		return 0;
	}
	thread->stop.pid = thread->pid;
	thread->stop.tid = thread->tid;
	take_libc(&thread->stop, maps);
	rc = take_stop(thread, maps);
	thread->code = -rc;
	return rc == -ESRCH ? rc : 0;
}

/* ---- on a thread of its own ---- */

struct take_apart {
	struct ktr__live_taken *thread;
	const struct ktr__live_maps *maps;
	int rc;
};

static void *take_apart(void *context)
{
	struct take_apart *apart = context;

	apart->rc = ktr__live_take(apart->thread, apart->maps);
	return NULL;
}

int ktr__live_take_apart(struct ktr__live_taken *thread, const struct ktr__live_maps *maps)
{
	struct take_apart apart = { .thread = thread, .maps = maps };
	sigset_t all, before;
	pthread_t id;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&id, NULL, take_apart, &apart);
	if (!rc)
		rc = pthread_join(id, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc ? -rc : apart.rc;
}
