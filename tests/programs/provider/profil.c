/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profil corners | truth MS | shares MS HZ SEED [masked] | short N | mon FILE | exec | spin: ktr_profil() of
 * libktr-profil, by its every corner, and beside the clocks of threads. Prints what is wrong, and ends with 1 then.
 *
 * spin_loop() is one instruction at a known address, so it is known which counter counts.
 */
#include <ktr/profil.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define BOUND_NS 60000000000ull /* ends what would hang */

void spin_loop(unsigned long n);
long spin_unmask(int how, const void *set, void *old, unsigned long n_bytes);
extern const char spin_begin[], spin_end[], spin_unmasked[];
__asm__(".pushsection spin_text, \"ax\", @progbits\n"
	".p2align 6\n"
	"spin_begin: .fill 61, 1, 0x90\n"
	".globl spin_loop\n"
	".type spin_loop, @function\n"
	"spin_loop: mov %rdi, %rcx\n"
	"1: loop 1b\n"
	"ret\n"
	".fill 61, 1, 0x90\n"
	".size spin_loop, . - spin_loop\n"
	"spin_end:\n"
	".globl spin_unmask\n"
	".type spin_unmask, @function\n"
	"spin_unmask: mov %rcx, %r10\n"
	"mov $14, %eax\n"
	"syscall\n"
	"spin_unmasked: ret\n"
	".size spin_unmask, . - spin_unmask\n"
	".popsection\n");

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

static uint64_t now_ns(clockid_t clock)
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

/* So much of this thread's CPU time. */
static void spin(unsigned ms)
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000ull;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		spin_loop(1000000);
}

/* Until so many ticks have come, wherever they went. */
static void spin_ticks(uint64_t n)
{
	uint64_t from = sums().n_ticks, begun = now_ns(CLOCK_MONOTONIC);

	while (sums().n_ticks - from < n && now_ns(CLOCK_MONOTONIC) - begun < BOUND_NS)
		spin_loop(1000000);
	CHECK(sums().n_ticks - from >= n, "no ticks come");
}

static const uintptr_t hot = 64; /* that instruction, from spin_begin */

/* ---- corners ---- */

static uint64_t in_all(const unsigned short *counter, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += counter[i];
	return sum;
}

/* At a scale the loop's ticks are in the counter of its instruction, and in no other. */
static void scale_is(unsigned scale)
{
	static unsigned short counter[4096];
	size_t size = sizeof(counter), off = (size_t)spin_begin, first;
	uint64_t rest;

	memset(counter, 0, sizeof(counter));
	first = (size_t)(((unsigned __int128)hot * scale >> 16 & ~1ull) / 2);
	/* Of the text around it, so that others' ticks are elsewhere. */
	if (scale >= 0x1000)
		size = (size_t)(spin_end - spin_begin) * scale >> 16 & ~1ull;
	CHECK(ktr_profil(counter, size, off, scale) == 0, "scale %x: %s", scale, strerror(errno));
	spin_ticks(20);
	ktr_profil(NULL, 0, 0, 0);
	rest = in_all(counter, 4096) - counter[first];
	CHECK(counter[first] >= 10, "scale %x: %u", scale, counter[first]);
	CHECK(rest == 0 || scale < 0x1000, "scale %x: %lu are elsewhere", scale, (unsigned long)rest);
	CHECK(in_all(counter + size / 2, 4096 - size / 2) == 0, "scale %x: beyond the buffer", scale);
}

static void corner_scales(void)
{
	static const unsigned scales[] = { 0x10000, 0x8000, 0x4000, 0xffff, 0xabcd, 0x1235, 3, 2 };
	unsigned short counter[64] = { 0 };

	for (unsigned i = 0; i < sizeof(scales) / sizeof(*scales); i++)
		scale_is(scales[i]);
	/* Above one to one it is refused, and what was on goes on. */
	CHECK(ktr_profil(counter, sizeof(counter), (size_t)spin_begin, 0x10000) == 0, "%s", strerror(errno));
	errno = 0;
	CHECK(ktr_profil(counter, sizeof(counter), 0, 0x10001) == -1 && errno == EINVAL, "0x10001: %s",
	      strerror(errno));
	errno = 0;
	CHECK(ktr_profil(counter, sizeof(counter), 0, ~0u) == -1 && errno == EINVAL, "-1: %s", strerror(errno));
	CHECK(sums().is_on, "a call that was refused has switched it off");
	ktr_profil(NULL, 0, 0, 0);
}

