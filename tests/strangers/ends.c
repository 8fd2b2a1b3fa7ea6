/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How processes end, their main thread before the others or not, and by which signal.
 */
#include "host.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum end_of_last { END_RETURN, END_EXIT, END_KILLED };

static pthread_t end_main;

static void *end_last(void *argument)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);
	int how = (int)(intptr_t)argument;

	say(row, FEW);
	MUST(pthread_join(end_main, NULL) == 0);
	say(row, MANY);
	tell("last\n");
	switch (how) {
	case END_EXIT:
		exit(9);
	case END_KILLED:
		kill(getpid(), SIGTERM);
		for (;;)
			pause();
	default:
		return NULL;
	}
}

static void end_begin(int how)
{
	pthread_t thread;

	say(oracle_row(ORACLE_KEPT), FEW);
	end_main = pthread_self();
	if (how >= 0)
		MUST(pthread_create(&thread, NULL, end_last, (void *)(intptr_t)how) == 0);
	tell("main\n");
}

static int end_main_exits(int how)
{
	end_begin(how);
	pthread_exit(NULL);
}

int life_main_exits(void)
{
	return end_main_exits(END_RETURN);
}

int life_main_exits_alone(void)
{
	return end_main_exits(-1);
}

int life_main_exits_exit(void)
{
	return end_main_exits(END_EXIT);
}

int life_main_exits_killed(void)
{
	return end_main_exits(END_KILLED);
}

/* As programs without a C library end their threads: its word is cleared, but nobody has counted it. */
static int end_raw_exit(int how)
{
	end_begin(how);
	syscall(SYS_exit, 7);
	return 1;
}

int life_raw_exit(void)
{
	return end_raw_exit(END_RETURN);
}

int life_raw_exit_alone(void)
{
	return end_raw_exit(-1);
}

int life_raw_exit_exit(void)
{
	return end_raw_exit(END_EXIT);
}

int life_raw_exit_killed(void)
{
	return end_raw_exit(END_KILLED);
}

static void *end_raw_thread(void *unused)
{
	(void)unused;
	say(oracle_row(ORACLE_KEPT), FEW);
	syscall(SYS_exit, 0);
	return NULL;
}

/* Another thread than the first: its end is seen by no handler. */
int life_raw_exit_thread(void)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);
	pthread_t thread;

	for (int i = 0; i < 8; i++) {
		MUST(pthread_create(&thread, NULL, end_raw_thread, NULL) == 0);
		MUST(pthread_join(thread, NULL) == 0);
		say(row, FEW);
	}
	tell("end\n");
	return 0;
}

/* A child whose only thread ends, so that its process does. */
static int end_child(bool raw)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);

	for (int i = 0; i < 2; i++) {
		pid_t pid;

		say(row, FEW);
		pid = fork();
		if (pid == 0) {
			say(oracle_row(ORACLE_KEPT), FEW);
			if (raw)
				syscall(SYS_exit, 0);
			pthread_exit(NULL);
		}
		reap(pid, 0);
	}
	tell("end\n");
	return 0;
}

int life_fork_main_exits(void)
{
	return end_child(false);
}

int life_fork_raw_exit(void)
{
	return end_child(true);
}

int life_exit(void)
{
	say(oracle_row(ORACLE_KEPT), MANY);
	tell("end\n");
	_exit(8);
}

int life_quick_exit(void)
{
	say(oracle_row(ORACLE_KEPT), MANY);
	tell("end\n");
	quick_exit(8);
}

static void *end_exits(void *unused)
{
	ends_clean();
	(void)unused;
	say(oracle_row(ORACLE_KEPT), FEW);
	exit(9);
}

int life_exit_thread(void)
{
	pthread_t thread;

	say(oracle_row(ORACLE_KEPT), FEW);
	MUST(pthread_create(&thread, NULL, end_exits, NULL) == 0);
	pthread_join(thread, NULL);
	return 1;
}

int life_abort(void)
{
	say(oracle_row(ORACLE_KEPT), MANY);
	tell("end\n");
	abort();
}

static void *end_aborts(void *unused)
{
	(void)unused;
	say(oracle_row(ORACLE_KEPT), FEW);
	abort();
}

int life_abort_thread(void)
{
	pthread_t thread;

	say(oracle_row(ORACLE_KEPT), FEW);
	MUST(pthread_create(&thread, NULL, end_aborts, NULL) == 0);
	pthread_join(thread, NULL);
	return 1;
}

int life_segv(void)
{
	volatile int *volatile nowhere = NULL;

	say(oracle_row(ORACLE_KEPT), MANY);
	tell("end\n");
	return *nowhere;
}

int life_kill(void)
{
	say(oracle_row(ORACLE_KEPT), MANY);
	tell("end\n");
	kill(getpid(), SIGKILL);
	return 1;
}

int life_term(void)
{
	say(oracle_row(ORACLE_KEPT), MANY);
	thread_says(FEW);
	tell("end\n");
	kill(getpid(), SIGTERM);
	for (;;)
		pause();
}
