/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profil_truth shares MS HZ SEED [masked] | short N HZ: what ktr_profil() tells of threads' time, beside their
 * own clocks: threads that have 100, 33, 10 and 1 % of a CPU, MS being the first one's time, and 200 that live
 * for a moment (masked: all of them block all signals); or N that live for a moment, and end without a word.
 * Prints what is wrong, and ends with 1 then.
 *
 * Each thread has a copy of the text that it runs, its system calls and all, so each tick in there is known to
 * be its.
 *
 * Time: a timer runs out at U, U + p, U + 2p, ... of a thread's CPU time; p is the period, and U is random
 * between 0 and p. The kernel looks at its tick, k long, and gives all that are due by then. A thread of ours
 * ends when it has just been given some, at a time T. Its n ticks stand for n p = T + p - U - d - s, where d is
 * what had gone by since the last of them was due, and s what went by until the thread saw that. So the error p
 * - U - d - s does not grow with T, whatever else the machine has to do; also if it stood still, for then one
 * look gives many. U is between 0 and p, d between 0 and the shorter one of p and k, and s between 0 and the
 * time g from one look of its own to the next, each as if by chance: so the error's mean square is (p^2 +
 * min(p, k)^2 + g^2) / 12 + ((p - min(p, k) - g) / 2)^2. A look of the kernel's that comes later, since the
 * thread did not run at its tick, makes it less where p > k, and is the same where p < k.
 *
 * Places: what comes at once is told of the place that the thread is at. Where it is, is drawn for each piece
 * of work anew, and these are short: so looks are independent draws, with the weights w that they have. The
 * share of the first place, s by the clock, has the variance (sum of (w (1 - s))^2 over looks there + sum of (w
 * s)^2 over those in the other) / (sum of w)^2. A thread that slept after a look, and did at first always one
 * thing and then always the other, would have more of the latter told of it: see ktr_profil(3), BUGS.
 */
#include <ktr/profil.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define N_LONG	4
#define N_SHORT 200
#define N_ALL	(N_LONG + N_SHORT)
#define TURNS	1000000 /* of a loop: a quarter of a millisecond or so, before the clock is asked again */
#define FEW	30	/* looks of equal weight: below that the sum of them is not a normal distribution's */
#define PART	0.01	/* what the time of a thread may be off by, if that is more than 5 standard errors */

/* What is copied refers to nothing but what it is given, and to itself: -fno-stack-protector. */
#define COPIED __attribute__((noinline, section("life_text")))
extern const char __start_life_text[], __stop_life_text[];
extern const char loop_a[], loop_b[]; /* the one instruction of each */
void work_a(unsigned long turns);
void work_b(unsigned long turns);
long call(long number, long a, void *b);
__asm__(".pushsection life_text, \"ax\", @progbits\n"
	".p2align 6\n"
	"work_a: mov %rdi, %rcx\n"
	"loop_a: loop loop_a\n"
	"ret\n"
	".p2align 6\n"
	"work_b: mov %rdi, %rcx\n"
	"loop_b: loop loop_b\n"
	"ret\n"
	".p2align 6\n"
	"call: mov %rdi, %rax\n"
	"mov %rsi, %rdi\n"
	"mov %rdx, %rsi\n"
	"syscall\n"
	"ret\n"
	".popsection\n");

struct life {
	int (*run)(struct life *life);
	const unsigned short *counter; /* of its text */
	size_t n_counters;
	size_t place[2]; /* those of the two loops */
	uint64_t percent, all_ns, state;
	uint64_t begun_ns, now_ns, gap_ns; /* by its clock; the last: since it was asked before */
	uint16_t had;			   /* in all counters, when it looked last */
	uint16_t had_at[2];		   /* in those of the loops */
	uint64_t n_ticks, n_at[2];
	uint64_t squares[2]; /* of the weights of looks */
	uint64_t ns[2];	     /* by its clock */
};

static struct life life[N_ALL];
static double period_ns, tick_ns; /* p, and k */
static int failed;

