/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a page in one walk: two timelines (identities with threads, and CPUs) see each event, then
 * it is packed into a file without a name. The page itself is written when the walk is over, because
 * its title and its index, which a browser must have first, are not known before.
 */
#include "visualize/page/page.h"

#include "analyze/print/newfile.h"
#include "analyze/read/reader.h"
#include "conf/kit/array.h"
#include "visualize/model/rows.h"
#include "visualize/model/view.h"
#include "visualize/page/page_fill.h"
#include "visualize/page/page_index.h"
#include "visualize/page/page_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE_LEVELS 16u /* of scopes that a thread is taken to have, before that is known */

/* Gaps that follow each other closely become one when there are very many. */
static int page_add_loss(struct ktr__page *page, const struct ktr_loss *loss)
{
	const struct ktr__grid *grid = &page->rows.rows.grid;
	uint64_t close = (grid->to_ns - grid->from_ns) / KTR__PAGE_LOSSES;

	if (loss->n_events == 0 || loss->from_ns >= grid->to_ns ||
	    (loss->to_ns != 0 && loss->to_ns <= grid->from_ns))
		return 0;
	for (uint32_t i = page->n_losses; i-- > 0 && page->n_losses >= KTR__PAGE_LOSSES;) {
		struct ktr_loss *before = &page->loss[i];

		if (before->cpu != loss->cpu || before->keep != loss->keep)
			continue;
		if (before->to_ns != 0 && loss->from_ns - before->to_ns > close)
			break;
		before->to_ns = loss->to_ns;
		before->n_events += loss->n_events;
		return 0;
	}
	if (ktr__array_grow(&page->loss, &page->loss_room, page->n_losses, sizeof(*loss)) != 0)
		return -ENOMEM;
	page->loss[page->n_losses++] = *loss;
	return 0;
}

static int page_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__page *page = (struct ktr__page *)sink;
	struct ktr__timeline *t = &page->rows;
	const struct ktr__timeline_site *site;
	uint64_t n_before = t->n_events;
	int pack_it;

	page->error = t->sink.event(&t->sink, event);
	if (page->error == 0)
		page->error = page->cpus.sink.event(&page->cpus.sink, event);
	if (page->error != 0 || t->now_ns >= t->rows.grid.to_ns)
		return page->error;
	site = &t->site[event->site->id];
	if (!site->wanted)
		return 0;
	pack_it = t->n_events > n_before && page->pack.n_events < page->max_events;
	page->n_left_out += t->n_events > n_before && !pack_it;
	page->error = ktr__packer_event(&page->pack, event, t,
					event->site->kind != KTR_KIND_EVENT ? site->row : NULL, pack_it);
	return page->error;
}

static int page_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct ktr__page *page = (struct ktr__page *)sink;

	page->error = page->rows.sink.loss(&page->rows.sink, loss);
	if (page->error == 0)
		page->error = page->cpus.sink.loss(&page->cpus.sink, loss);
	if (page->error == 0)
		page->error = page_add_loss(page, loss);
	return page->error;
}

static int page_note(struct ktr_sink *sink, const struct ktr_note *note)
{
	struct ktr__page *page = (struct ktr__page *)sink;

	return page->rows.sink.note(&page->rows.sink, note);
}

/* Has the trace scopes, which lie in each other on so many rows more? */
static unsigned page_levels(const struct ktr_reader *reader)
{
	for (unsigned i = 0; i < ktr_reader_n_sites(reader); i++) {
		const struct ktr_reader_site *site = ktr_reader_site(reader, i);

		if (site != NULL && site->ident != NULL && site->group != NULL && strcmp(site->group, "scope") == 0)
			return PAGE_LEVELS;
	}
	return 0;
}

/* As many columns as rows may have memory for, if each thread has two rows, and levels of scopes. */
static unsigned page_columns(const struct ktr_reader *reader)
{
	uint64_t cells = KTR__ROWS_BYTES / sizeof(struct ktr__cell);
	uint64_t columns = cells / ((2 + page_levels(reader)) * (uint64_t)ktr_reader_n_threads(reader) + 1);

	return columns > KTR__PAGE_COLUMNS ? KTR__PAGE_COLUMNS
	       : columns < 64              ? 64
					   : (unsigned)columns;
}

int ktr__page_new(struct ktr__page **out, struct ktr_reader *reader,
		  const struct ktr__timeline_options *options, uint64_t max_events,
		  struct ktr_error *err)
{
	struct ktr__page *page = calloc(1, sizeof(*page));
	struct ktr__timeline_options o = *options;

	*out = NULL;
	if (page == NULL)
		return ktr_error_set(err, ENOMEM, "not enough memory");
	page->sink = (struct ktr_sink){ page_event, page_loss, page_note };
	page->reader = reader;
	page->info = ktr_reader_info(reader);
	page->by = options->by;
	page->max_events = max_events;
	page->chunks = tmpfile();
	if (page->chunks == NULL) {
		free(page);
		return ktr_error_set(err, errno, "no temporary file: %s", strerror(errno));
	}
	o.n_columns = page_columns(reader);
	o.by = options->by == KTR__BY_NAMES ? KTR__BY_NAMES : KTR__BY_AUTO;
	page->error = ktr__timeline_init(&page->rows, page->info, &o);
	page->rows.keeps = 1;
	o.by = KTR__BY_CPUS;
	if (page->error == 0)
		page->error = ktr__timeline_init(&page->cpus, page->info, &o);
	if (page->error != 0) {
		ktr__page_free(page);
		return ktr_error_set(err, ENOMEM, "not enough memory");
	}
	ktr__packer_init(&page->pack, page->chunks, page->rows.rows.grid.from_ns,
			 ktr__reader_symbols(reader));
	*out = page;
	return 0;
}

