/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that begins takes a place, asks the opener for an event, and waits until it has one, for a moment at
 * most: it uses no CPU time meanwhile, so that none goes by without samples.
 *
 * Its first sample is to come at a random place in its first period, so that threads which live for less than one
 * have their share; the kernel can only count down from one number again and again. So such a thread has two
 * events: one that tells once, after that time, and one that tells at the end of each period. Samples of the second
 * stand for what is due since the first, a period each.
 *
 * A thread's place is its number's remainder, taken by compare-and-swap, as in ktr/provider/timer/threads.c. Who
 * changes its state from something to NOBODY lets it go. Then the opener may be about it, and the thread may wait
 * yet: the last of them frees the place.
 *
 *	job	none, adopted -> asked (by who asks) -> opening -> done, failed (the opener)
 *		-> adopted (by who reads)
 *		any -> gone (by who lets it go); it is the opener's to free if it was opening
 *	waits	0 -> 1 (who waits) -> 0; 1 -> 2: whom it waits for frees nothing, it does
 */
#include "ktr/provider/profile/followed.h"

#include "ktr/provider/profile/opener.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLLOWED_N	 65536u	    /* places */
#define FOLLOWED_WAIT_NS 10000000   /* at most, by a thread of the program's */
#define FOLLOWED_ADD_NS	 1000000000 /* by ours */

enum followed_job { JOB_NONE, JOB_ASKED, JOB_OPENING, JOB_DONE, JOB_FAILED, JOB_ADOPTED, JOB_GONE };

static struct ktr__followed *followed_at;	 /* [FOLLOWED_N], a mapping */
static uint64_t followed_taken[FOLLOWED_N / 64]; /* a bit for each place that is taken; atomic */
static uint64_t followed_asked[FOLLOWED_N / 64]; /* and whose job is asked for */
static struct ktr__followed_ask followed_ask;
static uint64_t followed_since_ns; /* CLOCK_MONOTONIC */
static uint32_t followed_on;	   /* atomic */

