/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of a block. Rows that came before the first value of a column are filled up when that comes, and those
 * after its last one when the block is written: a column costs nothing for a row that has nothing in it. Keys of
 * words are as wide as they are sent, and are made wider when there are more words than that numbers.
 */
#include "tools/fleet/native.h"

#include "conf/kit/array.h"
#include "conf/kit/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NATIVE_SETTLE_BYTES ((size_t)64 << 10) /* [bytes] fewer of a column are not packed by themselves */
#define NATIVE_PACKED_BYTES ((size_t)4 << 20)  /* [bytes] room for those, which costs only as it is used */

#define NATIVE_WORD_FLAGS 0x600u /* additional keys, and the dictionary is new */

static const struct {
	const char *name;
	unsigned width;
} native_types[] = {
	[NATIVE_U8] = { "UInt8", 1 },	   [NATIVE_U16] = { "UInt16", 2 },
	[NATIVE_U32] = { "UInt32", 4 },	   [NATIVE_U64] = { "UInt64", 8 },
	[NATIVE_I64] = { "Int64", 8 },	   [NATIVE_F64] = { "Float64", 8 },
	[NATIVE_U64_UP] = { "UInt64", 8 }, [NATIVE_I64_UP] = { "Int64", 8 },
	[NATIVE_UUID] = { "UUID", 16 },	   [NATIVE_TEXT] = { "String", 1 },
	[NATIVE_WORD] = { "LowCardinality(String)", 1 }, [NATIVE_LIST] = { "Array(String)", 8 },
};

void native_open(struct native_block *block, const struct native_shape *shape, unsigned n_columns)
{
	memset(block, 0, sizeof(*block));
	block->shape = shape;
	block->n_columns = n_columns;
	for (unsigned i = 0; i < n_columns; i++)
		block->column[i].width = (uint8_t)native_types[shape[i].type].width;
}

void native_close(struct native_block *block)
{
	for (unsigned i = 0; i < block->n_columns; i++) {
		native_buffer_free(&block->column[i].data);
		native_buffer_free(&block->column[i].words);
		free(block->column[i].slot);
		free(block->column[i].word_at);
	}
	native_buffer_free(&block->packed);
	free(block->piece);
	block->piece = NULL;
	block->n_columns = block->n_pieces = block->piece_room = 0;
}

