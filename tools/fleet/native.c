/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of a block. Rows that came before the first value of a column are filled up when that comes, and those
 * after its last one when the block is written: a column costs nothing for a row that has nothing in it.
 */
#include "tools/fleet/native.h"

#include "conf/kit/array.h"
#include "conf/kit/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NATIVE_WORD_FLAGS 0x600u /* additional keys, and the dictionary is new */

static const struct {
	const char *name;
	unsigned width;
} native_types[] = {
	[NATIVE_U8] = { "UInt8", 1 },	   [NATIVE_U16] = { "UInt16", 2 },
	[NATIVE_U32] = { "UInt32", 4 },	   [NATIVE_U64] = { "UInt64", 8 },
	[NATIVE_I64] = { "Int64", 8 },	   [NATIVE_F64] = { "Float64", 8 },
	[NATIVE_UUID] = { "UUID", 16 },	   [NATIVE_TEXT] = { "String", 1 },
	[NATIVE_WORD] = { "LowCardinality(String)", 4 }, [NATIVE_LIST] = { "Array(String)", 8 },
};

void native_buffer_free(struct native_buffer *buffer)
{
	free(buffer->at);
	memset(buffer, 0, sizeof(*buffer));
}

/* Room for n bytes more, which count at once; NULL without memory. */
static uint8_t *native_buffer_take(struct native_buffer *buffer, size_t n)
{
	size_t room = buffer->room ? buffer->room : 256;
	uint8_t *grown;

	if (buffer->failed || n > SIZE_MAX / 4 - buffer->n)
		return NULL;
	while (room < buffer->n + n)
		room *= 2;
	if (room != buffer->room) {
		grown = realloc(buffer->at, room);
		if (!grown) {
			buffer->failed = 1;
			return NULL;
		}
		buffer->at = grown;
		buffer->room = room;
	}
	buffer->n += n;
	return buffer->at + buffer->n - n;
}

void native_buffer_add(struct native_buffer *buffer, const void *bytes, size_t n)
{
	uint8_t *to = native_buffer_take(buffer, n);

	if (to && n)
		memcpy(to, bytes, n);
}

void native_buffer_text(struct native_buffer *buffer, const char *text)
{
	native_buffer_add(buffer, text, strlen(text));
}

static void native_zeros(struct native_buffer *buffer, size_t n)
{
	uint8_t *to = native_buffer_take(buffer, n);

	if (to)
		memset(to, 0, n);
}

static void native_length(struct native_buffer *buffer, uint64_t n)
{
	uint8_t bytes[10];
	unsigned i = 0;

	for (; n >= 0x80; n >>= 7)
		bytes[i++] = (uint8_t)(n | 0x80);
	bytes[i++] = (uint8_t)n;
	native_buffer_add(buffer, bytes, i);
}

static void native_string(struct native_buffer *buffer, const void *bytes, size_t n)
{
	native_length(buffer, n);
	native_buffer_add(buffer, bytes, n);
}

void native_open(struct native_block *block, const struct native_shape *shape, unsigned n_columns)
{
	memset(block, 0, sizeof(*block));
	block->shape = shape;
	block->n_columns = n_columns;
}

void native_close(struct native_block *block)
{
	for (unsigned i = 0; i < block->n_columns; i++) {
		native_buffer_free(&block->column[i].data);
		native_buffer_free(&block->column[i].words);
		free(block->column[i].slot);
		free(block->column[i].word_at);
	}
	block->n_columns = 0;
}

void native_clear(struct native_block *block)
{
	for (unsigned i = 0; i < block->n_columns; i++) {
		struct native_column *c = &block->column[i];

		c->data.n = c->words.n = 0;
		c->data.failed = c->words.failed = 0;
		c->n = c->n_words = 0;
		c->n_items = 0;
		c->last = NULL;
		if (c->slot)
			memset(c->slot, 0, c->n_slots * sizeof(*c->slot));
	}
	block->n_rows = 0;
	block->failed = 0;
}

/* ---- words ---- */

static int native_words_grow(struct native_column *c)
{
	uint32_t n = c->n_slots ? c->n_slots * 2 : 64, *slot = calloc(n, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->n_slots; i++) {
		const char *text;
		uint64_t length = 0;
		uint32_t at, shift = 0;

		if (!c->slot[i])
			continue;
		text = (const char *)c->words.at + c->word_at[c->slot[i] - 1];
		do {
			length |= (uint64_t)(*text & 0x7f) << shift;
			shift += 7;
		} while (*text++ & 0x80);
		at = (uint32_t)ktr__hash_bytes(0, text, length) & (n - 1);
		while (slot[at])
			at = (at + 1) & (n - 1);
		slot[at] = c->slot[i];
	}
	free(c->slot);
	c->slot = slot;
	c->n_slots = n;
	return 0;
}

/* Is it the word with that key? */
static int native_word_is(const struct native_column *c, uint32_t key, const char *text, size_t n)
{
	const uint8_t *at = c->words.at + c->word_at[key];
	size_t rest = n;

	for (; rest >= 0x80; rest >>= 7)
		if (*at++ != (uint8_t)(rest | 0x80))
			return 0;
	return *at++ == (uint8_t)rest && memcmp(at, text, n) == 0;
}

static uint32_t native_key(struct native_column *c, const char *text, size_t n)
{
	uint32_t at;

	if (c->n_words + 1 > c->n_slots / 2 && native_words_grow(c))
		goto without;
	at = (uint32_t)ktr__hash_bytes(0, text, n) & (c->n_slots - 1);
	for (; c->slot[at]; at = (at + 1) & (c->n_slots - 1))
		if (native_word_is(c, c->slot[at] - 1, text, n))
			return c->slot[at] - 1;
	if (ktr__array_grow(&c->word_at, &c->word_room, c->n_words, sizeof(*c->word_at)) || c->words.n > UINT32_MAX)
		goto without;
	c->word_at[c->n_words] = (uint32_t)c->words.n;
	native_string(&c->words, text, n);
	c->slot[at] = ++c->n_words;
	return c->n_words - 1;
without:
	c->words.failed = 1;
	return 0;
}

