/* SPDX-License-Identifier: BSD-2-Clause */
/* One record for each event. */
#include "writer/ktrace/encode.h"

#include "writer/ktrace/freebsd.h"

#include <stdio.h>
#include <string.h>

#define ENCODE_NS 1000000000

static int encode_put(struct ktr__ktrace_out *out, const struct ktr__tracee_event *event, unsigned type,
		      const void *first, size_t n_first, const void *second, size_t n_second)
{
	struct ktr__ktrace_part part[2] = { { first, n_first }, { second, n_second } };
	struct ktr__ktrace_header header = {
		.type = (uint16_t)(type | KTR__KTRACE_VERSIONED),
		.version = KTR__KTRACE_VERSION,
		.pid = event->pid,
		.sec = (int64_t)(event->time_ns / ENCODE_NS),
		.fraction = (int64_t)(event->time_ns % ENCODE_NS),
		.tid = event->tid,
		.cpu = -1,
	};

	snprintf(header.comm, sizeof(header.comm), "%.15s", event->comm);
	return ktr__ktrace_out(out, &header, part);
}

static int encode_start(struct ktr__ktrace_out *out, const struct ktr__tracee_event *event)
{
	uint32_t flags = KTR__KTRACE_ABI_LINUX | (event->is_32bit ? KTR__KTRACE_ILP32 : KTR__KTRACE_LP64);

	return encode_put(out, event, KTR__KTRACE_PROCCTOR, &flags, sizeof(flags), NULL, 0);
}

static int encode_call(struct ktr__ktrace_out *out, const struct ktr__tracee_event *event)
{
	struct ktr__ktrace_syscall call = { .code = (int16_t)event->call.number,
					    .n_args = (int16_t)event->call.n_args };

	return encode_put(out, event, KTR__KTRACE_SYSCALL, &call, sizeof(call), event->call.args,
			  event->call.n_args * sizeof(event->call.args[0]));
}

static int encode_return(struct ktr__ktrace_out *out, const struct ktr__tracee_event *event)
{
	struct ktr__ktrace_sysret ret = { .code = (int16_t)event->result.number, .value = event->result.value };

	if (event->result.end == KTR__WILL_RESTART)
		ret.error = KTR__KTRACE_ERESTART;
	else if (event->result.end == KTR__JUST_RETURNS)
		ret.error = KTR__KTRACE_EJUSTRETURN;
	else
		ret.error = ktr__freebsd_errno(event->result.error);
	if (ret.error)
		ret.value = 0;
	return encode_put(out, event, KTR__KTRACE_SYSRET, &ret, sizeof(ret), NULL, 0);
}

static int encode_io(struct ktr__ktrace_out *out, const struct ktr__tracee_event *event)
{
	struct ktr__ktrace_genio io = { event->io.fd, event->io.written };

	return encode_put(out, event, KTR__KTRACE_GENIO, &io, sizeof(io), event->io.bytes, event->io.n);
}

static int encode_signal(struct ktr__ktrace_out *out, const struct ktr__tracee_event *event)
{
	struct ktr__ktrace_psig signal = {
		.signo = ktr__freebsd_signal(event->signal.number),
		.action = event->signal.handler,
		.code = ktr__freebsd_code(event->signal.number, event->signal.code),
	};

	ktr__freebsd_mask(event->signal.mask, signal.mask);
	return encode_put(out, event, KTR__KTRACE_PSIG, &signal, sizeof(signal), NULL, 0);
}

static int encode_struct(struct ktr__ktrace_out *out, const struct ktr__tracee_event *event)
{
	static const char *const names[] = {
		[KTR__TRACEE_STAT] = "stat",
		[KTR__TRACEE_SOCKADDR] = "sockaddr",
		[KTR__TRACEE_ITIMER] = "itimerval",
	};
	union {
		struct ktr__ktrace_stat stat;
		struct ktr__ktrace_sockaddr address;
	} as;
	const char *name = names[event->record.kind];
	const void *bytes = &as;
	int n;

	if (event->record.kind == KTR__TRACEE_STAT) {
		n = ktr__freebsd_stat(event->record.bytes, event->record.n, &as.stat);
	} else if (event->record.kind == KTR__TRACEE_SOCKADDR) {
		n = ktr__freebsd_sockaddr(event->record.bytes, event->record.n, &as.address);
	} else {
		/* The same on both. */
		n = event->record.n == sizeof(struct ktr__ktrace_itimerval) ? (int)event->record.n : 0;
		bytes = event->record.bytes;
	}
	return n ? encode_put(out, event, KTR__KTRACE_STRUCT, name, strlen(name) + 1, bytes, (size_t)n) : 0;
}

static int encode_event(void *context, const struct ktr__tracee_event *event)
{
	struct ktr__ktrace_out *out = context;

	switch (event->type) {
	case KTR__TRACEE_START:
		return encode_start(out, event);
	case KTR__TRACEE_END:
		return encode_put(out, event, KTR__KTRACE_PROCDTOR, NULL, 0, NULL, 0);
	case KTR__TRACEE_CALL:
		return encode_call(out, event);
	case KTR__TRACEE_RETURN:
		return encode_return(out, event);
	case KTR__TRACEE_PATH:
		return encode_put(out, event, KTR__KTRACE_NAMEI, event->path.bytes, event->path.n, NULL, 0);
	case KTR__TRACEE_IO:
		return encode_io(out, event);
	case KTR__TRACEE_STRUCT:
		return encode_struct(out, event);
	case KTR__TRACEE_SIGNAL:
		return encode_signal(out, event);
	case KTR__TRACEE_USER:
		return encode_put(out, event, KTR__KTRACE_USER, event->user.bytes, event->user.n, NULL, 0);
	}
	return 0;
}

static int encode_flush(void *context)
{
	return ktr__ktrace_flush(context);
}

struct ktr__tracee_sink ktr__ktrace_sink(struct ktr__ktrace_out *out)
{
	return (struct ktr__tracee_sink){ encode_event, encode_flush, out };
}
