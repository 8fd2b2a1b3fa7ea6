/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checksums and packet headers: known values, and damage. A small stream is cut at every byte, and
 * every bit of it is flipped once: each time the damage is seen, and the packets it did not touch
 * are found.
 */
#include "tests/unit/suite.h"

#include "writer/format/packet.h"

#include <ktr/session.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define N_PACKETS 4

static uint8_t stream[4096];
static size_t edge[N_PACKETS + 1]; /* where each packet begins */

static void checksum_values(void)
{
	uint8_t bytes[32];

	/* RFC 3720, appendix B.4; the first is the check value of the CRC catalogues. */
	CU_ASSERT_EQUAL(ktr__crc32c(0, "123456789", 9), 0xe3069283u);
	memset(bytes, 0, sizeof(bytes));
	CU_ASSERT_EQUAL(ktr__crc32c(0, bytes, sizeof(bytes)), 0x8a9136aau);
	memset(bytes, 0xff, sizeof(bytes));
	CU_ASSERT_EQUAL(ktr__crc32c(0, bytes, sizeof(bytes)), 0x62a8ab43u);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	CU_ASSERT_EQUAL(ktr__crc32c(0, bytes, sizeof(bytes)), 0x46dd794eu);
	CU_ASSERT_EQUAL(ktr__crc32c(7, bytes, 0), 7);
}

static void checksum_ways_agree(void)
{
	enum {
		N = 20000
	};
	uint8_t *bytes = malloc(N);
	unsigned bad = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	for (unsigned i = 0; i < N; i++)
		bytes[i] = (uint8_t)(i * 131 + (i >> 8) * 17);
	for (unsigned n = 0; n < N; n += 1 + n / 7) {
		for (unsigned from = 0; from < 8 && from <= n; from++) {
			uint32_t crc = ktr__crc32c(0, bytes + from, n - from);
			uint32_t two = ktr__crc32c(0, bytes + from, (n - from) / 3);

			two = ktr__crc32c(two, bytes + from + (n - from) / 3,
					  n - from - (n - from) / 3);
			bad += crc != ktr__crc32c_portable(0, bytes + from, n - from) || crc != two;
		}
	}
	CU_ASSERT_EQUAL(bad, 0);
	free(bytes);
}

/* Four packets, of today's form and of the oldest by turns, the third without events. */
static void make_stream(void)
{
	size_t at = 0;

	for (unsigned i = 0; i < N_PACKETS; i++) {
		struct ktr_packet_header head = { .flags = i & 1 ? KTR_TRACE_OLDEST : 0 };
		size_t n = ktr__packet_events(head.flags) + (i == 2 ? 0 : 20 + 30 * i);

		memset(stream + at, (int)(0x11 * i), n);
		head.seq = i;
		head.time_begin = 100 * i;
		head.time_end = 100 * i + 50;
		head.first_slot = 10 * i;
		head.next_slot = 10 * i + 10;
		head.cpu = 3;
		edge[i] = at;
		ktr__packet_seal(stream + at, n, &head);
		at += n;
	}
	edge[N_PACKETS] = at;
}

/* Walks a stream as a reader would: which packets are there, and was anything wrong? */
static unsigned walk(const uint8_t *bytes, size_t n_bytes, unsigned *wrong)
{
	struct ktr_packet_header head;
	unsigned found = 0;
	size_t at = 0;

	*wrong = 0;
	while (at < n_bytes) {
		int64_t length = ktr__packet_look(bytes + at, n_bytes - at, &head);

		if (length > 0) {
			CU_ASSERT(head.seq < N_PACKETS);
			found |= 1u << head.seq;
			at += (size_t)length;
			continue;
		}
		(*wrong)++;
		at = ktr__packet_find(bytes, n_bytes, at + 1);
	}
	return found;
}

static void whole_stream(void)
{
	struct ktr_packet_header head;
	unsigned wrong;

	make_stream();
	CU_ASSERT_EQUAL(walk(stream, edge[N_PACKETS], &wrong), (1u << N_PACKETS) - 1);
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(ktr__packet_peek(stream, KTR_PACKET_EVENTS, &head), (int64_t)edge[1]);
	CU_ASSERT_EQUAL(head.cpu, 3);
	CU_ASSERT_EQUAL(head.next_slot, 10);
	CU_ASSERT_EQUAL(head.content_bits, 8 * edge[1]);
}

static void cut_at_every_byte(void)
{
	size_t n;

	make_stream();
	for (n = 0; n < edge[N_PACKETS]; n++) {
		uint8_t *copy = malloc(n ? n : 1);
		unsigned whole = 0, wrong, found;

		CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
		memcpy(copy, stream, n);
		while (edge[whole + 1] <= n)
			whole++;
		found = walk(copy, n, &wrong);
		if (found != (1u << whole) - 1 || wrong != (n != edge[whole])) {
			CU_FAIL("a cut stream");
			return free(copy);
		}
		free(copy);
	}
	CU_ASSERT_TRUE(n > N_PACKETS); /* each packet has been cut */
}

static void flip_every_bit(void)
{
	unsigned bad = 0;

	make_stream();
	for (size_t bit = 0; bit < 8 * edge[N_PACKETS]; bit++) {
		unsigned hit = 0, wrong, found;

		while (edge[hit + 1] <= bit / 8)
			hit++;
		stream[bit / 8] ^= (uint8_t)(1u << bit % 8);
		found = walk(stream, edge[N_PACKETS], &wrong);
		stream[bit / 8] ^= (uint8_t)(1u << bit % 8);
		bad += found != (((1u << N_PACKETS) - 1) & ~(1u << hit)) || !wrong;
	}
	CU_ASSERT_EQUAL(bad, 0);
}

