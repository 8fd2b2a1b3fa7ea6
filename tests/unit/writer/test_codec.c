/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ring entries to packed events and back: random sites and entries, extremes, stacks, and
 * what a hostile ring may hold. Strings: test_codec_text.c.
 */
#include "tests/unit/lay.h"
#include "tests/unit/suite.h"
#include "tests/unit/writer/packing.h"

#include <stdlib.h>
#include <string.h>

/* What a number of a type is after it has been stored at its width. */
static uint64_t narrowed(uint64_t x, unsigned type)
{
	switch (type) {
	case KTR_ARG_I8:
		return (uint64_t)(int64_t)(int8_t)x;
	case KTR_ARG_U8:
		return (uint8_t)x;
	case KTR_ARG_I16:
		return (uint64_t)(int64_t)(int16_t)x;
	case KTR_ARG_U16:
		return (uint16_t)x;
	case KTR_ARG_I32:
		return (uint64_t)(int64_t)(int32_t)x;
	case KTR_ARG_U32:
		return (uint32_t)x;
	default:
		return x;
	}
}

/*
 * Adds one random event at slot `at`; returns the next slot. A string's letters follow from its
 * place.
 */
static uint32_t random_event(uint32_t at, uint64_t ticks)
{
	struct ktr_entry *e = &ring[at];
	const struct ktr__program *p;
	uint32_t n_bytes = 0;
	uint8_t bytes[KTR_ARGS_MAX * 600] = { 0 };
	unsigned n_conts;

	e->site = 1 + below(N_SITES - 1);
	e->thread = 1 + below(N_THREADS - 1);
	e->timestamp = ticks | (below(4) ? 0 : KTR_TIME_APPROX);
	p = &programs[e->site];
	for (unsigned i = 0; i < KTR_ARGS_MAX; i++) {
		uint32_t n = below(560);

		e->arg[i] = below(2) ? random64() : random64() >> below(64);
		if (i >= p->n_args || !(p->payload >> i & 1))
			continue;
		if (p->type[i] == KTR_ARG_STACK)
			n = n / 8 * 8;
		e->arg[i] = n | (below(5) ? 0 : KTR_PAYLOAD_CUT);
		if (!below(7))
			e->arg[i] = KTR_PAYLOAD_NULL, n = 0;
		for (uint32_t k = 0; k < n; k++)
			bytes[n_bytes + k] = (uint8_t)(1 + (n_bytes + k) * 7 % 255);
		n_bytes = (uint32_t)lay_next(n_bytes, n);
	}
	n_conts = n_bytes ? lay(e, p->n_args, bytes, n_bytes) : 0;
	for (unsigned i = 1; i <= n_conts; i++)
		e[i].timestamp = KTR_CONT_MARK | (at + i);
	return at + 1 + n_conts;
}

/* Does the decoded event say what the entry says? */
static int same(const struct ktr_entry *e, const struct ktr_event *event,
		const struct ktr__found *found)
{
	const struct ktr__program *p = &programs[e->site];
	uint32_t n_bytes = 0;

	if (found->site != e->site || found->word != words[e->thread] ||
	    event->time_ns != (e->timestamp & KTR_TIME_TICKS) ||
	    event->approx != ((e->timestamp & KTR_TIME_APPROX) != 0))
		return 0;
	for (unsigned i = 0; i < p->n_args; i++) {
		const struct ktr_event_bytes *str = &event->str[i];
		uint32_t n = (uint32_t)(e->arg[i] & KTR_PAYLOAD_LENGTH);

		if (!(p->payload >> i & 1)) {
			if (event->arg[i] != narrowed(e->arg[i], p->type[i]))
				return 0;
			continue;
		}
		if (str->n_bytes != n || str->cut != ((e->arg[i] & KTR_PAYLOAD_CUT) != 0) ||
		    str->is_null != ((e->arg[i] & KTR_PAYLOAD_NULL) != 0))
			return 0;
		for (uint32_t k = 0; k < n; k++)
			if ((uint8_t)str->bytes[k] != (uint8_t)(1 + (n_bytes + k) * 7 % 255))
				return 0;
		n_bytes = (uint32_t)lay_next(n_bytes, n);
	}
	return 1;
}

/*
 * Walks through a packet once more with programs whose arguments are spare, or with some of them: the same
 * events at the same places with the same end. Returns how many things differ.
 */
