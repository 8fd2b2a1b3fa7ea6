/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Children, however they are made. Where a child's memory is its own it records while its parent does, so that two
 * writers on one ring would be noticed.
 */
#include "host.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 4
#define STACK	 (64u << 10) /* [bytes] */

extern char **environ;

/* Where a C library has it: POSIX of 2024. */
__attribute__((weak)) pid_t _Fork(void);

static pid_t by_bare_fork(void)
{
	return _Fork ? _Fork() : fork();
}

static pid_t by_raw_fork(void)
{
#ifdef SYS_fork
	return (pid_t)syscall(SYS_fork);
#else
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
}

static pid_t by_raw_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* Children that end in one of two ways; parent and child record at the same time. */
static int family(pid_t (*make)(void), void (*end)(int))
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);

	ends_clean();
	tell("parent\n");
	say(row, FEW);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = make();

		if (pid == 0) {
			struct oracle_row *mine = oracle_row(ORACLE_KEPT);

			meet();
			say(mine, MANY);
			tell("child\n");
			end(3);
		}
		meet();
		say(row, MANY);
		reap(pid, 3 << 8);
	}
	session_stays();
	say(row, FEW);
	tell("parent again\n");
	return 5;
}

/* A child's child, and a thread of the child's. */
static int generations(pid_t (*make)(void))
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);
	pid_t pid;

	ends_clean();
	say(row, FEW);
	pid = make();
	if (pid == 0) {
		struct oracle_row *mine = oracle_row(ORACLE_KEPT);

		say(mine, FEW);
		pid = make();
		if (pid == 0) {
			meet();
			say(oracle_row(ORACLE_KEPT), MANY);
			tell("grandchild\n");
			_exit(4);
		}
		meet();
		say(mine, MANY);
		reap(pid, 4 << 8);
		thread_says(FEW);
		tell("child\n");
		_exit(3);
	}
	say(row, MANY);
	reap(pid, 3 << 8);
	session_stays();
	thread_says(FEW);
	say(row, FEW);
	tell("parent\n");
	return 0;
}

int life_plain(void)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);

	ends_clean();
	tell("begin\n");
	say(row, MANY);
	thread_says(FEW);
	say(row, FEW);
	tell("end\n");
	return 0;
}

/* What others execute. */
int life_child(void)
{
	say(oracle_row(ORACLE_KEPT), FEW);
	tell("child\n");
	return 3;
}

int life_fork(void)
{
	return family(fork, _exit);
}

int life_fork_exit(void)
{
	return family(fork, exit);
}

int life_fork_nested(void)
{
	return generations(fork);
}

int life_bare_fork(void)
{
	return family(by_bare_fork, _exit);
}

int life_bare_fork_exit(void)
{
	return family(by_bare_fork, exit);
}

int life_raw_fork(void)
{
	return family(by_raw_fork, _exit);
}

int life_raw_fork_exit(void)
{
	return family(by_raw_fork, exit);
}

/* Without threads of a child that no C library knows of: who forks by the raw call must not make any. */
int life_raw_fork_nested(void)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);
	pid_t pid;

	say(row, FEW);
	pid = by_raw_fork();
	if (pid == 0) {
		pid = by_raw_clone();
		if (pid == 0) {
			meet();
			say(oracle_row(ORACLE_KEPT), MANY);
			_exit(4);
		}
		meet();
		say(oracle_row(ORACLE_KEPT), MANY);
		reap(pid, 4 << 8);
		_exit(3);
	}
	say(row, MANY);
	reap(pid, 3 << 8);
	tell("parent\n");
	return 0;
}

int life_raw_clone(void)
{
	return family(by_raw_clone, _exit);
}

/* Threads that record while children are made: in each round they begin together. */
static pthread_barrier_t busy_round;

static void *busy_main(void *unused)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);

	(void)unused;
	for (int i = 0; i < 2 * CHILDREN; i++) {
		pthread_barrier_wait(&busy_round);
		say(row, MANY / 4);
	}
	return NULL;
}

int life_fork_busy(void)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);
	pthread_t thread[2];

	ends_clean();
	MUST(pthread_barrier_init(&busy_round, NULL, 3) == 0);
	for (int i = 0; i < 2; i++)
		MUST(pthread_create(&thread[i], NULL, busy_main, NULL) == 0);
	for (int i = 0; i < 2 * CHILDREN; i++) {
		pid_t pid;

		pthread_barrier_wait(&busy_round);
		pid = fork();
		if (pid == 0) {
			say(oracle_row(ORACLE_KEPT), FEW);
			_exit(0);
		}
		say(row, FEW);
		reap(pid, 0);
	}
	for (int i = 0; i < 2; i++)
		MUST(pthread_join(thread[i], NULL) == 0);
	tell("end\n");
	return 0;
}

