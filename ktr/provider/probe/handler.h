/* SPDX-License-Identifier: BSD-2-Clause */
/* Handlers of probes: called by fires, waited for by who takes one away. */
#ifndef KTR_PROBE_HANDLER_H
#define KTR_PROBE_HANDLER_H

#include "ktr/provider/probe/registry.h"

#include <stdbool.h>
#include <stdint.h>

/* What a fire does that finds a handler. Async-signal-safe. */
void ktr__handler_call(struct ktr_probe *probe, const uint64_t *arg);

/* Is the calling thread in a handler, as seen from a frame of it? */
bool ktr__handler_inside(const void *frame);

/* Waits until nobody is in the probe's handler, which has been taken away (seq_cst). */
void ktr__handler_wait(const struct ktr_probe *probe);

/* Waits some time, more each time; *ns is 0 at first. */
void ktr__handler_pause(uint32_t *ns);

void ktr__handlers_forked(void); /* this process is a new one */

#endif
