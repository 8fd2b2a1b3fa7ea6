/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans within spans and stacks for tests/cli/show/flame.sh: threads of one name, names that are markup and what
 * XML forbids, a deep one. The first operand: how long "inner" sleeps [us]; with a second one stacks are recorded, too.
 */
#include <ktr.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static useconds_t inner_us;
static int stacks;

__attribute__((noinline)) static void flame_leaf(void)
{
	if (stacks)
		CTRSTACK(KTR_GEN, NULL, 6);
	__asm__ volatile("" : : : "memory");
}

__attribute__((noinline)) static void flame_other(void)
{
	flame_leaf();
	__asm__ volatile("" : : : "memory");
}

static void inner(void)
{
	KTR_SCOPE(KTR_LOCK, "inner");
	usleep(inner_us);
}

static void deep(int n)
{
	KTR_SCOPE(KTR_GEN, "</script><script>alert(1)//&amp;\"'; \xef\xbf\xbf \xe2\x80\xae \033[31m");
	if (n > 0)
		deep(n - 1);
}

static void *run(void *unused)
{
	prctl(PR_SET_NAME, "<b>;worker");
	for (int i = 0; i < 10; i++) {
		KTR_SCOPE(KTR_GEN, "outer");
		inner();
		deep(20);
		flame_leaf();
		flame_leaf();
		flame_other();
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	inner_us = (useconds_t)atoi(argc > 1 ? argv[1] : "100");
	stacks = argc > 2;
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	KTR_START0(KTR_NET, "never", "ends", 1);
	CTR0(KTR_GEN, "end");
	return 0;
}
