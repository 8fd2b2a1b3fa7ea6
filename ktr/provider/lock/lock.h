/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider lock: who waits for whom. */
#ifndef KTR_LOCK_PROVIDER_H
#define KTR_LOCK_PROVIDER_H

/*
 * It is there from now on, also if nobody asked at the program's start; the session is. Further
 * calls do nothing.
 */
#if defined(__x86_64__)
void ktr__lock_begin(void);
#else
static inline void ktr__lock_begin(void)
{
}
#endif

#endif
