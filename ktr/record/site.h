/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modules, call sites and classes. What is not async-signal-safe here wants the lock of ktr__sites_lock(),
 * which a fork takes too.
 */
#ifndef KTR_RECORD_SITE_H
#define KTR_RECORD_SITE_H

#include <ktr/site.h>

#include <stdbool.h>
#include <stdint.h>

struct ktr__session_rw;

void ktr__sites_lock(void);
void ktr__sites_unlock(void);

/* A class that has no bit gets one. */
void ktr__class_bind(struct ktr_class *cls);

/* A module's call sites get their rows. True: they have; *executable says whether it is the program's own. */
bool ktr__sites_register(struct ktr_module *module, bool *executable);

/* One that is made at run time; its identity is its file, function and format. */
void ktr__site_register(struct ktr_site *site);

bool ktr__sites_copy(const struct ktr__session_rw *from); /* classes and sites, with their numbers */

#endif
