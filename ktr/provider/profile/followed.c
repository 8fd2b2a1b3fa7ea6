/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An event stays as long as its ring is mapped, so no descriptor is kept: a host that closes all of them takes none
 * of ours, and finds none. Rings are no child's after fork(2).
 *
 * The first sample of a thread that has just begun is to come at a random place in its first period, so that
 * threads which live for less than one have their share; the kernel can only count down from one number again and
 * again. So such a thread's first event tells once, and who reads that gives it another one: what it runs until
 * then has no stack, but is counted.
 *
 * A thread's place is its number's remainder, taken by compare-and-swap, as in ktr/provider/timer/threads.c. Who
 * changes its state from something to NOBODY lets it go.
 */
#include "ktr/provider/profile/followed.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLLOWED_N 65536u /* places */
#define FOLLOWED_PAGE 4096ul
#define FOLLOWED_ROOMY (64ul << 20)  /* [bytes] of all rings: beyond it a further one is as small as can be */
#define FOLLOWED_MOST  (256ul << 20) /* [bytes] beyond it there is none */
#define FOLLOWED_REGISTERS (1u << 6 | 1u << 7 | 1u << 8) /* rbp, rsp, rip: enum perf_event_x86_regs */

static struct ktr__followed *followed_at;    /* [FOLLOWED_N], a mapping */
static uint64_t followed_taken[FOLLOWED_N / 64];    /* a bit for each place that is taken; atomic */
static struct ktr__followed_ask followed_ask;
static size_t followed_bytes;	   /* of all rings; atomic */
static uint64_t followed_since_ns; /* CLOCK_MONOTONIC */
static uint32_t followed_on;       /* atomic */

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

/* ---- events ---- */

/* tid 0: the calling thread. It does not count before it is told to. The descriptor or -errno. */
static int followed_open(const struct ktr__followed_ask *ask, uint32_t tid, uint64_t period_ns,
			 uint32_t stack_bytes)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = FOLLOWED_REGISTERS,
		.sample_stack_user = stack_bytes,
		.sample_id_all = 1,
		.disabled = 1,
		.comm = 1,
		.task = 1,
		.use_clockid = 1,
		.clockid = ask->clock,
		.exclude_hv = 1,
		.exclude_kernel = ask->user_only,
		.watermark = 1, /* nobody is woken */
		.wakeup_watermark = UINT32_MAX,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, (pid_t)tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Its ring; with less memory than was asked for where that is not to be had. 0 or -errno. */
