/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a trace's sidecars, each with its checksum (ktr/trace_file.h).
 *
 * A line whose checksum is wrong is noted with file and line and left out; where it is two lines
 * with a damaged newline between them, both are taken. So is a last line without newline, unless
 * the trace is still being written or its writer was killed: nothing refers to it then.
 */
#ifndef ANALYZE_LINES_H
#define ANALYZE_LINES_H

#include "analyze/read/source.h"
#include "writer/format/sidecar_lines.h"

#include <ktr/trace_file.h>

#include <sys/types.h>

/* How far each file has been read, to go on from there when it has grown. All zero: not at all. */
struct ktr__lines_at {
	uint64_t offset[KTR_SIDECARS]; /* [bytes] */
	unsigned line[KTR_SIDECARS];
};

struct ktr__lines {
	struct ktr__event_source *source; /* for notes */
	const char *path;           /* of the trace, as users are told it */
	int dir_fd;
	int finished; /* nobody writes to the trace any more */
	int is_whole; /* 1: its info.jsonl was there when it was opened */
	struct ktr__lines_at
		*at; /* where to begin, and then where it ended; NULL: from the start */
	struct ktr_error *err;
	/* Its own. */
	const char *file;
	unsigned line;
	unsigned n_notes; /* of the file that was read last */
	unsigned n_bad;   /* lines left out, of all files */
};

/* Takes a line without its newline: 0, -EINVAL (it makes no sense), or -errno that ends it all. */
typedef int ktr__line_fn(void *context, const char *line, size_t n_bytes);

/*
 * Reads a file. One that is missing has no lines, which is noted, unless the whole trace has just been removed. 0,
 * or -errno with err filled.
 */
int ktr__lines_read(struct ktr__lines *lines, enum ktr_sidecar which, ktr__line_fn *fn,
		    void *context);

/*
 * Has rotation removed the trace, or is about to? It takes info.jsonl first, so that nothing else is missing of a
 * trace that has that still.
 */
int ktr__lines_removed(int dir_fd);

/* The length of the whole line that these bytes begin with, whatever follows it; 0: they do not. */
size_t ktr__lines_part(const char *bytes, size_t n_bytes);

/* "ktr/sites.jsonl" */
const char *ktr__lines_file(enum ktr_sidecar which);

/* Opens a file of a trace for reading: a regular one, no link. A descriptor, or -errno. */
int ktr__lines_open(int dir_fd, const char *name);

/* Reads all of one, and a NUL after it: *n bytes, owned. 0, -EFBIG: it is longer than max, or another -errno. */
int ktr__lines_load(int dir_fd, const char *name, off_t max, char **bytes, size_t *n);

#endif
