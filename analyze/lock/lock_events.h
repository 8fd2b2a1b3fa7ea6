/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of the provider lock (ktr/provider/lock/probes.h), as what counts and draws them takes them: arguments
 * by their names, so that what a trace does not have is told as not known.
 */
#ifndef ANALYZE_LOCK_EVENTS_H
#define ANALYZE_LOCK_EVENTS_H

#include <ktr/reader.h>

enum ktr__lock_kind {
	KTR__LOCK_MUTEX,
	KTR__LOCK_RW,
	KTR__LOCK_SPIN,
	KTR__LOCK_COND,
	KTR__LOCK_SEM,
	KTR__LOCK_BARRIER,
	KTR__LOCK_FUTEX, /* nobody knows whose, nor what becomes of it */
	KTR__LOCK_KINDS
};

enum ktr__lock_what {
	KTR__LOCK_TAKE,	   /* it was taken */
	KTR__LOCK_BLOCK,   /* a thread begins to wait */
	KTR__LOCK_BLOCKED, /* it has waited, for ns */
	KTR__LOCK_GIVE,	   /* it is about to be given back */
	KTR__LOCK_FAIL,	   /* it could not be had, or given back */
	KTR__LOCK_WAKE,	   /* of a condition: one, or all */
	KTR__LOCK_STACK,   /* of what the thread has just done: taken the lock, or begun to wait */
	KTR__LOCK_MADE,	   /* initialized: what was there before is gone */
	KTR__LOCK_INVERTED, /* it has waited for an owner of lower priority, which was kept off the CPUs for ns */
	KTR__LOCK_OFF,	   /* no lock's: what `off` says of its kind is told no more, its budget was spent */
	KTR__LOCK_WHATS
};

struct ktr__lock_event {
	const struct ktr_event *event;
	enum ktr__lock_kind kind;
	enum ktr__lock_what what;
	uint64_t lock, caller, ns; /* addresses, the first two */
	uint64_t mutex;		   /* of a condition's wait */
	uint32_t proc, tid;	   /* row of the process */
	uint32_t owner;		   /* 0: not known */
	uint32_t error;
	uint8_t write, recursive, tried, last, all;
	uint8_t refused; /* BLOCKED, of a futex: it has not waited, for the kernel has refused at once */
	int32_t priority, owner_priority; /* INVERTED */
	const struct ktr_event_bytes *stack; /* STACK */
	enum ktr__lock_what off;	     /* OFF */
	uint32_t life; /* which of the locks that lay there one after the other; see lock_names.h */
};

/* Which of a reader's sites are the provider's. Zeroed is empty. */
struct ktr__lock_sites {
	struct ktr__lock_site *site; /* owned; by id */
	unsigned n;
	unsigned n_probes; /* how many are */
};

/* 0 or -ENOMEM. */
int ktr__lock_sites_init(struct ktr__lock_sites *sites, const struct ktr_reader *reader);
void ktr__lock_sites_free(struct ktr__lock_sites *sites);

/* Is it one of the provider's? */
int ktr__lock_is_site(const struct ktr__lock_sites *sites, const struct ktr_reader_site *site);

/* 1: it is one of the provider's, and e is filled in. */
int ktr__lock_event(const struct ktr__lock_sites *sites, const struct ktr_event *event, struct ktr__lock_event *e);

#endif
