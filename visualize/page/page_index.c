/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index of a page: what its events refer to and how rows are drawn, and the overview. Tables are
 * arrays of arrays, whose members' names are in `members`.
 */
#include "visualize/page/page_index.h"

#include "analyze/print/render.h"
#include "analyze/print/render_plan.h"
#include "analyze/read/tables.h"
#include "ktr/session/format.h"
#include "visualize/model/legend.h"
#include "visualize/model/palette.h"
#include "visualize/model/row.h"
#include "visualize/model/rows.h"
#include "visualize/model/view.h"
#include "visualize/page/page_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define INDEX_ROW "kind pid group ident has lanes least greatest end parts rings levels"

/* What an array of each table holds, in this order; rows and CPUs have a process's, or CPU's, number as pid. */
static json_t *index_members(void)
{
	static const char *const tables[][2] = {
		{ "sites", "name class file func line format group kind ident args valueArg steps scope module" },
		{ "args", "name type" },
		{ "tracks", "tid pid name program row label cpu keep approx nest" },
		{ "rows", INDEX_ROW },
		{ "cpus", INDEX_ROW },
		{ "losses", "cpu keep events from to" },
		{ "chunks", "events first last" },
		{ "lines", "text row marks legend indent remark said busy first" },
		{ "legends", "group more labels" },
	};
	json_t *members = json_object();

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		json_object_set_new(members, tables[i][0], json_string(tables[i][1]));
	return members;
}

static json_t *index_bytes(struct ktr__page *page, const char *bytes, size_t n)
{
	return json_string(ktr__packer_clean(&page->pack, bytes, n));
}

static json_t *index_text(struct ktr__page *page, const char *text)
{
	return index_bytes(page, text ? text : "", text ? strlen(text) : 0);
}

/* A number of any size, exactly. */
static json_t *index_digits(uint64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, number);
	return json_string(digits);
}

/* The format as steps: text, or [conversion, argument, 64 - bits, flags, width, precision, arguments
 * of these two]. */
static json_t *index_steps(struct ktr__page *page, const struct ktr_reader_site *site)
{
	struct ktr__format at = KTR__FORMAT(site->format);
	struct ktr__format_item item;
	struct ktr__render_step step;
	json_t *steps = json_array();

	while (ktr__format_next(&at, &item)) {
		char conv[2] = "s";

		ktr__render_plan(site, &item, &step);
		if (step.op == KTR__RENDER_TEXT) {
			json_array_append_new(steps, index_bytes(page, step.text, step.length));
			continue;
		}
		if (step.op != KTR__RENDER_STRING && step.op != KTR__RENDER_PADDED)
			conv[0] = step.op == KTR__RENDER_POINTER ? 'p' : step.conv;
		json_array_append_new(steps, json_pack("[siiiiiii]", conv, step.arg, step.shift,
						       step.flags, step.width, step.precision,
						       step.width_arg, step.precision_arg));
	}
	return steps;
}

static json_t *index_args(struct ktr__page *page, const struct ktr_reader_site *site)
{
	static const char *const type[KTR_ARG_TYPES] = {
		[KTR_ARG_STR] = "s", [KTR_ARG_STACK] = "k", [KTR_ARG_PTR] = "p",
		[KTR_ARG_F64] = "f", [KTR_ARG_U8] = "u",    [KTR_ARG_U16] = "u",
		[KTR_ARG_U32] = "u", [KTR_ARG_U64] = "u",
	};
	json_t *args = json_array();

	for (unsigned i = 0; i < site->n_args; i++)
		json_array_append_new(
			args, json_pack("[os]", index_text(page, site->arg[i].name),
					type[site->arg[i].type] ? type[site->arg[i].type] : "i"));
	return args;
}

static json_t *index_list(struct ktr__page *page, uint32_t n, json_t *(*item)(struct ktr__page *page, uint32_t i))
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list, item(page, i));
	return list;
}

static json_t *index_site(struct ktr__page *page, uint32_t i)
{
	const struct ktr_reader_site *s = page->pack.site[i];

	return json_pack("[ooooiooiooioio]", index_text(page, s->name), index_text(page, s->class_name),
			 index_text(page, s->file), index_text(page, s->func), (int)s->line,
			 index_text(page, s->format), index_text(page, s->group), (int)s->kind,
			 s->ident ? index_text(page, s->ident) : json_null(), index_args(page, s), s->value_arg,
			 index_steps(page, s),
			 page->rows.site[s->id].nests ? (int)page->rows.site[s->id].label : -1,
			 index_text(page, s->module));
}

