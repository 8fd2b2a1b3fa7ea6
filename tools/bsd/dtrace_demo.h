/* SPDX-License-Identifier: BSD-2-Clause */
/* What --demo shows: a recording, as `dtrace-analyze --json` writes them, of examples/dtrace. */
#ifndef TOOLS_DTRACE_DEMO_H
#define TOOLS_DTRACE_DEMO_H

#include <stddef.h>

extern const char dtrace_demo[], dtrace_demo_end[];

static inline size_t dtrace_demo_bytes(void)
{
	return (size_t)(dtrace_demo_end - dtrace_demo);
}

#endif
