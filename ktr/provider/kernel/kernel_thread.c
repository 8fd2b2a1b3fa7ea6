/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads of the kernel's events. A thread that records has made its row itself; for others one is made
 * here and marked (KTR_THREAD_FED), so that the thread takes it over when it records its first event
 * (ktr/record/thread.c). Rows that appear later replace what was known of their tid: tids are reused.
 */
#include "ktr/provider/kernel/kernel_thread.h"

#include "ktr/session/clock.h"
#include "ktr/session/kernel.h"
#include "ktr/session/session_rw.h"
#include "ktr/session/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ktr_thread_row *thread_rows(const struct ktr__kernel_threads *threads)
{
	return ktr__region_rows(threads->session, thread, struct ktr_thread_row);
}

/*
 * How many rows of threads there are, made present for this process: the number may be a peer's. In a sandbox no
 * memory is asked for, those rows are there that were.
 */
static uint32_t thread_n(struct ktr__kernel_threads *threads)
{
	struct ktr__session_rw *session = threads->session;
	const struct ktr_region *region = &session->header.region[KTR_REGION_thread];
	uint32_t n = __atomic_load_n(&session->control->n_threads, __ATOMIC_SEQ_CST), there = threads->n_present;

	if (n > region->n_rows)
		n = region->n_rows;
	if (n <= there || session->sealed)
		return n;
	if (!ktr__session_touch(session, KTR_REGION_thread, there * (uint64_t)region->row_bytes,
				(n - there) * (uint64_t)region->row_bytes))
		return there;
	threads->n_present = n;
	return n;
}

/* The tid's slot, or the free one where it belongs. */
static struct ktr__kernel_thread *thread_slot(const struct ktr__kernel_threads *threads, uint32_t tid)
{
	uint32_t at = tid * 2654435761u; /* 2^32 / golden ratio */

	while (threads->slot[at & (threads->n_slots - 1)].tid &&
	       threads->slot[at & (threads->n_slots - 1)].tid != tid)
		at++;
	return &threads->slot[at & (threads->n_slots - 1)];
}

static bool thread_room(struct ktr__kernel_threads *threads)
{
	struct ktr__kernel_threads grown = *threads;

	if (2 * (threads->n_used + 1) <= threads->n_slots)
		return true;
	grown.n_slots = threads->n_slots ? 2 * threads->n_slots : 64;
	grown.slot = calloc(grown.n_slots, sizeof(*grown.slot));
	if (!grown.slot)
		return false;
	for (uint32_t i = 0; i < threads->n_slots; i++)
		if (threads->slot[i].tid)
			*thread_slot(&grown, threads->slot[i].tid) = threads->slot[i];
	free(threads->slot);
	*threads = grown;
	return true;
}

static void thread_put(struct ktr__kernel_threads *threads, uint32_t tid, uint32_t row)
{
	struct ktr__kernel_thread *slot;

	if (!thread_room(threads))
		return;
	slot = thread_slot(threads, tid);
	threads->n_used += !slot->tid;
	*slot = (struct ktr__kernel_thread){ tid, row };
}

void ktr__kernel_thread_look(struct ktr__kernel_threads *threads)
{
	const struct ktr_thread_row *rows = thread_rows(threads);
	uint32_t n = thread_n(threads);

	threads->n_looked = n;
	for (uint32_t i = threads->n_seen ? threads->n_seen : 1; i < n; i++) {
		uint32_t state = __atomic_load_n(&rows[i].state, __ATOMIC_ACQUIRE);
		uint32_t tid = __atomic_load_n(&rows[i].tid, __ATOMIC_RELAXED); /* once: 0 is no key */

		if (state == KTR_ROW_READY && tid)
			thread_put(threads, tid, i);
		if (state >= KTR_ROW_READY && i == threads->n_seen + !threads->n_seen)
			threads->n_seen = i + 1;
	}
}

uint32_t ktr__kernel_events_n_procs(const struct ktr__session_rw *session)
{
	const struct ktr_region *region = &session->header.region[KTR_REGION_proc];
	uint32_t n = __atomic_load_n(&session->control->n_procs, __ATOMIC_ACQUIRE);

	if (n > region->n_rows)
		n = region->n_rows;
	if (!session->sealed && !ktr__session_touch(session, KTR_REGION_proc, 0, n * (uint64_t)region->row_bytes))
		return 0; /* so many nobody has made */
	return n;
}

/* The live process of the session with this pid; 0: none. */
static uint32_t thread_proc(const struct ktr__session_rw *session, uint32_t pid)
{
	const struct ktr_proc_row *rows = ktr__region_rows(session, proc, struct ktr_proc_row);

	for (uint32_t i = ktr__kernel_events_n_procs(session); i-- > 1;)
		if (rows[i].pid == pid && __atomic_load_n(&rows[i].state, __ATOMIC_ACQUIRE) >= KTR_ROW_READY)
			return i;
	return 0;
}

