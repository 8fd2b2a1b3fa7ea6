/* SPDX-License-Identifier: BSD-2-Clause */
/* Names made harmless, numbers for people, axes, and moments as people type them. */
#include "tests/unit/suite.h"

#include "visualize/chart/axis.h"
#include "visualize/model/label.h"
#include "visualize/model/palette.h"
#include "visualize/model/time_spec.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

static const char *clean(const char *bytes, size_t n)
{
	static char text[256];

	CU_ASSERT_EQUAL(ktr__label_clean(text, sizeof(text), bytes, n), strlen(text));
	return text;
}

static void harmless_names(void)
{
	CU_ASSERT_STRING_EQUAL(clean("worker 3", 8), "worker 3");
	CU_ASSERT_STRING_EQUAL(clean("\033[31mred\033[0m", 12), "\\x1b[31mred\\x1b[0m");
	CU_ASSERT_STRING_EQUAL(clean("a\0b\nc\177", 6), "a\\x00b\\x0ac\\x7f");
	CU_ASSERT_STRING_EQUAL(clean("gr\xc3\xbc\xc3\x9f", 6), "gr\xc3\xbc\xc3\x9f");
	/*
	 * A C1 control in UTF-8, a lone continuation byte, an overlong slash, a surrogate, a cut
	 * end.
	 */
	CU_ASSERT_STRING_EQUAL(clean("\xc2\x9b"
				     "1m",
				     4),
			       "\\xc2\\x9b1m");
	CU_ASSERT_STRING_EQUAL(clean("\x9b"
				     "1m",
				     3),
			       "\\x9b1m");
	CU_ASSERT_STRING_EQUAL(clean("\xc0\xaf", 2), "\\xc0\\xaf");
	CU_ASSERT_STRING_EQUAL(clean("\xed\xa0\x80", 3), "\\xed\\xa0\\x80");
	CU_ASSERT_STRING_EQUAL(clean("x\xe2\x82", 3), "x\\xe2\\x82");
	/* Right-to-left override and a zero-width space. */
	CU_ASSERT_STRING_EQUAL(clean("\xe2\x80\xae"
				     "abc",
				     6),
			       "\\xe2\\x80\\xaeabc");
	CU_ASSERT_STRING_EQUAL(clean("a\xe2\x80\x8b"
				     "b",
				     5),
			       "a\\xe2\\x80\\x8bb");
}

/* Joiners stay between what they join, and nowhere else. */
static void joined_characters(void)
{
	static const char *const stays[] = {
		"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb dev",                     /* a woman, a computer */
		"\xf0\x9f\x8f\xb3\xef\xb8\x8f\xe2\x80\x8d\xf0\x9f\x8c\x88",             /* a flag of many colours */
		"\xf0\x9f\x91\xb7\xf0\x9f\x8f\xbd\xe2\x80\x8d\xe2\x99\x80\xef\xb8\x8f", /* with a tone of skin */
		"\xe2\x9d\xa4\xef\xb8\x8f",                                           /* a red heart */
		"1\xef\xb8\x8f\xe2\x83\xa3",                                          /* the key 1 */
		"\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae\xd9\x88",                     /* a word in Persian */
		"\xe0\xa4\x95\xe0\xa5\x8d\xe2\x80\x8d\xe0\xa4\xb7",                 /* half a letter of Devanagari */
	};
	static const char *const pair[][2] = {
		{ "a\xe2\x80\x8d" "b", "a\\xe2\\x80\\x8db" },
		{ "a\xef\xb8\x8f", "a\\xef\\xb8\\x8f" },
		{ "1\xef\xb8\x8f", "1\\xef\\xb8\\x8f" },
		{ "\xf0\x9f\x91\xa9\xe2\x80\x8d", "\xf0\x9f\x91\xa9\\xe2\\x80\\x8d" },
		{ "\xf0\x9f\x91\xa9\xe2\x80\x8dx", "\xf0\x9f\x91\xa9\\xe2\\x80\\x8dx" },
		{ "\xe2\x80\x8d\xf0\x9f\x91\xa9", "\\xe2\\x80\\x8d\xf0\x9f\x91\xa9" },
		{ "\xe2\x80\x8d\xe2\x80\x8d", "\\xe2\\x80\\x8d\\xe2\\x80\\x8d" },
		{ "\xf0\x9f\x91\xa9\xe2\x80\xae", "\xf0\x9f\x91\xa9\\xe2\\x80\\xae" },
	};
	struct ktr__label_name two[2] = { { .text = stays[0], .columns = 20 },
					  { .text = "\xf0\x9f\x91\xa9\xf0\x9f\x92\xbb dev", .columns = 20 } };
	char text[64];

	for (size_t i = 0; i < sizeof(stays) / sizeof(stays[0]); i++)
		CU_ASSERT_STRING_EQUAL(clean(stays[i], strlen(stays[i])), stays[i]);
	for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]); i++)
		CU_ASSERT_STRING_EQUAL(clean(pair[i][0], strlen(pair[i][0])), pair[i][1]);
	/* In columns they stand apart, which all terminals show alike; with ascii nothing is left out. */
	CU_ASSERT_EQUAL(ktr__label_fit(text, sizeof(text), stays[0], 20, 0), ktr__label_columns(two[1].text));
	CU_ASSERT_STRING_EQUAL(text, two[1].text);
	CU_ASSERT_EQUAL(ktr__label_fit(text, sizeof(text), stays[0], 60, 1), 11 * 4 + 4);
	ktr__label_fit_names(two, 2, 0);
	CU_ASSERT_STRING_NOT_EQUAL(two[0].fit, two[1].fit);
}

