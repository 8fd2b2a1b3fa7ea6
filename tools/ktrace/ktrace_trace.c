/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of a call its paths and the address that it takes are told of right behind it, at the same stop: its beginning is
 * held until something else is told, and then recorded with them, as of the moment that it was told of.
 *
 * The key of a scope is its thread's number: a thread makes one call at a time. A call whose end nobody sees,
 * exit(2) and what is killed in it, ends with its thread.
 */
#include "tools/ktrace/ktrace_trace.h"

#include "ktr/provider/syscall/descriptors.h"
#include "ktr/session/clock.h"
#include "tools/bsd/call_text.h"
#include "tools/bsd/kdump_names.h"
#include "tools/ktrace/ktrace_sites.h"
#include "writer/ktrace/trace.h"

#include <ktr/session.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KTRACE_TRACE_BUCKETS 256
#define KTRACE_TRACE_ROWS    512 /* of the table of calls, at most */
#define KTRACE_TRACE_ON      256 /* [bytes] of what a call is about */
#define KTRACE_TRACE_TEXT    256 /* [bytes] of an argument */
#define KTRACE_TRACE_DATA    250 /* [bytes] of data that are kept of a call: each may take four as text */

struct ktrace_trace_task {
	struct ktrace_trace_task *next; /* in its bucket */
	pid_t tid, pid;
	int in_call;
	uint64_t number, args[KTR__CALL_ARGS];
	const struct ktr__call *call;  /* NULL: it has no name */
	char on[KTRACE_TRACE_ON];      /* a path, or the name of a descriptor */
	char given[KTRACE_TRACE_TEXT]; /* an address that the kernel has given */
};

/* The beginning of a call that is held. */
struct ktrace_trace_begin {
	struct ktrace_trace_task *task; /* NULL: none is */
	uint64_t ns;
	char text[KTR__CALL_ARGS][KTRACE_TRACE_TEXT]; /* of paths and addresses */
	uint8_t has_text[KTR__CALL_ARGS];
};

struct ktrace_trace {
	struct ktr__ktrace_trace *out; /* owned */
	struct ktrace_sites sites;
	struct ktr__descriptors descriptors;
	struct ktrace_trace_task *task[KTRACE_TRACE_BUCKETS]; /* owned */
	struct ktrace_trace_begin begin;
	int8_t descriptor[KTRACE_TRACE_ROWS]; /* 2 and the argument that is one; 1: none; 0: not looked for */
};

/* ---- tasks ---- */

static struct ktrace_trace_task *ktrace_trace_task(struct ktrace_trace *trace, pid_t pid, pid_t tid)
{
	struct ktrace_trace_task **at = &trace->task[(unsigned)tid % KTRACE_TRACE_BUCKETS];

	while (*at && (*at)->tid != tid)
		at = &(*at)->next;
	if (!*at)
		*at = calloc(1, sizeof(**at));
	if (*at) {
		(*at)->tid = tid;
		(*at)->pid = pid;
	}
	return *at;
}

/* tid 0: all of a process. */
static void ktrace_trace_forget(struct ktrace_trace *trace, pid_t pid, pid_t tid)
{
	for (unsigned i = 0; i < KTRACE_TRACE_BUCKETS; i++)
		for (struct ktrace_trace_task **at = &trace->task[i], *one; (one = *at) != NULL;) {
			if (tid ? one->tid == tid : one->pid == pid) {
				*at = one->next;
				free(one);
			} else {
				at = &one->next;
			}
		}
}

/* ---- beginnings and ends of calls ---- */

static void ktrace_trace_text(struct ktr__ktrace_value *value, const char *text)
{
	value->bytes = text;
	value->n = strlen(text);
}

static int ktrace_trace_number_begin(struct ktrace_trace *trace, const struct ktrace_trace_task *task, uint64_t ns)
{
	struct ktr__ktrace_value value[5] = { { .number = (uint64_t)task->tid },
					      { .number = task->number },
					      { .number = 1 },
					      { .number = task->args[0] },
					      { .number = task->args[1] } };

	value[2].number = task->on[0] == '3';
	return ktr__ktrace_trace_event(trace->out, trace->sites.number_entry, task->tid, ns, value);
}

