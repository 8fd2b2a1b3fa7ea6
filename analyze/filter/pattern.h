/* SPDX-License-Identifier: BSD-2-Clause */
/* How options name rows and call sites: by glob(7), sites also by a part of their format. */
#ifndef ANALYZE_PATTERN_H
#define ANALYZE_PATTERN_H

#include <ktr/reader.h>

/* Does a pattern match n bytes? NULL matches everything. */
int ktr__pattern_matches(const char *pattern, const char *bytes, size_t n);

/* Does a site's name ("file.c:42") or function match, or does its format contain the pattern? */
int ktr__pattern_is_site(const char *pattern, const struct ktr_reader_site *site);

#endif
