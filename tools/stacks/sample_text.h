/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples in the shape of the report that sample(1) of macOS makes, which other programs read. */
#ifndef TOOLS_SAMPLE_TEXT_H
#define TOOLS_SAMPLE_TEXT_H

#include "tools/stacks/sample_take.h"

#include <stdio.h>
#include <time.h>

struct sample_told {
	const char *name; /* of the process */
	char path[4096], parent[64];
	time_t began, launched;
};

/* What is to be told of a process, while it is there. */
void sample_told(pid_t pid, const char *name, struct sample_told *told);

/* Prints all. 0 or -errno. */
int sample_text(FILE *to, const struct sample *sample, const struct sample_told *told);

#endif