/* 0 and 1 switch off, whatever else is said; then the buffer is the caller's again. */
static void corner_off(void)
{
	for (unsigned scale = 0; scale < 2; scale++) {
		unsigned short counter[64] = { 0 };
		uint64_t was;

		CHECK(ktr_profil(counter, sizeof(counter), (size_t)spin_begin, 0x10000) == 0, "%s",
		      strerror(errno));
		spin_ticks(10);
		CHECK(ktr_profil((void *)8, 100, 1, scale) == 0, "off by %u: %s", scale, strerror(errno));
		CHECK(!sums().is_on, "%u is on", scale);
		was = in_all(counter, 64);
		CHECK(was > 0, "nothing was counted");
		spin(100);
		CHECK(in_all(counter, 64) == was, "scale %u: it goes on", scale);
		CHECK(ktr_profil(counter, sizeof(counter), 0, scale) == 0 && ktr_profil(NULL, 0, 0, scale) == 0,
		      "off twice");
	}
}

/* Which addresses are in no counter. */
static void outside(const char *what, void *samples, size_t size, size_t offset, unsigned scale)
{
	static unsigned short before[64];
	struct ktr_profil_sums from = sums(), to;

	memcpy(before, samples, sizeof(before));
	CHECK(ktr_profil(samples, size, offset, scale) == 0, "%s: %s", what, strerror(errno));
	spin_ticks(10);
	ktr_profil(NULL, 0, 0, 0);
	to = sums();
	CHECK(memcmp(before, samples, sizeof(before)) == 0, "%s: it was counted", what);
	CHECK(to.n_outside - from.n_outside == to.n_ticks - from.n_ticks, "%s: %lu of %lu are outside", what,
	      (unsigned long)(to.n_outside - from.n_outside), (unsigned long)(to.n_ticks - from.n_ticks));
}

static void corner_range(void)
{
	unsigned short counter[64] = { 0 };
	size_t begin = (size_t)spin_begin;

	outside("below the offset", counter, sizeof(counter), begin + 128, 0x10000);
	outside("behind the end", counter, hot, begin, 0x10000);
	outside("an odd size", counter, hot + 1, begin, 0x10000);
	outside("no size", counter, 0, begin, 0x10000);
	outside("far below: its low 32 bits are right", counter, sizeof(counter), begin + hot - ((size_t)1 << 32),
	      0x10000);
	outside("far below, with a multiple of 2^64", counter, sizeof(counter), begin + hot - ((size_t)1 << 46),
	      0x10000 / 4);
	CHECK(ktr_profil(counter, hot + 2, begin, 0x10000) == 0, "%s", strerror(errno));
	for (uint64_t from = now_ns(CLOCK_MONOTONIC); !counter[hot / 2]
	      && now_ns(CLOCK_MONOTONIC) - from < BOUND_NS;)
		spin_loop(1000000);
	ktr_profil(NULL, 0, 0, 0);
	CHECK(counter[hot / 2] > 0, "the last counter of the buffer does not count");
	CHECK(in_all(counter, 64) == counter[hot / 2], "others count");
}

/*
 * So many bytes of text are a counter's: 2 at 0x10000, 4 at 0x8000, 65,536 at 2. The instruction is so far behind
 * the offset: its ticks are in this one.
 */
static void corner_places(void)
{
	static const struct {
		unsigned scale;
		size_t away, counter;
	} place[] = {
		{ 0x10000, 0, 0 },     { 0x10000, 2, 1 },	{ 0x10000, 3, 1 },	{ 0x8000, 2, 0 },
		{ 0x8000, 4, 1 },      { 0x8000, 7, 1 },	{ 2, 65534, 0 },	{ 2, 65536, 1 },
		{ 2, 131071, 1 },      { 2, 131072, 2 },	{ 0x4000, 31, 3 },	{ 0x4000, 32, 4 },
		{ 0xffff, 65536, 32767 }, { 3, 65536, 1 },	{ 3, 43690, 0 },	{ 3, 43691, 1 },
	};
	static unsigned short counter[32768];

	for (unsigned i = 0; i < sizeof(place) / sizeof(*place); i++) {
		size_t first = place[i].counter;
		uint64_t begun = now_ns(CLOCK_MONOTONIC);

		memset(counter, 0, sizeof(counter));
		/* The buffer ends behind the one. */
		CHECK(ktr_profil(counter, 2 * first + 2, (size_t)spin_begin + hot - place[i].away,
				 place[i].scale) == 0,
		      "%s", strerror(errno));
		while (counter[first] < 5 && now_ns(CLOCK_MONOTONIC) - begun < BOUND_NS)
			spin_loop(1000000);
		ktr_profil(NULL, 0, 0, 0);
		CHECK(counter[first] >= 5, "scale %x, %lu bytes on: nothing in counter %lu", place[i].scale,
		      (unsigned long)place[i].away, (unsigned long)first);
		/* Of a few bytes nothing else is in them. */
		memset(counter, 0, sizeof(counter));
		if (first && place[i].away <= hot)
			outside("one counter less", counter, 2 * first,
				(size_t)spin_begin + hot - place[i].away, place[i].scale);
	}
}