static unsigned differs_when_spare(const uint8_t *bytes, const struct ktr_packet_header *head)
{
	static struct ktr__program spare[N_SITES];
	struct ktr_event event[2];
	struct ktr__found found[2];
	struct ktr__walk walk[2];
	unsigned bad = 0;
	int rc[2];

	for (unsigned i = 0; i < N_SITES; i++) {
		spare[i] = programs[i];
		if (spare[i].ready && below(4))
			spare[i].ready = KTR__PROGRAM_SKIP_ARGS;
	}
	ktr__walk_begin(&walk[0], bytes, head, programs, N_SITES);
	ktr__walk_begin(&walk[1], bytes, head, spare, N_SITES);
	do {
		for (unsigned i = 0; i < 2; i++)
			rc[i] = ktr__walk_next(&walk[i], &event[i], &found[i]);
		bad += rc[0] != rc[1] || walk[0].at != walk[1].at;
		if (rc[0] > 0)
			bad += event[0].time_ns != event[1].time_ns || event[0].approx != event[1].approx ||
			       found[0].site != found[1].site || found[0].word != found[1].word;
	} while (rc[0] > 0 && !bad);
	return bad;
}

static void random_round_trips(void)
{
	for (unsigned round = 0; round < 100; round++) {
		uint64_t ticks = (seed = round, random64() >> 3);
		struct ktr__pack pack = begin_pack();
		struct ktr_packet_header head;
		struct ktr_event event;
		struct ktr__found found;
		struct ktr__walk walk;
		uint32_t n = 0, events = 0, bad = 0, at = 0;
		int rc;

		random_sites();
		while (n < N_SLOTS - KTR_SLOTS_MAX) {
			n = random_event(n, ticks);
			ticks += below(8) ? below(1000) : random64() >> (28 + below(30));
			events++;
		}
		CU_ASSERT_EQUAL_FATAL(ktr__pack_run(&pack, ring, n), n);
		CU_ASSERT_EQUAL(pack.why, KTR_PACK_DONE);
		CU_ASSERT_EQUAL(pack.n_events, events);
		head = seal(&pack);
		CU_ASSERT_EQUAL(ktr__packet_look(packet, (size_t)(pack.at - packet), &head),
				pack.at - packet);
		ktr__walk_begin(&walk, packet, &head, programs, N_SITES);
		while ((rc = ktr__walk_next(&walk, &event, &found)) > 0) {
			bad += !same(&ring[at], &event, &found);
			for (at++; at < n && (ring[at].timestamp & KTR_CONT_MARK);)
				at++;
			events--;
		}
		CU_ASSERT_EQUAL(rc, 0);
		CU_ASSERT_EQUAL(events, 0);
		CU_ASSERT_EQUAL(bad, 0);
		CU_ASSERT_EQUAL(differs_when_spare(packet, &head), 0);
	}
}

/*
 * Packs one entry with slots behind it and decodes it. Returns the bytes it took, header included.
 */
static size_t one(struct ktr__pack *pack, uint32_t n_slots, struct ktr_event *event,
		  struct ktr__found *found)
{
	const uint8_t *from = pack->at;
	struct ktr_packet_header head;
	struct ktr__walk walk;
	size_t n;
	int rc = 0;

	CU_ASSERT_EQUAL_FATAL(ktr__pack_run(pack, ring, n_slots), n_slots);
	n = (size_t)(pack->at - from);
	head = seal(pack);
	ktr__walk_begin(&walk, packet, &head, programs, N_SITES);
	while (walk.n_left && (rc = ktr__walk_next(&walk, event, found)) > 0)
		;
	CU_ASSERT_EQUAL(rc, 1);
	CU_ASSERT_PTR_EQUAL(walk.at, walk.end);
	return n;
}

