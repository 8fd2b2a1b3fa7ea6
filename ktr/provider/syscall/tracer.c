/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stops of tracees, and how each goes on. A tracee is seized, which stops nothing, then asked to stop once,
 * because only from a stop it can be let run up to its next call. All stops but those of a group (^Z) are
 * answered at once.
 *
 * Who is let go of is asked to stop, too. At the end of a call it is not let go, but run up to that stop: there
 * the kernel makes a call again that it has interrupted for us. Some calls it does not make again, but ends with
 * EINTR (signal(7), "Interruption of system calls ... by stop signals"): those we make again, unless a signal is
 * there.
 *
 * A program that has been launched may have put a filter before its calls (call_filter.h): then it runs up to the
 * next call that the filter stops for, and only if something is to be told of the end up to that, too.
 */
#include "ktr/provider/syscall/tracer.h"

#include "conf/kit/array.h"
#include "ktr/provider/syscall/call_filter.h"
#include "ktr/provider/syscall/tracee_memory.h"
#include "ktr/provider/syscall/tracee_repeat.h"
#include "ktr/provider/syscall/tracee_stop.h"
#include "ktr/provider/syscall/tracer_tell.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define TRACER_SYSCALL_STOP (SIGTRAP | 0x80)
#define TRACER_OPTIONS	    (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT)
#define TRACER_CHILDREN	    (PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK)
/* Without us the calls that the filter stops for would fail, those of its children, too. */
#define TRACER_FILTERED	    (TRACER_OPTIONS | TRACER_CHILDREN | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL)

void ktr__tracer_init(struct ktr__tracer *tracer, const struct ktr__tracee_sink *sink)
{
	memset(tracer, 0, sizeof(*tracer));
	tracer->sink = *sink;
}

void ktr__tracer_free(struct ktr__tracer *tracer)
{
	ktr__tracees_free(&tracer->tracees);
	free(tracer->early);
}

/* ---- to take ---- */

static int tracer_seize(pid_t tid, int inherit)
{
	long options = TRACER_OPTIONS | (inherit ? TRACER_CHILDREN : 0);

	return ktr__tracee_seize(tid, options);
}

static void tracer_interrupt(struct ktr__task *task)
{
	if (ptrace(PTRACE_INTERRUPT, task->tid, NULL, NULL) == 0)
		task->interrupted = 1;
}

/* Takes one thread. 0; 1: it is ours already, or has ended; -errno. */
static int tracer_take(struct ktr__tracer *tracer, struct ktr__process *process, pid_t tid)
{
	uint64_t by = 0;
	struct ktr__task *task;
	int rc;

	if (ktr__tracees_task(&tracer->tracees, tid))
		return 1;
	rc = tracer_seize(tid, process->inherit);
	if (rc == -ESRCH)
		return 1;
	if (rc == -EPERM) {
		/* A thread that one of ours has made since we read the list is ours, and will tell. */
		ktr__tracee_status(tid, "TracerPid:", 10, &by);
		if (by && by == (uint64_t)syscall(SYS_gettid))
			return 1;
	}
	if (rc)
		return rc;
	task = ktr__tracees_add_task(&tracer->tracees, process, tid);
	if (!task)
		return -ENOMEM;
	ktr__tracee_comm(tid, task->comm);
	tracer_interrupt(task);
	return 0;
}

/* Takes all threads that /proc lists. How many were new, or -errno. */
static int tracer_take_threads(struct ktr__tracer *tracer, struct ktr__process *process)
{
	char path[64];
	struct dirent *entry;
	int rc = 0, n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)process->pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (rc >= 0 && (entry = readdir(dir)) != NULL) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		rc = tracer_take(tracer, process, tid);
		n += rc == 0;
	}
	closedir(dir);
	return rc < 0 ? rc : n;
}

