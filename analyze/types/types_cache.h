/* SPDX-License-Identifier: BSD-2-Clause */
/* Images of types, stored where ktr/provider/types/types_file.h finds them. */
#ifndef ANALYZE_TYPES_CACHE_H
#define ANALYZE_TYPES_CACHE_H

#include "ktr/provider/types/types.h"

/* Stores one, whole or not at all, and removes what was not used for longest where there is too much. */
void ktr__types_cache_put(const struct ktr__types *types);

/* It was read out of there. */
void ktr__types_cache_used(const struct ktr__types *types);

#endif
