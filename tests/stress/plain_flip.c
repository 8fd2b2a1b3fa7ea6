/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plain_flip FLIPS SEED [THREADS]: functions that were not built to be probed, each at the 64 places of a line of
 * the cache, called by threads without a pause, while what leads them away is stored over their first instruction
 * and taken back, so many times each. Every result is checked. Runs under the agent, with all of flip_* switched
 * on: the bytes are the provider's own, as it has left them; they are stored as it does it, but some million times
 * a second. Nothing of ktr is in here.
 *
 *	flip_long_N	begins with an instruction of five bytes: led away where these lie in one word of eight
 *	flip_short_N	with one of two
 *
 * plain_flip -x FLIPS SEED [THREADS]: what the provider does not do, so that it is known that all this notices: a
 * jump of five bytes over ones that cross such a word, by one store that is not aligned, each in a child of its
 * own. Prints how many children of those that cross 8, 32 and 64 bytes have died or computed wrongly; exit status
 * 1 if none of those that cross 64 bytes has.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACES	  64
#define THREADS	  64
#define WORD	  8
#define LONG	  5 /* [bytes] of a long jump */
#define SHORT	  2
#define COPY	  64 /* where in what is free behind a function */
#define WAIT_MS	  10000
#define CHILD_S	  60
#define DUE_CALLS 10000 /* of each thread for each place */

/* long flip_FORM_N(long x): 3 * x + N, its first byte at N mod 64. */
#define FLIP_FUNCTION(form, n, text)                                                             \
	__asm__(".text\n\t"                                                                      \
		".balign 64\n\t"                                                                 \
		".skip 64 + " #n ", 0x90\n\t"                                                    \
		".globl flip_" #form "_" #n "\n\t"                                               \
		".type flip_" #form "_" #n ", @function\n"                                        \
		"flip_" #form "_" #n ":\n\t"                                                     \
		".cfi_startproc\n\t" text "\n\t"                                                 \
		"ret\n\t"                                                                        \
		".cfi_endproc\n\t"                                                               \
		".size flip_" #form "_" #n ", . - flip_" #form "_" #n "\n\t"                     \
		".skip 16, 0x90");                                                               \
	long flip_##form##_##n(long x);
/* lea N(%rdi,%rdi,2), %rax, of five bytes for 0 too */
#define FLIP_LONG(n)  FLIP_FUNCTION(long, n, ".byte 0x48, 0x8d, 0x44, 0x7f, " #n)
#define FLIP_SHORT(n) FLIP_FUNCTION(short, n, "xor %eax, %eax\n\tlea " #n "(%rdi,%rdi,2), %rax")
#define FLIP_TEN(X, d) X(d##0) X(d##1) X(d##2) X(d##3) X(d##4) X(d##5) X(d##6) X(d##7) X(d##8) X(d##9)
#define FLIP_ALL(X)                                                                              \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) FLIP_TEN(X, 1) FLIP_TEN(X, 2)          \
	FLIP_TEN(X, 3) FLIP_TEN(X, 4) FLIP_TEN(X, 5) X(60) X(61) X(62) X(63)
FLIP_ALL(FLIP_LONG)
FLIP_ALL(FLIP_SHORT)

struct flip_place {
	long (*call)(long);
	long n;
};

static const struct flip_place flip_long[PLACES] = {
#define FLIP_ROW(n) { flip_long_##n, n },
	FLIP_ALL(FLIP_ROW)
#undef FLIP_ROW
};
static const struct flip_place flip_short[PLACES] = {
#define FLIP_ROW(n) { flip_short_##n, n },
	FLIP_ALL(FLIP_ROW)
#undef FLIP_ROW
};

static const struct flip_place *flip_now; /* what is called. Atomic */
static int flip_done; /* atomic */

static struct flip_caller {
	pthread_t thread;
	uint64_t calls, wrong; /* atomic */
} flip_caller[THREADS];
static int flip_n_callers;

