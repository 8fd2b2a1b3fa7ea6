/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of one trace directory: made, appended to, given up.
 *
 * A trace is built under a hidden name beside its own and renamed when its head is complete, so
 * that nobody ever opens half of one. While it is written, ktr/info.jsonl is locked (flock(2)).
 * All paths are taken from descriptors that are opened once: a later chdir(2) or chroot(2) of the
 * host does not matter.
 *
 * Appending is all or nothing: what could not be written as a whole is cut off again, at once or
 * before the next byte, so that a file never holds half a packet or line that is followed by
 * another.
 *
 * Of a write that a kill cuts short there is what lay before some page of the file: KTR_TRACE_PAGE. So nothing
 * that others parse crosses the end of a page, no packet (fill.c) and no declaration of the metadata
 * (metadata.c). What is there is never written again. Whoever opens a trace finds whole packets and whole
 * declarations at any moment, while it grows and after its writer was killed.
 */
#ifndef WRITER_STREAM_H
#define WRITER_STREAM_H

#include "writer/format/sys.h"

#include <ktr/error.h>
#include <ktr/trace_file.h>

#include <limits.h>

/*
 * In the folder of sidecars, where a command has left it: names of code that is in no file, a line for each, "ROW
 * START SIZE NAME", ROW being the process's, START and SIZE in hexadecimal digits.
 */
#define KTR__CODE_FILE "code.map"

struct ktr__file {
	int fd;	       /* -1: not open */
	int torn;      /* 1: bytes may lie after `bytes` that have to go first */
	uint64_t bytes; /* of whole appends: the file's length, but for torn */
};

struct ktr__trace {
	const struct ktr__sys *sys;
	int parent_fd; /* the directory that the trace's own name lies in */
	int dir_fd;
	int side_fd; /* ktr/ */
	int published;
	uint32_t n_rings; /* of each kind */
	uint32_t path;	  /* KTR_PATH_* */
	uint32_t format;  /* of its packets: KTR_TRACE_MAJOR, or that of a trace that is gone on with */
	uint64_t bytes;	  /* of all files */
	struct ktr__file *stream; /* owned; by row of the ring table */
	struct ktr__file metadata;
	struct ktr__file side[KTR_SIDECARS];
	const char *given; /* its path. Borrowed */
	int n_parent;	   /* [bytes] of that before its name */
	char name[NAME_MAX + 1];
	char hidden[NAME_MAX + 1];
};

/*
 * Opens the directory that `path` lies in and takes apart its last name. 0 or -errno, err filled. Borrows path.
 */
int ktr__trace_init(struct ktr__trace *trace, const struct ktr__sys *sys, const char *path,
		    uint32_t ring_path, uint32_t n_rings, struct ktr_error *err);

/*
 * Makes way for the name: what has it moves aside to NAME.old.1, NAME.old.2, ..., but a trace that
 * somebody still writes does not: -EBUSY. 0 or -errno, err filled.
 */
int ktr__trace_make_way(struct ktr__trace *trace, struct ktr_error *err);

/* Makes the hidden directory with empty metadata and sidecars, mode 0700 and 0600. 0 or -errno. */
int ktr__trace_create(struct ktr__trace *trace, struct ktr_error *err);

/* Does anybody write the trace at path? 1, 0, or -errno where that cannot be told. */
int ktr__trace_locked(const char *path);

/*
 * Opens the trace that has the name, to go on with it: metadata, sidecars, and the streams there
 * are, each as long as its file. 0 or -errno, err filled: -EBUSY while somebody writes it.
 */
int ktr__trace_reopen(struct ktr__trace *trace, struct ktr_error *err);

/* Cuts a file to its first n bytes. 0 or -errno. */
int ktr__trace_cut(struct ktr__trace *trace, struct ktr__file *file, uint64_t n_bytes);

/* Gives it its name, making way again if need be. 0 or -errno, err filled. */
int ktr__trace_publish(struct ktr__trace *trace, struct ktr_error *err);

/* Closes the files; the trace stays. A trace that was never published is removed. */
void ktr__trace_close(struct ktr__trace *trace);

/*
 * Begins the trace that is to follow this one, beside it and without a name yet. 0 or -errno. It shares the
 * directory it lies in with this one, and is closed before it, or takes its place.
 */
int ktr__trace_next(struct ktr__trace *next, const struct ktr__trace *trace);

/*
 * The next trace gets the name, and this one is NAME.number from then on; its files stay open. The name is there
 * all the time, where the file system can exchange two. 0 or -errno, with all as it was: -ENOENT when the name is
 * not this trace's any more.
 */
int ktr__trace_succeed(struct ktr__trace *trace, struct ktr__trace *next, uint32_t number);

/* Is the name this trace's? 1 or 0, or -errno where that may not be known. */
int ktr__trace_is_named(const struct ktr__trace *trace);

/*
 * A writer killed in the midst of ktr__trace_succeed() has left no trace of this name, where names cannot be
 * exchanged: gives it to the one that was to have it. 0 or -errno: -ENOENT if there is none.
 */
int ktr__trace_adopt(struct ktr__trace *trace);

/*
 * Removes the retired trace NAME.number: its own files only. It has no name any more when the first of them goes:
 * nobody opens half of it, whenever the writer is killed. 0 or -errno.
 */
int ktr__trace_remove(struct ktr__trace *trace, uint32_t number);

/* The number above those of all NAME.number there are. */
uint32_t ktr__trace_free_number(struct ktr__trace *trace);

/* Closes and frees everything. */
void ktr__trace_fini(struct ktr__trace *trace);

/* Appends n bytes as a whole. 0 or -errno, with the file as it was, or marked torn. */
int ktr__trace_append(struct ktr__trace *trace, struct ktr__file *file, const void *bytes, size_t n);

/*
 * Does anybody stand by who would go on with the trace? He holds a shared lock on ktr/losses.jsonl while he waits
 * for the one on ktr/info.jsonl. 1 or 0.
 */
int ktr__trace_attended(const struct ktr__trace *trace);

/* Opens the stream of a ring, the first time. 0 or -errno. */
int ktr__trace_stream(struct ktr__trace *trace, uint32_t row, struct ktr__file **file);

/*
 * Opens the streams of the first `max` rings of the first n_kinds kinds ahead of need, for a program that may
 * not be allowed to later. Those that stay empty are removed when the trace is closed, if that is
 * allowed.
 */
void ktr__trace_open_ahead(struct ktr__trace *trace, uint32_t max, uint32_t n_kinds);

/* Writes the stream's file name: "cpu_3", "ring_0.keep", "cpu_0.kernel". */
void ktr__trace_stream_name(const struct ktr__trace *trace, uint32_t row, char *name, size_t size);

/* Has somebody removed the trace, or any file of it? 1 or 0. */
int ktr__trace_gone(struct ktr__trace *trace);

/* Where the trace is now, as far as that is known: a path, or "". */
void ktr__trace_where(const struct ktr__trace *trace, char *path, size_t size);

#endif
