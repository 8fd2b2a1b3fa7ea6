/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of all kinds of arguments and results. Each call prints itself as `ktr dump --calls` is to print it.
 * With an argument it waits for a line first, so that it can be asked from outside.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What is called is this very function. */
#ifdef __clang__
#define STAY __attribute__((noinline))
#else
#define STAY __attribute__((noinline, noclone))
#endif
#define KEEP __asm__ volatile("" ::: "memory")
#define ARGS_UNFITTED 0x10 /* where nothing is mapped */

enum color { RED, GREEN = 5, BLUE = -2 };
struct pair {
	int a, b;
};
struct mixed {
	double x;
	long n;
};
struct large {
	long n[4];
};

#ifdef __cplusplus
extern "C" {
#endif

STAY int8_t args_signed(int8_t a, int16_t b, int32_t c, int64_t d);
STAY int8_t args_signed(int8_t a, int16_t b, int32_t c, int64_t d)
{
	KEEP;
	return (int8_t)(a + (b + c + d != 0));
}

STAY uint8_t args_unsigned(uint8_t a, uint16_t b, uint32_t c, uint64_t d);
STAY uint8_t args_unsigned(uint8_t a, uint16_t b, uint32_t c, uint64_t d)
{
	KEEP;
	return (uint8_t)(a - (b + c + d != 0));
}

STAY char args_kinds(char c, bool yes, enum color color, enum color other);
STAY char args_kinds(char c, bool yes, enum color color, enum color other)
{
	KEEP;
	return (char)(c + yes + (color == other));
}

STAY float args_floats(float f, double d, float g);
STAY float args_floats(float f, double d, float g)
{
	KEEP;
	return f + (float)d + g;
}

STAY double args_vectors(double a, double b, double c, double d, float e);
STAY double args_vectors(double a, double b, double c, double d, float e)
{
	KEEP;
	return a + b + c + d + (double)e;
}

/* The first five fill registers and are left out; vectors 5 to 7 and the stack follow. */
STAY int args_late(struct pair p, struct mixed m, struct large l, double x, int n);
STAY int args_late(struct pair p, struct mixed m, struct large l, double x, int n)
{
	KEEP;
	return p.a + (int)m.n + (int)l.n[0] + (int)x + n;
}

/* On the stack, behind all registers. */
STAY long args_stack(struct mixed a, struct mixed b, struct mixed c, struct mixed d, struct mixed e, struct mixed f,
		     short s, long n, const char *text, unsigned char u);
STAY long args_stack(struct mixed a, struct mixed b, struct mixed c, struct mixed d, struct mixed e, struct mixed f,
		     short s, long n, const char *text, unsigned char u)
{
	KEEP;
	return a.n + b.n + c.n + d.n + e.n + f.n + s + n + *text + u;
}

STAY int args_six(int a, int b, int c, int d, int e, int f);
STAY int args_six(int a, int b, int c, int d, int e, int f)
{
	KEEP;
	return a + b + c + d + e + f;
}

STAY const char *args_text(const char *s, void *p);
STAY const char *args_text(const char *s, void *p)
{
	KEEP;
	return p ? s : NULL;
}

STAY enum color args_color(int n, ...);
STAY enum color args_color(int n, ...)
{
	KEEP;
	return n ? GREEN : BLUE;
}

/* Its result goes to memory, whose address comes before all arguments. */
STAY struct large args_large(int n);
STAY struct large args_large(int n)
{
	struct large l = { { n, n, n, n } };

	KEEP;
	return l;
}

STAY void args_none(void);
STAY void args_none(void)
{
	KEEP;
}

#ifdef __cplusplus
}

namespace space {
class Box {
	int n;

public:
	explicit Box(int with) : n(with) {}
	STAY int add(int more);
	STAY int throws(int more);
};

/* Its name has around it what it returns. */
template <class F> STAY F &&passes(F &&f)
{
	KEEP;
	return static_cast<F &&>(f);
}

int Box::add(int more)
{
	KEEP;
	return n + more;
}

int Box::throws(int more)
{
	KEEP;
	if (more)
		throw more;
	return n;
}
}

