/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/link/sites.h"

KTR_CLASS_DECLARE(linked);

void sites_more(void)
{
	sites_inline(2);				       /* 9 */
	CTR1(KTR_CLASS(linked), "site class elsewhere %d", 1); /* 10 */
	CTRSTACK(KTR_GEN, NULL, 3);			       /* 11 */
}
