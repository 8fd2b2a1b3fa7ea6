/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks through functions of C++ and Rust for tests/cli/show/demangle.sh. What rustc would call its functions is
 * given to functions of C by name: in its older scheme, which is C++'s with a hash behind, and in its newer one.
 */
#include <ktr.h>

#define KEPT __attribute__((noinline, used))

extern "C" {
int rust_old(int n) __asm__("_ZN4demo6parser5token17h0123456789abcdefE");
int rust_new(int n) __asm__("_RNvNtC4demo6parser4next");
/* Only looks like one. */
int rust_none(int n) __asm__("_Rubbish");
}

namespace {
KEPT int leaf(int n)
{
	CTRSTACK(KTR_GEN, nullptr, 8);
	CTR1(KTR_GEN, "a pointer %p", leaf);
	return n + 1;
}
}

namespace shop {
template <typename T, unsigned N> struct basket {
	T sum;
	KEPT int add(const T &value)
	{
		sum += leaf(value);
		return (int)sum + (int)N;
	}
};
}

KEPT int rust_none(int n)
{
	shop::basket<int, 4> basket = {};

	return basket.add(n) + 1;
}

KEPT int rust_new(int n)
{
	return rust_none(n) + 1;
}

KEPT int rust_old(int n)
{
	return rust_new(n) + 1;
}

int main()
{
	return rust_old(1) == 9 ? 0 : 1;
}
