/* SPDX-License-Identifier: BSD-2-Clause */
/* States that follow each other without a gap, at odd nanoseconds; for tests/cli/show/chrome.sh. */
#include <ktr.h>

int main(void)
{
	static const char *const state[] = { "a", "b", "c" };

	for (int i = 0; i < 20000; i++)
		KTR_STATE0(KTR_GEN, "worker", "one", state[i % 3]);
	return 0;
}