#define CHECK(holds, ...)                                              \
	do {                                                           \
		if (!(holds)) {                                        \
			printf("FAILED: line %d: ", __LINE__);         \
			printf(__VA_ARGS__);                           \
			putchar('\n');                                 \
			failed = 1;                                    \
		}                                                      \
	} while (0)

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct ktr_profil_sums sums(void)
{
	struct ktr_profil_sums now = { .size = sizeof(now) };

	CHECK(ktr_profil_sums(&now) == 0, "sums: %s", strerror(errno));
	return now;
}

/* ---- a thread: a copy of all this ---- */

COPIED static uint64_t life_random(struct life *l)
{
	l->state ^= l->state << 13;
	l->state ^= l->state >> 7;
	l->state ^= l->state << 17;
	return l->state;
}

COPIED static void life_clock(struct life *l)
{
	struct timespec now;
	uint64_t was = l->now_ns;

	call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
	l->now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	l->gap_ns = l->now_ns - was;
}

/* Have some come since? Counters begin again from 0 when they are full. */
COPIED static bool life_look(struct life *l)
{
	uint16_t sum = 0;
	uint64_t more;

	for (size_t i = 0; i < l->n_counters; i++)
		sum = (uint16_t)(sum + __atomic_load_n(&l->counter[i], __ATOMIC_RELAXED));
	for (int k = 0; k < 2; k++) {
		uint16_t now = __atomic_load_n(&l->counter[l->place[k]], __ATOMIC_RELAXED);

		more = (uint16_t)(now - l->had_at[k]);
		l->had_at[k] = now;
		l->n_at[k] += more;
		l->squares[k] += more * more;
	}
	more = (uint16_t)(sum - l->had);
	l->had = sum;
	l->n_ticks += more;
	return more != 0;
}

/* A piece of work. Is it the last, for its time is over and a tick has come? */
COPIED static bool life_works(struct life *l)
{
	int place = life_random(l) % 4 == 0;
	uint64_t from = l->now_ns, ns = life_random(l) % 1000000;
	bool ends;

	do {
		if (place)
			work_b(TURNS);
		else
			work_a(TURNS);
		life_clock(l);
		ends = life_look(l) && l->now_ns - l->begun_ns >= l->all_ns;
	} while (l->now_ns - from < ns && !ends);
	l->ns[place] += l->now_ns - from;
	return ends;
}

COPIED static void life_naps(const struct life *l, uint64_t used)
{
	uint64_t rest = used * (100 - l->percent) / l->percent;
	struct timespec nap = { (time_t)(rest / 1000000000u), (long)(rest % 1000000000u) };

	call(SYS_nanosleep, (long)&nap, NULL);
}

COPIED static int life_run(struct life *l)
{
	bool ends = false;

	life_clock(l);
	l->begun_ns = l->now_ns;
	while (!ends) {
		uint64_t burst = 200000 + life_random(l) % 8000000, from = l->now_ns;

		while (!ends && l->now_ns - from < burst)
			ends = life_works(l);
		if (!ends && l->percent < 100)
			life_naps(l, l->now_ns - from);
	}
	return 0;
}

/* ---- as it begins ---- */

static int life_begin(void *context)
{
	struct life *l = context;

	return l->run(l);
}

static void *life_begin_pthread(void *context)
{
	return (void *)(intptr_t)life_begin(context);
}

/* ---- what is told of it ---- */

static double life_time_ns(const struct life *l)
{
	return (double)l->n_ticks * period_ns;
}

/* The error of its time, in standard errors, squared. */
static double life_judge_time(const struct life *l)
{
	double p = period_ns, d = fmin(p, tick_ns), g = (double)l->gap_ns, t = (double)(l->now_ns - l->begun_ns);
	double square = (p * p + d * d + g * g) / 12 + (p - d - g) * (p - d - g) / 4;
	double off = life_time_ns(l) - t, most;

	most = fmax(PART * t, 5 * sqrt(square));
	CHECK(fabs(off) <= most, "thread %ld: %.3f ms, not %.3f; %.3f would be the most", (long)(l - life),
	      life_time_ns(l) / 1e6, t / 1e6, most / 1e6);
	return off * off / square;
}

