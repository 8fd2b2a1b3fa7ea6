/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A job is handed from a thread to another one, from there to another process, and back: KTR_FLOW. Each hand-over
 * takes a millisecond at least. A flow of another name has the same key, and stays on its thread.
 */
#include <ktr.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS = 3 };

static int to_clerk[2], to_other[2], back[2];

static int take(int fd)
{
	int job;

	if (read(fd, &job, sizeof(job)) != sizeof(job))
		_exit(1);
	usleep(1000);
	return job;
}

static void hand(int fd, int job)
{
	usleep(1000);
	if (write(fd, &job, sizeof(job)) != sizeof(job))
		_exit(1);
}

static void *clerk(void *arg)
{
	pthread_setname_np(pthread_self(), "clerk");
	for (int i = 0; i < JOBS; i++) {
		int job = take(to_clerk[0]);
		KTR_SCOPE(KTR_GEN, "copy");

		KTR_FLOW(KTR_GEN, "job", job);
		KTR_FLOW(KTR_GEN, "form", job);
		hand(to_other[1], job);
	}
	return arg;
}

static void other(void)
{
	pthread_setname_np(pthread_self(), "other");
	for (int i = 0; i < JOBS; i++) {
		int job = take(to_other[0]);
		KTR_SCOPE(KTR_GEN, "answer");

		KTR_FLOW(KTR_GEN, "job", job);
		hand(back[1], job);
	}
}

static void ask(int job)
{
	KTR_SCOPE(KTR_GEN, "ask");

	KTR_FLOW(KTR_GEN, "job", job);
	hand(to_clerk[1], job);
	take(back[0]);
	KTR_FLOW(KTR_GEN, "job", job);
	usleep(1000);
}

int main(void)
{
	pthread_t id;
	pid_t child;
	int status = 1;

	if (pipe(to_clerk) || pipe(to_other) || pipe(back) || (child = fork()) < 0)
		return 1;
	if (child == 0) {
		other();
		exit(0);
	}
	pthread_create(&id, NULL, clerk, NULL);
	for (int job = 40; job < 40 + JOBS; job++)
		ask(job);
	pthread_join(id, NULL);
	waitpid(child, &status, 0);
	return status != 0;
}
