/* SPDX-License-Identifier: BSD-2-Clause */
/* --pair and --key: what is timed besides spans, the same in report and plot. */
#ifndef TOOLS_PAIR_OPTION_H
#define TOOLS_PAIR_OPTION_H

#include "tools/options.h"

#include "analyze/stats/pairs.h"

/* The same ids everywhere. */
#define PAIR_OPTION OPTION_LONG(96)
#define KEY_OPTION  OPTION_LONG(97)
#define PAIR_ROWS                                                                                  \
	{ PAIR_OPTION, "pair", "A..B",                                                             \
	  "time from site A to site B (or: --pair A B): file.c:42, function, format text" },       \
	{                                                                                          \
		KEY_OPTION, "key", "KEY",                                                          \
			"what both ends of the pair share: arg0, a name, cpu, process (thread)"    \
	}

struct pair_options {
	struct ktr__pair pair[KTR__PAIRS_MAX];
	unsigned n;
};

/*
 * Takes the two options; in the form of two words, the next word of argv. 1 when the option was one of
 * these, 0 when not, -2 after a complaint.
 */
int pair_option(struct pair_options *pairs, int id, const char *value, int argc, char **argv);

#endif
