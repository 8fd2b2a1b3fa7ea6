/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that wait for all signals there are do not get ours. */
#ifndef KTR_TIMER_WAIT_H
#define KTR_TIMER_WAIT_H

#include <signal.h>
#include <time.h>

/* The signal that sigwait(3) and its like leave alone; 0: none. Atomic. */
extern int ktr__wait_without;

/* What stands before the C library's. Where programs are led here that began without us: on to the C library's. */
int ktr__wait_sigwait(const sigset_t *set, int *number);
int ktr__wait_sigwaitinfo(const sigset_t *set, siginfo_t *info);
int ktr__wait_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);

#endif
