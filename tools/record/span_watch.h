/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trigger on how long a span takes, which nobody knows before its end: a thread of ours follows the rings of the
 * session, pairs beginnings with ends, and stops the rings when the expression holds for an event that ends a span.
 *
 *	span_watch_begin(&watch);
 *	...
 *	if (span_watch_end(&watch))	the rings were stopped by it
 */
#ifndef TOOLS_SPAN_WATCH_H
#define TOOLS_SPAN_WATCH_H

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>

struct span_watch {
	const char *command; /* argv[0] */
	const char *text;    /* of the expression; see ktr__filter_spans_asked() */
	uint64_t after;      /* [events] that one CPU shall have recorded after that */
	/* Fills in the path of the session. 1; 0: there is none yet. */
	int (*find)(const void *context, char path[PATH_MAX]);
	const void *context;
	volatile sig_atomic_t *done; /* NULL; becomes 1 when the rings have been stopped */
	/* Our own. */
	char path[PATH_MAX];
	pthread_t thread;
	int is_running, is_over; /* is_over: atomic */
	int has_stopped, has_failed;
};

/* What there is to say goes to standard error. */
void span_watch_begin(struct span_watch *watch);

/* Ends the thread. 1: it has stopped the rings, or has said why it could not; 0: it never held while it looked. */
int span_watch_end(struct span_watch *watch);

#endif