static struct ktr__process *tracer_process(struct ktr__tracer *tracer, pid_t pid,
					   const struct ktr__tracer_want *want)
{
	struct ktr__process *process = ktr__tracees_add_process(&tracer->tracees, pid);

	if (process) {
		process->points |= want->points;
		process->inherit |= want->inherit;
	}
	return process;
}

int ktr__tracer_launch(struct ktr__tracer *tracer, pid_t pid, const struct ktr__tracer_want *want)
{
	struct ktr__process *process = tracer_process(tracer, pid, want);
	struct ktr__task *task;
	int rc = process ? tracer_take_threads(tracer, process) : -ENOMEM;

	if (rc < 0)
		return rc;
	task = ktr__tracees_task(&tracer->tracees, pid);
	if (!task)
		return -ESRCH;
	task->hidden = 1;
	rc = 0;
	while (rc >= 0 && tracer->tracees.n_tasks && task->interrupted)
		rc = ktr__tracer_step(tracer);
	return rc < 0 ? rc : tracer->tracees.n_tasks ? 0 : -ESRCH;
}

static void tracer_leave(void *context, struct ktr__task *task)
{
	if (task->process == context) {
		task->process->leaving = 1;
		if (!task->process->filter)
			tracer_interrupt(task);
	}
}

/* What its filter lets through is stopped for, too, from the next stop on. */
static void tracer_unfilter(void *context, struct ktr__task *task)
{
	if (task->process == context)
		tracer_interrupt(task);
}

/* Options are set at stops, so children of one that is traced already are as they were. */
int ktr__tracer_attach(struct ktr__tracer *tracer, pid_t pid, const struct ktr__tracer_want *want)
{
	struct ktr__process *process = ktr__tracees_process(&tracer->tracees, pid);
	int rc, known = process != NULL;

	if (known && process->leaving)
		return -EBUSY;
	process = tracer_process(tracer, pid, want);
	if (!process)
		return -ENOMEM;
	if (known && process->filter && (want->points & ~process->filter))
		ktr__tracees_each(&tracer->tracees, tracer_unfilter, process);
	if (known)
		return 0;
	/* Threads may have been made while the list was read: until nothing new is in it. */
	do
		rc = tracer_take_threads(tracer, process);
	while (rc > 0);
	if (rc >= 0 && process->n_tasks)
		return 0;
	if (process->n_tasks) {
		process->points = 0;
		ktr__tracees_each(&tracer->tracees, tracer_leave, process);
	} else {
		ktr__tracees_drop(&tracer->tracees, process);
	}
	return rc < 0 ? rc : -ESRCH;
}

int ktr__tracer_clear(struct ktr__tracer *tracer, pid_t pid, uint32_t points)
{
	struct ktr__process *process = ktr__tracees_process(&tracer->tracees, pid);

	if (!process || process->leaving)
		return -ESRCH;
	process->points &= ~points;
	if (!process->points)
		ktr__tracees_each(&tracer->tracees, tracer_leave, process);
	return 0;
}

static void tracer_leave_any(void *context, struct ktr__task *task)
{
	(void)context;
	task->process->points = 0;
	tracer_leave(task->process, task);
}

void ktr__tracer_clear_all(struct ktr__tracer *tracer)
{
	ktr__tracees_each(&tracer->tracees, tracer_leave_any, NULL);
}

/* ---- to let go ---- */

static void tracer_detach(struct ktr__tracer *tracer, struct ktr__task *task, int signal)
{
	ptrace(PTRACE_DETACH, task->tid, NULL, (long)signal);
	ktr__tracees_remove(&tracer->tracees, task);
}

static int tracer_lets_go(const struct ktr__process *process)
{
	return process->leaving && !process->filter;
}

/* Does nobody want to know of its next call, or tells its filter of it? */
static int tracer_runs_freely(const struct ktr__task *task)
{
	const struct ktr__process *process = task->process;

	return process->leaving || (process->filter && !task->in_call && !(process->points & ~process->filter));
}