static int index_row(const struct ktr__timeline *t, const struct ktr_reader_thread *thread)
{
	if (thread->id >= t->n_threads || t->thread[thread->id] == NULL)
		return -1;
	return (int)t->thread[thread->id]->number;
}

static int index_nest(const struct ktr__timeline *t, const struct ktr_reader_thread *thread)
{
	return thread->id < t->n_nests && t->nest[thread->id] != NULL ? (int)t->nest[thread->id]->number : -1;
}

/* [tid, pid, name, process, row, label on rows of CPUs, cpu, keep, approximate time, row of its scopes] */
static json_t *index_track(struct ktr__page *page, uint32_t i)
{
	const struct ktr__timeline *cpus = &page->cpus;
	const struct ktr__packer_track *track = &page->pack.track[i];
	const struct ktr_reader_thread *thread = track->thread;
	int label = thread->id < cpus->n_threads ? cpus->thread_label[thread->id] : 0;
	uint32_t pid = ktr__pids_of(&page->pack.pids, ktr__tables_process_key(thread), thread->pid);

	return json_pack("[IIooiiiiii]", (json_int_t)thread->tid, (json_int_t)pid, index_text(page, thread->name),
			 index_text(page, thread->process), index_row(&page->rows, thread), label, (int)track->cpu,
			 track->keep, track->approx, index_nest(&page->rows, thread));
}

static double index_since(const struct ktr__page *page, uint64_t ns)
{
	return (double)(int64_t)(ns - page->rows.rows.grid.from_ns);
}

/* When what the row does ended with who did it; null: not in the page. */
static json_t *index_end(const struct ktr__page *page, const struct ktr__row *row)
{
	const struct ktr__grid *grid = &page->rows.rows.grid;
	uint64_t end_ns = ktr__row_end_ns(row);

	if (end_ns == 0 || end_ns >= grid->to_ns)
		return json_null();
	return json_real(index_since(page, end_ns > grid->from_ns ? end_ns : grid->from_ns));
}

/* The numbers of the rings a row is from, 2 * CPU + keep. */
static json_t *index_rings(const struct ktr__rings *rings)
{
	json_t *all = json_array();

	for (uint32_t bit = 0; bit < 64 * rings->n_words; bit++)
		if (ktr__rings_have(rings, bit / 2, (int)(bit % 2)))
			json_array_append_new(all, json_integer((json_int_t)bit));
	return all;
}

/* The row's CPU, or what the page knows its process by. */
static uint32_t index_whose(struct ktr__page *page, const struct ktr__row *row)
{
	return row->kind == KTR__ROW_CPU ? row->cpu : ktr__pids_of(&page->pack.pids, row->process_key, row->pid);
}

/* [row, lane, end] of each span that ended with its thread or process, in the order in which they ended. */
static json_t *index_ends(const struct ktr__page *page)
{
	const struct ktr__timeline *t = &page->rows;
	json_t *ends = json_array();

	for (uint32_t i = 0; i < t->n_ended; i++) {
		const struct ktr__span *span = &t->ended[i];

		if (span->kind == KTR_KIND_START && span->lane < KTR__LANES_MAX && span->flags & KTR__SPAN_LEFT)
			json_array_append_new(ends, json_pack("[iif]", (int)((const struct ktr__row *)span->row)->number,
							      (int)span->lane, index_since(page, span->to_ns)));
	}
	return ends;
}

/* How many lanes of a row have had a span. */
static int index_lanes(const struct ktr__page *page, unsigned row)
{
	const struct ktr__packer_row *at = row < page->pack.n_rows ? &page->pack.row[row] : NULL;
	uint32_t n = at != NULL ? at->n_spans : 0;

	while (n > 0 && at->span[n - 1].from_ns == 0)
		n--;
	return (int)n;
}

/*
 * [kind, process or CPU, group, id as recorded, has, number of lanes, least, greatest, end, parts of
 * the overview, rings, levels]
 */
static json_t *index_rows(struct ktr__page *page, const struct ktr__timeline *t)
{
	json_t *rows = json_array();

	for (unsigned i = 0; i < t->rows.n_rows; i++) {
		const struct ktr__row *row = t->rows.row[i];
		int n_lanes = t == &page->rows ? index_lanes(page, i) : 0;
		int parts = (row->lane.cell != NULL ? 1 : 0) | (row->area.cell != NULL ? 2 : 0) |
			    (row->marks != NULL ? 4 : 0);

		json_array_append_new(
			rows,
			json_pack("[iIooiiffoioi]", (int)row->kind,
				  (json_int_t)index_whose(page, row),
				  index_text(page, row->group),
				  index_bytes(page, row->ident, row->n_ident), (int)row->has,
				  n_lanes, row->area.least, row->area.greatest,
				  index_end(page, row), parts, index_rings(&row->rings), (int)row->n_levels));
	}
	return rows;
}

