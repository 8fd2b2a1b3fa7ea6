/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace is handed over: from the writer of a process that ends to that of a child. */
#ifndef WRITER_HANDOVER_H
#define WRITER_HANDOVER_H

struct ktr__writer_thread;

/* The thread's wait for its trace. 0, or -errno: there is none to take over. */
int ktr__handover_wait(struct ktr__writer_thread *self);

/* Locked: the process ends, and whoever is about to take over a trace gets to do so first. */
void ktr__handover_await(void);

#endif
