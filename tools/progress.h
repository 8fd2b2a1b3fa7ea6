/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far a command is, on one line of a terminal, for whoever has waited a second: a share, a rate, the time
 * that is left. It is on stderr, where that is a terminal, and it is gone when the command says anything or is
 * done.
 *
 *	progress_watch("ktr report", reader, from_ns, to_ns);
 *	...	the reader walks, and tells
 *	progress_phase("drawing");
 *	...	something that does not
 *	progress_end();
 *
 * One for the process.
 */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdint.h>

struct ktr_reader;

/* So many readers will be watched, one after the other or together; 1 without it. */
void progress_expect(unsigned n_readers);

/* From here on the reader tells how far it is in [from_ns, to_ns). command is borrowed. */
void progress_watch(const char *command, struct ktr_reader *reader, uint64_t from_ns, uint64_t to_ns);

/* For what has no share, as walks that begin again: only a rate is shown, of what progress_step() adds. */
void progress_count(const char *command);
void progress_step(void *context, uint64_t time_ns, uint64_t n_events, uint64_t n_bytes);

/* Something begins that tells nothing; it is named. */
void progress_phase(const char *command, const char *doing);

/*
 * What is printed on the standard output would be mixed with it: none is shown from here on, unless that is a
 * file.
 */
void progress_prints(void);

/* From here on what this thread reads is not shown: another one is watched meanwhile. */
void progress_apart(void);

/* Something is printed while it is counted: nothing is shown until progress_end(). */
void progress_quiet(void);

/* The line goes; what is watched next shows at once if a second has passed. */
void progress_end(void);

/* The same from a signal handler. */
void progress_wipe(void);

#endif
