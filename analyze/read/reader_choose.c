/* SPDX-License-Identifier: BSD-2-Clause */
/* What of a walk is wanted: the events that pass a filter, and arguments that somebody looks at. */
#include "analyze/filter/filter.h"
#include "analyze/filter/filter_spans.h"
#include "analyze/read/reader_inside.h"
#include "analyze/read/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Events fetched already may not pass any more: their cursors go on to the next that does. */
static int reader_choose_refilter(struct ktr_reader *reader)
{
	struct ktr__merge *merge = &reader->merge;
	int rc = ktr__reader_move(reader);
	unsigned n = merge->n;

	merge->n = 0;
	for (unsigned i = 0; i < n && rc >= 0; i++) {
		struct ktr__merge_leaf leaf = merge->heap[i]; /* adding touches none after it */
		struct ktr__cursor *cursor = leaf.cursor;

		rc = ktr__source_wants(&reader->source, &cursor->event) ? 1 : cursor->advance(cursor);
		if (rc > 0)
			ktr__merge_add(merge, cursor, leaf.number);
		cursor->waits = rc == 0;
	}
	return rc < 0 ? ktr__reader_fail(reader, rc) : 0;
}

/* Has the codec pass over arguments that neither the caller nor the filter looks at. */
static void reader_choose_spare(struct ktr_reader *reader)
{
	const struct ktr__filter *filter = reader->source.filter;
	struct ktr__tables *tables = &reader->source.tables;

	for (uint32_t id = 1; id < reader->n_args; id++) {
		struct ktr__program *program = &tables->program[id];
		unsigned there = (1u << program->n_args) - 1, wanted = reader->args[id];

		if (!program->ready)
			continue;
		wanted = (wanted | (filter ? ktr__filter_args(filter, id) : 0)) & there;
		program->wanted = (uint8_t)wanted;
		/* What is numbers alone is read at once; so is what a string is wanted of. */
		if (!wanted && there)
			program->ready = KTR__PROGRAM_SKIP_ARGS;
		else if (program->payload && wanted != there && !(wanted & program->payload))
			program->ready = KTR__PROGRAM_SOME_ARGS;
		else
			program->ready = KTR__PROGRAM_READY;
	}
}

int ktr__reader_wants(struct ktr_reader *reader, ktr__reader_wants_fn *wants, const void *context)
{
	struct ktr__tables *tables = &reader->source.tables;

	if (reader->args)
		memset(reader->args, KTR__READER_ALL_ARGS, reader->n_args);
	reader_choose_spare(reader);
	free(reader->args);
	reader->n_args = 0;
	reader->args = wants && tables->n_sites ? calloc(tables->n_sites, 1) : NULL;
	if (!reader->args)
		return wants && tables->n_sites ? -ENOMEM : 0;
	reader->n_args = tables->n_sites;
	for (uint32_t id = 1; id < reader->n_args; id++)
		if (tables->site[id])
			reader->args[id] = (uint8_t)(wants(context, tables->site[id]) & KTR__READER_ALL_ARGS);
	reader_choose_spare(reader);
	return 0;
}

int ktr__reader_count_only(struct ktr_reader *reader, ktr__reader_counts_fn *of, uint64_t *count,
			   ktr__reader_run_fn *run, void *context)
{
	struct ktr__event_source *source = &reader->source;
	const struct ktr__tables *tables = &source->tables;

	free(source->counted);
	source->counted = NULL;
	if (!of || source->filter || source->follow || source->reverse || !tables->n_sites)
		return 0;
	source->counted = calloc(tables->n_sites, 1);
	if (!source->counted)
		return -ENOMEM;
	source->n_counted = tables->n_sites;
	source->count = count;
	source->run = run;
	source->run_context = context;
	/* Site 0 is whatever is not known. */
	for (uint32_t id = 1; id < source->n_counted; id++)
		source->counted[id] = tables->site[id] && of(context, tables->site[id]);
	return 0;
}

/* Has the filter know of all spans, if it asks for any. 0 or -errno with err filled. */
static int reader_choose_filter_spans(struct ktr_reader *reader, struct ktr__filter *filter, struct ktr_error *err)
{
	struct ktr__filter_spans *spans = ktr__filter_spans(filter);
	struct ktr_reader *again;
	int rc;

	if (!spans)
		return 0;
	if (reader->source.follow)
		return ktr_error_at(err, NULL, 0, 1, EINVAL,
				    "how long a span takes is known at its end: nothing that is followed can be filtered by it");
	rc = ktr__reader_again(reader, &again, err);
	if (!rc)
		rc = ktr__filter_spans_walk(spans, again, err);
	ktr_reader_close(again);
	return rc;
}

int ktr_reader_filter(struct ktr_reader *reader, const char *text, struct ktr_error *err)
{
	struct ktr__event_source *source = &reader->source;
	struct ktr__filter *filter = NULL;
	int rc;

	if (reader->failed)
		return reader->failed;
	if (text) {
		struct ktr_error why = KTR_ERROR_NONE;

		rc = ktr__filter_new(text, &source->tables, &source->info, source->follow, &filter, &why);
		if (!rc)
			rc = reader_choose_filter_spans(reader, filter, &why);
		if (rc)
			ktr__filter_free(filter);
		if (rc)
			return ktr_error_at(err, NULL, 0, why.column, -rc, "%s", why.text);
		if (why.code)
			ktr__source_note(source, 0, "filter, column %u: %s, so far", why.column, why.text);
	}
	ktr__filter_free(source->filter);
	source->filter = filter;
	source->sieve = filter ? ktr__filter_sieve(filter, &source->n_sieve) : NULL;
	reader_choose_spare(reader);
	rc = reader_choose_refilter(reader);
	return rc ? ktr_error_at(err, reader->path, 0, 0, -rc, "%s", strerror(-rc)) : 0;
}

uint64_t ktr_reader_n_filtered(const struct ktr_reader *reader)
{
	return reader->source.n_filtered;
}
