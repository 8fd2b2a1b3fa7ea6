// SPDX-License-Identifier: BSD-2-Clause
// A function whose name is a template's, some hundreds of columns wide, in which nearly all CPU time is.
#include <ctime>
#include <map>
#include <string>
#include <utility>
#include <vector>

static volatile unsigned long sink;

template <typename Key, typename Value> struct table_of_everything {
	__attribute__((noinline)) static void busy_in_the_innermost(unsigned long ms)
	{
		const std::clock_t end = std::clock() + static_cast<std::clock_t>(ms * (CLOCKS_PER_SEC / 1000));

		while (std::clock() < end)
			for (unsigned long i = 0; i < 2000000; i++)
				sink = sink + i;
	}
};

int main()
{
	table_of_everything<std::map<std::string, std::vector<std::string>>,
			    std::pair<std::vector<std::string>, std::string>>::busy_in_the_innermost(200);
	return 0;
}
