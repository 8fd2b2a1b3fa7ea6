/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider profile: what threads do with their time. */
#ifndef KTR_PROFILE_H
#define KTR_PROFILE_H

/* It is there from now on; calls after the first do nothing. The session is there. x86-64 alone has it. */
#if defined(__x86_64__)
void ktr__profile_begin(void);
#else
static inline void ktr__profile_begin(void)
{
}
#endif

/* The calling thread is one of ours: providers tell nothing of it. */
#if defined(__x86_64__)
void ktr__profile_own_thread(void);
#else
static inline void ktr__profile_own_thread(void)
{
}
#endif

#endif
