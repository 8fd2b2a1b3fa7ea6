/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Feeds what the kernel tells of the traced threads (perf.h) into the session's kernel rings, as
 * events of the classes kswitch and kfault, in the session's clock. From there on they are events like
 * any others: drains, live readers and snapshots find them, and they survive a crash.
 *
 * A session has one feeder, ktr_control.feeder: the writer thread of a process, or `ktr record`. While
 * nothing of it is wanted (debug.ktr.kernel, and its class in the mask) no descriptor is open.
 */
#ifndef WRITER_KERNEL_EVENTS_H
#define WRITER_KERNEL_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct ktr__session_rw;
struct ktr__kernel_events;

/*
 * session is borrowed, mapped to be written. all: threads of every live process in it, not only our own
 * process's; those whose processes come later are found once a second. say may be NULL. NULL: no memory.
 */
struct ktr__kernel_events *ktr__kernel_events_new(struct ktr__session_rw *session, bool all,
				void (*say)(void *context, const char *line), void *context);
void ktr__kernel_events_free(struct ktr__kernel_events *kernel);

/* Takes what there is. Lowers *pause_ns to when there may be too much to wait longer. */
void ktr__kernel_events_round(struct ktr__kernel_events *kernel, uint64_t *pause_ns);

/* True: somebody asks for events of the kernel. */
bool ktr__kernel_events_wanted(const struct ktr__session_rw *session);

#endif
