/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fbt_filter NS DEPTH: threads whose functions call each other, and keep their own account of it by the compiler's
 * instrumentation (-finstrument-functions), which knows nothing of ktr. Writes for each function, by its address in
 * the file, how many of its calls
 *
 *	were at most so deep		were within one of caller()	were within it, and at most so deep there
 *	took NS for certain, or perhaps	(at the most; clocks are read within the call, and around it)
 *
 * fbt_filter: takes words from standard input, and does what they say, one by one, within a call of serve().
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BARE   __attribute__((no_instrument_function, patchable_function_entry(0, 0)))
#define KEEP   __attribute__((noinline))
#define CALLS  4096 /* deep */
#define COUNTS 64

struct call {
	struct count *of;
	uint64_t before, began; /* [ns] */
	unsigned depth_within;
};

static struct count {
	uintptr_t function; /* atomic, as all */
	unsigned long n_deep, n_within, n_both, n_long, n_perhaps;
} counts[COUNTS];

static __thread struct call calls[CALLS];
static __thread unsigned n_calls;
static __thread uint64_t last_ns;
static __thread struct call ended; /* the last one; of: NULL: none that is not counted yet */
static uint64_t long_ns;
static unsigned deep;

KEEP void caller(int n);

BARE void __cyg_profile_func_enter(void *function, void *from);
BARE void __cyg_profile_func_exit(void *function, void *from);

BARE static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

BARE static struct count *count_of(uintptr_t function)
{
	unsigned at = (unsigned)(function * 0x9e3779b97f4a7c15ull >> 58);
	uintptr_t none = 0;

	while (!__atomic_compare_exchange_n(&counts[at].function, &none, function, 0, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED) && none != function) {
		at = (at + 1) % COUNTS;
		none = 0;
	}
	return &counts[at];
}

BARE static void more(unsigned long *count)
{
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

BARE static uint64_t look(void)
{
	uint64_t ns = now_ns();

	if (ended.of && ns - ended.before >= long_ns)
		more(&ended.of->n_perhaps);
	ended.of = NULL;
	return ns;
}

BARE void __cyg_profile_func_enter(void *function, void *from)
{
	unsigned around = n_calls ? calls[n_calls - 1].depth_within : 0;
	uint64_t before = last_ns ? last_ns : now_ns();
	struct call *call = &calls[n_calls++];

	(void)from;
	call->of = count_of((uintptr_t)function);
	call->depth_within = around || function == (void *)(uintptr_t)caller ? around + 1 : 0;
	if (n_calls <= deep)
		more(&call->of->n_deep);
	if (call->depth_within)
		more(&call->of->n_within);
	if (call->depth_within && call->depth_within <= deep)
		more(&call->of->n_both);
	call->before = before;
	call->began = last_ns = look();
}

BARE void __cyg_profile_func_exit(void *function, void *from)
{
	struct call *call = &calls[--n_calls];

	(void)function;
	(void)from;
	last_ns = look();
	if (last_ns - call->began >= long_ns)
		more(&call->of->n_long);
	ended = *call;
}

/* ---- what is called ---- */

KEEP void brief(void)
{
	__asm__ volatile("");
}

KEEP void lasts(uint64_t ns)
{
	for (uint64_t began = now_ns(); now_ns() - began < ns;)
		;
	__asm__ volatile("");
}

KEEP long again(long n)
{
	long sum = n ? again(n - 1) : 0;

	__asm__ volatile("" : "+r"(sum));
	return sum + 1;
}

KEEP void leaves(jmp_buf where, int n)
{
	brief();
	if (!n)
		longjmp(where, 1);
	leaves(where, n - 1);
	__asm__ volatile("");
}

KEEP void lands(int n)
{
	volatile unsigned mine = n_calls;
	jmp_buf here;

	if (!setjmp(here))
		leaves(here, n);
	n_calls = mine;
	brief();
}

KEEP static void turns(int n);

/* A tail call. */
KEEP static void about(int n)
{
	if (n)
		turns(n - 1);
	else
		brief();
}

KEEP static void turns(int n)
{
	if (n)
		about(n - 1);
}

KEEP void work(int n)
{
	for (int i = 0; i < n; i++) {
		brief();
		lands(i % 5);
	}
	again(n * 100); /* some areas of stack */
	turns(n);
	if (n % 4 == 0)
		lasts(long_ns * 3 / 2);
	__asm__ volatile("");
}

KEEP void caller(int n)
{
	work(n);
	if (n)
		caller(n / 2);
	__asm__ volatile("");
}

KEEP static void *starts(void *context)
{
	int n = (int)(intptr_t)context;

	for (int i = 0; i < 6; i++) {
		work(n + i);
		caller(n + i);
		brief();
	}
	return NULL;
}

BARE static void *thread(void *context)
{
	starts(context);
	look();
	return NULL;
}

/* ---- by words ---- */

/* Begins with the answer to the word before: who has that knows that the call has begun. */
KEEP int serve(char *word, int n)
{
	static int begun;
	int go;

	if (begun++)
		printf("done\n");
	fflush(stdout);
	go = fgets(word, n, stdin) != NULL && strncmp(word, "end", 3) != 0;
	if (strncmp(word, "work", 4) == 0)
		caller(1);
	if (strncmp(word, "within", 6) == 0)
		serve(word, n);
	__asm__ volatile("");
	return go;
}

BARE int main(int argc, char **argv)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	pthread_t threads[3];
	char word[16] = "";

	if (argc < 3) {
		while (serve(word, sizeof(word)))
			;
		return 0;
	}
	long_ns = strtoull(argv[1], NULL, 0);
	deep = (unsigned)strtoul(argv[2], NULL, 0);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, thread, (void *)(intptr_t)(3 + i));
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < COUNTS; i++)
		if (counts[i].function)
			printf("%#lx %lu %lu %lu %lu %lu\n", (unsigned long)(counts[i].function - (uintptr_t)__ehdr_start),
			       counts[i].n_deep, counts[i].n_within, counts[i].n_both, counts[i].n_long,
			       counts[i].n_perhaps);
	return 0;
}
