/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The nearest name to a word that is none.
 *
 * Distance is Damerau-Levenshtein in its restricted form (optimal string alignment: F. J.
 * Damerau, "A technique for computer detection and correction of spelling errors", CACM 7(3),
 * 1964; R. A. Wagner and M. J. Fischer, "The String-to-String Correction Problem", JACM 21(1),
 * 1974), computed with three rows of a byte each. Equal ends are cut off first, which leaves the
 * distance as it is and most of the work undone.
 */
#include "conf/value.h"

#include <errno.h>
#include <string.h>

/* [bytes] Longer words are not compared: nobody mistypes them, and the rows fit in a byte. */
#define NEAREST_MAX 127

static unsigned nearest_least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* One cell of the matrix: a, b are the letters, *_1 the ones before them (0: none). */
static unsigned nearest_cell(const unsigned char *before, const unsigned char *above,
			     const unsigned char *row, size_t j, int same, int swapped)
{
	unsigned best = nearest_least(above[j], row[j - 1]) + 1u;

	best = nearest_least(best, above[j - 1] + (same ? 0u : 1u));
	return swapped ? nearest_least(best, before[j - 2] + 1u) : best;
}

static int nearest_same(char a, char b)
{
	return ktr__lower(a) == ktr__lower(b);
}

static unsigned nearest_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned char rows[3][NEAREST_MAX + 1];
	unsigned char *before = rows[0], *above = rows[1], *row = rows[2], *spare;

	for (; a_length && b_length && nearest_same(*a, *b); a_length--, b_length--)
		a++, b++;
	for (; a_length && b_length && nearest_same(a[a_length - 1], b[b_length - 1]); a_length--)
		b_length--;
	for (size_t j = 0; j <= b_length; j++)
		above[j] = (unsigned char)j;
	for (size_t i = 1; i <= a_length; i++) {
		row[0] = (unsigned char)i;
		for (size_t j = 1; j <= b_length; j++) {
			int swapped = i > 1 && j > 1 && nearest_same(a[i - 1], b[j - 2]) &&
				      nearest_same(a[i - 2], b[j - 1]);

			row[j] = (unsigned char)nearest_cell(
				before, above, row, j, nearest_same(a[i - 1], b[j - 1]), swapped);
		}
		spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[b_length];
}

/*
 * How far apart a word and a name are, with the two habits that are no slips of the finger: to
 * abbreviate ("sch"), and to leave the leading components out ("mask" for "debug.ktr.mask").
 */
static unsigned nearest_score(const char *word, size_t length, const char *name)
{
	size_t name_length = strlen(name);

	if (name_length > NEAREST_MAX)
		return NEAREST_MAX;
	if (length >= 3 && name_length > length && ktr__same_word(word, length, name) == 0) {
		size_t i = 0;

		while (i < length && nearest_same(word[i], name[i]))
			i++;
		if (i == length)
			return 1;
	}
	if (name_length > length && name[name_length - length - 1] == '.' &&
	    ktr__same_word(word, length, name + name_length - length))
		return 1;
	return nearest_distance(word, length, name, name_length);
}

/*
 * What still counts as near: a third of the last component's letters, because the components
 * before it are alike in every name and say nothing; and less than all letters of the word.
 */
static unsigned nearest_limit(const char *word, size_t length)
{
	const char *dot = strrchr(word, '.');
	size_t letters = dot && dot[1] ? strlen(dot + 1) : length;

	return (unsigned)nearest_least((unsigned)(letters + 2) / 3, (unsigned)length - 1);
}

int ktr_nearest(const char *word, ktr_names_fn *names, void *context, char *best, size_t size)
{
	char name[KTR_KNOB_NAME_BYTES];
	size_t length = strlen(word);
	unsigned least, score;
	uint64_t value;
	int rc, found = 0;

	if (!length || length > NEAREST_MAX || !size)
		return 0;
	least = nearest_limit(word, length);
	for (unsigned idx = 0;; idx++) {
		name[0] = '\0';
		rc = names(context, idx, name, sizeof(name), &value);
		if (rc < 0)
			return found;
		name[sizeof(name) - 1] = '\0';
		if (rc > 0 || !name[0] || strlen(name) >= size)
			continue;
		score = nearest_score(word, length, name);
		if (score < least || (score == least && !found)) {
			memcpy(best, name, strlen(name) + 1);
			least = score;
			found = 1;
		}
	}
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
