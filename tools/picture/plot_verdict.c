/* SPDX-License-Identifier: BSD-2-Clause */
/* See plot_verdict.h. */
#include "tools/picture/plot_verdict.h"

#include "analyze/print/crew.h"
#include "tools/progress.h"
#include "tools/report/diff_text.h"
#include "visualize/model/label.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static void *plot_verdict_find(void *context)
{
	struct plot_verdict *verdict = context;
	char *const path[] = { verdict->path[0], verdict->path[1] };

	verdict->rc = diff_runs_read(&verdict->runs, verdict->runs.options.find.command, path, 1, 1) ? 1 : 0;
	return NULL;
}

static void *plot_verdict_thread(void *verdict)
{
	progress_apart();
	return plot_verdict_find(verdict);
}

void plot_verdict_begin(struct plot_verdict *verdict)
{
	sigset_t all, before;

	verdict->runs.compare = (struct ktr__diff_options){ .alpha = 0.05, .least = 0.05 };
	verdict->runs.quiet = 1;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	verdict->has_thread = ktr__crew_threads(0) > 1 &&
			      pthread_create(&verdict->thread, NULL, plot_verdict_thread, verdict) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int plot_verdict_end(struct plot_verdict *verdict)
{
	if (verdict->has_thread)
		pthread_join(verdict->thread, NULL);
	else
		plot_verdict_find(verdict);
	verdict->has_thread = 0;
	return verdict->rc;
}

void plot_verdict_words(void *context, const char *name, char *words, size_t size)
{
	const struct plot_verdict *verdict = context;
	const struct ktr__diff *diff = verdict->runs.diff;
	char clean[KTR__LABEL_BYTES], one[120];
	size_t n = 0;

	for (unsigned i = 0; i < diff->n_rows; i++) {
		const struct ktr__diff_row *row = &diff->row[i];

		if (row->what != KTR__DIFF_TIME && row->what != KTR__DIFF_TAIL)
			continue;
		ktr__label_clean(clean, sizeof(clean), row->name, strlen(row->name));
		if (strcmp(clean, name) != 0)
			continue;
		diff_text_verdict(one, sizeof(one), row);
		if (n + strlen(one) + 3 < size)
			n += (size_t)snprintf(words + n, size - n, "%s%s", n ? "; " : "", one);
	}
}

void plot_verdict_free(struct plot_verdict *verdict)
{
	if (verdict->has_thread)
		plot_verdict_end(verdict);
	diff_runs_close(&verdict->runs);
}
