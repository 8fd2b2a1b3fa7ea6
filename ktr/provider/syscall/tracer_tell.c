/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a stop to events. A call's paths and what it takes are read when it begins, what it gives and the data
 * when it ends: then it is known how much there was.
 */
#include "ktr/provider/syscall/tracer_tell.h"

#include "ktr/provider/syscall/tracee_memory.h"

#include <ktr/ktrace.h>

#include <errno.h>
#include <limits.h>
#include <linux/audit.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

/* What the kernel returns inside where a call is to be made again; no program sees it. */
enum {
	TRACER_TELL_ERESTARTSYS = 512,
	TRACER_TELL_ERESTARTNOINTR = 513,
	TRACER_TELL_ERESTARTNOHAND = 514,
	TRACER_TELL_ERESTART_RESTARTBLOCK = 516
};

static void tracer_tell(struct ktr__tracer *tracer, struct ktr__task *task, struct ktr__tracee_event *event)
{
	struct timespec now;
	int rc;

	if (task->hidden || tracer->error)
		return;
	/* Where a filter stops the program, the write(2) that renames may not have been seen. */
	if (task->process->filter && task->process->renames)
		ktr__tracee_comm(task->tid, task->comm);
	clock_gettime(CLOCK_REALTIME, &now);
	event->pid = task->process->pid;
	event->tid = task->tid;
	event->time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	event->comm = task->comm;
	event->points = task->process->points;
	event->is_32bit = task->process->is_32bit;
	rc = tracer->sink.event(tracer->sink.context, event);
	if (rc)
		tracer->error = rc;
}

static int tracer_tell_wants(const struct ktr__task *task, uint32_t points)
{
	return !task->hidden && !task->process->leaving && (task->process->points & points);
}

void ktr__tell_start(struct ktr__tracer *tracer, struct ktr__task *task)
{
	struct ktr__tracee_event event = { .type = KTR__TRACEE_START };

	task->process->started = 1;
	tracer_tell(tracer, task, &event);
}

void ktr__tell_end(struct ktr__tracer *tracer, struct ktr__task *task)
{
	struct ktr__tracee_event event = { .type = KTR__TRACEE_END };
	int rc;

	task->process->ended = 1;
	tracer_tell(tracer, task, &event);
	rc = tracer->error ? 0 : tracer->sink.flush(tracer->sink.context);
	if (rc)
		tracer->error = rc;
}

/* ---- what a call takes ---- */

static void tracer_tell_paths(struct ktr__tracer *tracer, struct ktr__task *task)
{
	struct ktr__tracee_event event = { .type = KTR__TRACEE_PATH };
	ssize_t n;

	for (unsigned i = 0; i < task->call->n_args; i++) {
		if (task->call->args[i] != 'n')
			continue;
		n = ktr__tracee_string(task->tid, task->args[i], tracer->buffer, PATH_MAX);
		if (n < 0)
			continue;
		event.path.bytes = tracer->buffer;
		event.path.n = (size_t)n;
		event.path.arg = i;
		tracer_tell(tracer, task, &event);
	}
}

/* Threads are renamed by files of this name (pthread_setname_np(3)). */
static void tracer_tell_renames(struct ktr__tracer *tracer, struct ktr__task *task)
{
	ssize_t n;

	if (task->call->number[ktr__machine_own()] != SYS_openat || task->process->renames)
		return;
	n = ktr__tracee_string(task->tid, task->args[1], tracer->buffer, PATH_MAX);
	task->process->renames = n > 5 && strcmp(tracer->buffer + n - 5, "/comm") == 0;
}

static void tracer_tell_struct(struct ktr__tracer *tracer, struct ktr__task *task, enum ktr__tracee_struct kind,
			       uint64_t at, uint64_t n)
{
	struct ktr__tracee_event event = { .type = KTR__TRACEE_STRUCT };

	if (!at || !n || n > sizeof(struct sockaddr_storage) + sizeof(struct stat))
		return;
	event.record.kind = kind;
	event.record.bytes = tracer->buffer;
	event.record.n = ktr__tracee_read(task->tid, at, tracer->buffer, n);
	if (event.record.n == n)
		tracer_tell(tracer, task, &event);
}