/* Any stop takes the place of one that we have asked for; who is let go of is asked again. */
static void tracer_go(struct ktr__task *task, int signal)
{
	if (tracer_lets_go(task->process) && !task->ending)
		tracer_interrupt(task);
	ptrace(tracer_runs_freely(task) ? PTRACE_CONT : PTRACE_SYSCALL, task->tid, NULL, (long)signal);
}

/* ---- stops ---- */

static void tracer_stopped(struct ktr__tracer *tracer, struct ktr__task *task, int status);

static void tracer_inherit(struct ktr__process *process, const struct ktr__process *from)
{
	process->points = from->points;
	process->inherit = from->inherit;
	process->is_32bit = from->is_32bit;
	process->leaving = from->leaving || !from->inherit;
	memcpy(process->handler, from->handler, sizeof(process->handler));
}

/* A tracee that another has made; parent NULL: it ended before it could tell. NULL: no memory. */
static struct ktr__task *tracer_born(struct ktr__tracer *tracer, pid_t tid, const struct ktr__task *parent)
{
	uint64_t pid = (uint64_t)tid, ppid = 0;
	struct ktr__process *process, *from;
	struct ktr__task *task;

	ktr__tracee_status(tid, "Tgid:", 10, &pid);
	ktr__tracee_status(tid, "PPid:", 10, &ppid);
	from = parent ? parent->process : ktr__tracees_process(&tracer->tracees, (pid_t)ppid);
	process = ktr__tracees_process(&tracer->tracees, (pid_t)pid);
	if (!process) {
		process = ktr__tracees_add_process(&tracer->tracees, (pid_t)pid);
		if (process && from)
			tracer_inherit(process, from);
		if (process)
			process->filter = tracer->filter;
	}
	task = process ? ktr__tracees_add_task(&tracer->tracees, process, tid) : NULL;
	if (!task)
		return NULL;
	if (parent) {
		memcpy(task->comm, parent->comm, sizeof(task->comm));
		task->number = parent->number;
		task->call = parent->call;
		task->hidden = parent->hidden;
		task->has_parent = 1;
	} else {
		ktr__tracee_comm(tid, task->comm);
	}
	return task;
}

/* The task that is left of a process, and whose it is. */
struct tracer_kept {
	struct ktr__tracer *tracer;
	struct ktr__task *task;
};

static void tracer_forget_other(void *context, struct ktr__task *task)
{
	struct tracer_kept *kept = context;

	if (task != kept->task && task->process == kept->task->process)
		ktr__tracees_remove(&kept->tracer->tracees, task);
}

/* Another program: one thread is left, which has the process's number, whichever it was. */
static struct ktr__task *tracer_exec(struct ktr__tracer *tracer, struct ktr__task *task)
{
	struct tracer_kept kept = { tracer, task };
	unsigned long former = 0;
	pid_t pid = task->tid;

	ptrace(PTRACE_GETEVENTMSG, task->tid, NULL, &former);
	if (former && (pid_t)former != pid) {
		kept.task = ktr__tracees_task(&tracer->tracees, (pid_t)former);
		if (!kept.task)
			kept.task = task;
	}
	ktr__tracees_each(&tracer->tracees, tracer_forget_other, &kept);
	task = kept.task;
	if (task->tid != pid)
		ktr__tracees_renumber(&tracer->tracees, task, pid);
	ktr__tracee_comm(pid, task->comm);
	memset(task->process->handler, 0, sizeof(task->process->handler));
	if (!task->process->leaving)
		ktr__tell_start(tracer, task);
	return task;
}

/* A thread is about to end: its memory is still there, nobody who waits for it knows yet. */
static void tracer_ending(struct ktr__tracer *tracer, struct ktr__task *task)
{
	unsigned long status = 0;

	ptrace(PTRACE_GETEVENTMSG, task->tid, NULL, &status);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		ktr__tell_killed(tracer, task);
	if (!task->ending) {
		task->ending = 1;
		task->process->n_alive--;
	}
	if (!task->process->n_alive && !task->process->leaving)
		ktr__tell_end(tracer, task);
}