/* ---- rows ---- */

/* The rows before this one that had nothing. */
static void native_fill(struct native_block *block, unsigned column, uint32_t n_rows)
{
	struct native_column *c = &block->column[column];
	uint32_t n = n_rows - c->n;

	if (!n)
		return;
	if (block->shape[column].type == NATIVE_LIST)
		for (uint32_t i = 0; i < n; i++)
			native_buffer_add(&c->words, &c->n_items, 8);
	else
		native_zeros(&c->data, (size_t)n * native_types[block->shape[column].type].width);
	c->n = n_rows;
}

void native_number(struct native_block *block, unsigned column, uint64_t value)
{
	struct native_column *c = &block->column[column];

	if (!value)
		return;
	native_fill(block, column, block->n_rows);
	native_buffer_add(&c->data, &value, native_types[block->shape[column].type].width);
	c->n++;
}

void native_bytes(struct native_block *block, unsigned column, const void *bytes, size_t n)
{
	struct native_column *c = &block->column[column];

	if (!n)
		return;
	native_fill(block, column, block->n_rows);
	if (block->shape[column].type == NATIVE_TEXT)
		native_string(&c->data, bytes, n);
	else
		native_buffer_add(&c->data, bytes, n);
	c->n++;
}

static void native_put_key(struct native_block *block, unsigned column, uint32_t key)
{
	native_fill(block, column, block->n_rows);
	native_buffer_add(&block->column[column].data, &key, sizeof(key));
	block->column[column].n++;
}

void native_volatile(struct native_block *block, unsigned column, const char *text, size_t n)
{
	struct native_column *c = &block->column[column];

	if (!n)
		return;
	if (!c->n_words)
		native_key(c, "", 0);
	native_put_key(block, column, native_key(c, text, n));
}

void native_word(struct native_block *block, unsigned column, const char *text)
{
	struct native_column *c = &block->column[column];

	if (!text || !*text)
		return;
	if (c->last == text) {
		native_put_key(block, column, c->last_key);
		return;
	}
	if (!c->n_words)
		native_key(c, "", 0);
	c->last_key = native_key(c, text, strlen(text));
	c->last = text;
	native_put_key(block, column, c->last_key);
}

void native_list(struct native_block *block, unsigned column, const char *const *text, unsigned n)
{
	struct native_column *c = &block->column[column];

	if (!n)
		return;
	native_fill(block, column, block->n_rows);
	for (unsigned i = 0; i < n; i++)
		native_string(&c->data, text[i], strlen(text[i]));
	c->n_items += n;
	native_buffer_add(&c->words, &c->n_items, 8);
	c->n++;
}

void native_row(struct native_block *block)
{
	block->n_rows++;
}

size_t native_bytes_so_far(const struct native_block *block)
{
	size_t n = 0;

	for (unsigned i = 0; i < block->n_columns; i++)
		n += block->column[i].data.n + block->column[i].words.n;
	return n;
}

/* ---- the whole ---- */

int native_names(const struct native_block *block, struct native_buffer *out)
{
	int first = 1;

	for (unsigned i = 0; i < block->n_columns; i++) {
		if (!block->column[i].n)
			continue;
		native_buffer_text(out, first ? "" : ",");
		native_buffer_text(out, block->shape[i].name);
		first = 0;
	}
	native_buffer_add(out, "", 1);
	return out->failed ? -ENOMEM : 0;
}

static void native_write_words(const struct native_column *c, uint32_t n_rows, struct native_buffer *out)
{
	unsigned index = c->n_words <= 0x100 ? 0 : c->n_words <= 0x10000 ? 1 : 2;
	const uint64_t head[3] = { 1, index | NATIVE_WORD_FLAGS, c->n_words };
	const uint64_t rows = n_rows;
	const uint8_t *key = c->data.at;
	uint8_t *to;

	native_buffer_add(out, head, sizeof(head));
	native_buffer_add(out, c->words.at, c->words.n);
	native_buffer_add(out, &rows, sizeof(rows));
	to = native_buffer_take(out, (size_t)n_rows << index);
	for (uint32_t i = 0; to && i < n_rows; i++)
		memcpy(to + ((size_t)i << index), key + 4 * (size_t)i, (size_t)1 << index); /* little-endian */
}

int native_write(struct native_block *block, struct native_buffer *out)
{
	unsigned n = 0;

	for (unsigned i = 0; i < block->n_columns; i++)
		n += block->column[i].n != 0;
	native_length(out, n);
	native_length(out, block->n_rows);
	for (unsigned i = 0; i < block->n_columns; i++) {
		struct native_column *c = &block->column[i];
		const char *type = native_types[block->shape[i].type].name;

		if (!c->n)
			continue;
		native_fill(block, i, block->n_rows);
		if (c->data.failed || c->words.failed)
			return -ENOMEM;
		native_string(out, block->shape[i].name, strlen(block->shape[i].name));
		native_string(out, type, strlen(type));
		if (block->shape[i].type == NATIVE_WORD) {
			native_write_words(c, block->n_rows, out);
			continue;
		}
		if (block->shape[i].type == NATIVE_LIST)
			native_buffer_add(out, c->words.at, c->words.n);
		native_buffer_add(out, c->data.at, c->data.n);
	}
	return out->failed ? -ENOMEM : 0;
}
