/* SPDX-License-Identifier: BSD-2-Clause */
/* Modules attach when they are loaded, with their classes and call sites. */
#ifndef KTR_ATTACH_H
#define KTR_ATTACH_H

#include <ktr/site.h>

#include <stdbool.h>
#include <stdint.h>

extern bool ktr__attach_refused; /* a module of another ABI, which has been said */

/* What all modules test from now on; under ktr__sites_lock(). */
void ktr__attach_gate(const uint64_t *gate);

/*
 * Gives a call site that is made at run time its row in the session; what it points to is copied, and its
 * identity is its file, function and format. Exported for libktr-probe. 0, -ENXIO (no session), -ENOSPC (no
 * room for more sites). Locks.
 */
int ktr__site_make(struct ktr_site *site);

#endif
