// SPDX-License-Identifier: BSD-2-Clause
// Functions whose names are hard to tell from their results. Each line that has one says how it is offered.
#include <iostream>
#define APART __attribute__((noinline, used))

namespace space {
template <class T> struct box {
	T v;
	APART void put(T x) { v = x; }               // space.box<int>.put(int)
	template <class U> APART U as() { return (U)v; } // space.box<int>.as<long>()
	template <class U> APART operator U *() { return (U *)&v; } // space.box<int>.operator char*<char>()
	APART operator unsigned long() { return (unsigned long)v; } // space.box<int>.operator unsigned long()
	APART box *operator->() { return this; }     // space.box<int>.operator->()
	template <class U> APART bool operator<(U x) { return v < x; } // space.box<int>.operator< <int>(int)
};
template <class T> APART T twice(T x) { return x + x; } // space.twice<double>(double)
template <class T> APART T *const *far(T **x) { return x; } // space.far<int>(int**)
template <class T> APART auto sum(T x, int y) -> decltype(x + y) { return x + y; } // space.sum<int>(int, int)
template <class T> APART box<box<T>> nest(T x) { return { { x } }; } // space.nest<int>(int)
template <bool B> APART int chosen() { return B; } // space.chosen<true>()
APART int plain(int x) { return x; }                  // space.plain(int)
struct operators { template <class T> APART static T one(T x) { return x; } }; // space.operators.one<int>(int)
}
namespace {
template <class T> APART T hidden(T x) { __asm__ volatile("" : "+r"(x)); return x; } // (anonymous namespace).hidden<int>(int)
}
template <class T> APART int (*back(T x))(int) { return x ? space::plain : nullptr; } // int (*back<int>(int))(int)

int main()
{
	space::box<int> b = { 1 };
	int *p = &b.v, n = (int)space::twice(0.5);
	auto lambda = [&](auto x) APART { return n + x; };

	b.put(2);
	n += (int)b.as<long>() + *(char *)b + (int)(unsigned long)b + b->v + (b < 3);
	n += **space::far(&p) + space::sum(1, 2) + space::nest(1).v.v + space::chosen<(4 > 2)>() + space::plain(1);
	n += space::operators::one(1) + hidden(1) + back(1)(1) + lambda(1);
	std::cout << n << "\n"; // and so the library that demangles is there
	return 0;
}
