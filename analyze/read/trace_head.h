/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a trace says of itself as a whole: ktr/info.jsonl, or where that is damaged the metadata. And
 * what is looked at of a trace when it is opened, besides its events: the metadata, whether the
 * streams are as long as they were, how the clocks ran.
 */
#ifndef ANALYZE_TRACE_HEAD_H
#define ANALYZE_TRACE_HEAD_H

#include "analyze/read/lines.h"

/* Where a stream begins in a directory of a trace that began before. */
struct ktr__trace_from {
	const struct ktr__trace_from *next;
	const char *name;
	uint32_t number, kind; /* in the name */
	uint64_t slot;	/* in its ring */
	uint64_t index; /* the running number of the event there */
};

/* Strings and lists are the arena's of the source. */
struct ktr__trace_head {
	const char *name; /* of the session */
	const char *host;
	const char *cmdline;
	const char *clock_name;
	uint8_t uuid[16];
	uint8_t boot_id[16];
	struct ktr_trace_clock clock; /* mult 0: not known */
	int64_t utc_offset_ns;
	uint32_t format;    /* its major version */
	uint64_t n_written; /* [events] as its ends tell */
	uint64_t n_dropped[KTR_DROPS]; /* [events] that went into no ring */
	uint64_t n_dropped_by_then[KTR_DROPS]; /* the same since the session began, when it was last said */
	const struct ktr__trace_from *from; /* first: the last one told of */
	int complete;       /* holds, or counts as lost, all there was since the session began */
	int has_ended;      /* cleanly */
	int is_written;     /* somebody has it locked */
	int is_rewritten;   /* made of other traces, by ktr merge or ktr cut */
	int is_second_hand; /* the metadata told all this */
};

/*
 * Reads it. 0, or -errno with err filled: -EINVAL for a directory that is no trace of ours,
 * -ENOTSUP for one of another major version, -EPROTO when nothing in it describes it.
 */
int ktr__trace_head(struct ktr__lines *lines, struct ktr__trace_head *head);

/* Looks again whether it has ended, or is being written. 0 or -errno. */
int ktr__trace_head_again(struct ktr__lines *lines, struct ktr__trace_head *head);

/*
 * Checks the metadata and takes from it the sites that the sidecar did not describe. 0 or -errno;
 * damage is noted.
 */
int ktr__trace_metadata(struct ktr__lines *lines);

/* All zero to begin with; one for all directories of a trace, oldest first. */
struct ktr__trace_clocks {
	uint64_t mono_ns;  /* of the anchor before */
	int64_t offset_ns; /* UTC - CLOCK_MONOTONIC, then */
	int64_t least_ns;  /* the smallest and the greatest of these */
	int64_t most_ns;
	unsigned n; /* anchors so far */
	int has_drifted;
};

/*
 * Looks through the anchors: where the wall clock was set, or the clock of the events went wrong, is
 * noted. 0 or -errno with err filled.
 */
int ktr__trace_clocks(struct ktr__lines *lines, const struct ktr__trace_head *head,
		      struct ktr__trace_clocks *clocks);

#endif