static void tracer_tell_taken(struct ktr__tracer *tracer, struct ktr__task *task)
{
	const uint64_t *args = task->args;

	if (task->call->record == KTR__STRUCT_ADDR_IN)
		tracer_tell_struct(tracer, task, KTR__TRACEE_SOCKADDR, args[1], (uint32_t)args[2]);
	else if (task->call->record == KTR__STRUCT_ADDR_SENDTO)
		tracer_tell_struct(tracer, task, KTR__TRACEE_SOCKADDR, args[4], (uint32_t)args[5]);
	else if (task->call->record == KTR__STRUCT_ITIMER)
		tracer_tell_struct(tracer, task, KTR__TRACEE_ITIMER, args[1], sizeof(struct itimerval));
}

/* A call that is none of Linux's, but asks us: ktr_utrace(). */
static void tracer_tell_user(struct ktr__tracer *tracer, struct ktr__task *task)
{
	struct ktr__tracee_event event = { .type = KTR__TRACEE_USER };
	uint64_t n = task->args[2];

	if (task->call->number[ktr__machine_own()] != SYS_prctl || (uint32_t)task->args[0] != KTR_UTRACE_OPTION ||
	    n > KTR_UTRACE_MAX || !tracer_tell_wants(task, KTR__POINT_USER) ||
	    ktr__tracee_read(task->tid, task->args[1], tracer->buffer, n) != n)
		return;
	event.user.bytes = tracer->buffer;
	event.user.n = n;
	tracer_tell(tracer, task, &event);
}

/* rt_sigaction() will set a handler, whose address is the first word of what it points to. */
static void tracer_tell_handler(struct ktr__task *task)
{
	uint64_t handler;

	task->new_signal = 0;
	if (task->call->number[ktr__machine_own()] != SYS_rt_sigaction || task->args[0] >= KTR__TRACEES_SIGNALS ||
	    ktr__tracee_read(task->tid, task->args[1], &handler, sizeof(handler)) != sizeof(handler))
		return;
	task->new_signal = (uint32_t)task->args[0];
	task->new_handler = handler;
}

static int tracer_tell_is_exec(const struct ktr__task *task)
{
	int number = task->call ? task->call->number[ktr__machine_own()] : -1;

	return number == SYS_execve || number == SYS_execveat;
}

static enum ktr__machine tracer_tell_machine(struct ktr__task *task, uint32_t arch)
{
	task->process->is_32bit = !(arch & __AUDIT_ARCH_64BIT);
	return task->process->is_32bit ? KTR__MACHINE_NONE : ktr__machine_own();
}

void ktr__tell_entry(struct ktr__tracer *tracer, struct ktr__task *task, const struct __ptrace_syscall_info *info)
{
	struct ktr__tracee_event event = { .type = KTR__TRACEE_CALL };
	int was_32bit = task->process->is_32bit;

	task->in_call = 1;
	task->number = info->entry.nr;
	memcpy(task->args, info->entry.args, sizeof(task->args));
	task->call = ktr__call_find(tracer_tell_machine(task, info->arch), task->number);
	/* Only now it is known which calls the numbers mean. */
	if (task->process->is_32bit != was_32bit && task->process->started)
		ktr__tell_start(tracer, task);
	if (task->hidden && tracer_tell_is_exec(task)) {
		task->hidden = 0;
		ktr__tell_start(tracer, task);
	}
	event.call.number = task->number;
	event.call.args = task->args;
	event.call.n_args = task->call ? task->call->n_args : KTR__CALL_ARGS;
	if (tracer_tell_wants(task, KTR__POINT_CALLS))
		tracer_tell(tracer, task, &event);
	if (!task->call)
		return;
	tracer_tell_handler(task);
	tracer_tell_user(tracer, task);
	tracer_tell_renames(tracer, task);
	if (tracer_tell_wants(task, KTR__POINT_PATHS))
		tracer_tell_paths(tracer, task);
	if (tracer_tell_wants(task, KTR__POINT_STRUCTS))
		tracer_tell_taken(tracer, task);
}