/* The error of the first place's share in all of these, in standard errors, squared; -1: there are too few. */
static double life_judge_places(size_t from, size_t to)
{
	double n[2] = { 0, 0 }, ns[2] = { 0, 0 }, squares[2] = { 0, 0 }, all, s, off;

	for (size_t i = from; i < to; i++)
		for (unsigned k = 0; k < 2; k++) {
			n[k] += (double)life[i].n_at[k];
			ns[k] += (double)life[i].ns[k];
			squares[k] += (double)life[i].squares[k];
		}
	all = n[0] + n[1];
	if (all * all < FEW * (squares[0] + squares[1]) || all < FEW)
		return -1;
	s = ns[0] / (ns[0] + ns[1]);
	off = n[0] / all - s;
	return off * off * all * all / ((1 - s) * (1 - s) * squares[0] + s * s * squares[1]);
}

/* What chi-square of so many is above of one time in a thousand, by Wilson and Hilferty. */
static double chi_square_rare(unsigned n)
{
	double k = 2.0 / (9 * n), root = 1 - k + 3.0902 * sqrt(k);

	return n * root * root * root;
}

static void judge(void)
{
	double square = 0, one;
	unsigned n = 0;
	uint64_t ticks = 0;

	for (size_t i = 0; i < N_ALL; i++) {
		square += life_judge_time(&life[i]);
		ticks += life[i].n_ticks;
		CHECK(!life_look(&life[i]), "thread %zu has ticks, and has ended", i);
		if (i < N_LONG)
			printf("%lu %%: %.2f ms by its clock, %.2f ms by ticks; ", (unsigned long)life[i].percent,
			       (double)(life[i].now_ns - life[i].begun_ns) / 1e6, life_time_ns(&life[i]) / 1e6);
	}
	CHECK(square < chi_square_rare(N_ALL), "times: chi-square %.1f of %d", square, N_ALL);
	printf("%lu ticks; times: chi-square %.1f of %d; ", (unsigned long)ticks, square, N_ALL);
	square = 0;
	for (size_t i = 0; i <= N_LONG; i++) {
		one = life_judge_places(i, i < N_LONG ? i + 1 : N_ALL);
		n += one >= 0;
		square += one >= 0 ? one : 0;
	}
	CHECK(n > 0 && square < chi_square_rare(n), "places: chi-square %.2f of %u", square, n);
	printf("places: %.2f of %u\n", square, n);
	CHECK(sums().n_without == 0, "%lu threads had no timer", (unsigned long)sums().n_without);
}

/* ---- all of them ---- */

static void shares_begin(size_t i, uint64_t percent, uint64_t ns, uint64_t seed, pthread_t *thread)
{
	life[i].percent = percent;
	life[i].all_ns = ns;
	life[i].state = seed * 1000003 + i + 1;
	CHECK(pthread_create(thread, NULL, life_begin_pthread, &life[i]) == 0, "no thread");
}

/* The second of the four is made in another way. */
static void shares_run(unsigned ms, uint64_t seed)
{
	static const uint64_t percent[N_LONG] = { 100, 33, 10, 1 };
	pthread_t thread[N_LONG], one;
	struct life chance = { .state = seed * 7919 };
	thrd_t odd;

	life[1].percent = percent[1];
	life[1].all_ns = ms * 10000ull * percent[1];
	life[1].state = seed;
	CHECK(thrd_create(&odd, life_begin, &life[1]) == thrd_success, "no thread");
	for (size_t i = 0; i < N_LONG; i++)
		if (i != 1)
			shares_begin(i, percent[i], ms * 10000ull * percent[i], seed, &thread[i]);
	for (size_t i = N_LONG; i < N_ALL; i++) {
		shares_begin(i, 100, life_random(&chance) % 20000000, seed, &one);
		pthread_join(one, NULL);
	}
	for (size_t i = 0; i < N_LONG; i++)
		if (i != 1)
			pthread_join(thread[i], NULL);
	thrd_join(odd, NULL);
}

static unsigned short *counter; /* of all texts */

