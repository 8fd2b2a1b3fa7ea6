/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of each sample the kernel copies the registers and a piece of the stack; the frames are found in that copy by
 * the tables of what is loaded (unwind.h), by who reads. The kernel's own way, by frame pointers, would end in the
 * first function that has none, which most of what is installed has not.
 *
 * The kernel's clock of a thread's time is that of the wall while the thread is on a CPU: where a hypervisor or
 * interrupts took of that, more samples come than the thread's CPU time has periods. Those are left out, one by one
 * as they come; what is due and did not come is told when the thread ends. So the sum is the thread's CPU time.
 *
 * All but threads' beginnings and ends is done by who feeds, one at a time.
 */
#include "ktr/provider/profile/source.h"

#include "ktr/control/kernel_ring.h"
#include "ktr/provider/kernel/kernel_events.h"
#include "ktr/provider/profile/followed.h"
#include "ktr/provider/profile/maps.h"
#include "ktr/provider/profile/tell.h"
#include "ktr/provider/profile/unwind.h"
#include "ktr/provider/registry/rows.h"
#include "ktr/provider/timer/threads.h"
#include "ktr/record/own.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOURCE_STACK  8192u  /* [bytes] of a sample: thirty frames or so of what is usual */
#define SOURCE_WIDE   32768u /* [bytes] of a thread whose stacks have gone on beyond that */
#define SOURCE_SHORT  2	     /* so often */
#define SOURCE_RECORD (SOURCE_STACK + 96u)
#define SOURCE_RING   (512u << 10) /* [bytes] of a thread, at most */
#define SOURCE_MS     50 /* between two rounds, at most: fewer cost less, and a killed program loses one */
#define SOURCE_SHARED 20 /* [ms] the writer's thread does them where there is so much time between two */
#define SOURCE_LOOK   100 /* [ms] between two looks at whether it does, at most */
#define SOURCE_YOUNG  16 /* [samples] of a thread: its time is told to the sample until then */
#define SOURCE_NEWS   64 /* threads that the kernel has told of, and that may tell of themselves yet */

static struct ktr__kernel_events *source_events;
static pid_t source_pid; /* who switched it on */
static int (*source_otherwise)(uint32_t tid, bool late, const struct ktr__ticks_told *told);
static bool source_its_end;
static uint32_t source_strange;  /* atomic */
static unsigned source_ms;	/* between two rounds */
static unsigned source_look_ms; /* between two looks at whether another thread does them */
static uint64_t source_from_ns, source_until_ns; /* of this round: after that, up to that */
static bool source_is_shared; /* it did when it was looked last */

static uint32_t source_news[SOURCE_NEWS];
static unsigned source_n_news, source_n_old_news;

static bool source_has_refused; /* threads that can have no event, or none any more, in this round */
static int source_refused_code; /* of the first thread that had none. Atomic */

/* ---- records ---- */

/* The kernel's, in its order. */
struct source_sample {
	uint64_t ns;
	uint32_t cpu, reserved;
	uint64_t abi; /* 0: no registers, and no stack */
	uint64_t bp, sp, pc;
	uint64_t n_stack;
	char stack[]; /* then how many of them there were */
};

struct source_fork { /* and the end of a thread */
	uint32_t pid, ppid, tid, ptid;
};

