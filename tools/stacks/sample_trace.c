/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * With a thread's row are its last frames, which it has again when it sleeps on. As in the profiler's stacks each
 * frame is named by the byte before it (ktr/provider/profile/unwind.c).
 */
#include "tools/stacks/sample_trace.h"

#include "conf/kit/array.h"
#include "ktr/provider/syscall/tracee_wait.h"
#include "writer/ktrace/trace.h"

#include <ktr/session.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_FRAMES 128 /* of a stack in a trace: KTR_STACK_MAX */

struct sample_trace {
	const char *path;
	char cmdline[64];
	struct ktr_error *err;
	struct ktr__ktrace_trace *out; /* owned; NULL before the first sample */
	const struct ktr__live *live;  /* whose objects are told */
	uint64_t *told;		       /* owned: where those begin */
	uint32_t n_told, room_told;
	uint64_t period_ns; /* 0: single stacks */
	uint32_t site;
};

struct trace_stack {
	unsigned n;
	int is_cut;
	uint64_t pc[TRACE_FRAMES];
};

void sample_trace_forget(struct ktr__live_row *row)
{
	free(row->own);
	row->own = NULL;
}

/* ---- objects ---- */

static int trace_is_told(const struct sample_trace *trace, uint64_t base)
{
	for (uint32_t i = 0; i < trace->n_told; i++)
		if (trace->told[i] == base)
			return 1;
	return 0;
}

/* Those that have come since. 0 or -ENOMEM. */
static int trace_objects(struct sample_trace *trace, pid_t pid, struct ktr__live *live)
{
	const struct ktr__live_maps *maps = ktr__live_maps(live);
	struct ktr__live_image image;

	for (uint32_t i = 0; i < maps->n_objects; i++) {
		uint64_t at = maps->object[i].start;

		if (trace_is_told(trace, at) || !ktr__live_image(live, i, &image))
			continue;
		if (ktr__array_grow(&trace->told, &trace->room_told, trace->n_told, sizeof(*trace->told)))
			return -ENOMEM;
		trace->told[trace->n_told++] = at;
		ktr__ktrace_trace_module(trace->out, pid, image.base, image.end, image.path, image.id, image.n_id);
	}
	trace->live = live;
	return 0;
}

/* ---- samples ---- */

static void trace_stack_fill(struct trace_stack *stack, const struct ktr__live_frame *frame, unsigned n, int is_cut)
{
	stack->n = n < TRACE_FRAMES ? n : TRACE_FRAMES;
	stack->is_cut = is_cut || stack->n < n;
	for (unsigned i = 0; i < stack->n; i++)
		stack->pc[i] = frame[i].pc + !frame[i].is_return;
}

/* NULL: no memory. */
static struct trace_stack *trace_stack(const struct ktr__live_sample *sample)
{
	struct trace_stack *stack = sample->row->own;

	if (!stack)
		stack = sample->row->own = calloc(1, sizeof(*stack));
	if (!stack || sample->is_same)
		return stack;
	trace_stack_fill(stack, sample->frame, sample->n_frames, sample->is_cut);
	return stack;
}

/* "missed": where it was is not known. */
static const char *trace_how(const struct ktr__live_sample *sample)
{
	if (sample->code)
		return "missed";
	if (sample->state != 'R')
		return "waiting";
	return sample->in_call ? "kernel" : "user";
}

/* ---- to begin and end ---- */

/* As ktr/provider/profile/profile.c offers it. */
static uint32_t trace_site_samples(const struct sample_trace *trace, uint64_t mask)
{
	struct ktr__ktrace_site site = {
		.mask = mask,
		.class_name = "profile",
		.file = "profile",
		.names = "ticks,ns,how,stack",
		.n_args = 4,
		.type = { KTR_ARG_U32, KTR_ARG_I64, KTR_ARG_STR, KTR_ARG_STACK },
	};
	char name[64], format[128];

	if (1000000000 % trace->period_ns == 0)
		snprintf(name, sizeof(name), "profile-%" PRIu64, 1000000000 / trace->period_ns);
	else
		snprintf(name, sizeof(name), "profile-%" PRIu64 "ns", trace->period_ns);
	snprintf(format, sizeof(format), "%s ticks=%%llu ns=%%lld how=%%s", name);
	site.name = site.func = name;
	site.format = format;
	return ktr__ktrace_trace_site(trace->out, &site);
}