/* A text more than there are threads: nobody's. How many counters each has. */
static size_t shares_texts(void)
{
	size_t n = ((size_t)(__stop_life_text - __start_life_text) + 63) & ~(size_t)63, all = (N_ALL + 1) * n;
	size_t run = (uintptr_t)life_run - (uintptr_t)__start_life_text;
	char *text = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	counter = calloc(1, all);
	CHECK(counter && text != MAP_FAILED, "no memory");
	for (size_t i = 0; i < N_ALL; i++) {
		struct life *l = &life[i];

		memcpy(text + i * n, __start_life_text, (size_t)(__stop_life_text - __start_life_text));
		l->run = (int (*)(struct life *))(uintptr_t)(text + i * n + run);
		l->counter = counter + i * n / 2;
		l->n_counters = n / 2;
		l->place[0] = (size_t)(loop_a - __start_life_text) / 2;
		l->place[1] = (size_t)(loop_b - __start_life_text) / 2;
	}
	CHECK(mprotect(text, all, PROT_READ | PROT_EXEC) == 0, "%s", strerror(errno));
	CHECK(ktr_profil(counter, all, (size_t)text, 0x10000) == 0, "%s", strerror(errno));
	return n / 2;
}

static int shares(unsigned ms, uint64_t seed, int is_masked)
{
	sigset_t all;
	size_t n;

	sigfillset(&all);
	if (is_masked)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	n = shares_texts();
	shares_run(ms, seed);
	ktr_profil(NULL, 0, 0, 0);
	judge();
	for (size_t i = 0; i < n; i++)
		CHECK(!counter[N_ALL * n + i], "ticks where nobody was");
	return failed;
}

/* ---- threads that end without a word ---- */

static void *moment(void *context)
{
	uint64_t ns = (uint64_t)(uintptr_t)context * 100000, *used = malloc(sizeof(*used));
	uint64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID), to = from;

	for (; to - from < ns; to = clock_ns(CLOCK_THREAD_CPUTIME_ID))
		work_a(20000);
	*used = to - from;
	return used;
}

/*
 * What was due to a thread when it ended came, or is told to be missed: that is its time in periods, rounded up or
 * down, as U has it, so with a variance of p^2/4 at most. Its time is at least what it has measured itself, and all
 * of them have at most what the process had.
 */
static int moments(unsigned n)
{
	static unsigned short few[64];
	uint64_t own = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	double least = 0, most, got, error = 5 * sqrt(n + 1) * period_ns / 2;

	CHECK(ktr_profil(few, sizeof(few), (size_t)__start_life_text, 0x10000) == 0, "%s", strerror(errno));
	for (unsigned i = 0; i < n; i++) {
		pthread_t thread;
		void *used;

		pthread_create(&thread, NULL, moment, (void *)(uintptr_t)(i * 37 % 100));
		pthread_join(thread, &used);
		least += (double)*(uint64_t *)used;
		free(used);
	}
	ktr_profil(NULL, 0, 0, 0);
	most = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - own);
	got = (double)(sums().n_ticks + sums().n_missed) * period_ns;
	printf("%u threads: %.1f ms by their clocks, %.1f ms with their beginnings and ends, %.1f ms by ticks, "
	       "of them %lu missed; 5 standard errors are %.1f ms\n",
	       n, least / 1e6, most / 1e6, got / 1e6, (unsigned long)sums().n_missed, error / 1e6);
	CHECK(got > least - error && got < most + error, "%.1f ms", got / 1e6);
	return failed;
}

int main(int argc, char **argv)
{
	struct timespec tick;
	unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 0;

	if (argc < 4)
		return 2;
	period_ns = 1e9 / ktr_profil_hz((unsigned)strtoul(argv[3], NULL, 0));
	/* The kernel's coarse clock goes by its ticks. */
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	tick_ns = (double)tick.tv_nsec;
	if (strcmp(argv[1], "short") == 0)
		return moments(n);
	return argc > 4 ? shares(n, strtoull(argv[4], NULL, 0), argc > 5) : 2;
}
