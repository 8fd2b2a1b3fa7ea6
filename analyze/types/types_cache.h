/* SPDX-License-Identifier: BSD-2-Clause */
/* Images of types on disk, a file for each build-id. */
#ifndef ANALYZE_TYPES_CACHE_H
#define ANALYZE_TYPES_CACHE_H

#include "analyze/types/types.h"

/* The image of a build-id; NULL when there is none, or none that is whole. Owned. */
struct ktr__types *ktr__types_cache_get(const uint8_t *id, uint16_t n_id);

/* Stores one, whole or not at all. */
void ktr__types_cache_put(const struct ktr__types *types);

#endif
