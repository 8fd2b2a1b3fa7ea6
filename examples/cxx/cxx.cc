/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cxx: tracing in C++17. A span ends with its scope also when an exception leaves it; a call site in a template
 * is one per instance; lambdas and destructors trace like anything.
 *
 *	ktr run ./cxx && ktr report
 */
#include <ktr.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

KTR_CLASS_DEFINE(shop, "orders of the shop");

namespace {

template <class T> T price(T amount)
{
	CTR2(KTR_CLASS(shop), "price of %zu bytes: %g", sizeof(T), static_cast<double>(amount));
	return amount + amount;
}

class order {
	std::string name;

public:
	explicit order(std::string what) : name(std::move(what))
	{
		CTR1(KTR_CLASS(shop), "order of %s", name.c_str());
	}
	~order()
	{
		CTR1(KTR_CLASS(shop), "order of %s is closed", name.c_str());
	}

	void check(int number) const
	{
		KTR_SCOPE(KTR_CLASS(shop), "check", "number:%d", number);

		if (number % 7 == 0)
			throw std::runtime_error("out of stock: " + name);
	}
};

int sell(int first, int last)
{
	int n_refused = 0;

	for (int i = first; i < last; i++) {
		order o(i % 2 ? "tea" : "coffee");

		try {
			o.check(i);
			CTR2(KTR_CLASS(shop), "sold for %d and %g", price(i), price(i / 4.0));
		} catch (const std::exception &e) {
			CTR1(KTR_CLASS(shop), "refused: %s", e.what());
			n_refused++;
		}
	}
	return n_refused;
}

} // namespace

int main()
{
	std::vector<std::thread> sellers;
	int refused[3] = {};

	for (int i = 0; i < 3; i++)
		sellers.emplace_back([i, &refused] {
			CTR1(KTR_CLASS(shop), "seller %d begins", i);
			refused[i] = sell(i * 70, (i + 1) * 70);
		});
	for (auto &seller : sellers)
		seller.join();
	std::printf("%d refused\n", refused[0] + refused[1] + refused[2]);
	return refused[0] + refused[1] + refused[2] == 30 ? 0 : 1;
}