static json_t *index_labels(const struct ktr__rows *rows)
{
	json_t *labels = json_array();

	for (unsigned i = 0; i < rows->n_labels; i++)
		json_array_append_new(labels, json_string(rows->label[i]));
	return labels;
}

static json_t *index_colours(const struct ktr__rows *rows)
{
	json_t *colours = json_array();

	for (unsigned i = 0; i < rows->n_labels; i++)
		json_array_append_new(colours, json_integer(rows->label_colour[i]));
	return colours;
}

/* The labels of 1, 2... open spans. */
static json_t *index_depths(const struct ktr__rows *rows)
{
	json_t *depths = json_array();

	for (unsigned i = 1; i <= KTR__LANES_MAX && rows->depth_label[i] != 0; i++)
		json_array_append_new(depths, json_integer(rows->depth_label[i]));
	return depths;
}

/* The labels that are names of scopes. */
static json_t *index_scopes(const struct ktr__rows *rows)
{
	json_t *scopes = json_array();

	for (unsigned i = 1; i < rows->n_labels; i++)
		if (rows->label_scope[i])
			json_array_append_new(scopes, json_integer(i));
	return scopes;
}

/* How long it did something [ns], or how many events it has: what rows are sorted by. */
static uint64_t index_busy(const struct ktr__rows *rows, const struct ktr__line *line)
{
	const struct ktr__row *row = line->row;
	uint64_t busy_ns = 0;

	if (row == NULL || !(row->has & (KTR__ROW_STATES | KTR__ROW_SPANS)))
		return row != NULL ? row->n_events : line->marks != NULL ? line->marks->n_events : 0;
	for (unsigned i = 0; i < row->n_stays; i++)
		busy_ns += ktr__palette_is_idle(rows->label[row->stay[i].label]) ? 0 : row->stay[i].total_ns;
	return busy_ns;
}

/* When the first event of a row was; null: it has none. */
static json_t *index_first(const struct ktr__page *page, const struct ktr__row *row)
{
	return row != NULL && row->n_events > 0 ? json_real(index_since(page, row->first_ns)) : json_null();
}

/* {lines: [[text, row, marks, legend, indent, remark, said, busy, first]], legends: [[group, more, [label]]]} */
static json_t *index_view(struct ktr__page *page, struct ktr__timeline *t, enum ktr__timeline_by by)
{
	json_t *lines = json_array(), *legends = json_array();
	char remark[2 * KTR__LABEL_BYTES];
	struct ktr__view view;

	t->options.by = by;
	if (ktr__view_init(&view, t, 2 * KTR__ROWS_MAX) != 0)
		view.n_lines = view.n_legends = 0;
	for (unsigned i = 0; i < view.n_lines; i++) {
		const struct ktr__line *line = &view.line[i];
		/* All levels of a thread are one line there. */
		int is_more = line->row != NULL && line->row->nest != NULL && view.line[i - 1].row != NULL &&
			      view.line[i - 1].row->nest == line->row->nest;
		int is_row = line->row != NULL || (line->marks != NULL && line->marks != view.rest);

		if (is_more)
			continue;
		remark[0] = '\0';
		if (is_row)
			ktr__view_remark(&view, line, KTR__LABEL_BYTES, 0, remark, sizeof(remark));
		json_array_append_new(
			lines,
			json_pack("[oiiiioiIo]", index_text(page, line->text),
				  line->row != NULL ? (int)line->row->number : -1,
				  is_row && line->marks != NULL ? (int)line->marks->number : -1,
				  line->legend, line->indent, index_text(page, remark), (int)line->said,
				  (json_int_t)(is_row ? index_busy(&t->rows, line) : 0),
				  index_first(page, !is_row ? NULL : line->row != NULL ? line->row : line->marks)));
	}
	for (unsigned i = 0; i < view.n_legends; i++) {
		const struct ktr__legend *legend = &view.legend[i];
		json_t *entries = json_array();

		for (unsigned k = 0; k < legend->n; k++)
			json_array_append_new(entries, json_integer(legend->entry[k].label));
		json_array_append_new(legends, json_pack("[oio]", index_text(page, legend->group),
							 (int)legend->n_more, entries));
	}
	ktr__view_free(&view);
	return json_pack("{soso}", "lines", lines, "legends", legends);
}

