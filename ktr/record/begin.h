/* SPDX-License-Identifier: BSD-2-Clause */
/* A process begins to record into its session: when it starts, and as the child of another. */
#ifndef KTR_BEGIN_H
#define KTR_BEGIN_H

#include <stdbool.h>

struct ktr__self;

/* Fills ktr__rec and ktr__hot from ktr__own and ktr__rec.rseq_offset. 0 or -errno. */
int ktr__begin(void);

/* A child of fork(2) becomes a process of its own in its parent's session; fd: of ktr__session_again(), or -1. */
void ktr__begin_child(int fd);

/* The calling thread is another one since it forked. */
void ktr__begin_forked(struct ktr__self *self);

/* A thread is between the handlers of fork(3); NULL: none is. */
void ktr__begin_forking(const struct ktr__self *self);

/*
 * An event finds struct ktr__hot empty. True: this is a child that nobody told of, it is a process of the
 * session now, and the event may be recorded. Async-signal-safe.
 */
bool ktr__begin_adopt(void);

#endif
