/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that begins takes a place, asks the opener for an event, and goes on. What it runs before it has one is
 * known: the opener reads its CPU clock when it has opened the event, and what was due by then is told as missed
 * (n_late), at that time: before what it is seen to do.
 *
 * Its first sample is to come at a random place in its first period, so that threads which live for less than one
 * have their share; the kernel can only count down from one number again and again. So a thread that begins has
 * two events: one that tells once, when that is due, and one that tells at the end of each period. Samples of the
 * latter stand for what is due next to them: where the first is due in the first half of a period, for what is due
 * a moment later; where it is due in the second half, for what was due a moment before, and the first is for a
 * thread that ends sooner (first_may_wait). Were it always the former, beginnings would have more than their share.
 *
 * A thread's place is its number's remainder, taken by compare-and-swap, as in ktr/provider/timer/threads.c. Number
 * and state are one word, so that a thread which ends while another one takes it in says so (LEFT), and its time is
 * told. Who changes its state from something to NOBODY lets it go; if the opener is about it, that frees the place.
 *
 *	job	none, adopted -> asked (by who asks) -> opening -> done, failed (the opener)
 *		-> adopted (by who reads)
 *		any -> gone (by who lets it go); it is the opener's to free if it was opening
 */
#include "ktr/provider/profile/followed.h"

#include "ktr/provider/profile/opener.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FOLLOWED_N	   65536u     /* places */
#define FOLLOWED_SETTLE_NS 1000000000 /* at most */

enum followed_job { JOB_NONE, JOB_ASKED, JOB_OPENING, JOB_DONE, JOB_FAILED, JOB_ADOPTED, JOB_GONE };

static struct ktr__followed *followed_at;	 /* [FOLLOWED_N], a mapping */
static uint64_t followed_taken[FOLLOWED_N / 64]; /* a bit for each place that is taken; atomic */
static uint64_t followed_asked[FOLLOWED_N / 64]; /* and whose job is asked for */
static struct ktr__followed_ask followed_ask;
static uint64_t followed_since_ns; /* CLOCK_MONOTONIC */
static uint32_t followed_on;	   /* atomic */
static int followed_refuses;	   /* why threads that begin have none now; 0: they try. Atomic */

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

/* As it was before somebody took it, for a thread may end before who takes it in has written anything. */
static void followed_free(struct ktr__followed *thread)
{
	uint32_t place = (uint32_t)(thread - followed_at);

	if (thread->event.map || thread->next.map)
		ktr__followed_retry();
	ktr__task_event_close(&thread->first);
	ktr__task_event_close(&thread->event);
	ktr__task_event_close(&thread->next_first);
	ktr__task_event_close(&thread->next);
	thread->n_told = thread->n_due = thread->n_late = 0;
	thread->n_short = 0;
	thread->is_over = thread->is_wide = false;
	thread->cpu = 0;
	thread->name[0] = '\0';
	thread->end_ns = 0;
	thread->code = 0;
	__atomic_store_n(&thread->job, JOB_NONE, __ATOMIC_RELAXED);
	__atomic_fetch_and(&followed_taken[place / 64], ~(1ull << place % 64), __ATOMIC_RELAXED);
	__atomic_store_n(&thread->who, 0, __ATOMIC_RELEASE);
}

/* NULL: it is taken, by whom *whose says. */
static struct ktr__followed *followed_take(uint32_t tid, uint32_t *whose)
{
	struct ktr__followed *thread = followed_place(tid);
	uint64_t who = 0, taken = (uint64_t)KTR__FOLLOWED_TAKEN << 32 | tid;

	if (thread && __atomic_compare_exchange_n(&thread->who, &who, taken, false, __ATOMIC_ACQ_REL,
						  __ATOMIC_ACQUIRE)) {
		__atomic_fetch_or(&followed_taken[tid % FOLLOWED_N / 64], 1ull << tid % 64, __ATOMIC_RELAXED);
		return thread;
	}
	*whose = (uint32_t)who;
	return NULL;
}

/* Of one that is nobody's any more. */
static void followed_put(struct ktr__followed *thread)
{
	if (__atomic_exchange_n(&thread->job, JOB_GONE, __ATOMIC_ACQ_REL) != JOB_OPENING)
		followed_free(thread);
}