static void source_sample(struct ktr__followed *thread, const struct perf_event_header *header, bool is_surplus)
{
	const struct source_sample *sample = (const void *)(header + 1);
	bool in_kernel = (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL, strange = false;
	size_t size = header->size - sizeof(*header);
	struct ktr__frames frames = { .word = 0 };
	uint64_t n = 0;

	if (size < offsetof(struct source_sample, bp))
		return;
	thread->cpu = sample->cpu;
	if (is_surplus)
		return;
	if (ktr__tell_is_wanted() && sample->abi && size >= sizeof(*sample) + sizeof(n) &&
	    sample->n_stack <= size - sizeof(*sample) - sizeof(n)) {
		const struct ktr__here at = { sample->pc, sample->sp, sample->bp };

		if (sample->n_stack)
			memcpy(&n, sample->stack + sample->n_stack, sizeof(n));
		ktr__unwind_copy(&frames, &at, sample->stack, n <= sample->n_stack ? n : 0, &strange);
		thread->n_short += n == sample->n_stack && frames.word & KTR_PAYLOAD_CUT &&
				   frames.word % KTR_PAYLOAD_CUT < KTR_STACK_MAX * 8;
		/* Something has been loaded; or it is code that no file has: once a second. */
		if (strange && !__atomic_exchange_n(&source_strange, 1, __ATOMIC_RELAXED))
			ktr__rows_wake();
	}
	ktr__tell_ticks(thread, sample->ns, 1, in_kernel ? ktr__tell_kernel : ktr__tell_user, &frames);
}

/* The time of a record: that of a sample is its first word, others have it before their CPU, at the end. */
static uint64_t source_record_ns(const struct perf_event_header *header)
{
	const uint64_t *words = (const void *)header;

	return header->type == PERF_RECORD_SAMPLE ? words[1] : words[header->size / 8 - 2];
}

static void source_new(uint32_t tid)
{
	if (source_n_news < SOURCE_NEWS)
		source_news[source_n_news++] = tid;
}

static uint64_t source_due_left(struct ktr__followed *thread)
{
	uint64_t due, cpu_ns = ktr__followed_cpu_ns(thread->tid);

	thread->is_over = !cpu_ns || __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == KTR__FOLLOWED_ENDED;
	if (thread->is_over) /* as it says, or nobody knows */
		cpu_ns = thread->end_ns ? thread->end_cpu_ns : UINT64_MAX / 2;
	due = ktr__followed_due(thread, cpu_ns) + (!thread->is_over && thread->n_told >= SOURCE_YOUNG);
	return due > thread->n_told ? due - thread->n_told : 0;
}

/*
 * A sample at the end of a period is the one that is due in the next one. In a thread that has run for a few only
 * it stays where it is until that has come, or the thread is over, so that none has more than it has run.
 */
static bool source_waits(const struct ktr__followed *thread, const struct perf_event_header *header, uint64_t left,
			 bool is_last)
{
	return header->type == PERF_RECORD_SAMPLE && !left && is_last && !thread->is_over &&
	       thread->n_told < SOURCE_YOUNG;
}

/* left: samples that are due to it yet. True: the thread has ended. */
static bool source_record(struct ktr__followed *thread, const struct perf_event_header *header, uint64_t *left)
{
	const struct source_fork *fork = (const void *)(header + 1);
	const struct ktr__frames none = { .word = 0 };
	const char *body = (const char *)(header + 1);
	uint64_t ns = source_record_ns(header), n_lost;

	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		source_sample(thread, header, !*left);
		*left -= *left > 0;
		break;
	case PERF_RECORD_LOST: /* id, number */
		memcpy(&n_lost, body + 8, sizeof(n_lost));
		n_lost = n_lost < *left ? n_lost : *left;
		if (n_lost)
			ktr__tell_ticks(thread, ns, n_lost, ktr__tell_lost, &none);
		*left -= n_lost;
		break;
	case PERF_RECORD_COMM:
		/* It lies in the ring of who has set the name. */
		if (!(header->misc & PERF_RECORD_MISC_COMM_EXEC) &&
		    memcmp(body + 4, &thread->tid, sizeof(thread->tid)) == 0)
			ktr__tell_name(thread, body + 8, strnlen(body + 8, 16), ns);
		break;
	case PERF_RECORD_FORK:
		if (fork->pid == fork->ppid && fork->tid != fork->pid)
			source_new(fork->tid);
		break;
	case PERF_RECORD_EXIT:
		return fork->tid == thread->tid;
	}
	return false;
}

/* The next record up to the moment, in one piece; NULL: there is none. */
static const struct perf_event_header *source_next(const struct ktr__task_event *event, uint64_t tail,
						   uint64_t head)
{
	static _Alignas(8) char whole[65536];
	const char *data = (const char *)event->map + 4096;
	uint64_t from = tail & (event->bytes - 1), first = event->bytes - from;
	const struct perf_event_header *header = (const void *)(data + from);

	if (head - tail < sizeof(*header) || header->size < sizeof(*header) + 8 || header->size % 8 ||
	    header->size > head - tail)
		return NULL; /* the kernel does not do that */
	if (header->size > first) {
		memcpy(whole, data + from, first);
		memcpy(whole + first, data, header->size - first);
		header = (const void *)whole;
	}
	return source_record_ns(header) <= source_until_ns ? header : NULL;
}

