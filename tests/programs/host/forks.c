/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Children that nobody told of, and those whose kernel leaves rseq_cs armed: for forks.sh.
 *
 *	forks HOW N	makes N children one after the other; each records EVENTS times two events of its thread,
 *			as the kernel says it, and a number, and ends; so does the parent in between. Prints how
 *			many events there should be.
 *
 * HOW: fork, _Fork, syscall: by what they are made. armed: by fork(3), with rseq_cs in the child as it was before,
 * as Linux 6.19 leaves it. handler: by fork(3) in a handler of a signal that came in the middle of an event, which
 * goes on in the child. wiped: ends with 0 if MADV_WIPEONFORK empties a child's page. exit: by _Fork(3), and they
 * end by exit(3) after they have asked the library for what only its writer can do. nested: by _Fork(3), and
 * fork(3) in there. thread: by a thread other than the main one. cold: by fork(3) in a handler of a signal that
 * comes in the first event of a thread, before and behind each call there is of the C library, whatever N is.
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS 20

/* glibc 2.34; elsewhere a system call does the same. */
extern pid_t _Fork(void) __attribute__((weak));

static unsigned long recorded;
static int failures;

static void events(int n)
{
	int tid = (int)syscall(SYS_gettid);

	for (int i = 0; i < n; i++) {
		CTR2(KTR_GEN, "by %d: %d", tid, i);
		CTR3(KTR_GEN, "by %d: %d %s", tid, i, "with a text");
	}
}

static pid_t bare_fork(void)
{
#if defined(SYS_fork)
	return (pid_t)syscall(SYS_fork);
#else
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
}

static void reap(pid_t pid, int wanted)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0)
		;
	if (status != wanted << 8) {
		fprintf(stderr, "child %d: status %#x\n", (int)pid, (unsigned)status);
		failures++;
	}
}

/* struct rseq's rseq_cs of this thread; NULL where the C library has registered none. */
#if defined(__x86_64__) || defined(__aarch64__)
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

static volatile unsigned long *rseq_cs(void)
{
	if (!&__rseq_size || !__rseq_size)
		return NULL;
	return (volatile unsigned long *)((char *)__builtin_thread_pointer() + __rseq_offset + 8);
}
#else
static volatile unsigned long *rseq_cs(void)
{
	return NULL;
}
#endif

static unsigned long armed;

/* Registered after the library's, so it runs behind it. */
static void arm_again(void)
{
	volatile unsigned long *cs = rseq_cs();

	if (cs && armed)
		*cs = armed;
}

/* Ends in the child. */
static void child(const char *how)
{
	if (strcmp(how, "exit") == 0) {
		struct ktr_stats stats = { .size = sizeof(stats) };
		struct ktr_error err;

		events(EVENTS);
		if (ktr_flush() != -ESRCH || ktr_stats(&stats) || !ktr_set("debug.ktr.alq_enable", "1", &err))
			_exit(9);
		exit(7);
	}
	if (strcmp(how, "nested") == 0) {
		pid_t pid = fork();

		if (!pid) {
			events(EVENTS);
			_exit(7);
		}
		reap(pid, 7);
	}
	events(EVENTS);
	_exit(failures ? 9 : 7);
}

static void one(const char *how)
{
	volatile unsigned long *cs = rseq_cs();
	int bare = strcmp(how, "syscall") == 0 || !_Fork;
	int told = strcmp(how, "fork") == 0 || strcmp(how, "armed") == 0;
	pid_t pid;

	/* A signal or another thread may have cleared it; it does not happen often. */
	for (int i = 0; i < 20; i++) {
		events(1);
		recorded += 2;
		if (strcmp(how, "armed") || !cs || (armed = *cs) != 0)
			break;
	}
	pid = told ? fork() : bare ? bare_fork() : _Fork();
	if (!pid)
		child(how);
	recorded += 2 * EVENTS * (strcmp(how, "nested") == 0 ? 2 : 1);
	reap(pid, 7);
}

static void *other_thread(void *how)
{
	(void)how;
	one("_Fork");
	return NULL;
}

