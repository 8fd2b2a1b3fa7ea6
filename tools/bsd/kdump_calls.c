/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/bsd/kdump_calls.h"

#include "tools/bsd/call_text.h"
#include "tools/bsd/kdump_lines.h"
#include "writer/ktrace/freebsd.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a call has ---- */

int kdump_call_data_arg(const struct kdump_call *call)
{
	int io = call->call ? call->call->io : KTR__IO_NONE;

	return call->data && io != KTR__IO_NONE ? 1 : -1;
}

int kdump_call_address_arg(const struct kdump_call *call)
{
	if (!call->call || !call->address[0])
		return -1;
	switch (call->call->record) {
	case KTR__STRUCT_ADDR_IN:
	case KTR__STRUCT_ADDR_OUT:
		return 1;
	case KTR__STRUCT_ADDR_SENDTO:
	case KTR__STRUCT_ADDR_RECVFROM:
		return 4;
	default:
		return -1;
	}
}

int kdump_call_stat_arg(const struct kdump_call *call)
{
	if (!call->call || !call->has_stat)
		return -1;
	return call->call->record == KTR__STRUCT_STAT1 ? 1 : call->call->record == KTR__STRUCT_STAT2 ? 2 : -1;
}

const char *kdump_call_path(const struct kdump_call *call, unsigned i)
{
	unsigned n = 0;

	if (!call->call || call->call->args[i] != 'n')
		return NULL;
	for (unsigned k = 0; k < i; k++)
		n += call->call->args[k] == 'n' && call->args[k];
	return n < 2 && call->args[i] ? call->path[n] : NULL;
}

int kdump_call_gives_address(const struct kdump_call *call)
{
	return call->call && call_text_gives_address(call->call);
}

static void kdump_calls_clear(struct kdump_call *call)
{
	free(call->path[0]);
	free(call->path[1]);
	free(call->data);
	call->path[0] = call->path[1] = call->data = NULL;
	call->address[0] = '\0';
	call->has_stat = call->is_begun = call->is_open = 0;
	call->error = call->restarts = call->just_returns = 0;
	call->n_data = 0;
	call->value = 0;
}

/* ---- threads ---- */

static struct kdump_call **kdump_calls_at(struct kdump_calls *calls, int64_t tid)
{
	struct kdump_call **at = &calls->bucket[(uint64_t)tid % KDUMP_CALLS_BUCKETS];

	while (*at && (*at)->tid != tid)
		at = &(*at)->next;
	return at;
}

static struct kdump_call *kdump_calls_thread(struct kdump_calls *calls, const struct ktr__ktrace_header *header)
{
	struct kdump_call **at = kdump_calls_at(calls, header->tid);

	if (!*at) {
		*at = calloc(1, sizeof(**at));
		if (!*at)
			return NULL;
		(*at)->tid = header->tid;
		(*at)->last = -1;
	}
	(*at)->pid = header->pid;
	snprintf((*at)->comm, sizeof((*at)->comm), "%.19s", header->comm);
	return *at;
}

/* The threads of a process but one: it has become another program, or ended. */
static void kdump_calls_forget(struct kdump_calls *calls, int32_t pid, const struct kdump_call *but)
{
	for (unsigned i = 0; i < KDUMP_CALLS_BUCKETS; i++)
		for (struct kdump_call **at = &calls->bucket[i], *one; (one = *at) != NULL;) {
			if (one->pid != pid || one == but) {
				at = &one->next;
				continue;
			}
			if (calls->held == one)
				calls->held = NULL;
			*at = one->next;
			kdump_calls_clear(one);
			free(one);
		}
}

/* The thread of a process that is about to become another program, if it is not the process's first; or NULL. */
static struct kdump_call *kdump_calls_take_exec(struct kdump_calls *calls, const struct ktr__ktrace_header *header)
{
	for (unsigned i = 0; i < KDUMP_CALLS_BUCKETS; i++)
		for (struct kdump_call **at = &calls->bucket[i], *one; (one = *at) != NULL; at = &one->next)
			if (one->pid == header->pid && one->tid != header->tid && one->is_open && one->call &&
			    strncmp(one->call->name, "execve", 6) == 0) {
				*at = one->next;
				return one;
			}
	return NULL;
}

