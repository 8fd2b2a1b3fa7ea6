/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the scenarios of the host share. A scenario is a function that lives some odd life, records on its way,
 * writes a line now and then, and returns main's exit status, if it returns.
 */
#ifndef STRANGERS_HOST_H
#define STRANGERS_HOST_H

#include "oracle.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FEW  20	 /* events */
#define MANY 200 /* so many that others record at the same time */

extern char *host_path; /* for those that execute themselves */

/* A row for the calling thread of the calling process: asked for anew in each child. */
struct oracle_row *oracle_row(enum oracle_fate fate);
/* Records n events, numbered on; nothing but that: no system call of the host's own. */
void say(struct oracle_row *row, unsigned n);
/* Parent and child: returns in both when both have called it. */
void meet(void);
/* A line of output, by one write(2). */
void tell(const char *line);

/* Something that is none of ktr's doing failed: the cell says so and fails. */
void host_failed(int line) __attribute__((noreturn));
#define MUST(holds) ((holds) ? (void)0 : host_failed(__LINE__))

void reap(pid_t pid, int status); /* waits, and the child's wait status is that */
/* Starts a thread that records n events in a row of its own; joined or not. */
void thread_says(unsigned n);
void become(const char *scenario) __attribute__((noreturn)); /* execve(2) of ourselves */

/* The last process ends by exit(3), and can remove its session: it does. */
void ends_clean(void);
/* The session of a process that lives has its name, whatever became of children. */
void session_stays(void);

/* Readies the process and the calling thread for a sandbox, where the library can do that. */
void ready_for_sandbox(void);

/* born.c: children, however they are made */
int life_plain(void);
int life_child(void);
int life_fork(void);
int life_fork_exit(void);
int life_fork_busy(void);
int life_fork_nested(void);
int life_bare_fork(void);
int life_bare_fork_exit(void);
int life_raw_fork(void);
int life_raw_fork_exit(void);
int life_raw_fork_nested(void);
int life_raw_clone(void);
int life_clone_function(void);
int life_clone_thread(void);
int life_clone_memory(void);
int life_vfork(void);
int life_vfork_exec(void);
int life_vfork_nested(void);
int life_vfork_fork(void);
int life_vfork_abort(void);
int life_spawn(void);
int life_daemon(void);
int life_daemon_twice(void);
int life_daemon_lingers(void);
int life_daemon_closes(void);
int life_exec(void);
int life_exec_thread(void);

/* ends.c: how processes end */
int life_main_exits(void);
int life_main_exits_alone(void);
int life_main_exits_exit(void);
int life_main_exits_killed(void);
int life_raw_exit(void);
int life_raw_exit_alone(void);
int life_raw_exit_exit(void);
int life_raw_exit_killed(void);
int life_raw_exit_thread(void);
int life_fork_main_exits(void);
int life_fork_raw_exit(void);
int life_exit(void);
int life_quick_exit(void);
int life_exit_thread(void);
int life_abort(void);
int life_abort_thread(void);
int life_segv(void);
int life_kill(void);
int life_term(void);

/* moved.c: users, roots, namespaces, descriptors */
int life_setuid(void);
int life_setuid_fork(void);
int life_chroot(void);
int life_chroot_fork(void);
int life_setns(void);
int life_setns_fork(void);
int life_unshare_fork(void);
int life_closefrom(void);
int life_closefrom_all(void);
int life_closefrom_fork(void);

/* sandbox.c: filters of system calls */
int life_seccomp(void);
int life_seccomp_exit(void);
int life_seccomp_migrate(void);
int life_seccomp_thread(void);
int life_seccomp_refuse(void);
int life_seccomp_nosys(void);
int life_seccomp_refuse_all(void);

#endif
