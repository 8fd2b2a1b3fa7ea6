/* SPDX-License-Identifier: BSD-2-Clause */
/* What a provider that lies outside of libktr asks of it: exported for libktr-probe alone. */
#ifndef KTR_OWN_SITE_H
#define KTR_OWN_SITE_H

#include <ktr/site.h>

#include <stdbool.h>

struct ktr__session_rw;

/*
 * Gives a call site that is made at run time its row in the session; what it points to is copied, and its
 * identity is its file, function and format. 0, -ENXIO (no session), -ENOSPC (no room for more sites). Locks.
 */
int ktr__site_make(struct ktr_site *site);

/*
 * probes_asked.c: is a probe that is made one of those that debug.ktr.probes wants on? ktr__probes_unmatched()
 * complains of what it wanted and did not get.
 */
bool ktr__probe_asked(const char *type, const char *name);
void ktr__probes_unmatched(void);

/* The process's own session; map NULL where there is none. */
const struct ktr__session_rw *ktr__own_session(void);

#endif
