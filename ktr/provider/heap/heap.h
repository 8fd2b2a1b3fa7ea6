/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider heap: who gets memory and gives it back. */
#ifndef KTR_HEAP_PROVIDER_H
#define KTR_HEAP_PROVIDER_H

/*
 * It is there from now on, also if nobody asked at the program's start; the session is. Further
 * calls do nothing.
 */
#if defined(__x86_64__)
void ktr__heap_begin(void);
#else
static inline void ktr__heap_begin(void)
{
}
#endif

#endif
