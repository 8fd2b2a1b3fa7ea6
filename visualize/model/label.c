/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of any bytes, made fit to be shown; numbers and durations as people write them.
 *
 * Which well-formed characters are harmless is one list of ranges, label_is_hidden(); the
 * bidirectional controls are on it because they let a name pretend to be another one.
 */
#include "visualize/model/label.h"

#include "conf/kit/utf8.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

unsigned ktr__label_char(const char *text, size_t n, uint32_t *code)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned length = (unsigned)ktr__utf8_char(text, n);

	if (length > 0)
		*code = length == 1 ? p[0] : p[0] & (0x7fu >> length);
	for (unsigned i = 1; i < length; i++)
		*code = *code << 6 | (p[i] & 0x3f);
	return length;
}

struct label_range {
	uint32_t first, last;
};

static int label_within(const struct label_range *range, size_t n, uint32_t code)
{
	for (size_t i = 0; i < n; i++)
		if (code >= range[i].first && code <= range[i].last)
			return 1;
	return 0;
}

#define LABEL_WITHIN(range, code) label_within(range, sizeof(range) / sizeof((range)[0]), code)

/* Control characters, and those that are seen by what they do to their neighbours only. */
static int label_is_hidden(uint32_t code)
{
	static const struct label_range hidden[] = {
		{ 0, 0x1f },        { 0x7f, 0x9f },     { 0xad, 0xad },     { 0x61c, 0x61c },
		{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfe00, 0xfe0f },
		{ 0xfeff, 0xfeff }, { 0xfff0, 0xfffb }, { 0xe0000, 0xe0fff }
	};

	return LABEL_WITHIN(hidden, code);
}

/*
 * Characters without a glyph that belong to what stands around them, and there alone are no disguise: emoji are
 * joined by U+200D and made coloured ones by U+FE0F (UTS #51), keys have both, Persian and Indic words U+200C and
 * U+200D (UAX #31, 2.3), Han characters their variants (UTS #37).
 */
static int label_belongs(uint32_t before, uint32_t code, uint32_t after)
{
	static const struct label_joint {
		struct label_range joint, before, after;
	} joints[] = {
		{ { 0x200d, 0x200d }, { 0x2190, 0x2bff }, { 0x2190, 0x2bff } },
		{ { 0x200d, 0x200d }, { 0x2190, 0x2bff }, { 0x1f000, 0x1faff } },
		{ { 0x200d, 0x200d }, { 0xfe0f, 0xfe0f }, { 0x2190, 0x2bff } },
		{ { 0x200d, 0x200d }, { 0xfe0f, 0xfe0f }, { 0x1f000, 0x1faff } },
		{ { 0x200d, 0x200d }, { 0x1f000, 0x1faff }, { 0x2190, 0x2bff } },
		{ { 0x200d, 0x200d }, { 0x1f000, 0x1faff }, { 0x1f000, 0x1faff } },
		{ { 0x200c, 0x200d }, { 0x620, 0x8ff }, { 0x620, 0x8ff } },
		{ { 0x200c, 0x200d }, { 0x900, 0xdff }, { 0x900, 0xdff } },
		{ { 0xfe0e, 0xfe0f }, { 0x203c, 0x3299 }, { 0, 0x10ffff } },
		{ { 0xfe0e, 0xfe0f }, { 0x1f000, 0x1faff }, { 0, 0x10ffff } },
		{ { 0xfe0f, 0xfe0f }, { '#', '9' }, { 0x20e3, 0x20e3 } },
		{ { 0xe0100, 0xe01ef }, { 0x3400, 0x9fff }, { 0, 0x10ffff } },
	};

	for (size_t i = 0; i < sizeof(joints) / sizeof(joints[0]); i++)
		if (label_within(&joints[i].joint, 1, code) && label_within(&joints[i].before, 1, before) &&
		    label_within(&joints[i].after, 1, after))
			return 1;
	return 0;
}

/* Of these, those after which terminals, and versions of one, differ in how many columns an emoji has. */
static int label_is_joiner(uint32_t before, uint32_t code)
{
	return code == 0xfe0e || code == 0xfe0f || (code == 0x200d && before >= 0x2190);
}

