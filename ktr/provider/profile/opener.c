/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * close_range(2) makes the table, empty; on kernels that have none, unshare(2) does, and what it has is closed.
 * A file that is closed is told so (flush), by whatever table, and a message queue then forgets whom in this
 * process it was to notify: so a process that has one open has no such thread.
 *
 * A filter of system calls may have come since, to all threads at once: the thread looks at its own state before it
 * opens something, by a descriptor that it keeps for that.
 */
#include "ktr/provider/profile/opener.h"

#include "ktr/provider/registry/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define OPENER_STACK	(128u << 10)
#define OPENER_NAP_NS	100000000
#define OPENER_NAPS	20   /* it has so long to begin; it may wait for a file system */
#define OPENER_QUEUE	0x19800202 /* the kernel's MQUEUE_MAGIC */
#define OPENER_UNSHARE	(1u << 1)  /* CLOSE_RANGE_UNSHARE */

enum opener_state { OPENER_NONE, OPENER_BEGINS, OPENER_RUNS, OPENER_FAILED, OPENER_ENDS };

static struct ktr__opener_work opener_work;
static pthread_t opener_thread;
static uint32_t opener_state;  /* enum opener_state. Atomic; a futex */
static uint32_t opener_change; /* atomic; a futex */
static uint32_t opener_served; /* the change that it has seen before it served last. Atomic; a futex */
static int opener_status_fd = -1; /* its /proc/thread-self/status, in its own table */
static bool opener_waits; /* somebody does, for opener_served. Atomic */
static struct ktr_error opener_why;

static void opener_wake(const uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* ---- filters ---- */

static uint64_t opener_number(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* How many the thread has; UINT64_MAX: it cannot be told. */
static uint64_t opener_n_filters(int fd)
{
	char status[4096];
	ssize_t n = pread(fd, status, sizeof(status) - 1, 0);
	uint64_t mode;

	if (n <= 0)
		return UINT64_MAX;
	status[n] = '\0';
	mode = opener_number(status, "\nSeccomp:");
	/* Kernels before 5.9 do not say how many. */
	return mode == 0 ? 0 : mode == 2 && strstr(status, "\nSeccomp_filters:") ?
			   opener_number(status, "\nSeccomp_filters:") :
			   UINT64_MAX;
}

bool ktr__opener_may(void)
{
	return opener_n_filters(opener_status_fd) <= opener_work.n_filters;
}

static int opener_status(void)
{
	return open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
}

/* ---- the table ---- */

/* Calls for each descriptor of the thread's table, but that of the list; until one says no. 0 or -errno. */
static int opener_each(int (*call)(int fd))
{
	DIR *dir = opendir("/proc/thread-self/fd");
	const struct dirent *at;
	int code = 0;

	if (!dir)
		return -errno;
	while (!code && (at = readdir(dir)) != NULL) {
		char *end;
		long fd = strtol(at->d_name, &end, 10);

		if (end != at->d_name && !*end && fd != dirfd(dir))
			code = call((int)fd);
	}
	closedir(dir);
	return code;
}

static int opener_is_queue(int fd)
{
	struct statfs of;

	return fstatfs(fd, &of) == 0 && of.f_type == OPENER_QUEUE ? -EBUSY : 0;
}

static int opener_close(int fd)
{
	close(fd);
	return 0;
}

static int opener_own_table(void)
{
	if (syscall(SYS_close_range, 0u, UINT_MAX, OPENER_UNSHARE) == 0)
		return 0;
	if (unshare(CLONE_FILES))
		return -errno;
	return opener_each(opener_close);
}

/* ---- the thread ---- */

static int opener_begin(void)
{
	int fd = opener_status(), code;
	uint64_t n_filters = fd < 0 ? UINT64_MAX : opener_n_filters(fd);

	if (fd < 0)
		return ktr_error_set(&opener_why, errno, "/proc/thread-self/status: %s", strerror(errno));
	close(fd);
	if (n_filters > opener_work.n_filters)
		return ktr_error_set(&opener_why, EPERM,
				     "the program has a filter of system calls, seccomp(2), which may end it for that");
	code = opener_each(opener_is_queue);
	if (code == -EBUSY)
		return ktr_error_set(&opener_why, EBUSY, "the program has a message queue open, mq_open(3)");
	code = code ? code : opener_own_table();
	if (code)
		return ktr_error_set(&opener_why, -code, "a table of descriptors of its own: %s", strerror(-code));
	opener_status_fd = opener_status();
	code = ktr__opener_may() ? opener_work.first() : -EPERM;
	return code ? ktr_error_set(&opener_why, -code, "%s: %s", opener_work.what, strerror(-code)) : 0;
}

static void opener_state_set(uint32_t state)
{
	__atomic_store_n(&opener_state, state, __ATOMIC_SEQ_CST);
	opener_wake(&opener_state);
}

static void *opener_main(void *unused)
{
	uint32_t begins = OPENER_BEGINS;
	int code = opener_begin();

	if (code || !__atomic_compare_exchange_n(&opener_state, &begins, OPENER_RUNS, false, __ATOMIC_SEQ_CST,
						 __ATOMIC_SEQ_CST)) {
		opener_state_set(OPENER_FAILED);
		return unused;
	}
	opener_wake(&opener_state);
	while (__atomic_load_n(&opener_state, __ATOMIC_SEQ_CST) == OPENER_RUNS) {
		uint32_t change = __atomic_load_n(&opener_change, __ATOMIC_SEQ_CST);

		opener_work.serve();
		__atomic_store_n(&opener_served, change, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&opener_waits, __ATOMIC_SEQ_CST))
			opener_wake(&opener_served);
		if (__atomic_load_n(&opener_state, __ATOMIC_SEQ_CST) == OPENER_RUNS)
			syscall(SYS_futex, &opener_change, FUTEX_WAIT_PRIVATE, change, NULL, NULL, 0);
	}
	return unused;
}

/* ---- life ---- */

static int opener_create(void)
{
	pthread_attr_t attr;
	sigset_t all, mask;
	int code;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, OPENER_STACK);
	code = pthread_create(&opener_thread, &attr, opener_main, NULL);
	if (!code)
		pthread_setname_np(opener_thread, "ktr-perf");
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return code;
}

