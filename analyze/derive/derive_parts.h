/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this folder share. */
#ifndef ANALYZE_DERIVE_PARTS_H
#define ANALYZE_DERIVE_PARTS_H

#include "analyze/derive/derive.h"
#include "analyze/heap/heap.h"
#include "analyze/lock/lock_events.h"
#include "analyze/lock/lock_halves.h"
#include "analyze/lock/lock_names.h"
#include "analyze/stats/keyed.h"
#include "conf/kit/arena.h"

/* The sites of events that are made: one for each kind. */
enum ktr__derive_site {
	KTR__DERIVE_HOLDER,
	KTR__DERIVE_WAIT_BEGINS,
	KTR__DERIVE_WAIT_ENDS,
	KTR__DERIVE_THREAD,
	KTR__DERIVE_IN_USE,
	KTR__DERIVE_MAPPED,
	KTR__DERIVE_SITES
};

struct ktr__derive {
	struct ktr_sink sink; /* first */
	struct ktr_sink *to;
	struct ktr_reader *reader;
	struct ktr__arena arena; /* of sites and names */
	struct ktr_reader_site site[KTR__DERIVE_SITES];
	int all;
	uint64_t from_ns; /* before, nothing is handed on */
	int is_before;
	uint64_t n_before;
	uint64_t now_ns; /* of the last event */
	struct ktr__lock_sites lock_sites;
	struct ktr__lock_names lock_names;
	struct ktr__lock_halves lock_halves;
	uint64_t blind_ns; /* until then events of locks are lost */
	struct ktr__keyed locks, threads, names, processes;
	uint64_t n_quiet;
	struct ktr__heap heap;
	struct ktr__keyed memories;
};

#endif
