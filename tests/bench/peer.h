/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The price below which no tracer goes that keeps a ring per thread: what a call out of line takes that reads the
 * clock, stores clock, id, thread and the event's words in the next slot, copies strings into the slots after it,
 * and moves the head. Nothing is safe about it: no gate, no session, no other process, no signal, no reader that
 * could tell a slot half written. Binary loggers pay this and more. Compiled with the flags of the loops.
 */
#ifndef TESTS_BENCH_PEER_H
#define TESTS_BENCH_PEER_H

#include <stdint.h>

/*
 * Gives the thread a ring of so many slots, a power of two. 0 or -1. With PEER_OPENS a thread that has none is
 * given one of 65,536 by its first event.
 */
int peer_open(uint64_t n_slots);

void peer_0(uint32_t id);
void peer_2(uint32_t id, uint64_t a, uint64_t b);
void peer_3(uint32_t id, uint64_t a, uint64_t b, uint64_t c);
void peer_6(uint32_t id, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f);
void peer_string(uint32_t id, const char *text);
void peer_word_string(uint32_t id, uint64_t word, const char *text);
void peer_strings(uint32_t id, const char *one, const char *other);
/* peer_6(), the clock read for each eighth event. */
void peer_6_8th(uint32_t id, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f);

#endif