static void sizes(void)
{
	const uint8_t two[2] = { KTR_ARG_I32, KTR_ARG_I32 };
	const uint8_t six[6] = { KTR_ARG_U64, KTR_ARG_U64, KTR_ARG_U64,
				 KTR_ARG_U64, KTR_ARG_U64, KTR_ARG_U64 };
	struct ktr__pack pack = begin_pack();
	struct ktr_event event;
	struct ktr__found found;

	seed = 7;
	random_sites();
	ktr__program_make(&programs[1], 0, NULL);
	ktr__program_make(&programs[2], 2, two);
	ktr__program_make(&programs[3], 6, six);
	ring[0] = (struct ktr_entry){ 1000, 1, 1, { 0 } };
	CU_ASSERT_EQUAL(one(&pack, 1, &event, &found), 10);
	ring[0] = (struct ktr_entry){
		1001, 2, 1, { (uint64_t)-1, (uint64_t)INT32_MIN, 0, 0, 0, 0 }
	};
	CU_ASSERT_EQUAL(one(&pack, 1, &event, &found), 18);
	CU_ASSERT_EQUAL(event.arg[0], UINT64_MAX);
	CU_ASSERT_EQUAL((int64_t)event.arg[1], INT32_MIN);
	CU_ASSERT_EQUAL(event.arg[2], 0);
	ring[0] = (struct ktr_entry){ 1002, 3, 1, { 1, 2, 3, 4, 5, UINT64_MAX } };
	CU_ASSERT_EQUAL(one(&pack, 1, &event, &found), 58);
	CU_ASSERT_EQUAL(event.arg[5], UINT64_MAX);
	/* 2^32 - 1 ns later is compact still, 2^32 are not; time never goes back. */
	ring[0] = (struct ktr_entry){ 1002 + 0xffffffffull, 1, 1, { 0 } };
	CU_ASSERT_EQUAL(one(&pack, 1, &event, &found), 10);
	CU_ASSERT_EQUAL(event.time_ns, 1002 + 0xffffffffull);
	ring[0] = (struct ktr_entry){ 1002 + 0x1ffffffffull, 1, 1, { 0 } };
	CU_ASSERT_EQUAL(one(&pack, 1, &event, &found), 18);
	CU_ASSERT_EQUAL(event.time_ns, 1002 + 0x1ffffffffull);
	ring[0] = (struct ktr_entry){ 5, 1, 1, { 0 } };
	CU_ASSERT_EQUAL(one(&pack, 1, &event, &found), 10);
	CU_ASSERT_EQUAL(event.time_ns, 1002 + 0x1ffffffffull);
}

static void high_site_is_extended(void)
{
	enum {
		HIGH = 40000
	};
	struct ktr__program *many = calloc(HIGH + 1, sizeof(*many));
	struct ktr__pack pack = begin_pack();
	struct ktr_packet_header head;
	struct ktr_event event;
	struct ktr__found found;
	struct ktr__walk walk;

	CU_ASSERT_PTR_NOT_NULL_FATAL(many);
	words[1] = 77;
	ktr__program_make(&many[HIGH], 0, NULL);
	ktr__program_make(&many[KTR_EVENT_SITE_COMPACT], 0, NULL);
	pack.programs = many;
	pack.n_programs = HIGH + 1;
	ring[0] = (struct ktr_entry){ 10, HIGH, 1, { 0 } };
	ring[1] = (struct ktr_entry){ 11, KTR_EVENT_SITE_COMPACT, 1, { 0 } };
	CU_ASSERT_EQUAL(ktr__pack_run(&pack, ring, 2), 2);
	CU_ASSERT_EQUAL(pack.at - packet, KTR_PACKET_EVENTS + 18 + 10);
	head = seal(&pack);
	ktr__walk_begin(&walk, packet, &head, many, HIGH + 1);
	CU_ASSERT_EQUAL(ktr__walk_next(&walk, &event, &found), 1);
	CU_ASSERT_EQUAL(found.site, HIGH);
	CU_ASSERT_EQUAL(ktr__walk_next(&walk, &event, &found), 1);
	CU_ASSERT_EQUAL(found.site, KTR_EVENT_SITE_COMPACT);
	CU_ASSERT_EQUAL(ktr__walk_next(&walk, &event, &found), 0);
	free(many);
}

static void unknown_site_keeps_its_words(void)
{
	struct ktr__pack pack = begin_pack();
	struct ktr_event event;
	struct ktr__found found;

	words[1] = 77;
	ring[0] = (struct ktr_entry){ 10, 3000000, 1, { 1, 2, 3, 4, 5, 6 } };
	CU_ASSERT_EQUAL(ktr__pack_run(&pack, ring, 1), 0);
	CU_ASSERT_EQUAL(pack.why, KTR_PACK_UNKNOWN);
	pack.take_unknown = 1;
	one(&pack, 1, &event, &found);
	CU_ASSERT_EQUAL(found.site, 0);
	CU_ASSERT_EQUAL(found.unknown, 3000000);
	CU_ASSERT_EQUAL(found.word, 77);
	CU_ASSERT_EQUAL(event.arg[5], 6);
	CU_ASSERT_EQUAL(pack.take_unknown, 0);
	/* A thread without a word, likewise. */
	words[2] = 0;
	ktr__program_make(&programs[1], 0, NULL);
	ring[0] = (struct ktr_entry){ 10, 1, 2, { 0 } };
	CU_ASSERT_EQUAL(ktr__pack_run(&pack, ring, 1), 0);
	pack.take_unknown = 1;
	one(&pack, 1, &event, &found);
	CU_ASSERT_EQUAL(found.word, 0);
	CU_ASSERT_EQUAL(found.site, 1);
}

