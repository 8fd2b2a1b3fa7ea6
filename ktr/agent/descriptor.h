/* SPDX-License-Identifier: BSD-2-Clause */
/* The one descriptor that a program has of ours. */
#ifndef KTR_AGENT_DESCRIPTOR_H
#define KTR_AGENT_DESCRIPTOR_H

/* Once: from here on the session's descriptor has a high number, in forked children too. */
void ktr__descriptor_start(void);

#endif
