/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider offcpu: in which calls threads wait, and for how long. */
#ifndef KTR_OFFCPU_PROVIDER_H
#define KTR_OFFCPU_PROVIDER_H

/*
 * It is there from now on, also if nobody asked at the program's start; the session is, and the provider lock
 * (ktr__lock_begin()), or what it has of that (ktr__lock_ready()). Further calls do nothing. Asks the loader.
 */
#if defined(__x86_64__)
void ktr__offcpu_begin(void);
#else
static inline void ktr__offcpu_begin(void)
{
}
#endif

#endif
