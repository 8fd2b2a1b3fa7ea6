/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What events refer to by number, taken over from the session's tables into the trace: call sites
 * into metadata and sidecar, threads, processes, classes, modules and clock anchors into sidecars.
 * Also what the codec needs of them: a program per site, a word per thread.
 *
 * Text is collected here and written by ktr__describe_flush(), which comes before the packets that
 * need it. A row that its process has not finished is taken later, when an event refers to it or
 * at the next look at everything. One struct belongs to one drain.
 */
#ifndef WRITER_DESCRIBE_H
#define WRITER_DESCRIBE_H

#include "ktr/session/session_map.h"
#include "writer/format/codec.h"
#include "writer/format/emit.h"
#include "writer/lives.h"
#include "writer/format/stream.h"

#define KTR_DESCRIBE_TABLES 6

struct ktr__describe {
	const struct ktr__session_map *map; /* borrowed */
	struct ktr__program *programs; /* by site */
	ktr__literals *literals;       /* by site */
	uint32_t *words;	       /* by thread row */
	uint16_t *lives;	       /* by tid: lives so far */
	uint32_t n_programs;
	uint32_t n_words;
	size_t sealed; /* [bytes] of metadata that ends in a checksum already */
	uint64_t metadata_at; /* [bytes] where in its file that goes */
	struct ktr__emit metadata;
	uint32_t *seen[KTR_DESCRIBE_TABLES]; /* by row: checksum of the row as written, 0 if it is not */
	uint32_t next[KTR_DESCRIBE_TABLES];  /* row after the last one handed out when last looked */
	char *rows; /* as they were read, to find those that are there */
	struct ktr__emit side[KTR_SIDECARS];
	uint64_t *known; /* owned: hashes of the lines of a trace that is gone on with */
	size_t n_known;
	size_t room_known;
	struct ktr__lives watched;
	char class_name[KTR_CLASS_MAX][KTR_CLASS_NAME_MAX];
	char text[4][4096]; /* strings of the row being written */
};

/* 0 or -ENOMEM. map stays open until ktr__describe_fini(). */
int ktr__describe_init(struct ktr__describe *describe, const struct ktr__session_map *map);
void ktr__describe_fini(struct ktr__describe *describe);

/* Each gets the other's words, so that a thread has the same in a drain's next trace. Both are of one session. */
void ktr__describe_swap_words(struct ktr__describe *one, struct ktr__describe *other);

/*
 * Begins a new trace: its head, and then, little by little, everything again. Words stay the same.
 * complete: it holds all there ever was in the session, or counts it as lost.
 */
void ktr__describe_begin(struct ktr__describe *describe, const struct ktr_trace_clock *clock,
			 int64_t utc_offset_ns, int complete);

/* The clock, where it is another one than ktr__describe_begin() was told. */
void ktr__describe_clock(struct ktr__describe *describe, const struct ktr_trace_clock *clock);

/* Takes over rows added since the last call. */
void ktr__describe_new(struct ktr__describe *describe);

/* Takes over everything that has been added, finished or changed. Reads all tables. */
void ktr__describe_all(struct ktr__describe *describe);

/* Takes over what a look at who lives has found. */
void ktr__describe_lives(struct ktr__describe *describe);

/* Takes over a site's and a thread's row if they are there and ready. */
void ktr__describe_event(struct ktr__describe *describe, uint32_t site, uint32_t thread);

/* A line about where the clocks are now. */
void ktr__describe_anchor(struct ktr__describe *describe, const struct ktr_anchor *anchor);

/*
 * What a trace that is gone on with has already: the types of a site's arguments, its event class, a thread's word,
 */
void ktr__describe_known_types(struct ktr__describe *describe, uint32_t site, unsigned n_args, const uint8_t *type);
void ktr__describe_known_site(struct ktr__describe *describe, uint32_t site);
void ktr__describe_known_word(struct ktr__describe *describe, uint32_t thread, uint32_t word);

/* when the row of a process or thread was seen alive and gone, */
void ktr__describe_known_life(struct ktr__describe *describe, bool is_proc, uint32_t row, uint64_t alive_ns,
			      uint64_t gone_ns);

/* and n bytes of a line. 0 or -ENOMEM. */
int ktr__describe_known_line(struct ktr__describe *describe, const char *line, size_t n);

/* Takes over everything but the lines that are known, once: they are forgotten then. */
void ktr__describe_rest(struct ktr__describe *describe);

/* Is there nothing to be flushed? */
int ktr__describe_is_flushed(const struct ktr__describe *describe);

/* A clean end. */
void ktr__describe_end(struct ktr__describe *describe, uint64_t ns, uint64_t events, uint64_t lost);

/*
 * Writes what has been collected: 0 or -errno, what could not be written is kept. -ENOMEM: text was
 * lost; the trace cannot go on.
 */
int ktr__describe_flush(struct ktr__describe *describe, struct ktr__trace *trace);

#endif
