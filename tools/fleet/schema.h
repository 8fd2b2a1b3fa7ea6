/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of a fleet: their columns, which ktr ship fills in and ktr fetch asks for, and the statements that
 * make them. A later version only adds columns.
 */
#ifndef FLEET_SCHEMA_H
#define FLEET_SCHEMA_H

#include "tools/fleet/native.h"

#define SCHEMA_VERSION 3 /* 2: with the table counters; 3: with SCHEMA_AGAIN */
#define SCHEMA_AGAIN   "_again" /* events and spans have a table of that end, which keeps nothing and has their view */

/* X(table, column, name, type) */
#define SCHEMA_EVENTS(X, of)                                                                                      \
	X(of, HOST, "host", WORD) X(of, TRACE, "trace", UUID) X(of, PROCESS, "process", WORD)                     \
	X(of, THREAD, "thread", WORD) X(of, CLASS, "class", WORD) X(of, SITE, "site", WORD)                       \
	X(of, KIND, "kind", WORD) X(of, GRP, "grp", WORD) X(of, ID, "id", WORD) X(of, STREAM, "stream", WORD)     \
	X(of, TS, "ts", I64_UP) X(of, CPU, "cpu", U16) X(of, PID, "pid", U32) X(of, TID, "tid", U32)              \
	X(of, WORD, "word", U32) X(of, SITE_ID, "site_id", U32) X(of, IDX, "idx", U64_UP)                         \
	X(of, FLAGS, "flags", U8) X(of, CUT, "cut", U8) X(of, NULLS, "nulls", U8)                                 \
	X(of, I0, "i0", I64) X(of, I1, "i1", I64) X(of, I2, "i2", I64) X(of, I3, "i3", I64) X(of, I4, "i4", I64)  \
	X(of, I5, "i5", I64) X(of, F0, "f0", F64) X(of, F1, "f1", F64) X(of, F2, "f2", F64) X(of, F3, "f3", F64)  \
	X(of, F4, "f4", F64) X(of, F5, "f5", F64) X(of, S0, "s0", TEXT) X(of, S1, "s1", TEXT)                     \
	X(of, S2, "s2", TEXT) X(of, S3, "s3", TEXT) X(of, S4, "s4", TEXT) X(of, S5, "s5", TEXT)
#define SCHEMA_SPANS(X, of)                                                                                       \
	X(of, HOST, "host", WORD) X(of, TRACE, "trace", UUID) X(of, BUILD, "build", WORD)                         \
	X(of, PROCESS, "process", WORD) X(of, THREAD, "thread", WORD) X(of, KIND, "kind", WORD)                   \
	X(of, GRP, "grp", WORD) X(of, ID, "id", WORD) X(of, STATE, "state", WORD) X(of, SITE, "site", WORD)       \
	X(of, TS, "ts", I64_UP) X(of, DUR, "dur", U64) X(of, KEY, "key", U64) X(of, PID, "pid", U32)              \
	X(of, TID, "tid", U32) X(of, CPU, "cpu", U16) X(of, DEPTH, "depth", U32) X(of, UNSURE, "unsure", U8)      \
	X(of, OPEN, "open", U8)
#define SCHEMA_COUNTERS(X, of)                                                                                    \
	X(of, HOST, "host", WORD) X(of, TRACE, "trace", UUID) X(of, BUILD, "build", WORD)                         \
	X(of, PROCESS, "process", WORD) X(of, THREAD, "thread", WORD) X(of, GRP, "grp", WORD)                     \
	X(of, ID, "id", WORD) X(of, SITE, "site", WORD) X(of, STREAM, "stream", WORD) X(of, TS, "ts", I64_UP)     \
	X(of, IDX, "idx", U64_UP) X(of, CPU, "cpu", U16) X(of, PID, "pid", U32) X(of, TID, "tid", U32)            \
	X(of, VALUE, "value", F64)
#define SCHEMA_LOSSES(X, of)                                                                                      \
	X(of, HOST, "host", WORD) X(of, TRACE, "trace", UUID) X(of, WHY, "why", WORD) X(of, CPU, "cpu", U16)      \
	X(of, KEEP, "keep", U8) X(of, FROM_TS, "from_ts", I64) X(of, TO_TS, "to_ts", I64)                         \
	X(of, EVENTS, "events", U64)
#define SCHEMA_TRACES(X, of)                                                                                      \
	X(of, HOST, "host", WORD) X(of, TRACE, "trace", UUID) X(of, BUILD, "build", WORD)                         \
	X(of, MACHINE, "machine", WORD) X(of, NAME, "name", WORD) X(of, CMDLINE, "cmdline", TEXT)                 \
	X(of, BOOT, "boot", UUID) X(of, CLOCK, "clock", WORD) X(of, UTC_OFFSET, "utc_offset", I64)                \
	X(of, FIRST_TS, "first_ts", I64) X(of, LAST_TS, "last_ts", I64) X(of, N_CPUS, "n_cpus", U32)              \
	X(of, LOST, "lost", U64) X(of, COMPLETE, "complete", U8) X(of, VERSION, "version", U64)
