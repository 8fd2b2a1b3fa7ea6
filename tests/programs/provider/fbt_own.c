/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fbt_own [THREADS [wait]]: a program with its own versions of what a recorder calls in the C library, each of
 * which goes on to a function of the program's. Threads call them on one CPU after the other. A signal's handler
 * calls a function, too: it comes at any time, and whenever gettid() is called, be it by the recorder. Writes
 * "NAME COUNT" for functions that its threads have called themselves. With -DOWN_LIBRARY only the functions, with
 * -DOWN_PROGRAM only the rest. wait: for a line. 0: all results were right.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
#define C_ extern "C"
#define NO_ throw()
#else
#define C_
#define NO_
#endif
#define STAY_ __attribute__((noinline))
#define ROUNDS 40

C_ long own_step(long n);
C_ int own_handled(int n);
C_ long own_text(const char *text, const char *other);
C_ long region(int round);

#ifdef __cplusplus
extern "C" __thread volatile int own_raises;
#else
extern __thread volatile int own_raises; /* gettid() sends the handler's signal */
#endif

#ifndef OWN_PROGRAM

__thread volatile int own_raises;

/* What is probed, for who is not. */
C_ STAY_ long own_step(long n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

static long ask(long number, long a, long b, long c, long d, long e, long f)
{
	register long four __asm__("r10") = d, five __asm__("r8") = e, six __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall" : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(four), "r"(five), "r"(six)
			 : "rcx", "r11", "memory");
	if (result < 0 && result > -4096) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

C_ void *memcpy(void *to, const void *from, size_t n) NO_
{
	own_step(1);
	for (size_t i = 0; i < n; i++) {
		((char *)to)[i] = ((const char *)from)[i];
		__asm__ volatile("" ::: "memory");
	}
	return to;
}

C_ void *memset(void *to, int c, size_t n) NO_
{
	own_step(2);
	for (size_t i = 0; i < n; i++) {
		((char *)to)[i] = (char)c;
		__asm__ volatile("" ::: "memory");
	}
	return to;
}

C_ size_t strnlen(const char *s, size_t max) NO_
{
	size_t n = 0;

	own_step(3);
	while (n < max && s[n]) {
		n++;
		__asm__ volatile("" ::: "memory");
	}
	return n;
}

C_ void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset) NO_
{
	return (void *)own_step(ask(SYS_mmap, (long)at, (long)n, protection, flags, fd, (long)offset));
}

C_ int munmap(void *at, size_t n) NO_
{
	return (int)own_step(ask(SYS_munmap, (long)at, (long)n, 0, 0, 0, 0));
}

C_ int mprotect(void *at, size_t n, int protection) NO_
{
	return (int)own_step(ask(SYS_mprotect, (long)at, (long)n, protection, 0, 0, 0));
}

C_ int madvise(void *at, size_t n, int advice) NO_
{
	return (int)own_step(ask(SYS_madvise, (long)at, (long)n, advice, 0, 0, 0));
}

C_ int clock_gettime(clockid_t clock, struct timespec *time) NO_
{
	return (int)own_step(ask(SYS_clock_gettime, clock, (long)time, 0, 0, 0, 0));
}

C_ pid_t getpid(void) NO_
{
	return (pid_t)own_step(ask(SYS_getpid, 0, 0, 0, 0, 0, 0));
}

C_ pid_t gettid(void) NO_
{
	long tid = own_step(ask(SYS_gettid, 0, 0, 0, 0, 0, 0));

	if (own_raises)
		ask(SYS_tgkill, ask(SYS_getpid, 0, 0, 0, 0, 0, 0), tid, SIGALRM, 0, 0, 0);
	return (pid_t)tid;
}

C_ int kill(pid_t pid, int signal) NO_
{
	return (int)own_step(ask(SYS_kill, pid, signal, 0, 0, 0, 0));
}