static uint64_t followed_clock(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t ktr__followed_cpu_ns(uint32_t tid)
{
	return followed_clock((clockid_t)(~tid << 3 | 6)); /* include/linux/posix-timers_types.h */
}

/* A number that is as good as random: a splitmix64 of what differs. */
static uint64_t followed_random(uint64_t seed)
{
	seed += 0x9e3779b97f4a7c15ull;
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ull;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111ebull;
	return seed ^ seed >> 31;
}

/* ---- places ---- */

static struct ktr__followed *followed_place(uint32_t tid)
{
	struct ktr__followed *at = __atomic_load_n(&followed_at, __ATOMIC_ACQUIRE);

	return at ? &at[tid % FOLLOWED_N] : NULL;
}

static void followed_free(struct ktr__followed *thread)
{
	uint32_t place = (uint32_t)(thread - followed_at);

	ktr__task_event_close(&thread->first);
	ktr__task_event_close(&thread->event);
	ktr__task_event_close(&thread->next_first);
	ktr__task_event_close(&thread->next);
	__atomic_store_n(&thread->job, JOB_NONE, __ATOMIC_RELAXED);
	__atomic_store_n(&thread->waits, 0, __ATOMIC_RELAXED);
	__atomic_fetch_and(&followed_taken[place / 64], ~(1ull << place % 64), __ATOMIC_RELAXED);
	__atomic_store_n(&thread->tid, 0, __ATOMIC_RELEASE);
}

/* Of one that is nobody's: unless who waits does it. */
static void followed_put(struct ktr__followed *thread)
{
	if (__atomic_exchange_n(&thread->waits, 2, __ATOMIC_ACQ_REL) != 1)
		followed_free(thread);
}

/* NULL: it is taken, by whom *whose says. */
static struct ktr__followed *followed_take(uint32_t tid, uint32_t *whose)
{
	struct ktr__followed *thread = followed_place(tid);

	*whose = 0;
	if (!thread ||
	    !__atomic_compare_exchange_n(&thread->tid, whose, tid, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return NULL;
	__atomic_fetch_or(&followed_taken[tid % FOLLOWED_N / 64], 1ull << tid % 64, __ATOMIC_RELAXED);
	thread->n_told = thread->n_due = 0;
	thread->n_short = 0;
	thread->is_wide = false;
	thread->cpu = 0;
	thread->name[0] = '\0';
	thread->end_ns = 0;
	__atomic_store_n(&thread->waits, 1, __ATOMIC_RELAXED);
	return thread;
}

void ktr__followed_let_go(struct ktr__followed *thread)
{
	if (__atomic_exchange_n(&thread->state, KTR__FOLLOWED_NOBODY, __ATOMIC_SEQ_CST) == KTR__FOLLOWED_NOBODY)
		return;
	if (__atomic_exchange_n(&thread->job, JOB_GONE, __ATOMIC_ACQ_REL) != JOB_OPENING)
		followed_put(thread);
}

bool ktr__followed_has(uint32_t tid)
{
	const struct ktr__followed *thread = followed_place(tid);

	return thread && __atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE) == tid;
}

/* ---- jobs ---- */

/* idle: what its job is until then; otherwise it is under way, or has been let go. */
static void followed_job(struct ktr__followed *thread, uint32_t idle, uint64_t first_ns, bool wide)
{
	uint32_t place = (uint32_t)(thread - followed_at);

	if (__atomic_load_n(&thread->job, __ATOMIC_ACQUIRE) != idle)
		return;
	thread->job_first_ns = first_ns;
	thread->job_wide = wide;
	if (!__atomic_compare_exchange_n(&thread->job, &idle, JOB_ASKED, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	__atomic_fetch_or(&followed_asked[place / 64], 1ull << place % 64, __ATOMIC_SEQ_CST);
	ktr__opener_wake();
}

static int followed_open(struct ktr__followed *thread)
{
	const struct ktr__followed_ask *ask = &followed_ask;
	struct ktr__task_event_ask event = {
		.tid = thread->tid,
		.period_ns = ask->period_ns,
		.clock = ask->clock,
		.stack_bytes = thread->job_wide ? ask->wide_stack_bytes : ask->stack_bytes,
		.ring_bytes = thread->job_wide ? ask->wide_ring_bytes : ask->ring_bytes,
	};
	int code = ktr__opener_may() ? ktr__task_event_open(&thread->next, &event) : -EPERM;

	if (code || !thread->job_first_ns)
		return code;
	/* Without it the first sample is one that was due and did not come. */
	event.once = true;
	event.period_ns = thread->job_first_ns;
	ktr__task_event_open(&thread->next_first, &event);
	return 0;
}

static void followed_serve_one(struct ktr__followed *thread)
{
	uint32_t was = JOB_ASKED;

	if (!__atomic_compare_exchange_n(&thread->job, &was, JOB_OPENING, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	thread->code = followed_open(thread);
	was = JOB_OPENING;
	if (!__atomic_compare_exchange_n(&thread->job, &was, thread->code ? JOB_FAILED : JOB_DONE, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		followed_put(thread);
	/* Whoever waits there now may be another one, who looks again. */
	syscall(SYS_futex, &thread->job, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void followed_serve(void)
{
	for (uint32_t i = 0; i < FOLLOWED_N / 64; i++) {
		uint64_t asked = 0;

		if (__atomic_load_n(&followed_asked[i], __ATOMIC_SEQ_CST))
			asked = __atomic_exchange_n(&followed_asked[i], 0, __ATOMIC_SEQ_CST);
		for (; asked; asked &= asked - 1)
			followed_serve_one(&followed_at[i * 64 + (uint32_t)__builtin_ctzll(asked)]);
	}
}

/* Until its job is done, or so long. What has become of it. */
static uint32_t followed_wait(struct ktr__followed *thread, uint64_t ns)
{
	uint64_t now = followed_clock(CLOCK_MONOTONIC), end = now + ns;
	uint32_t job;

	for (;;) {
		struct timespec time = { (time_t)((end - now) / 1000000000u), (long)((end - now) % 1000000000u) };

		job = __atomic_load_n(&thread->job, __ATOMIC_ACQUIRE);
		if (job != JOB_ASKED && job != JOB_OPENING)
			return job;
		syscall(SYS_futex, &thread->job, FUTEX_WAIT_PRIVATE, job, &time, NULL, 0);
		now = followed_clock(CLOCK_MONOTONIC);
		if (now >= end)
			return __atomic_load_n(&thread->job, __ATOMIC_ACQUIRE);
	}
}

/* True: it was in that state. */
static bool followed_change(struct ktr__followed *thread, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&thread->state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* One that has been taken begins. 0 or -errno: it has no event. */
static int followed_begin(struct ktr__followed *thread, uint64_t first_ns, uint64_t wait_ns)
{
	uint32_t job;
	int code = 0;

	__atomic_store_n(&thread->state, KTR__FOLLOWED_THERE, __ATOMIC_SEQ_CST);
	/* Switched off meanwhile: it is let go by us, or by who did that. */
	if (!__atomic_load_n(&followed_on, __ATOMIC_SEQ_CST))
		ktr__followed_let_go(thread);
	followed_job(thread, JOB_NONE, first_ns, false);
	job = followed_wait(thread, wait_ns);
	if (job == JOB_FAILED) {
		code = thread->code;
		/* Who reads leaves it to us while we wait. */
		if (code == -ESRCH)
			ktr__followed_let_go(thread);
		else
			followed_change(thread, KTR__FOLLOWED_THERE, KTR__FOLLOWED_REFUSED);
	} else if (job == JOB_GONE || job == JOB_NONE) {
		code = -ESRCH;
	}
	if (__atomic_exchange_n(&thread->waits, 0, __ATOMIC_ACQ_REL) == 2)
		followed_free(thread);
	return code;
}

/* ---- threads ---- */

int ktr__followed_arm(void)
{
	uint32_t tid = (uint32_t)gettid(), whose;
	struct ktr__followed *thread;
	uint64_t after_ns;

	if (!__atomic_load_n(&followed_on, __ATOMIC_ACQUIRE) || !ktr__opener_runs())
		return -ESRCH;
	thread = followed_take(tid, &whose);
	if (!thread)
		return whose == tid ? -EEXIST : -EBUSY;
	after_ns = 1 + followed_random(tid + followed_clock(CLOCK_MONOTONIC)) % followed_ask.period_ns;
	thread->first_ns = followed_clock(CLOCK_THREAD_CPUTIME_ID) + after_ns;
	return followed_begin(thread, after_ns, FOLLOWED_WAIT_NS);
}

int ktr__followed_add(uint32_t tid, bool late)
{
	struct ktr__followed *thread;
	uint32_t whose;
	uint64_t now;
	int code;

	if (!__atomic_load_n(&followed_on, __ATOMIC_ACQUIRE) || !ktr__opener_runs())
		return 0;
	thread = followed_take(tid, &whose);
	if (!thread)
		return whose == tid ? -EEXIST : -EBUSY;
	now = ktr__followed_cpu_ns(tid);
	/* One that had none for want of one may be older than that. */
	late = late && now < followed_clock(CLOCK_MONOTONIC) - followed_since_ns;
	thread->first_ns = (late ? 0 : now) + 1 + followed_random(tid + followed_since_ns) % followed_ask.period_ns;
	code = followed_begin(thread, 0, FOLLOWED_ADD_NS);
	return code == -ESRCH ? 0 : code;
}

bool ktr__followed_disarm(void)
{
	uint32_t tid = (uint32_t)gettid();
	struct ktr__followed *thread = followed_place(tid);

	if (!thread || __atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE) != tid)
		return false;
	prctl(PR_GET_NAME, thread->name);
	thread->end_cpu_ns = followed_clock(CLOCK_THREAD_CPUTIME_ID);
	thread->end_ns = followed_clock(followed_ask.clock);
	if (followed_change(thread, KTR__FOLLOWED_THERE, KTR__FOLLOWED_ENDED))
		return true;
	if (__atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == KTR__FOLLOWED_REFUSED)
		ktr__followed_let_go(thread);
	return false;
}

/* ---- who reads ---- */

void ktr__followed_each(void (*call)(struct ktr__followed *thread, uint32_t state))
{
	for (uint32_t i = 0; followed_at && i < FOLLOWED_N / 64; i++) {
		uint64_t taken = __atomic_load_n(&followed_taken[i], __ATOMIC_RELAXED);

		for (; taken; taken &= taken - 1) {
			struct ktr__followed *thread = &followed_at[i * 64 + (uint32_t)__builtin_ctzll(taken)];
			uint32_t state = __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE);

			if (state != KTR__FOLLOWED_NOBODY)
				call(thread, state);
		}
	}
}

int ktr__followed_adopt(struct ktr__followed *thread)
{
	uint32_t job = __atomic_load_n(&thread->job, __ATOMIC_ACQUIRE);
	int code = thread->code;

	/* Who waits yet lets it go. */
	if (job != JOB_DONE && (job != JOB_FAILED || __atomic_load_n(&thread->waits, __ATOMIC_ACQUIRE)))
		return 0;
	if (job == JOB_DONE) {
		ktr__task_event_close(&thread->event);
		thread->event = thread->next;
		thread->next.map = NULL;
		if (thread->job_first_ns) {
			thread->first = thread->next_first;
			thread->next_first.map = NULL;
		}
	}
	__atomic_compare_exchange_n(&thread->job, &job, JOB_ADOPTED, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	return code;
}

void ktr__followed_widen(struct ktr__followed *thread)
{
	thread->is_wide = true;
	followed_job(thread, JOB_ADOPTED, 0, true);
}

void ktr__followed_went(struct ktr__followed *thread)
{
	ktr__task_event_close(&thread->first);
}

/* One that ends meanwhile tells the rest itself. */
bool ktr__followed_refuse(struct ktr__followed *thread)
{
	return followed_change(thread, KTR__FOLLOWED_THERE, KTR__FOLLOWED_REFUSED);
}

/* ---- life ---- */

/* The opener tries it on itself. */
static int followed_try(void)
{
	struct ktr__task_event_ask event = { .period_ns = followed_ask.period_ns,
					.clock = followed_ask.clock,
					.stack_bytes = followed_ask.stack_bytes,
					.ring_bytes = followed_ask.ring_bytes };
	struct ktr__task_event try;
	int code = ktr__task_event_open(&try, &event);

	ktr__task_event_close(&try);
	return code;
}

int ktr__followed_start(const struct ktr__followed_ask *ask, struct ktr_error *why)
{
	const struct ktr__opener_work work = { followed_try, followed_serve, "perf_event_open(2)", ask->n_filters };
	int code;

	if (!followed_at) {
		void *at = mmap(NULL, FOLLOWED_N * sizeof(*followed_at), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (at == MAP_FAILED)
			return ktr_error_set(why, errno, "no memory");
		__atomic_store_n(&followed_at, at, __ATOMIC_RELEASE);
	}
	followed_ask = *ask;
	code = ktr__opener_start(&work, why);
	if (code)
		return code;
	followed_since_ns = followed_clock(CLOCK_MONOTONIC);
	__atomic_store_n(&followed_on, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static void followed_stop_one(struct ktr__followed *thread, uint32_t state)
{
	(void)state;
	ktr__followed_let_go(thread);
}

void ktr__followed_stop(void)
{
	__atomic_store_n(&followed_on, 0, __ATOMIC_SEQ_CST);
	ktr__opener_stop();
	ktr__followed_each(followed_stop_one);
}

void ktr__followed_forked(void)
{
	__atomic_store_n(&followed_on, 0, __ATOMIC_SEQ_CST);
	if (followed_at)
		madvise(followed_at, FOLLOWED_N * sizeof(*followed_at), MADV_DONTNEED);
	memset(followed_taken, 0, sizeof(followed_taken));
	memset(followed_asked, 0, sizeof(followed_asked));
	ktr__task_event_forked();
	ktr__opener_forked();
}
