/* SPDX-License-Identifier: BSD-2-Clause */
/* The module that plugin.c loads, built as plugin.so. */
#include <ktr.h>

KTR_CLASS_DEFINE(filter, "the filter module");

__attribute__((visibility("default"))) int filter(int x);

int filter(int x)
{
	int y = x * x;

	CTR2(KTR_CLASS(filter), "filter %d to %d", x, y);
	return y;
}