/* True: the thread has ended, by what the kernel says. */
static bool source_read(struct ktr__followed *thread, const struct ktr__task_event *event, bool *had_sample)
{
	struct perf_event_mmap_page *map = event->map;
	const struct perf_event_header *header;
	uint64_t left = UINT64_MAX, tail, head;
	bool ended = false;

	*had_sample = false;
	if (!map)
		return false;
	tail = map->data_tail;
	head = __atomic_load_n(&map->data_head, __ATOMIC_ACQUIRE);
	while (tail != head && (header = source_next(event, tail, head)) != NULL) {
		if (left == UINT64_MAX)
			left = source_due_left(thread);
		if (source_waits(thread, header, left, head - tail == header->size))
			break;
		*had_sample |= header->type == PERF_RECORD_SAMPLE;
		ended |= source_record(thread, header, &left);
		tail += header->size;
	}
	__atomic_store_n(&map->data_tail, tail, __ATOMIC_RELEASE);
	return ended;
}

static bool source_is_over(struct ktr__followed *thread)
{
	source_due_left(thread);
	return thread->is_over;
}

/* Is there a sample of an event up to the moment? */
static bool source_has_sample(const struct ktr__task_event *event)
{
	const struct perf_event_header *header;
	uint64_t tail, head;

	if (!event->map)
		return false;
	tail = event->map->data_tail;
	head = __atomic_load_n(&event->map->data_head, __ATOMIC_ACQUIRE);
	for (; tail != head && (header = source_next(event, tail, head)) != NULL; tail += header->size)
		if (header->type == PERF_RECORD_SAMPLE)
			return true;
	return false;
}

/* The first sample of a thread that has begun. */
static void source_read_first(struct ktr__followed *thread)
{
	bool is_done = false;

	if (!thread->first.map)
		return;
	if (thread->first_may_wait && source_has_sample(&thread->event)) {
		is_done = true;
	} else if (!thread->first_may_wait || source_is_over(thread)) {
		source_read(thread, &thread->first, &is_done);
	}
	if (is_done)
		ktr__followed_went(thread);
}

static void source_ended(struct ktr__followed *thread)
{
	ktr__tell_ends(thread, source_until_ns);
	ktr__followed_let_go(thread);
}

/* It can have no event: what was due to it by now is told, and somebody else takes it. */
static void source_refuse(struct ktr__followed *thread, int code)
{
	if (code == -ESRCH) {
		ktr__followed_gone(thread);
		return;
	}
	/* First, for from then on it may end, and its place be another one's. */
	ktr__tell_missing(thread, ktr__followed_cpu_ns(thread->tid), source_until_ns);
	if (!ktr__followed_refuse(thread))
		return;
	ktr__source_refused(code);
	source_has_refused = true;
}

/* A moment, or the nearest one that nothing later has been told of. */
static uint64_t source_within(uint64_t ns)
{
	ns = ns > source_from_ns ? ns : source_from_ns;
	return ns < source_until_ns ? ns : source_until_ns;
}

/* What there is of it; -errno: what was asked for cannot be had. True: it has ended. */
static bool source_read_all(struct ktr__followed *thread, int *code)
{
	bool had_sample, ended;

	/* Its first events, before they are read; others after the one before. */
	*code = thread->event.map ? 0 : ktr__followed_adopt(thread);
	ktr__tell_late(thread, source_within(thread->late_ns));
	source_read_first(thread);
	ended = source_read(thread, &thread->event, &had_sample);
	*code = *code ? *code : ktr__followed_adopt(thread);
	return ended;
}

