/* SPDX-License-Identifier: BSD-2-Clause */
/* As types.c, of what C++ has more. */
#include <map>
#include <memory>
#include <string>
#include <vector>

#define KEPT __attribute__((noinline, used))

namespace shop {
inline namespace v2 {
enum class kind : unsigned char { food, tool = 7 };

struct base {
	int q = 3;
	virtual ~base() {}
	KEPT virtual int price(int x) const { return x; }
};

struct derived : base {
	short r;
	explicit KEPT derived(int v) : r((short)v) {}
	KEPT ~derived() override { q = 0; }
	KEPT int price(int x) const override { return x + q; }
};

struct trivial {
	int a;
	float b;
};

struct copied {
	int a = 1;
	copied() {}
	KEPT copied(const copied &other) : a(other.a) {}
};

struct holds {
	copied inner;
};

struct defaulted {
	int a = 2;
	defaulted() = default;
	defaulted(const defaulted &) = default;
	~defaulted() = default;
};

struct empty {
};

template <typename T, unsigned long N> struct basket {
	T value[N];
	KEPT int add(const T &x, kind k)
	{
		value[0] = x;
		return (int)k;
	}
};

KEPT int passed(trivial t, copied c, const holds &h, holds hv, defaulted d, empty e, kind k, std::string s,
		std::unique_ptr<int> p, int &&r)
{
	(void)e;
	return t.a + c.a + h.inner.a + hv.inner.a + d.a + (int)k + (int)s.size() + *p + r;
}

KEPT std::vector<std::string> names(const std::map<std::string, unsigned long> &of)
{
	std::vector<std::string> all;

	for (auto &one : of)
		all.push_back(one.first);
	return all;
}

KEPT copied make(int a)
{
	copied c;

	c.a = a;
	return c;
}

KEPT int members(int derived::*field, int (base::*method)(int) const, decltype(nullptr) none)
{
	return (field == nullptr) + (method == nullptr) + (none == nullptr);
}
}
}

namespace {
struct local {
	int z;
};
KEPT int hidden(local *a, volatile const int *vc, const char *const *cc)
{
	return a->z + *vc + **cc;
}
}

extern "C" KEPT int plain(const char *s, char16_t c, wchar_t w, bool b)
{
	return s[0] + c + (int)w + b;
}

struct outer {
	struct inner {
		int k;
	};
	union {
		int x;
		float y;
	};
	KEPT int get(inner i) const { return i.k + x; }
	KEPT static int once(inner *p) { return p->k; }
	KEPT bool operator<(const outer &other) const { return x < other.x; }
};

KEPT static int call(int (*f)(int, const char *), int (&r)[3], char **&p)
{
	return f(1, *p) + r[0];
}

int main(int argc, char **argv)
{
	shop::derived d(argc);
	shop::basket<long, 4> basket{};
	std::map<std::string, unsigned long> of;
	int x = 1, three[3] = { 1, 2, 3 }, sum = 0;
	local l{ 2 };
	outer o{};
	outer::inner i{ 3 };

	of["a"] = 1;
	sum += d.price(2) + basket.add(3, shop::kind::tool);
	sum += shop::passed({ 1, 2 }, {}, {}, {}, {}, {}, shop::kind::food, "hi", std::make_unique<int>(3),
			    std::move(x));
	sum += (int)shop::names(of).size() + shop::make(5).a + shop::members(&shop::derived::q,
									     &shop::base::price, nullptr);
	sum += hidden(&l, &x, argv) + plain("s", 1, 2, true) + o.get(i) + outer::once(&i) + (o < o);
	sum += call([](int n, const char *s) { return n + s[0]; }, three, argv);
	return sum == 12345;
}