/* [cpu, keep, events, from, to]; null: from the beginning, to the end */
static json_t *index_loss(struct ktr__page *page, uint32_t i)
{
	const struct ktr_loss *loss = &page->loss[i];

	return json_pack("[iiIoo]", (int)loss->cpu, loss->keep, (json_int_t)loss->n_events,
			 loss->from_ns ? json_real(index_since(page, loss->from_ns)) : json_null(),
			 loss->to_ns ? json_real(index_since(page, loss->to_ns)) : json_null());
}

/* [events, first, last] */
static json_t *index_chunk(struct ktr__page *page, uint32_t i)
{
	const struct ktr__packer_chunk *chunk = &page->pack.chunk[i];

	return json_pack("[iII]", (int)chunk->n_events, (json_int_t)chunk->first_ns, (json_int_t)chunk->last_ns);
}

static json_t *index_symbols(struct ktr__page *page)
{
	json_t *symbols = json_object();
	char key[48];

	for (uint32_t i = 0; i < page->pack.n_symbols; i++) {
		snprintf(key, sizeof(key), "%" PRIu32 ":%" PRIx64, page->pack.symbol[i].pid,
			 page->pack.symbol[i].address);
		json_object_set_new(symbols, key, json_string(page->pack.symbol[i].name));
	}
	return symbols;
}

/* [row, from, to] of what the title and the line below it are about. */
static json_t *index_said(struct ktr__page *page, const struct ktr__frame *frame)
{
	json_t *said = json_array();

	for (unsigned i = 0; i < 2 && frame->said[i].row != NULL; i++)
		json_array_append_new(said, json_pack("[iff]", (int)frame->said[i].row->number,
						      index_since(page, frame->said[i].from_ns),
						      index_since(page, frame->said[i].to_ns)));
	return said;
}

static json_t *index_frame(struct ktr__page *page, const struct ktr__frame *frame)
{
	return json_pack("{sososososososo}", "title", index_text(page, frame->title), "also",
			 index_text(page, frame->also), "subtitle",
			 index_text(page, frame->subtitle), "lost", index_text(page, frame->lost),
			 "note", index_text(page, frame->note), "program",
			 index_text(page, frame->program), "said", index_said(page, frame));
}

int ktr__page_has_overview(const struct ktr__page *page)
{
	uint32_t n_chunks = page->pack.n_chunks;

	return n_chunks > KTR__PAGE_DETAIL || page->n_left_out > 0 ||
	       (n_chunks > KTR__PAGE_SMALL && page->rows.rows.n_rows <= KTR__PAGE_ROWS * n_chunks);
}

json_t *ktr__page_index(struct ktr__page *page, const struct ktr__frame *frame)
{
	const struct ktr__grid *grid = &page->rows.rows.grid;
	const char *const first[] = { "auto", "threads", "cpus", "ids", "ids" };
	json_t *index = json_object(), *views = json_object();
	int has_ids = 0;

	for (unsigned i = 0; i < page->rows.rows.n_rows; i++)
		has_ids |= page->rows.rows.row[i]->kind == KTR__ROW_ID ||
			   page->rows.rows.row[i]->kind == KTR__ROW_NEST;
	if (has_ids)
		json_object_set_new(views, "ids", index_view(page, &page->rows, KTR__BY_IDS));
	json_object_set_new(views, "threads", index_view(page, &page->rows, KTR__BY_THREADS));
	json_object_set_new(views, "cpus", index_view(page, &page->cpus, KTR__BY_CPUS));
	json_object_set_new(index, "members", index_members());
	json_object_set_new(index, "views", views);
	json_object_set_new(index, "first",
			    json_string(page->by != KTR__BY_AUTO ? first[page->by]
					: has_ids                ? "ids"
								 : "threads"));
	json_object_set_new(index, "frame", index_frame(page, frame));
	json_object_set_new(index, "trace", index_text(page, page->info->path));
	json_object_set_new(index, "begin", index_digits(page->info->first_ns));
	json_object_set_new(index, "from", index_digits(grid->from_ns - page->info->first_ns));
	json_object_set_new(index, "span", json_integer((json_int_t)(grid->to_ns - grid->from_ns)));
	if (page->look_to_ns != 0)
		json_object_set_new(index, "look", json_pack("[ff]", index_since(page, page->look_from_ns),
							     index_since(page, page->look_to_ns)));
	json_object_set_new(index, "last", json_real(index_since(page, page->info->last_ns)));
	json_object_set_new(index, "utc", json_integer(page->info->utc_offset_ns));
	json_object_set_new(index, "events", json_integer((json_int_t)page->pack.n_events));
	json_object_set_new(index, "left_out", json_integer((json_int_t)page->n_left_out));
	json_object_set_new(index, "columns", json_integer(grid->n_columns));
	json_object_set_new(index, "overview", json_boolean(ktr__page_has_overview(page)));
	json_object_set_new(index, "sites", index_list(page, page->pack.n_sites, index_site));
	json_object_set_new(index, "tracks", index_list(page, page->pack.n_tracks, index_track));
	json_object_set_new(index, "rows", index_rows(page, &page->rows));
	json_object_set_new(index, "cpus", index_rows(page, &page->cpus));
	json_object_set_new(index, "ends", index_ends(page));
	json_object_set_new(index, "labels", index_labels(&page->rows.rows));
	json_object_set_new(index, "colours", index_colours(&page->rows.rows));
	json_object_set_new(index, "depths", index_depths(&page->rows.rows));
	json_object_set_new(index, "scopes", index_scopes(&page->rows.rows));
	json_object_set_new(index, "threads", index_labels(&page->cpus.rows));
	json_object_set_new(index, "thread_colours", index_colours(&page->cpus.rows));
	json_object_set_new(index, "losses", index_list(page, page->n_losses, index_loss));
	json_object_set_new(index, "chunks", index_list(page, page->pack.n_chunks, index_chunk));
	json_object_set_new(index, "symbols", index_symbols(page));
	if (page->pack.error != 0) {
		json_decref(index);
		return NULL;
	}
	return index;
}

