/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs to be profiled, which know nothing of it; built without frame pointers. Each prints "THREAD-ID ns" of
 * CPU time for its threads, as they know it themselves, or what else it counts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
static uint64_t main_ns; /* the main thread's time before main() is the loader's, and that of who looks at it */

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Until the thread has used so much. */
__attribute__((noinline)) void burn(uint64_t ms)
{
	uint64_t end = cpu_ns() + ms * 1000000;

	while (cpu_ns() < end)
		for (int i = 0; i < 20000; i++)
			sink += (uint64_t)i * (uint64_t)i;
}

static void tell(void)
{
	printf("%d %llu\n", gettid(), (unsigned long long)(cpu_ns() - (gettid() == getpid() ? main_ns : 0)));
}

static void *share(void *ms)
{
	burn((uint64_t)(uintptr_t)ms);
	tell();
	return NULL;
}

/* One that is busy, one that is at a third, one at a tenth of it. */
static int shares(void)
{
	static const uintptr_t ms[] = { 300, 100, 30 };
	pthread_t thread[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, share, (void *)ms[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* Threads that live for two periods or so. */
static int moments(void)
{
	pthread_t thread;

	for (int i = 0; i < 200; i++) {
		pthread_create(&thread, NULL, share, (void *)(uintptr_t)2);
		pthread_join(thread, NULL);
	}
	return 0;
}

/* ---- a stack that is to be whole ---- */

__attribute__((noinline)) void innermost(void)
{
	burn(150);
	sink++;
}

static void handler(int number)
{
	(void)number;
	innermost();
	sink++;
}

__attribute__((noinline)) int compare(const void *a, const void *b)
{
	static int once;

	if (!once++)
		raise(SIGUSR1);
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) void sorts(void)
{
	int number[] = { 3, 1, 2 };

	qsort(number, 3, sizeof(number[0]), compare);
	sink += (uint64_t)number[0];
}

/* A frame whose size is known when it runs, aligned: goes by rbp. */
__attribute__((noinline)) void aligned(unsigned n)
{
	char bytes[n] __attribute__((aligned(64)));

	memset(bytes, 1, n);
	sorts();
	sink += (uint64_t)bytes[n - 1];
}

__attribute__((noinline)) void deep(unsigned n)
{
	if (n)
		deep(n - 1);
	else
		burn(50);
	sink++;
}

static int stack(void)
{
	static char signal_stack[65536];
	stack_t other = { .ss_sp = signal_stack, .ss_size = sizeof(signal_stack) };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	sigaltstack(&other, NULL);
	sigaction(SIGUSR1, &action, NULL);
	aligned(100);
	deep(300);
	return 0;
}

/* ---- a program's own signals and timers ---- */

static volatile sig_atomic_t n_prof, n_own;

static void on_prof(int number)
{
	(void)number;
	n_prof++;
}

static void on_own(int number)
{
	(void)number;
	n_own++;
}

static int own(void)
{
	struct itimerval each = { { 0, 10000 }, { 0, 10000 } };
	struct itimerspec every = { { 0, 10000000 }, { 0, 10000000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3 };
	timer_t timer;

	signal(SIGPROF, on_prof);
	signal(SIGRTMIN + 3, on_own);
	timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer);
	timer_settime(timer, 0, &every, NULL);
	setitimer(ITIMER_PROF, &each, NULL);
	burn(300);
	printf("SIGPROF %s own %s\n", n_prof >= 3 ? "came" : "did not come", n_own >= 3 ? "came" : "did not come");
	return 0;
}

/* All signals are blocked for a while, as around fork(2). */
static int blocked(void)
{
	sigset_t all, before;

	burn(20);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	burn(200);
	sigprocmask(SIG_SETMASK, &before, NULL);
	tell();
	return 0;
}

static void *blocked_thread(void *unused)
{
	(void)unused;
	burn(100);
	tell();
	return NULL;
}

/* A daemon's thread, which has its maker's mask. */
static int daemon_thread(void)
{
	pthread_t thread;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_create(&thread, NULL, blocked_thread, NULL);
	pthread_join(thread, NULL);
	return 0;
}

static void *sends(void *unused)
{
	burn(50);
	kill(getpid(), SIGUSR1);
	return unused;
}

/* A daemon's main thread waits for whatever comes: prints what came, in each way of waiting. */
static int waits(void)
{
	struct timespec none = { 0, 0 };
	struct signalfd_siginfo read_info = { 0 };
	siginfo_t info = { 0 };
	pthread_t thread;
	sigset_t all;
	int number = 0, fd;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	burn(50);
	printf("%d", sigtimedwait(&all, &info, &none));
	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, sends, NULL);
		burn(20);
		fd = signalfd(-1, &all, SFD_CLOEXEC);
		if (i == 0)
			sigwait(&all, &number);
		else if (i == 1)
			number = sigwaitinfo(&all, &info);
		else if (read(fd, &read_info, sizeof(read_info)) > 0)
			number = (int)read_info.ssi_signo;
		close(fd);
		printf(" %d", number);
		pthread_join(thread, NULL);
	}
	putchar('\n');
	return 0;
}

static int forks(void)
{
	int status = 0;
	pid_t pid = fork();

	main_ns = pid ? main_ns : 0;
	burn(100);
	tell();
	fflush(stdout);
	if (pid == 0)
		_exit(0);
	waitpid(pid, &status, 0);
	return status;
}

/* Each execs the next, with signals on their way. */
static int execs(int n, char *self)
{
	char left[16];

	burn(8);
	if (!n)
		return 0;
	snprintf(left, sizeof(left), "%d", n - 1);
	execl(self, self, "execs", left, NULL);
	return 1;
}

int main(int argc, char **argv)
{
	const char *life = argc > 1 ? argv[1] : "";

	main_ns = cpu_ns();
	setvbuf(stdout, NULL, _IOLBF, 0);
	return strcmp(life, "shares") == 0    ? shares()
	       : strcmp(life, "moments") == 0 ? moments()
	       : strcmp(life, "stack") == 0   ? stack()
	       : strcmp(life, "own") == 0     ? own()
	       : strcmp(life, "blocked") == 0 ? blocked()
	       : strcmp(life, "daemon") == 0  ? daemon_thread()
	       : strcmp(life, "waits") == 0   ? waits()
	       : strcmp(life, "forks") == 0   ? forks()
	       : strcmp(life, "execs") == 0   ? execs(argc > 2 ? atoi(argv[2]) : 0, argv[0])
					      : 2;
}