/* Whatever the bytes and the room, the result has an end and holds no control byte. */
static void every_byte_and_room(void)
{
	char bytes[512], text[64];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7 + i / 256);
	for (size_t size = 1; size < sizeof(text); size++) {
		memset(text, 'X', sizeof(text));
		CU_ASSERT_EQUAL(ktr__label_clean(text, size, bytes, sizeof(bytes)), strlen(text));
		CU_ASSERT_TRUE(strlen(text) < size);
		CU_ASSERT_EQUAL(text[size], 'X');
		for (const char *p = text; *p != '\0'; p++)
			CU_ASSERT_TRUE((unsigned char)*p >= 0x20 && *p != 0x7f);
	}
}

static void fits_columns(void)
{
	char text[64];

	CU_ASSERT_EQUAL(ktr__label_fit(text, sizeof(text), "abcdef", 6, 0), 6);
	CU_ASSERT_STRING_EQUAL(text, "abcdef");
	CU_ASSERT_EQUAL(ktr__label_fit(text, sizeof(text), "abcdef", 4, 0), 4);
	CU_ASSERT_STRING_EQUAL(text, "ab\xe2\x80\xa6" "f");
	CU_ASSERT_EQUAL(ktr__label_fit(text, sizeof(text), "abcdef", 4, 1), 4);
	CU_ASSERT_STRING_EQUAL(text, "ab~f");
	CU_ASSERT_EQUAL(ktr__label_fit(text, sizeof(text), "gr\xc3\xbc\xc3\x9f", 20, 1), 18);
	CU_ASSERT_STRING_EQUAL(text, "gr\\xc3\\xbc\\xc3\\x9f");
	CU_ASSERT_EQUAL(ktr__label_fit(text, sizeof(text), "a_long_name_of_thread_17", 9, 1), 9);
	CU_ASSERT_STRING_EQUAL(text, "a_lo~d_17");
	/* A mark goes with its letter, and what is wide takes two columns. */
	CU_ASSERT_PTR_NOT_NULL(setlocale(LC_ALL, "C.UTF-8"));
	CU_ASSERT_EQUAL(ktr__label_fit(text, sizeof(text), "abcde\xcc\x81 f", 4, 0), 4);
	CU_ASSERT_STRING_EQUAL(text, "ab\xe2\x80\xa6" "f");
	CU_ASSERT_EQUAL(ktr__label_fit(text, sizeof(text), "\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5", 4, 0), 3);
	CU_ASSERT_STRING_EQUAL(text, "\xe6\x97\xa5\xe2\x80\xa6");
	setlocale(LC_ALL, "C");
	CU_ASSERT_EQUAL(ktr__label_fit(text, sizeof(text), "abc", 0, 0), 0);
	CU_ASSERT_STRING_EQUAL(text, "");
}