static int clone_function(void *unused)
{
	(void)unused;
	say(oracle_row(ORACLE_KEPT), MANY);
	return 3;
}

/* The C library's clone() with memory of the child's own. */
int life_clone_function(void)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);
	char *stack = malloc(STACK);
	pid_t pid;

	ends_clean();
	MUST(stack);
	say(row, FEW);
	pid = clone(clone_function, stack + STACK, SIGCHLD, NULL);
	say(row, MANY);
	reap(pid, 3 << 8);
	tell("end\n");
	free(stack);
	return 0;
}

/* Touches its argument and nothing else: it has neither a thread-local block nor a registration of its own. */
static int clone_silent(void *word)
{
	__atomic_store_n((uint32_t *)word, 1, __ATOMIC_RELEASE);
	return 3;
}

/* Threads made by hand that do not record: they disturb nobody, and nobody them. */
int life_clone_thread(void)
{
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			  CLONE_CHILD_CLEARTID;
	struct oracle_row *row = oracle_row(ORACLE_KEPT);
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t word = 0, alive;
	static uint32_t tid;

	ends_clean();
	MUST(stack != MAP_FAILED);
	for (int i = 0; i < CHILDREN; i++) {
		__atomic_store_n(&tid, 1, __ATOMIC_RELEASE);
		MUST(clone(clone_silent, stack + STACK, flags, &word, NULL, NULL, &tid) > 0);
		say(row, FEW);
		while ((alive = __atomic_load_n(&tid, __ATOMIC_ACQUIRE)) != 0)
			syscall(SYS_futex, &tid, FUTEX_WAIT, alive, NULL, NULL, 0);
		MUST(word == 1);
	}
	say(row, FEW);
	tell("end\n");
	return 0;
}

/* Processes on our memory that do not record. */
int life_clone_memory(void)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);
	char *stack = malloc(STACK);
	uint32_t word = 0;

	ends_clean();
	MUST(stack);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = clone(clone_silent, stack + STACK, CLONE_VM | SIGCHLD, &word);

		say(row, FEW);
		reap(pid, 3 << 8);
		MUST(word == 1);
	}
	tell("end\n");
	free(stack);
	return 0;
}

int life_vfork(void)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);

	ends_clean();
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid;

		say(row, FEW);
		pid = vfork();
		if (pid == 0) {
			say(oracle_row(ORACLE_DROPPED), FEW);
			_exit(3);
		}
		say(row, FEW);
		reap(pid, 3 << 8);
	}
	tell("end\n");
	return 0;
}

int life_vfork_exec(void)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);
	pid_t pid;

	ends_clean();
	say(row, FEW);
	pid = vfork();
	if (pid == 0) {
		say(oracle_row(ORACLE_DROPPED), FEW);
		become("child");
	}
	say(row, FEW);
	reap(pid, 3 << 8);
	tell("end\n");
	return 0;
}

/* A vfork child that makes one in its turn. All are in one frame, which nobody leaves. */
int life_vfork_nested(void)
{
	struct oracle_row *volatile row = oracle_row(ORACLE_KEPT);
	volatile pid_t pid, inner;

	ends_clean();
	for (volatile int i = 0; i < CHILDREN; i++) {
		say(row, FEW);
		pid = vfork();
		if (pid == 0) {
			struct oracle_row *volatile mine = oracle_row(ORACLE_DROPPED);

			say(mine, FEW);
			inner = vfork();
			if (inner == 0) {
				say(oracle_row(ORACLE_DROPPED), FEW);
				_exit(4);
			}
			/* Its parent still waits: nothing has changed for this one. */
			say(mine, FEW);
			reap(inner, 4 << 8);
			say(mine, FEW);
			_exit(3);
		}
		say(row, FEW);
		reap(pid, 3 << 8);
	}
	tell("end\n");
	return 0;
}

/* A vfork child that forks: the grandchild has memory of its own, a copy of what was lent. */
int life_vfork_fork(void)
{
	struct oracle_row *volatile row = oracle_row(ORACLE_KEPT);
	volatile pid_t pid, inner;

	say(row, FEW);
	pid = vfork();
	if (pid == 0) {
		struct oracle_row *volatile mine = oracle_row(ORACLE_DROPPED);

		say(mine, FEW);
		inner = by_raw_fork();
		if (inner == 0) {
			say(oracle_row(ORACLE_EITHER), FEW);
			_exit(4);
		}
		say(mine, FEW);
		reap(inner, 4 << 8);
		_exit(3);
	}
	say(row, FEW);
	reap(pid, 3 << 8);
	tell("end\n");
	return 0;
}

