/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the traces of a comparison and makes it: for ktr diff, and for ktr plot compare, which says the same. */
#ifndef TOOLS_DIFF_RUNS_H
#define TOOLS_DIFF_RUNS_H

#include "analyze/stats/diff.h"
#include "tools/pair_option.h"
#include "tools/walk.h"

/* [traces] On both sides together; each is held open until the end. */
#define DIFF_RUNS_MAX 200u

struct diff_runs {
	/* What is compared. */
	struct walk options; /* a copy for each trace */
	const struct ktr__pair *pair; /* NULL: spans */
	struct ktr__diff_options compare;
	int quiet; /* no notes of the traces: somebody else has printed them */
	/* After diff_runs_read(). */
	struct walk *walk;
	struct ktr__blocks **blocks;
	struct ktr__diff *diff;
	unsigned n;
};

/* Reads and compares n_a + n_b traces. 0, or 2 after a complaint; diff_runs_close() follows in both cases. */
int diff_runs_read(struct diff_runs *runs, const char *command, char *const *path, unsigned n_a, unsigned n_b);

/* Prints notes. 0, or 2 where a trace was empty or not read in whole. */
int diff_runs_close(struct diff_runs *runs);

#endif