/* Records the beginning that is held. */
static int ktrace_trace_release(struct ktrace_trace *trace)
{
	struct ktrace_trace_begin *begin = &trace->begin;
	struct ktrace_trace_task *task = begin->task;
	struct ktr__ktrace_value value[KTR_ARGS_MAX] = { { 0 } };
	uint32_t site;
	int rc;

	if (!task)
		return 0;
	begin->task = NULL;
	if (!task->call)
		return ktrace_trace_number_begin(trace, task, begin->ns);
	site = ktrace_sites_entry(&trace->sites, task->call);
	if (!site)
		return -ENOMEM;
	value[0].number = (uint64_t)task->tid;
	for (unsigned i = 0; i < ktrace_sites_n_args(task->call); i++) {
		value[1 + i].number = task->args[i];
		if (!begin->has_text[i] && call_text_is_unsaid(task->call, task->args, i))
			begin->text[i][0] = '\0';
		else if (!begin->has_text[i] && (task->call->args[i] == 'n' || call_text_has_names(task->call, i) ||
						 ktrace_sites_is_address(task->call, i)))
			call_text(task->call, task->args, i, begin->text[i], sizeof(begin->text[i]));
		ktrace_trace_text(&value[1 + i], begin->text[i]);
	}
	rc = ktr__ktrace_trace_event(trace->out, site, task->tid, begin->ns, value);
	if (strcmp(task->call->name, "exit") == 0)
		ktr__ktrace_trace_ended(trace->out, task->pid, task->tid, begin->ns);
	return rc;
}

/* The first argument of a call that is a descriptor; -1: none is. */
static int ktrace_trace_descriptor(const struct ktr__call *call)
{
	struct ktr__call_arg arg;

	for (unsigned i = 0; i < call->n_args; i++) {
		ktr__call_arg(call, i, &arg);
		if (arg.is_fd && call->args[i] != 'd')
			return (int)i;
	}
	return -1;
}

/* A descriptor says what a call is about, until a path does. */
static void ktrace_trace_about(struct ktrace_trace *trace, struct ktrace_trace_task *task)
{
	size_t row = (size_t)(task->call - ktr__call_row(0));
	int8_t *known = row < KTRACE_TRACE_ROWS ? &trace->descriptor[row] : NULL;
	int i = known && *known ? *known - 2 : ktrace_trace_descriptor(task->call);

	if (known)
		*known = (int8_t)(i + 2);
	task->on[0] = '\0';
	if (i >= 0)
		snprintf(task->on, sizeof(task->on), "%s",
			 ktr__descriptors_name(&trace->descriptors, task->pid, task->tid,
					       (int)task->args[i]));
}

static void ktrace_trace_call(struct ktrace_trace *trace, struct ktrace_trace_task *task,
			      const struct ktr__tracee_event *event, uint64_t ns)
{
	task->in_call = 1;
	task->given[0] = '\0';
	task->number = event->call.number;
	memset(task->args, 0, sizeof(task->args));
	memcpy(task->args, event->call.args, event->call.n_args * sizeof(task->args[0]));
	task->call = event->is_32bit ? NULL : ktr__call_find(ktr__machine_own(), task->number);
	if (task->call)
		ktrace_trace_about(trace, task);
	else
		snprintf(task->on, sizeof(task->on), "%s", event->is_32bit ? "32" : "");
	trace->begin.task = task;
	trace->begin.ns = ns;
	memset(trace->begin.has_text, 0, sizeof(trace->begin.has_text));
}

static void ktrace_trace_path(struct ktrace_trace *trace, const struct ktr__tracee_event *event)
{
	struct ktrace_trace_begin *begin = &trace->begin;
	struct ktrace_trace_task *task = begin->task;
	size_t n = event->path.n, room = sizeof(begin->text[0]) - 1, skip;
	unsigned i = event->path.arg;

	/* A call that has no name, as those of 32-bit programs, has no arguments that are known. */
	if (!task || !task->call || task->tid != event->tid || i >= KTR__CALL_ARGS)
		return;
	/* Of a path that is too long its end, as of a descriptor's. */
	skip = n > room ? n - room : 0;
	snprintf(begin->text[i], sizeof(begin->text[i]), "%.*s", (int)(n - skip), event->path.bytes + skip);
	begin->has_text[i] = 1;
	if (!n && task->call->args[0] == 'd') /* the descriptor itself is meant: AT_EMPTY_PATH */
		snprintf(task->on, sizeof(task->on), "%s",
			 ktr__descriptors_name(&trace->descriptors, task->pid, task->tid, (int)task->args[0]));
	else if (i == 0 || task->call->args[0] == 'd')
		snprintf(task->on, sizeof(task->on), "%s", begin->text[i]);
}

