/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Before a sandbox: a filter of system calls may kill whoever makes one that it does not know, and events ask the
 * kernel for a few things, each once: the first event of a thread for its number and name, the first one on a
 * CPU and the first one after a change of size for memory, the first one that is counted for access to the
 * counts. All of that is done here, ahead of time; after that what is not ready is dropped and counted.
 *
 * Each place that would ask looks at ktr__own.sealed. The row of the process in the session says so too, for
 * others must not change the size of rings then.
 */
#include "ktr/record/sandbox.h"

#include "ktr/control/rings.h"
#include "ktr/record/count.h"
#include "ktr/record/own.h"
#include "ktr/record/ring.h"
#include "ktr/record/thread.h"
#include "ktr/session/clock.h"
#include "ktr/session/cpu.h"

#include <ktr/ctl.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Threads that may begin to trace in the sandbox; those beyond are recorded without a name or number. */
#define SANDBOX_THREADS 4096

#define COUNT_PAGE_SITES 512 /* [sites] whose counts are in one page */

/* Two moments of the session's clock: when it began, and when the process was readied. */
static struct ktr_anchor sandbox_begin, sandbox_now;

uint64_t ktr__sandbox_now_ns(void)
{
	const struct ktr_anchor *from = &sandbox_begin, *to = &sandbox_now;
	uint64_t ticks = ktr__clock_now(ktr__rec.clock);

	/* Good to some microseconds after a day, and no event's time. */
	if (to->ticks != from->ticks && ticks > to->ticks)
		return to->mono_ns + (uint64_t)(int64_t)((double)(int64_t)(ticks - to->ticks) *
							 (double)(int64_t)(to->mono_ns - from->mono_ns) /
							 (double)(int64_t)(to->ticks - from->ticks));
	return to->mono_ns;
}

/* Rings of the CPUs that are online, or all of the pool. */
static int sandbox_rings(void)
{
	uint64_t online[KTR_CPU_MAX / 64];
	int code = ktr__rings_open(&ktr__own, 0, NULL);

	ktr__cpus_online(online);
	for (uint32_t i = 0; i < ktr__rec.n_rings && !code; i++) {
		if (ktr__rec.path == KTR_PATH_RSEQ && !(online[i / 64] >> i % 64 & 1))
			continue;
		code = ktr__ring_prepare(i);
		if (!code)
			code = ktr__ring_prepare(i + ktr__rec.n_rings);
	}
	return code;
}

/* The rows of threads to come. Returns up to where they are there. */
static uint32_t sandbox_threads(void)
{
	uint32_t n = ktr__own.control->n_threads, room = ktr__own.header.region[KTR_REGION_thread].n_rows;

	n = n < room - SANDBOX_THREADS ? n + SANDBOX_THREADS : room;
	return ktr__table_touch(KTR_REGION_thread, 0, n * sizeof(struct ktr_thread_row)) ? n : 0;
}

static int sandbox_process(void)
{
	uint32_t n_threads;
	int code = sandbox_rings();

	if (code)
		return code;
	n_threads = sandbox_threads();
	for (uint32_t i = 0; i < ktr__session_n_sites(&ktr__own); i += COUNT_PAGE_SITES)
		if (!ktr__counts(i))
			return -ENOSPC;
	if (!n_threads)
		return -ENOSPC;
	sandbox_begin = *ktr__region_rows(&ktr__own, anchor, struct ktr_anchor);
	ktr__clock_anchor(ktr__rec.clock, &sandbox_now);
	if (ktr__rec.proc)
		ktr__region_rows(&ktr__own, proc, struct ktr_proc_row)[ktr__rec.proc].sandboxed = 1;
	ktr__own_flush();
	__atomic_store_n(&ktr__own.sealed, n_threads, __ATOMIC_RELEASE);
	return 0;
}

int ktr_sandbox(void)
{
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	int saved = errno, code = 0;
	struct ktr_thread_row *row;

	if (!ktr__rec.path)
		return 0;
	if (ktr__thread_unasked() != (uint32_t)gettid())
		return -ENOSYS;
	if (!ktr__self.row)
		ktr__thread_register(&ktr__self);
	row = ktr__region_rows(&ktr__own, thread, struct ktr_thread_row) + ktr__self.row;
	if (ktr__self.row && !row->named)
		prctl(PR_GET_NAME, row->name);
	pthread_mutex_lock(&one_at_a_time);
	if (!ktr__own.sealed)
		code = sandbox_process();
	pthread_mutex_unlock(&one_at_a_time);
	errno = saved;
	return code;
}
