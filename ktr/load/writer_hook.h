/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the library's start, fork and exit ask of the writer thread. The floor above implements it
 * (writer/writer.c); the declarations stand here so that nothing includes upward.
 */
#ifndef KTR_WRITER_HOOK_H
#define KTR_WRITER_HOOK_H

#include "ktr/session/session_rw.h"

/*
 * Starts the thread that drains the process's own session into a new trace directory at path; an
 * existing one has moved aside by the time this returns. The session is borrowed and outlives the
 * writer. path NULL: it only prints what debug.ktr.verbose wants. 0, or -errno with err filled and nothing
 * started; -EALREADY if one runs.
 */
int ktr__writer_start(struct ktr__session_rw *session, const char *path, struct ktr_error *err);

/* Waits until everything committed before the call is in the file. 0, -ESRCH (no writer), -errno. */
int ktr__writer_flush(void);

/* Drains what is committed, closes the trace, ends the thread. Nothing happens without one. */
void ktr__writer_stop(void);

/*
 * For each thread with a key of ours, the main one among them, when it ends by itself: the last that its
 * destructors do. Where the process now has no thread but those of the writer, ends it as the C library would: does
 * not return then.
 */
void ktr__writer_thread_end(void);

/* The same, asking the kernel for nothing: true when that is done. Again and again, until it is. */
bool ktr__writer_leave(void);

/*
 * The writer stays with the parent. The child of a program without other threads gets a successor, a thread
 * that sleeps until the parent has gone and then goes on with the trace.
 */
void ktr__writer_before_fork(void);
void ktr__writer_after_fork_parent(void);
void ktr__writer_after_fork_child(void);

/*
 * The shared library is split: libktr.so records, and loads the writer, libktr-writer.so, when it is first
 * wanted (writer_load.c). This is all they know of each other; the table is the writer's one exported name.
 */
struct ktr__writer_hooks {
	const char *version; /* KTR_VERSION_TEXT: both are of one build */
	int (*start)(struct ktr__session_rw *session, const char *path, struct ktr_error *err);
	int (*flush)(void);
	void (*stop)(void);
	bool (*leave)(void);
	void (*before_fork)(void);
	void (*after_fork_parent)(void);
	void (*after_fork_child)(void);
	void (*thread_end)(void);
	/* ktr/load/sweep.h: what libktr.so needs where there is something to remove */
	void (*sweep)(const char *own);
	/* ktr/load/resize.h */
	int (*resize)(struct ktr__session_rw *session, unsigned log2, struct ktr_error *err);
};

#define KTR__WRITER_LIBRARY "libktr-writer.so.0"

#endif