/* A stack that stands for itself, not for a time. */
static uint32_t trace_site_stacks(const struct sample_trace *trace, uint64_t mask)
{
	const struct ktr__ktrace_site site = {
		.mask = mask,
		.class_name = "profile",
		.name = "stacks",
		.func = "stacks",
		.format = "%s",
		.names = "what,stack",
		.n_args = 2,
		.type = { KTR_ARG_STR, KTR_ARG_STACK },
	};

	return ktr__ktrace_trace_site(trace->out, &site);
}

/* 0, or -errno with the error filled. */
static int trace_begin(struct sample_trace *trace)
{
	uint64_t mask;
	int rc = 0;

	if (!trace->out)
		rc = ktr__ktrace_trace_open(&trace->out, trace->path, trace->period_ns ? "sample" : "stacks",
					    trace->cmdline, trace->err);
	if (rc || trace->site)
		return rc;
	mask = ktr__ktrace_trace_class(trace->out, "profile", "where threads are");
	trace->site = trace->period_ns ? trace_site_samples(trace, mask) : trace_site_stacks(trace, mask);
	return trace->site ? 0 : ktr_error_set(trace->err, ENOMEM, "not enough memory");
}

static int trace_failed(const struct sample_trace *trace, int rc)
{
	return rc ? ktr_error_set(trace->err, -rc, "%s: cannot write: %m", trace->path) : 0;
}

/* An event of a thread, with the values that the site has. 0, or -errno with the error filled. */
static int trace_put(struct sample_trace *trace, pid_t pid, struct ktr__live *live, pid_t tid, const char *name,
		     uint64_t ns, const struct ktr__ktrace_value *value)
{
	int rc = trace_begin(trace);

	if (rc)
		return rc;
	rc = ktr__ktrace_trace_thread(trace->out, pid, tid, name, ns);
	if (!rc && trace->live != live)
		rc = trace_objects(trace, pid, live);
	if (!rc)
		rc = ktr__ktrace_trace_event(trace->out, trace->site, tid, ns, value);
	return trace_failed(trace, rc);
}

static struct ktr__ktrace_value trace_text(const char *text)
{
	return (struct ktr__ktrace_value){ .bytes = text, .n = strlen(text) };
}

static struct ktr__ktrace_value trace_frames(const struct trace_stack *stack)
{
	return (struct ktr__ktrace_value){ .bytes = (const char *)stack->pc, .n = 8 * (size_t)stack->n,
					   .cut = stack->is_cut };
}

int sample_trace_add(struct sample_trace *trace, pid_t pid, struct ktr__live *live,
		     const struct ktr__live_sample *sample)
{
	struct ktr__ktrace_value value[4] = { { .number = 1 }, { .number = trace->period_ns } };
	const struct trace_stack *stack = trace_stack(sample);

	if (!stack)
		return trace_failed(trace, -ENOMEM);
	value[2] = trace_text(trace_how(sample));
	value[3] = trace_frames(stack);
	return trace_put(trace, pid, live, sample->row->tid, sample->row->name, sample->time_ns, value);
}

int sample_trace_thread(struct sample_trace *trace, const struct ktr__live_taken *taken, struct ktr__live *live,
			const char *what, const struct ktr__live_frame *frame, unsigned n, int is_cut)
{
	struct trace_stack stack;
	struct ktr__ktrace_value value[2];

	trace_stack_fill(&stack, frame, n, is_cut);
	value[0] = trace_text(what);
	value[1] = trace_frames(&stack);
	return trace_put(trace, taken->pid, live, taken->tid, taken->name, ktr__tracee_wait_now(), value);
}

struct sample_trace *sample_trace_new(const char *path, const char *cmdline, uint64_t period_ns,
				      struct ktr_error *err)
{
	struct sample_trace *trace = calloc(1, sizeof(*trace));

	if (!trace)
		return NULL;
	trace->path = path;
	trace->period_ns = period_ns;
	trace->err = err;
	snprintf(trace->cmdline, sizeof(trace->cmdline), "%s", cmdline);
	return trace;
}

int sample_trace_close(struct sample_trace *trace)
{
	int rc = trace_failed(trace, ktr__ktrace_trace_close(trace->out));

	free(trace->told);
	free(trace);
	return rc;
}