void ktr__kernel_thread_name(struct ktr__kernel_threads *threads, uint32_t row, const char *name)
{
	struct ktr_thread_row *at = thread_rows(threads) + row;

	if (!row || __atomic_load_n(&at->fed, __ATOMIC_RELAXED) != KTR_THREAD_FED)
		return;
	snprintf(at->name, sizeof(at->name), "%.15s", name);
}

/* A row that the thread of this one has made for itself: ours is given up, unless the thread has taken it. */
static bool thread_own(struct ktr__kernel_threads *threads, uint32_t made, uint32_t *own)
{
	struct ktr_thread_row *rows = thread_rows(threads);
	uint32_t n = thread_n(threads), fed = KTR_THREAD_FED;

	for (uint32_t i = threads->n_seen ? threads->n_seen : 1; i < n; i++) {
		if (i == made || rows[i].tid != rows[made].tid || rows[i].pid != rows[made].pid ||
		    __atomic_load_n(&rows[i].state, __ATOMIC_SEQ_CST) != KTR_ROW_READY)
			continue;
		if (!__atomic_compare_exchange_n(&rows[made].fed, &fed, 0, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			return false;
		__atomic_store_n(&rows[made].state, KTR_ROW_FREE, __ATOMIC_RELEASE);
		*own = i;
		return true;
	}
	return false;
}

static uint32_t thread_make(struct ktr__kernel_threads *threads, uint32_t proc, uint32_t pid, uint32_t tid,
			    uint64_t ns)
{
	struct ktr__session_rw *session = threads->session;
	uint32_t index = ktr__session_row(session, &session->control->n_threads, KTR_REGION_thread);
	struct ktr_thread_row *row = thread_rows(threads) + index;
	char path[64], name[32];
	uint32_t own;
	size_t n;

	if (!index)
		return 0;
	row->proc = proc;
	row->tid = tid;
	row->pid = pid;
	row->start_ns = ns;
	row->start_ticks = ktr__clock_now(session->header.clock);
	memcpy(row->name, ktr__region_rows(session, proc, struct ktr_proc_row)[proc].name, sizeof(row->name) - 1);
	row->fed = KTR_THREAD_FED;
	__atomic_store_n(&row->state, KTR_ROW_READY, __ATOMIC_SEQ_CST);
	/* There to be taken over at once; its name may wait. The thread may have made one in the meantime. */
	if (thread_own(threads, index, &own))
		return own;
	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	n = ktr__kernel_text(path, name, sizeof(name));
	name[n ? n - 1 : 0] = '\0'; /* its newline */
	if (n)
		ktr__kernel_thread_name(threads, index, name);
	return index;
}

uint32_t ktr__kernel_thread(struct ktr__kernel_threads *threads, uint32_t pid, uint32_t tid, uint64_t ns)
{
	const struct ktr__kernel_thread *slot;
	uint32_t proc, row;

	if (!thread_room(threads))
		return 0;
	slot = thread_slot(threads, tid);
	/* Each round has looked: what a thread has published since is found after making a row for it, too. */
	if ((!slot->tid || !slot->row) && thread_n(threads) != threads->n_looked) {
		ktr__kernel_thread_look(threads);
		slot = thread_slot(threads, tid);
	}
	if (slot->tid && slot->row && thread_rows(threads)[slot->row].pid == pid)
		return slot->row;
	proc = thread_proc(threads->session, pid);
	row = proc ? thread_make(threads, proc, pid, tid, ns) : 0;
	if (row)
		thread_put(threads, tid, row);
	return row;
}

void ktr__kernel_thread_end(struct ktr__kernel_threads *threads, uint32_t tid, uint32_t row, uint64_t ns)
{
	struct ktr_thread_row *at = thread_rows(threads) + row;
	uint32_t fed = KTR_THREAD_FED;

	thread_put(threads, tid, 0);
	if (!row || !__atomic_compare_exchange_n(&at->fed, &fed, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	at->exit_ns = ns;
	__atomic_store_n(&at->state, KTR_ROW_GONE, __ATOMIC_RELEASE);
}

bool ktr__kernel_thread_is_ours(uint32_t pid, uint32_t tid)
{
	char path[64], name[32];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	return ktr__kernel_text(path, name, sizeof(name)) && strncmp(name, "ktr-", 4) == 0;
}

size_t ktr__kernel_thread_ident(const struct ktr__session_rw *session, uint32_t row, char *text, size_t size)
{
	const struct ktr_thread_row *thread = ktr__region_rows(session, thread, struct ktr_thread_row) + row;
	int n = snprintf(text, size, "%.15s (%u)", thread->name, thread->tid);

	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}
