/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events as text against printf itself: fixed cases of what printf does not do (cut strings, kernel
 * conversions, missing arguments), and random formats compared with snprintf.
 */
#include "tests/unit/suite.h"

#include "analyze/print/render_plan.h"

#include <ktr/reader.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ktr_reader_site render_site(const char *format, unsigned n_args, ...)
{
	struct ktr_reader_site site = { .format = format, .n_args = n_args, .value_arg = -1 };
	va_list ap;

	va_start(ap, n_args);
	for (unsigned i = 0; i < n_args; i++) {
		site.arg[i].name = "x";
		site.arg[i].type = (enum ktr_arg_type)va_arg(ap, int);
	}
	va_end(ap);
	return site;
}

/* Renders twice, with the format parsed on the way and with it prepared; both must agree. */
static const char *render_event(struct ktr_reader_site *site, struct ktr_event *event)
{
	static char text[65536];
	char again[65536];
	struct ktr__arena arena = { 0 };
	size_t n, m;

	event->site = site;
	n = ktr_event_text(event, text, sizeof(text));
	CU_ASSERT_FATAL(ktr__render_prepare(site, &arena) == 0);
	m = ktr_event_text(event, again, sizeof(again));
	site->render = NULL;
	ktr__arena_free(&arena);
	CU_ASSERT(n == m && n == strlen(text));
	CU_ASSERT_STRING_EQUAL(text, again);
	return text;
}

static const char *render_1(const char *format, enum ktr_arg_type type, uint64_t word)
{
	struct ktr_reader_site site = render_site(format, 1, type);
	struct ktr_event event = { .arg = { word } };

	return render_event(&site, &event);
}

static const char *render_str(const char *format, const char *text, int cut, int is_null)
{
	struct ktr_reader_site site = render_site(format, 1, KTR_ARG_STR);
	struct ktr_event event = { .str = { { text, (uint32_t)(text ? strlen(text) : 0),
					      (uint8_t)cut, (uint8_t)is_null } } };

	return render_event(&site, &event);
}

