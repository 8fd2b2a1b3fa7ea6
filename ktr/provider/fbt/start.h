/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider's beginning, for who has functions that were not built to be probed. */
#ifndef KTR_FBT_START_H
#define KTR_FBT_START_H

#include <ktr/provider.h>

#include <stdbool.h>

/*
 * Takes in objects that have functions that somebody asks for: before those of a SPEC are offered; NULL: by
 * debug.ktr.probes, at first and once a second. True: there are some that were not there before. Under the
 * registry's lock.
 */
typedef bool ktr__fbt_finder(struct ktr_provider *provider, const char *spec);

/* The provider is there from now on, and has what the finder finds. Once. */
void ktr__fbt_start(ktr__fbt_finder *find);

#endif
