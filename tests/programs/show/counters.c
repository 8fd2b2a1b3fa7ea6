/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters of every type of number, for tests/cli/show/counters.sh. Compiled as C and as C++.
 */
#include <ktr.h>

#ifdef __cplusplus
enum class scoped : unsigned long { VALUE = 5000000000UL };
#endif
enum plain { PLAIN = 7 };

struct bits {
	unsigned narrow : 3;
	signed wide : 30;
};

static double side_effects;

static double effect(void)
{
	return side_effects += 0.36;
}

int main(void)
{
	struct bits bits = { 5, -100000 };
	const uint64_t big = (uint64_t)1 << 63;
	volatile unsigned short tiny = 65535;

	KTR_COUNTER0(KTR_GEN, "n", "int", -7);
	KTR_COUNTER0(KTR_GEN, "n", "unsigned", 3000000000u);
	KTR_COUNTER0(KTR_GEN, "n", "long", -3000000000L);
	KTR_COUNTER0(KTR_GEN, "n", "long long", -9223372036854775807LL - 1);
	KTR_COUNTER0(KTR_GEN, "n", "size_t", (size_t)3000000000u);
	KTR_COUNTER0(KTR_GEN, "n", "2^63", big);
	KTR_COUNTER0(KTR_GEN, "n", "double", 0.36);
	KTR_COUNTER0(KTR_GEN, "n", "float", 0.5f);
	KTR_COUNTER0(KTR_GEN, "n", "long double", -2.25L);
	KTR_COUNTER0(KTR_GEN, "n", "short", tiny);
	KTR_COUNTER0(KTR_GEN, "n", "char", (signed char)-3);
	KTR_COUNTER0(KTR_GEN, "n", "bool", big > 3);
	KTR_COUNTER0(KTR_GEN, "n", "enum", PLAIN);
	KTR_COUNTER0(KTR_GEN, "n", "narrow", bits.narrow);
	KTR_COUNTER0(KTR_GEN, "n", "wide", bits.wide);
	KTR_COUNTER0(KTR_GEN, "n", "effect", effect());
	KTR_COUNTER0(KTR_GEN, "n", "none", __builtin_nan(""));
	KTR_COUNTER0(KTR_GEN, "n", "infinite", -__builtin_inf());
	KTR_COUNTER1(KTR_GEN, "n", "one", big, "a:%d", 1);
	KTR_COUNTER2(KTR_GEN, "n", "two", 1.5, "a:%d", 1, "b:\"%s\"", "x");
	KTR_COUNTER3(KTR_GEN, "n", "three", -5000000000L, "a:%d", 1, "b:\"%s\"", "x", "c:%g", 0.5);
	KTR_COUNTER4(KTR_GEN, "n", "four", 3, "a:%d", 1, "b:\"%s\"", "x", "c:%g", 0.5, "d:%c", 'y');
#ifdef __cplusplus
	KTR_COUNTER0(KTR_GEN, "n", "scoped", scoped::VALUE);
#endif
	return side_effects < 0.37 ? 0 : 1;
}
