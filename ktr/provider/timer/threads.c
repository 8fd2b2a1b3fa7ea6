/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread's place is its number's remainder, taken by compare-and-swap: no lock, for threads begin and end within
 * whatever the program does, and may be asked for twice, by themselves and by the scan of /proc/self/task.
 *
 * The kernel looks at timers of CPU time once in its own tick (250 times a second, say), and tells by how many
 * periods it was late (si_overrun): what a signal stands for. A thread that never runs while the kernel looks gets
 * none before that; what is due is known from its clock, so what did not come is told when it ends.
 *
 * Timers are no child's after fork(2), and gone after execve(2), with their pending signals.
 */
#include "ktr/provider/timer/threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* places: the kernel's numbers are handed out in order, so those of one process differ in these */
#define THREADS_N 65536u

static struct ktr__profiled *threads_at;       /* [THREADS_N], a mapping */
static uint64_t threads_taken[THREADS_N / 64]; /* a bit for each place that is taken; atomic */
static int threads_signal;
static uint64_t threads_period_ns; /* 0: off. Atomic */
static uint64_t threads_since_ns;  /* CLOCK_MONOTONIC: when it was set */
static uint64_t threads_n_without; /* atomic */

static uint64_t threads_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The CPU clock of any thread of this process: see the kernel's include/linux/posix-timers_types.h. */
static clockid_t threads_clock(uint32_t tid)
{
	return (clockid_t)(~tid << 3 | 6);
}

/* A number that is as good as random: a splitmix64 of what differs. */
static uint64_t threads_random(uint64_t seed)
{
	seed += 0x9e3779b97f4a7c15ull;
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ull;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111ebull;
	return seed ^ seed >> 31;
}

static struct timespec threads_time(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
}

static void threads_timer_delete(struct ktr__profiled *thread)
{
	int32_t timer = __atomic_exchange_n(&thread->timer, 0, __ATOMIC_SEQ_CST);

	if (timer)
		syscall(SYS_timer_delete, timer - 1);
}

/* [ticks] due by that CPU time, where the first was due at first_ns. */
static uint64_t threads_due(uint64_t cpu_ns, uint64_t first_ns, uint64_t period_ns)
{
	return cpu_ns < first_ns ? 0 : (cpu_ns - first_ns) / period_ns + 1;
}

/* told: as of go_on(); NULL: nothing was. */
static int threads_timer(struct ktr__profiled *thread, uint32_t tid, uint64_t period_ns, bool late,
			 const struct ktr__ticks_told *told)
{
	uint64_t due, n_told = told ? told->n : 0;
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = threads_signal };
	uint64_t now = threads_ns(threads_clock(tid));
	struct itimerspec when;
	int timer;

	/* One that had no timer for want of one may be older than that. */
	late = late && now < threads_ns(CLOCK_MONOTONIC) - threads_since_ns;
	event.sigev_value.sival_ptr = thread;
	event._sigev_un._tid = (pid_t)tid;
	if (syscall(SYS_timer_create, threads_clock(tid), &event, &timer))
		return -errno;
	thread->first_ns = (late ? 0 : now) + 1 + threads_random(tid + threads_ns(CLOCK_MONOTONIC)) % period_ns;
	if (told)
		thread->first_ns = told->first_ns;
	due = threads_due(now, thread->first_ns, period_ns);
	thread->n_late = due > n_told ? due - n_told : 0;
	__atomic_store_n(&thread->n_came, n_told, __ATOMIC_RELAXED);
	when.it_value = threads_time(thread->first_ns + due * period_ns);
	when.it_interval = threads_time(period_ns);
	__atomic_store_n(&thread->timer, timer + 1, __ATOMIC_SEQ_CST);
	/* It has said so meanwhile, or does now, and deletes it. */
	if (__atomic_load_n(&thread->is_refused, __ATOMIC_SEQ_CST)) {
		threads_timer_delete(thread);
		return 0;
	}
	syscall(SYS_timer_settime, timer, TIMER_ABSTIME, &when, NULL);
	return 0;
}

/* Does a place belong to a thread that is there no more? */
static bool threads_is_dead(uint32_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) && errno == ESRCH;
}

static void threads_free(struct ktr__profiled *thread)
{
	size_t place = (size_t)(thread - threads_at);

	threads_timer_delete(thread);
	thread->stack = (struct ktr__stack_range){ 0, 0 };
	thread->is_marked = false;
	__atomic_store_n(&thread->is_refused, 0, __ATOMIC_RELAXED);
	__atomic_fetch_and(&threads_taken[place / 64], ~(1ull << place % 64), __ATOMIC_RELAXED);
	__atomic_store_n(&thread->tid, 0, __ATOMIC_RELEASE);
}

/* The place of a thread, taken for it. NULL: it is another's; *there: it was taken already. */
static struct ktr__profiled *threads_take(uint32_t tid, bool *there)
{
	struct ktr__profiled *thread = &threads_at[tid % THREADS_N];
	uint32_t whose = 0;