/* ---- what it gives ---- */

static size_t tracer_tell_message(struct ktr__tracer *tracer, const struct ktr__task *task, size_t n)
{
	struct msghdr message;
	uint64_t vector;

	if (ktr__tracee_read(task->tid, task->args[1], &message, sizeof(message)) != sizeof(message))
		return 0;
	memcpy(&vector, &message.msg_iov, sizeof(vector));
	return ktr__tracee_read_vector(task->tid, vector, message.msg_iovlen, tracer->buffer, n);
}

static void tracer_tell_io(struct ktr__tracer *tracer, struct ktr__task *task, uint64_t value)
{
	struct ktr__tracee_event event = { .type = KTR__TRACEE_IO };
	size_t n = value < KTR__TRACER_IO_MAX ? value : KTR__TRACER_IO_MAX;
	const uint64_t *args = task->args;
	int io = task->call->io;

	/* recvfrom() may say how long a message was that it has cut. */
	if (io == KTR__IO_READ || io == KTR__IO_WRITE)
		event.io.n = ktr__tracee_read(task->tid, args[1], tracer->buffer, n < args[2] ? n : args[2]);
	else if (io == KTR__IO_READV || io == KTR__IO_WRITEV)
		event.io.n = ktr__tracee_read_vector(task->tid, args[1], args[2], tracer->buffer, n);
	else
		event.io.n = tracer_tell_message(tracer, task, n);
	event.io.fd = (int)args[0];
	event.io.written = io == KTR__IO_WRITE || io == KTR__IO_WRITEV || io == KTR__IO_SENDMSG;
	event.io.bytes = tracer->buffer;
	tracer_tell(tracer, task, &event);
}

/* An address whose length the kernel has put where an argument points. */
static void tracer_tell_address(struct ktr__tracer *tracer, struct ktr__task *task, unsigned at)
{
	uint32_t n = 0;

	if (!task->args[at] || ktr__tracee_read(task->tid, task->args[at + 1], &n, sizeof(n)) != sizeof(n))
		return;
	if (n <= sizeof(struct sockaddr_storage))
		tracer_tell_struct(tracer, task, KTR__TRACEE_SOCKADDR, task->args[at], n);
}

static void tracer_tell_given(struct ktr__tracer *tracer, struct ktr__task *task)
{
	if (task->call->record == KTR__STRUCT_STAT1)
		tracer_tell_struct(tracer, task, KTR__TRACEE_STAT, task->args[1], sizeof(struct stat));
	else if (task->call->record == KTR__STRUCT_STAT2)
		tracer_tell_struct(tracer, task, KTR__TRACEE_STAT, task->args[2], sizeof(struct stat));
	else if (task->call->record == KTR__STRUCT_ADDR_OUT)
		tracer_tell_address(tracer, task, 1);
	else if (task->call->record == KTR__STRUCT_ADDR_RECVFROM)
		tracer_tell_address(tracer, task, 4);
}

static void tracer_tell_rename(void *context, struct ktr__task *task)
{
	if (task->process == context)
		ktr__tracee_comm(task->tid, task->comm);
}

/* What a call has changed of what we know. */
static void tracer_tell_effects(struct ktr__tracer *tracer, struct ktr__task *task)
{
	int number = task->call->number[ktr__machine_own()];

	if (task->new_signal)
		task->process->handler[task->new_signal] = task->new_handler;
	if (number == SYS_prctl && task->args[0] == PR_SET_NAME)
		ktr__tracee_comm(task->tid, task->comm);
	if (number == SYS_write && task->process->renames)
		ktr__tracees_each(&tracer->tracees, tracer_tell_rename, task->process);
}