static int followed_map(struct ktr__followed *thread, int fd, size_t bytes, size_t least)
{
	size_t all = __atomic_load_n(&followed_bytes, __ATOMIC_RELAXED);

	if (all + least > FOLLOWED_MOST)
		return -ENOMEM;
	if (all + bytes > FOLLOWED_ROOMY)
		bytes = least;
	for (; bytes >= least && bytes >= FOLLOWED_PAGE; bytes /= 2) {
		void *map = mmap(NULL, bytes + FOLLOWED_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (map == MAP_FAILED)
			continue;
		thread->map = map;
		thread->bytes = bytes;
		__atomic_fetch_add(&followed_bytes, bytes, __ATOMIC_RELAXED);
		return 0;
	}
	return errno ? -errno : -ENOMEM;
}

static void followed_unmap(struct ktr__followed *thread)
{
	if (!thread->map)
		return;
	munmap(thread->map, thread->bytes + FOLLOWED_PAGE);
	thread->map = NULL;
	__atomic_fetch_sub(&followed_bytes, thread->bytes, __ATOMIC_RELAXED);
}

/* The least that one sample has room in. */
static size_t followed_least(uint32_t stack_bytes)
{
	size_t bytes = FOLLOWED_PAGE;

	while (bytes < stack_bytes + 256)
		bytes *= 2;
	return bytes;
}

/* once: it tells one sample, after that time. 0 or -errno. */
static int followed_begin(const struct ktr__followed_ask *ask, struct ktr__followed *thread, uint32_t tid,
		      uint64_t period_ns, bool once)
{
	uint32_t stack_bytes = thread->is_wide ? ask->wide_stack_bytes : ask->stack_bytes;
	size_t bytes = thread->is_wide ? ask->wide_ring_bytes : ask->ring_bytes;
	size_t least = followed_least(stack_bytes);
	int fd = followed_open(ask, tid, period_ns, stack_bytes), code;

	if (fd < 0)
		return fd;
	code = followed_map(thread, fd, once ? 2 * least : bytes, least);
	if (!code && ioctl(fd, once ? PERF_EVENT_IOC_REFRESH : PERF_EVENT_IOC_ENABLE, once ? 1 : 0)) {
		code = -errno;
		followed_unmap(thread);
	}
	close(fd);
	return code;
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

	followed_unmap(thread);
	__atomic_fetch_and(&followed_taken[place / 64], ~(1ull << place % 64), __ATOMIC_RELAXED);
	__atomic_store_n(&thread->tid, 0, __ATOMIC_RELEASE);
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
	thread->n_short = 0;
	thread->is_wide = false;
	return thread;
}

/* From then on who reads has it. */
static int followed_publish(struct ktr__followed *thread, uint32_t state)
{
	thread->n_told = 0;
	thread->cpu = 0;
	thread->name[0] = '\0';
	thread->end_ns = 0;
	__atomic_store_n(&thread->state, state, __ATOMIC_SEQ_CST);
	/* Switched off meanwhile: it is let go by us, or by who did that. */
	if (!__atomic_load_n(&followed_on, __ATOMIC_SEQ_CST) &&
	    __atomic_compare_exchange_n(&thread->state, &state, KTR__FOLLOWED_NOBODY, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		followed_free(thread);
	return 0;
}

bool ktr__followed_has(uint32_t tid)
{
	const struct ktr__followed *thread = followed_place(tid);

	return thread && __atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE) == tid;
}

int ktr__followed_arm(void)
{
	uint32_t tid = (uint32_t)gettid(), whose;
	struct ktr__followed *thread;
	uint64_t after_ns;
	int code;

	if (!__atomic_load_n(&followed_on, __ATOMIC_ACQUIRE))
		return -ESRCH;
	thread = followed_take(tid, &whose);
	if (!thread)
		return whose == tid ? -EEXIST : -EBUSY;
	thread->fresh_ns = followed_clock(followed_ask.clock);
	after_ns = 1 + followed_random(tid + thread->fresh_ns) % followed_ask.period_ns;
	thread->first_ns = followed_clock(CLOCK_THREAD_CPUTIME_ID) + after_ns;
	code = followed_begin(&followed_ask, thread, 0, after_ns, true);
	if (!code)
		return followed_publish(thread, KTR__FOLLOWED_FRESH);
	followed_free(thread);
	return code;
}

int ktr__followed_add(uint32_t tid, bool late)
{
	struct ktr__followed *thread;
	uint32_t whose;
	uint64_t now;
	int code;

	if (!__atomic_load_n(&followed_on, __ATOMIC_ACQUIRE))
		return 0;
	thread = followed_take(tid, &whose);
	if (!thread)
		return whose == tid ? -EEXIST : -EBUSY;
	code = followed_begin(&followed_ask, thread, tid, followed_ask.period_ns, false);
	now = ktr__followed_cpu_ns(tid);
	/* One that had none for want of one may be older than that. */
	late = late && now < followed_clock(CLOCK_MONOTONIC) - followed_since_ns;
	thread->fresh_ns = 0;
	thread->first_ns = (late ? 0 : now) + 1 + followed_random(tid + followed_since_ns) % followed_ask.period_ns;
	if (!code)
		return followed_publish(thread, KTR__FOLLOWED_STEADY);
	followed_free(thread);
	return code == -ESRCH ? 0 : code;
}

void ktr__followed_disarm(void)
{
	uint32_t tid = (uint32_t)gettid(), state;
	struct ktr__followed *thread = followed_place(tid);

	if (!thread || __atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE) != tid)
		return;
	prctl(PR_GET_NAME, thread->name);
	thread->end_cpu_ns = followed_clock(CLOCK_THREAD_CPUTIME_ID);
	thread->end_ns = followed_clock(followed_ask.clock);
	state = __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE);
	while (state != KTR__FOLLOWED_NOBODY && state != KTR__FOLLOWED_ENDED &&
	       !__atomic_compare_exchange_n(&thread->state, &state, KTR__FOLLOWED_ENDED, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_ACQUIRE))
		;
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

/* Another event in the place of the one that it has. */
static void followed_again(struct ktr__followed *thread, bool is_wide)
{
	struct ktr__followed next = { .is_wide = is_wide };

	if (followed_begin(&followed_ask, &next, thread->tid, followed_ask.period_ns, false))
		return;
	followed_unmap(thread);
	thread->map = next.map;
	thread->bytes = next.bytes;
}

void ktr__followed_widen(struct ktr__followed *thread)
{
	thread->is_wide = true;
	followed_again(thread, true);
}

void ktr__followed_steady(struct ktr__followed *thread)
{
	uint32_t state = KTR__FOLLOWED_FRESH;

	followed_again(thread, false);
	__atomic_compare_exchange_n(&thread->state, &state, KTR__FOLLOWED_STEADY, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_ACQUIRE);
}

void ktr__followed_let_go(struct ktr__followed *thread)
{
	if (__atomic_exchange_n(&thread->state, KTR__FOLLOWED_NOBODY, __ATOMIC_ACQ_REL) != KTR__FOLLOWED_NOBODY)
		followed_free(thread);
}

int ktr__followed_start(struct ktr__followed_ask *ask)
{
	struct ktr__followed try = { .tid = 0 };
	int code;

	if (!followed_at) {
		void *at = mmap(NULL, FOLLOWED_N * sizeof(*followed_at), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (at == MAP_FAILED)
			return -errno;
		__atomic_store_n(&followed_at, at, __ATOMIC_RELEASE);
	}
	ask->user_only = false;
	code = followed_begin(ask, &try, 0, ask->period_ns, false);
	if (code == -EACCES || code == -EPERM) {
		ask->user_only = true;
		code = followed_begin(ask, &try, 0, ask->period_ns, false);
	}
	followed_unmap(&try);
	if (code)
		return code;
	followed_ask = *ask;
	followed_since_ns = followed_clock(CLOCK_MONOTONIC);
	__atomic_store_n(&followed_on, 1, __ATOMIC_SEQ_CST);
	return 0;
}

void ktr__followed_end_all(void)
{
	__atomic_store_n(&followed_on, 0, __ATOMIC_SEQ_CST);
}

void ktr__followed_forked(void)
{
	__atomic_store_n(&followed_on, 0, __ATOMIC_SEQ_CST);
	if (followed_at)
		madvise(followed_at, FOLLOWED_N * sizeof(*followed_at), MADV_DONTNEED);
	memset(followed_taken, 0, sizeof(followed_taken));
	__atomic_store_n(&followed_bytes, 0, __ATOMIC_RELAXED);
}
