/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the time of threads went, by the kernel's context switches (ktr/session/kernel_event.h): on a CPU, ready
 * to run, waiting; and the longest absences, with what each thread recorded last before it went.
 *
 *	ktr__oncpu_init(&oncpu, reader);
 *	sinks[1] = &oncpu.sink;
 *	ktr_reader_walk(reader, sinks, 2);
 *	ktr__oncpu_finish(&oncpu);
 */
#ifndef ANALYZE_ONCPU_H
#define ANALYZE_ONCPU_H

#include <ktr/reader.h>

#define KTR__ONCPU_ABSENCES 64u /* kept: the longest */

enum ktr__oncpu_state {
	KTR__ONCPU_UNKNOWN, /* before the first switch, and where switches were lost */
	KTR__ONCPU_ON,
	KTR__ONCPU_READY,
	KTR__ONCPU_OFF,
	KTR__ONCPU_GONE,
	KTR__ONCPU_STATES
};

struct ktr__oncpu_thread {
	const struct ktr_reader_thread *thread; /* NULL: no event of the kernel */
	enum ktr__oncpu_state state;
	uint64_t since_ns;
	uint64_t total_ns[KTR__ONCPU_STATES];
	uint64_t n_switches; /* away from a CPU */
	uint64_t n_preempted;
	uint64_t n_minor;
	uint64_t n_major;
	struct ktr_event last; /* of its own; site NULL: none yet. Strings are gone */
	struct ktr_event before; /* what that was when the state began */
};

struct ktr__oncpu_absence {
	const struct ktr_reader_thread *thread;
	uint64_t from_ns;
	uint64_t ns;
	enum ktr__oncpu_state state; /* READY, OFF */
	int open;		     /* it had not ended when the trace did */
	struct ktr_event last;	     /* before it; site NULL: none */
};

struct ktr__oncpu {
	struct ktr_sink sink; /* first */
	const struct ktr_reader *reader; /* borrowed */
	struct ktr__oncpu_thread *thread; /* owned; by id */
	unsigned n_threads;
	uint8_t *kind; /* owned; by site: enum ktr__kernel_site */
	unsigned n_sites;
	int listens;	   /* some site is the kernel's */
	uint64_t known_ns; /* of the first switch of any thread; 0: there is none */
	uint64_t last_ns;  /* of all events seen */
	struct ktr__oncpu_absence absence[KTR__ONCPU_ABSENCES]; /* the longest first */
	unsigned n_absences;
};

/* enum ktr__kernel_site: what a site of the kernel's tells; NONE: it is none. */
uint8_t ktr__oncpu_kind(const struct ktr_reader_site *site);

/* 0 or -ENOMEM; ktr__oncpu_free() is due in any case. The reader must outlive it. */
int ktr__oncpu_init(struct ktr__oncpu *oncpu, const struct ktr_reader *reader);
void ktr__oncpu_free(struct ktr__oncpu *oncpu);

/* What its sink does with an event. */
void ktr__oncpu_see(struct ktr__oncpu *oncpu, const struct ktr_event *event);

/* After the last event: what goes on ends there. */
void ktr__oncpu_finish(struct ktr__oncpu *oncpu);

#endif
