/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules of the kernel: ptrace(2), "Ptrace access mode checking", and Documentation/admin-guide/LSM/Yama.rst. */
#include "analyze/task/task_refuse.h"

#include "ktr/provider/syscall/tracee_memory.h"
#include "ktr/provider/syscall/tracee_proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct refuse_facts {
	int is_there;
	char state;
	long tgid, tracer, threads, uid;
};

static long refuse_number(const char *text, const char *name)
{
	const char *at = ktr__tracee_field(text, name);

	return at ? strtol(at, NULL, 10) : 0;
}

static void refuse_facts(pid_t pid, pid_t tid, struct refuse_facts *facts)
{
	char path[64], text[4096];
	const char *state;

	memset(facts, 0, sizeof(*facts));
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)(tid ? tid : pid));
	if (ktr__tracee_text(path, text, sizeof(text)) <= 0)
		return;
	facts->is_there = 1;
	state = ktr__tracee_field(text, "State");
	facts->state = state ? *state : '?';
	facts->tgid = refuse_number(text, "Tgid");
	facts->tracer = refuse_number(text, "TracerPid");
	facts->threads = refuse_number(text, "Threads");
	facts->uid = refuse_number(text, "Uid");
}

static int refuse_is_process(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return access(path, F_OK) == 0;
}

static int refuse_missing(pid_t pid, pid_t tid, struct ktr_error *err)
{
	if (tid && refuse_is_process(pid))
		return ktr_error_set(err, ESRCH, "process %d has no thread %d", (int)pid, (int)tid);
	return ktr_error_set(err, ESRCH, "there is no process %d", (int)pid);
}

static int refuse_ended(pid_t pid, pid_t tid, struct ktr_error *err)
{
	if (tid && tid != pid)
		return ktr_error_set(err, ESRCH, "thread %d of process %d has ended", (int)tid, (int)pid);
	return ktr_error_set(err, ESRCH, "process %d has ended, or its first thread has", (int)pid);
}

int ktr__task_check(pid_t pid, pid_t tid, int is_alive, struct ktr_error *err)
{
	struct refuse_facts facts;

	if (pid <= 0 || tid < 0)
		return ktr_error_set(err, EINVAL, "%d is no number of a %s", (int)(pid <= 0 ? pid : tid),
				     pid <= 0 ? "process" : "thread");
	if (pid == getpid())
		return ktr_error_set(err, EINVAL, "process %d is the one that asks", (int)pid);
	refuse_facts(pid, tid, &facts);
	if (!facts.is_there)
		return refuse_missing(pid, tid, err);
	if (facts.tgid != pid)
		return ktr_error_set(err, ESRCH, "%d is no process, but a thread of process %ld", (int)pid, facts.tgid);
	if (is_alive && strchr("ZXx", facts.state) && (tid || facts.threads < 2))
		return refuse_ended(pid, tid, err);
	return 0;
}

static long refuse_yama(void)
{
	char text[32];

	return ktr__tracee_text("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text)) > 0 ? strtol(text, NULL, 10) : 0;
}

static int refuse_forbidden(pid_t pid, const struct refuse_facts *facts, struct ktr_error *err)
{
	char name[16] = "?";
	long yama = refuse_yama();
	int is_others = facts->uid != (long)geteuid();

	/* Another user's it is, whoever traces it; but to root that is no reason. */
	if (is_others && geteuid() != 0)
		return ktr_error_set(err, EPERM, "process %d is user %ld's", (int)pid, facts->uid);
	if (facts->tracer) {
		ktr__tracee_comm((pid_t)facts->tracer, name);
		return ktr_error_set(err, EBUSY, "process %ld (%s) traces process %d, and only one may", facts->tracer,
				     name, (int)pid);
	}
	if (is_others)
		return ktr_error_set(err, EPERM, "process %d is user %ld's", (int)pid, facts->uid);
	if (yama)
		return ktr_error_set(err, EPERM,
				     "process %d may not be traced by this one: kernel.yama.ptrace_scope is %ld, %s",
				     (int)pid, yama,
				     yama == 1 ? "so only its parents may" :
				     yama == 2 ? "so only CAP_SYS_PTRACE may" :
						 "so nobody may until the next boot");
	return ktr_error_set(err, EPERM, "the kernel forbids to look at process %d: it may have rights that you have not, or "
					 "a filter of system calls does", (int)pid);
}

int ktr__task_refuse(pid_t pid, pid_t tid, int code, struct ktr_error *err)
{
	struct refuse_facts facts;

	code = abs(code);
	refuse_facts(pid, tid, &facts);
	switch (code) {
	case ESRCH:
	case ENOENT:
		return facts.is_there ? refuse_ended(pid, tid, err) : refuse_missing(pid, tid, err);
	case EPERM:
	case EACCES:
		return refuse_forbidden(pid, &facts, err);
	case EBUSY: /* of whoever would have been stopped */
		return ktr_error_set(err, EAGAIN, "thread %d of process %d waits where no stop reaches it", (int)tid,
				     (int)pid);
	case ETIMEDOUT:
		return ktr_error_set(err, ETIMEDOUT, "thread %d of process %d did not come out of the kernel in time",
				     (int)tid, (int)pid);
	case ENOEXEC:
		return ktr_error_set(err, ENOEXEC, "process %d is of another machine's code than this one", (int)pid);
	default:
		return ktr_error_set(err, code, "process %d: %m", (int)pid);
	}
}
