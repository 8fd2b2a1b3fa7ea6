/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A block of rows in ClickHouse's format Native, built column by column.
 *
 *	native_open(&block, shape, n_columns);
 *	native_number(&block, COLUMN_TS, ts), native_word(&block, COLUMN_HOST, host, strlen(host)), ...
 *	native_row(&block);			the row is complete
 *	rc = native_write(&block, &out);	the whole block
 *	native_clear(&block);			for the next one
 *
 * What a row is not given is 0 or empty, and a column that no row was given anything of is left out: whoever
 * inserts names the columns that are there (native_names()), and the others take their defaults.
 */
#ifndef FLEET_NATIVE_H
#define FLEET_NATIVE_H

#include "tools/fleet/native_buffer.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

enum native_type {
	NATIVE_U8,
	NATIVE_U16,
	NATIVE_U32,
	NATIVE_U64,
	NATIVE_I64,
	NATIVE_U64_UP, /* the same of numbers that mostly are a bit more than the one before */
	NATIVE_I64_UP,
	NATIVE_F64,  /* given by its bits */
	NATIVE_UUID, /* native_bytes(), 16 of them */
	NATIVE_TEXT, /* String: any bytes */
	NATIVE_WORD, /* LowCardinality(String) */
	NATIVE_LIST  /* Array(String) */
};

struct native_shape {
	const char *name;
	enum native_type type;
};

struct native_column {
	struct native_buffer data;  /* numbers; texts with their lengths; of words keys */
	struct native_buffer words; /* of words: texts with their lengths; of lists u64 ends */
	size_t n_packed;	    /* [bytes] came before data, and were packed: native_settle() */
	uint32_t first_piece, last_piece; /* of them, from 1; 0: none */
	uint32_t n;		    /* rows that data has, and these; fewer than the block: the rest is 0 */
	uint32_t n_words;	    /* of words: how many; 0: none yet. Word 0 is "" */
	uint64_t n_items;	    /* of lists */
	uint32_t *slot;		    /* owned; hash table of words: key + 1 */
	uint32_t *word_at;	    /* owned; by key: where it is in `words` */
	uint32_t n_slots, word_room;
	const void *last;	    /* the word given last, by its address, and its key */
	uint32_t last_key;
	uint8_t width; /* [bytes] of a value in data; of words, 1, 2 or 4, by how many there are */
	uint8_t same;  /* all rows have what data begins with */
};

/* Of a column, packed. */
struct native_piece {
	size_t at, n;	/* [bytes] where, of the block's `packed` */
	uint32_t next;	/* of the same column; 0: none */
};

#define NATIVE_COLUMNS_MAX 64

struct native_block {
	const struct native_shape *shape; /* borrowed */
	struct native_column column[NATIVE_COLUMNS_MAX];
	unsigned n_columns;
	uint32_t n_rows;
	uint32_t n_settled; /* rows: the first ones, of which native_settle() has taken care */
	uint32_t n_pieces, piece_room;
	struct native_piece *piece;  /* owned */
	struct native_buffer packed; /* in the order in which it was packed */
	int failed; /* 1: memory ran out */
};

void native_open(struct native_block *block, const struct native_shape *shape, unsigned n_columns);
void native_close(struct native_block *block);
void native_clear(struct native_block *block);

/* What the row that is being made has in a column. Given once a row. */
void native_number(struct native_block *block, unsigned column, uint64_t value);
void native_bytes(struct native_block *block, unsigned column, const void *bytes, size_t n);
/*
 * A word; the text at one address stays the same while the block is filled, unless volatile: see
 * native_volatile().
 */
void native_word(struct native_block *block, unsigned column, const char *text);
void native_volatile(struct native_block *block, unsigned column, const char *text, size_t n);
void native_list(struct native_block *block, unsigned column, const char *const *text, unsigned n);
void native_row(struct native_block *block);

/* All rows of this block and of those after it have these bytes in a column, which is given to none then. */
void native_same(struct native_block *block, unsigned column, const void *bytes, size_t n);

/*
 * Many rows at once: room for n values of a column from the block's next row on, which whoever asks fills, and says
 * how many of them there are. NULL without memory. Of words, keys, as wide as the column says: none that is new may
 * be asked for in between. native_rows() counts the rows, after all of their columns.
 */
void *native_take(struct native_block *block, unsigned column, uint32_t n);
void native_took(struct native_block *block, unsigned column, uint32_t n);
static inline void native_rows(struct native_block *block, uint32_t n)
{
	block->n_rows += n;
}

/* The same from a row on that the block has already. */
void *native_take_at(struct native_block *block, unsigned column, uint32_t row, uint32_t n);

/*
 * n rows from a row on with the same key or number, or a row's text: rows that need not count yet, but come after
 * those that the column has already.
 */
void native_numbers(struct native_block *block, unsigned column, uint32_t row, uint64_t value, uint32_t n);
void native_text_at(struct native_block *block, unsigned column, uint32_t row, const void *bytes, size_t n);

/*
 * n rows from the block's next on, whose numbers or keys lie so many bytes apart, as u32 or u64 (u32 where the
 * column is narrower): 0 in all of them is left out.
 */
void native_gather(struct native_block *block, unsigned column, const void *from, size_t stride, uint32_t n);

/* The key of a word in this block; 0 of none. native_word_key(): the text at one address stays the same. */
uint32_t native_key_of(struct native_block *block, unsigned column, const char *text, size_t n);
uint32_t native_word_key_new(struct native_block *block, unsigned column, const char *text);
static inline uint32_t native_word_key(struct native_block *block, unsigned column, const char *text)
{
	const struct native_column *c = &block->column[column];

	return !text || !*text ? 0 : c->last == text ? c->last_key : native_word_key_new(block, column, text);
}

/* [bytes] About how long it is so far. */
size_t native_bytes_so_far(const struct native_block *block);

/* The columns that it has, "a,b,c", with a NUL. 0 or -ENOMEM. */
int native_names(const struct native_block *block, struct native_buffer *out);

/*
 * Hands out the block in pieces, which lie where they are until it is cleared; same, not 0: so many bytes, again
 * and again, NATIVE_SAME_BYTES of them in a piece or the rest. 0 or -ENOMEM.
 */
#define NATIVE_SAME_BYTES ((size_t)64 << 10)
#define NATIVE_PACKED	  UINT_MAX /* as `same`: it was packed by native_settle(); */
#define NATIVE_UP	  (UINT_MAX - 1) /* numbers of 8 bytes that mostly are a bit more than the one before */
typedef void native_put_fn(void *to, const void *bytes, size_t n, unsigned same);
int native_pour(struct native_block *block, native_put_fn *put, void *to);

/*
 * What long columns have of all rows so far, which are complete, is packed while a cache has it, and its memory is
 * used again: once there are so many rows more than the last time. Words and lists are left. For native_pour(),
 * which tells what is packed. pack(): 0 or -ENOMEM, which is told later; what: 0 or NATIVE_UP.
 */
#define NATIVE_SETTLE_ROWS 16384u
typedef int native_pack_fn(struct native_buffer *to, const uint8_t *bytes, size_t n, unsigned what);
void native_settle(struct native_block *block, native_pack_fn *pack);
static inline int native_settles(const struct native_block *block)
{
	return block->n_rows - block->n_settled >= NATIVE_SETTLE_ROWS;
}

/* Appends the block, of which nothing was packed. 0 or -ENOMEM. */
int native_write(struct native_block *block, struct native_buffer *out);

#endif
