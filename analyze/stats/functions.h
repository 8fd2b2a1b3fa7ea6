/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time by function: how often each was called, how long its calls took, and how much of that was its own. A sink;
 * scopes by other means (KTR_SCOPE) are functions to it. See calls.h.
 */
#ifndef ANALYZE_FUNCTIONS_H
#define ANALYZE_FUNCTIONS_H

#include "analyze/stats/calls.h"
#include "analyze/stats/histogram.h"

/* Of one name, in all processes and threads. */
struct ktr__function {
	struct ktr__function *chain;
	const char *name; /* of a site of the reader */
	uint64_t hash;
	struct ktr__histogram durations; /* [ns] of calls of which both ends are known */
	uint64_t total_ns; /* of those that are within none of the same name: no time counts twice */
	uint64_t self_ns;  /* of all of them */
	uint64_t n_unknown; /* calls that began before, go on, or were left without returning */
};

#define KTR__FUNCTIONS_OFF 1024u /* a file may hold any number */

struct ktr__functions {
	struct ktr_sink sink; /* hand this to ktr_reader_walk() */
	struct ktr__calls *calls;
	struct ktr__function **function; /* owned, each too; in the order of their first ends */
	unsigned n, room;
	struct ktr__function **bucket;
	uint64_t last_ns;
	char **off; /* owned, each too: those that debug.ktr.budget switched off, the first KTR__FUNCTIONS_OFF */
	unsigned n_off, off_room;
	uint64_t off_ns; /* the first one */
};

/* Does it look at the arguments of a site's events, besides those of scopes? */
int ktr__functions_wants(const struct ktr_reader_site *site);

/* 0 or -ENOMEM. */
int ktr__functions_init(struct ktr__functions *functions, const struct ktr_reader *reader);
int ktr__functions_finish(struct ktr__functions *functions); /* after the walk */
void ktr__functions_free(struct ktr__functions *functions);

#endif
