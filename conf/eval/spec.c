/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A probe's name against a SPEC, part by part.
 *
 * Distance is that of conf/nearest.c, with stars that cost nothing.
 */
#include "conf/eval/spec.h"

#include "conf/eval/glob.h"
#include "conf/value.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SPEC_PARTS    4
#define SPEC_WORD_MAX 255 /* [bytes] longer parts are not compared */

static size_t spec_part(const char *text, size_t n, int i)
{
	const char *end = i < 3 ? memchr(text, ':', n) : NULL;

	return end ? (size_t)(end - text) : n;
}

bool ktr__spec_fits(const char *spec, size_t n, const char *probe)
{
	for (int i = 0; n; i++) {
		size_t n_glob = spec_part(spec, n, i), n_text = spec_part(probe, strlen(probe), i);

		if (n_glob && !ktr__glob(spec, n_glob, probe, n_text))
			return false;
		spec += n_glob;
		n -= n_glob;
		probe += n_text;
		if (n && *spec == ':')
			spec++, n--;
		if (*probe == ':')
			probe++;
		if (i == 3)
			break;
	}
	return true;
}

/* ---- near ---- */

struct spec_word {
	const char *text;
	size_t n;
};

static void spec_split(const char *text, size_t n, struct spec_word word[SPEC_PARTS])
{
	for (int i = 0; i < SPEC_PARTS; i++) {
		word[i] = (struct spec_word){ text, spec_part(text, n, i) };
		text += word[i].n;
		n -= word[i].n;
		if (n)
			text++, n--;
	}
}

static unsigned spec_least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* How far a glob without its letter i, which is the last one, is from a word without its letter j; and so on. */
static unsigned spec_step(const char *glob, const char *word, uint16_t rows[3][SPEC_WORD_MAX + 1], size_t i,
			  size_t j)
{
	const uint16_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
	char g = ktr__lower(glob[i - 1]), w = ktr__lower(word[j - 1]);
	unsigned least;

	if (g == '*')
		return spec_least(above[j], row[j - 1]);
	least = spec_least(row[j - 1], above[j]) + 1;
	least = spec_least(least, above[j - 1] + (g != '?' && g != w));
	if (i > 1 && j > 1 && g == ktr__lower(word[j - 2]) && ktr__lower(glob[i - 2]) == w)
		least = spec_least(least, before[j - 2] + 1u);
	return least;
}

static unsigned spec_distance(struct spec_word glob, struct spec_word word)
{
	uint16_t rows[3][SPEC_WORD_MAX + 1];

	for (size_t j = 0; j <= word.n; j++)
		rows[0][j] = (uint16_t)j;
	for (size_t i = 1; i <= glob.n; i++) {
		uint16_t *row = rows[i % 3];

		row[0] = (uint16_t)(rows[(i + 2) % 3][0] + (glob.text[i - 1] != '*'));
		for (size_t j = 1; j <= word.n; j++)
			row[j] = (uint16_t)spec_step(glob.text, word.text, rows, i, j);
	}
	return rows[glob.n % 3][word.n];
}

/* A third of the letters, as in conf/nearest.c. */
static unsigned spec_word_apart(struct spec_word glob, struct spec_word word)
{
	unsigned letters = 0, least, apart;
	const char *paren;

	if (!glob.n || ktr__glob(glob.text, glob.n, word.text, word.n))
		return 0;
	for (size_t i = 0; i < glob.n; i++)
		letters += glob.text[i] != '*';
	/* A function of C++ is known by its name. */
	paren = memchr(word.text, '(', word.n);
	if (paren && paren != word.text && !memchr(glob.text, '(', glob.n))
		word.n = (size_t)(paren - word.text);
	least = spec_least((letters + 2) / 3, letters - 1);
	if (glob.n > SPEC_WORD_MAX || word.n > SPEC_WORD_MAX || !least)
		return KTR__SPEC_FAR;
	if (letters == glob.n && letters >= 3 && word.n >= letters && memcmp(glob.text, word.text, letters) == 0)
		return 1;
	if (letters > word.n + least || (letters == glob.n && word.n > letters + least))
		return KTR__SPEC_FAR;
	apart = spec_distance(glob, word);
	return apart > least ? KTR__SPEC_FAR : apart + !apart;
}

unsigned ktr__spec_apart(const char *spec, size_t n, const char *probe)
{
	struct spec_word glob[SPEC_PARTS], word[SPEC_PARTS];
	unsigned apart = 0, of_part;

	spec_split(spec, n, glob);
	spec_split(probe, strlen(probe), word);
	for (int i = 0; i < SPEC_PARTS; i++) {
		of_part = spec_word_apart(glob[i], word[i]);
		if (of_part == KTR__SPEC_FAR)
			return KTR__SPEC_FAR;
		apart += of_part;
	}
	return apart;
}

void ktr__spec_mend(const char *spec, size_t n, const char *probe, char *mended, size_t size)
{
	struct spec_word glob[SPEC_PARTS], word[SPEC_PARTS];
	size_t at = 0;

	spec_split(spec, n, glob);
	spec_split(probe, strlen(probe), word);
	for (int i = 0; i < SPEC_PARTS && at < size; i++) {
		bool more = glob[i].text + glob[i].n < spec + n;
		struct spec_word part = spec_word_apart(glob[i], word[i]) ? word[i] : glob[i];

		at += (size_t)snprintf(mended + at, size - at, "%.*s%s", (int)part.n, part.text, more ? ":" : "");
	}
}
