/* SPDX-License-Identifier: BSD-2-Clause */
/* Fifteen sites here and in sites_more.cc that are reached. */
#include "tests/link/sites.h"

#include <vector>

KTR_CLASS_DEFINE(linked, "an application class");

static sites_class sites_global; /* 1, 2: constructor and destructor, in the other file too */

namespace {
void sites_hidden(int n)
{
	CTR1(KTR_GEN, "site anonymous namespace %d", n); /* 3 */
}
}

int main()
{
	std::vector<int> numbers{ 1, 2, 3 };
	sites_class local;
	auto lambda = [](int n) { CTR1(KTR_CLASS(linked), "site lambda %d", n); }; /* 4 */
	auto generic = [](auto n) { CTR1(KTR_GEN, "site generic lambda %d", (int)n); }; /* 5, 6 */

	for (int n : numbers)
		lambda(n);
	generic(1);
	generic(2L);
	sites_hidden(1);
	sites_shared_inline(1);	 /* 7 */
	sites_template(1);	 /* 8: int */
	sites_template('c');	 /* 9: char */
	local.method(1);	 /* 10 */
	sites_class::function(1); /* 11 */
	sites_deep<2>::down();	 /* 12, 13 */
	sites_more();
	return 0;
}
