/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ring entries to packed events and back: random sites and entries, extremes, strings, stacks, and
 * what a hostile ring may hold.
 */
#include "tests/unit/lay.h"
#include "tests/unit/suite.h"

#include "writer/format/codec.h"
#include "writer/format/packet.h"

#include <stdlib.h>
#include <string.h>

#define N_SITES   64
#define N_THREADS 16
#define N_SLOTS   4096
#define N_BYTES   (1u << 20)

static struct ktr__program programs[N_SITES];
static uint32_t words[N_THREADS];
static struct ktr_entry ring[N_SLOTS];
static uint8_t packet[N_BYTES + KTR_PACK_SLACK];
static uint64_t seed;

static uint64_t random64(void)
{
	/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014). */
	uint64_t x = seed += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)(random64() % n);
}

static void random_sites(void)
{
	memset(&programs[0], 0, sizeof(programs[0]));
	for (uint32_t i = 1; i < N_SITES; i++) {
		uint8_t type[KTR_ARGS_MAX];
		unsigned n = below(KTR_ARGS_MAX + 1);

		for (unsigned k = 0; k < n; k++)
			type[k] = (uint8_t)(1 + below(KTR_ARG_TYPES - 1));
		CU_ASSERT_EQUAL_FATAL(ktr__program_make(&programs[i], n, type), 0);
	}
	for (uint32_t i = 1; i < N_THREADS; i++)
		words[i] = (1000 + i) | i << KTR_WORD_LIFE_SHIFT;
}

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

static struct ktr__pack begin_pack(void)
{
	struct ktr__pack pack = { 0 };

	pack.at = packet + KTR_PACKET_EVENTS;
	pack.limit = packet + N_BYTES;
	pack.limit_ticks = KTR_TIME_TICKS;
	pack.clock = (struct ktr_trace_clock){ 0, 0, 1, 0, 0 };
	pack.programs = programs;
	pack.n_programs = N_SITES;
	pack.words = words;
	pack.n_words = N_THREADS;
	return pack;
}

static struct ktr_packet_header seal(const struct ktr__pack *pack)
{
	struct ktr_packet_header head = { 0 };

