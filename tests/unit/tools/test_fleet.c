/* SPDX-License-Identifier: BSD-2-Clause */
/* What ktr ship sends, byte for byte, and what ktr fetch takes of an answer, whatever bytes it has. */
#include "tests/unit/suite.h"

#include "tools/fleet/frame.h"
#include "tools/fleet/native.h"
#include "tools/fleet/rows.h"
#include "tools/fleet/utc.h"

#if KTR_HAVE_LZ4
#include <lz4.h>
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t fleet_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* ---- blocks ---- */

enum { NUMBER, TEXT, WORD, LIST, UNUSED, SIGNED, SAME, UP, N_COLUMNS };

static const struct native_shape fleet_shape[] = {
	[NUMBER] = { "n", NATIVE_U16 },	[TEXT] = { "t", NATIVE_TEXT },	 [WORD] = { "w", NATIVE_WORD },
	[LIST] = { "l", NATIVE_LIST },	[UNUSED] = { "u", NATIVE_U64 }, [SIGNED] = { "s", NATIVE_I64 },
	[SAME] = { "x", NATIVE_UUID },	[UP] = { "v", NATIVE_U64_UP },
};

static void native_is_golden(void)
{
	/* Three rows: nothing; 258, "ab", "x", ["p", ""], -1; nothing but "x" again. */
	static const uint8_t golden[] = "\5\3"
		"\1n\6UInt16\0\0\2\1\0\0"
		"\1t\6String\0\2ab\0"
		"\1w\26LowCardinality(String)\1\0\0\0\0\0\0\0\0\6\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\1x"
		"\3\0\0\0\0\0\0\0\0\1\1"
		"\1l\15Array(String)\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\1p\0"
		"\1s\5Int64\0\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377\0\0\0\0\0\0\0\0";
	static const char *const list[] = { "p", "" };
	struct native_buffer out = { 0 }, names = { 0 };
	struct native_block block;

	native_open(&block, fleet_shape, N_COLUMNS);
	for (int again = 0; again < 2; again++) {
		native_number(&block, NUMBER, 0);
		native_word(&block, WORD, "");
		native_row(&block);
		native_number(&block, NUMBER, 258);
		native_bytes(&block, TEXT, "ab", 2);
		native_word(&block, WORD, "x");
		native_list(&block, LIST, list, 2);
		native_number(&block, SIGNED, UINT64_MAX);
		native_row(&block);
		native_volatile(&block, WORD, "x", 1);
		native_row(&block);
		CU_ASSERT_EQUAL(native_write(&block, &out), 0);
		CU_ASSERT_EQUAL(out.n, sizeof(golden) - 1);
		CU_ASSERT_EQUAL(memcmp(out.at, golden, out.n < sizeof(golden) - 1 ? out.n : sizeof(golden) - 1), 0);
		out.n = 0;
		if (!again)
			native_clear(&block);
	}
	CU_ASSERT_EQUAL(native_names(&block, &names), 0);
	CU_ASSERT_STRING_EQUAL((char *)names.at, "n,t,w,l,s");
	native_buffer_free(&out);
	native_buffer_free(&names);
	native_close(&block);
}

/* More words than a byte numbers: each row finds its own. */
static void native_many_words(void)
{
	struct native_buffer out = { 0 };
	struct native_block block;
	const uint8_t *keys;
	char word[16];

	native_open(&block, fleet_shape, N_COLUMNS);
	for (unsigned i = 0; i < 2000; i++) {
		snprintf(word, sizeof(word), "%u", i % 700);
		native_volatile(&block, WORD, word, strlen(word));
		native_row(&block);
	}
	CU_ASSERT_EQUAL(block.column[WORD].n_words, 701);
	CU_ASSERT_EQUAL(native_write(&block, &out), 0);
	keys = out.at + out.n - 4000;
	for (unsigned i = 0; i < 2000; i++)
		CU_ASSERT_EQUAL(keys[2 * i] | keys[2 * i + 1] << 8, i % 700 + 1);
	native_buffer_free(&out);
	native_close(&block);
}