static void *flip_calls(void *context)
{
	struct flip_caller *me = context;

	setpriority(PRIO_PROCESS, 0, 10); /* of this thread: where CPUs are few, flips go before calls */
	while (!__atomic_load_n(&flip_done, __ATOMIC_RELAXED)) {
		const struct flip_place *place = __atomic_load_n(&flip_now, __ATOMIC_ACQUIRE);
		uint64_t wrong = 0;

		for (long i = 0; i < 1000; i++)
			wrong += place->call(i) != 3 * i + place->n;
		__atomic_store_n(&me->wrong, me->wrong + wrong, __ATOMIC_RELAXED);
		__atomic_store_n(&me->calls, me->calls + 1000, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void flip_begin(const struct flip_place *place)
{
	__atomic_store_n(&flip_now, place, __ATOMIC_RELEASE);
	__atomic_store_n(&flip_done, 0, __ATOMIC_RELAXED);
	for (int i = 0; i < flip_n_callers; i++)
		pthread_create(&flip_caller[i].thread, NULL, flip_calls, &flip_caller[i]);
}

static uint64_t flip_end(uint64_t *calls)
{
	uint64_t wrong = 0;

	__atomic_store_n(&flip_done, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < flip_n_callers; i++) {
		pthread_join(flip_caller[i].thread, NULL);
		*calls += flip_caller[i].calls;
		wrong += flip_caller[i].wrong;
	}
	return wrong;
}

/* Has each thread called what is at work? */
static bool flip_are_called(const uint64_t *before)
{
	for (int i = 0; i < flip_n_callers; i++)
		if (__atomic_load_n(&flip_caller[i].calls, __ATOMIC_RELAXED) - before[i] < DUE_CALLS)
			return false;
	return true;
}

/*
 * Stores one and the other by turns, in bursts of random length, so that callers find them in all phases: n times,
 * and until all threads have called it. As many as it was.
 */
static uint64_t flip_flips(uint64_t *at, const uint64_t word[2], uint64_t n, uint64_t *random)
{
	uint64_t done = 0, before[THREADS];

	for (int i = 0; i < flip_n_callers; i++)
		before[i] = __atomic_load_n(&flip_caller[i].calls, __ATOMIC_RELAXED);
	while (done < n || done % 2 || !flip_are_called(before)) {
		uint64_t burst;

		*random = *random * 6364136223846793005ull + 1442695040888963407ull;
		burst = (*random >> 33) % 64 + 1;
		for (uint64_t i = 0; i < burst; i++, done++)
			__asm__ volatile("movq %1, %0" : "=m"(*at) : "r"(word[done & 1]));
		for (uint64_t i = *random >> 60; i; i--)
			__builtin_ia32_pause();
	}
	return done;
}

/* The text of all, and what is between them. */
static void flip_writable(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = UINTPTR_MAX, to = 0;

	for (int i = 0; i < 2 * PLACES; i++) {
		uintptr_t at = (uintptr_t)(i < PLACES ? flip_long[i] : flip_short[i - PLACES]).call;

		from = at < from ? at : from;
		to = at > to ? at : to;
	}
	from &= ~(page - 1);
	if (mprotect((void *)from, to + PLACES - from, PROT_READ | PROT_WRITE | PROT_EXEC)) {
		perror("plain_flip: mprotect");
		exit(1);
	}
}

/* ---- as the provider does it ---- */

/* What its file has there. */
static bool flip_is_bare(const struct flip_place *place, int form)
{
	uint8_t bare[LONG] = { 0x48, 0x8d, 0x44, 0x7f, (uint8_t)place->n };

	return form == LONG ? memcmp((const void *)(uintptr_t)place->call, bare, LONG) == 0
			    : memcmp((const void *)(uintptr_t)place->call, "\x31\xc0", SHORT) == 0;
}

/* At how many of a form's places in a line its changes lie in one word. */
static int flip_n_fit(int form)
{
	return PLACES / WORD * (WORD - form + 1);
}

static bool flip_fits(long n, int form)
{
	return n % WORD + form <= WORD;
}

/* The agent leads all of them away that it can, before main() or soon after. */
static void flip_wait(const struct flip_place *places, int form)
{
	int n = 0;

	for (int ms = 0; ms < WAIT_MS; ms++) {
		n = 0;
		for (int i = 0; i < PLACES; i++)
			n += flip_fits(places[i].n, form) && !flip_is_bare(&places[i], form);
		if (n == flip_n_fit(form))
			return;
		usleep(1000);
	}
	fprintf(stderr, "plain_flip: %d of %d functions of a first instruction of %d bytes lead away\n", n,
		flip_n_fit(form), form);
	exit(2);
}

static uint64_t flip_form(const char *name, const struct flip_place *places, int form, uint64_t n, uint64_t *random)
{
	uint64_t calls = 0, flips = 0, wrong, fewest = UINT64_MAX;

	flip_begin(&places[0]);
	for (int i = 0; i < PLACES; i++) {
		uint64_t *at = (uint64_t *)((uintptr_t)places[i].call & ~(uintptr_t)(WORD - 1)), word[2];
		uint8_t bare[LONG] = { 0x48, 0x8d, 0x44, 0x7f, (uint8_t)places[i].n };

		if (!flip_fits(places[i].n, form))
			continue;
		word[0] = word[1] = *at;
		memcpy((uint8_t *)&word[0] + places[i].n % WORD, form == LONG ? bare : (const uint8_t *)"\x31\xc0",
		       (size_t)form);
		__atomic_store_n(&flip_now, &places[i], __ATOMIC_RELEASE);
		flips = flip_flips(at, word, n, random);
		fewest = flips < fewest ? flips : fewest;
	}
	wrong = flip_end(&calls);
	printf("%s: %llu flips and more at each of %d places, %llu calls by %d threads, %llu wrong\n", name,
	       (unsigned long long)fewest, flip_n_fit(form), (unsigned long long)calls, flip_n_callers,
	       (unsigned long long)wrong);
	fflush(stdout);
	return wrong;
}

/* ---- as it must not be done ---- */

/* Its first instruction becomes a jump to a copy of all of it, in what is free behind it. */
static uint64_t flip_cross(int i, uint64_t n, uint64_t *random)
{
	const struct flip_place *place = &flip_long[i];
	uint8_t *at = (uint8_t *)(uintptr_t)place->call;
	int32_t rel = COPY - LONG;
	uint64_t word[2], calls = 0;

	memcpy(at + COPY, at, LONG + 1);
	memcpy(&word[0], at, sizeof(word[0]));
	word[1] = word[0];
	memcpy((uint8_t *)&word[1], &(uint8_t){ 0xe9 }, 1);
	memcpy((uint8_t *)&word[1] + 1, &rel, sizeof(rel));
	alarm(CHILD_S); /* what is run may be anything, a loop too */
	flip_begin(place);
	flip_flips((uint64_t *)(uintptr_t)at, word, n, random);
	return flip_end(&calls);
}

static int flip_crosses(uint64_t n, uint64_t *random)
{
	static const int line[] = { 8, 32, 64 };
	int died[3] = { 0, 0, 0 }, of[3] = { 0, 0, 0 };

	for (int i = 0; i < PLACES; i++) {
		int k = i % 8 <= 3 ? -1 : i > 59 ? 2 : i >= 28 && i <= 31 ? 1 : 0, status;
		pid_t pid;

		if (k < 0)
			continue;
		pid = fork();
		if (pid == 0)
			_exit(flip_cross(i, n, random) != 0);
		if (pid < 0 || waitpid(pid, &status, 0) != pid) {
			perror("plain_flip: fork");
			return 2;
		}
		of[k]++;
		died[k] += status != 0;
	}
	for (int k = 0; k < 3; k++)
		printf("crossing %d bytes: %d of %d noticed\n", line[k], died[k], of[k]);
	return died[2] ? 0 : 1;
}

int main(int argc, char **argv)
{
	bool crosses = argc > 1 && strcmp(argv[1], "-x") == 0;
	uint64_t n, random, wrong;

	argc -= crosses;
	argv += crosses;
	n = argc > 1 ? strtoull(argv[1], NULL, 0) : 10000;
	random = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	flip_n_callers = argc > 3 ? atoi(argv[3]) : 8;
	if (flip_n_callers < 1 || flip_n_callers > THREADS) {
		fprintf(stderr, "plain_flip: THREADS is 1 to %d\n", THREADS);
		return 2;
	}
	if (!crosses) {
		flip_wait(flip_long, LONG);
		flip_wait(flip_short, SHORT);
	}
	flip_writable();
	if (crosses)
		return flip_crosses(n, &random);
	wrong = flip_form("long", flip_long, LONG, n, &random);
	wrong += flip_form("short", flip_short, SHORT, n, &random);
	return wrong != 0;
}
