/* SPDX-License-Identifier: BSD-2-Clause */
/* What a provider that lies outside of libktr asks of it: exported for libktr-probe alone. */
#ifndef KTR_OWN_SITE_H
#define KTR_OWN_SITE_H

#include <ktr/site.h>

struct ktr__session;

/*
 * Gives a call site that is made at run time its row in the session; what it points to is copied, and its
 * identity is its file, function and format. 0, -ENXIO (no session), -ENOSPC (no room for more sites). Locks.
 */
int ktr__site_make(struct ktr_site *site);

/* The process's own session; map NULL where there is none. */
const struct ktr__session *ktr__own_session(void);

#endif