/* An address that is taken is an argument; one that is given is a peer's. */
static void ktrace_trace_struct(struct ktrace_trace *trace, const struct ktr__tracee_event *event)
{
	struct ktrace_trace_begin *begin = &trace->begin;
	struct ktrace_trace_task *task = ktrace_trace_task(trace, event->pid, event->tid);
	char text[KTRACE_TRACE_TEXT];
	unsigned i;

	if (!task || !task->call || event->record.kind != KTR__TRACEE_SOCKADDR ||
	    !call_text_address(event->record.bytes, event->record.n, text, sizeof(text)))
		return;
	if (task->call->record == KTR__STRUCT_ADDR_OUT || task->call->record == KTR__STRUCT_ADDR_RECVFROM) {
		snprintf(task->given, sizeof(task->given), "%s", text);
		return;
	}
	if (begin->task != task)
		return;
	i = task->call->record == KTR__STRUCT_ADDR_SENDTO ? 4 : 1;
	snprintf(begin->text[i], sizeof(begin->text[i]), "%s", text);
	begin->has_text[i] = 1;
	snprintf(task->on, sizeof(task->on), "%s", text);
}

static void ktrace_trace_effects(struct ktrace_trace *trace, const struct ktrace_trace_task *task, int64_t value,
				 int error)
{
	const struct ktr__call *call = task->call;

	/* What connects later has that peer, too. */
	if (strcmp(call->name, "connect") == 0 && (!error || error == EINPROGRESS) && task->on[0])
		ktr__descriptors_set(&trace->descriptors, task->pid, (int)task->args[0], task->on);
	if (error)
		return;
	ktr__descriptors_returned(&trace->descriptors, task->pid, call, task->args, value);
	if (call->record == KTR__STRUCT_ADDR_OUT && strncmp(call->name, "accept", 6) == 0 && task->given[0])
		ktr__descriptors_set(&trace->descriptors, task->pid, (int)value, task->given);
}

static int ktrace_trace_number_end(struct ktrace_trace *trace, const struct ktrace_trace_task *task, int64_t value,
				   uint64_t ns)
{
	const struct ktr__ktrace_value values[3] = { { .number = (uint64_t)task->tid },
						     { .number = (uint64_t)value },
						     { .number = task->number } };

	return ktr__ktrace_trace_event(trace->out, trace->sites.number_return, task->tid, ns, values);
}

static const char *ktrace_trace_why(const struct ktr__tracee_event *event, char text[32])
{
	if (event->result.end == KTR__WILL_RESTART)
		return "RESTART";
	if (!event->result.error)
		return NULL;
	call_text_errno(event->result.error, text);
	return text;
}

static int ktrace_trace_return(struct ktrace_trace *trace, struct ktrace_trace_task *task,
			       const struct ktr__tracee_event *event, uint64_t ns)
{
	struct ktr__ktrace_value value[KTR_ARGS_MAX] = { { .number = (uint64_t)task->tid } };
	int64_t result = event->result.error ? -event->result.error : event->result.value;
	char text[32], sixth[KTRACE_TRACE_TEXT];
	const char *why = ktrace_trace_why(event, text);
	unsigned n = 1, variant;
	uint32_t site;

	if (!task->in_call || task->number != event->result.number)
		return 0; /* a child begins with the return of what made it */
	task->in_call = 0;
	if (!task->call)
		return ktrace_trace_number_end(trace, task, result, ns);
	variant = (why ? KTRACE_SITES_ERROR : 0) | (task->on[0] ? KTRACE_SITES_ABOUT : 0);
	site = ktrace_sites_return(&trace->sites, task->call, variant);
	if (!site)
		return -ENOMEM;
	value[n++].number = (uint64_t)result;
	if (why)
		ktrace_trace_text(&value[n++], why);
	if (task->on[0])
		ktrace_trace_text(&value[n++], task->on);
	if (task->call->n_args == KTR_ARGS_MAX) {
		call_text(task->call, task->args, KTR_ARGS_MAX - 1, sixth, sizeof(sixth));
		ktrace_trace_text(&value[n], sixth);
		value[n].number = task->args[KTR_ARGS_MAX - 1];
	}
	ktrace_trace_effects(trace, task, result, event->result.error);
	return ktr__ktrace_trace_event(trace->out, site, task->tid, ns, value);
}

