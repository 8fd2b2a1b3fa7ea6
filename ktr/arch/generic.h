/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an architecture file has not defined: no restartable sequences, so the thread path is taken,
 * and the system's clock.
 */
#ifndef KTR_ARCH_GENERIC_H
#define KTR_ARCH_GENERIC_H

#ifndef KTR_ARCH
#define KTR_ARCH KTR_ARCH_OTHER
#endif

#ifndef KTR_ARCH_HAS_RSEQ
#define KTR_ARCH_HAS_RSEQ 0
#endif

/* ktr__record0() to ktr__record6() in assembly, or in C (ktr/record/record.c), which a sanitizer can follow. */
#if !defined(KTR_ARCH_HAS_RECORD) || KTR_TSAN
#undef KTR_ARCH_HAS_RECORD
#define KTR_ARCH_HAS_RECORD 0
#endif

#ifndef KTR_ARCH_SIGNS_RETURNS
#define KTR_ARCH_SIGNS_RETURNS 0
static inline uint64_t ktr__return_address(uint64_t word)
{
	return word;
}
#endif

#ifndef KTR_ARCH_CLOCK
#define KTR_ARCH_CLOCK KTR_CLOCK_MONOTONIC
static inline uint64_t ktr__ticks(void)
{
	return 0; /* never called: the clock is CLOCK_MONOTONIC */
}
#endif

#endif
