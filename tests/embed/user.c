/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every macro with every kind of argument, as a user's file that is compiled with all warnings on, as C and
 * as C++ (tests/cli/build/headers.sh). It is compiled and linked, not run.
 */
#include <ktr.h>
#include <ktr/ctl.h>
#include <ktr/conf.h>
#include <stdio.h>

/* Casts as each language's warnings want them. */
#ifdef __cplusplus
#define CAST(type, x) static_cast<type>(x)
#else
#define CAST(type, x) ((type)(x))
#endif

KTR_CLASS_DEFINE(mine, "a class of the user's");

enum colour {
	RED,
	GREEN
};

struct thing {
	int x;
	unsigned bits : 3;
};

int use(int n, const char *name, struct thing *t);
int use(int n, const char *name, struct thing *t)
{
	short s = 1;
	char c = 'c';
	unsigned char u = 2;
	float f = 1.5f;
	double d = CAST(double, f);
	long long ll = -1;
	unsigned long ul = 1;

	CTR0(KTR_GEN, "none");
	CTR1(KTR_CLASS(mine), "one %d", n);
	CTR2(KTR_NET, "two %s %.3s", name, name);
	CTR3(KTR_GEN, "three %f %p %hd", d, CAST(void *, t), s);
	CTR4(KTR_GEN, "four %c %hhu %f %d", c, u, CAST(double, f), t->x);
	CTR5(KTR_GEN, "five %lld %lu %d %u %d", ll, ul, GREEN, CAST(unsigned, t->bits), n > 3);
	CTR6(KTR_GEN, "six %d %d %d %d %.*s", n, n, n, n, 3, name);
	CTR(KTR_GEN, "var %d", n);
	CTR(KTR_GEN, "variadic");
	TR0("general");
	ITR1("start %d", n);
	KTR_STATE0(KTR_SCHED, "group", name, "running");
	KTR_STATE1(KTR_SCHED, "group", name, "running", "prio:%d", n);
	KTR_START0(KTR_SCHED, "group", name, n);
	KTR_STOP0(KTR_SCHED, "group", name, n);
	KTR_COUNTER0(KTR_SCHED, "count", name, n);
	KTR_POINT0(KTR_SCHED, "group", name, "mark");
	KTR_COUNTER1(KTR_SCHED, "count", name, d, "a:%d", n);
	KTR_EVENT1(KTR_CLASS(mine), "group", name, "point:\"%s\"", "mark", "a:%d", n);
	CTRSTACK(KTR_PROC, NULL, 0);
	if (n)
		CTR0(KTR_GEN, "an if without braces");
	else
		CTR0(KTR_GEN, "its else");
	{
		KTR_SCOPE(KTR_LOCK, "scope", "n:%d", n);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct thing t = { argc, 1 };

	return use(argc, argv[0], &t);
}
