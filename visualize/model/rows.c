/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of rows and labels: found by hash, named once, kept until the end.
 *
 * Rows are chained in buckets that double with the table; labels live in a fixed open table, since
 * there are at most KTR__ROWS_LABELS of them. What happens on a row is in row.c.
 */
#include "visualize/model/rows.h"

#include "analyze/read/tables.h"
#include "conf/kit/array.h"
#include "conf/kit/hash.h"
#include "visualize/model/label.h"
#include "visualize/model/palette.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A clean copy that lives as long as the table. */
static const char *rows_name(struct ktr__rows *rows, const char *bytes, size_t n)
{
	char clean[KTR__LABEL_BYTES];
	size_t length = ktr__label_clean(clean, sizeof(clean), bytes, n);

	return ktr__arena_copy(&rows->names, clean, length);
}

int ktr__rows_init(struct ktr__rows *rows, const struct ktr__grid *grid)
{
	uint16_t other;

	memset(rows, 0, sizeof(*rows));
	rows->grid = *grid;
	rows->n_labels = 1; /* KTR__LABEL_NONE */
	rows->label[0] = "";
	rows->n_buckets = 64;
	rows->bucket = calloc(rows->n_buckets, sizeof(struct ktr__row *));
	if (rows->bucket == NULL)
		return -ENOMEM;
	return ktr__rows_label(rows, "(other)", 7, &other);
}

static void rows_free_row(struct ktr__row *row)
{
	for (unsigned i = 0; i < row->n_levels; i++)
		rows_free_row(row->level[i]);
	free(row->level);
	free(row->rings.word);
	free(row->lane.cell);
	free(row->area.cell);
	free(row->marks);
	free(row->stay);
	free(row);
}

void ktr__rows_free(struct ktr__rows *rows)
{
	for (unsigned i = 0; i < rows->n_rows; i++)
		rows_free_row(rows->row[i]);
	free(rows->row);
	free(rows->gap);
	free(rows->bucket);
	ktr__arena_free(&rows->names);
	memset(rows, 0, sizeof(*rows));
}

/* A new label of its own, or KTR__LABEL_OTHER where there are too many. */
static int rows_add_label(struct ktr__rows *rows, const char *bytes, size_t n, uint16_t *label)
{
	*label = KTR__LABEL_OTHER;
	if (rows->n_labels == KTR__ROWS_LABELS)
		return 0;
	rows->label[rows->n_labels] = rows_name(rows, bytes, n);
	if (rows->label[rows->n_labels] == NULL)
		return -ENOMEM;
	*label = (uint16_t)rows->n_labels++;
	rows->label_colour[*label] = KTR__GREY;
	rows->label_letter[*label] = '*';
	return 0;
}

