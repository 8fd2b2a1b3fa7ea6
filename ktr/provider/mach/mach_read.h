/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading of events by the program itself, as fork sees it. */
#ifndef KTR_MACH_READ_H
#define KTR_MACH_READ_H

/* Nobody reads in between. Taken before the lock of mach.h. */
void ktr__mach_read_hold(void);
void ktr__mach_read_release(void);

#endif
