/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/record/run_heap.h"

#include "tools/options.h"

#include <ctype.h>
#include <string.h>

/* A number of bytes, of 1,024 each with k, of as many of those with m, and so on with g. */
static int heap_is_size(const char *what)
{
	size_t n = strspn(what, "0123456789");

	return n && n < 13 && strspn(what, "0") < n && (!what[n] || (strchr("kmgKMG", what[n]) && !what[n + 1]));
}

int run_heap_check(const char *command, const char *what)
{
	if (strcmp(what, "all") == 0 || strcmp(what, "callers") == 0 || heap_is_size(what))
		return 0;
	return usage_error(command, "--heap %s: all, callers, or a number of bytes, 512k say", what);
}

void run_heap_probes(FILE *to, const char *what)
{
	static const char gives[] = "heap:::free,heap:::realloc,heap:::fail";

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
