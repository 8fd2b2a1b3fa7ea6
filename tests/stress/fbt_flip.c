/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fbt_flip FLIPS SEED [THREADS]: functions whose first byte lies at each of the 64 places in a line of the
 * cache, called by threads without a pause, while their probes are switched by the one byte that the provider
 * changes, so many times each. Every result is checked. Prints, for each place, flips and calls.
 *
 * The functions are written by hand in the form that -fpatchable-function-entry=16,14 gives them; the provider
 * fills in their rooms when it enables them once. Then their text is made writable, and the byte is stored
 * directly: some ten million times a second, where the provider's way takes a system call each.
 */
#include <ktr/fbt.h>
#include <ktr/provider.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PLACES	64
#define THREADS 64
#define BARE	__attribute__((patchable_function_entry(0, 0)))

/* long flip_N(long x): 3 * x + N, its first byte at N mod 64; in a chain of calls that a return address ends. */
#define FLIP_FUNCTION(n)                                                                         \
	__asm__(".text\n\t"                                                                      \
		".balign 64\n\t"                                                                 \
		".skip (64 + " #n " - 14) % 64 + 64, 0x90\n"                                     \
		"1:\t.skip 14, 0x90\n\t"                                                         \
		".globl flip_" #n "\n\t"                                                         \
		".type flip_" #n ", @function\n"                                                 \
		"flip_" #n ":\n\t"                                                               \
		".cfi_startproc\n\t"                                                             \
		".byte 0x66, 0x90\n\t"                                                           \
		"lea " #n "(%rdi,%rdi,2), %rax\n\t"                                              \
		"ret\n\t"                                                                        \
		".cfi_endproc\n\t"                                                               \
		".size flip_" #n ", . - flip_" #n "\n\t"                                         \
		".pushsection __patchable_function_entries,\"awo\",@progbits,.text\n\t"          \
		".balign 8\n\t.quad 1b\n\t.popsection");                                         \
	long flip_##n(long x);
#define FLIP_EIGHT(X, d)                                                                         \
	X(d##0) X(d##1) X(d##2) X(d##3) X(d##4) X(d##5) X(d##6) X(d##7) X(d##8) X(d##9)
#define FLIP_ALL(X)                                                                              \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) FLIP_EIGHT(X, 1) FLIP_EIGHT(X, 2)      \
	FLIP_EIGHT(X, 3) FLIP_EIGHT(X, 4) FLIP_EIGHT(X, 5) X(60) X(61) X(62) X(63)
FLIP_ALL(FLIP_FUNCTION)

static long (*const flip_function[PLACES])(long) = {
#define FLIP_ROW(n) flip_##n,
	FLIP_ALL(FLIP_ROW)
#undef FLIP_ROW
};

static int flip_place; /* where the flipper is at; atomic */
static int flip_done;
static uint64_t flip_calls[THREADS], flip_wrong[THREADS];

BARE static void *flip_caller(void *context)
{
	size_t me = (size_t)(uintptr_t)context;
	uint64_t calls = 0, wrong = 0;

	setpriority(PRIO_PROCESS, 0, 10); /* of this thread: where CPUs are few, flips go before calls */
	while (!__atomic_load_n(&flip_done, __ATOMIC_RELAXED)) {
		int place = __atomic_load_n(&flip_place, __ATOMIC_RELAXED);

		for (long i = 0; i < 1000; i++)
			wrong += flip_function[place](i) != 3 * i + place;
		calls += 1000;
	}
	flip_calls[me] = calls;
	flip_wrong[me] = wrong;
	return NULL;
}

/* Flips the byte in bursts of random length, so that callers find it in all phases. */
BARE static void flip_flips(uint8_t *byte, uint64_t n, uint64_t *random)
{
	while (n) {
		uint64_t burst;

		*random = *random * 6364136223846793005ull + 1442695040888963407ull;
		burst = (*random >> 33) % 64 + 1;
		burst = burst < n ? burst : n;
		for (uint64_t i = 0; i < burst; i++)
			__atomic_store_n(byte, *byte ^ 0xa8 ^ 0xeb, __ATOMIC_RELAXED);
		n -= burst;
		for (uint64_t i = *random >> 60; i; i--)
			__builtin_ia32_pause();
	}
}

BARE static void flip_writable(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = UINTPTR_MAX, to = 0;

	for (int i = 0; i < PLACES; i++) {
		uintptr_t at = (uintptr_t)flip_function[i];

		from = at < from ? at : from;
		to = at > to ? at : to;
	}
	from &= ~(page - 1);
	if (mprotect((void *)from, to + 16 - from, PROT_READ | PROT_WRITE | PROT_EXEC)) {
		perror("fbt_flip: mprotect");
		exit(1);
	}
}

BARE int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 0) : 10000;
	uint64_t random = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	int n_threads = argc > 3 ? atoi(argv[3]) : 8;
	struct ktr_error err = KTR_ERROR_NONE;
	pthread_t thread[THREADS];
	uint64_t calls = 0, wrong = 0;

	if (ktr_provider_enable("fbt::flip_*:", &err)) {
		fprintf(stderr, "fbt_flip: %s\n", err.text);
		return 1;
	}
	flip_writable();
	for (int i = 0; i < n_threads; i++)
		pthread_create(&thread[i], NULL, flip_caller, (void *)(uintptr_t)i);
	for (int place = 0; place < PLACES; place++) {
		__atomic_store_n(&flip_place, place, __ATOMIC_RELAXED);
		flip_flips((uint8_t *)(uintptr_t)flip_function[place], n, &random);
		printf("%d: %llu flips\n", place, (unsigned long long)n);
		fflush(stdout);
	}
	__atomic_store_n(&flip_done, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < n_threads; i++) {
		pthread_join(thread[i], NULL);
		calls += flip_calls[i];
		wrong += flip_wrong[i];
	}
	printf("%llu flips at each of %d places, %llu calls by %d threads, %llu wrong\n", (unsigned long long)n, PLACES,
	       (unsigned long long)calls, n_threads, (unsigned long long)wrong);
	return wrong != 0;
}
