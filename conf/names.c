/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks and choices by name, through a caller's list of names.
 *
 * A mask is a list of names and numbers joined by '|', ',' or blanks: "sched|lock",
 * "all,-malloc", "0x8|net", "none". Plain items and '+' add their bits, '-' takes them away. A text
 * that begins with a sign starts from the current value, any other from 0. Case and a leading KTR_
 * do not matter unless two names differ in nothing else: then the exact spelling decides.
 *
 * A name may stand for several bits when it is read. Printing uses names of one bit, and each only
 * after looking it up again: a name that would read back as something else (because it contains a
 * separator, looks like a number, or is hidden by another) gives way to the number. That makes
 * every printed mask readable whatever the names are.
 */
#include "conf/names.h"

#include "conf/nearest.h"
#include "conf/number.h"
#include "conf/value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char names_prefix[] = "KTR_";
static const char names_separators[] = "|, \t";

/* What is being read or printed, and how far along. */
struct names_list {
	ktr_names_fn *names;
	void *context;
};

int ktr__same_word(const char *word, size_t length, const char *name)
{
	for (size_t i = 0; i < length; i++)
		if (!name[i] || ktr__lower(word[i]) != ktr__lower(name[i]))
			return 0;
	return name[length] == '\0';
}

/* The idx-th name; 0 when there is one, 1 when the place is empty, -ENOENT after the last. */
static int names_get(const struct names_list *list, unsigned idx, char name[KTR_NAME_BYTES],
		     uint64_t *value)
{
	int rc;

	if (!list->names)
		return -ENOENT;
	name[0] = '\0';
	*value = 0;
	rc = list->names(list->context, idx, name, KTR_NAME_BYTES, value);
	name[KTR_NAME_BYTES - 1] = '\0';
	return rc < 0 ? -ENOENT : rc > 0 || !name[0];
}

static int names_strip(const char **word, size_t *length)
{
	size_t n = sizeof(names_prefix) - 1;

	if (*length <= n || !ktr__same_word(*word, n, names_prefix))
		return 0;
	*word += n;
	*length -= n;
	return 1;
}

/* How well a name fits a word: 3 exactly, 2 but for case, 1 but for case and prefix, 0 not. */
static int names_match(const char *word, size_t length, const char *name)
{
	size_t name_length = strlen(name);

	if (ktr__same_word(word, length, name))
		return memcmp(word, name, length) == 0 ? 3 : 2;
	names_strip(&word, &length);
	names_strip(&name, &name_length);
	return name_length == length && ktr__same_word(word, length, name);
}

/* The number after a word; 0 or -ENOENT. Of several that fit as well the first counts. */
static int names_find(const struct names_list *list, const char *word, size_t length,
		      uint64_t *value)
{
	char name[KTR_NAME_BYTES];
	uint64_t candidate;
	int best = 0, fit, rc;

	for (unsigned idx = 0; (rc = names_get(list, idx, name, &candidate)) >= 0; idx++) {
		fit = rc == 0 ? names_match(word, length, name) : 0;
		if (fit > best) {
			best = fit;
			*value = candidate;
		}
	}
	return best ? 0 : -ENOENT;
}

/* What "all" means: the list's own name of that spelling, or every bit that has a name. */
static uint64_t names_all(const struct names_list *list)
{
	char name[KTR_NAME_BYTES];
	uint64_t all = 0, bits;
	int rc;

	if (!list->names)
		return ~0ull;
	if (names_find(list, "all", 3, &all) == 0)
		return all;
	for (unsigned idx = 0; (rc = names_get(list, idx, name, &bits)) >= 0; idx++)
		if (rc == 0)
			all |= bits;
	return all;
}

static int names_number(const char *word, size_t length, uint64_t *value)
{
	const char *p = word;
	int rc = ktr__is_digit(*p) ? ktr__parse_digits(&p, value) : -EINVAL;

	return rc == -EINVAL || p != word + length ? -EINVAL : rc;
}

static int names_unknown(const struct names_list *list, const char *text, const char *at,
			 size_t length, struct ktr_error *err)
{
	unsigned column = (unsigned)(at - text) + 1;

	names_strip(&at, &length);
	return ktr__unknown_word("name", at, length, column, EINVAL, list->names, list->context, err);
}

/* The bits of one item without its sign. */
static int names_bits(const struct names_list *list, const char *text, const char *word,
		      size_t length, uint64_t *bits, struct ktr_error *err)
{
	unsigned column = (unsigned)(word - text) + 1;
	int rc;

	if (!length)
		return ktr_error_at(err, NULL, 0, column, EINVAL,
				    "a name is missing (for no bits write \"none\")");
	rc = names_number(word, length, bits);
	if (rc == -ERANGE)
		return ktr_error_at(err, NULL, 0, column, ERANGE,
				    "\"%.*s\" does not fit in 64 bits", ktr__shown(length), word);
	if (rc == 0)
		return 0;
	if (ktr__same_word(word, length, "none")) {
		*bits = 0;
		return 0;
	}
	if (ktr__same_word(word, length, "all") || ktr__same_word(word, length, "KTR_all")) {
		*bits = names_all(list);
		return 0;
	}
	if (names_find(list, word, length, bits) == 0)
		return 0;
	return names_unknown(list, text, word, length, err);
}

/* Between two items: blanks, at most one '|' or ',', blanks. */
static const char *names_next(const char *p)
{
	p = ktr__skip_blanks(p);
	if (*p == '|' || *p == ',') {
		p = ktr__skip_blanks(p + 1);
		return *p ? p : p - 1; /* a trailing separator leaves an item missing */
	}
	return p;
}

