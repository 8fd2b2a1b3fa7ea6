/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider profile: what threads do with their time. */
#ifndef KTR_PROFILE_H
#define KTR_PROFILE_H

/* Once; the session is there. */
void ktr__profile_begin(void);

#endif
