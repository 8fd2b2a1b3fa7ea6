/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread waited for in a call of the C library's that it made: told when it has come back, by whoever wants
 * to know. For who stands before such calls.
 */
#ifndef KTR_TIMER_OFF_H
#define KTR_TIMER_OFF_H

#include <stdint.h>

struct ktr__off {
	uint64_t began_ns, cpu_ns; /* CLOCK_MONOTONIC, 0: it is not looked at; and the thread's CPU clock */
};

/* Async-signal-safe, both; keep errno. */
struct ktr__off_teller {
	void (*begins)(struct ktr__off *off);
	void (*ended)(const struct ktr__off *off, const char *what, const void *caller);
};

extern const struct ktr__off_teller *ktr__off_teller; /* NULL: nobody has asked for it. Atomic */

/* Before the call. Keeps errno. */
static inline void ktr__off_begin(struct ktr__off *off)
{
	const struct ktr__off_teller *teller = __atomic_load_n(&ktr__off_teller, __ATOMIC_ACQUIRE);

	off->began_ns = 0;
	if (__builtin_expect(teller != 0, 0))
		teller->begins(off);
}

/* After it. what lives for ever. caller: who called the function that the C library has. Keeps errno. */
static inline void ktr__off_end(const struct ktr__off *off, const char *what, const void *caller)
{
	const struct ktr__off_teller *teller = __atomic_load_n(&ktr__off_teller, __ATOMIC_ACQUIRE);

	if (__builtin_expect(teller && off->began_ns, 0))
		teller->ended(off, what, caller);
}

#endif
