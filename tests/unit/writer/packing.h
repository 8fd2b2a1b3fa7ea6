/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tests of the packer share: one ring, one packet, call sites and threads, and what draws them. The tests
 * run one after the other.
 */
#ifndef TESTS_PACKING_H
#define TESTS_PACKING_H

#include "writer/format/codec.h"
#include "writer/format/packet.h"

#define N_SITES   64
#define N_THREADS 16
#define N_SLOTS   4096
#define N_BYTES   (1u << 20)

extern struct ktr__program programs[N_SITES];
extern uint32_t words[N_THREADS];
extern struct ktr_entry ring[N_SLOTS];
extern uint8_t packet[N_BYTES + KTR_PACK_SLACK];
extern uint64_t seed;

/* Any number, and any below n, as `seed` has it. */
uint64_t random64(void);
uint32_t below(uint32_t n);

/* Each site of any types, each thread with a word. */
void random_sites(void);

/* Begins to pack into the packet. */
struct ktr__pack begin_pack(void);

/* Ends it: the header that it got. */
struct ktr_packet_header seal(const struct ktr__pack *pack);

#endif