/* Signal handlers of the parent's run in its memory; what they are is the child's own. */
int life_vfork_abort(void)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);
	int status;
	pid_t pid;

	ends_clean();
	say(row, FEW);
	pid = vfork();
	if (pid == 0) {
		say(oracle_row(ORACLE_DROPPED), FEW);
		abort();
	}
	say(row, FEW);
	MUST(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	tell("end\n");
	return 0;
}

int life_spawn(void)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);
	char self[] = "/proc/self/exe", word[] = "child";
	char *args[] = { host_path, word, NULL };
	pid_t pid;

	ends_clean();
	for (int i = 0; i < 2; i++) {
		say(row, FEW);
		MUST(posix_spawn(&pid, self, NULL, NULL, args, environ) == 0);
		say(row, FEW);
		reap(pid, 3 << 8);
	}
	tell("end\n");
	return 0;
}

/* A parent that ends by _exit(2) is not to be the last one of the session: then it was no clean end. */
static void born_outlive(int gone[2])
{
	char byte;

	close(gone[1]);
	MUST(read(gone[0], &byte, 1) == 0);
	close(gone[0]);
}

int life_daemon(void)
{
	int gone[2];

	ends_clean();
	say(oracle_row(ORACLE_KEPT), FEW);
	tell("before\n");
	MUST(pipe2(gone, O_CLOEXEC) == 0 && daemon(1, 1) == 0);
	born_outlive(gone);
	say(oracle_row(ORACLE_KEPT), MANY);
	thread_says(FEW);
	tell("daemon\n");
	return 6;
}

/* As daemons do it by hand. The first parent has ended before the last one goes on, or not. */
int life_daemon_twice(void)
{
	int gone[2];

	ends_clean();
	say(oracle_row(ORACLE_KEPT), FEW);
	if (fork() > 0)
		exit(2);
	setsid();
	say(oracle_row(ORACLE_KEPT), FEW);
	MUST(pipe2(gone, O_CLOEXEC) == 0);
	if (fork() > 0)
		_exit(0);
	say(oracle_row(ORACLE_KEPT), MANY);
	born_outlive(gone);
	return 6;
}

/* Its exit takes as long as its child lives, which records when the library (libktr.a, at least) has left. */
static int born_left = -1, born_end = -1;

__attribute__((destructor(101))) static void born_linger(void)
{
	char byte = 0;

	if (born_left >= 0)
		MUST(write(born_left, &byte, 1) == 1 && read(born_end, &byte, 1) == 0);
}

int life_daemon_lingers(void)
{
	int left[2], end[2];
	char byte;

	ends_clean();
	say(oracle_row(ORACLE_KEPT), FEW);
	MUST(pipe2(left, O_CLOEXEC) == 0 && pipe2(end, O_CLOEXEC) == 0);
	if (fork() > 0) {
		close(end[1]);
		born_left = left[1];
		born_end = end[0];
		exit(2);
	}
	close(end[0]);
	MUST(read(left[0], &byte, 1) == 1);
	say(oracle_row(ORACLE_KEPT), MANY);
	return 6;
}

/* Which close everything, so that the lowest numbers are those of what is opened next. */
int life_daemon_closes(void)
{
	int fd;

	say(oracle_row(ORACLE_KEPT), FEW);
	tell("before\n");
	if (fork() > 0)
		_exit(0);
	setsid();
	MUST(chdir("/") == 0);
	for (fd = 0; fd < 1024; fd++)
		close(fd);
	fd = open("/dev/null", O_RDWR);
	MUST(fd == 0 && dup(fd) == 1 && dup(fd) == 2);
	say(oracle_row(ORACLE_KEPT), MANY);
	thread_says(FEW);
	fd = open(getenv("STRANGERS_FILE"), O_WRONLY | O_CREAT | O_APPEND, 0600);
	MUST(fd >= 0 && write(fd, "daemon\n", 7) == 7);
	return 6;
}

int life_exec(void)
{
	ends_clean();
	say(oracle_row(ORACLE_KEPT), MANY);
	tell("before\n");
	become("child");
}

static void *exec_main(void *unused)
{
	(void)unused;
	say(oracle_row(ORACLE_KEPT), FEW);
	become("child");
}

/* Not by the main thread, whose id the executing one then has. */
int life_exec_thread(void)
{
	pthread_t thread;

	say(oracle_row(ORACLE_KEPT), MANY);
	MUST(pthread_create(&thread, NULL, exec_main, NULL) == 0);
	pthread_join(thread, NULL);
	return 1;
}