/* Rows that come many at a time are those that come one by one. */
static void native_many_rows(void)
{
	static const char same[16] = "sixteen bytes...";
	struct native_buffer one = { 0 }, many = { 0 };
	struct native_block a, b;
	uint64_t seed = 7;

	native_open(&a, fleet_shape, N_COLUMNS);
	native_open(&b, fleet_shape, N_COLUMNS);
	native_same(&b, SAME, same, sizeof(same));
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned piece = 0; piece < 40; piece++) {
			uint32_t n = (uint32_t)(fleet_random(&seed) % 100), from = b.n_rows;
			uint64_t number = fleet_random(&seed) % 3 ? fleet_random(&seed) % 65536 : 0;
			uint32_t half = n / 2, text = n ? (uint32_t)(fleet_random(&seed) % n) : 0;
			uint64_t *to;
			char word[16];

			/* Of the second round there are more words than a byte numbers. */
			snprintf(word, sizeof(word), "%u", piece);
			for (unsigned i = 0; i < 300 * (round == 1); i++) {
				char more[16];

				snprintf(more, sizeof(more), "more%u", i);
				native_key_of(&a, WORD, more, strlen(more));
				native_key_of(&b, WORD, more, strlen(more));
			}
			for (uint32_t i = 0; i < n; i++) {
				native_bytes(&a, SAME, same, sizeof(same));
				native_number(&a, NUMBER, i < half ? 0 : number);
				native_number(&a, SIGNED, (uint64_t)i - 3);
				if (i >= half && piece % 4)
					native_volatile(&a, WORD, word, strlen(word));
				if (i == text)
					native_bytes(&a, TEXT, word, strlen(word));
				native_row(&a);
			}
			to = native_take(&b, SIGNED, 100);
			for (uint32_t i = 0; i < n; i++)
				to[i] = (uint64_t)i - 3;
			native_took(&b, SIGNED, n);
			native_numbers(&b, NUMBER, from, 0, half);
			native_numbers(&b, NUMBER, from + half, number, n - half);
			if (n && piece % 4)
				native_numbers(&b, WORD, from + half,
					       native_key_of(&b, WORD, word, strlen(word)), n - half);
			if (n)
				native_text_at(&b, TEXT, from + text, word, strlen(word));
			native_rows(&b, n);
		}
		CU_ASSERT_EQUAL(native_write(&a, &one), 0);
		CU_ASSERT_EQUAL(native_write(&b, &many), 0);
		CU_ASSERT_EQUAL_FATAL(one.n, many.n);
		CU_ASSERT_EQUAL(memcmp(one.at, many.at, one.n), 0);
		one.n = many.n = 0;
		native_clear(&a);
		native_clear(&b);
	}
	native_buffer_free(&one);
	native_buffer_free(&many);
	native_close(&a);
	native_close(&b);
}

/* ---- frames ---- */

/* Unpacks one frame to `to`: how long it is itself; 0: it is none. *n_whole: what came out of it. */
static size_t fleet_unframe(const uint8_t *frame, size_t n, uint8_t *to, size_t room, uint32_t *n_whole)
{
	static const uint8_t no_checksum[16];
	uint32_t packed;
	int whole;

	if (n < FRAME_HEAD || memcmp(frame, no_checksum, 16) != 0)
		return 0;
	memcpy(&packed, frame + 17, 4);
	memcpy(n_whole, frame + 21, 4);
	if (packed < FRAME_HEAD - 16 || packed > n - 16 || *n_whole > room)
		return 0;
	packed -= FRAME_HEAD - 16;
#if KTR_HAVE_LZ4
	if (frame[16] != FRAME_LZ4)
		return 0;
	whole = LZ4_decompress_safe((const char *)frame + FRAME_HEAD, (char *)to, (int)packed, (int)*n_whole);
#else
	if (frame[16] != FRAME_PLAIN)
		return 0;
	memcpy(to, frame + FRAME_HEAD, packed);
	whole = (int)packed;
#endif
	return whole == (int)*n_whole ? FRAME_HEAD + packed : 0;
}

/* Many rows; with columns that begin late and end early, of words whose keys become wider, and settled or not. */
static void frames_rows(struct native_block *block, int settled)
{
	uint64_t seed = 9;
	char word[16];

	for (unsigned i = 0; i < 200000; i++) {
		native_number(block, SIGNED, fleet_random(&seed) % 1000);
		native_number(block, UP, 1000 + i);
		if (i > 50000)
			native_number(block, NUMBER, i % 7);
		snprintf(word, sizeof(word), "%u", i / 300);
		native_volatile(block, WORD, word, strlen(word));
		if (i % 1000 == 0 || (i > 80000 && i < 120000))
			native_bytes(block, TEXT, "text", 4);
		if (i < 10)
			native_number(block, UNUSED, i);
		native_row(block);
		if (settled && native_settles(block))
			native_settle(block, frame_write);
	}
}