/* A letter that no label has yet: of the name's own, if there is one. */
static char rows_letter(uint8_t *taken, const char *name)
{
	static const char any[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789*";
	char wish[2 * KTR__LABEL_BYTES + sizeof(any) + 2];
	size_t n = 0;

	if (ktr__palette_is_idle(name))
		n = (size_t)snprintf(wish, 3, ".-");
	for (const char *p = name; *p != '\0' && n < 2 * KTR__LABEL_BYTES; p++) {
		if (!isascii((unsigned char)*p) || !isalnum((unsigned char)*p))
			continue;
		wish[n++] = (char)toupper((unsigned char)*p);
		wish[n++] = (char)tolower((unsigned char)*p);
	}
	memcpy(wish + n, any, sizeof(any));
	for (n = 0; wish[n] != '*' && taken[(unsigned char)wish[n]];)
		n++;
	taken[(unsigned char)wish[n]] = 1;
	return wish[n];
}

/* Likewise, found by a hash of its own. Returns 1 where it was made, 0 where it was there or shared, or -ENOMEM. */
static int rows_label(struct ktr__rows *rows, const char *bytes, size_t n, uint64_t hash, uint16_t *label)
{
	unsigned at = (unsigned)(hash % (2 * KTR__ROWS_LABELS));

	/* Two states with one 64-bit hash would show as one; the table never fills beyond half. */
	while (rows->label_bucket[at] != 0) {
		*label = rows->label_bucket[at];
		if (rows->label_hash[*label] == hash)
			return 0;
		at = (at + 1) % (2 * KTR__ROWS_LABELS);
	}
	if (rows_add_label(rows, n > 0 ? bytes : "(none)", n > 0 ? n : 6, label) != 0)
		return -ENOMEM;
	if (*label == KTR__LABEL_OTHER && rows->n_labels > 2)
		return 0;
	rows->label_hash[*label] = hash;
	rows->label_bucket[at] = *label;
	return *label != KTR__LABEL_OTHER;
}

int ktr__rows_label(struct ktr__rows *rows, const char *bytes, size_t n, uint16_t *label)
{
	uint64_t hash = ktr__hash_bytes(0, bytes, n);
	int made = rows_label(rows, bytes, n, hash, label);

	if (made <= 0)
		return made;
	/* They come in the order in which the trace has them, so that a name looks the same in all its pictures. */
	if (ktr__colours_known(rows->colours, rows->label[*label], &rows->label_colour[*label]))
		ktr__palette_take(rows->label_colour[*label], &rows->colours_taken);
	else
		rows->label_colour[*label] = ktr__palette_name(rows->label[*label], hash, &rows->colours_taken);
	rows->label_letter[*label] = rows_letter(rows->letters_taken, rows->label[*label]);
	return 0;
}

int ktr__rows_scope(struct ktr__rows *rows, const char *name, uint16_t *label)
{
	size_t n = strlen(name);
	int made = rows_label(rows, name, n, ktr__hash_bytes(1, name, n), label);

	if (made <= 0)
		return made;
	rows->label_scope[*label] = 1;
	rows->label_colour[*label] = ktr__colours_name(rows->colours, rows->label[*label]);
	rows->label_letter[*label] = rows_letter(rows->scope_letters, rows->label[*label]);
	return 0;
}

/* It is in no bucket: a state that is called so is another one. */
int ktr__rows_depth(struct ktr__rows *rows, unsigned n_open, uint16_t *label)
{
	char text[24];
	int n;

	*label = rows->depth_label[n_open];
	if (n_open == 0 || *label != 0)
		return 0;
	n = snprintf(text, sizeof(text), "%u open", n_open);
	if (rows_add_label(rows, text, (size_t)n, label) != 0)
		return -ENOMEM;
	rows->depth_label[n_open] = *label;
	if (*label == KTR__LABEL_OTHER)
		return 0;
	rows->label_depth[*label] = (uint16_t)n_open;
	rows->label_colour[*label] = ktr__palette_ramp(n_open);
	rows->label_letter[*label] = "0123456789abcdefghijklmnopqrstuvwxyz"[n_open < 36 ? n_open : 35];
	return 0;
}

static uint64_t rows_process_key(const struct ktr__row_key *key)
{
	return key->thread != NULL ? ktr__tables_process_key(key->thread) : 0;
}

static int rows_is(const struct ktr__row *row, const struct ktr__row_key *key)
{
	return row->kind == key->kind && row->process_key == rows_process_key(key) &&
	       row->cpu == key->cpu && row->n_ident == key->n_ident &&
	       memcmp(row->ident, key->ident, key->n_ident) == 0;
}

/* Twice as many buckets; without memory for them chains only become longer. */
static void rows_rehash(struct ktr__rows *rows)
{
	unsigned n = 2 * rows->n_buckets;
	struct ktr__row **bucket = calloc(n, sizeof(struct ktr__row *));

	if (bucket == NULL)
		return;
	for (unsigned i = 0; i < rows->n_rows; i++) {
		struct ktr__row **at = &bucket[rows->row[i]->hash & (n - 1)];

		rows->row[i]->chain = *at;
		*at = rows->row[i];
	}
	free(rows->bucket);
	rows->bucket = bucket;
	rows->n_buckets = n;
}

static struct ktr__row *rows_make(struct ktr__rows *rows, const struct ktr__row_key *key)
{
	const char *process = key->thread != NULL ? key->thread->process : "";
	struct ktr__row *row = calloc(1, sizeof(*row));

	if (row == NULL)
		return NULL;
	row->kind = key->kind;
	row->pid = key->thread != NULL ? key->thread->pid : 0;
	row->process_key = rows_process_key(key);
	row->cpu = key->cpu;
	row->n_ident = key->n_ident;
	row->ident = ktr__arena_copy(&rows->names, key->ident, key->n_ident);
	row->name = rows_name(rows, key->ident, key->n_ident);
	row->group = rows_name(rows, key->group, strlen(key->group));
	row->process = rows_name(rows, process, strlen(process));
	if (row->ident == NULL || row->name == NULL || row->group == NULL || row->process == NULL) {
		free(row);
		return NULL;
	}
	return row;
}

static int rows_insert(struct ktr__rows *rows, const struct ktr__row_key *key, uint64_t hash,
		       struct ktr__row **out)
{
	struct ktr__row *row = rows_make(rows, key), **at;

	if (row == NULL ||
	    ktr__array_grow(&rows->row, &rows->row_room, rows->n_rows, sizeof(struct ktr__row *)) != 0) {
		free(row);
		return -ENOMEM;
	}
	row->hash = hash;
	row->number = rows->n_rows;
	rows->row[rows->n_rows++] = row;
	at = &rows->bucket[hash & (rows->n_buckets - 1)];
	row->chain = *at;
	*at = row;
	if (rows->n_rows > rows->n_buckets)
		rows_rehash(rows);
	*out = row;
	return 0;
}

/* The group is hashed but compared by its hash alone: it is one of few constants of the program. */
int ktr__rows_find(struct ktr__rows *rows, const struct ktr__row_key *key, struct ktr__row *hint,
		   struct ktr__row **out)
{
	uint64_t hash;
	struct ktr__row *row;

	*out = hint;
	if (hint != NULL && rows_is(hint, key))
		return 0;
	hash = ktr__hash_bytes(rows_process_key(key) ^ (uint64_t)key->cpu << 2 ^ key->kind, key->group,
			 strlen(key->group));
	hash = ktr__hash_bytes(hash, key->ident, key->n_ident);
	for (row = rows->bucket[hash & (rows->n_buckets - 1)]; row != NULL; row = row->chain) {
		if (row->hash == hash && rows_is(row, key)) {
			*out = row;
			return 0;
		}
	}
	*out = NULL;
	if (rows->n_rows == KTR__ROWS_MAX) {
		rows->n_crowded++;
		return 0;
	}
	return rows_insert(rows, key, hash, out);
}