/* True: it was in that state. */
static bool followed_change(struct ktr__followed *thread, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&thread->state, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

void ktr__followed_let_go(struct ktr__followed *thread)
{
	if (__atomic_exchange_n(&thread->state, KTR__FOLLOWED_NOBODY, __ATOMIC_SEQ_CST) != KTR__FOLLOWED_NOBODY)
		followed_put(thread);
}

void ktr__followed_gone(struct ktr__followed *thread)
{
	if (followed_change(thread, KTR__FOLLOWED_THERE, KTR__FOLLOWED_NOBODY))
		followed_put(thread);
}

bool ktr__followed_has(uint32_t tid)
{
	const struct ktr__followed *thread = followed_place(tid);

	return thread && __atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE) == tid;
}

/* ---- jobs ---- */

static void followed_ask_opener(const struct ktr__followed *thread)
{
	uint32_t place = (uint32_t)(thread - followed_at);

	__atomic_fetch_or(&followed_asked[place / 64], 1ull << place % 64, __ATOMIC_SEQ_CST);
	ktr__opener_wake();
}

uint64_t ktr__followed_due(const struct ktr__followed *thread, uint64_t cpu_ns)
{
	return cpu_ns < thread->first_ns ? 0 : (cpu_ns - thread->first_ns) / followed_ask.period_ns + 1;
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
	uint64_t cpu_ns, n_late;

	if (code || thread->job_wide)
		return code;
	/* To open it may take a while, in which the thread runs. */
	cpu_ns = ktr__followed_cpu_ns(thread->tid);
	thread->late_ns = followed_clock(ask->clock);
	thread->n_late = n_late = ktr__followed_due(thread, cpu_ns);
	if (!thread->job_begins)
		return 0;
	/* Without it the first sample is one that was due and did not come. */
	event.once = true;
	event.period_ns = thread->first_ns + n_late * ask->period_ns - cpu_ns;
	thread->first_may_wait = event.period_ns > ask->period_ns / 2;
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
	if (thread->code && thread->code != -ESRCH && !thread->job_wide)
		__atomic_store_n(&followed_refuses, thread->code, __ATOMIC_RELAXED);
	was = JOB_OPENING;
	if (!__atomic_compare_exchange_n(&thread->job, &was, thread->code ? JOB_FAILED : JOB_DONE, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		followed_free(thread);
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

/* One that has been taken begins. */
static void followed_begin(struct ktr__followed *thread, bool begins)
{
	thread->job_begins = begins;
	thread->job_wide = false;
	__atomic_store_n(&thread->job, JOB_ASKED, __ATOMIC_RELEASE);
	if (!followed_change(thread, KTR__FOLLOWED_TAKEN, KTR__FOLLOWED_THERE))
		__atomic_store_n(&thread->state, KTR__FOLLOWED_ENDED, __ATOMIC_SEQ_CST);
	/* Switched off meanwhile: it is let go by us, or by who did that. */
	if (!__atomic_load_n(&followed_on, __ATOMIC_SEQ_CST))
		ktr__followed_let_go(thread);
	else
		followed_ask_opener(thread);
}

/* ---- threads ---- */

int ktr__followed_arm(void)
{
	uint32_t tid = (uint32_t)gettid(), whose = 0;
	int refuses = __atomic_load_n(&followed_refuses, __ATOMIC_RELAXED), cpu = sched_getcpu();
	struct ktr__followed *thread;

	if (!__atomic_load_n(&followed_on, __ATOMIC_ACQUIRE) || !ktr__opener_runs())
		return -ESRCH;
	if (refuses)
		return refuses;
	thread = followed_take(tid, &whose);
	if (!thread)
		return whose == tid ? -EEXIST : -EBUSY;
	thread->cpu = cpu < 0 ? 0 : (uint32_t)cpu;
	thread->first_ns = followed_clock(CLOCK_THREAD_CPUTIME_ID) + 1 +
			   followed_random(tid + followed_clock(CLOCK_MONOTONIC)) % followed_ask.period_ns;
	followed_begin(thread, true);
	return 0;
}

int ktr__followed_add(uint32_t tid, bool late)
{
	uint64_t now = ktr__followed_cpu_ns(tid);
	struct ktr__followed *thread;
	uint32_t whose = 0;

	/* It may have ended. */
	if (!now || !__atomic_load_n(&followed_on, __ATOMIC_ACQUIRE) || !ktr__opener_runs())
		return 0;
	thread = followed_take(tid, &whose);
	if (!thread)
		return whose == tid ? -EEXIST : -EBUSY;
	/* One that had none for want of one may be older than that. */
	late = late && now < followed_clock(CLOCK_MONOTONIC) - followed_since_ns;
	thread->first_ns = (late ? 0 : now) + 1 + followed_random(tid + followed_since_ns) % followed_ask.period_ns;
	followed_begin(thread, false);
	return 0;
}

void ktr__followed_settle(void)
{
	ktr__opener_wait(FOLLOWED_SETTLE_NS);
}

void ktr__followed_retry(void)
{
	__atomic_store_n(&followed_refuses, 0, __ATOMIC_RELAXED);
}

bool ktr__followed_told(const struct ktr__followed *thread, uint32_t tid, struct ktr__ticks_told *told)
{
	*told = (struct ktr__ticks_told){ thread->first_ns, thread->n_told };
	return __atomic_load_n(&thread->who, __ATOMIC_ACQUIRE) == ((uint64_t)KTR__FOLLOWED_REFUSED << 32 | tid);
}

enum ktr__followed_end ktr__followed_disarm(struct ktr__ticks_told *told)
{
	uint32_t tid = (uint32_t)gettid();
	struct ktr__followed *thread = followed_place(tid);

	if (!thread || __atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE) != tid)
		return KTR__FOLLOWED_STRANGER;
	prctl(PR_GET_NAME, thread->name);
	thread->end_cpu_ns = followed_clock(CLOCK_THREAD_CPUTIME_ID);
	thread->end_ns = followed_clock(followed_ask.clock);
	if (followed_change(thread, KTR__FOLLOWED_TAKEN, KTR__FOLLOWED_LEFT) ||
	    followed_change(thread, KTR__FOLLOWED_THERE, KTR__FOLLOWED_ENDED))
		return KTR__FOLLOWED_IS_TOLD;
	if (__atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) != KTR__FOLLOWED_REFUSED)
		return KTR__FOLLOWED_STRANGER;
	ktr__followed_told(thread, tid, told);
	ktr__followed_let_go(thread);
	return KTR__FOLLOWED_WAS_REFUSED;
}

/* ---- who reads ---- */

void ktr__followed_each(void (*call)(struct ktr__followed *thread, uint32_t state))
{
	for (uint32_t i = 0; followed_at && i < FOLLOWED_N / 64; i++) {
		uint64_t taken = __atomic_load_n(&followed_taken[i], __ATOMIC_RELAXED);

		for (; taken; taken &= taken - 1) {
			struct ktr__followed *thread = &followed_at[i * 64 + (uint32_t)__builtin_ctzll(taken)];
			uint32_t state = __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE);

			if (state >= KTR__FOLLOWED_THERE)
				call(thread, state);
		}
	}
}

int ktr__followed_adopt(struct ktr__followed *thread)
{
	uint32_t job = __atomic_load_n(&thread->job, __ATOMIC_ACQUIRE);
	int code = thread->code;

	if (job != JOB_DONE && job != JOB_FAILED)
		return 0;
	if (job == JOB_DONE) {
		ktr__task_event_close(&thread->event);
		thread->event = thread->next;
		thread->next.map = NULL;
		if (!thread->job_wide) {
			thread->first = thread->next_first;
			thread->next_first.map = NULL;
		}
	}
	__atomic_compare_exchange_n(&thread->job, &job, JOB_ADOPTED, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	return code;
}

void ktr__followed_widen(struct ktr__followed *thread)
{
	/* Otherwise what was asked for is under way. */
	if (__atomic_load_n(&thread->job, __ATOMIC_ACQUIRE) != JOB_ADOPTED)
		return;
	thread->is_wide = thread->job_wide = true;
	__atomic_store_n(&thread->job, JOB_ASKED, __ATOMIC_RELEASE);
	followed_ask_opener(thread);
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
	ktr__followed_retry();
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
