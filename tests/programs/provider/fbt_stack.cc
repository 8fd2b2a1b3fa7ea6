/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls in each other, with arguments on the stack, through a library's function, a pointer and a catch; the
 * innermost, which has no room for a probe, writes the frames that backtrace(3) sees, their names alone.
 */
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTER __attribute__((noinline, visibility("default")))

extern "C" {
__attribute__((patchable_function_entry(0, 0))) OUTER long innermost(long n);
OUTER int compared(const void *a, const void *b);
OUTER long stacked(long a, long b, long c, long d, long e, long f, long g, long h);
OUTER long recursive(long n);
OUTER long caught(long n);
}

long innermost(long n)
{
	void *frame[64];
	int n_frames = backtrace(frame, 64);
	char **text = backtrace_symbols(frame, n_frames);

	for (int i = 0; i < n_frames; i++) {
		const char *name = text[i] ? strchr(text[i], '(') : NULL;

		if (name)
			printf("%.*s\n", (int)strcspn(name + 1, "+)"), name + 1);
	}
	free(text);
	return n;
}

static long innermost_of;

int compared(const void *a, const void *b)
{
	if (!innermost_of) {
		innermost_of = 1;
		innermost(1);
	}
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

long stacked(long a, long b, long c, long d, long e, long f, long g, long h)
{
	int sorted[2] = { 2, 1 };

	qsort(sorted, 2, sizeof(sorted[0]), compared);
	return a + b + c + d + e + f + g + h + sorted[0];
}

long recursive(long n)
{
	long r = n ? recursive(n - 1) : stacked(1, 2, 3, 4, 5, 6, 7, 8);

	__asm__ volatile("" : "+r"(r));
	return r + 1;
}

long caught(long n)
{
	long r = 0;

	try {
		r = recursive(n);
		if (r)
			throw r;
	} catch (long thrown) {
		r = thrown + 1;
	}
	return r;
}

int main()
{
	printf("%ld\n", caught(5));
	return 0;
}
