/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The nearest name to a word that is none.
 *
 * Distance is Damerau-Levenshtein in its restricted form (optimal string alignment: F. J.
 * Damerau, "A technique for computer detection and correction of spelling errors", CACM 7(3),
 * 1964; R. A. Wagner and M. J. Fischer, "The String-to-String Correction Problem", JACM 21(1),
 * 1974), computed with three rows of a byte each.
 */
#include "conf/nearest.h"

#include "conf/value.h"

#include <errno.h>
#include <string.h>

/* [bytes] Longer words are not compared: nobody mistypes them, and the rows fit in a byte. */
#define NEAREST_MAX 127

/* A word in small letters. */
struct nearest_word {
	unsigned length;
	char text[NEAREST_MAX + 1];
};

static unsigned nearest_least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Copies a word; 0 when it is empty or too long. */
static unsigned nearest_take(struct nearest_word *to, const char *word, size_t length)
{
	if (length > NEAREST_MAX)
		return 0;
	for (size_t i = 0; i < length; i++)
		to->text[i] = ktr__lower(word[i]);
	to->text[length] = '\0';
	return to->length = (unsigned)length;
}

static unsigned nearest_distance(const struct nearest_word *a, const struct nearest_word *b)
{
	unsigned char rows[3][NEAREST_MAX + 1];
	unsigned char *row = rows[0], *above = rows[1], *before = rows[2], *spare;

	for (unsigned i = 0; i <= a->length; i++) {
		spare = before;
		before = above;
		above = row;
		row = spare;
		row[0] = (unsigned char)i;
		for (unsigned j = 1; j <= b->length; j++) {
			const char *p = a->text + i, *q = b->text + j; /* after the letters */
			unsigned best = row[j - 1] + 1u;

			if (i) {
				best = nearest_least(best, above[j] + 1u);
				best = nearest_least(best, above[j - 1] + (p[-1] != q[-1]));
			}
			if (i > 1 && j > 1 && p[-1] == q[-2] && p[-2] == q[-1])
				best = nearest_least(best, before[j - 2] + 1u);
			row[j] = (unsigned char)best;
		}
	}
	return row[b->length];
}

/*
 * How far apart a word and a name are, with the two habits that are no slips of the finger: to
 * abbreviate ("sch"), and to leave the leading components out ("mask" for "debug.ktr.mask").
 */
static unsigned nearest_score(const struct nearest_word *word, const struct nearest_word *name)
{
	unsigned n = word->length, more = name->length - n;

	if (name->length > n && ((n >= 3 && memcmp(word->text, name->text, n) == 0) ||
				 (name->text[more - 1] == '.' &&
				  memcmp(word->text, name->text + more, n) == 0)))
		return 1;
	return nearest_distance(word, name);
}

/*
 * What still counts as near: a third of the last component's letters, because the components
 * before it are alike in every name and say nothing; and less than all letters of the word.
 */
static unsigned nearest_limit(const struct nearest_word *word)
{
	const char *dot = strrchr(word->text, '.');
	unsigned letters = dot && dot[1] ? (unsigned)strlen(dot + 1) : word->length;

	return nearest_least((letters + 2) / 3, word->length - 1);
}

static int nearest_among(const char *word, size_t length, ktr_names_fn *names, void *context,
			 char *best, size_t size)
{
	struct nearest_word given, other;
	char name[KTR_KNOB_NAME_BYTES];
	unsigned least, score;
	uint64_t value;
	int rc, found = 0;

	if (!nearest_take(&given, word, length))
		return 0;
	least = nearest_limit(&given);
	for (unsigned idx = 0;; idx++) {
		name[0] = '\0';
		rc = names(context, idx, name, sizeof(name), &value);
		if (rc < 0)
			return found;
		name[sizeof(name) - 1] = '\0';
		if (rc > 0 || !nearest_take(&other, name, strlen(name)) || other.length >= size)
			continue;
		score = nearest_score(&given, &other);
		if (score < least || (score == least && !found)) {
			strcpy(best, name);
			least = score;
			found = 1;
		}
	}
}

int ktr_nearest(const char *word, ktr_names_fn *names, void *context, char *best, size_t size)
{
	return nearest_among(word, strlen(word), names, context, best, size);
}

int ktr__unknown_word(const char *kind, const char *word, size_t length, unsigned column, int code,
		 ktr_names_fn *names, void *context, struct ktr_error *err)
{
	char nearest[KTR_KNOB_NAME_BYTES];
	const int shown = (int)(length < 2 * KTR__SHOWN_BYTES ? length : 2 * KTR__SHOWN_BYTES);

	if (err && names && nearest_among(word, length, names, context, nearest, sizeof(nearest)))
		return ktr_error_at(err, NULL, 0, column, code,
				    "unknown %s \"%.*s\", the nearest is \"%s\"", kind, shown, word,
				    nearest);
	return ktr_error_at(err, NULL, 0, column, code, "unknown %s \"%.*s\"", kind, shown, word);
}

struct nearest_array {
	const char *const *names;
	size_t n_names;
};

static int nearest_element(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	const struct nearest_array *array = context;
	size_t length;

	if (idx >= array->n_names)
		return -ENOENT;
	length = strlen(array->names[idx]);
	if (length >= size)
		return 1;
	memcpy(name, array->names[idx], length + 1);
	*value = idx;
	return 0;
}

const char *ktr_nearest_of(const char *word, const char *const *names, size_t n_names)
{
	struct nearest_array array = { names, n_names };
	char best[KTR_KNOB_NAME_BYTES];

	if (!ktr_nearest(word, nearest_element, &array, best, sizeof(best)))
		return NULL;
	for (size_t i = 0; i < n_names; i++)
		if (strcmp(names[i], best) == 0)
			return names[i];
	return NULL;
}
