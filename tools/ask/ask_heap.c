/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/ask/ask_heap.h"

#include "tools/options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A number of bytes, of 1,024 each with k, of as many of those with m, and so on with g; 2^40 at most. */
static int ask_heap_is_size(const char *text)
{
	static const char units[] = "kmg";
	char *end;
	unsigned long long n = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;

	if (!isdigit((unsigned char)*text) || (*end && (!unit || end[1])) || !n || n > 1ull << 40)
		return 0;
	return !unit || n <= 1ull << 40 >> 10 * (unit - units + 1);
}

int ask_heap_take(void *at, const char *what, const char *text, char **argv)
{
	if (strcmp(text, "all") != 0 && strcmp(text, "callers") != 0 && !ask_heap_is_size(text))
		return usage_error(argv[0], "%s %s: all, callers, or a number of bytes, 512k say", what, text);
	*(const char **)at = text;
	return 0;
}

void ask_heap_probes(FILE *to, const char *what)
{
	static const char gives[] = "heap:::free,heap:::realloc,heap:::fail";
	static const char maps[] = "heap:::map,heap:::unmap,heap:::remap,heap:::map-fail";

	fprintf(to, "%s,", maps);
	if (strcmp(what, "all") == 0)
		fprintf(to, "heap:::alloc-stack,%s", gives);
	else if (strcmp(what, "callers") == 0)
		fprintf(to, "heap:::alloc,%s", gives);
	else {
		fputs("heap:::sampled-free,heap:::sample-", to);
		for (; *what; what++)
			fputc(tolower((unsigned char)*what), to);
	}
}