/* A program that becomes another has put its filter before its calls. */
static void tracer_filtered(struct ktr__tracer *tracer, struct ktr__task *task)
{
	if (ptrace(PTRACE_SETOPTIONS, task->tid, NULL, (long)TRACER_FILTERED) == 0)
		tracer->filter = task->process->filter = task->process->points;
}

/* The filter has stopped it, at a call whose begin we were not told of before. */
static void tracer_filter_stop(struct ktr__tracer *tracer, struct ktr__task *task,
			       const struct __ptrace_syscall_info *info)
{
	ktr__tell_entry(tracer, task, info);
	task->in_call = task->call &&
			ktr__call_follow(task->call, task->args, task->process->points) == KTR__FOLLOW_END;
}

static void tracer_call_stop(struct ktr__tracer *tracer, struct ktr__task *task)
{
	struct __ptrace_syscall_info info;

	if (task->process->leaving)
		return;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, task->tid, sizeof(info), &info) < 0) {
		/* It has been killed, or this is Linux before 5.3. */
		if (errno != ESRCH && !tracer->error)
			tracer->error = -errno;
		return;
	}
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		ktr__tell_entry(tracer, task, &info);
	else if (info.op == PTRACE_SYSCALL_INFO_SECCOMP && !task->in_call)
		tracer_filter_stop(tracer, task, &info);
	else if (info.op == PTRACE_SYSCALL_INFO_EXIT && task->hidden && task->number == SYS_seccomp &&
		 !info.exit.is_error)
		tracer_filtered(tracer, task);
	if (info.op == PTRACE_SYSCALL_INFO_EXIT)
		ktr__tell_exit(tracer, task, info.exit.rval, info.exit.is_error);
}

/* The first stop of a thread: of one that we have taken, or of one that a tracee has made. */
static void tracer_first_stop(struct ktr__tracer *tracer, struct ktr__task *task)
{
	task->is_new = 0;
	if (task->process->leaving)
		return;
	if (!task->process->started && !task->hidden)
		ktr__tell_start(tracer, task);
	if (task->has_parent)
		ktr__tell_born(tracer, task);
}

/* Stops that are no call's and no signal's: ours, a new thread's, and those of a group. */
static void tracer_trap(struct ktr__tracer *tracer, struct ktr__task *task, int signal, int asked)
{
	if (signal == SIGTRAP && asked)
		ktr__tracee_repeat(task->tid);
	if (task->is_new)
		tracer_first_stop(tracer, task);
	if (tracer_lets_go(task->process))
		tracer_detach(tracer, task, 0);
	else if (signal == SIGTRAP)
		tracer_go(task, 0);
	else /* it stays stopped, until SIGCONT */
		ptrace(PTRACE_LISTEN, task->tid, NULL, NULL);
}

static void tracer_signal(struct ktr__tracer *tracer, struct ktr__task *task, int signal)
{
	if (task->is_new)
		tracer_first_stop(tracer, task);
	if (tracer_lets_go(task->process)) {
		tracer_detach(tracer, task, signal);
		return;
	}
	ktr__tell_signal(tracer, task, signal);
	tracer_go(task, signal);
}

/* The stop that it waits with, or -1: it has not stopped yet. */
static int tracer_early(struct ktr__tracer *tracer, pid_t tid)
{
	for (uint32_t i = 0; i < tracer->n_early; i++)
		if (tracer->early[i].tid == tid) {
			int status = tracer->early[i].status;

			tracer->early[i] = tracer->early[--tracer->n_early];
			return status;
		}
	return -1;
}

