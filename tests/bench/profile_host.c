/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What samples cost the thread that they interrupt, in two parts.
 *
 *	profile_host source	what the kernel's tick takes, by the median, and what it takes with a timer of the
 *				thread's CPU time whose handler does nothing. They take turns of 40 ms.
 *	profile_host handler	what a signal takes that the thread sends to itself as its timer would, run by ktr
 *				profile: with a handler that does nothing, and with the profiler's. They take turns
 *				of a batch, of which the median counts. The thread is 20 calls deep.
 *
 *	profile_host perf RATE [bare] what one of the kernel's samples takes of a thread 20 calls deep that does
 *				nothing else, by the time that it misses; bare: of events as the profiler's,
 *				whose ring a thread of ours empties; else in whatever way it is run. Then the
 *				CPU time of other threads in a second. It waits for a line to begin; the first
 *				second does not count, in which threads, files and rings are made. Then what
 *				they took until then. The thread has a CPU to itself, where there are two: what
 *				another thread does on it would count as missed and as that one's.
 *
 * Prints nanoseconds.
 */
#include <dirent.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIGNAL	  61	 /* what the profiler takes first */
#define TURNS	  100	 /* of each */
#define TURN_NS	  40000000
#define LEAST_NS  2000	 /* shorter is no tick */
#define MOST_NS	  200000 /* longer is another thread's */
#define GAPS	  65536u
#define BATCHES	  200
#define SIGNALS	  500
#define PERIOD_NS 1000000
#define RING	  (512u << 10) /* [bytes] */
#define MOST_PAUSE_NS 50000000
#define STACK	  8192	       /* [bytes] */
#define BEGIN_NS    1000000000u /* of the time in which gaps are looked for */
#define MEASURED_NS 3000000000u

static volatile unsigned n_signals;
static uint32_t gap[2][GAPS];
static unsigned n_gaps[2];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void empty(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	n_signals++;
}

static void handle(void)
{
	struct sigaction action = { .sa_sigaction = empty, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };

	sigfillset(&action.sa_mask);
	if (sigaction(SIGNAL, &action, NULL))
		exit(3);
}

static int longer(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	return one > other ? -1 : one < other;
}

/* ---- the source ---- */

static void watch(unsigned way)
{
	uint64_t end = now_ns() + TURN_NS, last = now_ns(), now;
	unsigned seen = n_signals;

	for (; last < end; last = now) {
		bool has_signal;

		now = now_ns();
		has_signal = n_signals != seen;
		seen = n_signals;
		if (has_signal == way && now - last >= LEAST_NS && now - last < MOST_NS && n_gaps[way] < GAPS)
			gap[way][n_gaps[way]++] = (uint32_t)(now - last);
	}
}

static int source(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGNAL };
	int timer;

	handle();
	event._sigev_un._tid = gettid();
	if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer))
		return 3;
	for (unsigned i = 0; i < 2 * TURNS; i++) {
		long ns = i % 2 ? PERIOD_NS : 0;
		struct itimerspec when = { { 0, ns }, { 0, ns } };

		syscall(SYS_timer_settime, timer, 0, &when, NULL);
		watch(i % 2);
	}
	for (unsigned way = 0; way < 2; way++) {
		if (!n_gaps[way])
			return 4;
		qsort(gap[way], n_gaps[way], sizeof(uint32_t), longer);
		printf("%u%c", gap[way][n_gaps[way] / 2], way ? '\n' : ' ');
	}
	return 0;
}

/* ---- the handler ---- */

/* A signal as the profiler's timer sends it, while it is blocked. false: it sends none. */
static bool catch(siginfo_t *info)
{
	const struct timespec second = { 1, 0 };
	uint64_t set = 1ull << (SIGNAL - 1), end = now_ns() + 500000000;
	long got;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, sizeof(set));
	while (now_ns() < end)
		;
	/* Past the C library, which the profiler stands before. */
	got = syscall(SYS_rt_sigtimedwait, &set, info, &second, sizeof(set));
	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, sizeof(set));
	return got == SIGNAL;
}

/* The kernel's struct sigaction: what the profiler stands before in the C library is not asked. */
struct action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static bool act(const struct action *set, struct action *got)
{
	return syscall(SYS_rt_sigaction, SIGNAL, set, got, sizeof(set->mask)) == 0;
}

static uint32_t batch(const siginfo_t *info)
{
	pid_t pid = getpid(), tid = gettid();
	uint64_t from = now_ns();

	for (unsigned k = 0; k < SIGNALS; k++)
		syscall(SYS_rt_tgsigqueueinfo, pid, tid, SIGNAL, info);
	return (uint32_t)((now_ns() - from) / SIGNALS);
}

