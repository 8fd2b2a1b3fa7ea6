/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread waited for in a call of the C library's that it made: told when it has come back, if it was off the
 * CPU meanwhile. For who stands before such calls (ktr/provider/offcpu, lock, and wait.c here).
 */
#ifndef KTR_PROFILE_OFF_H
#define KTR_PROFILE_OFF_H

#include <ktr/provider.h>

#include <stdbool.h>
#include <stdint.h>

extern struct ktr_provider_probe *ktr__off_probe; /* NULL: nobody has asked for it. Atomic */
extern bool ktr__off_on;			  /* atomic */

struct ktr__off {
	uint64_t began_ns, cpu_ns; /* CLOCK_MONOTONIC, 0: it is not looked at; and the thread's CPU clock */
};

void ktr__off_clocks(struct ktr__off *off);
void ktr__off_tell(const struct ktr__off *off, const char *what, const void *caller);

/* Before the call. caller: who called the function that the C library has. Keeps errno. */
static inline void ktr__off_begin(struct ktr__off *off)
{
	off->began_ns = 0;
	if (__builtin_expect(__atomic_load_n(&ktr__off_on, __ATOMIC_RELAXED), 0))
		ktr__off_clocks(off);
}

/* After it. what lives for ever. Keeps errno. Async-signal-safe, both. */
static inline void ktr__off_end(const struct ktr__off *off, const char *what, const void *caller)
{
	if (__builtin_expect(off->began_ns != 0, 0))
		ktr__off_tell(off, what, caller);
}

#endif