int ktr__label_is_joint(uint32_t code)
{
	static const struct label_range joint[] = { { 0x200c, 0x200d }, { 0xfe0e, 0xfe0f }, { 0xe0100, 0xe01ef } };

	return LABEL_WITHIN(joint, code);
}

/* The blocks of combining marks of the Unicode standard, and the marks of Hebrew and Arabic. */
int ktr__label_is_mark(uint32_t code)
{
	static const struct label_range marks[] = { { 0x300, 0x36f },   { 0x483, 0x489 },   { 0x591, 0x5bd },
						    { 0x610, 0x61a },   { 0x64b, 0x65f },   { 0x1ab0, 0x1aff },
						    { 0x1dc0, 0x1dff }, { 0x20d0, 0x20ff }, { 0xfe20, 0xfe2f } };

	return LABEL_WITHIN(marks, code);
}

static int label_is_rtl(uint32_t code)
{
	static const struct label_range rtl[] = {
		{ 0x590, 0x8ff }, { 0xfb1d, 0xfdff }, { 0xfe70, 0xfefc }, { 0x10800, 0x10fff }, { 0x1e800, 0x1efff }
	};

	return LABEL_WITHIN(rtl, code);
}

/* Punctuation and blanks take the direction of what is around them; letters and numbers have one. */
static int label_is_neutral(uint32_t code)
{
	return (code < 0x80 && !isalnum((int)code)) || (code >= 0x2000 && code < 0x2c00);
}

/*
 * The first letter decides about the whole text, and a number after letters from right to left goes to their
 * left (Unicode Bidirectional Algorithm, UAX #9, P2 and W2): a mark before the text and one after such letters
 * settle it.
 */
void ktr__label_ltr(char *to, size_t size, const char *text)
{
	static const char mark[] = "\xe2\x80\x8e";
	size_t n = strlen(text), out = 0, settle = 0, used = 0;
	int rtl = 0, first = 1;

	while (n > used && out + 2 * sizeof(mark) + 4 < size) {
		uint32_t code = (unsigned char)text[used];
		unsigned length = ktr__label_char(text + used, n - used, &code);
		size_t at = first ? 0 : settle;

		length += length == 0;
		if (!label_is_neutral(code) && !ktr__label_is_mark(code)) {
			if (label_is_rtl(code) ? first : rtl) {
				memmove(to + at + 3, to + at, out - at);
				memcpy(to + at, mark, 3);
				out += 3;
			}
			rtl = label_is_rtl(code);
			first = 0;
		}
		memcpy(to + out, text + used, length);
		out += length;
		used += length;
		if (rtl && !label_is_neutral(code))
			settle = out;
	}
	/* What stands behind the last letter stays behind it. */
	if (rtl && settle < out) {
		memmove(to + settle + 3, to + settle, out - settle);
		memcpy(to + settle, mark, 3);
		out += 3;
	}
	to[out] = '\0';
}

static void label_hex(char *to, unsigned char byte)
{
	to[0] = '\\';
	to[1] = 'x';
	to[2] = "0123456789abcdef"[byte >> 4];
	to[3] = "0123456789abcdef"[byte & 15];
}

size_t ktr__label_clean(char *to, size_t size, const char *bytes, size_t n)
{
	const unsigned char *p = (const unsigned char *)bytes;
	size_t out = ktr__utf8_plain(bytes, n);
	uint32_t before;

	/* Most names are ASCII from one end to the other. */
	if (out >= size)
		out = size > 0 ? size - 1 : 0;
	if (out > 0)
		memcpy(to, bytes, out);
	p += out;
	n -= out;
	before = out > 0 ? p[-1] : 0;
	while (n > 0 && out < size) {
		uint32_t code = 0, after = 0;
		unsigned length = ktr__label_char((const char *)p, n, &code);
		unsigned taken = length > 0 ? length : 1;
		int good = length > 0;

		if (good && label_is_hidden(code)) {
			ktr__label_char((const char *)p + taken, n - taken, &after);
			good = label_belongs(before, code, after);
		}
		if (out + (good ? taken : 4 * taken) >= size)
			break;
		if (good)
			memcpy(to + out, p, taken);
		for (unsigned i = 0; !good && i < taken; i++)
			label_hex(to + out + 4 * (size_t)i, p[i]);
		out += good ? taken : 4 * taken;
		p += taken;
		n -= taken;
		before = code;
	}
	if (size > 0)
		to[out] = '\0';
	return out;
}

