/* SPDX-License-Identifier: BSD-2-Clause */
/* Eleven sites here and in sites_more.c that are reached, two that are not. Compiled as C and as C++. */
#include "tests/link/sites.h"

KTR_CLASS_DEFINE(linked, "an application class");

static void __attribute__((noinline)) sites_static(int n)
{
	CTR2(KTR_GEN, "site static %d %s", n, "text"); /* 1 */
}

/* Small enough to be inlined wherever it is called: still one site. */
static void sites_small(int n)
{
	CTR1(KTR_LOCK, "site small %d", n); /* 2 */
}

/* Nobody calls it; linkers may take it away, and may not stumble over its site. */
void sites_unused(int n);
void sites_unused(int n)
{
	CTR1(KTR_GEN, "site unused %d", n);
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 3; i++)
		CTR1(KTR_GEN, "site main %d", i); /* 3 */
	sites_static(argc);
	sites_small(1);
	sites_small(2);
	sites_inline(1); /* 4 */
	CTR6(KTR_CLASS(linked), "site class %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6); /* 5 */
	KTR_STATE0(KTR_SCHED, "group", "row", "running"); /* 6 */
	{
		KTR_SCOPE(KTR_LOCK, "scope"); /* 7 and 8: its beginning and its end */
		sites_more();
	}
	if (argc > 100)
		CTR0(KTR_GEN, "site not reached");
	return 0;
}
