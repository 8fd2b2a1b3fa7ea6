/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A made-up trace for the tests of pictures: sites, threads and events as a reader would hand them
 * out, fed to a sink one by one. Times are milliseconds since the trace began.
 */
#ifndef TESTS_PICTURE_H
#define TESTS_PICTURE_H

#include "analyze/read/tables.h"

#include <ktr/reader.h>

#define PICTURE_BEGIN_NS 5000000000ull
#define PICTURE_SITES    64
#define PICTURE_THREADS  12000

struct picture {
	struct ktr_reader_info info;
	struct ktr_reader_site site[PICTURE_SITES];
	unsigned n_sites;
	struct ktr__thread *thread;
	char (*thread_name)[16];
	struct ktr_sink *sink;
	struct ktr_event event;
	uint64_t n_events;
	int result; /* of the sink: the first that was not 0 */
};

/* A trace of so many milliseconds that is handed to the sink. */
void picture_open(struct picture *picture, double ms);
void picture_close(struct picture *picture);

/* Thread number n, from 1: "worker n" of process "indexer" (100), thread id 100 + n. */
struct ktr__thread *picture_thread(struct picture *picture, unsigned n);

void picture_state(struct picture *picture, double ms, unsigned thread, const char *group,
		   const char *ident, const char *state);
void picture_counter(struct picture *picture, double ms, unsigned thread, const char *group,
		     const char *ident, int value);
void picture_start(struct picture *picture, double ms, unsigned thread, const char *group,
		   const char *ident, uint64_t key);
void picture_stop(struct picture *picture, double ms, unsigned thread, const char *group,
		  const char *ident, uint64_t key);
/* KTR_SCOPE: a scope begins and ends; key is where its record lies on the stack. The name stays the caller's. */
void picture_enter(struct picture *picture, double ms, unsigned thread, const char *name, uint64_t key);
void picture_leave(struct picture *picture, double ms, unsigned thread, const char *name, uint64_t key);
void picture_point(struct picture *picture, double ms, unsigned thread, const char *group,
		   const char *ident);
/* A plain CTR event on a CPU. */
void picture_event(struct picture *picture, double ms, unsigned thread, unsigned cpu);
void picture_loss(struct picture *picture, unsigned cpu, double from_ms, double to_ms,
		  uint64_t n_events);

/*
 * Ten seconds of four workers, a flusher and a shard's lock: worker 4 waits for the lock 80 ms of
 * every 100 ms, while the flusher holds it; the queue runs from 0 to 50 and back.
 */
void picture_indexer(struct picture *picture);

#endif