void native_clear(struct native_block *block)
{
	for (unsigned i = 0; i < block->n_columns; i++) {
		struct native_column *c = &block->column[i];

		/* What all rows have stays for those that come. */
		if (c->same)
			continue;
		c->width = (uint8_t)native_types[block->shape[i].type].width;
		c->data.n = c->words.n = 0;
		c->data.failed = c->words.failed = 0;
		c->n_packed = 0;
		c->first_piece = c->last_piece = 0;
		c->n = c->n_words = 0;
		c->n_items = 0;
		c->last = NULL;
		if (c->slot)
			memset(c->slot, 0, c->n_slots * sizeof(*c->slot));
	}
	block->packed.n = 0;
	block->packed.failed = 0;
	block->n_rows = block->n_settled = block->n_pieces = 0;
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

/* Keys of the rows that there are take twice the bytes: little-endian. */
static void native_widen(struct native_column *c)
{
	size_t n = c->data.n / c->width;
	unsigned width = c->width;

	if (!native_buffer_take(&c->data, n * width))
		return;
	while (n--) {
		uint32_t key = 0;

		memcpy(&key, c->data.at + n * width, width);
		memcpy(c->data.at + n * 2 * width, &key, 2 * width);
	}
	c->width = (uint8_t)(2 * width);
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
	native_buffer_string(&c->words, text, n);
	c->slot[at] = ++c->n_words;
	if (c->n_words == 0x101 || c->n_words == 0x10001)
		native_widen(c);
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
		native_buffer_zeros(&c->data, (size_t)n * c->width);
	c->n = n_rows;
}

void native_number(struct native_block *block, unsigned column, uint64_t value)
{
	struct native_column *c = &block->column[column];

	if (!value)
		return;
	native_fill(block, column, block->n_rows);
	native_buffer_add(&c->data, &value, c->width);
	c->n++;
}

void native_bytes(struct native_block *block, unsigned column, const void *bytes, size_t n)
{
	struct native_column *c = &block->column[column];

	if (!n)
		return;
	native_fill(block, column, block->n_rows);
	if (block->shape[column].type == NATIVE_TEXT)
		native_buffer_string(&c->data, bytes, n);
	else
		native_buffer_add(&c->data, bytes, n);
	c->n++;
}

static void native_put_key(struct native_block *block, unsigned column, uint32_t key)
{
	struct native_column *c = &block->column[column];

	native_fill(block, column, block->n_rows);
	native_buffer_add(&c->data, &key, c->width);
	c->n++;
}

uint32_t native_key_of(struct native_block *block, unsigned column, const char *text, size_t n)
{
	struct native_column *c = &block->column[column];

	if (!n)
		return 0;
	if (!c->n_words)
		native_key(c, "", 0);
	return native_key(c, text, n);
}

uint32_t native_word_key_new(struct native_block *block, unsigned column, const char *text)
{
	struct native_column *c = &block->column[column];

	c->last_key = native_key_of(block, column, text, strlen(text));
	c->last = text;
	return c->last_key;
}

void native_volatile(struct native_block *block, unsigned column, const char *text, size_t n)
{
	if (n)
		native_put_key(block, column, native_key_of(block, column, text, n));
}

void native_word(struct native_block *block, unsigned column, const char *text)
{
	if (text && *text)
		native_put_key(block, column, native_word_key(block, column, text));
}

void native_list(struct native_block *block, unsigned column, const char *const *text, unsigned n)
{
	struct native_column *c = &block->column[column];

	if (!n)
		return;
	native_fill(block, column, block->n_rows);
	for (unsigned i = 0; i < n; i++)
		native_buffer_string(&c->data, text[i], strlen(text[i]));
	c->n_items += n;
	native_buffer_add(&c->words, &c->n_items, 8);
	c->n++;
}

void native_row(struct native_block *block)
{
	block->n_rows++;
}

/* ---- many rows ---- */

void native_same(struct native_block *block, unsigned column, const void *bytes, size_t n)
{
	struct native_column *c = &block->column[column];

	c->data.n = 0;
	native_buffer_add(&c->data, bytes, n);
	c->same = 1;
}

/* A piece of as many rows as the block has; those of the block before are there. */
static void native_same_rows(struct native_block *block, struct native_column *c)
{
	size_t n = (size_t)block->n_rows * c->width, from = c->data.n;

	n = n < NATIVE_SAME_BYTES ? n : NATIVE_SAME_BYTES;
	if (from >= n || !native_buffer_take(&c->data, n - from))
		return;
	for (; from < n; from += c->width)
		memcpy(c->data.at + from, c->data.at, c->width);
}

void *native_take(struct native_block *block, unsigned column, uint32_t n)
{
	return native_take_at(block, column, block->n_rows, n);
}

void *native_take_at(struct native_block *block, unsigned column, uint32_t row, uint32_t n)
{
	struct native_column *c = &block->column[column];

	native_fill(block, column, row);
	return native_buffer_room(&c->data, (size_t)n * c->width);
}

void native_took(struct native_block *block, unsigned column, uint32_t n)
{
	struct native_column *c = &block->column[column];

	c->data.n += (size_t)n * c->width;
	c->n += n;
}

/* n values of so many bytes, which all are the same. */
static void native_repeat(uint8_t *to, uint64_t value, unsigned width, size_t n)
{
	size_t bytes = n * width;
	uint64_t many[8];

	if (width == 1) {
		memset(to, (int)value, n);
		return;
	}
	for (unsigned bits = 8 * width; bits < 64; bits *= 2)
		value = (value & ((UINT64_C(1) << bits) - 1)) | value << bits;
	for (unsigned i = 0; i < 8; i++)
		many[i] = value;
	for (; bytes >= sizeof(many); bytes -= sizeof(many), to += sizeof(many))
		memcpy(to, many, sizeof(many));
	for (; bytes >= 8; bytes -= 8, to += 8)
		memcpy(to, &value, 8);
	memcpy(to, &value, bytes);
}

void native_numbers(struct native_block *block, unsigned column, uint32_t row, uint64_t value, uint32_t n)
{
	struct native_column *c = &block->column[column];
	uint8_t *to;

	if (!value || !n)
		return;
	native_fill(block, column, row);
	to = native_buffer_room(&c->data, (size_t)n * c->width);
	if (!to)
		return;
	native_repeat(to, value, c->width, n);
	native_took(block, column, n);
}

#define NATIVE_GATHER(name, type) \
	static void native_gather_##name(struct native_block *block, unsigned column, const char *from, \
					 size_t stride, uint32_t n) \
	{ \
		const struct native_column *c = &block->column[column]; \
		type *to, any = c->n && c->n == block->n_rows, value; \
 \
		for (uint32_t i = 0; !any && i < n; i++) { \
			memcpy(&value, from + i * stride, sizeof(value)); \
			any |= value; \
		} \
		to = any ? native_take(block, column, n) : NULL; \
		for (uint32_t i = 0; to && i < n; i++) \
			memcpy(&to[i], from + i * stride, sizeof(*to)); \
		native_took(block, column, to ? n : 0); \
	}