/*
 * [columns] of one character. wcwidth(3) follows the locale and knows no character beyond ASCII in
 * the "C" locale, where 1 is as good as any.
 */
static unsigned label_width(uint32_t code)
{
	int width = wcwidth((wchar_t)code);

	return width < 0 ? 1 : (unsigned)width;
}

unsigned ktr__label_columns(const char *text)
{
	size_t n = strlen(text);
	unsigned columns = 0;

	while (n > 0) {
		uint32_t code = (unsigned char)*text;
		unsigned length = ktr__label_char(text, n, &code);

		columns += label_width(code);
		length += length == 0;
		text += length;
		n -= length;
	}
	return columns;
}

static void label_ascii(char *to, size_t size, const char *text)
{
	size_t out = 0;

	for (; *text != '\0' && out + 5 < size; text++) {
		if ((unsigned char)*text < 0x80) {
			to[out++] = *text;
		} else {
			label_hex(to + out, (unsigned char)*text);
			out += 4;
		}
	}
	to[out] = '\0';
}

/* Leaves out what terminals do not agree on. */
static void label_apart(char *to, size_t size, const char *text)
{
	size_t n = strlen(text), out = 0;
	uint32_t before = 0;

	while (n > 0 && out + 5 < size) {
		uint32_t code = (unsigned char)*text;
		unsigned length = ktr__label_char(text, n, &code);

		length += length == 0;
		if (!label_is_joiner(before, code)) {
			memcpy(to + out, text, length);
			out += length;
		}
		before = code;
		text += length;
		n -= length;
	}
	to[out] = '\0';
}

/* A text as it is shown in columns. */
static void label_cell(char *to, size_t size, const char *text, int ascii)
{
	if (ascii)
		label_ascii(to, size, text);
	else if (text[ktr__utf8_plain(text, strlen(text))] != '\0')
		label_apart(to, size, text);
	else
		snprintf(to, size, "%s", text);
}

/* How many bytes of a text fit into so many columns. */
static size_t label_head(const char *text, unsigned columns, unsigned *used)
{
	size_t n = strlen(text), at = 0;

	*used = 0;
	while (at < n) {
		uint32_t code = (unsigned char)text[at];
		unsigned length = ktr__label_char(text + at, n - at, &code), width = label_width(code);

		if (*used + width > columns)
			break;
		*used += width;
		at += length + (length == 0);
	}
	return at;
}

/* Where the last characters of a text begin that fit into so many columns; all: [columns] of the text. */
static size_t label_tail(const char *text, unsigned all, unsigned columns, unsigned *used)
{
	size_t n = strlen(text), at = 0;

	*used = all;
	while (at < n) {
		uint32_t code = (unsigned char)text[at];
		unsigned length = ktr__label_char(text + at, n - at, &code), width = label_width(code);

		/* What stands on the character before it goes with it. */
		if (*used <= columns && width > 0)
			break;
		*used -= width;
		at += length + (length == 0);
	}
	return at;
}

unsigned ktr__label_fit(char *to, size_t size, const char *text, unsigned columns, int ascii)
{
	char plain[4 * KTR__LABEL_BYTES];
	const char *more = ascii ? "~" : "…";
	unsigned all, used, used_tail;
	size_t head, tail;

	if (ascii || text[ktr__utf8_plain(text, strlen(text))] != '\0') {
		label_cell(plain, sizeof(plain), text, ascii);
		text = plain;
	}
	all = ktr__label_columns(text);
	if (all <= columns && strlen(text) < size) {
		memcpy(to, text, strlen(text) + 1);
		return all;
	}
	to[0] = '\0';
	if (columns == 0)
		return 0;
	head = label_head(text, columns / 2, &used);
	tail = label_tail(text, all, columns - 1 - used, &used_tail);
	/* Names of so many bytes in so few columns are no names: what finds no room is left out at the end. */
	if (head + strlen(more) + strlen(text + tail) >= size)
		return 0;
	memcpy(to, text, head);
	memcpy(to + head, more, strlen(more));
	memcpy(to + head + strlen(more), text + tail, strlen(text + tail) + 1);
	return used + 1 + used_tail;
}

