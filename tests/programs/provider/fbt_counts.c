/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fbt_counts [PLUGIN]: calls functions, and counts each call by the compiler's own instrumentation
 * (-finstrument-functions), which knows nothing of ktr. Writes "ADDRESS COUNT" for each function to standard
 * output, addresses as in the file. With a plugin: loads it, calls into it, unloads it, three times.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BARE __attribute__((no_instrument_function, patchable_function_entry(0, 0)))

#define COUNTS 4096

static struct {
	uintptr_t function; /* atomic */
	unsigned long n;
} counts[COUNTS];

BARE void __cyg_profile_func_enter(void *function, void *caller);
BARE void __cyg_profile_func_exit(void *function, void *caller);

BARE void __cyg_profile_func_enter(void *function, void *caller)
{
	uintptr_t mine = (uintptr_t)function, none = 0;
	unsigned at = (unsigned)(mine * 0x9e3779b97f4a7c15ull >> 52);

	(void)caller;
	while (!__atomic_compare_exchange_n(&counts[at].function, &none, mine, 0, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED) && none != mine) {
		at = (at + 1) % COUNTS;
		none = 0;
	}
	__atomic_fetch_add(&counts[at].n, 1, __ATOMIC_RELAXED);
}

BARE void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)function;
	(void)caller;
}

static __attribute__((noinline)) int helper(int n)
{
	return n ^ 5;
}

static __attribute__((noinline)) int collatz(unsigned long n)
{
	int rest = n == 1 ? -1 : collatz(n % 2 ? 3 * n + 1 : n / 2);

	__asm__ volatile("" : "+r"(rest)); /* no loop */
	return rest + 1;
}

static __attribute__((noinline)) long ping(long n, long steps);

static __attribute__((noinline)) long pong(long n, long steps)
{
	return n ? ping(n - 1, steps + 1) : steps;
}

static __attribute__((noinline)) long ping(long n, long steps)
{
	return n ? pong(n - 1, steps + 1) : steps;
}

static __attribute__((noinline)) void leaves(jmp_buf where, int depth)
{
	if (depth == 0)
		longjmp(where, 1);
	leaves(where, depth - 1);
	__asm__ volatile("");
}

static __attribute__((noinline)) void lands(int depth)
{
	jmp_buf here;

	if (!setjmp(here))
		leaves(here, depth);
}

static void *work(void *context)
{
	long sum = 0;

	for (unsigned long i = 1; i < 200; i++)
		sum += collatz(i) + helper((int)i);
	for (int i = 0; i < 50; i++)
		lands(i % 7);
	*(long *)context = sum + ping(1000, 0);
	return NULL;
}

static void with_plugin(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW);
	int (*call)(int) = plugin ? (int (*)(int))dlsym(plugin, "plugin_call") : NULL;

	if (!call || call(20) != 6765) {
		fprintf(stderr, "%s: %s\n", path, call ? "wrong result" : dlerror());
		exit(1);
	}
	dlclose(plugin);
}

BARE int main(int argc, char **argv)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	pthread_t thread[4];
	long sum[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, work, &sum[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; argc > 1 && i < 3; i++)
		with_plugin(argv[1]);
	for (int i = 0; i < COUNTS; i++)
		if (counts[i].function)
			printf("%#lx %lu\n", (unsigned long)(counts[i].function - (uintptr_t)__ehdr_start), counts[i].n);
	return sum[0] != sum[3];
}
