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

	for (uint32_t id = 1; id < reader->n_skip_args; id++) {
		struct ktr__program *program = &tables->program[id];
		int skip_args = reader->skip_args[id] && !(filter && ktr__filter_looks(filter, id));

		if (program->ready)
			program->ready = skip_args ? KTR__PROGRAM_SKIP_ARGS : KTR__PROGRAM_READY;
	}
}

int ktr__reader_wants(struct ktr_reader *reader, ktr__reader_wants_fn *wants, const void *context)
{
	struct ktr__tables *tables = &reader->source.tables;

	if (reader->skip_args)
		memset(reader->skip_args, 0, reader->n_skip_args);
	reader_choose_spare(reader);
	free(reader->skip_args);
	reader->n_skip_args = 0;
	reader->skip_args = wants && tables->n_sites ? calloc(tables->n_sites, 1) : NULL;
	if (!reader->skip_args)
		return wants && tables->n_sites ? -ENOMEM : 0;
	reader->n_skip_args = tables->n_sites;
	for (uint32_t id = 1; id < reader->n_skip_args; id++)
		reader->skip_args[id] = tables->site[id] && !wants(context, tables->site[id]);
	reader_choose_spare(reader);
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
	source->never = filter ? ktr__filter_never(filter, &source->n_never) : NULL;
	reader_choose_spare(reader);
	rc = reader_choose_refilter(reader);
	return rc ? ktr_error_at(err, reader->path, 0, 0, -rc, "%s", strerror(-rc)) : 0;
}

uint64_t ktr_reader_n_filtered(const struct ktr_reader *reader)
{
	return reader->source.n_filtered;
}
