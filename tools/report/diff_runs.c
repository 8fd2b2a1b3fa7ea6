/* SPDX-License-Identifier: BSD-2-Clause */
/* The traces of both sides are read one after the other; see diff_runs.h. */
#include "tools/report/diff_runs.h"

#include "analyze/read/reader.h"
#include "tools/progress.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUNS_TROUBLE 2

/* The time that is looked at: the window, as far as the trace goes. */
static void runs_window(const struct walk *walk, uint64_t *from_ns, uint64_t *to_ns)
{
	*from_ns = walk->from_ns > walk->info->first_ns ? walk->from_ns : walk->info->first_ns;
	*to_ns = walk->to_ns < walk->info->last_ns ? walk->to_ns - 1 : walk->info->last_ns;
	if (*to_ns < *from_ns)
		*to_ns = *from_ns;
}

/* Reads the next trace. */
static int runs_next(struct diff_runs *runs, const char *command, char *path)
{
	char *argv[] = { path, path, NULL }; /* no options: its first word is not looked at */
	struct walk *walk = &runs->walk[runs->n];
	struct ktr__blocks **blocks = &runs->blocks[runs->n];
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_sink *sink;
	uint64_t from_ns, to_ns;
	int rc;

	*walk = runs->options;
	optind = 1;
	if (walk_open(walk, 2, argv))
		return RUNS_TROUBLE;
	runs->n++;
	runs_window(walk, &from_ns, &to_ns);
	if (runs->pair && ktr__pairs_check(runs->pair, 1, walk->reader, &err)) {
		fail_with(command, &err);
		return RUNS_TROUBLE;
	}
	rc = ktr__blocks_new(blocks, walk->reader, from_ns, to_ns, runs->compare.share, runs->pair);
	if (!rc)
		rc = ktr__reader_wants(walk->reader, ktr__blocks_wants, *blocks);
	if (!rc) {
		sink = &(*blocks)->sink;
		rc = walk_run(walk, &sink, 1);
	}
	if (!rc)
		rc = ktr__blocks_finish(*blocks);
	if (rc == -ENOMEM)
		fail(command, "no memory");
	return rc ? RUNS_TROUBLE : 0;
}

/* One trace, given twice, does not differ from itself, however little is in it. */
static int runs_is_one(const struct diff_runs *runs)
{
	const struct ktr_reader_info *a = runs->walk[0].info, *b = runs->walk[1].info;
	struct stat of_a, of_b;

	return runs->n == 2 && a->kind == KTR_SOURCE_TRACE && b->kind == KTR_SOURCE_TRACE &&
	       stat(a->path, &of_a) == 0 && stat(b->path, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino && runs->blocks[0]->n_events == runs->blocks[1]->n_events &&
	       a->last_ns == b->last_ns;
}

int diff_runs_read(struct diff_runs *runs, const char *command, char *const *path, unsigned n_a, unsigned n_b)
{
	int rc = 0;

	runs->walk = calloc(n_a + n_b, sizeof(*runs->walk));
	runs->blocks = calloc(n_a + n_b, sizeof(*runs->blocks));
	if (!runs->walk || !runs->blocks) {
		fail(command, "no memory");
		return RUNS_TROUBLE;
	}
	progress_expect(n_a + n_b);
	for (unsigned i = 0; i < n_a + n_b && !rc; i++)
		rc = runs_next(runs, command, path[i]);
	if (rc)
		return rc;
	runs->compare.identical = runs_is_one(runs);
	progress_phase(command, "comparing");
	rc = ktr__diff_new(&runs->diff, (const struct ktr__blocks *const *)runs->blocks, n_a, n_b, &runs->compare);
	progress_end();
	if (rc) {
		fail(command, "no memory");
		return RUNS_TROUBLE;
	}
	return 0;
}

int diff_runs_close(struct diff_runs *runs)
{
	int rc = 0;

	ktr__diff_free(runs->diff);
	for (unsigned i = 0; i < runs->n; i++) {
		int is_empty = !runs->walk[i].n_events;

		ktr__blocks_free(runs->blocks[i]);
		if (runs->quiet)
			notes_free(&runs->walk[i].notes);
		/* What is not all there cannot be called the same, nor can what is not there at all. */
		rc |= walk_close(&runs->walk[i]) || is_empty;
	}
	free(runs->walk);
	free(runs->blocks);
	return rc ? RUNS_TROUBLE : 0;
}
