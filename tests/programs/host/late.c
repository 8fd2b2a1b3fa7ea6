/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For late.sh: threads record as fast as they can while their process ends. They count outside of ktr, in a file
 * that is mapped: begun before an event, done behind it. "late FILE HOW [slow]", HOW:
 *
 *	return, exit, quick, _exit, kill	how it ends
 *	one		a single event, when the process is nearly gone
 *	child		exit, of a forked one
 *	joined		a thread records when the writer's has ended, and the library is to notice
 *	other-first	so does another process, which has executed a program; it ends before this one
 *	other-last	the same, which ends behind it
 */
#include <ktr.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3

static struct count {
	_Alignas(64) uint64_t begun;
	uint64_t done;
} *count; /* of THREADS */

static int slow; /* one event in a while: none is overwritten */

static void *loop(void *arg)
{
	struct count *mine = arg;

	for (;;) {
		const struct timespec nap = { 0, 20000 };

		__atomic_store_n(&mine->begun, mine->begun + 1, __ATOMIC_RELEASE);
		CTR1(KTR_GEN, "late %llu", (unsigned long long)mine->begun);
		__atomic_store_n(&mine->done, mine->done + 1, __ATOMIC_RELEASE);
		if (slow)
			nanosleep(&nap, NULL);
	}
	return NULL;
}

static void start(void)
{
	pthread_t thread;

	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&thread, NULL, loop, &count[i]))
			exit(2);
		while (__atomic_load_n(&count[i].done, __ATOMIC_ACQUIRE) < 10)
			sched_yield();
	}
}

static int asked[2], told[2];

/* Once, when it is asked to. */
static void *once(void *unused)
{
	char byte;

	if (read(asked[0], &byte, 1) == 1)
		for (int i = 0; i < 5; i++) {
			count->begun++;
			CTR1(KTR_GEN, "late %d", i);
			count->done++;
		}
	if (write(told[1], "x", 1) == 1)
		pause();
	return unused;
}

static pid_t other_first;

/* Once, when it is asked to, or when who would ask has ended. */
static int other(void)
{
	char byte;

	if (write(STDOUT_FILENO, "x", 1) != 1 || read(STDIN_FILENO, &byte, 1) < 0)
		return 4;
	for (int i = 0; i < 5; i++) {
		count->begun++;
		CTR1(KTR_GEN, "late %d", i);
		count->done++;
	}
	return 0;
}

/* Standard error stays open until it has ended. */
static void start_other(char **argv, int first)
{
	char byte;
	pid_t pid;

	if (pipe(asked) || pipe(told))
		exit(2);
	pid = fork();
	if (!pid) {
		dup2(asked[0], STDIN_FILENO);
		dup2(told[1], STDOUT_FILENO);
		close(asked[1]);
		execl("/proc/self/exe", argv[0], argv[1], "other", (char *)NULL);
		_exit(5);
	}
	if (read(told[0], &byte, 1) != 1)
		exit(2);
	if (first)
		other_first = pid;
}

/* The library's way to wait for the writer's thread (ld --wrap). */
static int joined;
int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);

int __wrap_pthread_join(pthread_t thread, void **result)
{
	int rc = __real_pthread_join(thread, result);
	char byte;

	if (joined && (write(asked[1], "x", 1) != 1 || read(told[0], &byte, 1) != 1))
		_exit(3);
	joined = 0;
	if (other_first && (write(asked[1], "x", 1) != 1 || waitpid(other_first, NULL, 0) != other_first))
		_exit(3);
	other_first = 0;
	return rc;
}

/* Linked in before the library's, so it runs behind that (libktr.a). */
static int one;

__attribute__((destructor(101))) static void last(void)
{
	if (!one)
		return;
	count->begun++;
	CTR1(KTR_GEN, "late %llu", (unsigned long long)count->begun);
	count->done++;
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "";
	int fd = argc > 2 ? open(argv[1], O_RDWR) : -1, status = 0;

	slow = argc > 3;
	count = mmap(NULL, THREADS * sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (count == MAP_FAILED)
		return 2;
	if (strcmp(how, "one") == 0) {
		one = 1;
		return 0;
	}
	if (strcmp(how, "child") == 0) {
		if (fork() == 0) {
			start();
			exit(0);
		}
		wait(&status);
		return status != 0;
	}
	if (strcmp(how, "other") == 0)
		return other();
	if (strncmp(how, "other-", 6) == 0) {
		start_other(argv, strcmp(how, "other-first") == 0);
		return 0;
	}
	if (strcmp(how, "joined") == 0) {
		pthread_t thread;

		joined = 1;
		return pipe(asked) || pipe(told) || pthread_create(&thread, NULL, once, NULL);
	}
	start();
	if (strcmp(how, "exit") == 0)
		exit(0);
	if (strcmp(how, "quick") == 0)
		quick_exit(0);
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	return 0;
}
