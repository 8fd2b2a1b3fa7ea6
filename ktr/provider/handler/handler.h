/* SPDX-License-Identifier: BSD-2-Clause */
/* Handlers of probes: called by fires, waited for by who takes one away. What a probe is, whoever has it knows. */
#ifndef KTR_PROVIDER_HANDLER_H
#define KTR_PROVIDER_HANDLER_H

#include <stdbool.h>
#include <stdint.h>

/* Loads the probe's handler (seq_cst) and calls it, if there is one. */
typedef void ktr__handler_run(void *probe, const uint64_t *arg);

/* What a fire does that finds a handler. Async-signal-safe. */
void ktr__handler_call(void *probe, ktr__handler_run *run, const uint64_t *arg);

/* Is the calling thread in a handler, as seen from a frame of it? */
bool ktr__handler_inside(const void *frame);

/* Waits until nobody is in the probe's handler, which has been taken away (seq_cst). */
void ktr__handler_wait(const void *probe);

/* Waits some time, more each time; *ns is 0 at first. */
void ktr__handler_pause(uint32_t *ns);

void ktr__handlers_forked(void); /* this process is a new one */

#endif
