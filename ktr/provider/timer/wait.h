/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that wait for all signals there are do not get ours. */
#ifndef KTR_TIMER_WAIT_H
#define KTR_TIMER_WAIT_H

/* The signal that sigwait(3) and its like leave alone; 0: none. Atomic. */
extern int ktr__wait_without;

#endif
