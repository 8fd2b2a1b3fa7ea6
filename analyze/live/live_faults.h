/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process's threads, or one of them, each time that one has had so many page faults: the kernel tells of them,
 * with registers and a part of the stack (perf_event_open(2), PERF_COUNT_SW_PAGE_FAULTS), and nothing is stopped.
 *
 * Samples go to the sink of struct ktr__live_rounds, whose rows they have; a round of theirs is the address that
 * the fault was at. Threads that are born later are followed, too. Faults in the kernel are told of where
 * kernel.perf_event_paranoid allows that, which is as a thread of the program's has them otherwise.
 */
#ifndef ANALYZE_LIVE_FAULTS_H
#define ANALYZE_LIVE_FAULTS_H

#include "analyze/live/live_rounds.h"

struct ktr__live_faults;

/*
 * For rounds->pid, rounds->tid, a sample in rounds->every faults of a thread. Owned; 0, or -errno with *out NULL:
 * -EACCES, -EPERM, -ENOSYS, the kernel does not tell; -EMFILE, each thread takes a descriptor for each CPU; -ESRCH;
 * -ENOTSUP, on this machine.
 */
int ktr__live_faults_open(const struct ktr__live_rounds *rounds, struct ktr__live_faults **out);
void ktr__live_faults_close(struct ktr__live_faults *faults);

/* Until the process or the thread has ended (-ESRCH), or the sink says so. 0 or -errno. */
int ktr__live_faults(struct ktr__live_faults *faults, struct ktr__live_rounds *rounds);

#endif
