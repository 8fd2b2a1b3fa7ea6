/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events as lines of text, one each, whatever the program logged.
 */
#ifndef ANALYZE_SINK_TEXT_H
#define ANALYZE_SINK_TEXT_H

#include "analyze/print/crew.h"
#include "analyze/print/out.h"

#include <ktr/reader.h>

enum ktr__text_time {
	KTR__TEXT_RELATIVE, /* seconds since the first event of the source */
	KTR__TEXT_DELTA,    /* seconds since the line before */
	KTR__TEXT_UTC,      /* ISO 8601 */
	KTR__TEXT_RAW       /* nanoseconds of CLOCK_MONOTONIC */
};

/* Columns, in this order. */
#define KTR__TEXT_INDEX  1u /* running number of the event in its ring */
#define KTR__TEXT_TIME   2u
#define KTR__TEXT_CPU    4u
#define KTR__TEXT_THREAD 8u
#define KTR__TEXT_CLASS  16u
#define KTR__TEXT_WHERE  32u
#define KTR__TEXT_FUNC   64u
#define KTR__TEXT_USUAL                                                                            \
	(KTR__TEXT_TIME | KTR__TEXT_CPU | KTR__TEXT_THREAD | KTR__TEXT_CLASS | KTR__TEXT_WHERE)

#define KTR__TEXT_CELL 128 /* [bytes] Longer ones are not kept */

/* What a site's or a thread's lines have in common, as it was printed last. */
struct ktr__text_cell {
	const void *of; /* whose; NULL: nobody's */
	const char *name;
	uint32_t n;
	char text[KTR__TEXT_CELL];
};

#define KTR__TEXT_CELLS 64u /* of sites, and of threads: those whose numbers differ by 64 share one */

struct ktr__sink_text {
	struct ktr_sink sink; /* hand this to ktr_reader_walk() */
	/* Filled in by the user. */
	struct ktr__out *out; /* borrowed */
	const struct ktr_reader_info *info;
	struct ktr__symbols *symbols; /* names for addresses, or NULL; borrowed */
	unsigned columns;
	enum ktr__text_time time;
	int colour;
	int raw; /* states and their kin as FreeBSD's tools take them */
	/* Its own. */
	uint64_t n_events;
	uint64_t n_lost;
	uint64_t last_ns;
	uint64_t second_ns; /* when the second began that `seconds` says; of relative times */
	uint32_t n_seconds; /* 0: none yet */
	char seconds[24];   /* "     12." */
	int64_t second; /* what `date` says */
	char date[24];  /* "2024-02-29T12:34:56." */
	struct ktr__text_cell site[KTR__TEXT_CELLS];
	struct ktr__text_cell thread[KTR__TEXT_CELLS];
};

/* Sets the callbacks; *text is zero but for what the user has filled in. */
void ktr__sink_text_init(struct ktr__sink_text *text);

/* of: a struct ktr__sink_text, whose header is printed, and whose own event() is not called meanwhile. */
extern const struct ktr__crew_trade ktr__sink_text_trade;

/* Prints the line with the columns' names. */
void ktr__sink_text_header(struct ktr__sink_text *text);

/* The event's text alone, in one line and visible. symbols may be NULL; raw: as above. */
void ktr__sink_text_message(struct ktr__out *out, struct ktr__symbols *symbols,
			    const struct ktr_event *event, int raw);

#endif