static void source_thread(struct ktr__followed *thread, uint32_t state)
{
	bool ended;
	int code;

	if (state == KTR__FOLLOWED_REFUSED) {
		/* It was to have a timer, and has none: nobody else tells. */
		if (source_its_end && !ktr__profile_has(thread->tid))
			ktr__tell_missing(thread, ktr__followed_cpu_ns(thread->tid), source_until_ns);
		return;
	}
	ended = source_read_all(thread, &code);
	if (state == KTR__FOLLOWED_ENDED && (thread->end_ns <= source_until_ns || source_its_end)) {
		ktr__tell_missing(thread, thread->end_cpu_ns,
				  thread->end_ns < source_until_ns ? thread->end_ns : source_until_ns);
		/* Its place is its own until nobody can find it any more, and take it for one that has nothing. */
		if (ended || source_its_end || !ktr__followed_cpu_ns(thread->tid))
			source_ended(thread);
	} else if (ended && state != KTR__FOLLOWED_ENDED) {
		source_ended(thread);
	} else if (source_its_end) {
		ktr__tell_missing(thread, ktr__followed_cpu_ns(thread->tid), source_until_ns);
	} else if (code && !thread->event.map) {
		source_refuse(thread, code);
	} else if (thread->n_short >= SOURCE_SHORT && !thread->is_wide) {
		ktr__followed_widen(thread);
	} else if (thread->event.user_only && state == KTR__FOLLOWED_THERE) {
		ktr__tell_in_kernel(thread, source_until_ns);
	}
}

/* One that has nothing yet. */
static void source_add(uint32_t tid, bool late)
{
	int code;

	if (ktr__followed_has(tid) || ktr__profile_has(tid) || ktr__profile_is_ours(tid))
		return;
	code = ktr__followed_add(tid, late);
	if (!code || code == -EEXIST)
		return;
	ktr__source_refused(code);
	source_otherwise(tid, late, NULL);
}

/* Threads that the kernel has told of in the round before, and that have not told of themselves. */
static void source_take_news(void)
{
	for (unsigned i = 0; i < source_n_old_news; i++)
		source_add(source_news[i], true);
	memmove(source_news, source_news + source_n_old_news,
		(source_n_news - source_n_old_news) * sizeof(source_news[0]));
	source_n_news -= source_n_old_news;
	source_n_old_news = source_n_news;
}

/* One that was refused has something else from now on; or has ended past us, or what it had instead has gone. */
static void source_instead(struct ktr__followed *thread, uint32_t state)
{
	uint32_t tid = thread->tid;
	struct ktr__ticks_told told;

	if (state != KTR__FOLLOWED_REFUSED)
		return;
	if (!ktr__followed_cpu_ns(tid))
		ktr__followed_let_go(thread);
	else if (!ktr__profile_has(tid) && ktr__followed_told(thread, tid, &told))
		source_otherwise(tid, false, &told);
}

static void source_take_refused(void)
{
	if (source_has_refused)
		ktr__followed_each(source_instead);
	source_has_refused = false;
}

static const struct ktr__kernel_entry *source_take(uint64_t until_ns, size_t *n)
{
	ktr__tell_round(source_its_end);
	*n = 0;
	if (ktr__own.sealed)
		return NULL;
	source_from_ns = source_until_ns;
	source_until_ns = until_ns;
	ktr__maps_enter();
	ktr__followed_each(source_thread);
	ktr__maps_leave();
	source_take_news();
	source_take_refused();
	return ktr__tell_all(n);
}

/* ---- life ---- */

static struct ktr__kernel_also source_also = { .take = source_take };

/* Room for what comes in two rounds. */
static size_t source_ring_bytes(uint64_t period_ns)
{
	size_t bytes = 65536, wanted = (2 + 2 * SOURCE_MS * 1000000ull / period_ns) * SOURCE_RECORD;

	while (bytes < wanted && bytes < SOURCE_RING)
		bytes *= 2;
	return bytes;
}

/* A ring is half full at most when it is read; three quarters, where the writer's thread was to do that. */
static void source_set_pause(uint64_t period_ns, size_t ring_bytes)
{
	uint64_t ms = ring_bytes / SOURCE_RECORD / 2 * period_ns / 1000000, look_ms = ms + ms / 2;

	source_ms = ms < 1 ? 1 : ms > SOURCE_MS ? SOURCE_MS : (unsigned)ms;
	source_look_ms = source_ms;
	source_also.pause_ns = source_ms >= SOURCE_SHARED ? source_ms * 1000000ull : 0;
	/* A part of what it is looked at budgets by (ktr/provider/registry/budget.h): so it wakes up for both. */
	if (source_also.pause_ns)
		source_look_ms = SOURCE_LOOK / (unsigned)((SOURCE_LOOK + look_ms - 1) / look_ms);
}

