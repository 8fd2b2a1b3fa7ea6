/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host of the matrix: lives the life that its argument names. `host -l` lists the names; those that need
 * root have a mark behind them.
 */
#include "host.h"

#include <ktr.h>
#include <ktr/ctl.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
	const char *name;
	int (*life)(void);
	bool root;
} lives[] = {
	{ "plain", life_plain, false },
	{ "fork", life_fork, false },
	{ "fork-exit", life_fork_exit, false },
	{ "fork-busy", life_fork_busy, false },
	{ "fork-nested", life_fork_nested, false },
	{ "_fork", life_bare_fork, false },
	{ "_fork-exit", life_bare_fork_exit, false },
	{ "raw-fork", life_raw_fork, false },
	{ "raw-fork-exit", life_raw_fork_exit, false },
	{ "raw-fork-nested", life_raw_fork_nested, false },
	{ "raw-clone", life_raw_clone, false },
	{ "clone-function", life_clone_function, false },
	{ "clone-thread", life_clone_thread, false },
	{ "clone-memory", life_clone_memory, false },
	{ "vfork", life_vfork, false },
	{ "vfork-exec", life_vfork_exec, false },
	{ "vfork-nested", life_vfork_nested, false },
	{ "vfork-fork", life_vfork_fork, false },
	{ "vfork-abort", life_vfork_abort, false },
	{ "spawn", life_spawn, false },
	{ "daemon", life_daemon, false },
	{ "daemon-twice", life_daemon_twice, false },
	{ "daemon-lingers", life_daemon_lingers, false },
	{ "daemon-closes", life_daemon_closes, false },
	{ "exec", life_exec, false },
	{ "exec-thread", life_exec_thread, false },
	{ "main-exits", life_main_exits, false },
	{ "main-exits-alone", life_main_exits_alone, false },
	{ "main-exits-exit", life_main_exits_exit, false },
	{ "main-exits-killed", life_main_exits_killed, false },
	{ "raw-exit", life_raw_exit, false },
	{ "raw-exit-alone", life_raw_exit_alone, false },
	{ "raw-exit-exit", life_raw_exit_exit, false },
	{ "raw-exit-killed", life_raw_exit_killed, false },
	{ "raw-exit-thread", life_raw_exit_thread, false },
	{ "fork-main-exits", life_fork_main_exits, false },
	{ "fork-raw-exit", life_fork_raw_exit, false },
	{ "_exit", life_exit, false },
	{ "quick_exit", life_quick_exit, false },
	{ "exit-thread", life_exit_thread, false },
	{ "abort", life_abort, false },
	{ "abort-thread", life_abort_thread, false },
	{ "segv", life_segv, false },
	{ "kill", life_kill, false },
	{ "term", life_term, false },
	{ "setuid", life_setuid, true },
	{ "setuid-fork", life_setuid_fork, true },
	{ "chroot", life_chroot, true },
	{ "chroot-fork", life_chroot_fork, true },
	{ "setns", life_setns, true },
	{ "setns-fork", life_setns_fork, true },
	{ "unshare-fork", life_unshare_fork, true },
	{ "closefrom", life_closefrom, false },
	{ "closefrom-all", life_closefrom_all, false },
	{ "closefrom-fork", life_closefrom_fork, false },
	{ "seccomp", life_seccomp, false },
	{ "seccomp-exit", life_seccomp_exit, false },
	{ "seccomp-migrate", life_seccomp_migrate, false },
	{ "seccomp-thread", life_seccomp_thread, false },
	{ "seccomp-refuse", life_seccomp_refuse, false },
	{ "seccomp-nosys", life_seccomp_nosys, false },
	{ "seccomp-refuse-all", life_seccomp_refuse_all, false },
	{ "child", life_child, false },
};

char *host_path;

void reap(pid_t pid, int status)
{
	int got;

	MUST(pid > 0 && waitpid(pid, &got, __WALL) == pid && got == status);
}

static void *thread_main(void *n)
{
	say(oracle_row(ORACLE_KEPT), (unsigned)(uintptr_t)n);
	return NULL;
}

void thread_says(unsigned n)
{
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, thread_main, (void *)(uintptr_t)n) == 0);
	MUST(pthread_join(thread, NULL) == 0);
}

void become(const char *scenario)
{
	char name[32];
	char *args[] = { host_path, name, NULL };

	snprintf(name, sizeof(name), "%s", scenario);
	execv("/proc/self/exe", args);
	_exit(123);
}

void session_stays(void)
{
#ifndef KTR_OFF
	const char *path = ktr_session_path();

	MUST(!path[0] || access(path, F_OK) == 0);
#endif
}

/* A library that has no such call yet cannot keep the host from what follows. */
void ready_for_sandbox(void)
{
#if !defined(KTR_OFF) && defined(STRANGERS_SANDBOX)
	if (!getenv("KTR_DISABLE"))
		MUST(ktr_sandbox() == 0);
#endif
}

/* Whoever watches from outside shall have begun: waits until nobody holds the other end of a pipe. */
static void gate(void)
{
	const char *path = getenv("STRANGERS_GATE");
	char byte;
	int fd;

	if (!path)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	MUST(fd >= 0 && read(fd, &byte, 1) == 0);
	close(fd);
	unsetenv("STRANGERS_GATE");
}

int main(int argc, char **argv)
{
	host_path = argv[0];
	for (unsigned i = 0; i < sizeof(lives) / sizeof(lives[0]) && argc > 1; i++) {
		if (strcmp(argv[1], "-l") == 0 && lives[i].life != life_child)
			printf("%s%s\n", lives[i].name, lives[i].root ? " root" : "");
		if (strcmp(argv[1], lives[i].name) == 0) {
			gate();
			return lives[i].life();
		}
	}
	return argc > 1 && strcmp(argv[1], "-l") == 0 ? 0 : 124;
}