#define SCHEMA_SITES(X, of)                                                                                       \
	X(of, HOST, "host", WORD) X(of, TRACE, "trace", UUID) X(of, SITE_ID, "site_id", U32)                      \
	X(of, SITE, "site", WORD) X(of, CLASS, "class", WORD) X(of, KIND, "kind", WORD) X(of, GRP, "grp", WORD)   \
	X(of, ID, "id", WORD) X(of, FILE, "file", WORD) X(of, LINE, "line", U32) X(of, FUNC, "func", WORD)        \
	X(of, FORMAT, "format", TEXT) X(of, MODULE, "module", WORD) X(of, NAMES, "names", LIST)                   \
	X(of, TYPES, "types", LIST) X(of, VERSION, "version", U64)
#define SCHEMA_THREADS(X, of)                                                                                     \
	X(of, HOST, "host", WORD) X(of, TRACE, "trace", UUID) X(of, WORD, "word", U32)                            \
	X(of, THREAD_ID, "thread_id", U32) X(of, TID, "tid", U32) X(of, PID, "pid", U32)                          \
	X(of, THREAD, "thread", WORD) X(of, PROCESS, "process", WORD) X(of, START_TS, "start_ts", I64)            \
	X(of, EXIT_TS, "exit_ts", I64) X(of, VERSION, "version", U64)
#define SCHEMA_PROCESSES(X, of)                                                                                   \
	X(of, HOST, "host", WORD) X(of, TRACE, "trace", UUID) X(of, PROC, "proc", U32) X(of, PID, "pid", U32)     \
	X(of, PROCESS, "process", WORD) X(of, START_TS, "start_ts", I64) X(of, EXIT_TS, "exit_ts", I64)           \
	X(of, VERSION, "version", U64)
/* A trace's own lines (ktr-trace(5)), by which ktr fetch knows what its events mean. */
#define SCHEMA_FILES(X, of)                                                                                       \
	X(of, HOST, "host", WORD) X(of, TRACE, "trace", UUID) X(of, FILE, "file", WORD) X(of, ID, "id", U32)      \
	X(of, LINE, "line", TEXT) X(of, VERSION, "version", U64)

/* X(its word, its list); what is written down of a batch has their numbers: a new one comes last. */
#define SCHEMA_LIST(X)                                                                                            \
	X(EVENTS, "events", SCHEMA_EVENTS) X(SPANS, "spans", SCHEMA_SPANS) X(LOSSES, "losses", SCHEMA_LOSSES)     \
	X(TRACES, "traces", SCHEMA_TRACES) X(SITES, "sites", SCHEMA_SITES)                                        \
	X(THREADS, "threads", SCHEMA_THREADS) X(PROCESSES, "processes", SCHEMA_PROCESSES)                         \
	X(FILES, "files", SCHEMA_FILES) X(COUNTERS, "counters", SCHEMA_COUNTERS)

enum schema_table {
#define SCHEMA_TABLE(word, name, list) SCHEMA_##word##_TABLE,
	SCHEMA_LIST(SCHEMA_TABLE)
#undef SCHEMA_TABLE
	SCHEMA_TABLES
};

/* The columns of each: EVENTS_HOST, ... and EVENTS_COLUMNS, how many. */
#define SCHEMA_COLUMN(of, column, name, type) of##_##column,
#define SCHEMA_COLUMNS(word, name, list) enum { list(SCHEMA_COLUMN, word) word##_COLUMNS };
SCHEMA_LIST(SCHEMA_COLUMNS)

/* EVENTS_FLAGS */
#define SCHEMA_FLAG_APPROX 1u /* the time is that of an event before it */
#define SCHEMA_FLAG_KEEP   2u /* of a keep ring */

/* SPANS_OPEN */
#define SCHEMA_OPEN_START 1u /* it began before what is known; ts is the earliest moment */
#define SCHEMA_OPEN_END	  2u /* its end was not seen; dur is how long at least */

const char *schema_name(enum schema_table table);
void schema_block(struct native_block *block, enum schema_table table);

struct schema_form {
	const char *database;
	int is_old;	   /* for 18.16: without codecs, TTL and what else it does not know */
	int is_replicated; /* engines that keep copies, and know blocks that come again */
	const char *cluster; /* over whose shards a database of CLUSTER_SUFFIX has these, too; NULL: none */
};

/* Statement i, without a semicolon, appended with a NUL. 0, -ENOENT after the last, or -ENOMEM. */
int schema_statement(const struct schema_form *form, unsigned i, struct native_buffer *out);

#endif