C_ int sched_getcpu(void) NO_
{
	unsigned cpu = 0;

	own_step(ask(SYS_getcpu, (long)&cpu, 0, 0, 0, 0, 0));
	return (int)cpu;
}

C_ int prctl(int option, ...) NO_
{
	va_list list;
	long word;

	va_start(list, option);
	word = va_arg(list, long);
	va_end(list);
	return (int)own_step(ask(SYS_prctl, option, word, 0, 0, 0, 0));
}

C_ long syscall(long number, ...) NO_
{
	long word[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		word[i] = va_arg(list, long);
	va_end(list);
	return own_step(ask(number, word[0], word[1], word[2], word[3], word[4], word[5]));
}

#endif
#ifndef OWN_LIBRARY

#define CALLS 13 /* of own_step(), by a round */

static unsigned long n_handled, n_wrong;

C_ STAY_ int own_handled(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

/* Text is measured by strnlen() when it is recorded. */
C_ STAY_ long own_text(const char *text, const char *other)
{
	__asm__ volatile("" ::"r"(text), "r"(other) : "memory");
	return 1;
}

static void check(int is_right)
{
	if (!is_right)
		__atomic_fetch_add(&n_wrong, 1, __ATOMIC_RELAXED);
}

static void calls(int round)
{
	char text[16], copy[16];
	struct timespec time;
	char *page;

	errno = round;
	memset(text, 'x', sizeof(text));
	memcpy(copy, text, sizeof(copy));
	check(strnlen(copy, sizeof(copy)) == sizeof(copy));
	page = (char *)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0);
	check(madvise(page, 4096, MADV_NORMAL) == 0);
	check(munmap(page, 4096) == 0);
	check(clock_gettime(CLOCK_MONOTONIC, &time) == 0 && time.tv_nsec < 1000000000);
	check(getpid() > 0 && gettid() > 0);
	check(sched_getcpu() >= 0);
	check(kill(getpid(), 0) == 0);
	check(own_text("a text that is recorded", "and another one behind it") == 1);
	check(errno == round);
}

/* Onto the next CPU that there is, from where nobody has recorded yet. */
static void move(int round)
{
	static __thread cpu_set_t all, one; /* compilers clear others by memset() */
	int n = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && n++ == round % CPU_COUNT(&all)) {
			CPU_SET(cpu, &one);
			sched_setaffinity(0, sizeof(one), &one);
			CPU_CLR(cpu, &one);
		}
	own_step(round);
	sched_setaffinity(0, sizeof(all), &all);
}

C_ STAY_ long region(int round)
{
	long n;

	move(round);
	calls(round);
	n = own_step(round);
	__asm__ volatile("" : "+r"(n)); /* it does not go on there */
	return n;
}

static void handler(int signal)
{
	(void)signal;
	own_handled(signal);
	__atomic_fetch_add(&n_handled, 1, __ATOMIC_RELAXED);
}

static void *thread(void *context)
{
	own_raises = 1;
	for (int i = 0; i < ROUNDS; i++)
		region(i);
	own_raises = 0;
	return context;
}

int main(int argc, char **argv)
{
	const struct itimerval each = { { 0, 100 }, { 0, 100 } }, none = { { 0, 0 }, { 0, 0 } };
	int n = argc > 1 ? atoi(argv[1]) : 3;
	struct sigaction action;
	pthread_t id[16];

	if (argc > 2)
		getchar();
	sigemptyset(&action.sa_mask);
	action.sa_flags = SA_RESTART;
	action.sa_handler = handler;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
	for (int i = 0; i < n; i++)
		pthread_create(&id[i], NULL, thread, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(id[i], NULL);
	setitimer(ITIMER_REAL, &none, NULL);
	printf("own_step %d\nown_handled %lu\nregion %d\n", n * ROUNDS * (CALLS + 2), n_handled, n * ROUNDS);
	return n_wrong != 0;
}

#endif
