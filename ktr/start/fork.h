/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens to the session of a process that forks. */
#ifndef KTR_FORK_H
#define KTR_FORK_H

void ktr__fork_start(void); /* once, when there is a session: handlers of pthread_atfork(3) */

#endif