/* How many bytes two texts have in common at their beginnings, up to the beginning of a character. */
static size_t label_common(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] != '\0' && a[n] == b[n])
		n++;
	while (n > 0 && ((unsigned char)a[n] & 0xc0) == 0x80)
		n--;
	return n;
}

/* "hea…the part from there on…": from a little before the byte that tells the name apart. */
static void label_fit_from(struct ktr__label_name *name, const char *text, size_t from, int ascii)
{
	const char *more = ascii ? "~" : "…";
	unsigned used, columns = name->columns;
	size_t head = label_head(text, columns / 4, &used), n;
	char rest[KTR__LABEL_BYTES];

	for (unsigned i = 0; i < 3 && from > head; i++)
		do
			from--;
		while (from > 0 && ((unsigned char)text[from] & 0xc0) == 0x80);
	if (from <= head || used + 4 > columns)
		return;
	columns -= used + 1;
	if (ktr__label_columns(text + from) > columns) {
		unsigned width;

		n = label_head(text + from, columns - 1, &width);
		snprintf(rest, sizeof(rest), "%.*s%s", (int)n, text + from, more);
		columns = width + 1;
	} else {
		snprintf(rest, sizeof(rest), "%s", text + from);
		columns = ktr__label_columns(rest);
	}
	if (head + strlen(more) + strlen(rest) >= sizeof(name->fit))
		return;
	sprintf(name->fit, "%.*s%s%s", (int)head, text, more, rest);
	name->used = used + 1 + columns;
}

/* "hea…#2" */
static void label_fit_number(struct ktr__label_name *name, const char *text, unsigned number, int ascii)
{
	char tail[24];
	int n = snprintf(tail, sizeof(tail), "%s#%u", ascii ? "~" : "…", number);
	unsigned wide = ktr__label_columns(tail), used;
	size_t head;

	if (wide > name->columns)
		return;
	head = label_head(text, name->columns - wide, &used);
	if (head + (size_t)n >= sizeof(name->fit))
		return;
	sprintf(name->fit, "%.*s%s", (int)head, text, tail);
	name->used = used + wide;
}

