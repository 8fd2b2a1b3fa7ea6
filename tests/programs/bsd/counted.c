/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counted THREADS N [signals | fork | threads] [FILE]: each thread calls functions so many times, the first one
 * more often than the second and so on; then the program says so, and hangs until it is killed, or FILE is there.
 * How often each function is called follows from THREADS and N alone, and is told:
 *
 *	calls FUNCTION N	arc CALLER CALLEE N
 *
 * signals: meanwhile each thread is in a handler most of the time, which counts for itself. fork: a child does the
 * same again. threads: by ten times as many, one after the other.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
#define HERE __asm__ volatile("")
#define MANY 40

#ifndef BARE /* of what counts calls by another way, and is not to count itself */
#define BARE
#endif

KEEP void leaf(void)
{
	HERE;
}

KEEP void middle(void)
{
	leaf();
	HERE;
	leaf();
	HERE;
}

KEEP void deep(unsigned n)
{
	if (n)
		deep(n - 1);
	HERE;
}

/* Called from one place all of them. */
#define TENS(X) X(0) X(1) X(2) X(3)
#define PICK(a, b) KEEP void pick_##a##b(void) { HERE; }
#define TEN(X, a) X(a, 0) X(a, 1) X(a, 2) X(a, 3) X(a, 4) X(a, 5) X(a, 6) X(a, 7) X(a, 8) X(a, 9)
#define PICKS(a) TEN(PICK, a)
TENS(PICKS)
#define NAME(a, b) pick_##a##b,
#define NAMES(a) TEN(NAME, a)
static void (*const picks[MANY])(void) = { TENS(NAMES) };

/* Arguments of all kinds come as they were given. */
KEEP double carries(int a, double x, long b, double y, const char *c, float z, int d, int e, int f, int g)
{
	HERE;
	return a + x + (double)b + y + c[0] + (double)z + d + e + f + g;
}

static unsigned long handled; /* atomic */

KEEP void in_handler(void)
{
	HERE;
}

KEEP void on_signal(int number)
{
	(void)number;
	in_handler();
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

KEEP void work(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) {
		middle();
		if (i % 3 == 0)
			leaf();
		if (i % 100 == 0)
			deep((unsigned)(i % 7));
		picks[i % MANY]();
		if (carries(1, 2.5, 3, 4.5, "0", 6.5f, 7, 8, 9, 10) != 48 + 1 + 2.5 + 3 + 4.5 + 6.5 + 7 + 8 + 9 + 10)
			abort();
	}
}

static int has_signals;

KEEP void *thread(void *argument)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };
	const struct itimerspec every = { { 0, 100000 }, { 0, 100000 } };
	timer_t timer;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (has_signals && (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &every, NULL)))
		abort();
	work((unsigned long)argument);
	if (has_signals)
		timer_delete(timer);
	return NULL;
}

static int n_threads, n_rounds = 1;
static unsigned long n_calls;

static void run(void)
{
	pthread_t id[64];

	for (int k = 0; k < n_rounds; k++) {
		for (int i = 0; i < n_threads; i++)
			if (pthread_create(&id[i], NULL, thread, (void *)(n_calls + (unsigned long)i)))
				abort();
		for (int i = 0; i < n_threads; i++)
			pthread_join(id[i], NULL);
	}
}

static BARE void tell(unsigned long times)
{
	unsigned long all = 0, thirds = 0, hundreds = 0, deeper = 0, pick[MANY] = { 0 };

	for (int k = 0; k < n_threads; k++)
		for (unsigned long i = 0; i < n_calls + (unsigned long)k; i++) {
			all++;
			thirds += i % 3 == 0;
			hundreds += i % 100 == 0;
			deeper += i % 100 == 0 ? i % 7 : 0;
			pick[i % MANY]++;
		}
	printf("calls leaf %lu\ncalls middle %lu\ncalls deep %lu\ncalls carries %lu\n", times * (2 * all + thirds), times * all,
	       times * (hundreds + deeper), times * all);
	printf("calls work %lu\ncalls thread %lu\n", times * (unsigned long)n_threads, times * (unsigned long)n_threads);
	for (int i = 0; i < MANY; i++)
		printf("calls pick_%d%d %lu\narc work pick_%d%d %lu\n", i / 10, i % 10, times * pick[i], i / 10, i % 10,
		       times * pick[i]);
	printf("arc middle leaf %lu\narc work leaf %lu\narc work middle %lu\narc work deep %lu\narc deep deep %lu\n",
	       times * 2 * all, times * thirds, times * all, times * hundreds, times * deeper);
	if (has_signals)
		printf("calls on_signal %lu\ncalls in_handler %lu\narc on_signal in_handler %lu\n", handled, handled, handled);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *how = argc > 3 ? argv[3] : "";
	unsigned long times = 1;
	pid_t pid;

	if (argc < 3)
		return 2;
	n_threads = atoi(argv[1]);
	n_calls = strtoul(argv[2], NULL, 0);
	has_signals = strcmp(how, "signals") == 0;
	if (strcmp(how, "threads") == 0)
		n_rounds = 10;
	if (has_signals)
		signal(SIGALRM, on_signal);
	run();
	if (strcmp(how, "fork") == 0) {
		pid = fork();
		if (!pid) {
			run();
			_exit(0);
		}
		run();
		waitpid(pid, NULL, 0);
		times = 3;
	}
	tell(times * (unsigned long)n_rounds);
	while (argc < 5 || access(argv[4], F_OK))
		pause();
	return 0;
}