NATIVE_GATHER(8, uint8_t)
NATIVE_GATHER(16, uint16_t)
NATIVE_GATHER(32, uint32_t)
NATIVE_GATHER(64, uint64_t)

void native_gather(struct native_block *block, unsigned column, const void *from, size_t stride, uint32_t n)
{
	switch (block->column[column].width) {
	case 1:
		native_gather_8(block, column, from, stride, n);
		break;
	case 2:
		native_gather_16(block, column, from, stride, n);
		break;
	case 4:
		native_gather_32(block, column, from, stride, n);
		break;
	default:
		native_gather_64(block, column, from, stride, n);
	}
}

void native_text_at(struct native_block *block, unsigned column, uint32_t row, const void *bytes, size_t n)
{
	struct native_column *c = &block->column[column];

	native_fill(block, column, row);
	native_buffer_string(&c->data, bytes, n);
	c->n++;
}

size_t native_bytes_so_far(const struct native_block *block)
{
	size_t n = 0;

	for (unsigned i = 0; i < block->n_columns; i++)
		n += block->column[i].same ? (size_t)block->n_rows * block->column[i].width
					   : block->column[i].n_packed + block->column[i].data.n +
						     block->column[i].words.n;
	return n;
}

/* ---- packing ahead ---- */

/* Are its values all that comes after its name and type, and known for good when a row is complete? */
static int native_is_plain(const struct native_block *block, unsigned column)
{
	enum native_type type = block->shape[column].type;

	return type != NATIVE_WORD && type != NATIVE_LIST && !block->column[column].same;
}

/* What those are to whoever packs them. */
static unsigned native_what(const struct native_block *block, unsigned column)
{
	enum native_type type = block->shape[column].type;

	return type == NATIVE_U64_UP || type == NATIVE_I64_UP ? NATIVE_UP : 0;
}

/* Packs a column's data: one more piece of it. 0 or -ENOMEM. */
static int native_piece_add(struct native_block *block, unsigned column, native_pack_fn *pack)
{
	struct native_column *c = &block->column[column];
	size_t at = block->packed.n;
	uint32_t i = block->n_pieces;

	if (!at)
		native_buffer_room(&block->packed, NATIVE_PACKED_BYTES);
	if (ktr__array_grow(&block->piece, &block->piece_room, i, sizeof(*block->piece)) ||
	    pack(&block->packed, c->data.at, c->data.n, native_what(block, column)))
		return -ENOMEM;
	block->piece[i] = (struct native_piece){ at, block->packed.n - at, 0 };
	*(c->last_piece ? &block->piece[c->last_piece - 1].next : &c->first_piece) = i + 1;
	c->last_piece = block->n_pieces = i + 1;
	c->n_packed += c->data.n;
	c->data.n = 0;
	return 0;
}

void native_settle(struct native_block *block, native_pack_fn *pack)
{
	for (unsigned i = 0; i < block->n_columns; i++) {
		struct native_column *c = &block->column[i];

		if (!c->n || !native_is_plain(block, i))
			continue;
		native_fill(block, i, block->n_rows);
		if (c->data.n < NATIVE_SETTLE_BYTES || c->data.failed)
			continue;
		/* What is left then goes with the rest. */
		if (native_piece_add(block, i, pack))
			block->packed.failed = 1;
	}
	block->n_settled = block->n_rows;
}

