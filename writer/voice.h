/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the writer thread has to say to the user, or to print for debug.ktr.verbose: on the host's
 * standard error as long as that is the file it was at the start, or by syslogd. The thread has none of
 * the host's descriptors: each time it opens what the process has at 2 (/proc/self/fd).
 *
 *	ktr__voice_note(&voice);	in the host's thread
 *	ktr__voice_open(&voice);	in the writer's, which has a descriptor table of its own
 *	ktr__voice_say(&voice, "one line");
 *	ktr__voice_close(&voice);
 */
#ifndef WRITER_VOICE_H
#define WRITER_VOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ktr__voice {
	int proc_fd; /* /proc/self/fd of the process, not of the thread; -1: not open */
	bool stuck;  /* syslogd takes nothing in this round */
	dev_t dev;   /* the host's standard error when the writer started */
	ino_t ino;
	size_t n_bytes;	  /* of lines to print */
	char lines[4096]; /* PIPE_BUF of pipe(7): all or nothing */
};

/* Remembers which file standard error is. */
void ktr__voice_note(struct ktr__voice *voice);

void ktr__voice_open(struct ktr__voice *voice);
void ktr__voice_close(struct ktr__voice *voice);

/* One line for the user, at once. context is the struct. Never waits for a reader. */
void ktr__voice_say(void *context, const char *text);

/* A line with its newline: collected until ktr__voice_put(), or sent to syslogd. */
void ktr__voice_print(struct ktr__voice *voice, bool to_syslog, const char *line, size_t n_bytes);

/* Prints what has been collected. */
void ktr__voice_put(struct ktr__voice *voice);

#endif
