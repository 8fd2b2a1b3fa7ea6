/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sleeps until something that is followed may have changed: files of a directory through inotify(7),
 * where there is any; what is written through a mapping, which nothing tells of, by looking, often
 * while something comes and rarely while nothing does.
 */
#ifndef ANALYZE_WATCH_H
#define ANALYZE_WATCH_H

#include <stdint.h>

struct ktr__watch {
	int fd;            /* inotify; -1: none */
	int is_told;       /* changes come as events: nothing need be looked at without one */
	int directory;     /* watch on what is followed, which may be replaced */
	char *path;        /* owned */
	uint64_t pause_ns; /* between two looks */
};

/* Begins to watch path and the directory that it lies in. Cannot fail: it looks the more often then. */
void ktr__watch_open(struct ktr__watch *watch, const char *path);
void ktr__watch_close(struct ktr__watch *watch);

/* Sleeps for at most max_ns. 0, or -EINTR. */
int ktr__watch_wait(struct ktr__watch *watch, uint64_t max_ns);

/* Tells whether the last look has found anything. */
void ktr__watch_busy(struct ktr__watch *watch, int busy);

/* CLOCK_MONOTONIC [ns] */
uint64_t ktr__watch_now(void);

#endif