/* It has become one: the thread that asked for it has the process's number from here on, the others are gone. */
static void kdump_calls_exec(struct kdump_calls *calls, const struct ktr__ktrace_header *header)
{
	struct kdump_call *one = kdump_calls_take_exec(calls, header), **at;

	if (!one)
		return;
	kdump_calls_forget(calls, header->pid, NULL);
	at = &calls->bucket[(uint64_t)header->tid % KDUMP_CALLS_BUCKETS];
	one->tid = header->tid;
	one->next = *at;
	*at = one;
}

/* ---- records ---- */

static int kdump_calls_begin(struct kdump_calls *calls, struct kdump_call *call,
			     const struct ktr__ktrace_record *record, uint32_t abi)
{
	const struct ktr__ktrace_syscall *given = record->data;
	size_t n = (size_t)record->header.len;
	int is_known = (abi & KTR__KTRACE_ABI_MASK) == KTR__KTRACE_ABI_LINUX && (abi & KTR__KTRACE_LP64);

	if (n < sizeof(*given) || given->n_args < 0 ||
	    n - sizeof(*given) != (size_t)given->n_args * sizeof(given->args[0]))
		return -EINVAL;
	if (calls->held == call)
		calls->held = NULL;
	kdump_calls_clear(call);
	call->is_open = 1;
	call->from_ns = calls->now_ns;
	call->number = given->code;
	call->n_args = given->n_args < KTR__CALL_ARGS ? (unsigned)given->n_args : KTR__CALL_ARGS;
	memset(call->args, 0, sizeof(call->args));
	memcpy(call->args, given->args, call->n_args * sizeof(call->args[0]));
	call->call = is_known ? ktr__call_find(ktr__machine_own(), (uint64_t)given->code) : NULL;
	if (call->call && call->call->n_args != call->n_args)
		call->call = NULL;
	if (call->call && strncmp(call->call->name, "exit", 4) == 0)
		call->last = (int)(call->args[0] & 0xff);
	if (calls->view->begun)
		calls->view->begun(calls, call);
	return 0;
}

static int kdump_calls_end(struct kdump_calls *calls, struct kdump_call *call,
			   const struct ktr__ktrace_record *record)
{
	const struct ktr__ktrace_sysret *ret = record->data;

	if (record->header.len != sizeof(*ret))
		return -EINVAL;
	if (!call->is_open || call->number != ret->code)
		return 0; /* a child begins with the end of what made it */
	call->to_ns = calls->now_ns;
	call->restarts = ret->error == KTR__KTRACE_ERESTART;
	call->just_returns = ret->error == KTR__KTRACE_EJUSTRETURN;
	call->error = ret->error <= 0                       ? 0
		      : ktr__freebsd_errno_back(ret->error) ? ktr__freebsd_errno_back(ret->error)
							    : ret->error;
	call->value = ret->error ? -1 : ret->value;
	if (calls->view->ended)
		calls->view->ended(calls, call);
	kdump_calls_clear(call);
	return 0;
}

static int kdump_calls_path(struct kdump_call *call, const struct ktr__ktrace_record *record)
{
	int i = call->path[0] != NULL;

	if (!call->is_open || call->path[i])
		return 0;
	call->path[i] = strndup(record->data, (size_t)record->header.len);
	return call->path[i] ? 0 : -ENOMEM;
}

static int kdump_calls_data(struct kdump_call *call, const struct ktr__ktrace_record *record)
{
	const struct ktr__ktrace_genio *io = record->data;
	size_t n = (size_t)record->header.len - sizeof(*io);

	if ((size_t)record->header.len < sizeof(*io))
		return -EINVAL;
	if (!call->is_open || call->data)
		return 0;
	call->data = malloc(n + 1);
	if (!call->data)
		return -ENOMEM;
	memcpy(call->data, io->data, n);
	call->n_data = n;
	return 0;
}