/* A block's pieces in frames are the block, whether they are long or short, and packed at the end or on the way. */
static void frames_of_pieces(int settled)
{
	struct native_buffer plain = { 0 }, packed = { 0 };
	static const char same[16] = "sixteen bytes...";
	struct frame_known known = { 0 };
	struct frame_writer writer = { .out = &packed, .known = &known };
	size_t done = 0, at = 0, n_frame, room, n_bytes;
	struct native_block block;
	uint32_t n_whole;
	uint8_t *back;

	native_open(&block, fleet_shape, N_COLUMNS);
	native_same(&block, SAME, same, sizeof(same));
	/* What was packed of a block before is gone. */
	frames_rows(&block, settled);
	native_clear(&block);
	frames_rows(&block, 0);
	n_bytes = native_bytes_so_far(&block);
	CU_ASSERT_EQUAL(native_write(&block, &plain), 0);
	native_clear(&block);
	frames_rows(&block, settled);
	CU_ASSERT_EQUAL(block.n_pieces != 0, settled);
	CU_ASSERT(native_bytes_so_far(&block) >= n_bytes);
	CU_ASSERT_EQUAL(native_pour(&block, frame_put, &writer), 0);
	CU_ASSERT_EQUAL(frame_end(&writer), 0);
	room = plain.n;
	back = malloc(room);
	while (at < packed.n && (n_frame = fleet_unframe(packed.at + at, packed.n - at, back + done, room - done,
							 &n_whole)) != 0) {
		at += n_frame;
		done += n_whole;
	}
	CU_ASSERT_EQUAL(at, packed.n);
	CU_ASSERT_EQUAL_FATAL(done, plain.n);
	CU_ASSERT_EQUAL(memcmp(back, plain.at, done), 0);
	free(back);
	native_buffer_free(&known.frame);
	native_buffer_free(&plain);
	native_buffer_free(&packed);
	native_close(&block);
}

static void frames_at_the_end(void)
{
	frames_of_pieces(0);
}

static void frames_on_the_way(void)
{
	frames_of_pieces(1);
}

/* Of every length up to some hundred, of one frame or several, of bytes that repeat more or less. */
static void frames_come_back(void)
{
	const size_t room = 3 * FRAME_BYTES;
	uint8_t *bytes = malloc(room), *back = malloc(room);
	uint64_t seed = 42;

	for (unsigned i = 0; i < 320; i++) {
		size_t n = i < 300 ? i : fleet_random(&seed) % room, done = 0, at = 0, n_frame;
		unsigned letters = 1 + (unsigned)(fleet_random(&seed) % (i % 3 ? 4 : 256));
		struct native_buffer out = { 0 };
		uint32_t n_whole = 0;

		for (size_t k = 0; k < n; k++)
			bytes[k] = (uint8_t)(fleet_random(&seed) % letters);
		CU_ASSERT_EQUAL(frame_write(&out, bytes, n, 0), 0);
		for (; at < out.n; at += n_frame, done += n_whole) {
			n_frame = fleet_unframe(out.at + at, out.n - at, back + done, room - done, &n_whole);
			CU_ASSERT_NOT_EQUAL_FATAL(n_frame, 0);
			CU_ASSERT(n_whole <= FRAME_BYTES);
		}
		CU_ASSERT_EQUAL(done, n);
		CU_ASSERT_EQUAL(memcmp(back, bytes, n), 0);
		native_buffer_free(&out);
	}
	free(bytes);
	free(back);
}

/* The one after v of numbers that go up in one of seven ways, the last of which are any. */
static uint64_t frames_next(uint64_t v, unsigned way, uint64_t random)
{
	switch (way) {
	case 0:
		return v + 1;
	case 1:
		return v + random % 100;
	case 2:
		return v + (random % 3 == 0);
	case 3:
		return random % 50 ? v : v + (random >> 20);
	case 4:
		return v + random % ((uint64_t)1 << 33) - ((uint64_t)1 << 32);
	case 5:
		return v + (random >> random % 64);
	default:
		return random;
	}
}

/* Numbers that go up, or do not, are packed within the bound, and as small as LZ4 makes those that do. */
static void frames_of_what_goes_up(void)
{
	const size_t room = FRAME_BYTES + 8;
	uint8_t *bytes = malloc(room), *back = malloc(room);
	uint64_t seed = 77;

	for (unsigned i = 0; i < 3000; i++) {
		uint64_t v = fleet_random(&seed) % 2 ? 1764361234000000000u : fleet_random(&seed);
		size_t n = fleet_random(&seed) % (i % 100 ? 300 : FRAME_BYTES);
		struct native_buffer up = { 0 }, any = { 0 };
		uint32_t n_whole = 0;

		for (size_t k = 0; k <= n; k += 8, v = frames_next(v, i % 7, fleet_random(&seed)))
			memcpy(bytes + k, &v, 8);
		CU_ASSERT_EQUAL(frame_write(&up, bytes, n, NATIVE_UP), 0);
		CU_ASSERT_EQUAL(frame_write(&any, bytes, n, 0), 0);
		CU_ASSERT(up.n <= FRAME_HEAD + n + n / 255 + 16);
		CU_ASSERT(i % 7 > 1 || up.n <= any.n + any.n / 50 + 24);
		CU_ASSERT_EQUAL(n ? fleet_unframe(up.at, up.n, back, room, &n_whole) : 0, up.n);
		CU_ASSERT_EQUAL(n_whole, n);
		CU_ASSERT_EQUAL(memcmp(back, bytes, n), 0);
		native_buffer_free(&up);
		native_buffer_free(&any);
	}
	free(bytes);
	free(back);
}