static void words_of_a_command(void)
{
	char line[64] = "ktr plot";

	ktr__label_word(line, sizeof(line), "a.png");
	ktr__label_word(line, sizeof(line), "lock wait");
	ktr__label_word(line, sizeof(line), "it's");
	ktr__label_word(line, sizeof(line), "");
	CU_ASSERT_STRING_EQUAL(line, "ktr plot a.png 'lock wait' 'it'\\''s' ''");
	for (unsigned i = 0; i < 30; i++)
		ktr__label_word(line, sizeof(line), "word");
	CU_ASSERT_EQUAL(strlen(line), sizeof(line) - 1);
}

static const char *duration(uint64_t ns)
{
	static struct ktr__label_text label;

	label = ktr__label_duration(ns);
	return label.text;
}

static void numbers_for_people(void)
{
	CU_ASSERT_STRING_EQUAL(ktr__label_count(0).text, "0");
	CU_ASSERT_STRING_EQUAL(ktr__label_count(999).text, "999");
	CU_ASSERT_STRING_EQUAL(ktr__label_count(1234567).text, "1,234,567");
	CU_ASSERT_STRING_EQUAL(ktr__label_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
	CU_ASSERT_STRING_EQUAL(duration(0), "0 ns");
	CU_ASSERT_STRING_EQUAL(duration(999), "999 ns");
	CU_ASSERT_STRING_EQUAL(duration(1000), "1.00 us");
	CU_ASSERT_STRING_EQUAL(duration(9994), "9.99 us");
	CU_ASSERT_STRING_EQUAL(duration(9995), "10.0 us");
	CU_ASSERT_STRING_EQUAL(duration(999499), "999 us");
	CU_ASSERT_STRING_EQUAL(duration(999500), "1.00 ms");
	CU_ASSERT_STRING_EQUAL(duration(97100000), "97.1 ms");
	CU_ASSERT_STRING_EQUAL(duration(5743000000), "5.74 s");
	CU_ASSERT_STRING_EQUAL(duration(7500000000000), "2 h 05 min");
}

static void ticks_of_an_axis(void)
{
	struct ktr__axis axis;
	char text[32];

	ktr__axis_fit(&axis, 0, 10000000000, 11);
	CU_ASSERT_STRING_EQUAL(axis.unit, "s");
	CU_ASSERT_EQUAL(axis.n_ticks, 11);
	CU_ASSERT_DOUBLE_EQUAL(ktr__axis_tick(&axis, 3, text, sizeof(text)), 3e9, 1);
	CU_ASSERT_STRING_EQUAL(text, "3");
	/* A short window far from the beginning: ticks differ. */
	ktr__axis_fit(&axis, 7200000000000, 7200000100000, 6);
	CU_ASSERT_STRING_EQUAL(axis.unit, "s");
	CU_ASSERT_EQUAL(axis.n_ticks, 6);
	ktr__axis_tick(&axis, 1, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "7200.00002");
	ktr__axis_fit(&axis, 0, 86400000000000, 11);
	CU_ASSERT_STRING_EQUAL(axis.unit, "h");
	CU_ASSERT_DOUBLE_EQUAL(ktr__axis_tick(&axis, 2, text, sizeof(text)), 2 * axis.step * 3600e9, 1);
	ktr__axis_fit(&axis, 0, 900000000000, 11);
	CU_ASSERT_STRING_EQUAL(axis.unit, "min");
	ktr__axis_fit(&axis, 0, 10 * 86400000000000, 11);
	CU_ASSERT_STRING_EQUAL(axis.unit, "d");
	ktr__axis_fit(&axis, 5, 5, 8);
	CU_ASSERT_STRING_EQUAL(axis.unit, "ns");
	CU_ASSERT_TRUE(axis.n_ticks >= 1);
	for (double x = 1e-9; x < 1e15; x *= 1.7)
		CU_ASSERT_TRUE(ktr__axis_round_up(x) >= x * 0.99999 &&
			       ktr__axis_round_up(x) < 2.6 * x);
}

static const struct ktr_reader_info info = { .first_ns = 1000000000000, .last_ns = 1010000000000 };

static void moments(void)
{
	static const struct {
		const char *text;
		uint64_t since; /* the trace's beginning */
	} good[] = { { "1.5s", 1500000000 },
		     { "20ms", 20000000 },
		     { "+3.2s", 3200000000 },
		     { "-200ms", 9800000000 },
		     { "2", 2000000000 },
		     { "0.000000001", 1 },
		     { "7ns", 7 },
		     { "3us", 3000 },
		     { "3\xc2\xb5s", 3000 },
		     { "1.5min", 90000000000 },
		     { ".5h", 1800000000000 },
		     { "-1h", 0 },
		     { "1.123456789123s", 1123456789 } };
	static const struct {
		const char *text;
		unsigned column;
		int code;
	} bad[] = { { "", 1, EINVAL },    { "x", 1, EINVAL },    { "1.5x", 4, EINVAL },
		    { "1s2", 2, EINVAL }, { "--1s", 2, EINVAL }, { "99999999999h", 1, ERANGE },
		    { "1s ", 3, EINVAL }, { ".", 1, EINVAL },    { "0x10s", 2, EINVAL } };
	uint64_t ns;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CU_ASSERT_EQUAL(ktr__time_spec_parse(good[i].text, &info, &ns, NULL), 0);
		CU_ASSERT_EQUAL(ns - info.first_ns, good[i].since);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ktr_error err = KTR_ERROR_NONE;

		CU_ASSERT_EQUAL(ktr__time_spec_parse(bad[i].text, &info, &ns, &err), -bad[i].code);
		CU_ASSERT_EQUAL(err.column, bad[i].column);
		CU_ASSERT_EQUAL(err.code, bad[i].code);
	}
}

