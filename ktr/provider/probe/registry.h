/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of run-time probes know of each other. */
#ifndef KTR_PROBE_REGISTRY_H
#define KTR_PROBE_REGISTRY_H

/* ktr starts when a program's module attaches or a probe is made, never because this library is linked in. */
#define KTR_NO_AUTOSTART

#include <ktr/probe.h>

#include <stdbool.h>

/* Counts of one probe or of all, summed over threads. */
struct ktr__probe_sums {
	uint64_t captured;
	uint64_t filtered;
	uint64_t sampled_ns;
	uint64_t n_sampled;
};

/* fire.c */
void ktr__probe_place(struct ktr_probe *probe); /* after its row or index has changed */
uint64_t ktr__probe_count(const struct ktr_probe *probe);
void ktr__probe_sum(struct ktr__probe_sums *sums);
uint64_t ktr__probe_calibrate(void); /* [ns] of a fire that neither records nor calls */
void ktr__probe_forked(void);	     /* this process is a new one: it has fired nothing */

/*
 * handler.c. call(): what a fire does that finds a handler; async-signal-safe. inside(): the calling thread is in a
 * handler, as seen from a frame of it. wait(): until nobody is in the probe's handler, which has been taken away
 * (seq_cst). pause(): some time, more each time; *ns is 0 at first.
 */
void ktr__handler_call(struct ktr_probe *probe, const uint64_t *arg);
bool ktr__handler_inside(const void *frame);
void ktr__handler_wait(const struct ktr_probe *probe);
void ktr__handler_pause(uint32_t *ns);
void ktr__handlers_forked(void); /* this process is a new one */

/* registry.c */
void ktr__probe_totals(uint64_t *n_probes, uint64_t *n_enabled, uint64_t *n_fired, uint64_t *overhead_ns);
uint32_t ktr__probe_of_site(uint32_t site); /* index of the probe whose call site this is; 0: none has it */
uint32_t ktr__probe_id(uint32_t index);

/*
 * shared.c: the session's table. share() is asked before rows are: false where there is none, or none any more;
 * *changed where it is another one than before. row(): that of a type and name, made if need be; 0: no room. Both
 * are called under the registry's lock.
 */
uint32_t ktr__probe_hash(uint32_t type, const char *name);
bool ktr__probe_share(bool *changed);
uint32_t ktr__probe_row_of(uint32_t type, const char *name, const char *function);
struct ktr_probe_row *ktr__probe_row_at(uint32_t row); /* of a number that row() has returned */

/* Counts of KTR_PROBE_COUNTS probes from `first` on, for one thread; NULL: no room. Async-signal-safe. */
uint64_t *ktr__probe_counters(uint32_t first);

/* The call site that somebody has made for fires by handle; 0: nobody has. Async-signal-safe. */
uint32_t ktr__probe_row_site(uint32_t row);

#endif
