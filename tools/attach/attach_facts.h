/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc tells of a process that is to be attached to, and of us: all that decides whether that can be. */
#ifndef TOOLS_ATTACH_FACTS_H
#define TOOLS_ATTACH_FACTS_H

#include <stdint.h>
#include <sys/types.h>

/* How a program is linked, as far as its mappings tell. */
enum attach_libc {
	ATTACH_LIBC_UNKNOWN,
	ATTACH_LIBC_GLIBC,
	ATTACH_LIBC_MUSL,
	ATTACH_LIBC_NONE
};

struct attach_facts {
	pid_t pid;
	int there;
	char name[16];
	char state;        /* as in /proc/PID/status: R, S, D, T, t, Z, X */
	long uid, our_uid; /* effective */
	pid_t tracer;
	char tracer_name[16];
	long seccomp;   /* 0, 1: strict, 2: a filter */
	int yama;       /* kernel.yama.ptrace_scope; 0 where there is none */
	int may_ptrace; /* we have CAP_SYS_PTRACE */
	int undumpable; /* its files in /proc are not its user's */
	int is_notified; /* a message queue is to notify it, mq_notify(3) */
	int other_user, other_pid, other_mount; /* its namespace of that kind is not ours */
	char root[256]; /* its root directory, if that is not ours; else "" */
	enum attach_libc libc;
	int is_32bit;
	int other_machine;
	int has_agent; /* it is there already */
	int is_kernel; /* it is one of the kernel's threads */
	long threads;
	int is_looked_at; /* the caller's: no agent goes into it (attach_refuse.h) */
};

/* proc: "/proc", or a folder that looks like it. our_uid and all else are of that folder's "self". */
void attach_facts(const char *proc, pid_t pid, struct attach_facts *facts);

#endif
