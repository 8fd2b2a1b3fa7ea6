/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Serves requests by parsing and looking up; built with -DNEW, parsing takes longer and looking up a little less.
 * Each function says in the end how long it took by itself, by a clock of the program's own: "NAME CALLS
 * NANOSECONDS".
 */
#include <ktr.h>

#include <stdint.h>
#include <stdio.h>
#include <time.h>

#ifdef NEW
#define PARSE_US 220
#define FIND_US  80
#else
#define PARSE_US 120
#define FIND_US  100
#endif
#define REQUESTS 600

enum { SERVE, PARSE, FIND };

static int64_t own_ns[3];
static long calls[3];

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* As long as that, every eighth time twice as long. */
static void spend(int function, int us)
{
	int64_t begin_ns = now_ns(), long_ns = us * (calls[function]++ % 8 ? 1000ll : 2000ll);

	while (now_ns() - begin_ns < long_ns)
		;
	own_ns[function] += now_ns() - begin_ns;
}

__attribute__((noinline)) static void parse(void)
{
	KTR_SCOPE(KTR_GEN, "parse");
	spend(PARSE, PARSE_US);
}

__attribute__((noinline)) static void find(void)
{
	KTR_SCOPE(KTR_GEN, "find");
	spend(FIND, FIND_US);
}

__attribute__((noinline)) static void serve(void)
{
	KTR_SCOPE(KTR_GEN, "serve");
	parse();
	find();
	spend(SERVE, 10);
}

int main(void)
{
	static const char *const name[] = { "serve", "parse", "find" };

	for (int i = 0; i < REQUESTS; i++)
		serve();
	for (int i = 0; i < 3; i++)
		printf("%s %ld %lld\n", name[i], calls[i], (long long)own_ns[i]);
	return 0;
}
