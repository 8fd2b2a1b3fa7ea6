/* SPDX-License-Identifier: BSD-2-Clause */
/* --pair and --key: what is timed besides spans, the same in report and plot. */
#ifndef TOOLS_PAIR_OPTION_H
#define TOOLS_PAIR_OPTION_H

#include "analyze/stats/pairs.h"
#include "tools/options.h"

struct pair_options {
	struct ktr__pair pair[KTR__PAIRS_MAX];
	unsigned n;
};

/* Take the two; in the form of two words, the next word of argv is the second site. */
option_take_fn pair_option_pair, pair_option_key;

/* member: a struct pair_options. */
#define OPTIONS_PAIR(of, member)                                                                   \
	OPTION_TAKE(0, "pair", "A..B", of, member, pair_option_pair,                               \
		    "time from site A to site B (or: --pair A B): file.c:42, function, format text"), \
	OPTION_TAKE(0, "key", "KEY", of, member, pair_option_key,                                  \
		    "what both ends of the pair share: arg0, a name, cpu, process (thread)")

#endif