static void source_scan(bool late)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *at;

	while (dir && (at = readdir(dir)) != NULL) {
		uint32_t tid = (uint32_t)strtoul(at->d_name, NULL, 10);

		if (tid)
			source_add(tid, late);
	}
	if (dir)
		closedir(dir);
}

int ktr__source_start(const struct ktr__source_ask *asked, struct ktr_error *why)
{
	struct ktr__followed_ask ask = { .period_ns = asked->period_ns,
					 .clock = ktr__kernel_events_clock(&ktr__own),
					 .stack_bytes = SOURCE_STACK,
					 .wide_stack_bytes = SOURCE_WIDE,
					 .ring_bytes = source_ring_bytes(asked->period_ns),
					 .n_filters = asked->n_filters };
	int code = ktr__kernel_open(&ktr__own, why);

	if (code)
		return code;
	ask.wide_ring_bytes = ask.ring_bytes * (SOURCE_WIDE / SOURCE_STACK);
	code = ktr__followed_start(&ask, why);
	if (code)
		return code;
	source_otherwise = asked->otherwise;
	__atomic_store_n(&source_refused_code, 0, __ATOMIC_RELAXED);
	source_set_pause(asked->period_ns, ask.ring_bytes);
	source_events = ktr__kernel_events_new(&ktr__own, false, NULL, NULL);
	code = source_events ? ktr__kernel_events_lead(source_events, &source_also) : -ENOMEM;
	if (code) {
		ktr__followed_stop();
		ktr__kernel_events_free(source_events);
		source_events = NULL;
		return code == -EBUSY ?
			       ktr_error_set(why, EALREADY, "another process puts the kernel's events into the session") :
			       ktr_error_set(why, ENOMEM, "no memory");
	}
	source_pid = getpid();
	ktr__tell_begin(asked->probe, asked->period_ns);
	source_scan(false);
	ktr__followed_settle();
	return 0;
}

/* A child of a fork that the C library does not know of has none of the rings. */
bool ktr__source_is_on(void)
{
	return ktr__tell_is_on() && source_pid == getpid();
}

void ktr__source_stop(void)
{
	ktr__source_round(true);
	ktr__tell_end();
	ktr__kernel_events_unlead();
	ktr__followed_stop();
	ktr__kernel_events_free(source_events);
	source_events = NULL;
}

void ktr__source_refused(int code)
{
	int none = 0;

	__atomic_compare_exchange_n(&source_refused_code, &none, code, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

int ktr__source_first_refused(void)
{
	return __atomic_load_n(&source_refused_code, __ATOMIC_RELAXED);
}

bool ktr__source_thread_begins(void)
{
	int code = ktr__source_is_on() ? ktr__followed_arm() : -ESRCH;

	if (code && code != -EEXIST && code != -ESRCH)
		ktr__source_refused(code);
	return !code || code == -EEXIST;
}

enum ktr__followed_end ktr__source_thread_ends(struct ktr__ticks_told *told)
{
	return ktr__followed_disarm(told);
}

void ktr__source_scan(void)
{
	ktr__followed_retry();
	ktr__followed_each(source_instead);
	source_scan(true);
}

/* By the writer's thread. There is none, or it is busy writing, where they do not come in time. */
static bool source_is_served(void)
{
	return source_also.pause_ns && ktr__kernel_events_since_ns(source_events) < source_also.pause_ns;
}

void ktr__source_round(bool its_end)
{
	uint64_t pause_ns = UINT64_MAX;

	if (!ktr__source_is_on() || ktr__own.sealed)
		return;
	source_is_shared = !its_end && source_is_served();
	if (source_is_shared)
		return;
	source_its_end = its_end;
	ktr__kernel_events_round(source_events, &pause_ns);
	source_its_end = false;
}

unsigned ktr__source_pause_ms(void)
{
	return source_is_shared ? source_look_ms : source_ms;
}

bool ktr__source_is_strange(void)
{
	return __atomic_load_n(&source_strange, __ATOMIC_RELAXED);
}

bool ktr__source_was_strange(void)
{
	return __atomic_exchange_n(&source_strange, 0, __ATOMIC_RELAXED);
}

bool ktr__source_forked(void)
{
	if (!ktr__tell_end())
		return false;
	source_events = NULL;
	ktr__tell_forked();
	ktr__kernel_events_forked();
	ktr__followed_forked();
	return true;
}