/* Both take turns: a machine that is slower for a while is so for both. */
__attribute__((noinline, noclone)) static int batches(unsigned depth, const siginfo_t *info)
{
	static uint32_t taken[2][BATCHES];
	struct action own, none;

	if (depth)
		return batches(depth - 1, info) + 0 * depth;
	if (!act(NULL, &own))
		return 3;
	none = own;
	none.handler = empty;
	for (unsigned i = 0; i < BATCHES; i++)
		for (unsigned way = 0; way < 2; way++) {
			if (!act(way ? &own : &none, NULL))
				return 3;
			taken[way][i] = batch(info);
		}
	for (unsigned way = 0; way < 2; way++) {
		qsort(taken[way], BATCHES, sizeof(uint32_t), longer);
		printf("%u%c", taken[way][BATCHES / 2], way ? '\n' : ' ');
	}
	return 0;
}

/* ---- perf events ---- */

static struct perf_event_mmap_page *ring;
static volatile int over;

static bool rings(unsigned rate)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000u / rate,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = 1u << 6 | 1u << 7 | 1u << 8,
		.sample_stack_user = STACK,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC_RAW,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, RING + 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	ring = map == MAP_FAILED ? NULL : map;
	return ring != NULL;
}

/* As often as the profiler does at the rate: when half of a ring is full, or 50 ms have passed. */
static void *empties(void *unused)
{
	struct timespec pause = { 0, (long)(uintptr_t)unused };

	while (!over) {
		nanosleep(&pause, NULL);
		__atomic_store_n(&ring->data_tail, __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
	}
	return NULL;
}

/*
 * [ns] what a sample takes: the median of the longest gaps, of which there are as many as samples. A tick is
 * shorter, and what a neighbour takes, or the host of a virtual machine, are few of them; of their sum, at a low
 * rate, they may be most.
 */
__attribute__((noinline, noclone)) static uint32_t missed(unsigned depth, uint64_t ns, unsigned rate)
{
	uint64_t from, last, now, n_samples = rate * ns / 1000000000u;
	uint32_t *gone = gap[0];
	unsigned n = 0;

	if (depth)
		return missed(depth - 1, ns, rate) + 0 * depth;
	from = last = now = now_ns();
	for (; now - from < ns; last = now) {
		now = now_ns();
		if (now - last >= LEAST_NS && now - last < MOST_NS && n < GAPS)
			gone[n++] = (uint32_t)(now - last);
	}
	if (n < n_samples / 2 + 1)
		exit(6);
	qsort(gone, n, sizeof(uint32_t), longer);
	return gone[n_samples / 2];
}

/* This thread on the last CPU that the process may use, its others, and those that they begin, on all but that. */
static void apart(void)
{
	DIR *dir = opendir("/proc/self/task");
	cpu_set_t one, rest;
	const struct dirent *at;
	size_t last = CPU_SETSIZE;

	if (!dir || sched_getaffinity(0, sizeof(rest), &rest))
		exit(3);
	while (!CPU_ISSET(--last, &rest))
		;
	CPU_ZERO(&one);
	CPU_SET(last, &one);
	CPU_CLR(last, &rest);
	while (CPU_COUNT(&rest) && (at = readdir(dir)) != NULL) {
		pid_t tid = atoi(at->d_name);

		if (tid && sched_setaffinity(tid, sizeof(one), tid == getpid() ? &one : &rest))
			exit(3);
	}
	closedir(dir);
}

/* [ns] CPU time of all other threads until now. */
static uint64_t others(void)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *at;
	uint64_t sum = 0;

	while (dir && (at = readdir(dir)) != NULL) {
		uint32_t tid = (uint32_t)strtoul(at->d_name, NULL, 10);
		struct timespec time;

		if (tid && tid != (uint32_t)getpid() && clock_gettime((clockid_t)(~tid << 3 | 6), &time) == 0)
			sum += (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	}
	if (dir)
		closedir(dir);
	return sum;
}

static int perf(unsigned rate, bool bare)
{
	uint64_t before, after, pause_ns = RING / (STACK + 96) / 2 * (1000000000u / rate);
	pthread_t thread;
	uint32_t gone;
	char line[8];

	if (pause_ns > MOST_PAUSE_NS)
		pause_ns = MOST_PAUSE_NS;
	if (bare && !rings(rate))
		return 3;
	if (bare)
		pthread_create(&thread, NULL, empties, (void *)(uintptr_t)pause_ns);
	if (!fgets(line, sizeof(line), stdin))
		return 4;
	apart();
	missed(20, BEGIN_NS, rate);
	before = others();
	gone = missed(20, MEASURED_NS, rate);
	after = others();
	printf("%u %llu %llu\n", gone, (unsigned long long)((after - before) / (MEASURED_NS / 1000000000u)),
	       (unsigned long long)before);
	over = 1;
	if (bare)
		pthread_join(thread, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	siginfo_t info = { .si_signo = SIGNAL, .si_code = SI_TIMER };

	if (argc > 1 && strcmp(argv[1], "source") == 0)
		return source();
	if (argc > 1 && strcmp(argv[1], "perf") == 0)
		return argc > 2 && atoi(argv[2]) > 0 ? perf((unsigned)atoi(argv[2]), argc > 3) : 2;
	if (!catch(&info))
		return 5;
	info.si_overrun = 0;
	return batches(20, &info);
}
