/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink of the tracer of system calls that makes a trace of what it is told (ktr-trace(5)): each call is a scope
 * of its thread, from syscall::NAME:entry, which has its arguments, to syscall::NAME:return, which has its
 * result; data, signals, and the beginnings of programs are events.
 */
#ifndef TOOLS_KTRACE_TRACE_H
#define TOOLS_KTRACE_TRACE_H

#include "ktr/provider/syscall/tracee_event.h"

#include <ktr/error.h>

struct ktrace_trace;

/* cmdline: of whoever traces. 0 with an owned object in *out, or -errno with err filled. */
int ktrace_trace_open(struct ktrace_trace **out, const char *path, const char *cmdline, struct ktr_error *err);

/* Events go to it from here on. */
struct ktr__tracee_sink ktrace_trace_sink(struct ktrace_trace *trace);

/* Does anything wait to be written? */
int ktrace_trace_waits(const struct ktrace_trace *trace);

/* Writes what waits. 0 or -errno. */
int ktrace_trace_flush(struct ktrace_trace *trace);

/* Ends it, and frees all. 0 or -errno. */
int ktrace_trace_close(struct ktrace_trace *trace);

#endif
