/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/link/sites.h"

static sites_class sites_global;

void sites_more(void)
{
	sites_inline(2);      /* 14 */
	sites_shared_inline(2);
	sites_template(2);
	sites_template(3.0); /* 15: double */
	sites_global.method(2);
	sites_class::function(2);
	sites_deep<2>::down();
}
