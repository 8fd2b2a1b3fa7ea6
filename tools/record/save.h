/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of the commands that write a session into a trace: doing it, and the line that says so. */
#ifndef TOOLS_SAVE_H
#define TOOLS_SAVE_H

#include "writer/attach.h"

/* Runs one of writer/attach.h's. Returns the exit status after the closing line or a complaint. */
int save_session(const char *command, const struct ktr__attach *attach,
		 int (*how)(const struct ktr__attach *attach, struct ktr__drain_stats *stats,
			    struct ktr_error *err));

/*
 * The path of the session that a trace was written of, by the uuid that both have. 0 or -errno with err filled:
 * -ESRCH: it is not there any more.
 */
int save_find_session(const char *trace, char *path, size_t size, struct ktr_error *err);

/*
 * What the last program of ktr run has left in its session, whose path this is, goes into the trace; then the
 * session goes, unless all were killed or it was asked to stay. there: the trace is there to go on with. 0 or
 * -errno, err filled.
 */
int save_left(const char *trace, const char *session, int there, struct ktr__drain_stats *stats,
	      struct ktr_error *err);

#endif
