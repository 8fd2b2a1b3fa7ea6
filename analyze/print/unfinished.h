/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process has begun to write, or has started, and is not done with: who ends it early removes that, from a
 * signal handler if it must be. One thread adds and takes away; a handler may come in between.
 *
 *	at = ktr__unfinished_file(AT_FDCWD, "picture.png.h3Qx2a");
 *	...	written, and renamed
 *	ktr__unfinished_done(at);
 *
 * Some may be there at a time, KTR__UNFINISHED_MAX; of more than that the last ones would stay.
 */
#ifndef ANALYZE_UNFINISHED_H
#define ANALYZE_UNFINISHED_H

#include <signal.h>
#include <sys/types.h>

#define KTR__UNFINISHED_MAX 64

/* A file, whose name is copied, below dir_fd. Returns what ktr__unfinished_done() wants. */
int ktr__unfinished_file(int dir_fd, const char *name);

/* A trace that this process builds under hidden names (writer/format/stream.h) beside the path. */
int ktr__unfinished_trace(const char *path);

/* A program that draws into such a file. */
int ktr__unfinished_process(pid_t pid);

/* It is done. What is negative is nothing. */
void ktr__unfinished_done(int at);

/* Keeps signals that end programs away while a file is made and its name is not known yet. */
void ktr__unfinished_hold(sigset_t *before);
void ktr__unfinished_let(const sigset_t *before);

/* Removes and ends all there is. May be called from a signal handler. */
void ktr__unfinished_remove(void);

#endif
