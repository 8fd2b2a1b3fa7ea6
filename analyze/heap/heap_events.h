/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of the provider heap (ktr/provider/heap/probes.h), as what counts and draws them takes them: arguments
 * by their names.
 */
#ifndef ANALYZE_HEAP_EVENTS_H
#define ANALYZE_HEAP_EVENTS_H

#include <ktr/reader.h>

enum ktr__heap_what {
	KTR__HEAP_GOT = 1, /* a block was got */
	KTR__HEAP_SAMPLED, /* the same, and it stands for others, that were not told */
	KTR__HEAP_MOVES,   /* realloc(3) is about to move it, or to give it back */
	KTR__HEAP_GIVES,   /* it is about to be given back */
	KTR__HEAP_GAVE,    /* the same of one that was sampled */
	KTR__HEAP_FAILED,  /* none could be had */
	KTR__HEAP_MAPPED,  /* pages were mapped */
	KTR__HEAP_UNMAPS,  /* some are about to be no more */
	KTR__HEAP_REMAPS,  /* mremap(2) is about to move them, or to have more or less: the next event says */
	KTR__HEAP_MAP_FAILED, /* it did not come to that */
};

static inline int ktr__heap_is_map(enum ktr__heap_what what)
{
	return what >= KTR__HEAP_MAPPED;
}

struct ktr__heap_event {
	const struct ktr_event *event;
	enum ktr__heap_what what;
	uint64_t block, caller; /* addresses; 0: it has none */
	uint64_t size, period;	/* [bytes] */
	const struct ktr_event_bytes *stack; /* NULL: none was recorded */
	uint32_t proc; /* row of the process */
};

/* Which of a reader's sites are the provider's. Zeroed is empty. */
struct ktr__heap_sites {
	struct ktr__heap_site *site; /* owned; by id */
	unsigned n;
	unsigned n_probes; /* how many are */
};

/* 0 or -ENOMEM. */
int ktr__heap_sites_init(struct ktr__heap_sites *sites, const struct ktr_reader *reader);
void ktr__heap_sites_free(struct ktr__heap_sites *sites);

/* Is it one of the provider's? */
int ktr__heap_is_site(const struct ktr__heap_sites *sites, const struct ktr_reader_site *site);

/* 1: it is one of the provider's, and e is filled in. */
int ktr__heap_event(const struct ktr__heap_sites *sites, const struct ktr_event *event, struct ktr__heap_event *e);

#endif
