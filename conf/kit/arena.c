/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An arena is a list of blocks, the newest first; pieces come out of the newest. A piece larger
 * than a quarter of a block gets a block of its own after the newest, so that little is left
 * unused.
 */
#include "conf/kit/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BLOCK_BYTES ((size_t)16 * 1024)

struct ktr__arena_block {
	struct ktr__arena_block *next;
	size_t n_used;
	size_t n_bytes;
	alignas(max_align_t) char bytes[];
};

static struct ktr__arena_block *arena_block(size_t n_bytes)
{
	struct ktr__arena_block *block;

	if (n_bytes > (size_t)-1 - sizeof(*block))
		return NULL;
	block = calloc(1, sizeof(*block) + n_bytes);
	if (block)
		block->n_bytes = n_bytes;
	return block;
}

/* Makes room for n bytes; NULL or the block to take them from. */
static struct ktr__arena_block *arena_room(struct ktr__arena *arena, size_t n)
{
	struct ktr__arena_block *block = arena->blocks;
	int alone = n > ARENA_BLOCK_BYTES / 4;

	if (block && block->n_bytes - block->n_used >= n)
		return block;
	block = arena_block(alone ? n : ARENA_BLOCK_BYTES);
	if (!block)
		return NULL;
	if (alone && arena->blocks) {
		block->next = arena->blocks->next;
		arena->blocks->next = block;
	} else {
		block->next = arena->blocks;
		arena->blocks = block;
	}
	return block;
}

void *ktr__arena_alloc(struct ktr__arena *arena, size_t n)
{
	const size_t align = alignof(max_align_t);
	struct ktr__arena_block *block;
	char *piece;

	if (n > (size_t)-1 - align)
		return NULL;
	n = (n + align - 1) & ~(align - 1);
	if (arena->limit && n > arena->limit - arena->n_bytes)
		return NULL;
	block = arena_room(arena, n);
	if (!block)
		return NULL;
	piece = block->bytes + block->n_used;
	block->n_used += n;
	arena->n_bytes += n;
	return piece;
}

char *ktr__arena_copy(struct ktr__arena *arena, const char *bytes, size_t n)
{
	char *copy = n == (size_t)-1 ? NULL : ktr__arena_alloc(arena, n + 1);

	if (copy && n)
		memcpy(copy, bytes, n);
	return copy;
}

void ktr__arena_free(struct ktr__arena *arena)
{
	struct ktr__arena_block *next;

	for (struct ktr__arena_block *b = arena->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	arena->blocks = NULL;
	arena->n_bytes = 0;
}
