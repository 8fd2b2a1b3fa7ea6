/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When processes and threads ended.
 *
 * One that ended cleanly says when. Of one that did not (_exit(2), a signal, exec(2)) it is known when it was
 * last seen alive and when it was found gone. It is taken to have ended with the last that is known of it: the
 * later of when it was last seen and of its latest event, as far as the walk has come. So ends are asked for when
 * the walk is over.
 */
#ifndef ANALYZE_ENDS_H
#define ANALYZE_ENDS_H

#include "analyze/read/tables.h"

/* After the last row: processes that have become others, and threads whose processes have ended. 0 or -ENOMEM. */
int ktr__ends_resolve(struct ktr__tables *tables);

/* [ns] When the thread ended, itself or with its process; 0: it had not, as far as is known. */
uint64_t ktr__ends_thread(const struct ktr_reader_thread *thread);

/* The same of the process that the thread is one of. */
uint64_t ktr__ends_process(const struct ktr_reader_thread *thread);

/* [ns] When it was found gone, where its end is not exact, or KTR__END_GONE; 0: its end is, or it lives. */
uint64_t ktr__ends_gone(const struct ktr_reader_thread *thread);

/* Is there a process of which no end is known? */
int ktr__ends_lives(const struct ktr__tables *tables);

/* The row as it may be written: tables hand out what is only to be read. */
static inline struct ktr__thread *ktr__ends_row(const struct ktr_reader_thread *thread)
{
	return (struct ktr__thread *)(uintptr_t)thread;
}

/* An event of the thread: what a walk calls. */
static inline void ktr__ends_see(const struct ktr_reader_thread *thread, uint64_t ns)
{
	struct ktr__thread *row = ktr__ends_row(thread);

	if (!row->is_vague)
		return;
	if (ns > row->end.last_ns)
		row->end.last_ns = ns;
	if (row->process && ns > row->process->end.last_ns)
		row->process->end.last_ns = ns;
}

#endif
