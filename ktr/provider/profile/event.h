/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A perf event of the time that a thread runs, with a ring of its own: perf_event_open(2). The kernel puts samples
 * into the ring, by its own clock; no signal is sent. An event stays as long as its ring is mapped.
 *
 * Events are opened by the thread of opener.h alone; rings are unmapped by anybody.
 */
#ifndef KTR_PROFILE_EVENT_H
#define KTR_PROFILE_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct ktr__task_event {
	struct perf_event_mmap_page *map; /* NULL: there is none */
	size_t bytes;			  /* of its data, a power of two */
	bool user_only;			  /* the kernel does not let us see its own */
};

struct ktr__task_event_ask {
	uint32_t tid; /* 0: the calling thread */
	uint64_t period_ns;
	clockid_t clock;
	uint32_t stack_bytes; /* of the stack that come with a sample, at most */
	size_t ring_bytes;    /* less where that is not to be had */
	bool once;	      /* it tells one sample, after that time, and then rests */
};

/* 0 or -errno. Nobody is woken by what comes. */
int ktr__task_event_open(struct ktr__task_event *event, const struct ktr__task_event_ask *ask);

void ktr__task_event_close(struct ktr__task_event *event); /* accepts what has none */

/* In the child of a fork there are none. */
void ktr__task_event_forked(void);

#endif
