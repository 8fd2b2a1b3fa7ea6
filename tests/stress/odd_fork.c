/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Odd lives: children. fork with and without exec, children that leave by exit() and by _exit(), a child
 * of a program whose other threads are in the middle of something, vfork.
 */
#include "tests/stress/odd.h"

#include <ktr.h>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void fork_wait(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		exit(1);
}

static void fork_children_run(void)
{
	char *argv[] = { (char *)(uintptr_t)"odd", (char *)(uintptr_t)"--run",
			 (char *)(uintptr_t)"fork_exec", NULL };
	pid_t pid;

	CTR1(KTR_GEN, "before %d", 0);
	for (int i = 0; i < 5; i++) {
		pid = fork();
		if (!pid) {
			CTR2(KTR_GEN, "child %d pid %d", i, (int)getpid());
			if (i & 1)
				_exit(0);
			exit(0);
		}
		fork_wait(pid);
		CTR1(KTR_GEN, "after %d", i);
	}
	pid = fork();
	if (!pid) {
		CTR0(KTR_GEN, "about to exec");
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	fork_wait(pid);
}

static void fork_children_check(void)
{
	const struct odd_event *before = odd_find("before %d"), *child = odd_find("child %d pid %d");
	struct ktr_thread_row mine, theirs;

	ODD_CHECK(odd_count("before %d") == 1);
	ODD_CHECK(odd_counts_up("child %d pid %d", 0, 5));
	ODD_CHECK(odd_counts_up("after %d", 0, 5));
	ODD_CHECK(odd_count("about to exec") == 1);
	ODD_CHECK(odd_count("exec'ed %d") == 1);
	ODD_CHECK(odd_count("process %d forked from %d") == 6);
	/* Two programs started, five were forked; exec replaces the sixth. */
	ODD_CHECK(odd_count("process %d started: %s") == 2);
	if (before && child && odd_thread_row(before, &mine) && odd_thread_row(child, &theirs)) {
		ODD_CHECK(mine.pid != theirs.pid);
		ODD_CHECK(mine.proc != theirs.proc);
		ODD_CHECK(theirs.pid == child->entry.arg[1]);
	} else {
		ODD_CHECK(!"the rows of both threads are there");
	}
}
ODD_CASE(fork_children, fork_children_run, fork_children_check);

static void fork_exec_run(void)
{
	CTR1(KTR_GEN, "exec'ed %d", (int)getpid());
}

static void fork_exec_check(void)
{
	ODD_CHECK(odd_count("exec'ed %d") == 1);
}
ODD_CASE(fork_exec, fork_exec_run, fork_exec_check);

/* A child that ends by exit() must leave the session to its parent, which is not asked to stay. */
static void fork_owner_run(void)
{
	const char *dir = getenv("KTR_DIR");
	char name[64], path[512], *argv[] = { (char *)(uintptr_t)"odd", (char *)(uintptr_t)"--run",
					      (char *)(uintptr_t)"fork_owner", NULL };
	pid_t pid;

	if (getenv("KTR_KEEP_SESSION")) {
		snprintf(name, sizeof(name), "odd-fork-owner-%d", (int)getpid());
		setenv("KTR_SESSION", name, 1);
		unsetenv("KTR_KEEP_SESSION");
		pid = fork();
		if (!pid) {
			execv("/proc/self/exe", argv);
			_exit(127);
		}
		fork_wait(pid);
		return;
	}
	snprintf(path, sizeof(path), "%s/ktr-%u/%s.ktr", dir ? dir : "/dev/shm", (unsigned)geteuid(),
		 getenv("KTR_SESSION"));
	odd_fact[0] = access(path, F_OK) == 0;
	for (int i = 0; i < 3; i++) {
		pid = fork();
		if (!pid) {
			CTR0(KTR_GEN, "a short life");
			exit(0);
		}
		fork_wait(pid);
	}
	odd_fact[1] = access(path, F_OK) == 0;
}

static void fork_owner_check(void)
{
	ODD_CHECK(odd_fact[0] == 1);
	ODD_CHECK(odd_fact[1] == 1);
}
ODD_CASE(fork_owner, fork_owner_run, fork_owner_check);

/*
 * A thread that holds the loader's lock whenever it can: a child is made of one thread only, and nobody
 * there would ever unlock it.
 */
static int fork_busy;

static int fork_look(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)info, (void)size, (void)context;
	__atomic_store_n(&fork_busy, 1, __ATOMIC_RELEASE);
	for (volatile int i = 0; i < 20000; i++)
		;
	return 0;
}

