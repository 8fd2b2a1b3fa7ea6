/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of calls put together: a call with its paths, data and structures is one thing, told of when it ends. A
 * view prints such things: as strace(1) does (kdump_strace.c), or as JSON (kdump_json.c).
 */
#ifndef TOOLS_KDUMP_CALLS_H
#define TOOLS_KDUMP_CALLS_H

#include "ktr/provider/syscall/calls.h"
#include "writer/ktrace/in.h"

#include <stdio.h>

#define KDUMP_CALLS_BUCKETS 256
#define KDUMP_CALLS_PATH    4096
#define KDUMP_CALLS_DATA    4096

/* A thread, and the call that it makes. */
struct kdump_call {
	struct kdump_call *next; /* in its bucket */
	int64_t tid;
	int32_t pid;
	int is_open;	/* it has begun, and not ended */
	int is_begun;	/* the view has printed its beginning */
	int64_t from_ns, to_ns;
	char comm[20];
	int number;
	const struct ktr__call *call; /* NULL: it has no name */
	uint64_t args[KTR__CALL_ARGS];
	unsigned n_args;
	char *path[2]; /* owned, NULL: there is none; in the order of the arguments that are paths */
	char address[128]; /* of a peer; "" */
	struct ktr__ktrace_stat stat;
	int has_stat;
	char *data;	/* owned; NULL: none was recorded */
	size_t n_data;
	int error;	/* of Linux; 0 */
	int restarts, just_returns;
	int64_t value;
	int last;	/* status of exit(2), 256 and a signal: that it has died of; -1: not known */
};

/* A signal that was delivered. */
struct kdump_signal {
	int number; /* of Linux */
	const char *code; /* its name; NULL: it has none */
	uint64_t handler; /* 0: the default */
};

struct kdump_calls;

struct kdump_view {
	void (*begun)(struct kdump_calls *calls, struct kdump_call *call); /* each may be NULL */
	void (*ended)(struct kdump_calls *calls, struct kdump_call *call);
	void (*signal)(struct kdump_calls *calls, struct kdump_call *call, const struct kdump_signal *signal);
	void (*lost)(struct kdump_calls *calls, struct kdump_call *call); /* records, before this one */
	void (*gone)(struct kdump_calls *calls, struct kdump_call *call); /* the process, of this thread */
};

struct kdump_calls {
	const struct kdump_view *view; /* NULL: records are printed one by one */
	FILE *out;
	size_t max_data; /* [bytes] of data that are shown */
	struct kdump_call *bucket[KDUMP_CALLS_BUCKETS]; /* owned */
	struct kdump_call *held; /* strace's: whose beginning is not printed yet */
	int64_t now_ns;
};

extern const struct kdump_view kdump_strace, kdump_json;

/* A record, abi being its process's. 0; -EINVAL: its data is not what its type has; -ENOMEM. */
int kdump_calls_record(struct kdump_calls *calls, const struct ktr__ktrace_record *record, uint32_t abi);

/* Calls that have not ended. */
void kdump_calls_finish(struct kdump_calls *calls);
void kdump_calls_free(struct kdump_calls *calls);

/* Which argument of a call is its data, or its address, or its stat; -1: none. */
int kdump_call_data_arg(const struct kdump_call *call);
int kdump_call_address_arg(const struct kdump_call *call);
int kdump_call_stat_arg(const struct kdump_call *call);

/* The path that is argument i; NULL: it is none, or was not recorded. */
const char *kdump_call_path(const struct kdump_call *call, unsigned i);

/* Is its result an address? */
int kdump_call_gives_address(const struct kdump_call *call);

#endif
