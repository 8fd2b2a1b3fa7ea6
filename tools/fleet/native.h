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

#include <stddef.h>
#include <stdint.h>

enum native_type {
	NATIVE_U8,
	NATIVE_U16,
	NATIVE_U32,
	NATIVE_U64,
	NATIVE_I64,
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

/* Bytes that grow. All zero: none. */
struct native_buffer {
	uint8_t *at; /* owned */
	size_t n, room;
	int failed; /* 1: memory ran out */
};

struct native_column {
	struct native_buffer data;  /* numbers; texts with their lengths; of words u32 keys */
	struct native_buffer words; /* of words: texts with their lengths; of lists u64 ends */
	uint32_t n;		    /* rows that data has; fewer than the block: the rest is 0 */
	uint32_t n_words;	    /* of words: how many; 0: none yet. Word 0 is "" */
	uint64_t n_items;	    /* of lists */
	uint32_t *slot;		    /* owned; hash table of words: key + 1 */
	uint32_t *word_at;	    /* owned; by key: where it is in `words` */
	uint32_t n_slots, word_room;
	const void *last;	    /* the word given last, by its address, and its key */
	uint32_t last_key;
};

#define NATIVE_COLUMNS_MAX 64

struct native_block {
	const struct native_shape *shape; /* borrowed */
	struct native_column column[NATIVE_COLUMNS_MAX];
	unsigned n_columns;
	uint32_t n_rows;
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

/* [bytes] About how long it is so far. */
size_t native_bytes_so_far(const struct native_block *block);

/* The columns that it has, "a,b,c", with a NUL. 0 or -ENOMEM. */
int native_names(const struct native_block *block, struct native_buffer *out);

/* Appends the block. 0 or -ENOMEM. */
int native_write(struct native_block *block, struct native_buffer *out);

void native_buffer_add(struct native_buffer *buffer, const void *bytes, size_t n);
void native_buffer_text(struct native_buffer *buffer, const char *text); /* without its NUL */
void native_buffer_free(struct native_buffer *buffer);

#endif
