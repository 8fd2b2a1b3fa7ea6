/* SPDX-License-Identifier: BSD-2-Clause */
/* Patterns of options; what the filter language calls `site ==` knows more (analyze/filter/filter.c). */
#include "analyze/filter/pattern.h"

#include "conf/eval/glob.h"

#include <string.h>

int ktr__pattern_matches(const char *pattern, const char *bytes, size_t n)
{
	return pattern == NULL || ktr__glob(pattern, strlen(pattern), bytes, n);
}

int ktr__pattern_is_site(const char *pattern, const struct ktr_reader_site *site)
{
	return ktr__pattern_matches(pattern, site->name, strlen(site->name)) ||
	       (site->func && ktr__pattern_matches(pattern, site->func, strlen(site->func))) ||
	       strstr(site->format, pattern) != NULL;
}