int ktr__parse_mask(const char *text, ktr_names_fn *names, void *context, uint64_t current,
		    uint64_t *mask, struct ktr_error *err)
{
	const struct names_list list = { names, context };
	const char *p = ktr__skip_blanks(text);
	uint64_t value = *p == '+' || *p == '-' ? current : 0, bits;
	size_t length;
	char sign;
	int rc;

	do {
		sign = *p;
		if (sign == '+' || sign == '-')
			p++;
		length = strcspn(p, names_separators);
		rc = names_bits(&list, text, p, length, &bits, err);
		if (rc)
			return rc;
		value = sign == '-' ? value & ~bits : value | bits;
		p = names_next(p + length);
	} while (*p);
	*mask = value;
	return 0;
}

/* A text under construction; full once something did not fit. */
struct names_text {
	char *buffer;
	size_t size;
	size_t length;
	int full;
};

static void names_append(struct names_text *out, const char *separator, const char *word)
{
	int n;

	if (out->full)
		return;
	n = snprintf(out->buffer + out->length, out->size - out->length, "%s%s", separator, word);
	if (n < 0 || (size_t)n >= out->size - out->length)
		out->full = 1;
	else
		out->length += (size_t)n;
}

/* Can this name, standing in a list, be read back as these bits? */
static int names_printable(const struct names_list *list, const char *name, uint64_t bits)
{
	size_t length = strlen(name);
	uint64_t back;

	if (strchr("+-\"", name[0]) || strcspn(name, names_separators) != length)
		return 0;
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)name[i] <= 0x20 || name[i] == 0x7f)
			return 0;
	return names_bits(list, name, name, length, &back, NULL) == 0 && back == bits;
}

/* Appends bits by name with sign or '|' before each, what has no name as one number. */
static void names_append_bits(const struct names_list *list, uint64_t bits, int minus,
			      struct names_text *out)
{
	char name[KTR_NAME_BYTES];
	uint64_t value;
	int rc;

	for (unsigned idx = 0; bits && (rc = names_get(list, idx, name, &value)) >= 0; idx++) {
		if (rc || (value & (value - 1)) || !(bits & value) ||
		    !names_printable(list, name, value))
			continue;
		names_append(out, minus ? ",-" : out->length ? "|" : "", name);
		bits &= ~value;
	}
	if (bits) {
		snprintf(name, sizeof(name), "0x%llx", (unsigned long long)bits);
		names_append(out, minus ? ",-" : out->length ? "|" : "", name);
	}
}

static unsigned names_n_bits(uint64_t bits)
{
	unsigned n = 0;

	for (; bits; bits &= bits - 1)
		n++;
	return n;
}

/* "all,-malloc|mine" says more than 33 names: used where at most a quarter of "all" is missing. */
static int names_mostly(uint64_t mask, uint64_t all)
{
	return all && names_n_bits(all & ~mask) * 4 <= names_n_bits(all);
}

int ktr__print_mask(uint64_t mask, ktr_names_fn *names, void *context, unsigned flags, char *buffer,
		    size_t size)
{
	const struct names_list list = { names, context };
	struct names_text out = { buffer, size, 0, size == 0 };
	uint64_t all;

	if (!names || (flags & (KTR_PRINT_HEX | KTR_PRINT_NUMBER)))
		return ktr__print_uint(mask, flags, buffer, size);
	all = names_all(&list);
	if (!mask) {
		names_append(&out, "", "none");
	} else if (names_mostly(mask, all)) {
		names_append(&out, "", "all");
		names_append_bits(&list, all & ~mask, 1, &out);
		names_append_bits(&list, mask & ~all, 0, &out);
	} else {
		names_append_bits(&list, mask, 0, &out);
	}
	return out.full ? -ENOSPC : 0;
}

/* The first name of a number; 0 or -ENOENT. */
static int names_of(const struct names_list *list, uint64_t number, char name[KTR_NAME_BYTES])
{
	uint64_t value;
	int rc;

	for (unsigned idx = 0; (rc = names_get(list, idx, name, &value)) >= 0; idx++)
		if (rc == 0 && value == number)
			return 0;
	return rc;
}

int ktr__parse_choice(const char *text, ktr_names_fn *names, void *context, uint64_t *number,
		      struct ktr_error *err)
{
	const struct names_list list = { names, context };
	const char *word = ktr__skip_blanks(text);
	char name[KTR_NAME_BYTES];
	uint64_t value;
	size_t length = ktr__word_length(word);

	if (!length)
		return ktr_error_set(err, EINVAL, "a name is missing");
	if (names_find(&list, word, length, number) == 0)
		return 0;
	if (names_number(word, length, &value) || names_of(&list, value, name))
		return names_unknown(&list, text, word, length, err);
	*number = value;
	return 0;
}

int ktr__print_choice(uint64_t number, ktr_names_fn *names, void *context, unsigned flags,
		      char *buffer, size_t size)
{
	const struct names_list list = { names, context };
	struct names_text out = { buffer, size, 0, size == 0 };
	char name[KTR_NAME_BYTES];

	if (flags & (KTR_PRINT_HEX | KTR_PRINT_NUMBER) || names_of(&list, number, name))
		return ktr__print_uint(number, flags, buffer, size);
	names_append(&out, "", name);
	return out.full ? -ENOSPC : 0;
}