static void windows_around_moments(void)
{
	uint64_t from, to;

	CU_ASSERT_EQUAL(ktr__time_spec_around("3.2s+/-20ms", &info, &from, &to, NULL), 0);
	CU_ASSERT_EQUAL(from - info.first_ns, 3180000000);
	CU_ASSERT_EQUAL(to - info.first_ns, 3220000001);
	CU_ASSERT_EQUAL(ktr__time_spec_around("3.2s\xc2\xb1"
					 "20ms",
					 &info, &from, &to, NULL),
			0);
	CU_ASSERT_EQUAL(from - info.first_ns, 3180000000);
	CU_ASSERT_EQUAL(ktr__time_spec_around("1ms+/-1s", &info, &from, &to, NULL), 0);
	CU_ASSERT_EQUAL(from, info.first_ns);
	CU_ASSERT_EQUAL(ktr__time_spec_around("5s", &info, &from, &to, NULL), 0);
	CU_ASSERT_EQUAL(to - from, 1000000003);
	CU_ASSERT_EQUAL(ktr__time_spec_around("5s20ms", &info, &from, &to, NULL), -EINVAL);
	CU_ASSERT_EQUAL(ktr__time_spec_around("5s+/-", &info, &from, &to, NULL), -EINVAL);
	CU_ASSERT_EQUAL(ktr__time_spec_around("5s+/-1ms2", &info, &from, &to, NULL), -EINVAL);
}

static void colours(void)
{
	CU_ASSERT_EQUAL(ktr__palette_xterm(0xffffff), 231);
	CU_ASSERT_EQUAL(ktr__palette_xterm(0x000000), 16);
	CU_ASSERT_EQUAL(ktr__palette_xterm(0x808080), 244);
	CU_ASSERT_EQUAL(ktr__palette_on(KTR__YELLOW), KTR__BLACK);
	CU_ASSERT_EQUAL(ktr__palette_on(KTR__BLUE), 0xffffffu);
	CU_ASSERT_TRUE(ktr__palette_is_idle("Idle"));
	CU_ASSERT_FALSE(ktr__palette_is_idle("idler"));
	for (unsigned i = 0; i < KTR__PALETTE_COLOURS; i++)
		for (unsigned k = 0; k < i; k++)
			CU_ASSERT_NOT_EQUAL(ktr__palette(i), ktr__palette(k));
	CU_ASSERT_EQUAL(ktr__palette(KTR__PALETTE_COLOURS), KTR__GREY);
}

