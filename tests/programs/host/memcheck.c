/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records strings of every length up to 100 that end where their block of the heap ends, and begin anywhere in it.
 * What watches memory finds nothing to say; what is recorded is what the numbers beside it ask for.
 */
#include <ktr.h>

#include <stdlib.h>
#include <string.h>

static void memcheck_one(unsigned before, unsigned n)
{
	char *block = malloc(before + n + 1), *text = block + before;

	if (!block)
		return;
	memset(block, '-', before);
	memset(text, 'x', n);
	text[n] = 0;
	CTR1(KTR_GEN, "%s", text);
	CTR2(KTR_GEN, "%s %u", text, n);
	CTR3(KTR_GEN, "%u %u %s", before, n, text);
	CTR3(KTR_GEN, "%s %s %u", text, block + before + n / 2, n);
	text[n] = 'x';
	CTR2(KTR_GEN, "%.*s", (int)n, text);
	free(block);
}

int main(void)
{
	for (unsigned n = 0; n <= 100; n++)
		for (unsigned before = 0; before < 17; before += 1 + n % 3)
			memcheck_one(before, n);
	return 0;
}
