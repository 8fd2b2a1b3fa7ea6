/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make bench-switch: how long after `ktr sysctl` has returned a class that it switched on is recorded, by a
 * program of eight threads each of which records every 50 us or so. The first event may come before the
 * command returns: the delay is negative then. In the first round the rings get their memory, which is told
 * apart.
 *
 *	switch KTR	KTR: the command
 */
#include <ktr.h>
#include <ktr/ctl.h>
#include <ktr/reader.h>

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SWITCH_THREADS 8
#define SWITCH_ROUNDS  41
#define SWITCH_WAIT_NS 20000000 /* for the first event; what comes later is told as that */

extern char **environ;

static void *switch_work(void *context)
{
	for (int i = 0;; i++) {
		CTR1(KTR_NET, "event %d", i);
		usleep(50);
	}
	return context;
}

/* The program that is switched; it has been forked, and ends with us. */
static void switch_program(void)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i < SWITCH_THREADS; i++)
		if (pthread_create(&thread, NULL, switch_work, NULL))
			_exit(1);
	switch_work(NULL);
}

static int64_t switch_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Runs `ktr sysctl -q -s SESSION SETTINGS`. Returns when it has ended [ns]. */
static int64_t switch_set(const char *ktr, const char *first, const char *second)
{
	char *argv[] = { strdup("ktr"), strdup("sysctl"), strdup("-s"), strdup(ktr_session_name()), strdup(first),
			 second ? strdup(second) : NULL, NULL };
	posix_spawn_file_actions_t actions;
	int status = 1;
	int64_t now;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1, 0);
	if (posix_spawn(&pid, ktr, &actions, NULL, argv, environ) || waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "switch: %s sysctl %s failed\n", ktr, first);
		exit(1);
	}
	now = switch_now();
	posix_spawn_file_actions_destroy(&actions);
	for (int i = 0; argv[i]; i++)
		free(argv[i]);
	return now;
}

/* The time of the oldest event in the rings [ns], or 0. */
static int64_t switch_first(void)
{
	struct ktr_reader *reader;
	int64_t first;

	if (ktr_reader_open(ktr_session_path(), NULL, &reader, NULL))
		return 0;
	first = (int64_t)ktr_reader_info(reader)->first_ns;
	ktr_reader_close(reader);
	return first;
}

static int switch_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	struct timespec wait = { 0, SWITCH_WAIT_NS };
	int64_t delay[SWITCH_ROUNDS], cold, at;
	pid_t pid;

	if (argc != 2)
		return 2;
	pid = fork();
	if (pid == 0)
		switch_program();
	for (int i = 0; i < SWITCH_ROUNDS; i++) {
		nanosleep(&wait, NULL);
		at = switch_set(argv[1], "clear=1", "mask=net");
		nanosleep(&wait, NULL);
		delay[i] = switch_first() - at;
		if (delay[i] == -at)
			fprintf(stderr, "switch: round %d: no event\n", i);
		switch_set(argv[1], "mask=none", NULL);
	}
	kill(pid, SIGKILL);
	cold = delay[0];
	qsort(delay + 1, SWITCH_ROUNDS - 1, sizeof(delay[0]), switch_compare);
	printf("from the end of ktr sysctl to the first event, %d rounds: min %.1f us, median %.1f us, max %.1f us\n",
	       SWITCH_ROUNDS - 1, (double)delay[1] / 1e3, (double)delay[1 + (SWITCH_ROUNDS - 1) / 2] / 1e3,
	       (double)delay[SWITCH_ROUNDS - 1] / 1e3);
	printf("the first time, when rings get their memory: %.1f us\n", (double)cold / 1e3);
	return 0;
}