	*there = false;
	if (__atomic_compare_exchange_n(&thread->tid, &whose, tid, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		__atomic_fetch_or(&threads_taken[tid % THREADS_N / 64], 1ull << tid % 64, __ATOMIC_RELAXED);
		return thread;
	}
	*there = whose == tid;
	return *there ? thread : NULL;
}

static int threads_arm(uint32_t tid, const struct ktr__stack_range *stack, bool late,
		       const struct ktr__ticks_told *told)
{
	uint64_t period_ns = __atomic_load_n(&threads_period_ns, __ATOMIC_ACQUIRE);
	struct ktr__profiled *thread;
	bool there;
	int code;

	if (!period_ns)
		return 0;
	thread = threads_take(tid, &there);
	if (!thread || there) {
		if (!thread)
			__atomic_fetch_add(&threads_n_without, 1, __ATOMIC_RELAXED);
		else if (stack)
			thread->stack = *stack;
		return 0;
	}
	if (stack)
		thread->stack = *stack;
	code = threads_timer(thread, tid, period_ns, late, told);
	if (code && threads_is_dead(tid)) { /* it ended meanwhile, and needs none */
		threads_free(thread);
		code = 0;
	} else if (code) {
		__atomic_fetch_add(&threads_n_without, 1, __ATOMIC_RELAXED);
		threads_free(thread);
	} else if (!__atomic_load_n(&threads_period_ns, __ATOMIC_ACQUIRE)) {
		threads_free(thread); /* switched off meanwhile */
	}
	return code;
}

int ktr__profile_start(int number, uint64_t period_ns)
{
	if (!threads_at) {
		void *at = mmap(NULL, THREADS_N * sizeof(*threads_at), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (at == MAP_FAILED)
			return -errno;
		__atomic_store_n(&threads_at, at, __ATOMIC_RELEASE);
	}
	threads_signal = number;
	threads_since_ns = threads_ns(CLOCK_MONOTONIC);
	__atomic_store_n(&threads_period_ns, period_ns, __ATOMIC_RELEASE);
	return 0;
}

static void threads_each(void (*call)(struct ktr__profiled *thread, uint32_t tid))
{
	for (uint32_t i = 0; i < THREADS_N / 64; i++) {
		uint64_t taken = __atomic_load_n(&threads_taken[i], __ATOMIC_RELAXED);

		for (; taken; taken &= taken - 1) {
			struct ktr__profiled *thread = &threads_at[i * 64 + (uint32_t)__builtin_ctzll(taken)];
			uint32_t tid = __atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE);

			if (tid)
				call(thread, tid);
		}
	}
}

static void threads_stop_one(struct ktr__profiled *thread, uint32_t tid)
{
	(void)tid;
	threads_free(thread);
}

void ktr__profile_stop(void)
{
	__atomic_store_n(&threads_period_ns, 0, __ATOMIC_SEQ_CST);
	threads_each(threads_stop_one);
}

static void threads_reap_one(struct ktr__profiled *thread, uint32_t tid)
{
	if (threads_is_dead(tid))
		threads_free(thread);
}

void ktr__profile_reap(void)
{
	threads_each(threads_reap_one);
}

int ktr__profile_arm(const struct ktr__stack_range *stack)
{
	uint32_t tid = (uint32_t)gettid(), whose;

	if (!threads_at)
		return 0;
	/* Or the place of a thread that ended without a word, or had our number. */
	whose = __atomic_load_n(&threads_at[tid % THREADS_N].tid, __ATOMIC_ACQUIRE);
	if (whose && (whose != tid ? threads_is_dead(whose) :
				     __atomic_load_n(&threads_at[tid % THREADS_N].is_refused, __ATOMIC_ACQUIRE)))
		threads_free(&threads_at[tid % THREADS_N]);
	return threads_arm(tid, stack, false, NULL);
}

static struct ktr__profiled *threads_own(void)
{
	uint32_t tid = (uint32_t)gettid();