static void tracer_tell_result(struct ktr__tracer *tracer, struct ktr__task *task, int64_t value, int is_error)
{
	struct ktr__tracee_event event = { .type = KTR__TRACEE_RETURN };

	event.result.number = task->number;
	event.result.value = is_error ? 0 : value;
	event.result.error = is_error ? (int)-value : 0;
	switch (event.result.error) {
	case TRACER_TELL_ERESTARTSYS:
	case TRACER_TELL_ERESTARTNOINTR:
	case TRACER_TELL_ERESTARTNOHAND:
	case TRACER_TELL_ERESTART_RESTARTBLOCK:
		event.result.end = KTR__WILL_RESTART;
		break;
	default:
		if (task->call && task->call->number[ktr__machine_own()] == SYS_rt_sigreturn)
			event.result.end = KTR__JUST_RETURNS;
	}
	tracer_tell(tracer, task, &event);
}

void ktr__tell_exit(struct ktr__tracer *tracer, struct ktr__task *task, int64_t value, int is_error)
{
	/* Without its begin nothing is known of it: it had begun when we came. */
	if (!task->in_call)
		return;
	task->in_call = 0;
	if (task->call && !is_error) {
		tracer_tell_effects(tracer, task);
		if (task->call->io != KTR__IO_NONE && tracer_tell_wants(task, KTR__POINT_IO))
			tracer_tell_io(tracer, task, (uint64_t)value);
		if (tracer_tell_wants(task, KTR__POINT_STRUCTS))
			tracer_tell_given(tracer, task);
	}
	if (tracer_tell_wants(task, KTR__POINT_CALLS))
		tracer_tell_result(tracer, task, value, is_error);
}

void ktr__tell_born(struct ktr__tracer *tracer, struct ktr__task *task)
{
	if (tracer_tell_wants(task, KTR__POINT_CALLS))
		tracer_tell_result(tracer, task, 0, 0);
}

/* ---- signals ---- */

/* Is there something to be delivered, to a handler, or to end the process? */
static int tracer_tell_acts(const struct ktr__task *task, int number, uint64_t *handler)
{
	uint64_t bit = 1ull << (number - 1), ignored = 0, caught = 0;

	ktr__tracee_status(task->tid, "SigIgn:", 16, &ignored);
	ktr__tracee_status(task->tid, "SigCgt:", 16, &caught);
	*handler = 0;
	if (caught & bit) {
		*handler = task->process->handler[number];
		if (*handler <= 1) /* not set while we looked */
			*handler = KTR__HANDLER_UNKNOWN;
		return 1;
	}
	switch (number) {
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return 0;
	default:
		return !(ignored & bit);
	}
}

void ktr__tell_signal(struct ktr__tracer *tracer, struct ktr__task *task, int number)
{
	struct ktr__tracee_event event = { .type = KTR__TRACEE_SIGNAL };
	siginfo_t info;

	if (!tracer_tell_wants(task, KTR__POINT_SIGNALS) || number >= KTR__TRACEES_SIGNALS ||
	    !tracer_tell_acts(task, number, &event.signal.handler))
		return;
	event.signal.number = number;
	event.signal.code = ptrace(PTRACE_GETSIGINFO, task->tid, NULL, &info) == 0 ? info.si_code : INT_MIN;
	ptrace(PTRACE_GETSIGMASK, task->tid, sizeof(event.signal.mask), &event.signal.mask);
	tracer_tell(tracer, task, &event);
}

void ktr__tell_killed(struct ktr__tracer *tracer, struct ktr__task *task)
{
	struct ktr__tracee_event event = { .type = KTR__TRACEE_SIGNAL };

	if (task->process->killed || !tracer_tell_wants(task, KTR__POINT_SIGNALS))
		return;
	task->process->killed = 1;
	event.signal.number = SIGKILL;
	event.signal.code = INT_MIN;
	tracer_tell(tracer, task, &event);
}