static uint64_t render_bits(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

static void integers_print_in_their_width(void)
{
	CU_ASSERT_STRING_EQUAL(render_1("%d", KTR_ARG_I32, (uint64_t)-5), "-5");
	CU_ASSERT_STRING_EQUAL(render_1("%x", KTR_ARG_I32, (uint64_t)-1), "ffffffff");
	CU_ASSERT_STRING_EQUAL(render_1("%hhd", KTR_ARG_I32, 0x1ff), "-1");
	CU_ASSERT_STRING_EQUAL(render_1("%hu", KTR_ARG_U32, 0x12345), "9029");
	CU_ASSERT_STRING_EQUAL(render_1("0x%jX", KTR_ARG_U64, UINT64_MAX), "0xFFFFFFFFFFFFFFFF");
	CU_ASSERT_STRING_EQUAL(render_1("%zu", KTR_ARG_U64, UINT64_MAX), "18446744073709551615");
	CU_ASSERT_STRING_EQUAL(render_1("%ld", KTR_ARG_I64, 1ull << 63), "-9223372036854775808");
	CU_ASSERT_STRING_EQUAL(render_1("[%8.3d]", KTR_ARG_I32, 7), "[     007]");
	CU_ASSERT_STRING_EQUAL(render_1("[%-6o]", KTR_ARG_U32, 8), "[10    ]");
	CU_ASSERT_STRING_EQUAL(render_1("100%% of %d", KTR_ARG_I32, 3), "100% of 3");
}

static void widths_may_be_arguments(void)
{
	struct ktr_reader_site site = render_site("[%*d|%-*.*f]", 5, KTR_ARG_I32, KTR_ARG_I32,
						  KTR_ARG_I32, KTR_ARG_I32, KTR_ARG_F64);
	struct ktr_event event = { .arg = { (uint64_t)-5, 42, 8, 2, render_bits(3.14159) } };

	CU_ASSERT_STRING_EQUAL(render_event(&site, &event), "[42   |3.14    ]");
}

static void strings_are_bytes(void)
{
	CU_ASSERT_STRING_EQUAL(render_str("<%s>", "abc", 0, 0), "<abc>");
	CU_ASSERT_STRING_EQUAL(render_str("<%s>", "abc", 1, 0), "<abc...>");
	CU_ASSERT_STRING_EQUAL(render_str("<%s>", NULL, 0, 1), "<(null)>");
	CU_ASSERT_STRING_EQUAL(render_str("<%6.2s>", "abc", 0, 0), "<    ab>");
	CU_ASSERT_STRING_EQUAL(render_str("<%-8s>", "abc", 1, 0), "<abc...  >");
	CU_ASSERT_STRING_EQUAL(render_str("<%.3s>", "abc", 1, 0), "<abc>");
	CU_ASSERT_STRING_EQUAL(render_str("<%.2s>", NULL, 0, 1), "<>");
}

static void the_type_decides_where_the_conversion_does_not_fit(void)
{
	CU_ASSERT_STRING_EQUAL(render_1("%d", KTR_ARG_F64, render_bits(1.5)), "1.5");
	CU_ASSERT_STRING_EQUAL(render_1("%s", KTR_ARG_I32, (uint64_t)-3), "-3");
	CU_ASSERT_STRING_EQUAL(render_1("%f", KTR_ARG_U64, 77), "77");
	CU_ASSERT_STRING_EQUAL(render_1("%s", KTR_ARG_PTR, 0xabc), "0xabc");
	CU_ASSERT_STRING_EQUAL(render_str("%d", "text", 0, 0), "text");
}

static void what_printf_does_not_know_stands(void)
{
	struct ktr_reader_site site = render_site("bits %b, %d", 3, KTR_ARG_I32, KTR_ARG_PTR,
						  KTR_ARG_I32);
	struct ktr_event event = { .arg = { 3, 0x1000, 9 } };

	CU_ASSERT_STRING_EQUAL(render_event(&site, &event), "bits %b, 9");
	site = render_site("mac %6D end %d", 3, KTR_ARG_PTR, KTR_ARG_PTR, KTR_ARG_I32);
	CU_ASSERT_STRING_EQUAL(render_event(&site, &event), "mac %6D end 9");
	site = render_site("%d %d", 1, KTR_ARG_I32);
	CU_ASSERT_STRING_EQUAL(render_event(&site, &event), "3 %d");
	site = render_site("%*d", 2, KTR_ARG_STR, KTR_ARG_I32);
	event.str[0] = (struct ktr_event_bytes){ "w", 1, 0, 0 };
	CU_ASSERT_STRING_EQUAL(render_event(&site, &event), "%*d");
	site = render_site("odd %", 0);
	CU_ASSERT_STRING_EQUAL(render_event(&site, &event), "odd %");
	CU_ASSERT_STRING_EQUAL(render_1("%p", KTR_ARG_PTR, 0), "(nil)");
	CU_ASSERT_STRING_EQUAL(render_1("%p", KTR_ARG_PTR, 0xdeadbeef), "0xdeadbeef");
}

static void stacks_follow_the_text(void)
{
	struct ktr_reader_site site = render_site("stack", 1, KTR_ARG_STACK);
	const uint64_t pcs[2] = { 0x401000, 0x7fffffffff };
	struct ktr_event event = { 0 };

	event.str[0] = (struct ktr_event_bytes){ (const char *)pcs, sizeof(pcs), 1, 0 };
	CU_ASSERT_STRING_EQUAL(render_event(&site, &event), "stack 0x401000 0x7fffffffff ...");
}

static void a_short_buffer_is_filled_and_the_length_told(void)
{
	struct ktr_reader_site site = render_site("%d and %s and %8.3f", 3, KTR_ARG_I32,
						  KTR_ARG_STR, KTR_ARG_F64);
	struct ktr_event event = { .site = &site, .arg = { 12345, 0, render_bits(2.5) } };
	char all[64], part[64];
	size_t n;

	event.str[1] = (struct ktr_event_bytes){ "words", 5, 0, 0 };
	n = ktr_event_text(&event, all, sizeof(all));
	CU_ASSERT_STRING_EQUAL(all, "12345 and words and    2.500");
	for (size_t room = 0; room < sizeof(part); room++) {
		memset(part, '#', sizeof(part));
		CU_ASSERT(ktr_event_text(&event, part, room) == n);
		CU_ASSERT(room == 0 || strlen(part) == (room - 1 < n ? room - 1 : n));
		CU_ASSERT(room == 0 || strncmp(part, all, strlen(part)) == 0);
		CU_ASSERT(room == sizeof(part) || part[room] == '#');
	}
}

/* A random number that is often at a limit. */
static uint64_t render_random(void)
{
	uint64_t word = (uint64_t)random() << 33 ^ (uint64_t)random() << 11 ^ (uint64_t)random();

	switch (random() % 6) {
	case 0:
		return word & 0xff;
	case 1:
		return -(word & 0xffff);
	case 2:
		return 0;
	case 3:
		return 1ull << (random() % 64);
	default:
		return word;
	}
}

static void random_integers_print_as_printf_does(void)
{
	static const char *const sizes[] = { "hh", "h", "", "l", "ll", "j", "z", "t" };
	static const char conversions[] = "dioxXuc";
	char format[64], expected[1024];

	srandom(7);
	for (int round = 0; round < 40000; round++) {
		char *to = format;
		char conv = conversions[random() % 7];
		const char *size = conv == 'c' ? "" : sizes[random() % 8];
		uint64_t word = render_random();

		*to++ = '%';
		for (const char *flag = "-+ #0"; *flag; flag++)
			if (random() % 4 == 0)
				*to++ = *flag;
		if (random() % 3 == 0)
			to += sprintf(to, "%d", (int)(random() % 40));
		if (random() % 3 == 0)
			to += sprintf(to, ".%d", (int)(random() % 30));
		sprintf(to, "%s%c|", size, conv);
		if (conv == 'c')
			word = 'a' + word % 26;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		if (size[0] == 'h' || !size[0])
			snprintf(expected, sizeof(expected), format, (int)word);
		else
			snprintf(expected, sizeof(expected), format, word);
#pragma GCC diagnostic pop
		if (strcmp(render_1(format, KTR_ARG_U64, word), expected) != 0) {
			fprintf(stderr, "\n%s of %#" PRIx64 ": %s instead of %s\n", format, word,
				render_1(format, KTR_ARG_U64, word), expected);
			CU_FAIL("an integer prints differently from printf");
			return;
		}
	}
	CU_PASS("integers");
}

static void random_doubles_print_as_printf_does(void)
{
	static const char conversions[] = "aAeEfFgG";
	static const double special[] = {
		0.0, -0.0, 1.0, 0.1, 1e300, -1e-300, INFINITY, -INFINITY
	};
	char format[64], expected[1024];

	srandom(8);
	for (int round = 0; round < 10000; round++) {
		double number = round % 9 < 8 ? special[round % 9] * (double)(random() % 3) : NAN;
		char *to = format;

		*to++ = '%';
		for (const char *flag = "-+ #0"; *flag; flag++)
			if (random() % 4 == 0)
				*to++ = *flag;
		if (random() % 2)
			to += sprintf(to, "%d", (int)(random() % 40) + 1);
		if (random() % 2)
			to += sprintf(to, ".%d", (int)(random() % 12));
		sprintf(to, "%c", conversions[random() % 8]);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(expected, sizeof(expected), format, number);
#pragma GCC diagnostic pop
		if (strcmp(render_1(format, KTR_ARG_F64, render_bits(number)), expected) != 0) {
			fprintf(stderr, "\n%s: %s instead of %s\n", format,
				render_1(format, KTR_ARG_F64, render_bits(number)), expected);
			CU_FAIL("a double prints differently from printf");
			return;
		}
	}
	CU_PASS("doubles");
}

static void random_pointers_and_strings_print_as_printf_does(void)
{
	static const char *const texts[] = { "", "a", "some text", NULL };
	char format[64], expected[1024];

	srandom(9);
	for (int round = 0; round < 10000; round++) {
		const char *text = texts[random() % 4], *got;
		uint64_t word = random() % 3 ? render_random() : 0;
		int string = random() % 2;
		char *to = format;

		*to++ = '%';
		if (random() % 2)
			*to++ = '-';
		if (random() % 2)
			to += sprintf(to, "%d", (int)(random() % 30) + 1);
		if (string && random() % 2)
			to += sprintf(to, ".%d", (int)(random() % 12));
		sprintf(to, "%c", string ? 's' : 'p');
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		if (string)
			snprintf(expected, sizeof(expected), format, text);
		else
			snprintf(expected, sizeof(expected), format, (void *)(uintptr_t)word);
#pragma GCC diagnostic pop
		got = string ? render_str(format, text, 0, !text)
			     : render_1(format, KTR_ARG_PTR, word);
		if (strcmp(got, expected) != 0) {
			fprintf(stderr, "\n%s: %s instead of %s\n", format, got, expected);
			CU_FAIL("a string or pointer prints differently from printf");
			return;
		}
	}
	CU_PASS("strings and pointers");
}

/* Formats of random bytes: nothing to compare with, but no byte outside may be read or written. */
static void random_formats_do_no_harm(void)
{
	static const char letters[] = "%%%%*.0123456789-+ #hljztLdiouxXscpfgaenmbD$ \"";
	char format[40], text[32];

	srandom(10);
	for (int round = 0; round < 100000; round++) {
		struct ktr_reader_site site;
		struct ktr_event event;
		size_t n = (size_t)random() % (sizeof(format) - 1);

		for (size_t i = 0; i < n; i++)
			format[i] = letters[(size_t)random() % (sizeof(letters) - 1)];
		format[n] = '\0';
		site = render_site(format, (unsigned)random() % 7, 1 + (int)(random() % 12),
				   1 + (int)(random() % 12), 1 + (int)(random() % 12),
				   1 + (int)(random() % 12), 1 + (int)(random() % 12),
				   1 + (int)(random() % 12));
		event = (struct ktr_event){ .site = &site };
		for (unsigned i = 0; i < KTR_ARGS_MAX; i++) {
			event.arg[i] = render_random();
			event.str[i] = (struct ktr_event_bytes){ "0123456789abcdef",
								 (uint32_t)random() % 17,
								 (uint8_t)(random() & 1),
								 (uint8_t)(random() % 8 == 0) };
		}
		memset(text, '#', sizeof(text));
		n = ktr_event_text(&event, text, sizeof(text));
		CU_ASSERT(text[n < sizeof(text) ? n : sizeof(text) - 1] == '\0');
	}
}

SUITE(render, TEST(integers_print_in_their_width), TEST(widths_may_be_arguments),
      TEST(strings_are_bytes), TEST(the_type_decides_where_the_conversion_does_not_fit),
      TEST(what_printf_does_not_know_stands), TEST(stacks_follow_the_text),
      TEST(a_short_buffer_is_filled_and_the_length_told),
      TEST(random_integers_print_as_printf_does), TEST(random_doubles_print_as_printf_does),
      TEST(random_pointers_and_strings_print_as_printf_does), TEST(random_formats_do_no_harm));
