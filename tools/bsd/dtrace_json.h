/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events as JSON, as the framework's own tools exchange them: { "events": [ { "probe_id": 4, "timestamp": ns,
 * "cpu_id": 0, "thread_id": tid, "task_id": pid, "args": [...], "type": "custom", "name": "depth" } ] }, of which
 * all but the timestamp may be missing.
 */
#ifndef TOOLS_DTRACE_JSON_H
#define TOOLS_DTRACE_JSON_H

#include "tools/bsd/dtrace_events.h"

#include <stdio.h>

/* The text of a JSON file; name: for complaints. 0 or 1 after one. */
int dtrace_json_read(struct dtrace_events *events, const char *command, const char *name, const char *text,
		     size_t n_bytes);

/* Of each what it was; what strings hold is shown visibly. */
void dtrace_json_print(const struct dtrace_events *events, FILE *to);

#endif
