# SPDX-License-Identifier: BSD-2-Clause
# hostile_program FILE: builds a program whose names and strings are whatever could break a page, a viewer
# or a parser. Run with a number it records so many rounds of every kind of event from two threads.
hostile_program() {
	cat >"$1.c" <<'END'
#include <ktr.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>

KTR_CLASS_DEFINE(evil, "</script><b>");

static const char *const names[] = {
	"</script><script>alert(1)</script>", "<!--", "]]>", "a\"b'c\\d", "\xff\xfe bytes", "line\nbreak\ttab",
	"\xe2\x80\xae rtl", "&amp;<img src=x onerror=alert(2)>", "", "\xf0\x9f\x90\x9b bug", "=cmd|' /C calc'!A0", "a,b;c",
};
#define N (sizeof(names) / sizeof(names[0]))
static long rounds;

static void round_of(int me, long i)
{
	const char *name = names[i % N];

	KTR_STATE0(KTR_SCHED, "</script>", name, names[i / 3 % N]);
	KTR_START1(KTR_VFS, "span", name, i, "file:\"%s\"", name);
	CTR6(KTR_CLASS(evil), "%d %u %lx %p %s %g", (int)-i, (unsigned)i, (unsigned long)UINT64_MAX - i, (void *)round_of, name,
	     i * 0.5);
	CTR3(KTR_NET, "%-8s|%5d|%%%c", (char *)NULL, me, 'x');
	KTR_COUNTER0(KTR_GEN, "<i>counter</i>", name, i % 100 - 50);
	KTR_POINT0(KTR_GEN, "points", name, names[i % 5]);
	KTR_STOP0(KTR_VFS, "span", name, i);
	if (i % 100 == 0)
		KTR_START0(KTR_VFS, "never stopped", name, i);
	{
		KTR_SCOPE(KTR_GEN, "inner & <outer>");
	}
}

static void *run(void *arg)
{
	prctl(PR_SET_NAME, arg);
	for (long i = 0; i < rounds; i++)
		round_of(*(char *)arg, i);
	return NULL;
}

int main(int argc, char **argv)
{
	static char a[] = "</script>a", b[] = "\xff<b>";
	pthread_t t[2];

	rounds = argc > 1 ? atol(argv[1]) / 20 : 100;
	pthread_create(&t[0], NULL, run, a);
	pthread_create(&t[1], NULL, run, b);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
	${CC:-cc} -std=gnu11 -O1 -w -D_GNU_SOURCE -Iinclude "$1.c" -o "$1" "$O/lib/libktr.a" -lpthread
}
