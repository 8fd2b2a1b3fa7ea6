/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of all kinds of arguments and results, for tests/cli/tool/types.sh, which runs them, too. */
#include <complex.h>
#include <stdarg.h>
#include <stddef.h>

#define KEPT __attribute__((noinline, noclone))

typedef struct {
	float x, y;
} point;

struct parser {
	const char *text;
	size_t len;
	unsigned a : 3, b : 5;
	char c;
	union {
		int i;
		double d;
	} u;
	struct {
		int q;
	} named;
	struct parser *next;
};

struct hidden;
struct large {
	long a[4];
};
struct mixed {
	double d;
	int i;
};
struct words {
	long a, b;
};
struct floats {
	float a, b, c;
};
struct __attribute__((packed)) packed {
	char c;
	long l;
};
struct bytes {
	char c[5];
};
struct tail {
	int n;
	int rest[];
};
enum color { RED, GREEN = 5, BLUE = -1 };
typedef float vector __attribute__((vector_size(16)));
typedef int callback(struct parser *, const char *);

KEPT int parse_line(struct parser *p, const char *text, size_t len)
{
	return p->text == text ? (int)len : 7;
}

KEPT point middle(point a, point b, double w)
{
	return (point){ (float)((a.x + b.x) * w), (float)((a.y + b.y) * w) };
}

KEPT struct large in_memory(struct large b, enum color c, long double ld)
{
	b.a[0] = (long)c + (long)ld;
	return b;
}

KEPT struct mixed both(struct mixed m, struct words w, struct floats f)
{
	m.i += (int)w.a;
	m.d += f.c;
	return m;
}

KEPT struct words packed_one(struct packed p, struct bytes b, signed char s, unsigned char u)
{
	return (struct words){ p.l + b.c[4], s + u };
}

/* The last register does not hold both halves, so the stack does; what comes after takes the register. */
KEPT struct floats spilled(long a, long b, long c, long d, long e, struct words w, long f, double x)
{
	return (struct floats){ (float)(a + b + c + d + e), (float)(w.a + f), (float)x };
}

KEPT int many(char a, short b, int c, long d, unsigned e, unsigned char f, int g, double h, char i, float j,
	      long double k,
	      _Bool l)
{
	return a + b + c + (int)d + (int)e + f + g + (int)h + i + (int)j + (int)k + l;
}

KEPT double floating(float a, double b, float c, double d, float e, double f, float g, double h, float i, double j)
{
	return a + b + c + d + e + f + g + h + i + j;
}

KEPT __int128 wide(__int128 a, int b, unsigned __int128 c)
{
	return a + b + (__int128)c;
}

KEPT double _Complex complex_one(float _Complex a, double _Complex b)
{
	return a + b;
}

KEPT vector add(vector a, vector b)
{
	return a + b;
}

KEPT callback *pick(callback *f, int (*const table[3])(struct parser *, const char *), int n)
{
	return n ? f : table[n];
}

KEPT int variadic(const char *format, ...)
{
	va_list args;
	int first;

	va_start(args, format);
	first = va_arg(args, int);
	va_end(args);
	return first;
}

KEPT int old_style(a, s, p) int a;
short s;
const char *p;
{
	return a + s + *p;
}

KEPT _Bool nothing(void)
{
	return 1;
}

KEPT int strange(struct hidden *h, int (*rows)[4], volatile const int *const *restrict v, struct tail *t, void *any)
{
	return h == NULL && rows && v && t && any == NULL;
}

/* A version of it without what is the same each time, where it is optimised. */
static __attribute__((noinline)) int changed(int same, const int *p, double d)
{
	return same + *p + (int)d;
}

static inline __attribute__((always_inline)) int inlined_everywhere(int n)
{
	return n + 1;
}

int main(int argc, char **argv)
{
	struct parser parser = { .text = "text" };
	struct tail tail = { 0 };
	int rows[4] = { 0 }, sum = 0;
	const int *row = rows;

	sum += parse_line(&parser, argv[0], 4);
	sum += (int)middle((point){ 1, 2 }, (point){ 3, 4 }, 0.5).x;
	sum += (int)in_memory((struct large){ { 1, 2, 3, 4 } }, GREEN, argc).a[0];
	sum += both((struct mixed){ 1.5, 2 }, (struct words){ 3, 4 }, (struct floats){ 5, 6, 7 }).i;
	sum += (int)packed_one((struct packed){ 'c', 9 }, (struct bytes){ "abcd" }, -3, 200).a;
	sum += (int)spilled(1, 2, 3, 4, 5, (struct words){ 6, 7 }, 8, 9.5).b;
	sum += many('a', -2, 3, -4, 5, 6, 7, 8.5, 'i', 9.5f, 10.5L, 1);
	sum += (int)floating(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	sum += (int)wide((__int128)1 << 100, 2, 3);
	sum += (int)creal(complex_one(1 + 2 * I, 3 + 4 * I));
	sum += (int)add((vector){ 1, 2, 3, 4 }, (vector){ 5, 6, 7, 8 })[0];
	sum += pick(NULL, (callback *const[3]){ 0 }, 1) == NULL;
	sum += variadic("%d", 42) + old_style(1, 2, "x") + nothing() + inlined_everywhere(argc);
	sum += strange(NULL, &rows, (const volatile int *const *)&row, &tail, NULL);
	sum += changed(7, rows, argc) + changed(7, row, 2.5);
	return sum == 12345;
}