/* ---- answers ---- */

struct fleet_taken {
	uint64_t sum, n_bytes;
};

static int fleet_take(void *context, struct rows_at *row)
{
	struct fleet_taken *taken = context;
	uint64_t number = rows_number(row, 4);
	size_t n;

	rows_text(row, 300, &n);
	if (row->bad)
		return 0;
	taken->sum += number;
	taken->n_bytes += n;
	return 0;
}

/* A row comes in any pieces, a text as long as it may be. */
static void rows_in_pieces(void)
{
	static const uint8_t answer[] = "\1\0\0\0\3abc" "\2\0\0\0\0" "\3\0\0\0\2de";

	for (size_t piece = 1; piece <= sizeof(answer) - 1; piece++) {
		struct fleet_taken taken = { 0, 0 };
		struct rows rows = { .take = fleet_take, .context = &taken };

		for (size_t at = 0; at < sizeof(answer) - 1; at += piece) {
			size_t n = sizeof(answer) - 1 - at;

			CU_ASSERT_EQUAL(rows_sink(&rows, answer + at, n < piece ? n : piece), 0);
		}
		CU_ASSERT_EQUAL(rows_end(&rows), 0);
		CU_ASSERT(rows.n_rows == 3 && taken.sum == 6 && taken.n_bytes == 5);
	}
}

static void rows_that_are_none(void)
{
	static const uint8_t too_long[] = "\1\0\0\0\255\2", short_one[] = "\1\0\0\0\3ab", endless[] =
		"\1\0\0\0\377\377\377\377\377";
	struct fleet_taken taken = { 0, 0 };
	struct rows rows = { .take = fleet_take, .context = &taken };

	CU_ASSERT_EQUAL(rows_sink(&rows, too_long, sizeof(too_long) - 1), -1);
	CU_ASSERT_EQUAL(rows_end(&rows), -EPROTO);
	rows.rc = 0;
	CU_ASSERT_EQUAL(rows_sink(&rows, short_one, sizeof(short_one) - 1), 0);
	CU_ASSERT_EQUAL(rows_end(&rows), -EPROTO);
	rows.rc = 0;
	CU_ASSERT_EQUAL(rows_sink(&rows, endless, sizeof(endless) - 1), -1);
	CU_ASSERT_EQUAL(rows_end(&rows), -EPROTO);
}

/* Any bytes, in pieces of their own memory. */
static void rows_of_any_bytes(void)
{
	uint64_t seed = 7;

	for (unsigned i = 0; i < 2000; i++) {
		struct fleet_taken taken = { 0, 0 };
		struct rows rows = { .take = fleet_take, .context = &taken };

		for (unsigned k = 0; k < 8; k++) {
			size_t n = fleet_random(&seed) % 40;
			uint8_t *piece = malloc(n ? n : 1);

			for (size_t b = 0; b < n; b++)
				piece[b] = (uint8_t)(fleet_random(&seed) % (i % 2 ? 256 : 6));
			rows_sink(&rows, piece, n);
			free(piece);
		}
		rows_end(&rows);
		CU_ASSERT(taken.n_bytes <= 320);
	}
}

static void utc_moments(void)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {
		{ "1970-01-01", 0 },
		{ "2026-11-27T08:30:00.25", 1795768200250000000 },
		{ "2026-11-27 08:30Z", 1795768200000000000 },
		{ "1795768200.000000001", 1795768200000000001 },
		{ "0.5", 500000000 },
	};
	static const char *const bad[] = { "",	      "now",	     "2026-13-01", "2026-11-27T25:00",
		"2026-11-27T08",
					   "1.",      "-1",	     "99999999999", "2026-11-27x",     "1.5s",
					   "1969-12-31" };
	int64_t ns;

	for (unsigned i = 0; i < sizeof(good) / sizeof(*good); i++) {
		CU_ASSERT_EQUAL(utc_parse(good[i].text, &ns), 0);
		CU_ASSERT_EQUAL(ns, good[i].ns);
	}
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CU_ASSERT_EQUAL(utc_parse(bad[i], &ns), -EINVAL);
}

SUITE(fleet, TEST(native_is_golden), TEST(native_many_words), TEST(native_many_rows), TEST(frames_come_back),
      TEST(frames_of_what_goes_up), TEST(frames_at_the_end), TEST(frames_on_the_way), TEST(rows_in_pieces),
      TEST(rows_that_are_none), TEST(rows_of_any_bytes), TEST(utc_moments));
