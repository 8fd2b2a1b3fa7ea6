/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that go into no ring, for tests/cli/session/losses.sh, made on purpose. It says at its end how many events
 * it has made, and how many of them can have gone nowhere.
 *
 *	losses MODE [killed]
 *
 *	vfork		in a child of vfork(2)
 *	no_ring		in more threads than there are rings, which all live
 *	closed		in a child that a sandboxed parent has: nobody may ask who that is
 *
 * killed: ends by SIGKILL, when all that is said.
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 300

static unsigned made, nowhere;

static void one(void)
{
	CTR1(KTR_GEN, "made %d", (int)made);
	made++;
}

static void in_vfork(void)
{
	pid_t pid = vfork();
	int status;

	if (pid == 0) {
		for (int i = 0; i < 3; i++)
			one();
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0)
		;
	nowhere = 3;
}

/* ---- threads ---- */

static pthread_barrier_t all;

static void *thread(void *unused)
{
	CTR0(KTR_GEN, "made by a thread");
	pthread_barrier_wait(&all);
	return unused;
}

static void in_threads(void)
{
	pthread_t id[THREADS];

	pthread_barrier_init(&all, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&id[i], NULL, thread, NULL))
			exit(77);
	pthread_barrier_wait(&all);
	for (int i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	made += THREADS;
}

/* ---- a child that cannot be of the session ---- */

static void in_sandbox(void)
{
	pid_t pid;
	int status;

	if (ktr_sandbox())
		exit(77);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 5; i++)
			one();
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0)
		;
	made += 5;
	nowhere = 5;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	one();
	if (strcmp(mode, "vfork") == 0)
		in_vfork();
	else if (strcmp(mode, "no_ring") == 0)
		in_threads();
	else if (strcmp(mode, "closed") == 0)
		in_sandbox();
	printf("%u %u\n", made, nowhere);
	fflush(stdout);
	if (argc > 2) {
		ktr_flush();
		kill(getpid(), SIGKILL);
	}
	return 0;
}