	if (!threads_at || __atomic_load_n(&threads_at[tid % THREADS_N].tid, __ATOMIC_ACQUIRE) != tid)
		return NULL;
	return &threads_at[tid % THREADS_N];
}

static uint64_t threads_missing(struct ktr__profiled *thread)
{
	uint64_t period_ns = __atomic_load_n(&threads_period_ns, __ATOMIC_ACQUIRE);
	uint64_t now = threads_ns(CLOCK_THREAD_CPUTIME_ID), due, came;

	if (!period_ns || !__atomic_load_n(&thread->timer, __ATOMIC_ACQUIRE) || now < thread->first_ns)
		return 0;
	due = threads_due(now, thread->first_ns, period_ns);
	came = __atomic_exchange_n(&thread->n_came, due, __ATOMIC_RELAXED);
	return due > came ? due - came : 0;
}

uint64_t ktr__profile_missing(void)
{
	struct ktr__profiled *thread = threads_own();

	return thread ? threads_missing(thread) : 0;
}

/* A look may have found a thread before it could say so itself. */
void ktr__profile_refuse(uint32_t tid)
{
	struct ktr__profiled *thread;
	bool there;

	if (!threads_at || !__atomic_load_n(&threads_period_ns, __ATOMIC_ACQUIRE))
		return;
	thread = threads_take(tid, &there);
	if (!thread)
		return;
	__atomic_store_n(&thread->is_refused, 1, __ATOMIC_SEQ_CST);
	threads_timer_delete(thread);
}

uint64_t ktr__profile_due(void)
{
	uint64_t period_ns = __atomic_load_n(&threads_period_ns, __ATOMIC_ACQUIRE);
	uint64_t now = threads_ns(CLOCK_THREAD_CPUTIME_ID);

	if (!period_ns)
		return 0;
	return (now + threads_random((uint64_t)gettid() + threads_ns(CLOCK_MONOTONIC)) % period_ns) / period_ns;
}

/* [ticks] due to the calling thread since. */
static uint64_t threads_untold(const struct ktr__ticks_told *told)
{
	uint64_t period_ns = __atomic_load_n(&threads_period_ns, __ATOMIC_ACQUIRE);
	uint64_t due = period_ns ? threads_due(threads_ns(CLOCK_THREAD_CPUTIME_ID), told->first_ns, period_ns) : 0;

	return due > told->n ? due - told->n : 0;
}

uint64_t ktr__profile_disarm(const struct ktr__ticks_told *told)
{
	struct ktr__profiled *thread = threads_own();
	bool has_timer = thread && __atomic_load_n(&thread->timer, __ATOMIC_ACQUIRE);
	sigset_t set, before;
	uint64_t n;

	if (!thread && !told)
		return 0;
	sigemptyset(&set);
	sigaddset(&set, threads_signal);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	n = told && !has_timer ? threads_untold(told) : threads_missing(thread);
	if (thread)
		threads_free(thread);
	/* Who gives timers may be about to give it one yet: that stays silent. */
	if (!told)
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	return n;
}

void ktr__profile_let_go(struct ktr__profiled *thread)
{
	threads_timer_delete(thread);
}

/* Threads of ours are named so. */
bool ktr__profile_is_ours(uint32_t tid)
{
	char path[64], name[16] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, name, sizeof(name)) < 0)
		*name = '\0';
	if (fd >= 0)
		close(fd);
	return strncmp(name, "ktr-", 4) == 0;
}

bool ktr__profile_has(uint32_t tid)
{
	return threads_at && __atomic_load_n(&threads_at[tid % THREADS_N].tid, __ATOMIC_ACQUIRE) == tid;
}

int ktr__profile_add(uint32_t tid, bool late)
{
	return ktr__profile_has(tid) ? 0 : threads_arm(tid, NULL, late, NULL);
}

int ktr__profile_go_on(uint32_t tid, const struct ktr__ticks_told *told)
{
	return ktr__profile_has(tid) ? 0 : threads_arm(tid, NULL, false, told);
}

/* As of a scan. Whose name has to be looked at costs more. */
static int threads_meet(uint32_t tid, bool late, bool (*refuses)(uint32_t tid))
{
	if (!tid || ktr__profile_has(tid) || ktr__profile_is_ours(tid))
		return 0;
	if (!refuses || !refuses(tid))
		return threads_arm(tid, NULL, late, NULL);
	ktr__profile_refuse(tid);
	return 0;
}

int ktr__profile_scan(bool late, bool (*refuses)(uint32_t tid))
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *at;
	int code = 0;

	if (!dir)
		return -errno;
	while ((at = readdir(dir)) != NULL) {
		int one = threads_meet((uint32_t)strtoul(at->d_name, NULL, 10), late, refuses);

		code = code ? code : one;
	}
	closedir(dir);
	return code;
}

uint64_t ktr__profile_n_without(void)
{
	return __atomic_load_n(&threads_n_without, __ATOMIC_RELAXED);
}

struct ktr__profiled *ktr__profile_of(const siginfo_t *info)
{
	const struct ktr__profiled *thread = info->si_value.sival_ptr,
				   *at = __atomic_load_n(&threads_at, __ATOMIC_ACQUIRE);
	uintptr_t off = (uintptr_t)thread - (uintptr_t)at;

	if (info->si_code != SI_TIMER || !at || off >= THREADS_N * sizeof(*at) || off % sizeof(*at))
		return NULL;
	return (struct ktr__profiled *)info->si_value.sival_ptr;
}

void ktr__profile_forked(void)
{
	if (threads_at)
		madvise(threads_at, THREADS_N * sizeof(*threads_at), MADV_DONTNEED);
	memset(threads_taken, 0, sizeof(threads_taken));
}