static void args_cxx(void)
{
	space::Box box(3);
	int (*const text)(const char *) = puts;

	printf("space::Box::add(this=%p, more=4) = %d;\n", (void *)&box, box.add(4));
	printf("space::Box::throws(this=%p, more=0) = %d;\n", (void *)&box, box.throws(0));
	printf("int (* const&space::passes<int (* const&)(char const*)>(f=%p))(char const*) = %p;\n", (const void *)&text,
	       (const void *)&space::passes(text));
	try {
		box.throws(1);
	} catch (int) {
		printf("space::Box::throws(this=%p, more=1);\n", (void *)&box);
	}
}
#endif

static void args_texts(void)
{
	static char edge[] = "no end";
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *two = (char *)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *end = two + page - strlen(edge), *long_text = two + page / 2;
	char *across = two + page - 2, *bad;

	args_text("abc", two);
	printf("args_text(s=\"abc\", p=%p) = \"abc\";\n", (void *)two);
	args_text("", NULL);
	printf("args_text(s=\"\", p=(nil)) = \"(null)\";\n");
	args_text(NULL, NULL);
	printf("args_text(s=\"(null)\", p=(nil)) = \"(null)\";\n");
	strcpy(across, "over");
	args_text(across, two);
	printf("args_text(s=\"over\", p=%p) = \"over\";\n", (void *)two);
	bad = (char *)(uintptr_t)ARGS_UNFITTED;
	args_text(bad, two);
	printf("args_text(s=\"%p\", p=%p) = \"%p\";\n", (void *)bad, (void *)two, (void *)bad);
	memset(long_text, 'x', 100);
	args_text(long_text, NULL);
	printf("args_text(s=\"%.64s...\", p=(nil)) = \"(null)\";\n", long_text);
	memset(long_text, 0, 101);
	munmap(two + page, page);
	memcpy(end, edge, strlen(edge));
	args_text(end, NULL);
	printf("args_text(s=\"no end...\", p=(nil)) = \"(null)\";\n");
}

static void args_structs(void)
{
	struct pair p = { 1, 2 };
	struct mixed m = { 0.5, 3 };
	struct large l = { { 4, 5, 6, 7 } };

	printf("args_late(p={...}, m={...}, l={...}, x=-8.5, n=-9) = %d;\n", args_late(p, m, l, -8.5, -9));
	printf("args_stack(a={...}, b={...}, c={...}, d={...}, e={...}, f={...}, s=-7, n=1234567890123, "
	       "text=\"deep\", u=200) = %ld;\n", args_stack(m, m, m, m, m, m, -7, 1234567890123, "deep", 200));
	args_large(11);
	printf("args_large(n=11);\n");
}

int main(int argc, char **argv)
{
	char go[16];

	(void)argv;
	if (argc > 1 && !fgets(go, sizeof(go), stdin))
		return 1;
	printf("args_signed(a=-128, b=-32768, c=-2147483648, d=-9223372036854775807) = %d;\n",
	       args_signed(INT8_MIN, INT16_MIN, INT32_MIN, -INT64_MAX));
	printf("args_unsigned(a=255, b=65535, c=4294967295, d=18446744073709551615) = %d;\n",
	       args_unsigned(UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX));
	printf("args_kinds(c='q', yes=1, color=BLUE, other=7) = '%c';\n", args_kinds('q', 1, BLUE, (enum color)7));
	printf("args_floats(f=1.5, d=-2.25, g=1.401298e-45) = %g;\n", (double)args_floats(1.5f, -2.25, 1.401298e-45f));
	printf("args_floats(f=-inf, d=1e+300, g=-0) = %g;\n", (double)args_floats(-__builtin_inff(), 1e300, -0.0f));
	printf("args_vectors(a=1, b=2.5, c=-3, d=4.75, e=-0.125) = %g;\n", args_vectors(1, 2.5, -3, 4.75, -0.125f));
	args_structs();
	printf("args_six(a=1, b=-2, c=3, d=-4, e=5, ...) = %d;\n", args_six(1, -2, 3, -4, 5, -6));
	args_texts();
	args_color(1, 2.0, "x");
	printf("args_color(n=1) = GREEN;\n");
	args_color(0);
	printf("args_color(n=0) = BLUE;\n");
	args_none();
	printf("args_none();\n");
#ifdef __cplusplus
	args_cxx();
#endif
	fflush(stdout);
	return 0;
}
