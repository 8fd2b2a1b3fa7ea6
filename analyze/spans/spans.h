/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans out of a walk: what lies between a START and its STOP, and how long a row stays in a state. Whatever
 * prints, counts or draws spans gets them from here, so that all give one answer.
 *
 *	ktr__spans_new(&spans, info->first_ns, on_span, context);
 *	...	ktr__spans_event(spans, &event);	for each event, in time order
 *	...	ktr__spans_loss(spans, loss);		for each loss, where the walk tells of it
 *	ktr__spans_finish(spans, last_ns);		hands out what is still open; last_ns: of the last event
 *
 * A START and a STOP are a pair when process, group, id and key are equal; among several that are
 * open the last one opened ends first. A START whose key is open is nested, but where a ring that its threads
 * record to lost events since: then the STOP between the two is taken to be among these.
 *
 * The key of a KTR_SCOPE is the address of a record on the stack, which only one open span of a process can have:
 * another START or STOP with it means that the STOP before it is missing, and with the frame those are gone that
 * were called from it. A scope that ends also ends those that began within it on its thread, if anything was lost
 * since, or they are near it on the stack, and were left by longjmp(3); the ends of others are still to come,
 * because coroutines share a thread.
 *
 * The scope of a probed function has the place of its return address for a key: where another one begins, or ends
 * unbegun, less than a page above it on its thread, it has ended, and its end was lost.
 *
 * Of a function that is recorded only if it takes long enough (ktr run --longer), the START comes when it has: its
 * attribute late_ns says how long after the beginning. What encloses it on its thread has been told of by then, or
 * begins no later than it.
 *
 * A row (process, group, id; of the kernel's events the thread) is in a state until its next state. What is open
 * ends with its process; a KTR_SCOPE, and the state of a row of which one thread alone told, with that thread.
 *
 * Nothing is made up: a span that lacks an end says so, and one during which events were lost
 * says that its ends may belong to two different spans. Forward walks only; an event that is earlier than the one
 * before counts as of the same moment.
 */
#ifndef ANALYZE_SPANS_H
#define ANALYZE_SPANS_H

#include "conf/kit/hash.h"

#include <ktr/reader.h>

#include <string.h>

/* The texts of a group: mostly the same one, a constant of its site. */
static inline int ktr__same_group(const char *a, const char *b)
{
	return a == b || strcmp(a, b) == 0;
}

static inline int ktr__same_bytes(const struct ktr_event_bytes *a, const struct ktr_event_bytes *b)
{
	return a->n_bytes == b->n_bytes && memcmp(a->bytes, b->bytes, a->n_bytes) == 0;
}

/* For tables whose keys are group and id, and more. */
static inline uint64_t ktr__span_name_hash(const char *group, const struct ktr_event_bytes *ident)
{
	return ktr__hash_bytes(ktr__hash_bytes(0, group, strlen(group)), ident->bytes, ident->n_bytes);
}

/* [ns] How long before its event a scope began; 0: then. */
static inline uint64_t ktr__span_late(const struct ktr_event *event)
{
	const struct ktr_reader_site *site = event->site;

	return site->kind == KTR_KIND_START && site->ident && site->n_args == 2 && site->value_arg == 0 &&
		       site->arg[1].name && strcmp(site->arg[1].name, "late_ns") == 0 ? event->arg[1] : 0;
}

/* struct ktr__span.flags */
#define KTR__SPAN_NO_START 1u /* from_ns is only the earliest moment it can have begun */
#define KTR__SPAN_NO_END   2u /* to_ns is only a moment at which nothing had ended it yet */
#define KTR__SPAN_UNSURE   4u /* between its two ends, rings that its threads record to lost events */
#define KTR__SPAN_LEFT     8u /* besides NO_END: to_ns is when its process ended, or the thread it belongs to */
#define KTR__SPAN_MISSING  16u /* besides NO_END: it had ended by to_ns, and nobody told of it */

struct ktr__span {
	enum ktr_event_kind kind; /* KTR_KIND_START or KTR_KIND_STATE */
	uint32_t pid;
	uint64_t process_key; /* ktr__tables_process_key() */
	const char *group;
	struct ktr_event_bytes ident; /* valid during the call that hands out the span */
	struct ktr_event_bytes state; /* KTR_KIND_STATE; likewise */
	uint64_t key;                 /* KTR_KIND_START */
	uint64_t from_ns;
	uint64_t told_ns; /* when its START came: from_ns, or later */
	uint64_t to_ns;
	const struct ktr_reader_site *site; /* where it began; without a start, where it ended */
	const struct ktr_reader_thread *thread;     /* likewise */
	const struct ktr_reader_thread *end_thread; /* NULL without an end */
	uint32_t cpu;                               /* likewise: where it began, */
	int keep;                                   /* and in which of its rings */
	unsigned pair;                              /* 0; from 1: of a pair by hand (pairs.h) */
	uint64_t name_hash;                         /* ktr__span_name_hash(), filled in by spans.c */
	uint32_t depth; /* spans of the same process, group, id and key around it */
	unsigned flags;
	/* Of whoever follows spans from their beginning: NULL and 0, and then what it leaves here. */
	void *row;
	uint64_t word;
	uint32_t lane;
};

/*
 * Called when a span is complete: in the order of ends, but for what ended with its process or thread, which comes
 * when that is known, or from ktr__spans_finish(). Non-zero ends the walk.
 */
typedef int ktr__span_fn(void *context, const struct ktr__span *span);

/* Called when one begins, which stays where it is until it is complete. Likewise. */
typedef int ktr__span_begin_fn(void *context, struct ktr__span *span);

/* [spans] How many may be open at once, so that memory is bounded: about 20 MiB. */
#define KTR__SPANS_OPEN_MAX (1u << 17)

struct ktr__spans;

/* begin_ns: the earliest time of the walk. 0 with an owned object in *out, or -ENOMEM. */
int ktr__spans_new(struct ktr__spans **out, uint64_t begin_ns, ktr__span_fn *call, void *context);
void ktr__spans_free(struct ktr__spans *spans);

/* From here on beginnings are told, too, with the same context. */
void ktr__spans_follow(struct ktr__spans *spans, ktr__span_begin_fn *begin);

/* 0, -ENOMEM, or what the callback returned. Events of other kinds are nothing to it. */
int ktr__spans_event(struct ktr__spans *spans, const struct ktr_event *event);
void ktr__spans_loss(struct ktr__spans *spans, const struct ktr_loss *loss);

/*
 * The same of the events of a site that has an id of its own and a number alone, which is the key: KTR_KIND_START
 * and KTR_KIND_STOP.
 */
struct ktr__span_source { /* what many events have in common */
	const struct ktr_reader_thread *thread;
	uint32_t cpu;
	int keep;
};
struct ktr__span_mark {
	uint64_t time_ns;
	const struct ktr_reader_site *site;
	uint64_t key;
	const struct ktr__span_source *source;
};
int ktr__spans_mark(struct ktr__spans *spans, const struct ktr__span_mark *mark);

/*
 * For a caller that says by itself what begins and ends: kind, process_key, group, ident, key and pair
 * tell spans apart; from_ns is the moment, site, thread and cpu are those of its event. As above.
 */
int ktr__spans_begin(struct ktr__spans *spans, struct ktr__span *span);
int ktr__spans_end(struct ktr__spans *spans, struct ktr__span *span);
int ktr__spans_is_open(const struct ktr__spans *spans, struct ktr__span *span);

/* Hands out the spans still open as KTR__SPAN_NO_END, in the order of to_ns and of beginnings. 0 or as above. */
int ktr__spans_finish(struct ktr__spans *spans, uint64_t end_ns);

/* [events] Starts and states that were left out because too many were open. */
uint64_t ktr__spans_n_untracked(const struct ktr__spans *spans);

#endif
