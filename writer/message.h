/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the writer thread has to say to the user, or to print for debug.ktr.verbose: on the host's
 * standard error as long as that is the file it was at the start, or by syslogd. The thread has none of
 * the host's descriptors: each time it opens what the process has at 2 (/proc/self/fd).
 *
 *	ktr__message_note(&message);	in the host's thread
 *	ktr__message_open(&message);	in the writer's, which has a descriptor table of its own
 *	ktr__message_say(&message, "one line");
 *	ktr__message_close(&message);
 */
#ifndef WRITER_MESSAGE_H
#define WRITER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ktr__message {
	int proc_fd; /* /proc/self/fd of the process, not of the thread; -1: not open */
	bool stuck;  /* syslogd takes nothing in this round */
	dev_t dev;   /* the host's standard error when the writer started */
	ino_t ino;
	size_t n_bytes;	  /* of lines to print */
	char lines[4096]; /* PIPE_BUF of pipe(7): all or nothing */
};

/* Remembers which file standard error is. */
void ktr__message_note(struct ktr__message *message);

void ktr__message_open(struct ktr__message *message);
void ktr__message_close(struct ktr__message *message);

/* One line for the user, at once. context is the struct. Never waits for a reader. */
void ktr__message_say(void *context, const char *text);

/* A line with its newline: collected until ktr__message_put(), or sent to syslogd. */
void ktr__message_print(struct ktr__message *message, bool to_syslog, const char *line, size_t n_bytes);

/* Prints what has been collected. */
void ktr__message_put(struct ktr__message *message);

#endif