/* By what is shown of them, then by their texts, then as they were. */
static int label_name_compare(const void *a, const void *b)
{
	const struct ktr__label_name *x = a, *y = b;
	int order = strcmp(x->fit, y->fit);

	order = order != 0 ? order : strcmp(x->text, y->text);
	return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

static int label_name_place(const void *a, const void *b)
{
	const struct ktr__label_name *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* A name as it is cut, see label_cell(). */
struct label_plain {
	char text[4 * KTR__LABEL_BYTES];
};

/*
 * Names of [from, to) look the same and are in the order of their texts, which are not: each gets what tells it
 * from the nearest other one on both sides, or a number.
 */
static void label_tell_apart(struct ktr__label_name *name, unsigned from, unsigned to, int numbered, int ascii)
{
	unsigned end, number = 0;

	for (unsigned i = from; i < to; i = end) {
		struct label_plain text, other;
		size_t common = 0, more;

		label_cell(text.text, sizeof(text.text), name[i].text, ascii);
		for (end = i + 1; end < to && strcmp(name[end].text, name[i].text) == 0;)
			end++;
		if (i > from) {
			label_cell(other.text, sizeof(other.text), name[i - 1].text, ascii);
			common = label_common(text.text, other.text);
		}
		if (end < to) {
			label_cell(other.text, sizeof(other.text), name[end].text, ascii);
			more = label_common(text.text, other.text);
			common = more > common ? more : common;
		}
		number++;
		for (unsigned k = i; k < end; k++)
			if (numbered)
				label_fit_number(&name[k], text.text, number, ascii);
			else
				label_fit_from(&name[k], text.text, common, ascii);
	}
}

void ktr__label_fit_names(struct ktr__label_name *name, unsigned n, int ascii)
{
	for (unsigned i = 0; i < n; i++) {
		name[i].at = i;
		name[i].used = ktr__label_fit(name[i].fit, sizeof(name[i].fit), name[i].text, name[i].columns,
					      ascii);
	}
	for (int numbered = 0; numbered <= 1; numbered++) {
		unsigned to;

		qsort(name, n, sizeof(*name), label_name_compare);
		for (unsigned i = 0; i < n; i = to) {
			for (to = i + 1; to < n && strcmp(name[to].fit, name[i].fit) == 0;)
				to++;
			if (strcmp(name[i].text, name[to - 1].text) != 0)
				label_tell_apart(name, i, to, numbered, ascii);
		}
	}
	qsort(name, n, sizeof(*name), label_name_place);
}

/*
 * In double quotes, with every byte that means something to gnuplot as an octal escape: backquotes,
 * which it would run, quotes and backslashes. Single quotes do not do: gnuplot 5.4 takes a doubled
 * one at the beginning of a string for its end.
 */
void ktr__label_gnuplot(FILE *to, const char *text)
{
	putc('"', to);
	for (; *text != '\0'; text++) {
		if (strchr("\"\\`'", *text) != NULL)
			fprintf(to, "\\%03o", (unsigned)(unsigned char)*text);
		else
			putc(*text, to);
	}
	putc('"', to);
}

void ktr__label_csv(FILE *to, const char *bytes, size_t n)
{
	static const char special[] = ",\"\r\n";
	size_t plain = 0;

	while (plain < n && memchr(special, bytes[plain], sizeof(special) - 1) == NULL)
		plain++;
	if (plain == n) {
		fwrite(bytes, 1, n, to);
		return;
	}
	putc('"', to);
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '"')
			putc('"', to);
		putc(bytes[i], to);
	}
	putc('"', to);
}

void ktr__label_word(char *buffer, size_t size, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=./,:@%";
	size_t at = strlen(buffer);
	int quote = word[0] == '\0' || word[strspn(word, plain)] != '\0';

#define LABEL_PUT(c) (at + 1 < size ? (void)(buffer[at++] = (c)) : (void)0)
	if (at > 0)
		LABEL_PUT(' ');
	if (quote)
		LABEL_PUT('\'');
	for (; *word != '\0'; word++) {
		LABEL_PUT(*word);
		if (*word == '\'') { /* ' becomes '\'' */
			LABEL_PUT('\\');
			LABEL_PUT('\'');
			LABEL_PUT('\'');
		}
	}
	if (quote)
		LABEL_PUT('\'');
#undef LABEL_PUT
	if (size > 0)
		buffer[at] = '\0';
}

struct ktr__label_text ktr__label_count(uint64_t count)
{
	struct ktr__label_text label = { "" };
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	size_t out = 0;

	for (int i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			label.text[out++] = ',';
		label.text[out++] = digits[i];
	}
	return label;
}

struct ktr__label_text ktr__label_duration(uint64_t ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };
	uint64_t minutes = ns / 60000000000u;
	struct ktr__label_text label;

	if (minutes >= 60) {
		snprintf(label.text, sizeof(label.text), "%" PRIu64 " h %02u min", minutes / 60,
			 (unsigned)(minutes % 60));
		return label;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double v = (double)ns / units[i].ns;

		/* 999.5 us would print as 1e+03 us: the unit changes where rounding would carry. */
		if (v < 0.9995)
			continue;
		snprintf(label.text, sizeof(label.text), "%.*f %s",
			 v < 9.995   ? 2
			 : v < 99.95 ? 1
				     : 0,
			 v, units[i].unit);
		return label;
	}
	snprintf(label.text, sizeof(label.text), "%" PRIu64 " ns", ns);
	return label;
}