/* FreeBSD's has its length first; what follows the family is as Linux has it. */
static void kdump_calls_address(struct kdump_call *call, const char *bytes, size_t n)
{
	char own[130] = { 0 };
	uint16_t family;

	if (n < 2 || n > 128)
		return;
	family = (uint8_t)bytes[1];
	if (family == KTR__KTRACE_AF_INET6)
		family = 10;
	memcpy(own, &family, sizeof(family));
	memcpy(own + 2, bytes + 2, n - 2);
	if (!call_text_address(own, n, call->address, sizeof(call->address)))
		call->address[0] = '\0';
}

static int kdump_calls_struct(struct kdump_call *call, const struct ktr__ktrace_record *record)
{
	const char *name = record->data;
	size_t n = (size_t)record->header.len, length = strnlen(name, n);

	if (length == n)
		return -EINVAL;
	if (!call->is_open)
		return 0;
	n -= length + 1;
	if (strcmp(name, "sockaddr") == 0) {
		kdump_calls_address(call, name + length + 1, n);
	} else if (strcmp(name, "stat") == 0 && n == sizeof(call->stat)) {
		memcpy(&call->stat, name + length + 1, n);
		call->has_stat = 1;
	}
	return 0;
}

static int kdump_calls_signal(struct kdump_calls *calls, struct kdump_call *call,
			      const struct ktr__ktrace_record *record)
{
	const struct ktr__ktrace_psig *given = record->data;
	struct kdump_signal one;

	if (record->header.len != sizeof(*given))
		return -EINVAL;
	one.number = ktr__freebsd_signal_back(given->signo);
	one.code = kdump_line_code_name(given);
	one.handler = given->action;
	if (!given->action)
		call->last = 256 + one.number;
	if (calls->view->signal)
		calls->view->signal(calls, call, &one);
	return 0;
}

int kdump_calls_record(struct kdump_calls *calls, const struct ktr__ktrace_record *record, uint32_t abi)
{
	const struct ktr__ktrace_header *header = &record->header;
	struct kdump_call *call = kdump_calls_thread(calls, header);

	if (!call)
		return -ENOMEM;
	calls->now_ns = (int64_t)((uint64_t)header->sec * 1000000000 +
				  (uint64_t)header->fraction * (header->version ? 1 : 1000));
	if (record->dropped && calls->view->lost)
		calls->view->lost(calls, call);
	switch (header->type) {
	case KTR__KTRACE_SYSCALL:
		return kdump_calls_begin(calls, call, record, abi);
	case KTR__KTRACE_SYSRET:
		return kdump_calls_end(calls, call, record);
	case KTR__KTRACE_NAMEI:
		return kdump_calls_path(call, record);
	case KTR__KTRACE_GENIO:
		return kdump_calls_data(call, record);
	case KTR__KTRACE_STRUCT:
		return kdump_calls_struct(call, record);
	case KTR__KTRACE_PSIG:
		return kdump_calls_signal(calls, call, record);
	case KTR__KTRACE_PROCCTOR:
		kdump_calls_exec(calls, header);
		return 0;
	case KTR__KTRACE_PROCDTOR:
		if (calls->view->gone)
			calls->view->gone(calls, call);
		kdump_calls_forget(calls, header->pid, NULL);
		return 0;
	default:
		return 0;
	}
}

void kdump_calls_finish(struct kdump_calls *calls)
{
	/* As of their beginnings: who has not ended has none that is known. */
	for (unsigned i = 0; i < KDUMP_CALLS_BUCKETS; i++)
		for (struct kdump_call *call = calls->bucket[i]; call; call = call->next)
			if (call->is_open && calls->view->ended) {
				call->to_ns = 0;
				calls->view->ended(calls, call);
			}
}

void kdump_calls_free(struct kdump_calls *calls)
{
	for (unsigned i = 0; i < KDUMP_CALLS_BUCKETS; i++)
		for (struct kdump_call *call = calls->bucket[i], *next; call; call = next) {
			next = call->next;
			kdump_calls_clear(call);
			free(call);
		}
}