static void foreign_version(void)
{
	struct ktr_packet_header head;
	uint32_t zero = 0;
	uint32_t crc;

	make_stream();
	stream[offsetof(struct ktr_packet_header, flags)] = KTR_TRACE_MAJOR + 1;
	CU_ASSERT_EQUAL(ktr__packet_look(stream, edge[1], &head), -EBADMSG);
	memcpy(stream + offsetof(struct ktr_packet_header, crc), &zero, 4);
	crc = ktr__crc32c(0, stream, edge[1]);
	memcpy(stream + offsetof(struct ktr_packet_header, crc), &crc, 4);
	CU_ASSERT_EQUAL(ktr__packet_look(stream, edge[1], &head), -ENOTSUP);
	CU_ASSERT_EQUAL(head.magic, 0);
	CU_ASSERT_EQUAL(ktr__packet_peek(stream, edge[1], &head), -ENOTSUP);
}

/* What a header says comes back, in either form, from as many bytes as that has; from fewer, it is torn. */
static void headers_of_both_forms(void)
{
	static const uint32_t versions[] = { 0, KTR_TRACE_OLDEST };
	const struct ktr_packet_header said = {
		.flags = KTR_PACKET_KEEP | KTR_PACKET_THREAD | KTR_PACKET_KERNEL,
		.first_slot = 1ull << 62,
		.next_slot = (1ull << 62) + UINT32_MAX - 7,
		.time_begin = UINT64_MAX - 5,
		.time_end = UINT64_MAX - 3,
		.seq = UINT64_MAX - 9,
		.discarded = 0x0123456789abcdefu,
		.first_event = 0xfedcba9876543210u,
		.n_events = 99999,
		.ring = 3 * KTR_CPU_MAX - 1,
		.cpu = KTR_CPU_MAX - 1,
	};

	for (unsigned i = 0; i < 2; i++) {
		size_t n_header = ktr__packet_events(versions[i]), n = n_header + 33;
		struct ktr_packet_header head = said, seen;

		head.flags |= versions[i];
		memset(stream, 0x5a, sizeof(stream));
		ktr__packet_seal_padded(stream, n - 7, n, &head);
		CU_ASSERT_EQUAL(head.flags & KTR_PACKET_VERSION, versions[i] ? versions[i] : KTR_TRACE_MAJOR);
		CU_ASSERT_EQUAL(ktr__packet_look(stream, n, &seen), (int64_t)n);
		seen.events = head.events;
		CU_ASSERT(memcmp(&seen, &head, sizeof(head)) == 0);
		CU_ASSERT_EQUAL(stream[n_header], 0x5a);
		for (size_t k = 0; k < n; k++) {
			uint8_t *copy = malloc(k ? k : 1);

			memcpy(copy, stream, k);
			if (ktr__packet_peek(copy, k, &seen) != (k < n_header ? 0 : (int64_t)n) ||
			    ktr__packet_look(copy, k, &seen) != 0)
				CU_FAIL("a torn header");
			free(copy);
		}
	}
}

static void damaged_lines(void)
{
	char line[128] = "{\"thread\":7,\"name\":\"worker\"";
	size_t n = strlen(line);
	unsigned passed = 0;

	ktr__line_seal(line, n);
	CU_ASSERT_EQUAL(line[n + KTR_LINE_TAIL], '\n');
	n += KTR_LINE_TAIL;
	CU_ASSERT_EQUAL(line[n - 1], '}');
	CU_ASSERT_EQUAL(ktr__line_check(line, n), 0);
	for (size_t i = 0; i < n; i++)
		passed += ktr__line_check(line, i) == 0;
	for (size_t bit = 0; bit < 8 * n; bit++) {
		line[bit / 8] ^= (char)(1u << bit % 8);
		passed += ktr__line_check(line, n) == 0;
		line[bit / 8] ^= (char)(1u << bit % 8);
	}
	CU_ASSERT_EQUAL(passed, 0);
}

static void damaged_metadata(void)
{
	char text[512] = "/* CTF 1.8 */\nevent {\n};\n";
	size_t first = strlen(text), n, bad = 0;

	ktr__metadata_seal(text, first);
	first += KTR_METADATA_TAIL;
	strcpy(text + first, "event { id = 1; };\n\n");
	n = strlen(text);
	CU_ASSERT_EQUAL(ktr__metadata_check(text, n), first);
	memmove(text + 400, text + first, n - first);
	ktr__metadata_seal(text + 400, n - first);
	memcpy(text + n, text + 400 + n - first, KTR_METADATA_TAIL);
	n += KTR_METADATA_TAIL;
	CU_ASSERT_EQUAL(ktr__metadata_check(text, n), n);
	for (size_t i = 0; i < n; i++)
		bad += ktr__metadata_check(text, i) != (i < first ? 0 : first);
	for (size_t bit = 0; bit < 8 * n; bit++) {
		text[bit / 8] ^= (char)(1u << bit % 8);
		bad += ktr__metadata_check(text, n) != (bit / 8 < first ? 0 : first);
		text[bit / 8] ^= (char)(1u << bit % 8);
	}
	CU_ASSERT_EQUAL(bad, 0);
}

SUITE(packet, TEST(checksum_values), TEST(checksum_ways_agree), TEST(whole_stream),
      TEST(cut_at_every_byte), TEST(flip_every_bit), TEST(foreign_version), TEST(headers_of_both_forms),
      TEST(damaged_lines),
      TEST(damaged_metadata));