/* ---- the others ---- */

#define KTRACE_TRACE_ESCAPED (4 * KTRACE_TRACE_DATA + 1)

/* Bytes as text, what is none of it as \xNN, so that no byte is lost. */
static struct ktr__ktrace_value ktrace_trace_bytes(const unsigned char *bytes, size_t n_bytes,
						   char text[KTRACE_TRACE_ESCAPED])
{
	size_t n = n_bytes < KTRACE_TRACE_DATA ? n_bytes : KTRACE_TRACE_DATA, at = 0;

	for (size_t i = 0; i < n; i++)
		if (isascii(bytes[i]) && (isprint(bytes[i]) || bytes[i] == '\n' || bytes[i] == '\t') &&
		    bytes[i] != '\\')
			text[at++] = (char)bytes[i];
		else
			at += (size_t)snprintf(text + at, 5, "\\x%02x", bytes[i]);
	return (struct ktr__ktrace_value){ .bytes = text, .n = at, .cut = n < n_bytes };
}

static int ktrace_trace_data(struct ktrace_trace *trace, const struct ktrace_trace_task *task,
			     const struct ktr__tracee_event *event, uint64_t ns)
{
	struct ktr__ktrace_value value[5] = { { 0 } };
	char text[KTRACE_TRACE_ESCAPED];

	ktrace_trace_text(&value[0], event->io.written ? "wrote" : "read");
	value[1].number = (uint64_t)event->io.fd;
	ktrace_trace_text(&value[2], task->on);
	value[3].number = event->io.n;
	value[4] = ktrace_trace_bytes(event->io.bytes, event->io.n, text);
	return ktr__ktrace_trace_event(trace->out, trace->sites.data, task->tid, ns, value);
}

static int ktrace_trace_user(struct ktrace_trace *trace, const struct ktr__tracee_event *event, uint64_t ns)
{
	char text[KTRACE_TRACE_ESCAPED];
	const struct ktr__ktrace_value value[2] = { { .number = event->user.n },
						    ktrace_trace_bytes(event->user.bytes, event->user.n, text) };

	return ktr__ktrace_trace_event(trace->out, trace->sites.user, event->tid, ns, value);
}

static int ktrace_trace_signal(struct ktrace_trace *trace, const struct ktr__tracee_event *event, uint64_t ns)
{
	struct ktr__ktrace_value value[3] = { { 0 } };
	char text[32];

	if (!kdump_names_signal(event->signal.number, text))
		snprintf(text, sizeof(text), "%d", event->signal.number);
	ktrace_trace_text(&value[0], text);
	value[1].number = event->signal.code == INT32_MIN ? 0 : (uint64_t)event->signal.code;
	value[2].number = event->signal.handler;
	return ktr__ktrace_trace_event(trace->out, trace->sites.signal, event->tid, ns, value);
}

/* A process is traced from here on, or has become another program, whose one thread has the process's number. */
static int ktrace_trace_start(struct ktrace_trace *trace, const struct ktr__tracee_event *event, uint64_t ns)
{
	struct ktr__ktrace_value value[2] = { { 0 } };

	ktr__descriptors_forget(&trace->descriptors, event->pid);
	ktrace_trace_text(&value[0], event->comm);
	ktrace_trace_text(&value[1], event->is_32bit ? ", of 32 bits" : "");
	return ktr__ktrace_trace_event(trace->out, trace->sites.program, event->tid, ns, value);
}

