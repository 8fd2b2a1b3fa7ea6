/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tracer of system calls tells of other processes, one after the other: a sink makes of it what it
 * likes, a file, events of a trace. All numbers are Linux's own. What an event points to is there until the sink
 * returns.
 */
#ifndef KTR_TRACEE_EVENT_H
#define KTR_TRACEE_EVENT_H

#include "ktr/provider/syscall/calls.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum ktr__tracee_event_type {
	KTR__TRACEE_START,  /* it is traced from here on, or has become another program */
	KTR__TRACEE_END,    /* the process's last thread ends */
	KTR__TRACEE_CALL,   /* a call begins */
	KTR__TRACEE_RETURN, /* it ends */
	KTR__TRACEE_PATH,   /* a path that the call before takes */
	KTR__TRACEE_IO,	    /* data that it has read or written */
	KTR__TRACEE_STRUCT, /* a structure that it takes or has given */
	KTR__TRACEE_SIGNAL, /* a signal is delivered */
	KTR__TRACEE_USER    /* bytes that the program wants recorded: ktr_utrace() */
};

/* Kinds of events that are asked for. START and END are always told. */
enum ktr__tracee_points {
	KTR__POINT_CALLS = 1,
	KTR__POINT_PATHS = 2,
	KTR__POINT_IO = 4,
	KTR__POINT_SIGNALS = 8,
	KTR__POINT_STRUCTS = 16,
	KTR__POINT_USER = 32
};

enum ktr__tracee_struct { KTR__TRACEE_STAT, KTR__TRACEE_SOCKADDR, KTR__TRACEE_ITIMER };

/* How a call ends that has no result. */
enum ktr__tracee_end { KTR__RETURNED, KTR__WILL_RESTART, KTR__JUST_RETURNS };

struct ktr__tracee_event {
	enum ktr__tracee_event_type type;
	pid_t pid, tid;
	uint64_t time_ns;  /* CLOCK_REALTIME */
	const char *comm;  /* the thread's name, at most 15 bytes and a NUL */
	uint32_t points;   /* what is asked for of this process */
	int is_32bit;	   /* the process's calls are those of a 32-bit machine */
	union {
		struct {
			uint64_t number;
			const uint64_t *args;
			unsigned n_args;
		} call;
		struct {
			uint64_t number;
			int64_t value; /* 0 where error is not */
			int error;     /* an errno, or 0 */
			enum ktr__tracee_end end;
		} result;
		struct {
			const char *bytes; /* no NUL */
			size_t n;
			unsigned arg; /* of the call */
		} path;
		struct {
			int fd;
			int written; /* 0: read */
			const void *bytes;
			size_t n;
		} io;
		struct {
			const void *bytes;
			size_t n;
		} user;
		struct {
			enum ktr__tracee_struct kind;
			const void *bytes; /* as the kernel lays it out */
			size_t n;
		} record;
		struct {
			int number;
			int code;	   /* si_code; INT32_MIN: not known */
			uint64_t handler;  /* 0: the default */
			uint64_t mask;	   /* of blocked signals, bit 0: signal 1 */
		} signal;
	};
};

/* Returns 0, or -errno, with which tracing ends; flush: whoever waits for the end of a process may now read. */
struct ktr__tracee_sink {
	int (*event)(void *context, const struct ktr__tracee_event *event);
	int (*flush)(void *context);
	void *context;
};

#endif