static void packet_ends_where_the_cpu_changes(void)
{
	struct ktr__pack pack = begin_pack();

	words[1] = 77;
	ktr__program_make(&programs[1], 0, NULL);
	for (int i = 0; i < 5; i++)
		ring[i] = (struct ktr_entry){
			10, 1, 1 | (i < 3 ? 5u : 6u) << KTR_THREAD_BITS, { 0 }
		};
	pack.cpu_mask = ~KTR_THREAD_INDEX;
	CU_ASSERT_EQUAL(ktr__pack_run(&pack, ring, 5), 3);
	CU_ASSERT_EQUAL(pack.why, KTR_PACK_CPU);
	CU_ASSERT_EQUAL(pack.cpu_bits >> KTR_THREAD_BITS, 5);
	CU_ASSERT_EQUAL(pack.n_events, 3);
	pack = begin_pack();
	pack.cpu_mask = ~KTR_THREAD_INDEX;
	CU_ASSERT_EQUAL(ktr__pack_run(&pack, ring + 3, 2), 2);
	CU_ASSERT_EQUAL(pack.cpu_bits >> KTR_THREAD_BITS, 6);
}

static void full_packet_ends_between_events(void)
{
	const uint8_t str[1] = { KTR_ARG_STR };
	struct ktr__pack pack = begin_pack();
	uint32_t at;

	words[1] = 77;
	ktr__program_make(&programs[1], 1, str);
	for (uint32_t i = 0; i < 30; i += 3) {
		memset(&ring[i], 'a', sizeof(ring[0]));
		ring[i].timestamp = i;
		ring[i].site = ring[i].thread = 1;
		ring[i].arg[0] = 100;
		memset(&ring[i + 1], 'a', 2 * sizeof(ring[0]));
		ring[i + 1].timestamp = ring[i + 2].timestamp = KTR_CONT_MARK;
	}
	/* Each takes 111 bytes: none ends behind the limit, and one may end there. */
	for (uint32_t room = 0; room < 400; room++) {
		const uint32_t fit = room / 111;

		pack = begin_pack();
		pack.time_ns = 7;
		pack.limit = pack.at + room;
		at = ktr__pack_run(&pack, ring, 30);
		CU_ASSERT_EQUAL(at, 3 * fit);
		CU_ASSERT_EQUAL(pack.why, KTR_PACK_FULL);
		CU_ASSERT_EQUAL(pack.n_events, fit);
		CU_ASSERT_EQUAL(pack.n_conts, 2 * fit);
		CU_ASSERT_EQUAL(pack.at - packet, KTR_PACKET_EVENTS + 111 * fit);
		CU_ASSERT_EQUAL(pack.time_ns, fit > 3 ? 3 * (fit - 1) : 7);
	}
}

/*
 * Rings and tables that lie: lengths beyond the payload, NULs in strings, continuations out of
 * place.
 */