static int tracer_wait_for_parent(struct ktr__tracer *tracer, pid_t tid, int status)
{
	uint64_t pid = 0, ppid = 0;

	ktr__tracee_status(tid, "Tgid:", 10, &pid);
	ktr__tracee_status(tid, "PPid:", 10, &ppid);
	if (ktr__array_grow(&tracer->early, &tracer->room_early, tracer->n_early, sizeof(tracer->early[0])))
		return -ENOMEM;
	tracer->early[tracer->n_early++] =
		(struct ktr__tracer_early){ tid, pid == (uint64_t)tid ? (pid_t)ppid : (pid_t)pid, status };
	return 0;
}

static void tracer_child(struct ktr__tracer *tracer, struct ktr__task *parent)
{
	unsigned long tid = 0;
	struct ktr__task *child;
	int status;

	if (ptrace(PTRACE_GETEVENTMSG, parent->tid, NULL, &tid) < 0 ||
	    ktr__tracees_task(&tracer->tracees, (pid_t)tid))
		return;
	status = tracer_early(tracer, (pid_t)tid);
	/* It may have come and gone before its parent told of it. */
	if (status < 0 && kill((pid_t)tid, 0) < 0)
		return;
	child = tracer_born(tracer, (pid_t)tid, parent);
	if (child && status >= 0)
		tracer_stopped(tracer, child, status);
}

/* A thread of a process has ended: those that it may have made, and not have told of, go on. */
static void tracer_orphans(struct ktr__tracer *tracer, pid_t pid)
{
	struct ktr__tracer_early early;
	struct ktr__task *task;

	for (uint32_t i = tracer->n_early; i > 0; i--) {
		early = tracer->early[i - 1];
		if (early.maker != pid)
			continue;
		tracer->early[i - 1] = tracer->early[--tracer->n_early];
		task = tracer_born(tracer, early.tid, NULL);
		if (task)
			tracer_stopped(tracer, task, early.status);
	}
}

static void tracer_stopped(struct ktr__tracer *tracer, struct ktr__task *task, int status)
{
	int signal = WSTOPSIG(status), asked = task->interrupted;

	task->interrupted = 0;
	switch (status >> 16) {
	case PTRACE_EVENT_STOP:
		tracer_trap(tracer, task, signal, asked);
		return;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		tracer_child(tracer, task);
		break;
	case PTRACE_EVENT_EXEC:
		task = tracer_exec(tracer, task);
		break;
	case PTRACE_EVENT_EXIT:
		tracer_ending(tracer, task);
		break;
	case PTRACE_EVENT_SECCOMP:
		tracer_call_stop(tracer, task);
		break;
	default:
		if (signal != TRACER_SYSCALL_STOP) {
			tracer_signal(tracer, task, signal);
			return;
		}
		tracer_call_stop(tracer, task);
	}
	tracer_go(task, 0);
}

static void tracer_gone(struct ktr__tracer *tracer, struct ktr__task *task)
{
	struct ktr__process *process = task->process;
	pid_t pid = process->pid;

	if (process->n_tasks == 1 && !process->ended && !process->leaving)
		ktr__tell_end(tracer, task);
	ktr__tracees_remove(&tracer->tracees, task);
	tracer_orphans(tracer, pid);
}

int ktr__tracer_step(struct ktr__tracer *tracer)
{
	struct ktr__task *task;
	int status, rc;
	pid_t tid;

	tid = tracer->tracees.n_tasks ? waitpid(-1, &status, __WALL) : -1;
	if (tid < 0)
		return 0;
	task = ktr__tracees_task(&tracer->tracees, tid);
	if (!WIFSTOPPED(status)) {
		if (task)
			tracer_gone(tracer, task);
		else
			tracer_early(tracer, tid);
	} else if (task) {
		tracer_stopped(tracer, task, status);
	} else if (tracer_wait_for_parent(tracer, tid, status)) {
		return -ENOMEM;
	}
	rc = tracer->error;
	if (rc)
		ktr__tracer_clear_all(tracer);
	tracer->error = 0;
	return rc ? rc : 1;
}