static int ktrace_trace_end(struct ktrace_trace *trace, const struct ktr__tracee_event *event, uint64_t ns)
{
	ktr__descriptors_forget(&trace->descriptors, event->pid);
	ktrace_trace_forget(trace, event->pid, 0);
	ktr__ktrace_trace_ended(trace->out, event->pid, 0, ns);
	return 0;
}

static int ktrace_trace_one(struct ktrace_trace *trace, struct ktrace_trace_task *task,
			    const struct ktr__tracee_event *event, uint64_t ns)
{
	switch (event->type) {
	case KTR__TRACEE_START:
		return ktrace_trace_start(trace, event, ns);
	case KTR__TRACEE_END:
		return ktrace_trace_end(trace, event, ns);
	case KTR__TRACEE_CALL:
		ktrace_trace_call(trace, task, event, ns);
		return 0;
	case KTR__TRACEE_RETURN:
		return ktrace_trace_return(trace, task, event, ns);
	case KTR__TRACEE_IO:
		return ktrace_trace_data(trace, task, event, ns);
	case KTR__TRACEE_SIGNAL:
		return ktrace_trace_signal(trace, event, ns);
	case KTR__TRACEE_USER:
		return ktrace_trace_user(trace, event, ns);
	default:
		return 0;
	}
}

static int ktrace_trace_event(void *context, const struct ktr__tracee_event *event)
{
	uint64_t ns = ktr__clock_now(KTR_CLOCK_MONOTONIC);
	struct ktrace_trace *trace = context;
	struct ktrace_trace_task *task;
	int rc;

	if (event->type == KTR__TRACEE_PATH) {
		ktrace_trace_path(trace, event);
		return 0;
	}
	if (event->type == KTR__TRACEE_STRUCT) {
		ktrace_trace_struct(trace, event);
		return 0;
	}
	rc = ktrace_trace_release(trace);
	if (!rc && event->type != KTR__TRACEE_END)
		rc = ktr__ktrace_trace_thread(trace->out, event->pid, event->tid, event->comm, ns);
	task = ktrace_trace_task(trace, event->pid, event->tid);
	if (!task)
		return -ENOMEM;
	return rc ? rc : ktrace_trace_one(trace, task, event, ns);
}

int ktrace_trace_waits(const struct ktrace_trace *trace)
{
	return trace->begin.task || ktr__ktrace_trace_waiting(trace->out);
}

int ktrace_trace_flush(struct ktrace_trace *trace)
{
	int rc = ktrace_trace_release(trace);

	return rc ? rc : ktr__ktrace_trace_flush(trace->out);
}

static int ktrace_trace_flush_sink(void *trace)
{
	return ktrace_trace_flush(trace);
}

struct ktr__tracee_sink ktrace_trace_sink(struct ktrace_trace *trace)
{
	return (struct ktr__tracee_sink){ ktrace_trace_event, ktrace_trace_flush_sink, trace };
}

int ktrace_trace_open(struct ktrace_trace **out, const char *path, const char *cmdline, struct ktr_error *err)
{
	struct ktrace_trace *trace = calloc(1, sizeof(*trace));
	int rc;

	*out = NULL;
	if (!trace)
		return ktr_error_set(err, ENOMEM, "no memory");
	rc = ktr__ktrace_trace_open(&trace->out, path, "ktrace", cmdline, err);
	if (rc) {
		free(trace);
		return rc;
	}
	*out = trace;
	if (!ktrace_sites_open(&trace->sites, trace->out))
		return 0;
	ktrace_trace_close(trace);
	*out = NULL;
	return ktr_error_set(err, ENOMEM, "no memory");
}

int ktrace_trace_close(struct ktrace_trace *trace)
{
	int rc, closed;

	if (!trace)
		return 0;
	rc = ktrace_trace_release(trace);
	closed = ktr__ktrace_trace_close(trace->out);
	for (unsigned i = 0; i < KTRACE_TRACE_BUCKETS; i++)
		for (struct ktrace_trace_task *task = trace->task[i], *next; task; task = next) {
			next = task->next;
			free(task);
		}
	ktr__descriptors_free(&trace->descriptors);
	ktrace_sites_free(&trace->sites);
	free(trace);
	return rc ? rc : closed;
}
