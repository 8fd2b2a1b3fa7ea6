/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that were not built to be probed, as probes of the provider fbt. */
#ifndef KTR_PLAIN_H
#define KTR_PLAIN_H

/* They are there from now on; calls after the first do nothing. x86-64 alone has it. */
#if defined(__x86_64__)
void ktr__plain_begin(void);
#else
static inline void ktr__plain_begin(void)
{
}
#endif

/* trampoline_x86_64.S */
void ktr__plain_trampoline(void);
void ktr__plain_trampoline_filtered(void);
void ktr__plain_returned(void);

#endif
