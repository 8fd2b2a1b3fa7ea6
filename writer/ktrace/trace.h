/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace, as ktr-trace(5) has it, of processes that somebody outside follows: what an event refers to, its call
 * site and its thread, is told of at any time before it. There is one stream, whose events come in the order of
 * time. Whole packets are appended, so the trace can be read while it grows, and after its writer was killed.
 */
#ifndef KTRACE_TRACE_H
#define KTRACE_TRACE_H

#include <ktr/entry.h>
#include <ktr/error.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ktr__ktrace_trace;

/* A call site. All borrowed. */
struct ktr__ktrace_site {
	uint64_t mask;
	const char *class_name; /* of the mask */
	const char *name;       /* "syscall::openat:entry" */
	const char *file;       /* NULL: as the name */
	const char *func;
	const char *format;
	const char *names; /* of the arguments, with commas between them */
	unsigned n_args;
	uint8_t type[KTR_ARGS_MAX]; /* enum ktr_arg_type; STR, STACK, and numbers */
};

/* The value of an argument: a number; n bytes without a NUL among them; or of a stack n bytes, 8 for each frame. */
struct ktr__ktrace_value {
	uint64_t number;
	const char *bytes;
	size_t n;
	int cut; /* there was more */
};

/*
 * Makes it; what has the name moves aside. name: of its session; cmdline: of whoever makes it. 0 with an owned
 * object in *out, or -errno with err filled.
 */
int ktr__ktrace_trace_open(struct ktr__ktrace_trace **out, const char *path, const char *name, const char *cmdline,
			   struct ktr_error *err);

/* A class of its own; its bit. */
uint64_t ktr__ktrace_trace_class(struct ktr__ktrace_trace *trace, const char *name, const char *help);

/* Its number, 0: no memory. */
uint32_t ktr__ktrace_trace_site(struct ktr__ktrace_trace *trace, const struct ktr__ktrace_site *site);

/* A thread is there, by this name; of one that has got another name, too. 0 or -ENOMEM. */
int ktr__ktrace_trace_thread(struct ktr__ktrace_trace *trace, pid_t pid, pid_t tid, const char *comm, uint64_t ns);

/*
 * An object that a process has, by the addresses that it has there: base is added to its own. id: its build-id, of
 * n_id bytes. For the names of addresses in stacks. Nothing where the process has no thread yet.
 */
void ktr__ktrace_trace_module(struct ktr__ktrace_trace *trace, pid_t pid, uint64_t base, uint64_t end,
			      const char *path, const uint8_t *id, size_t n_id);

/* It ends; tid 0: the process, and all that it has. */
void ktr__ktrace_trace_ended(struct ktr__ktrace_trace *trace, pid_t pid, pid_t tid, uint64_t ns);

/* An event of a thread that is there. The values are as many as the site has arguments. 0 or -errno. */
int ktr__ktrace_trace_event(struct ktr__ktrace_trace *trace, uint32_t site, pid_t tid, uint64_t ns,
			    const struct ktr__ktrace_value *value);

/* Events that wait to be written: how many bytes; writes them. 0 or -errno, with which nothing more is written. */
size_t ktr__ktrace_trace_waiting(const struct ktr__ktrace_trace *trace);
int ktr__ktrace_trace_flush(struct ktr__ktrace_trace *trace);

/* Writes what waits, and the end. 0 or -errno. */
int ktr__ktrace_trace_close(struct ktr__ktrace_trace *trace);

#endif