static void opener_end(void)
{
	__atomic_store_n(&opener_state, OPENER_ENDS, __ATOMIC_SEQ_CST);
	ktr__opener_wake();
}

int ktr__opener_start(const struct ktr__opener_work *work, struct ktr_error *why)
{
	const struct timespec nap = { 0, OPENER_NAP_NS };
	uint32_t state = OPENER_NONE;
	int code;

	/* One that has never begun may be waiting yet. */
	if (!ktr__agent_runs() ||
	    !__atomic_compare_exchange_n(&opener_state, &state, OPENER_BEGINS, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))
		return ktr_error_set(why, EBUSY, "the thread that opens them has not begun");
	opener_work = *work;
	opener_why = (struct ktr_error)KTR_ERROR_NONE;
	code = opener_create();
	if (code) {
		__atomic_store_n(&opener_state, OPENER_NONE, __ATOMIC_SEQ_CST);
		return ktr_error_set(why, code, "a thread that opens them: %s", strerror(code));
	}
	for (unsigned i = 0; i < OPENER_NAPS; i++)
		if (__atomic_load_n(&opener_state, __ATOMIC_SEQ_CST) == OPENER_BEGINS)
			syscall(SYS_futex, &opener_state, FUTEX_WAIT_PRIVATE, OPENER_BEGINS, &nap, NULL, 0);
	state = OPENER_BEGINS;
	if (__atomic_compare_exchange_n(&opener_state, &state, OPENER_ENDS, false, __ATOMIC_SEQ_CST,
					__ATOMIC_SEQ_CST)) {
		pthread_detach(opener_thread);
		return ktr_error_set(why, ETIMEDOUT, "the thread that opens them does not begin");
	}
	if (state == OPENER_RUNS) {
		__atomic_store_n(&ktr__agent_ends, opener_end, __ATOMIC_RELEASE);
		return 0;
	}
	pthread_join(opener_thread, NULL);
	__atomic_store_n(&opener_state, OPENER_NONE, __ATOMIC_SEQ_CST);
	return ktr_error_set(why, opener_why.code, "%s", opener_why.text);
}

void ktr__opener_stop(void)
{
	__atomic_store_n(&ktr__agent_ends, NULL, __ATOMIC_RELEASE);
	opener_end();
	pthread_join(opener_thread, NULL);
	__atomic_store_n(&opener_state, OPENER_NONE, __ATOMIC_SEQ_CST);
}

void ktr__opener_wake(void)
{
	__atomic_fetch_add(&opener_change, 1, __ATOMIC_SEQ_CST);
	opener_wake(&opener_change);
}

/* By one thread at a time. */
void ktr__opener_wait(uint64_t ns)
{
	const struct timespec nap = { 0, OPENER_NAP_NS };
	uint32_t change = __atomic_load_n(&opener_change, __ATOMIC_SEQ_CST), served;

	__atomic_store_n(&opener_waits, true, __ATOMIC_SEQ_CST);
	for (uint64_t naps = ns / OPENER_NAP_NS; naps && ktr__opener_runs(); naps--) {
		served = __atomic_load_n(&opener_served, __ATOMIC_SEQ_CST);
		if ((int32_t)(served - change) >= 0)
			break;
		syscall(SYS_futex, &opener_served, FUTEX_WAIT_PRIVATE, served, &nap, NULL, 0);
	}
	__atomic_store_n(&opener_waits, false, __ATOMIC_SEQ_CST);
}

bool ktr__opener_runs(void)
{
	return __atomic_load_n(&opener_state, __ATOMIC_ACQUIRE) == OPENER_RUNS;
}

void ktr__opener_forked(void)
{
	__atomic_store_n(&ktr__agent_ends, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&opener_state, OPENER_NONE, __ATOMIC_SEQ_CST);
	opener_status_fd = -1;
}
