/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of bytes in several lists, each read back in the order it was written in. What a list has no room for in
 * memory goes to a temporary file without a name, in blocks.
 */
#ifndef ANALYZE_SQL_SPILL_H
#define ANALYZE_SQL_SPILL_H

#include <stddef.h>
#include <stdint.h>

struct ktr__spill_block {
	uint64_t at; /* [bytes] in the file */
	size_t n;
	uint32_t next; /* 1 + the list's next one; 0: none */
};

struct ktr__spill_list {
	uint8_t *bytes; /* owned */
	size_t n, room;
	uint32_t first, last; /* 1 + the blocks in the file; 0: none */
};

struct ktr__spill {
	size_t memory; /* [bytes] that all lists take, about */
	size_t block; /* [bytes] of a list's memory */
	int fd;
	uint64_t end; /* [bytes] of the file */
	struct ktr__spill_block *in_file; /* owned */
	uint32_t n_blocks, block_room;
	uint8_t *bytes; /* owned: what is being read */
	size_t room;
};

/* memory: [bytes] that all lists are to take, about. */
void ktr__spill_init(struct ktr__spill *spill, size_t memory);
void ktr__spill_free(struct ktr__spill *spill);

/* So many lists there are now: the memory of further ones is less. */
void ktr__spill_lists(struct ktr__spill *spill, size_t n);

/* ktr__spill_room() where the list has no n bytes left. */
int ktr__spill_more(struct ktr__spill *spill, struct ktr__spill_list *list, size_t n);

/* Makes room for n bytes at list->bytes + list->n, to which the caller adds what it wrote. 0 or -errno. */
static inline int ktr__spill_room(struct ktr__spill *spill, struct ktr__spill_list *list, size_t n)
{
	return list->room - list->n >= n ? 0 : ktr__spill_more(spill, list, n);
}

/*
 * Takes the next block of a list out: its bytes, borrowed until the next call with any list. The number of bytes,
 * 0 when there are no more, or -errno.
 */
int64_t ktr__spill_take(struct ktr__spill *spill, struct ktr__spill_list *list, const uint8_t **bytes);

#endif
