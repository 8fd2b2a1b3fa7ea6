/* SPDX-License-Identifier: BSD-2-Clause */
/* What another process asks of the agent. */
#ifndef KTR_AGENT_CALL_H
#define KTR_AGENT_CALL_H

#include <stdbool.h>

struct ktr__ask;

extern bool ktr__agent_preloaded; /* the program was started with the agent */

/* The start of a thread, which ends with it. Exported; see ask.h. */
void *ktr__agent_call(struct ktr__ask *ask);

#endif
