/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/writer/packing.h"

#include "tests/unit/suite.h"

#include <string.h>

struct ktr__program programs[N_SITES];
uint32_t words[N_THREADS];
struct ktr_entry ring[N_SLOTS];
uint8_t packet[N_BYTES + KTR_PACK_SLACK];
uint64_t seed;

uint64_t random64(void)
{
	/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014). */
	uint64_t x = seed += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

uint32_t below(uint32_t n)
{
	return (uint32_t)(random64() % n);
}

void random_sites(void)
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

struct ktr__pack begin_pack(void)
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

struct ktr_packet_header seal(const struct ktr__pack *pack)
{
	struct ktr_packet_header head = { 0 };

	head.time_begin = pack->first_ns;
	head.time_end = pack->time_ns;
	head.n_events = pack->n_events;
	ktr__packet_seal(packet, (size_t)(pack->at - packet), &head);
	return head;
}
