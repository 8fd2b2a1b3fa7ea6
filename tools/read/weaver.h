/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes events that were read into a trace of its own: what ktr cut and ktr merge do.
 *
 *	weaver_open(&weaver, path, &head, n_cpus, &err);
 *	k = weaver_source(weaver, reader, place);		for each source
 *	weaver_begin(weaver, &err);
 *	weaver_event(weaver, k, &event), weaver_loss(weaver, k, &loss);	in the order of time
 *	weaver_close(weaver, &stats, &err);
 *
 * Each CPU has a stream, and another for its keep ring. Ids of sites and threads, CPUs and bits of
 * classes are those of the new trace; events and losses are numbered from 0.
 */
#ifndef TOOLS_WEAVER_H
#define TOOLS_WEAVER_H

#include "analyze/read/trace_head.h"

#include <ktr/reader.h>

struct weaver;

/* How a source's times and CPUs become those of the trace. */
struct weaver_place {
	int64_t shift_ns;
	uint32_t first_cpu;
	uint64_t machine; /* tells its processes from those of other machines; 0: they are told apart */
};

struct weaver_stats {
	uint64_t n_events;
	uint64_t n_lost;
};

/* head: strings are borrowed until it is closed; the uuid is made. 0 or -errno with err filled. */
int weaver_open(struct weaver **out, const char *path, const struct ktr__trace_head *head,
		uint32_t n_cpus, struct ktr_error *err);

/* Describes what a source's events refer to. Its number, or -errno with err filled. */
int weaver_source(struct weaver *weaver, const struct ktr_reader *reader, struct weaver_place place,
		  struct ktr_error *err);

int weaver_begin(struct weaver *weaver, struct ktr_error *err);

/* 0 or -errno. */
int weaver_event(struct weaver *weaver, int source, const struct ktr_event *event);
int weaver_loss(struct weaver *weaver, int source, const struct ktr_loss *loss);

/* Ends the trace and gives it its name; with abandon it is removed. 0 or -errno with err filled. */
int weaver_close(struct weaver *weaver, int abandon, struct weaver_stats *stats,
		 struct ktr_error *err);

#endif
