/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profil corners | mon | exec | spin MS: ktr_profil() of libktr-profil, by its every corner, and monstartup's
 * names. Prints what is wrong, and ends with 1 then.
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
#include <sys/resource.h>
#include <sys/wait.h>
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

/*
 * What comes late counts for as many ticks as were due, at once, where it is let through; and wraps. In a time T of
 * a timer that begins at a random place in its first period, these are T in periods, rounded up or down.
 */
static void corner_late(void)
{
	enum { WAS = 0xfff0 };
	uint64_t period = 1000000000u / ktr_profil_hz(0), begun[2], ended[2], from = sums().n_ticks;
	uint64_t early, outside, came;
	unsigned short counter = WAS;
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	begun[0] = now_ns(CLOCK_THREAD_CPUTIME_ID);
	CHECK(ktr_profil(&counter, sizeof(counter), (size_t)spin_unmasked, 0x10000) == 0, "%s", strerror(errno));
	begun[1] = now_ns(CLOCK_THREAD_CPUTIME_ID);
	sigprocmask(SIG_SETMASK, &all, NULL); /* it lets its own through */
	early = sums().n_ticks - from;
	outside = sums().n_outside;
	spin(500);
	came = sums().n_ticks - from - early;
	CHECK(came == 0, "%lu ticks came, and all signals are blocked", (unsigned long)came);
	ended[0] = now_ns(CLOCK_THREAD_CPUTIME_ID);
	spin_unmask(SIG_SETMASK, &before, NULL, 8);
	ktr_profil(NULL, 0, 0, 0);
	ended[1] = now_ns(CLOCK_THREAD_CPUTIME_ID);
	came = sums().n_ticks - from - early;
	outside = sums().n_outside - outside;
	CHECK(came - outside + early >= (ended[0] - begun[1]) / period &&
		      came + early <= (ended[1] - begun[0]) / period + 1,
	      "%lu ticks came late, %lu of them elsewhere, of %lu ns", (unsigned long)came, (unsigned long)outside,
	      (unsigned long)(ended[0] - begun[1]));
	CHECK(counter == (unsigned short)(WAS + came - outside), "%lu ticks that came at once have made %u of %u",
	      (unsigned long)(came - outside), counter, WAS);
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

static void *without(void *arg)
{
	spin(20);
	return arg;
}

/* The kernel gives no more timers: threads live on without, which is counted; who asks for it is told. */
static void corner_no_timers(void)
{
	static unsigned short counter[64];
	struct rlimit limit, none;
	pthread_t thread;
	uint64_t n;

	getrlimit(RLIMIT_SIGPENDING, &limit);
	none = (struct rlimit){ 0, limit.rlim_max };
	CHECK(ktr_profil(counter, sizeof(counter), (size_t)spin_begin, 0x10000) == 0, "%s", strerror(errno));
	n = sums().n_without;
	setrlimit(RLIMIT_SIGPENDING, &none);
	for (int i = 0; i < 3; i++) {
		CHECK(pthread_create(&thread, NULL, without, NULL) == 0, "no thread");
		pthread_join(thread, NULL);
	}
	n = sums().n_without - n;
	CHECK(n == 3 && sums().is_on, "%lu threads had no timer", (unsigned long)n);
	spin_ticks(10);
	ktr_profil(NULL, 0, 0, 0);
	errno = 0;
	CHECK(ktr_profil(counter, sizeof(counter), (size_t)spin_begin, 0x10000) == -1 && errno == EAGAIN, "%s",
	      strerror(errno));
	CHECK(!sums().is_on, "on without a timer");
	setrlimit(RLIMIT_SIGPENDING, &limit);
	CHECK(ktr_profil(counter, sizeof(counter), (size_t)spin_begin, 0x10000) == 0, "%s", strerror(errno));
	spin_ticks(10);
	ktr_profil(NULL, 0, 0, 0);
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
	corner_no_timers();
	return failed;
}

/* ---- monstartup's names ---- */

static __attribute__((noinline, noclone)) void while_off(unsigned long turns)
{
	while (turns--)
		__asm__ volatile("");
}

/* Prints how many ticks came, and how many of them are not in the file. */
static int mon(void)
{
	extern const char __executable_start[], etext[];

	ktr_moncontrol(1); /* of nothing */
	CHECK(!sums().is_on, "moncontrol before monstartup");
	errno = 0;
	CHECK(ktr_monstartup(100, 100) == -1 && errno == EINVAL, "an empty range: %s", strerror(errno));
	CHECK(ktr_monstartup((unsigned long)__executable_start, (unsigned long)etext + 65536) == 0, "%s",
	      strerror(errno));
	spin_ticks(50);
	ktr_moncontrol(0);
	for (uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + 300000000; now_ns(CLOCK_THREAD_CPUTIME_ID) < end;)
		while_off(100000);
	ktr_moncontrol(1);
	spin_ticks(50);
	ktr_moncontrol(0);
	printf("%lu %lu\n", (unsigned long)sums().n_ticks, (unsigned long)sums().n_outside);
	return failed;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "corners";
	unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 1000;

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