static void *fork_loader(void *argument)
{
	while (!__atomic_load_n((int *)argument, __ATOMIC_RELAXED)) {
		dl_iterate_phdr(fork_look, NULL);
		CTR0(KTR_GEN, "looked");
	}
	return NULL;
}

static void fork_locked_run(void)
{
	int stop = 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, fork_loader, &stop))
		exit(1);
	while (!__atomic_load_n(&fork_busy, __ATOMIC_ACQUIRE))
		;
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (!pid) {
			alarm(120); /* a child that hangs is killed, and the program fails */
			CTR1(KTR_GEN, "child of locked %d", i);
			_exit(0);
		}
		fork_wait(pid);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

static void fork_locked_check(void)
{
	ODD_CHECK(odd_counts_up("child of locked %d", 0, 20));
}
ODD_CASE(fork_locked, fork_locked_run, fork_locked_check);

/* Many children, one after the other, that leave without a word: what they held must be free again. */
#define FORK_MANY 150 /* more than the 128 rings of the path without restartable sequences */

static void fork_many_run(void)
{
	for (int i = 0; i < FORK_MANY; i++) {
		pid_t pid = fork();

		if (!pid) {
			CTR1(KTR_GEN, "one of many %d", i);
			if (i % 3)
				_exit(0);
			raise(SIGKILL);
		}
		waitpid(pid, NULL, 0);
	}
}

static void fork_many_check(void)
{
	ODD_CHECK(odd_counts_up("one of many %d", 0, FORK_MANY));
	ODD_CHECK(odd_control.drop_no_ring == 0);
}
ODD_CASE(fork_many, fork_many_run, fork_many_check);

/*
 * vfork: the child's events are dropped and counted. Not under a sanitizer that brings a vfork of
 * its own: ktr's is not linked in then.
 */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define VFORK_EVENTS  100

static void vfork_handler(int sig)
{
	(void)sig;
	CTR1(KTR_GEN, "vfork handler %d", (int)getpid());
}

static void vfork_child(int n)
{
	for (int i = 0; i < VFORK_EVENTS; i++) {
		CTR1(KTR_GEN, "vfork child %d", i);
		CTR1(KTR_GEN, "vfork child says %s", "hello");
	}
	if (n == 1)
		raise(SIGUSR1);
}

static void vfork_once(int n)
{
	char *argv[] = { (char *)(uintptr_t)"true", NULL };
	pid_t pid = vfork();

	if (!pid) {
		vfork_child(n);
		if (n == 2)
			execv("/bin/true", argv);
		_exit(0);
	}
	fork_wait(pid);
}

static void vfork_run(void)
{
	signal(SIGUSR1, vfork_handler);
	for (int i = 0; i < 3; i++) {
		vfork_once(i);
		CTR1(KTR_GEN, "vfork parent %d", i);
		CTR1(KTR_GEN, "vfork parent says %s", "hello");
	}
	/* system(3) and posix_spawn(3) stand on the same system call. */
	if (system("true"))
		exit(1);
	CTR0(KTR_GEN, "after system");
}

static void vfork_check(void)
{
	ODD_CHECK(odd_count("vfork child %d") == 0);
	ODD_CHECK(odd_count("vfork child says %s") == 0);
	ODD_CHECK(odd_count("vfork handler %d") == 0);
	ODD_CHECK(odd_counts_up("vfork parent %d", 0, 3));
	ODD_CHECK(odd_count("vfork parent says %s") == 3);
	ODD_CHECK(odd_count("after system") == 1);
	ODD_CHECK(odd_control.drop_vfork == 3 * 2 * VFORK_EVENTS + 1);
}
ODD_CASE(vfork, vfork_run, vfork_check);
#endif