	head.time_begin = pack->first_ns;
	head.time_end = pack->time_ns;
	head.n_events = pack->n_events;
	ktr__packet_seal(packet, (size_t)(pack->at - packet), &head);
	return head;
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

/* One string of so many letters among numbers, with a NUL at a place if that is within: what is read of it. */
static unsigned short_string_is_wrong(unsigned n_args, unsigned which, uint32_t length, uint32_t nul)
{
	uint8_t type[KTR_ARGS_MAX];
	struct ktr__pack pack = begin_pack();
	struct ktr_packet_header head;
	struct ktr_event event;
	struct ktr__found found;
	struct ktr__walk walk;
	uint32_t n = nul < length ? nul : length;
	unsigned wrong = 0;

	words[1] = 77;
	for (unsigned i = 0; i < KTR_ARGS_MAX; i++)
		type[i] = i == which ? KTR_ARG_STR : KTR_ARG_U32;
	ktr__program_make(&programs[1], n_args, type);
	/* The first event of a packet is not the usual one. */
	for (unsigned k = 0; k < 3; k++) {
		ring[k] = (struct ktr_entry){ .timestamp = 100 + k, .site = 1, .thread = 1 };
		for (unsigned i = 0; i < n_args; i++)
			ring[k].arg[i] = i == which ? length : i + 1;
		memset(&ring[k].arg[n_args], 'x', length);
		if (nul < length)
			((char *)&ring[k].arg[n_args])[nul] = '\0';
	}
	wrong += ktr__pack_run(&pack, ring, 3) != 3;
	head = seal(&pack);
	ktr__walk_begin(&walk, packet, &head, programs, N_SITES);
	for (unsigned k = 0; k < 3; k++) {
		wrong += ktr__walk_next(&walk, &event, &found) != 1;
		for (unsigned i = 0; i < n_args; i++)
			wrong += i != which && event.arg[i] != i + 1;
		wrong += event.str[which].n_bytes != n || event.str[which].cut != (nul < length) ||
			 memcmp(event.str[which].bytes, &ring[k].arg[n_args], n) != 0;
	}
	return wrong;
}

static void short_strings(void)
{
	unsigned wrong = 0;

	for (unsigned n_args = 1; n_args <= KTR_ARGS_MAX; n_args++)
		for (unsigned which = 0; which < n_args; which++)
			for (uint32_t length = 0; length <= 8 * (KTR_ARGS_MAX - n_args); length++)
				for (uint32_t nul = 0; nul <= length; nul++)
					wrong += short_string_is_wrong(n_args, which, length, nul);
	CU_ASSERT_EQUAL(wrong, 0);
}

/* Runs of one site, of slots alone, most with a short string; now and then of another thread or a later time. */
static uint32_t string_runs(void)
{
	uint64_t ticks = 1000;
	uint32_t n = 0;

	while (n < N_SLOTS) {
		uint32_t site = 1 + below(N_SITES - 1), thread = 1 + below(N_THREADS - 1);

		for (uint32_t left = 1 + below(20); left-- && n < N_SLOTS; n++) {
			struct ktr_entry *e = &ring[n];
			const struct ktr__program *program = &programs[site];

			ticks += below(50) ? below(100) : below(3) ? 0 : 5ull << 32;
			*e = (struct ktr_entry){ .timestamp = ticks, .site = site, .thread = thread };
			for (unsigned i = 0; i < KTR_ARGS_MAX; i++)
				e->arg[i] = below(9) ? random64() | 0x0101010101010101u : random64() >> below(64);
			for (unsigned i = 0; i < program->n_args; i++)
				if (program->payload >> i & 1)
					e->arg[i] = below(40) ? below(8 * (KTR_ARGS_MAX - program->n_args) + 2) :
								KTR_PAYLOAD_NULL;
			if (!below(60))
				e->thread = 1 + below(N_THREADS - 1);
			if (!below(60))
				e->timestamp |= KTR_TIME_APPROX;
		}
	}
	return n;
}

/* What is packed in one go has the bytes of the same events packed one by one, where none looks at the next. */
static void runs_are_as_one_by_one(void)
{
	static uint8_t one_by_one[N_BYTES];

	seed = 45;
	for (unsigned round = 0; round < 600; round++) {
		struct ktr__pack one = begin_pack(), run = one;
		uint32_t n, k = 0, packed;
		uint8_t *limit;

		random_sites();
		for (uint32_t i = 1; i < N_SITES; i += 2) { /* the half has one string and a number at most */
			const uint8_t type[2][2] = { { KTR_ARG_STR, (uint8_t)(KTR_ARG_I8 + below(6)) },
						     { (uint8_t)(KTR_ARG_I8 + below(6)), KTR_ARG_STR } };

			ktr__program_make(&programs[i], 1 + below(2), type[below(2)]);
		}
		n = string_runs();
		limit = packet + (round % 10 ? 2000 + below(60000) : N_BYTES / 2);
		one.limit = run.limit = limit;
		while (k < n && ktr__pack_run(&one, &ring[k], 1))
			k++;
		memcpy(one_by_one, packet, (size_t)(one.at - packet));
		memset(packet, 0, sizeof(packet));
		packed = ktr__pack_run(&run, ring, n);
		CU_ASSERT_EQUAL(packed, k);
		CU_ASSERT_EQUAL(run.why, one.why);
		CU_ASSERT_EQUAL(run.n_events, one.n_events);
		CU_ASSERT_EQUAL(run.time_ns, one.time_ns);
		CU_ASSERT_EQUAL_FATAL(run.at, one.at);
		CU_ASSERT_EQUAL(memcmp(one_by_one + KTR_PACKET_EVENTS, packet + KTR_PACKET_EVENTS,
				       (size_t)(one.at - packet) - KTR_PACKET_EVENTS), 0);
		CU_ASSERT(round % 10 ? run.why == KTR_PACK_FULL : k == n);
	}
}

static void raw_bytes_in_text(void)
{
	char text[] = "a\xee\xbe\x80"
		      "b\xee\xbf\xbf\xee\xbd\x80";

	CU_ASSERT_EQUAL(ktr__text_raw(text), 7);
	CU_ASSERT_STRING_EQUAL(text, "a\x80"
				     "b\xff\xee\xbd\x80");
}

SUITE(codec, TEST(random_round_trips), TEST(sizes), TEST(high_site_is_extended),
      TEST(unknown_site_keeps_its_words), TEST(packet_ends_where_the_cpu_changes),
      TEST(full_packet_ends_between_events), TEST(hostile_entries), TEST(short_strings),
      TEST(runs_are_as_one_by_one),
      TEST(later_than_now_is_now), TEST(bad_programs), TEST(hostile_packets), TEST(raw_bytes_in_text));
