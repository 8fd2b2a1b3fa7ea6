/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ktr diff A B says of two traces that are drawn beside each other, so that chart and command say the same. It
 * is found out while they are read for the chart, by a thread, where this process may run two.
 */
#ifndef TOOLS_PLOT_VERDICT_H
#define TOOLS_PLOT_VERDICT_H

#include "tools/report/diff_runs.h"

#include <limits.h>
#include <pthread.h>

struct plot_verdict {
	struct diff_runs runs; /* its options, filled by the caller, with the pair: what both are read with */
	char (*path)[PATH_MAX]; /* two, borrowed until the end */
	pthread_t thread;
	int has_thread, rc;
};

/* Begins. plot_verdict_free() is due. */
void plot_verdict_begin(struct plot_verdict *verdict);

/* Waits for it. 0, or an exit status: what it complains of has been said. */
int plot_verdict_end(struct plot_verdict *verdict);

/* The words for a series, as of struct ktr__plot; none where ktr diff has not looked at it. */
void plot_verdict_words(void *verdict, const char *name, char *words, size_t size);

/* Also of one that is all zero, and without an end. */
void plot_verdict_free(struct plot_verdict *verdict);

#endif
