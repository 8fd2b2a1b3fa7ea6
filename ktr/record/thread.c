/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads: their rows, and their ends.
 *
 * A thread gets its row with its first event, which may come from a signal handler, so registration
 * uses system calls and atomics only. The pthread key whose destructor sees the thread's end is set with
 * pthread_setspecific(3); glibc and musl store the first 32 keys in the thread's own control block, so
 * that this neither allocates nor locks. Where our key is not one of those, ends of threads are not
 * seen, and nothing else changes.
 *
 * A handler that interrupts its thread's registration registers the thread too; the row that was begun
 * first is then given up, and stays unused.
 */
#include "ktr/record/thread.h"

#include "ktr/load/writer_hook.h"
#include "ktr/record/own.h"
#include "ktr/record/proc.h"
#include "ktr/record/ring.h"
#include "ktr/session/clock.h"
#include "ktr/session/kernel.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

#define THREAD_KEY_INLINE 32 /* PTHREAD_KEY_2NDLEVEL_SIZE of glibc's nptl */

static pthread_key_t thread_key;
static bool thread_key_made, thread_key_usable;

/*
 * The number of the calling thread without asking the kernel: the C library knows it, and writes it into a mutex
 * that checks for errors (glibc: struct __pthread_mutex_s.__owner, bits/struct_mutex.h). 0: another C library. The
 * mutex is ours alone, so nothing here waits.
 */
uint32_t ktr__thread_unasked(void)
{
#if defined(__GLIBC__)
	pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	uint32_t tid;

	pthread_mutex_lock(&mutex);
	tid = (uint32_t)mutex.__data.__owner;
	pthread_mutex_unlock(&mutex);
	return tid;
#else
	return 0;
#endif
}

static uint32_t thread_tid(void)
{
	return ktr__own.sealed ? ktr__thread_unasked() : (uint32_t)gettid();
}

static struct ktr_thread_row *thread_row(uint32_t row)
{
	return ktr__region_rows(&ktr__own, thread, struct ktr_thread_row) + row;
}

/*
 * The thread's name, where nobody else writes to; given: not by the kernel. A thread in a sandbox has, as it seems,
 * that of its process: names are passed on.
 */
static void thread_name(uint32_t given, struct ktr_thread_row *row, char name[16])
{
	if (!given && !ktr__own.sealed)
		prctl(PR_GET_NAME, row->name);
	else if (!row->name[0])
		memcpy(row->name, ktr__proc_name, sizeof(row->name));
	memcpy(name, row->name, 15);
	name[15] = '\0';
}

/* The row that ktr/provider/kernel/kernel_thread.c has made for this thread, taken over; 0 where there is none. */
static uint32_t thread_fed(uint32_t tid)
{
	uint32_t n = __atomic_load_n(&ktr__own.control->n_threads, __ATOMIC_SEQ_CST);

	if (!__atomic_load_n(&ktr__own.control->feeder, __ATOMIC_RELAXED) ||
	    n > ktr__own.header.region[KTR_REGION_thread].n_rows)
		return 0;
	while (n-- > 1) {
		struct ktr_thread_row *row = ktr__session_at(&ktr__own, KTR_REGION_thread, n);
		uint32_t fed = KTR_THREAD_FED;

		if (row && row->tid == tid && row->pid == ktr__rec.pid &&
		    __atomic_load_n(&row->state, __ATOMIC_ACQUIRE) == KTR_ROW_READY &&
		    __atomic_compare_exchange_n(&row->fed, &fed, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return n;
	}
	return 0;
}

/*
 * A handler of a signal may fork anywhere in here, and the child come back into the middle of it: row and number
 * are its parent's, who goes on with them. The child stores nothing else there than its parent, and begins anew.
 */
void ktr__thread_register(struct ktr__self *self)
{
	uint32_t forks = __atomic_load_n(&self->forks, __ATOMIC_ACQUIRE); /* first: a handler may come after */
	uint32_t proc = ktr__rec.proc, pid = ktr__rec.pid;
	uint32_t tid = thread_tid(), index = tid ? thread_fed(tid) : 0, none = 0, fed;
	struct ktr_thread_row *row;
	char name[16];

	if (!index && tid)
		index = ktr__table_row(&ktr__own.control->n_threads, KTR_REGION_thread);
	if (!index) {
		ktr__count_drop(&ktr__own.control->drop_no_thread);
		return;
	}
	row = thread_row(index);
	row->proc = proc;
	row->tid = tid;
	row->pid = pid;
	if (!row->start_ns) {
		row->start_ns = ktr__proc_now_ns();
		row->start_ticks = ktr__clock_now(ktr__rec.clock);
	}
	thread_name(0, row, name);
	__atomic_store_n(&row->state, KTR_ROW_READY, __ATOMIC_SEQ_CST);
	/* Made at the same time by both: the other one looks after publishing its row, too. One takes it. */
	fed = thread_fed(tid);
	if (fed) {
		__atomic_store_n(&row->state, KTR_ROW_FREE, __ATOMIC_RELEASE);
		index = fed;
		row = thread_row(index);
	}
	/* One instruction, so that a handler comes before it or after it. */
	if (!__atomic_compare_exchange_n(&self->row, &none, index, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
		if (self->forks == forks)
			__atomic_store_n(&row->state, KTR_ROW_FREE, __ATOMIC_RELEASE);
		return;
	}
	if (unlikely(__atomic_load_n(&self->forks, __ATOMIC_RELAXED) != forks)) {
		__atomic_compare_exchange_n(&self->row, &index, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		if (!self->row)
			ktr__thread_register(self);
		return;
	}
	if (thread_key_usable)
		pthread_setspecific(thread_key, self);
	/* One level deep: this event finds the thread registered. */
	CTR2(KTR_PROC, "thread %d started: %s", tid, name);
}

static void thread_end_row(struct ktr__self *self)
{
	struct ktr_thread_row *row = thread_row(self->row);
	char name[16];

	if (row->exit_ns)
		return;
	thread_name(row->named, row, name);
	CTR2(KTR_PROC, "thread %d exits: %s", row->tid, name);
	row->exit_ns = ktr__proc_now_ns();
	__atomic_store_n(&row->state, KTR_ROW_GONE, __ATOMIC_RELEASE);
}

/*
 * The end of a thread. Destructors of other keys may still trace, and on the thread path take a ring
 * again; setting the key anew makes the C library call this once more, as often as it does that. What the
 * writer does about the last thread of a process comes last.
 */
static void thread_end(void *value)
{
	struct ktr__self *self = value;

	if (!ktr__rec.path)
		return;
	if (self->row) {
		thread_end_row(self);
		ktr__ring_release(self);
	}
	if (++self->n_ends < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(thread_key, self);
	else if (!ktr__own.sealed)
		ktr__writer_thread_end();
}

/* Of the main thread, which need not ever record, the end is to be seen too: writer/last.c. */
void ktr__thread_mark(void)
{
	if (thread_key_made)
		pthread_setspecific(thread_key, &ktr__self);
}

void ktr__threads_start(void)
{
	thread_key_made = pthread_key_create(&thread_key, thread_end) == 0;
	thread_key_usable = thread_key_made && thread_key < THREAD_KEY_INLINE;
	ktr__thread_mark();
}

int ktr__vfork_failed(int code)
{
	errno = code;
	return -1;
}
