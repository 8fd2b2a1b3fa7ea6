/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls: the scopes of a thread (KTR_SCOPE, and functions that are probed), how they lie in each other, and the
 * time that each has for itself. Of the span engine's pairing (spans.h).
 *
 *	ktr__calls_new(&calls, &hooks, context, info->first_ns);
 *	...	ktr__calls_event(calls, &event); ktr__calls_loss(calls, loss);
 *	...	ktr__calls_finish(calls, last_ns);
 *
 * Who follows spans anyway hands on what the engine tells it, to calls made by ktr__calls_within():
 * ktr__calls_begun() for each scope that begins, ktr__calls_ended() for each that ends.
 *
 * Memory is bounded by how many scopes are open at once. One thread at a time.
 */
#ifndef ANALYZE_CALLS_H
#define ANALYZE_CALLS_H

#include "analyze/spans/spans.h"

struct ktr__call {
	const struct ktr__span *span; /* from_ns, site, thread; to_ns and flags when it ends */
	unsigned depth; /* calls of its thread around it */
	unsigned level; /* one more than that of the call around it, which it keeps when that ends first; from 0 */
	const char *outer; /* the name of the innermost of these; NULL: there is none */
	const struct ktr_reader_site *outer_site; /* where that one began; likewise */
	int again;	/* one of the same name is around it */
	uint64_t inner_ns; /* that calls within it took; complete when it ends */
	char *args;	   /* "s=\"abc\", n=3", where they are recorded; else NULL */
	char *result;	   /* likewise, when it ends: "-1" */
};

/* Each may be NULL. Non-zero ends the walk. */
struct ktr__calls_hooks {
	int (*begin)(void *context, const struct ktr__call *call);
	int (*end)(void *context, const struct ktr__call *call);
};

struct ktr__calls;

/* 0 with an owned object in *out, or -ENOMEM. */
int ktr__calls_new(struct ktr__calls **out, const struct ktr__calls_hooks *hooks, void *context, uint64_t begin_ns);
void ktr__calls_free(struct ktr__calls *calls);

/* 0, -ENOMEM, or what a hook returned. */
int ktr__calls_event(struct ktr__calls *calls, const struct ktr_event *event);
void ktr__calls_loss(struct ktr__calls *calls, const struct ktr_loss *loss);
int ktr__calls_finish(struct ktr__calls *calls, uint64_t end_ns);

/* Calls of an engine that another one drives: 0 with an owned object in *out, or -ENOMEM. */
int ktr__calls_within(struct ktr__calls **out, const struct ktr__calls_hooks *hooks, void *context);

/* That engine's beginnings and ends, of scopes alone. 0, -ENOMEM, or what a hook returned. */
int ktr__calls_begun(struct ktr__calls *calls, const struct ktr__span *span);
int ktr__calls_ended(struct ktr__calls *calls, const struct ktr__span *span);

/* How many calls of a thread are open. */
unsigned ktr__calls_depth(const struct ktr__calls *calls, const struct ktr_reader_thread *thread);

/* A scope's name. */
static inline const char *ktr__call_name(const struct ktr__call *call)
{
	return call->span->site->ident ? call->span->site->ident : "";
}

/* How long it lasted, and how long of that nothing within it did. */
static inline uint64_t ktr__call_total_ns(const struct ktr__call *call)
{
	return call->span->to_ns > call->span->from_ns ? call->span->to_ns - call->span->from_ns : 0;
}

static inline uint64_t ktr__call_self_ns(const struct ktr__call *call)
{
	uint64_t total_ns = ktr__call_total_ns(call);

	return total_ns > call->inner_ns ? total_ns - call->inner_ns : 0;
}

#endif
