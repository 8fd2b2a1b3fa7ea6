/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that wait with a mask of signals of their own: SIGTRAP is in none that the kernel gets. */
#ifndef KTR_USDT_WAIT_H
#define KTR_USDT_WAIT_H

#include "ktr/provider/usdt/lead.h"

#define KTR__USDT_WAITS 5

/* sigsuspend(2), ppoll(2), pselect(2), epoll_pwait(2) and epoll_pwait2(2). */
extern struct ktr__usdt_lead ktr__usdt_waits[KTR__USDT_WAITS];

#endif
