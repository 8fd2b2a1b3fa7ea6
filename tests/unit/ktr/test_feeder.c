/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who feeds a session's kernel rings: one at a time, whatever the numbers of processes are that lie in the session,
 * in whichever pid namespace, and for as long as it lives.
 */
#include "tests/unit/suite.h"

#include "ktr/control/session_join.h"
#include "ktr/session/session_rw.h"
#include "ktr/provider/kernel/feeder.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];
static struct ktr__session_rw session, again;

static void feeder_open(void)
{
	struct ktr__session_plan plan = { .dir = dir, .name = "feeder", .path = KTR_PATH_THREAD,
					  .clock = KTR_CLOCK_MONOTONIC };
	bool joined;

	strcpy(dir, "/tmp/ktr-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	CU_ASSERT_EQUAL_FATAL(ktr__session_create(&plan, &session, &joined, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ktr__session_join(session.path, &again, NULL), 0);
}

static void feeder_close(void)
{
	ktr__session_detach(&again);
	unlink(session.path);
	ktr__session_detach(&session);
	rmdir(dir);
}

/* Numbers of those who live and do not feed: our parent, and whoever has the number 1. */
static void a_number_is_nobody(void)
{
	uint32_t numbers[] = { 1, 0, (uint32_t)getppid() };
	char *lock;

	feeder_open();
	for (unsigned i = 0; i < 3; i++) {
		session.control->feeder = numbers[i];
		lock = ktr__feeder_claim(&session);
		CU_ASSERT_PTR_NOT_NULL(lock);
		CU_ASSERT_EQUAL(session.control->feeder, (uint32_t)getpid());
		CU_ASSERT_PTR_NULL(ktr__feeder_claim(&again));
		ktr__feeder_release(&session, lock);
		CU_ASSERT_EQUAL(session.control->feeder, 0);
	}
	feeder_close();
}

/* What a child says: 1 it can be the feeder. It holds that until told to end. */
static pid_t child_claims(int *said, int *end)
{
	int to[2], from[2];
	char can = 0;
	pid_t pid;

	CU_ASSERT_FATAL(pipe(to) == 0 && pipe(from) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(to[1]);
		can = ktr__feeder_claim(&again) != NULL;
		if (write(from[1], &can, 1) == 1)
			while (read(to[0], &can, 1) > 0)
				;
		_exit(0);
	}
	close(to[0]);
	CU_ASSERT_EQUAL(read(from[0], &can, 1), 1);
	close(from[0]);
	close(from[1]);
	*said = can;
	*end = to[1];
	return pid;
}

static void child_ends(pid_t pid, int end)
{
	close(end);
	CU_ASSERT_EQUAL(waitpid(pid, NULL, 0), pid);
}

/* A child does not feed with its parent, and keeps nobody from it when the parent has stopped, or it is killed. */
static void one_at_a_time(void)
{
	int said, end, more;
	pid_t pid, other;
	char *lock;

	feeder_open();
	lock = ktr__feeder_claim(&session);
	CU_ASSERT_PTR_NOT_NULL(lock);
	pid = child_claims(&said, &end);
	CU_ASSERT_EQUAL(said, 0);
	ktr__feeder_release(&session, lock);
	other = child_claims(&said, &more);
	CU_ASSERT_EQUAL(said, 1);
	CU_ASSERT_PTR_NULL(ktr__feeder_claim(&session));
	kill(other, SIGKILL);
	child_ends(other, more);
	lock = ktr__feeder_claim(&session);
	CU_ASSERT_PTR_NOT_NULL(lock);
	ktr__feeder_release(&session, lock);
	child_ends(pid, end);
	feeder_close();
}

/* Ours says nothing to a process of another pid namespace, nor its number, 1, to us. */
static void pid_namespaces(void)
{
	int said, end, status;
	pid_t pid, keeper;
	char *lock;

	feeder_open();
	fflush(stdout);
	keeper = fork(); /* whoever asks for a namespace has its children there from then on */
	if (keeper == 0) {
		if (unshare(CLONE_NEWPID) && (unshare(CLONE_NEWUSER) || unshare(CLONE_NEWPID)))
			_exit(77);
		lock = ktr__feeder_claim(&session);
		pid = child_claims(&said, &end);
		if (!lock || said)
			_exit(1);
		child_ends(pid, end);
		_exit(0);
	}
	CU_ASSERT_EQUAL(waitpid(keeper, &status, 0), keeper);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		printf("(skipped: no pid namespaces here) ");
	else
		CU_ASSERT_EQUAL(status, 0);
	feeder_close();
}

SUITE(feeder, TEST(a_number_is_nobody), TEST(one_at_a_time), TEST(pid_namespaces));
