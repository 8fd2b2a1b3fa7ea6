/* SPDX-License-Identifier: BSD-2-Clause */
/* The session's table of probes. */
#ifndef KTR_PROBE_SHARED_H
#define KTR_PROBE_SHARED_H

#include "ktr/provider/probe/registry.h"

#include <stdbool.h>
#include <stdint.h>

uint32_t ktr__probe_hash(uint32_t type, const char *name);

/*
 * share() is asked before rows are: false where there is no table, or none any more; *changed where it is
 * another one than before. row_of() returns that of a type and name, made if need be; 0: no room. Both are
 * called under the registry's lock.
 */
bool ktr__probe_share(bool *changed);
uint32_t ktr__probe_row_of(uint32_t type, const char *name, const char *function);
struct ktr_probe_row *ktr__probe_row_at(uint32_t row); /* of a number that row_of() has returned */

/* Counts of KTR_PROBE_COUNTS probes from `first` on, for one thread; NULL: no room. Async-signal-safe. */
uint64_t *ktr__probe_counters(uint32_t first);

/* The call site that somebody has made for fires by handle; 0: nobody has. Async-signal-safe. */
uint32_t ktr__probe_row_site(uint32_t row);

#endif
