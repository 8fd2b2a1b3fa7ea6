/* SPDX-License-Identifier: BSD-2-Clause */
/* The probes of this process by their names. Under the registry's lock. */
#ifndef KTR_NAMES_H
#define KTR_NAMES_H

#include "ktr/provider/registry/registry.h"

struct ktr__offered *ktr__names_find(const struct ktr_provider *provider, const char *module, const char *function,
				     const char *name);
void ktr__names_add(struct ktr__offered *offered);
void ktr__names_remove(struct ktr__offered *offered);

#endif
