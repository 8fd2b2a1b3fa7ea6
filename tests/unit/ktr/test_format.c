/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats taken apart: items, argument indices, and which strings get copied. */
#include "tests/unit/suite.h"

#include "ktr/session/format.h"

#include <stdio.h>
#include <string.h>

/*
 * Writes the items as text: literals as they stand, conversions as {letter arg flags width
 * precision size}, widths and precisions that are arguments as *index.
 */
static void describe_amount(char *text, size_t size, int32_t number, uint8_t arg)
{
	if (arg != KTR__FORMAT_NONE)
		snprintf(text, size, "*%u", arg);
	else if (number == KTR__FORMAT_UNSET)
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%d", number);
}

static const char *describe(const char *format)
{
	static char text[512];
	struct ktr__format at = KTR__FORMAT(format);
	struct ktr__format_item i;
	char width[16], precision[16];
	size_t n = 0;

	text[0] = '\0';
	while (ktr__format_next(&at, &i) && n < sizeof(text) - 64) {
		if (i.kind == KTR__FORMAT_TEXT) {
			n += (size_t)sprintf(text + n, "%.*s", (int)i.length, i.start);
			continue;
		}
		describe_amount(width, sizeof(width), i.width, i.width_arg);
		describe_amount(precision, sizeof(precision), i.precision, i.precision_arg);
		n += (size_t)sprintf(text + n, "{%c%s %d f%u w%s p%s s%u n%u}",
				     i.conv ? i.conv : '0', i.kind == KTR__FORMAT_CONV ? "" : "?",
				     i.arg == KTR__FORMAT_NONE ? -1 : i.arg, i.flags, width,
				     precision, i.size, i.n_args);
	}
	return text;
}

static void takes_formats_apart(void)
{
	CU_ASSERT_STRING_EQUAL(describe(""), "");
	CU_ASSERT_STRING_EQUAL(describe("plain"), "plain");
	CU_ASSERT_STRING_EQUAL(describe("100%%"), "100%");
	CU_ASSERT_STRING_EQUAL(describe("%%%d%%"), "%{d 0 f0 w- p- s0 n1}%");
	CU_ASSERT_STRING_EQUAL(describe("a %d b %s"),
			       "a {d 0 f0 w- p- s0 n1} b {s 1 f0 w- p- s0 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%-08.3f"), "{f 0 f17 w8 p3 s0 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%+ #'x"), "{x 0 f46 w- p- s0 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%*d"), "{d 1 f0 w*0 p- s0 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%*.*s|%u"), "{s 2 f0 w*0 p*1 s0 n1}|{u 3 f0 w- p- s0 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%.s"), "{s 0 f0 w- p0 s0 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%.20s"), "{s 0 f0 w- p20 s0 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%0d"), "{d 0 f16 w- p- s0 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%99999999999d"), "{d 0 f0 w9999 p- s0 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%.99999999999d"), "{d 0 f0 w- p9999 s0 n1}");
}

static void knows_sizes(void)
{
	CU_ASSERT_STRING_EQUAL(describe("%hhd%hd"), "{d 0 f0 w- p- s1 n1}{d 1 f0 w- p- s2 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%ld%lld"), "{d 0 f0 w- p- s3 n1}{d 1 f0 w- p- s4 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%jX%zu"), "{X 0 f0 w- p- s5 n1}{u 1 f0 w- p- s6 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%td%Lf%qd"),
			       "{d 0 f0 w- p- s7 n1}{f 1 f0 w- p- s8 n1}{d 2 f0 w- p- s4 n1}");
}

static void knows_positions(void)
{
	CU_ASSERT_STRING_EQUAL(describe("%2$s %1$d"),
			       "{s 1 f0 w- p- s0 n1} {d 0 f0 w- p- s0 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%3$*1$.*2$f"), "{f 2 f0 w*0 p*1 s0 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%1$-5d"), "{d 0 f1 w5 p- s0 n1}");
	/* Neither counts from 0 nor overflows. */
	CU_ASSERT_STRING_EQUAL(describe("%0$d"), "{$? -1 f16 w- p- s0 n0}d");
	CU_ASSERT_STRING_EQUAL(describe("%4000$d"), "{d 254 f0 w- p- s0 n1}");
}

static void leaves_alone_what_printf_does_not_know(void)
{
	/* FreeBSD's kernel conversions eat two arguments each. */
	CU_ASSERT_STRING_EQUAL(describe("%b %d"), "{b? 0 f0 w- p- s0 n2} {d 2 f0 w- p- s0 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%6D %d"), "{D? 0 f0 w6 p- s0 n2} {d 2 f0 w- p- s0 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%n%d"), "{n? 0 f0 w- p- s0 n1}{d 1 f0 w- p- s0 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%m%d"), "{m? -1 f0 w- p- s0 n0}{d 0 f0 w- p- s0 n1}");
	CU_ASSERT_STRING_EQUAL(describe("%k%d"), "{k? -1 f0 w- p- s0 n0}{d 0 f0 w- p- s0 n1}");
	/* Formats that break off. */
	CU_ASSERT_STRING_EQUAL(describe("50%"), "50{0? -1 f0 w- p- s0 n0}");
	CU_ASSERT_STRING_EQUAL(describe("%-"), "{0? -1 f1 w- p- s0 n0}");
	CU_ASSERT_STRING_EQUAL(describe("%.*"), "{0? -1 f0 w- p*0 s0 n0}");
	CU_ASSERT_STRING_EQUAL(describe("%l"), "{0? -1 f0 w- p- s3 n0}");
}

