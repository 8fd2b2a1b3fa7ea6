/* SPDX-License-Identifier: BSD-2-Clause */
/* A record as kdump's line. */
#ifndef TOOLS_KDUMP_LINES_H
#define TOOLS_KDUMP_LINES_H

#include "tools/bsd/kdump.h"
#include "writer/ktrace/in.h"

/* What goes on from line to line. */
struct kdump_lines {
	struct kdump_format format;
	int64_t first_ns, last_ns; /* of the first line, of the one before */
	int any;
	int said_dropped; /* since the last line */
};

/*
 * Prints it. abi: of its process, PROCCTOR's word, 0 if none was seen. 0, or -EINVAL: its data is not what its
 * type has.
 */
int kdump_line(struct kdump_lines *lines, const struct ktr__ktrace_record *record, uint32_t abi);

/* The name of a signal's code; NULL: it has none. */
const char *kdump_line_code_name(const struct ktr__ktrace_psig *signal);

/* Says that events were lost before a record, once until the next line. */
void kdump_line_dropped(struct kdump_lines *lines, const struct ktr__ktrace_record *record);

#endif
