/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records numbers from 0 on, and flushes after every thousand.
 * For tests/cli/trace/rotate.sh and opens.sh.
 *
 *	steady N [go N]...	after each "go" waits for a line of standard input
 *	steady forever		as fast as it can, until it is killed
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	char line[80];
	int next = 0;

	while (argc > 1 && strcmp(argv[1], "forever") == 0)
		CTR2(KTR_GEN, "step %d of %d", next++, INT_MAX);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "go") == 0) {
			if (!fgets(line, sizeof(line), stdin))
				return 1;
			continue;
		}
		for (int n = atoi(argv[i]); n > 0; n--) {
			CTR1(KTR_GEN, "step %d", next++);
			if (next % 1000 == 0)
				ktr_flush();
		}
	}
	return 0;
}
