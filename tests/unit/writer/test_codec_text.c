/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings to packed events and back: short ones within their slot, runs of one site, bytes that are no text. */
#include "tests/unit/suite.h"
#include "tests/unit/writer/packing.h"

#include <string.h>

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

SUITE(codec_text, TEST(short_strings), TEST(runs_are_as_one_by_one), TEST(raw_bytes_in_text));
