/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of the framework of ktr/dtrace.h, held in memory for its two tools: those of class mach, and what the
 * kernel told (kswitch, kfault), which are its probes 1 and 3. Out of a trace, a session, or JSON (dtrace_json.h).
 */
#ifndef TOOLS_DTRACE_EVENTS_H
#define TOOLS_DTRACE_EVENTS_H

#include "tools/find.h"

#include <ktr/reader.h>

#include <stdint.h>

#define DTRACE_NAME 64 /* bytes; longer names are cut */

struct dtrace_probe_seen {
	uint32_t id;   /* 1 to 3 of the framework's own; of JSON as it says; else 0 */
	uint32_t type; /* KTR_PROBE_*; 0: not known */
	char name[DTRACE_NAME];
	int enabled; /* 1, 0; -1: not known */
	uint64_t fires; /* events of it, */
	uint64_t n;	/* and of those that are held */
};

struct dtrace_seen {
	uint64_t ns;
	uint32_t probe; /* in dtrace_events.probe */
	uint32_t cpu, tid, pid;
	uint32_t n_args;
	uint64_t arg[KTR_ARGS_MAX];
};

struct dtrace_events {
	uint64_t keep; /* the last so many; 0: all */
	struct dtrace_probe_seen *probe;
	uint32_t n_probes;
	struct dtrace_seen *event; /* oldest first after dtrace_events_end() */
	size_t n, room, first;
	uint64_t n_passed; /* that are not held any more */
	uint64_t n_lost;
	uint32_t *of_site; /* by call site: 0 unknown, 1 none of ours, else a probe + 2 */
	uint32_t n_sites;
};

void dtrace_events_free(struct dtrace_events *events);

/* The number + 2 of a probe of this type and name, made if need be; 0: no memory. */
uint32_t dtrace_events_named(struct dtrace_events *events, uint32_t type, const char *name);

/* Where the next event goes; NULL: no memory. */
struct dtrace_seen *dtrace_events_room(struct dtrace_events *events);

/* 1: it is held; 0: it is none of ours; -ENOMEM. */
int dtrace_events_add(struct dtrace_events *events, const struct ktr_event *event);

/* All that a reader has, its losses too. 0 or 1 after a complaint. */
int dtrace_events_read(struct dtrace_events *events, const char *command, struct ktr_reader *reader);

/* Which probes a session offers, and whether they are on. What cannot be known is left out. */
void dtrace_events_session(struct dtrace_events *events, const char *path);

/* In order of time, with counts. */
void dtrace_events_end(struct dtrace_events *events);

/* "custom"; "unknown". */
const char *dtrace_type_name(uint32_t type);

/* A path, -p or -s as find_source(); where none is given ./ktr.out, or else the only live session. */
int dtrace_source(const struct find *find, int argc, char **argv, char *path, size_t size);

#endif
