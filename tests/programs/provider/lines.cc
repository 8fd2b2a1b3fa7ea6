// SPDX-License-Identifier: BSD-2-Clause
// Half a second of CPU time in a function that was inlined into another one, which was inlined, too.
#include <ctime>

static volatile unsigned sink;

namespace space
{
static inline __attribute__((always_inline)) void innermost(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink * 3 + i; // here it is
}

struct thing {
	static inline __attribute__((always_inline)) void middle(unsigned n)
	{
		innermost(n);
		sink = sink + 1;
	}
};
} // namespace space

static __attribute__((noinline)) void outer(unsigned n)
{
	space::thing::middle(n);
	sink = sink + 2;
}

int main()
{
	struct timespec now;

	do {
		outer(1000000);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_sec == 0 && now.tv_nsec < 500000000);
	return 0;
}
