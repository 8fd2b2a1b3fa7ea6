/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests/cli/show/said.sh and check-page: eight rows of which one waits from the beginning to the end,
 * whatever else the machine does meanwhile, and counters of all kinds of numbers, one with a unit.
 */
#include <ktr.h>

#include <time.h>

int main(void)
{
	static const char *const row[] = { "row 0", "row 1", "row 2", "row 3", "row 4", "row 5", "row 6", "row 7" };

	for (int i = 0; i < 8; i++) {
		KTR_STATE0(KTR_SCHED, "work", row[i], "waiting");
		if (i != 5)
			KTR_STATE0(KTR_SCHED, "work", row[i], "busy");
	}
	for (int i = 0; i < 20; i++) {
		KTR_COUNTER0(KTR_GEN, "n", "wide", i % 2 ? -7L : 3000000000L);
		KTR_COUNTER0(KTR_GEN, "n", "double", i % 2 ? -0.36 : 0.25);
		KTR_COUNTER0(KTR_GEN, "n", "heap [KiB]", 4096 * (i + 1));
		KTR_COUNTER0(KTR_GEN, "n", "exact", ((uint64_t)1 << 63) + 12345);
		nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
	}
	CTR0(KTR_GEN, "the end");
	return 0;
}
