/* SPDX-License-Identifier: BSD-2-Clause */
/* `ktr probe list --count`: how many probes each object has, how many can be on, and why the others cannot. */
#ifndef TOOLS_PROBE_COUNT_H
#define TOOLS_PROBE_COUNT_H

#include "ktr/provider/session/specs.h"

struct probe_count;

/* NULL: there is no memory for it. Its probe_count_free() takes NULL, too. */
struct probe_count *probe_count_new(void);
void probe_count_free(struct probe_count *count);

/* 0 or -ENOMEM. */
int probe_count_add(struct probe_count *count, const struct ktr__spec_probe *probe);

/* Two tables on standard output, the largest number first: how many probes there are in all. */
unsigned probe_count_print(struct probe_count *count);

#endif