static volatile sig_atomic_t forked, is_child;
static int forks_wanted;

static void fork_here(int signo)
{
	pid_t pid;

	(void)signo;
	if (forked >= forks_wanted || is_child)
		return;
	forked++;
	pid = fork();
	if (!pid)
		is_child = 1;
	else
		reap(pid, 7);
}

/* The parent's events and the children's: how many the former were is known to it alone. */
static void in_handlers(int n)
{
	struct itimerval every = { { 0, 500 }, { 0, 500 } };

	forks_wanted = n;
	signal(SIGALRM, fork_here);
	setitimer(ITIMER_REAL, &every, NULL);
	/* Mostly in the middle of an event, but no more of them than rings hold. */
	while (forked < n && !is_child) {
		int before = forked;

		for (int i = 0; i < 1000 && forked == before && !is_child; i++)
			events(1);
		while (forked == before && !is_child)
			;
	}
	if (is_child) {
		events(EVENTS);
		_exit(7);
	}
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_REAL, &every, NULL);
}

/* What the library calls while it records the first event of a thread: the signal comes at one of these places. */
static __thread int cold_place;

static void cold_here(void)
{
	if (cold_place && --cold_place == 0)
		raise(SIGALRM);
}

#define COLD_CALL(type, name, parameters, ...) \
	type name parameters;                  \
	type name parameters                   \
	{                                      \
		long got;                      \
					       \
		cold_here();                   \
		got = syscall(__VA_ARGS__);    \
		cold_here();                   \
		return (type)got;              \
	}

COLD_CALL(pid_t, gettid, (void), SYS_gettid)
COLD_CALL(int, madvise, (void *at, size_t bytes, int advice), SYS_madvise, at, bytes, advice)
COLD_CALL(int, mprotect, (void *at, size_t bytes, int how), SYS_mprotect, at, bytes, how)

int prctl(int what, ...)
{
	unsigned long word[4];
	va_list args;
	int got;

	va_start(args, what);
	for (int i = 0; i < 4; i++)
		word[i] = va_arg(args, unsigned long);
	va_end(args);
	cold_here();
	got = (int)syscall(SYS_prctl, what, word[0], word[1], word[2], word[3]);
	cold_here();
	return got;
}

static int cold_left; /* the places there were had been passed */

static void *cold_thread(void *place)
{
	cold_place = *(const int *)place;
	events(1);
	cold_left = cold_place;
	cold_place = 0;
	if (is_child) {
		events(EVENTS);
		_exit(7);
	}
	return NULL;
}

/* A thread for each place, and a child that goes on in the middle of its first event. */
static int in_first_events(void)
{
	int place = 0;

	signal(SIGALRM, fork_here);
	forks_wanted = 1000;
	do {
		pthread_t thread;

		place++;
		if (pthread_create(&thread, NULL, cold_thread, &place))
			return 1;
		pthread_join(thread, NULL);
		recorded += cold_left ? 2 : 2 * (2 + EVENTS);
	} while (!cold_left);
	return 0;
}

static int not_wiped(void)
{
	char *page = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (page == MAP_FAILED)
		return 1;
	*page = 1;
	madvise(page, 65536, MADV_WIPEONFORK);
	pid = fork();
	if (!pid)
		_exit(7 + *page);
	reap(pid, 7);
	return failures != 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "fork";
	int n = argc > 2 ? atoi(argv[2]) : 1;

	if (strcmp(how, "wiped") == 0)
		return not_wiped();

	pthread_atfork(NULL, NULL, arm_again);
	if (strcmp(how, "handler") == 0)
		in_handlers(n);
	if (strcmp(how, "cold") == 0 && in_first_events())
		return 1;
	for (int i = 0; i < n && strcmp(how, "handler") && strcmp(how, "cold"); i++) {
		pthread_t thread;

		if (strcmp(how, "thread")) {
			one(how);
			continue;
		}
		if (pthread_create(&thread, NULL, other_thread, NULL))
			return 1;
		pthread_join(thread, NULL);
	}
	printf("%lu\n", recorded);
	return failures ? 1 : 0;
}
