/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory for what lives as long as its reader: handed out piece by piece, freed all at once, never
 * moved. A record of zero bytes is an empty arena. One thread at a time.
 */
#ifndef ANALYZE_ARENA_H
#define ANALYZE_ARENA_H

#include <stddef.h>

struct ktr__arena {
	struct ktr__arena_block *blocks;
	size_t n_bytes; /* handed out */
	size_t limit;   /* [bytes] more is refused; 0: no limit */
};

/* n zeroed bytes, aligned for any type, or NULL: no memory, or the limit reached. */
void *ktr__arena_alloc(struct ktr__arena *arena, size_t n);

/* A copy of n bytes with a NUL after them, or NULL. */
char *ktr__arena_copy(struct ktr__arena *arena, const char *bytes, size_t n);

void ktr__arena_free(struct ktr__arena *arena);

#endif