static void hostile_entries(void)
{
	const uint8_t types[6] = { KTR_ARG_STR,   KTR_ARG_STACK, KTR_ARG_STR,
				   KTR_ARG_STACK, KTR_ARG_STR,   KTR_ARG_STR };
	struct ktr__pack pack = begin_pack();
	struct ktr_event event;
	struct ktr__found found;
	size_t n;

	words[1] = 77;
	ktr__program_make(&programs[1], 6, types);
	memset(ring, 0xff, sizeof(ring));
	ring[0] = (struct ktr_entry){ 1, 1, 1, { 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, ~0ull } };
	n = one(&pack, N_SLOTS, &event, &found);
	CU_ASSERT(n <= KTR_PACK_EVENT_MAX);
	CU_ASSERT_EQUAL(pack.n_conts, N_SLOTS - 1);
	CU_ASSERT_EQUAL(event.str[0].n_bytes, KTR_PAYLOAD_BYTES);
	CU_ASSERT_EQUAL(event.str[0].cut, 1);
	CU_ASSERT_EQUAL(event.str[5].is_null, 1);

	pack = begin_pack();
	memset(&ring[1], 0, sizeof(ring[1]));
	memcpy((char *)&ring[1] + offsetof(struct ktr_cont, data), "ab\0cd", 5);
	ring[1].timestamp = KTR_CONT_MARK;
	ring[0] = (struct ktr_entry){ 1, 1, 1, { 5, 0, 0, 0, 0, 0 } };
	one(&pack, 2, &event, &found);
	CU_ASSERT_EQUAL(event.str[0].n_bytes, 2);
	CU_ASSERT_EQUAL(event.str[0].cut, 1);
	CU_ASSERT_EQUAL(memcmp(event.str[0].bytes, "ab", 3), 0);

	pack = begin_pack();
	ring[0].timestamp = KTR_CONT_MARK;
	CU_ASSERT_EQUAL(ktr__pack_run(&pack, ring, 2), 2);
	CU_ASSERT_EQUAL(pack.n_events, 0);
	CU_ASSERT_EQUAL(pack.n_conts, 2);
}

static void later_than_now_is_now(void)
{
	struct ktr__pack pack = begin_pack();
	struct ktr_event event;
	struct ktr__found found;

	words[1] = 77;
	ktr__program_make(&programs[1], 0, NULL);
	pack.limit_ticks = 500;
	ring[0] = (struct ktr_entry){ KTR_TIME_TICKS, 1, 1, { 0 } };
	one(&pack, 1, &event, &found);
	CU_ASSERT_EQUAL(event.time_ns, 500);
}

static void bad_programs(void)
{
	struct ktr__program p;
	uint8_t type[KTR_ARGS_MAX] = { KTR_ARG_I8, KTR_ARG_TYPES, 0, 0, 0, 0 };

	CU_ASSERT_NOT_EQUAL(ktr__program_make(&p, 2, type), 0);
	CU_ASSERT_EQUAL(p.ready, 0);
	type[1] = KTR_ARG_NONE;
	CU_ASSERT_NOT_EQUAL(ktr__program_make(&p, 2, type), 0);
	CU_ASSERT_NOT_EQUAL(ktr__program_make(&p, KTR_ARGS_MAX + 1, type), 0);
	CU_ASSERT_EQUAL(ktr__program_make(&p, 1, type), 0);
	CU_ASSERT_EQUAL(p.ready, 1);
}

/*
 * Packets of any bytes, whose checksum is nobody's business here: no load outside, an end or an
 * error.
 */
static void hostile_packets(void)
{
	unsigned ends = 0, errors = 0;

	random_sites();
	seed = 11;
	for (unsigned round = 0; round < 3000; round++) {
		struct ktr_packet_header head = { 0 };
		size_t n = KTR_PACKET_EVENTS + below(400);
		uint8_t *bytes = malloc(
			n); /* of its very length: the sanitizer sees what is behind it */
		struct ktr_event event;
		struct ktr__found found;
		struct ktr__walk walk;
		int rc;

		CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
		for (size_t i = KTR_PACKET_EVENTS; i < n; i++)
			bytes[i] = (uint8_t)(below(3) ? 0 : random64());
		head.content_bits = 8 * n;
		head.n_events = below(40);
		head.time_begin = below(2) ? 0 : random64();
		ktr__walk_begin(&walk, bytes, &head, programs, N_SITES);
		while ((rc = ktr__walk_next(&walk, &event, &found)) > 0)
			for (unsigned i = 0; found.site && i < programs[found.site].n_args; i++)
				if (programs[found.site].payload >> i & 1)
					ends += event.str[i].n_bytes &&
						event.str[i].bytes[event.str[i].n_bytes - 1] == 77;
		errors += rc < 0;
		CU_ASSERT_EQUAL(differs_when_spare(bytes, &head), 0);
		free(bytes);
	}
	CU_ASSERT(errors > 1000);
	CU_ASSERT(ends < 3000);
}

SUITE(codec, TEST(random_round_trips), TEST(sizes), TEST(high_site_is_extended),
      TEST(unknown_site_keeps_its_words), TEST(packet_ends_where_the_cpu_changes),
      TEST(full_packet_ends_between_events), TEST(hostile_entries), TEST(later_than_now_is_now),
      TEST(bad_programs), TEST(hostile_packets));