static void expect_ltr(const char *text, const char *expected)
{
	char to[200];

	ktr__label_ltr(to, sizeof(to), text);
	CU_ASSERT_STRING_EQUAL(to, expected);
}

#define RTL "\xd7\xa9\xd7\x9c"
#define LRM "\xe2\x80\x8e"

static void letters_from_right_to_left(void)
{
	expect_ltr("plain, \xc3\xa9 7", "plain, \xc3\xa9 7");
	expect_ltr("", "");
	expect_ltr("a " RTL " " RTL " b", "a " RTL " " RTL LRM " b");
	expect_ltr(RTL " 29 %", LRM RTL LRM " 29 %");
	expect_ltr("\"" RTL "\" is", LRM "\"" RTL LRM "\" is");
	expect_ltr("x " RTL "!", "x " RTL LRM "!");
	for (size_t room = 1; room < 40; room++) {
		char to[40];

		ktr__label_ltr(to, room, RTL " 29 %" RTL);
		CU_ASSERT_TRUE(strlen(to) < room);
	}
}

/* Names of one list, cut to so many columns: no two of different names are the same, none is too wide. */
static void apart(const char *const *text, unsigned n, unsigned columns, int ascii)
{
	static struct ktr__label_name name[400];

	for (unsigned i = 0; i < n; i++)
		name[i] = (struct ktr__label_name){ .text = text[i], .columns = columns };
	ktr__label_fit_names(name, n, ascii);
	for (unsigned i = 0; i < n; i++) {
		CU_ASSERT_PTR_EQUAL(name[i].text, text[i]);
		CU_ASSERT_EQUAL(name[i].used, ktr__label_columns(name[i].fit));
		CU_ASSERT(name[i].used <= columns);
		for (unsigned k = 0; k < i; k++)
			CU_ASSERT_EQUAL(strcmp(name[i].fit, name[k].fit) == 0, strcmp(text[i], text[k]) == 0);
	}
}

static void names_stay_apart(void)
{
	static char text[300][200];
	const char *of[300];
	struct ktr__label_name two[2] = {
		{ .text = "service.production.eu-west-1.worker.read.queue.of.clients", .columns = 24 },
		{ .text = "service.production.eu-west-1.worker.sent.queue.of.clients", .columns = 24 },
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	ktr__label_fit_names(two, 2, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(two[0].fit, "read"));
	CU_ASSERT_PTR_NOT_NULL(strstr(two[1].fit, "sent"));
	/* They differ in the middle, at the end, at the beginning; several are the same. */
	for (unsigned kind = 0; kind < 4; kind++)
		for (unsigned columns = 12; columns <= 60; columns += 8) {
			for (unsigned i = 0; i < 300; i++) {
				unsigned a = i % 150, b = kind == 1 ? i : 7, c = kind == 2 ? i : 7;

				snprintf(text[i], sizeof(text[i]),
					 "%06u/a path that all of them have in common, for long/%s%06u/and behind it "
					 "what all have, too/%06u",
					 c, kind == 3 ? "\xe6\x97\xa5\xe6\x9c\xac" : "",
					 kind == 0 || kind == 3 ? a : 7, b);
				of[i] = text[i];
			}
			apart(of, 300, columns, 0);
			apart(of, 300, columns, 1);
		}
}

SUITE(label, TEST(names_stay_apart), TEST(letters_from_right_to_left), TEST(harmless_names),
      TEST(joined_characters), TEST(every_byte_and_room), TEST(fits_columns), TEST(words_of_a_command),
      TEST(numbers_for_people), TEST(ticks_of_an_axis), TEST(moments), TEST(windows_around_moments), TEST(colours));