/* What comes late counts for as many ticks as were due, at once, where it is let through; and wraps. */
static void corner_late(void)
{
	enum { WAS = 0xfff0 };
	unsigned short counter = WAS;
	sigset_t all, before;
	uint64_t from, outside, came, due = ktr_profil_hz(0) / 2; /* in 500 ms */

	CHECK(ktr_profil(&counter, sizeof(counter), (size_t)spin_unmasked, 0x10000) == 0, "%s", strerror(errno));
	from = sums().n_ticks;
	outside = sums().n_outside;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	spin(500);
	came = sums().n_ticks - from;
	CHECK(came == 0, "%lu ticks came, and all signals are blocked", (unsigned long)came);
	spin_unmask(SIG_SETMASK, &before, NULL, 8);
	ktr_profil(NULL, 0, 0, 0);
	came = sums().n_ticks - from;
	outside = sums().n_outside - outside;
	CHECK(came >= due - due / 10 && came <= due + due / 5, "%lu ticks came late, and %lu were due",
	      (unsigned long)came, (unsigned long)due);
	CHECK(came - outside >= due - due / 10 && counter == (unsigned short)(WAS + came - outside),
	      "%lu ticks that came at once have made %u of %u", (unsigned long)(came - outside), counter, WAS);
}

/* 65535 and a tick is 0, and its neighbours are as they were. */
static void corner_wrap(void)
{
	unsigned short counter[64];

	memset(counter, 0xff, sizeof(counter));
	ktr_profil(counter, sizeof(counter), (size_t)spin_begin, 0x10000);
	for (uint64_t from = now_ns(CLOCK_MONOTONIC); counter[hot / 2] == 0xffff
	      && now_ns(CLOCK_MONOTONIC) - from < BOUND_NS;)
		spin_loop(1000000);
	ktr_profil(NULL, 0, 0, 0);
	CHECK(counter[hot / 2] < 0xff00, "it stays at %x", counter[hot / 2]);
	CHECK(counter[hot / 2 - 1] == 0xffff && counter[hot / 2 + 1] == 0xffff, "the neighbours: %x %x",
	      counter[hot / 2 - 1],
	      counter[hot / 2 + 1]);
}

static void corner_gone(void)
{
	static unsigned short counter[64];

	for (int how = 0; how < 3; how++) {
		char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		uint64_t begun = now_ns(CLOCK_MONOTONIC);

		CHECK(ktr_profil(how == 2 ? NULL : page, 4096, (size_t)spin_begin, 0x10000) == 0, "%s",
		      strerror(errno));
		if (how == 0)
			munmap(page, 4096);
		else if (how == 1)
			mprotect(page, 4096, PROT_READ);
		while (sums().is_on && now_ns(CLOCK_MONOTONIC) - begun < BOUND_NS)
			spin_loop(1000000);
		CHECK(!sums().is_on, "%d: it is not switched off", how);
		if (how)
			munmap(page, 4096);
		memset(counter, 0, sizeof(counter));
		CHECK(ktr_profil(counter, sizeof(counter), (size_t)spin_begin, 0x10000) == 0, "%d: anew: %s", how,
		      strerror(errno));
		spin_ticks(10);
		ktr_profil(NULL, 0, 0, 0);
		CHECK(in_all(counter, 64) >= 5, "%d: nothing is counted anew", how);
	}
}

/* Of a buffer that is there in part that part counts; a tick that belongs to the other ends it. */
static void corner_half(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t begun = now_ns(CLOCK_MONOTONIC);

	munmap(page + 4096, 4096);
	CHECK(ktr_profil(page, 8192, (size_t)spin_begin, 0x10000) == 0, "%s", strerror(errno));
	spin_ticks(10);
	CHECK(sums().is_on && in_all((unsigned short *)(void *)page, 64) >= 5, "what is there does not count");
	CHECK(ktr_profil(page, 8192, (size_t)spin_begin + hot - 4096, 0x10000) == 0, "%s", strerror(errno));
	while (sums().is_on && now_ns(CLOCK_MONOTONIC) - begun < BOUND_NS)
		spin_loop(1000000);
	CHECK(!sums().is_on, "what is not there does not end it");
	munmap(page, 4096);
}

