/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider usdt: the static probes of whatever is loaded. */
#ifndef KTR_USDT_PROVIDER_H
#define KTR_USDT_PROVIDER_H

/* It is there from now on; calls after the first do nothing. x86-64 alone has it. */
#if defined(__x86_64__)
void ktr__usdt_begin(void);
#else
static inline void ktr__usdt_begin(void)
{
}
#endif

#endif
