/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes events that were read into a trace of its own: what ktr cut and ktr merge do.
 *
 *	ktr__trace_writer_open(&writer, path, &head, n_cpus, &err);
 *	k = ktr__trace_writer_source(writer, reader, place);		for each source
 *	ktr__trace_writer_begin(writer, &err);
 *	ktr__trace_writer_event(writer, k, &event), ktr__trace_writer_loss(writer, k, &loss);	in the order of time
 *	ktr__trace_writer_close(writer, &stats, &err);
 *
 * Each CPU has a stream, and another for its keep ring. Ids of sites and threads, CPUs and bits of
 * classes are those of the new trace; events and losses are numbered from 0.
 *
 * The trace is built under a hidden name (writer/format/stream.h) and has its own when it is closed. One belongs to
 * one thread.
 */
#ifndef ANALYZE_TRACE_WRITER_H
#define ANALYZE_TRACE_WRITER_H

#include "analyze/read/trace_head.h"

#include <ktr/reader.h>

struct ktr__trace_writer;

/* How a source's times and CPUs become those of the trace. */
struct ktr__trace_writer_place {
	int64_t shift_ns;
	uint32_t first_cpu;
	uint64_t machine; /* tells its processes from those of other machines; 0: they are told apart */
};

struct ktr__trace_writer_stats {
	uint64_t n_events;
	uint64_t n_lost;
};

/* head: strings are borrowed until it is closed; the uuid is made. 0 or -errno with err filled. */
int ktr__trace_writer_open(struct ktr__trace_writer **out, const char *path,
			   const struct ktr__trace_head *head, uint32_t n_cpus, struct ktr_error *err);

/* Describes what a source's events refer to. Its number, or -errno with err filled. */
int ktr__trace_writer_source(struct ktr__trace_writer *writer, const struct ktr_reader *reader,
			     struct ktr__trace_writer_place place, struct ktr_error *err);

int ktr__trace_writer_begin(struct ktr__trace_writer *writer, struct ktr_error *err);

/* 0 or -errno. */
int ktr__trace_writer_event(struct ktr__trace_writer *writer, int source, const struct ktr_event *event);
int ktr__trace_writer_loss(struct ktr__trace_writer *writer, int source, const struct ktr_loss *loss);

/* Ends the trace and gives it its name; with abandon it is removed. 0 or -errno with err filled. */
int ktr__trace_writer_close(struct ktr__trace_writer *writer, int abandon,
			    struct ktr__trace_writer_stats *stats, struct ktr_error *err);

#endif