/* Another buffer takes the place of the first, which stays as it was; one at an odd address. */
static void corner_buffers(void)
{
	unsigned short first[64] = { 0 };
	char odd[200] = { 0 };
	unsigned short n;
	uint64_t was;

	ktr_profil(first, sizeof(first), (size_t)spin_begin, 0x10000);
	spin_ticks(10);
	ktr_profil(odd + 1, 128, (size_t)spin_begin, 0x8000);
	was = in_all(first, 64);
	spin_ticks(20);
	CHECK(was > 0 && in_all(first, 64) == was, "the first: %lu, then %lu", (unsigned long)was,
	      (unsigned long)in_all(first, 64));
	ktr_profil(NULL, 0, 0, 0);
	memcpy(&n, odd + 1 + hot / 2, sizeof(n));
	CHECK(n >= 10, "at an odd address: %u", n);
}

/* A child goes on, in its own copy. */
static void corner_fork(void)
{
	static unsigned short counter[64];
	int status = 0;
	uint64_t was;
	pid_t pid;

	memset(counter, 0, sizeof(counter));
	ktr_profil(counter, sizeof(counter), (size_t)spin_begin, 0x10000);
	spin_ticks(10);
	fflush(stdout);
	was = in_all(counter, 64);
	pid = fork();
	if (pid == 0) {
		uint64_t had = in_all(counter, 64);

		spin_ticks(10);
		_exit(in_all(counter, 64) >= had + 5 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	CHECK(status == 0, "the child: %x", (unsigned)status);
	CHECK(in_all(counter, 64) < was + 5, "the parent counts the child's ticks: %lu, then %lu",
	      (unsigned long)was,
	      (unsigned long)in_all(counter, 64));
	spin_ticks(10);
	CHECK(in_all(counter, 64) >= was + 5, "the parent does not go on");
	ktr_profil(NULL, 0, 0, 0);
}

/* No handler changes errno. */
static void corner_errno(void)
{
	static unsigned short counter[64];
	uint64_t from, begun = now_ns(CLOCK_MONOTONIC);

	ktr_profil(counter, sizeof(counter), (size_t)spin_begin, 0x10000);
	from = sums().n_ticks;
	errno = 4711;
	/* Also of a buffer that cannot be written to. */
	for (int i = 0; i < 2; i++) {
		while (sums().n_ticks - from < 50 && sums().is_on && now_ns(CLOCK_MONOTONIC) - begun < BOUND_NS)
			spin_loop(300000);
		CHECK(errno == 4711, "errno is %d", errno);
		ktr_profil((void *)8, 4096, (size_t)spin_begin, 0x10000);
		from = sums().n_ticks;
		errno = 4711;
	}
	ktr_profil(NULL, 0, 0, 0);
}

static void taken(int number)
{
	(void)number;
}

static void corner_signals(void)
{
	static unsigned short counter[64];
	pid_t pid;
	int status = 1;

	fflush(stdout);
	/* Of a child, which has the parent's handler: so it begins before there is one. */
	pid = fork();
	if (pid == 0) {
		for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
			signal(i, taken);
		errno = 0;
		CHECK(ktr_profil(counter, sizeof(counter), (size_t)spin_begin, 0x10000) == -1 && errno == EBUSY,
		      "%s", strerror(errno));
		CHECK(!sums().is_on, "on without a signal");
		for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
			signal(i, SIG_DFL);
		/* One that the program takes meanwhile is the program's; the next call has another. */
		CHECK(ktr_profil(counter, sizeof(counter), (size_t)spin_begin, 0x10000) == 0, "%s",
		      strerror(errno));
		for (int i = SIGRTMIN; i <= SIGRTMAX - 3; i++)
			signal(i, taken);
		CHECK(ktr_profil(counter, sizeof(counter), (size_t)spin_begin, 0x10000) == -1 && errno == EBUSY,
		      "%s", strerror(errno));
		signal(SIGRTMIN + 15, SIG_DFL);
		CHECK(ktr_profil(counter, sizeof(counter), (size_t)spin_begin, 0x10000) == 0, "%s",
		      strerror(errno));
		memset(counter, 0, sizeof(counter));
		spin_ticks(10);
		CHECK(in_all(counter, 64) >= 5, "another signal: nothing is counted");
		fflush(stdout);
		_exit(failed);
	}
	waitpid(pid, &status, 0);
	CHECK(status == 0, "signals: %x", (unsigned)status);
}

static void corner_numbers(void)
{
	struct ktr_profil_sums small = { .size = sizeof(small) - 1 };
	unsigned short counter[64] = { 0 };

	CHECK(ktr_profil_hz(0) == 100, "%u Hz", ktr_profil_hz(0));
	CHECK(ktr_profil_hz(KTR_PROFIL_HZ_MAX + 1) == 100, "%u Hz", ktr_profil_hz(0));
	CHECK(ktr_profil_hz(997) == 997 && ktr_profil_hz(0) == 997, "%u Hz", ktr_profil_hz(0));
	ktr_profil(counter, sizeof(counter), 0, 0x10000);
	CHECK(ktr_profil_hz(100) == 997, "changed while it is on");
	ktr_profil(NULL, 0, 0, 0);
	errno = 0;
	CHECK(ktr_profil_sums(&small) == -1 && errno == EINVAL, "sums of %u bytes", small.size);
	CHECK(ktr_profil_thread() == 0, "a thread while it is off");
}

static int corners(void)
{
	corner_signals();
	corner_numbers();
	corner_off();
	corner_scales();
	corner_range();
	corner_places();
	corner_late();
	corner_wrap();
	corner_gone();
	corner_half();
	corner_buffers();
	corner_fork();
	corner_errno();
	return failed;
}

/* ---- threads ---- */

#define PLACE(n)                                                                                            \
	extern const char __start_text_of_##n[], __stop_text_of_##n[];                                      \
	static __attribute__((noinline, noclone, section("text_of_" #n))) void place_##n(unsigned long turns) \
	{                                                                                                   \
		while (turns--)                                                                             \
			__asm__ volatile("");                                                               \
	}
PLACE(0)
PLACE(1)
PLACE(2)
PLACE(3)

static struct {
	void (*place)(unsigned long turns);
	const char *begin, *end;
	unsigned percent;
	uint64_t cpu_ns;
} role[] = {
	{ place_0, __start_text_of_0, __stop_text_of_0, 100, 0 },
	{ place_1, __start_text_of_1, __stop_text_of_1, 33, 0 },
	{ place_2, __start_text_of_2, __stop_text_of_2, 10, 0 },
	{ place_3, __start_text_of_3, __stop_text_of_3, 50, 0 },
};

static uint64_t all_ns;

static int lives(void *context)
{
	size_t i = (size_t)context;
	uint64_t whole = all_ns * role[i].percent / 100, used = now_ns(CLOCK_THREAD_CPUTIME_ID), burst, was;

	for (unsigned n = 1; used < whole; n++) {
		was = used;
		for (burst = 300000
		      + n * 7919ull % 5000 * 1000; used - was < burst; used = now_ns(CLOCK_THREAD_CPUTIME_ID))
			role[i].place(1000000); /* the clock is asked seldom: its time is the vdso's */
		if (role[i].percent < 100) {
			uint64_t rest = (used - was) * (100 - role[i].percent) / role[i].percent;
			struct timespec nap = { 0, (long)(rest % 1000000000u) };

			nanosleep(&nap, NULL);
		}
	}
	role[i].cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	return 0;
}

static void *lives_pthread(void *context)
{
	return (void *)(intptr_t)lives(context);
}

static double root(double x)
{
	double r = x > 1 ? x : 1;

	for (int i = 0; i < 60; i++)
		r = (r + x / r) / 2;
	return r;
}

/* Threads of known shares: one that was there, the others begin while it is on, one by thrd_create(3). */
static int truth(unsigned ms)
{
	extern const char __executable_start[], etext[];
	size_t size = (size_t)(etext - __executable_start) + 65536;
	unsigned short *all = calloc(1, size);
	double period = 1e9 / ktr_profil_hz(0);
	uint64_t cpu = 0, ticks = 0, own;
	double whole, most_ns;
	pthread_t thread[4];
	thrd_t odd;

	all_ns = ms * 1000000ull;
	CHECK(all && ktr_profil(all, size, (size_t)__executable_start, 0x10000) == 0, "%s", strerror(errno));
	own = now_ns(CLOCK_THREAD_CPUTIME_ID);
	for (size_t i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, lives_pthread, (void *)i);
	thrd_create(&odd, lives, (void *)3);
	for (size_t i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	thrd_join(odd, NULL);
	cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - own;
	ktr_profil(NULL, 0, 0, 0);
	for (size_t i = 0; i < 4; i++) {
		double got = 0, want = (double)role[i].cpu_ns, most;

		for (const char *at = role[i].begin; at < role[i].end; at += 2)
			got += all[(size_t)(at - __executable_start) / 2];
		ticks += (uint64_t)got;
		cpu += role[i].cpu_ns;
		got *= period;
		/* The kernel looks at its tick, of 4 ms or less: several periods may be one choice. */
		most = 5 * root(want * (period > 4e6 ? period : 4e6));
		most = most > 0.02 * want ? most : 0.02 * want;
		printf("%u %%: %.0f ms by its clock, %.0f ms by ticks\n", role[i].percent, want / 1e6, got / 1e6);
		CHECK(got > want - most && got < want + most, "%u %%: %.1f ms instead of %.1f", role[i].percent,
		      got / 1e6, want / 1e6);
	}
	CHECK(sums().n_without == 0, "%lu threads had no timer", (unsigned long)sums().n_without);
	/* In all it is right to a tick of each thread, and to what the kernel has not looked at of this one yet. */
	whole = (double)(sums().n_ticks + sums().n_missed) * period;
	most_ns = 5 * period + 10e6 + 0.005 * (double)cpu;
	CHECK(whole > (double)cpu - most_ns && whole < (double)cpu + most_ns, "in all %.1f ms instead of %.1f",
	      whole / 1e6,
	      (double)cpu / 1e6);
	printf("%lu ticks in places, %lu missed, %.0f ms of CPU time\n", (unsigned long)ticks,
	      (unsigned long)sums().n_missed,
	       (double)cpu / 1e6);
	return failed;
}

/* ---- threads that have text of their own each, so that each one's ticks are known ---- */

#define SHARES_LONG  4
#define SHARES_SHORT 200
#define SHARES_ALL   (SHARES_LONG + SHARES_SHORT)
#define SHARES_TEXT  256 /* [bytes] of a thread's: two places, each the loop */
#define TICK_NS	     4e6 /* the kernel looks at its tick, of 4 ms or less: several periods may be one choice */

#define STALL_NS     200000000u /* for what takes less than a thousandth of that */
#define STALLED	     3		/* exit status */

struct life {
	const char *text;	       /* of two places */
	const unsigned short *counter; /* of that text */
	uint64_t percent, all_ns, state;
	bool ends; /* it does so when there are other ticks than these */
	unsigned had;
	uint64_t place_ns[2];
};

static struct life life[SHARES_ALL];
static uint64_t stalled_ns; /* atomic */

static uint64_t random_of(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Of one of the thread's places. */
static unsigned life_ticks(const struct life *l, int place)
{
	unsigned n = 0;

	for (size_t k = 0; k < SHARES_TEXT / 4; k++)
		n += __atomic_load_n(&l->counter[(size_t)place * SHARES_TEXT / 4 + k], __ATOMIC_RELAXED);
	return n;
}

static bool life_is_over(const struct life *l)
{
	return l->ends && life_ticks(l, 0) + life_ticks(l, 1) != l->had;
}

/* So long in one of the places. */
static uint64_t life_works(struct life *l, int place, uint64_t ns)
{
	void (*loop)(unsigned long n) = (void (*)(unsigned long))(uintptr_t)(l->text + place * SHARES_TEXT / 2);
	uint64_t from = now_ns(CLOCK_THREAD_CPUTIME_ID), to = from;

	while (to - from < ns && !life_is_over(l)) {
		uint64_t was = to;

		loop(500000); /* the clock is asked seldom: its time is elsewhere */
		to = now_ns(CLOCK_THREAD_CPUTIME_ID);
		/* Of a CPU that was another machine's meanwhile. */
		if (to - was > STALL_NS)
			__atomic_fetch_add(&stalled_ns, to - was, __ATOMIC_RELAXED);
	}
	l->place_ns[place] += to - from;
	return to - from;
}

/*
 * Bursts of random lengths, three quarters of each in the first place. It goes on to its next tick, with which all
 * that was due has come: what threads miss that end before is another test's.
 */
static void *life_run(void *context)
{
	struct life *l = context;

	while (!life_is_over(l)) {
		uint64_t ns = 200000 + random_of(&l->state) % 8000000, used = life_works(l, 0, ns * 3 / 4);

		used += life_works(l, 1, ns / 4);
		if (l->percent < 100 && !l->ends) {
			uint64_t rest = used * (100 - l->percent) / l->percent;
			struct timespec nap = { (time_t)(rest / 1000000000u), (long)(rest % 1000000000u) };

			nanosleep(&nap, NULL);
		}
		if (!l->ends && l->place_ns[0] + l->place_ns[1] >= l->all_ns) {
			l->had = life_ticks(l, 0) + life_ticks(l, 1);
			l->ends = true;
		}
	}
	return NULL;
}

/* How far the first place's share is from what the clocks say, in standard errors, squared; -1: of too few. */
static double life_square(size_t from, size_t to, double period)
{
	double a = 0, b = 0, a_ns = 0, b_ns = 0, draws, share, off;

	for (size_t i = from; i < to; i++) {
		a += life_ticks(&life[i], 0);
		b += life_ticks(&life[i], 1);
		a_ns += (double)life[i].place_ns[0];
		b_ns += (double)life[i].place_ns[1];
	}
	/* What comes at once is one choice: on a machine with much else to do as often more of it as less. */
	draws = (a + b) * (period < TICK_NS ? period / TICK_NS : 1) / 2;
	if (draws < 30)
		return -1;
	share = a_ns / (a_ns + b_ns);
	off = a / (a + b) - share;
	return off * off * draws / (share * (1 - share));
}

static void life_begin(size_t i, uint64_t percent, uint64_t ns, uint64_t seed, pthread_t *thread)
{
	life[i].percent = percent;
	life[i].all_ns = ns;
	life[i].state = seed * 1000003 + i + 1;
	CHECK(pthread_create(thread, NULL, life_run, &life[i]) == 0, "no thread");
}

static void shares_run(unsigned ms, uint64_t seed)
{
	static const uint64_t percent[SHARES_LONG] = { 100, 33, 10, 1 };
	pthread_t thread[SHARES_LONG], one;
	uint64_t state = seed * 7919;

	for (size_t i = 0; i < SHARES_LONG; i++)
		life_begin(i, percent[i], ms * 10000ull * percent[i], seed, &thread[i]);
	for (size_t i = SHARES_LONG; i < SHARES_ALL; i++) {
		life_begin(i, 100, random_of(&state) % 20000000, seed, &one);
		pthread_join(one, NULL);
	}
	for (size_t i = 0; i < SHARES_LONG; i++)
		pthread_join(thread[i], NULL);
}

/*
 * Of a thread's time one hundredth may be elsewhere, in calls of its clock, and is told of here or there: that, and
 * five standard errors of so many choices of the kernel's. A thread that ends with a tick has up to a period more.
 */
static void shares_judge_time(const char *what, size_t from, size_t to, double period)
{
	double tick = period > TICK_NS ? period : TICK_NS, got = 0, want = 0, off, more;

	for (size_t i = from; i < to; i++) {
		got += (life_ticks(&life[i], 0) + life_ticks(&life[i], 1)) * period;
		want += (double)(life[i].place_ns[0] + life[i].place_ns[1]);
	}
	off = 0.01 * want + 5 * tick * (1 + root(0.02 * want / tick));
	more = off + (double)(to - from) * period;
	CHECK(got > want - off && got < want + more, "%s %zu: %.2f ms, not %.2f",
	      what, from, got / 1e6, want / 1e6);
	if (to <= SHARES_LONG)
		printf("%lu %%: %.1f ms by its clock, %.1f ms by ticks; ", (unsigned long)life[from].percent,
		       want / 1e6, got / 1e6);
	else if (to - from > 1)
		printf("the others: %.1f ms, %.1f ms; ", want / 1e6, got / 1e6);
}

static void shares_judge(double period)
{
	/* What chi-square of so many is above of one time in a thousand. */
	static const double rare[] = { 0, 10.83, 13.82, 16.27, 18.47, 20.52 };
	double square = 0, one;
	unsigned n = 0;

	for (size_t i = 0; i < SHARES_LONG; i++)
		shares_judge_time("thread", i, i + 1, period);
	shares_judge_time("threads from", SHARES_LONG, SHARES_ALL, period);
	for (size_t i = 0; i <= SHARES_LONG; i++) {
		one = life_square(i, i < SHARES_LONG ? i + 1 : SHARES_ALL, period);
		n += one >= 0;
		square += one >= 0 ? one : 0;
	}
	CHECK(n > 0 && square < rare[n], "places: chi-square %.2f of %u", square, n);
	printf("%lu ticks, %lu elsewhere, %lu missed; places: chi-square %.2f of %u\n", (unsigned long)sums().n_ticks,
	       (unsigned long)sums().n_outside, (unsigned long)sums().n_missed, square, n);
	CHECK(sums().n_without == 0, "%lu threads had no timer", (unsigned long)sums().n_without);
}

/* Threads with 100, 33, 10 and 1 % of a CPU, and 200 that live for a moment; masked: all block all signals. */
static int shares(unsigned ms, uint64_t seed, int is_masked)
{
	enum { N = SHARES_ALL * SHARES_TEXT };
	static unsigned short counter[N / 2];
	char *text = mmap(NULL, N, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigset_t all;

	for (int i = 0; i < 2 * SHARES_ALL; i++)
		memcpy(text + i * SHARES_TEXT / 2, (const char *)(uintptr_t)spin_loop, 16);
	for (size_t i = 0; i < SHARES_ALL; i++) {
		life[i].text = text + i * SHARES_TEXT;
		life[i].counter = counter + i * SHARES_TEXT / 2;
	}
	CHECK(mprotect(text, N, PROT_READ | PROT_EXEC) == 0, "%s", strerror(errno));
	sigfillset(&all);
	if (is_masked)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	CHECK(ktr_profil(counter, sizeof(counter), (size_t)text, 0x10000) == 0, "%s", strerror(errno));
	shares_run(ms, seed);
	ktr_profil(NULL, 0, 0, 0);
	shares_judge(1e9 / ktr_profil_hz(0));
	if (failed && stalled_ns) {
		printf("the machine stood still for %.0f ms meanwhile\n", (double)stalled_ns / 1e6);
		return STALLED;
	}
	return failed;
}

static void *lives_short(void *context)
{
	uint64_t ns = (uint64_t)(uintptr_t)context * 100000, *used = malloc(sizeof(*used));

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < ns)
		place_0(20000);
	*used = now_ns(CLOCK_THREAD_CPUTIME_ID);
	return used;
}

/* Threads that live for a moment, one after another: what was due to them came, or was missed. */
static int moments(unsigned n)
{
	static unsigned short counter[64];
	double period = 1e9 / ktr_profil_hz(997), got, want = 0;
	uint64_t from, own;

	CHECK(ktr_profil(counter, sizeof(counter), (size_t)spin_begin, 0x10000) == 0, "%s", strerror(errno));
	from = sums().n_ticks + sums().n_missed;
	own = now_ns(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned i = 0; i < n; i++) {
		pthread_t thread;
		void *used;

		pthread_create(&thread, NULL, lives_short, (void *)(uintptr_t)(i * 37 % 100));
		pthread_join(thread, &used);
		want += (double)*(uint64_t *)used;
		free(used);
	}
	ktr_profil(NULL, 0, 0, 0);
	want += (double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - own);
	got = (double)(sums().n_ticks + sums().n_missed - from) * period;
	printf("%u threads: %.0f ms by their clocks, %.0f ms by ticks, of them %lu missed\n", n, want / 1e6,
	      got / 1e6,
	       (unsigned long)sums().n_missed);
	/* Each thread's number is right to one, by chance: and its end, after its clock was asked,
	      takes a moment. */
	CHECK(got > want - 5 * root(n) * period - 8e6 && got < want + 5 * root(n) * period + n * 50e3 + 8e6,
	      "%.1f ms instead of %.1f",
	      got / 1e6, want / 1e6);
	return failed;
}

/* ---- monstartup's names ---- */

static int mon(void)
{
	extern const char __executable_start[], etext[];

	ktr_moncontrol(1); /* of nothing */
	CHECK(!sums().is_on, "moncontrol before monstartup");
	errno = 0;
	CHECK(ktr_monstartup(100, 100) == -1 && errno == EINVAL, "an empty range: %s", strerror(errno));
	CHECK(ktr_monstartup((unsigned long)__executable_start, (unsigned long)etext + 65536) == 0, "%s",
	      strerror(errno));
	spin(300);
	ktr_moncontrol(0);
	for (uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + 300000000; now_ns(CLOCK_THREAD_CPUTIME_ID) < end;)
		place_1(100000);
	ktr_moncontrol(1);
	spin(300);
	return failed;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "corners";
	unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 1000;

	if (strcmp(what, "truth") == 0) {
		if (argc > 3)
			ktr_profil_hz((unsigned)strtoul(argv[3], NULL, 0));
		return truth(n);
	}
	if (strcmp(what, "shares") == 0 && argc > 4) {
		ktr_profil_hz((unsigned)strtoul(argv[3], NULL, 0));
		return shares(n, strtoull(argv[4], NULL, 0), argc > 5);
	}
	if (strcmp(what, "short") == 0)
		return moments(n);
	if (strcmp(what, "mon") == 0)
		return mon();
	if (strcmp(what, "spin") == 0) {
		spin(n);
		return 0;
	}
	if (strcmp(what, "exec") == 0) {
		static unsigned short counter[64];

		ktr_profil_hz(KTR_PROFIL_HZ_MAX);
		ktr_profil(counter, sizeof(counter), (size_t)spin_begin, 0x10000);
		spin(50);
		execl(argv[0], argv[0], "spin", "300", (char *)NULL);
		return 2;
	}
	return corners();
}