/* ---- the whole ---- */

/* Has any row anything in it? */
static int native_is_there(const struct native_block *block, unsigned column)
{
	return block->column[column].n || (block->column[column].same && block->n_rows);
}

int native_names(const struct native_block *block, struct native_buffer *out)
{
	int first = 1;

	for (unsigned i = 0; i < block->n_columns; i++) {
		if (!native_is_there(block, i))
			continue;
		native_buffer_text(out, first ? "" : ",");
		native_buffer_text(out, block->shape[i].name);
		first = 0;
	}
	native_buffer_add(out, "", 1);
	return out->failed ? -ENOMEM : 0;
}

/* The dictionary of words, and how many keys follow. */
static void native_words(const struct native_column *c, uint32_t n_rows, struct native_buffer *head)
{
	unsigned index = c->width == 1 ? 0 : c->width == 2 ? 1 : 2;
	const uint64_t flags[3] = { 1, index | NATIVE_WORD_FLAGS, c->n_words }, rows = n_rows;

	native_buffer_add(head, flags, sizeof(flags));
	native_buffer_add(head, c->words.at, c->words.n);
	native_buffer_add(head, &rows, sizeof(rows));
}

static void native_same_put(const struct native_block *block, const struct native_column *c, native_put_fn *put,
			    void *to)
{
	size_t n;

	for (size_t left = (size_t)block->n_rows * c->width; left; left -= n) {
		n = left < NATIVE_SAME_BYTES ? left : NATIVE_SAME_BYTES;
		put(to, c->data.at, n, c->width);
	}
}

/* A column: its name, its type, and what comes before its data in `head`. 0 or -ENOMEM. */
static int native_column_write(struct native_block *block, unsigned i, struct native_buffer *head,
			       native_put_fn *put, void *to)
{
	struct native_column *c = &block->column[i];
	const char *name = block->shape[i].name, *type = native_types[block->shape[i].type].name;

	if (c->same)
		native_same_rows(block, c);
	else
		native_fill(block, i, block->n_rows);
	native_buffer_string(head, name, strlen(name));
	native_buffer_string(head, type, strlen(type));
	if (block->shape[i].type == NATIVE_WORD)
		native_words(c, block->n_rows, head);
	if (c->data.failed || c->words.failed || block->packed.failed || head->failed)
		return -ENOMEM;
	put(to, head->at, head->n, 0);
	head->n = 0;
	if (block->shape[i].type == NATIVE_LIST)
		put(to, c->words.at, c->words.n, 0);
	for (uint32_t p = c->first_piece; p; p = block->piece[p - 1].next)
		put(to, block->packed.at + block->piece[p - 1].at, block->piece[p - 1].n, NATIVE_PACKED);
	if (c->same)
		native_same_put(block, c, put, to);
	else
		put(to, c->data.at, c->data.n, native_what(block, i));
	return 0;
}

int native_pour(struct native_block *block, native_put_fn *put, void *to)
{
	struct native_buffer head = { 0 };
	unsigned n = 0;
	int rc = 0;

	for (unsigned i = 0; i < block->n_columns; i++)
		n += native_is_there(block, i) != 0;
	native_buffer_length(&head, n);
	native_buffer_length(&head, block->n_rows);
	for (unsigned i = 0; i < block->n_columns && !rc; i++)
		if (native_is_there(block, i))
			rc = native_column_write(block, i, &head, put, to);
	if (!rc && head.n)
		put(to, head.at, head.n, 0);
	rc = head.failed ? -ENOMEM : rc;
	native_buffer_free(&head);
	return rc;
}

static void native_put(void *to, const void *bytes, size_t n, unsigned same)
{
	(void)same;
	native_buffer_add(to, bytes, n);
}

int native_write(struct native_block *block, struct native_buffer *out)
{
	int rc = native_pour(block, native_put, out);

	return rc ? rc : out->failed ? -ENOMEM : 0;
}
