/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preparations behind KTR_ENABLED(), in C and C++: says how often they were made of a class of its own and of a
 * pair of FreeBSD's. absent() is nowhere: with ABSENT, a class that is compiled out must leave no call of it.
 */
#include <ktr.h>

#include <stdio.h>

KTR_CLASS_DEFINE(own, "a class of this program");

#ifdef ABSENT
#ifdef __cplusplus
extern "C"
#endif
int absent(int i);
#endif

static int n_own, n_pair;

static int prepare(int *n)
{
	return ++*n;
}

int main(void)
{
	for (int i = 0; i < 10; i++) {
		if (KTR_ENABLED(KTR_CLASS(own))) {
			int made = prepare(&n_own);

			CTR1(KTR_CLASS(own), "own %d", made);
		}
		if (KTR_ENABLED(KTR_NET | KTR_VFS) && i % 2 == 0)
			prepare(&n_pair);
#ifdef ABSENT
		if (KTR_ENABLED(KTR_NET))
			absent(i);
#endif
	}
	printf("%d %d\n", n_own, n_pair);
	return 0;
}