#define OVERVIEW_PARTS 6u /* of a cell */

/* One part of all cells of a row. */
static void overview_part(struct ktr__blob *blob, const struct ktr__cell *cell, unsigned n,
			  unsigned part)
{
	uint8_t bytes[2 * 1024];
	unsigned used = 0;

	for (unsigned i = 0; i < n; i++) {
		const uint8_t one[] = { cell[i].share, cell[i].rest, cell[i].covered, cell[i].unknown };

		if (part < 2) {
			uint16_t label = part == 0 ? cell[i].first : cell[i].second;

			bytes[used++] = (uint8_t)label;
			bytes[used++] = (uint8_t)(label >> 8);
		} else {
			bytes[used++] = one[part - 2];
		}
		if (used >= sizeof(bytes) - 1 || i + 1 == n) {
			ktr__blob_add(blob, bytes, used);
			used = 0;
		}
	}
}

static void overview_area(struct ktr__blob *blob, const struct ktr__area *area, unsigned n,
			  int greatest)
{
	for (unsigned i = 0; i < n; i++) {
		/* Not a number: the counter was not set yet. */
		double number = __builtin_nan("");

		if (i >= area->from && i < area->n_filled)
			number = greatest ? area->cell[i].greatest : area->cell[i].least;
		ktr__blob_add(blob, &number, sizeof(number));
	}
}

/* The levels of a nest: one without columns is empty in all of them. */
static void overview_levels(struct ktr__blob *blob, const struct ktr__row *nest, unsigned n)
{
	static const struct ktr__cell nothing;

	for (unsigned i = 0; i < nest->n_levels; i++) {
		const struct ktr__cell *cell = nest->level[i]->lane.cell;

		for (unsigned part = 0; part < OVERVIEW_PARTS && cell != NULL; part++)
			overview_part(blob, cell, n, part);
		for (unsigned k = 0; k < n && cell == NULL; k++)
			for (unsigned part = 0; part < OVERVIEW_PARTS; part++)
				overview_part(blob, &nothing, 1, part);
	}
}

static void overview_rows(struct ktr__blob *blob, const struct ktr__rows *rows)
{
	unsigned n = rows->grid.n_columns;

	for (unsigned i = 0; i < rows->n_rows; i++) {
		const struct ktr__row *row = rows->row[i];

		for (unsigned part = 0; part < OVERVIEW_PARTS && row->lane.cell != NULL; part++)
			overview_part(blob, row->lane.cell, n, part);
		for (int greatest = 0; greatest < 2 && row->area.cell != NULL; greatest++)
			overview_area(blob, &row->area, n, greatest);
		if (row->marks != NULL)
			ktr__blob_add(blob, row->marks, n * sizeof(*row->marks));
		overview_levels(blob, row, n);
	}
}

int ktr__page_overview(struct ktr__page *page, FILE *to)
{
	if (ktr__blob_begin(&page->pack.blob, to, "overview") != 0)
		return -ENOMEM;
	overview_rows(&page->pack.blob, &page->rows.rows);
	overview_rows(&page->pack.blob, &page->cpus.rows);
	ktr__blob_end(&page->pack.blob);
	return 0;
}