/* The lengths of all items cover the format, but for one of the two bytes of each "%%". */
static void covers_every_byte(void)
{
	static const char *const formats[] = { "x%dy%%z%s", "%", "%%%", "%5$", "%-+ #0'123.45hhd!",
					       "%*.*Lq", "\x80%\xff%d" };

	for (unsigned f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
		struct ktr__format at = KTR__FORMAT(formats[f]);
		struct ktr__format_item item;
		const char *next = formats[f];

		while (ktr__format_next(&at, &item)) {
			CU_ASSERT(item.start == next || (item.start == next + 1 && *next == '%'));
			CU_ASSERT(item.length > 0);
			next = item.start + item.length;
		}
		CU_ASSERT_EQUAL(*next, '\0');
	}
}

static void decides_what_is_copied(void)
{
	const uint8_t type[KTR_ARGS_MAX] = { KTR_ARG_STR, KTR_ARG_PTR, KTR_ARG_I32, KTR_ARG_STR,
					     KTR_ARG_I32, KTR_ARG_STR };
	uint8_t how[KTR_ARGS_MAX], limit[KTR_ARGS_MAX];

	ktr__format_how("%s %s %d %p %.*s", 6, type, how, limit);
	CU_ASSERT_EQUAL(how[0], KTR_HOW_COPY);
	CU_ASSERT_EQUAL(how[1], KTR_HOW_COPY);
	CU_ASSERT_EQUAL(how[2], KTR_HOW_VALUE);
	CU_ASSERT_EQUAL(how[3], KTR_HOW_VALUE); /* %p of a char pointer is never followed */
	CU_ASSERT_EQUAL(how[4], KTR_HOW_VALUE);
	CU_ASSERT_EQUAL(how[5], KTR_HOW_COPY_PREC);

	ktr__format_how("%.9s %p %s %.255s", 6, type, how, limit);
	CU_ASSERT_EQUAL(how[0], KTR_HOW_COPY_MAX);
	CU_ASSERT_EQUAL(limit[0], 9);
	CU_ASSERT_EQUAL(how[1], KTR_HOW_VALUE);
	CU_ASSERT_EQUAL(how[2], KTR_HOW_VALUE); /* %s of an int: FreeBSD code does that */
	CU_ASSERT_EQUAL(how[3], KTR_HOW_COPY_MAX);
	CU_ASSERT_EQUAL(limit[3], 255);

	ktr__format_how("%.s %.256s", 6, type, how, limit);
	CU_ASSERT_EQUAL(how[0], KTR_HOW_COPY_MAX);
	CU_ASSERT_EQUAL(limit[0], 0);
	CU_ASSERT_EQUAL(how[1], KTR_HOW_COPY);
	CU_ASSERT_EQUAL(limit[1], 0);
}

static void copies_nothing_in_doubt(void)
{
	const uint8_t type[KTR_ARGS_MAX] = { KTR_ARG_STR, KTR_ARG_STR, KTR_ARG_STR, KTR_ARG_STR,
					     KTR_ARG_STR, KTR_ARG_STR };
	uint8_t how[KTR_ARGS_MAX], limit[KTR_ARGS_MAX];

	/* wide strings, kernel-only conversions, a precision that is not the word before */
	ktr__format_how("%ls %S %b %3$.*1$s", 6, type, how, limit);
	for (unsigned i = 0; i < KTR_ARGS_MAX; i++)
		CU_ASSERT_EQUAL(how[i], KTR_HOW_VALUE);
	/* more conversions than arguments */
	ktr__format_how("%s %s %s", 2, type, how, limit);
	CU_ASSERT_EQUAL(how[0], KTR_HOW_COPY);
	CU_ASSERT_EQUAL(how[1], KTR_HOW_COPY);
	CU_ASSERT_EQUAL(how[2], KTR_HOW_VALUE);
	ktr__format_how("%s%s%s%s%s%s%s%s%s", 60, type, how, limit);
	CU_ASSERT_EQUAL(how[5], KTR_HOW_COPY);
	ktr__format_how("%200$s%x%2$s", 6, type, how, limit);
	CU_ASSERT_EQUAL(how[0], KTR_HOW_VALUE);
	CU_ASSERT_EQUAL(how[1], KTR_HOW_COPY);
}

SUITE(format, TEST(takes_formats_apart), TEST(knows_sizes), TEST(knows_positions),
      TEST(leaves_alone_what_printf_does_not_know), TEST(covers_every_byte),
      TEST(decides_what_is_copied), TEST(copies_nothing_in_doubt));