void ktr__page_free(struct ktr__page *page)
{
	if (page == NULL)
		return;
	ktr__packer_free(&page->pack);
	ktr__timeline_free(&page->rows);
	ktr__timeline_free(&page->cpus);
	free(page->loss);
	fclose(page->chunks);
	free(page);
}

void ktr__page_look(struct ktr__page *page, uint64_t from_ns, uint64_t to_ns)
{
	page->look_from_ns = from_ns;
	page->look_to_ns = to_ns;
}

static int page_put_index(struct ktr__page *page, const struct ktr__frame *frame, FILE *to)
{
	json_t *index = ktr__page_index(page, frame);
	char *text = index != NULL ? json_dumps(index, JSON_COMPACT) : NULL;
	int rc = -ENOMEM;

	json_decref(index);
	if (text != NULL && ktr__blob_begin(&page->pack.blob, to, "index") == 0) {
		ktr__blob_add(&page->pack.blob, text, strlen(text));
		ktr__blob_end(&page->pack.blob);
		rc = 0;
	}
	free(text);
	if (rc == 0 && ktr__blob_begin(&page->pack.blob, to, "states") == 0) {
		ktr__blob_add(&page->pack.blob, page->pack.states.bytes, page->pack.states.n);
		ktr__blob_end(&page->pack.blob);
	} else {
		rc = -ENOMEM;
	}
	return rc == 0 && ktr__page_has_overview(page) ? ktr__page_overview(page, to) : rc;
}

static int page_put_chunks(struct ktr__page *page, FILE *to)
{
	char buffer[65536];
	size_t n;

	rewind(page->chunks);
	while ((n = fread(buffer, 1, sizeof(buffer), page->chunks)) > 0)
		fwrite(buffer, 1, n, to);
	return ferror(page->chunks) ? -EIO : 0;
}

struct page_parts {
	struct ktr__page *page;
	const struct ktr__frame *frame;
};

/* What stands for the marks that are no texts: index and chunks. */
static int page_put_part(void *context, const char *mark, FILE *to)
{
	const struct page_parts *parts = context;

	return mark[0] == 'i' ? page_put_index(parts->page, parts->frame, to) : page_put_chunks(parts->page, to);
}

static int page_put(struct ktr__page *page, const struct ktr__frame *frame, FILE *to)
{
	const struct ktr__page_text texts[] = {
		{ "title", frame->title, 0 },   { "subtitle", frame->subtitle, 0 },
		{ "source", frame->source, 0 }, { "command", frame->command, 0 },
		{ "css", ktr__page_css, 1 },    { "engine", ktr__page_engine, 1 },
		{ "js", ktr__page_js, 1 },      { NULL, NULL, 0 },
	};

	return ktr__page_fill(to, ktr__page_html, texts, page_put_part, &(struct page_parts){ page, frame });
}

static int page_frame(struct ktr__page *page, struct ktr__frame *frame, const char *command)
{
	struct ktr__view view;
	int rc;

	page->rows.options.by = page->by;
	rc = ktr__view_init(&view, &page->rows, 2 * KTR__ROWS_MAX);
	if (rc == 0) {
		ktr__frame_init(frame, page->info, command);
		ktr__frame_timeline(frame, &view);
	}
	ktr__view_free(&view);
	return rc;
}

/* Ends what the walk has shown. 0 or -errno with err filled. */
static int page_end(struct ktr__page *page, struct ktr__frame *frame, const char *command, struct ktr_error *err)
{
	char why[512];
	int rc = ktr__timeline_end(&page->rows);

	if (ktr__frame_empty(&page->rows, why, sizeof(why)))
		return ktr_error_set(err, EINVAL, "%s", why);
	if (rc == 0)
		rc = ktr__timeline_end(&page->cpus);
	if (rc == 0)
		rc = ktr__packer_end(&page->pack);
	if (rc == 0)
		rc = page_frame(page, frame, command);
	if (rc == 0 && fflush(page->chunks) != 0)
		return ktr_error_set(err, errno, "a temporary file cannot be written: %s",
				     strerror(errno));
	return rc != 0 ? ktr_error_set(err, -rc, "not enough memory") : 0;
}

int ktr__page_write(struct ktr__page *page, const char *path, const char *command,
		    struct ktr_error *err)
{
	struct ktr__newfile file;
	struct ktr__frame frame;
	int rc = page_end(page, &frame, command, err);

	if (rc == 0)
		rc = ktr__newfile_begin(&file, path, err);
	if (rc != 0)
		return rc;
	rc = page_put(page, &frame, file.to);
	if (rc != 0)
		ktr_error_at(err, path, 0, 0, -rc, "cannot be written: %s", strerror(-rc));
	return ktr__newfile_end(&file, rc, err);
}

int ktr__page_print(struct ktr__page *page, FILE *to, const char *command, struct ktr_error *err)
{
	struct ktr__frame frame;
	int rc = page_end(page, &frame, command, err);

	if (rc != 0)
		return rc;
	rc = page_put(page, &frame, to);
	if (rc == 0 && fflush(to) != 0)
		rc = -errno;
	return rc != 0 ? ktr_error_set(err, -rc, "a temporary file cannot be written: %s", strerror(-rc)) : 0;
}
