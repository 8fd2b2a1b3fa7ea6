/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses and orders the rows of a picture. Rows become items, items are sorted, the best of them
 * are kept where there are too many, and headings are put between them. Colours are in legend.c.
 *
 * Items are sorted by process, then by block (what stands under one heading), then by name as
 * strverscmp(3) orders it, so that "worker 10" follows "worker 9". The levels of a thread's scopes are items of their
 * own; the deeper one lies the less it scores, so that what is left out is what lies deepest.
 */
#include "visualize/model/view.h"

#include "analyze/derive/derive.h"
#include "visualize/model/legend.h"
#include "visualize/model/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define VIEW_GROUPS 1024u /* told apart for the order of headings */
#define VIEW_SOME   8u    /* rows that a heading gets before the next one gets any */
#define VIEW_SAID   2     /* findings that a picture has room for */
#define VIEW_LOCKS    1u  /* block of rows that are no thread's own, */
#define VIEW_COUNTERS 2u  /* where rows are by threads */
#define VIEW_DEEPER 0.02  /* [score] of a level, against that of the level around it */

struct view_item {
	const struct ktr__row *row, *marks;
	unsigned block;
	const char *name; /* by which items of a block are sorted */
	unsigned sub;     /* 0: the item itself, above: what belongs to it */
	unsigned indent;
	double score;
	int chosen;
	unsigned head; /* index of the first item under the same heading */
	int shown;     /* of the head: the heading has a line */
};

struct view_items {
	struct ktr__view *view;
	struct view_item *item;
	unsigned n;
	unsigned n_processes;
	double *odd; /* by row */
	uint64_t n_events_most;
};

static unsigned view_rank(const struct ktr__row *row)
{
	if (row->has & KTR__ROW_STATES)
		return 0;
	if (row->has & KTR__ROW_SPANS)
		return 1;
	return row->has & KTR__ROW_COUNTERS ? 2 : 3;
}

/* Of a lock, whoever had it. */
static int view_is_lock(const struct ktr__row *row)
{
	return strcmp(row->group, KTR__DERIVE_LOCKS) == 0;
}

static const struct ktr__row *view_any_row(const struct view_item *item)
{
	return item->row != NULL ? item->row : item->marks;
}

static int view_compare(const void *a, const void *b)
{
	const struct view_item *x = a, *y = b;
	const struct ktr__row *p = view_any_row(x), *q = view_any_row(y);
	int order;

	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	if (p->process_key != q->process_key)
		return p->process_key < q->process_key ? -1 : 1;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	order = strverscmp(x->name, y->name);
	if (order != 0)
		return order;
	if (x->sub != y->sub)
		return x->sub < y->sub ? -1 : 1;
	if (p->number == q->number)
		return p->depth < q->depth ? -1 : p->depth > q->depth;
	order = strverscmp(p->group, q->group);
	if (order == 0)
		order = strverscmp(p->name, q->name);
	return order != 0 ? order : p->number < q->number ? -1 : 1;
}

static struct view_item *view_add(struct view_items *items, const struct ktr__row *row,
				  const struct ktr__row *marks, const char *name, unsigned i)
{
	static const double by_rank[4] = { 0.5, 0.3, 0.4, 0 };
	struct view_item *item = &items->item[items->n++];

	*item = (struct view_item){ .row = row, .marks = marks, .name = name };
	item->score = items->odd[i] + 0.1 * (double)items->view->timeline->rows.row[i]->n_events /
					      (double)(items->n_events_most + 1);
	if (row != NULL)
		item->score += by_rank[view_rank(row)];
	return item;
}

/* The levels of a thread's scopes. */
static void view_add_nest(struct view_items *items, unsigned i, const char *name, unsigned indent)
{
	const struct ktr__row *nest = items->view->timeline->rows.row[i];

	for (unsigned k = 0; k < nest->n_levels; k++) {
		struct view_item *item;

		/* All of it may lie before the window. */
		if (nest->level[k]->lane.cell == NULL)
			continue;
		item = view_add(items, nest->level[k], NULL, name, i);
		item->sub = indent;
		item->indent = indent;
		item->score += 0.3 - VIEW_DEEPER * k;
	}
}

/* Which group a row is of, in the order in which groups were first seen. */
struct view_groups {
	const struct ktr__row *first[VIEW_GROUPS];
	unsigned n;
};

static unsigned view_group(struct view_groups *groups, const struct ktr__row *row)
{
	unsigned i = 0;

	while (i < groups->n && strcmp(groups->first[i]->group, row->group) != 0)
		i++;
	if (i == groups->n && i < VIEW_GROUPS)
		groups->first[groups->n++] = row;
	return i;
}

static void view_collect_ids(struct view_items *items)
{
	const struct ktr__rows *rows = &items->view->timeline->rows;
	struct view_groups groups = { { NULL }, 0 };

	for (unsigned i = 0; i < rows->n_rows; i++) {
		const struct ktr__row *row = rows->row[i];

		if (row->kind == KTR__ROW_NEST)
			view_add_nest(items, i, row->name, 0);
		if (row->kind != KTR__ROW_ID)
			continue;
		/* Below the scopes of all threads; who waits for a lock below who has it. */
		view_add(items, row, row, row->name, i)->block =
			(1 + (view_is_lock(row) ? 0 : view_rank(row))) * (VIEW_GROUPS + 1) +
			view_group(&groups, row);
	}
}

/* The state row that is a thread's own and says most about it, or NULL. */
static void view_find_own(const struct ktr__timeline *t, const struct ktr__row **own)
{
	for (unsigned i = 0; i < t->rows.n_rows; i++) {
		const struct ktr__row *row = t->rows.row[i];
		uint32_t id;

		if (row->kind != KTR__ROW_ID || !(row->has & KTR__ROW_STATES) ||
		    row->thread == NULL || view_is_lock(row))
			continue;
		id = row->thread->id;
		if (id < t->n_threads && (own[id] == NULL || own[id]->n_events < row->n_events))
			own[id] = row;
	}
}

static void view_collect_threads(struct view_items *items, const struct ktr__row **own)
{
	const struct ktr__timeline *t = items->view->timeline;
	struct view_item *item;

	view_find_own(t, own);
	for (unsigned i = 0; i < t->rows.n_rows; i++) {
		const struct ktr__row *row = t->rows.row[i];
		uint32_t id = row->thread != NULL ? row->thread->id : 0;
		int known = row->thread != NULL && id < t->n_threads && t->thread[id] != NULL;

		if (row->kind == KTR__ROW_THREAD) {
			item = view_add(items, known ? own[id] : NULL, row, row->name, i);
			if (item->row != NULL)
				item->score += items->odd[i];
		} else if (row->kind == KTR__ROW_NEST && known) {
			view_add_nest(items, i, t->thread[id]->name, 1);
		} else if (row->kind == KTR__ROW_ID && view_is_lock(row)) {
			view_add(items, row, NULL, row->name, i)->block = VIEW_LOCKS;
		} else if (row->kind == KTR__ROW_ID && view_rank(row) == 2) {
			view_add(items, row, NULL, row->name, i)->block = VIEW_COUNTERS;
		} else if (row->kind == KTR__ROW_ID && known && own[id] != row) {
			item = view_add(items, row, row, t->thread[id]->name, i);
			item->sub = 2 + view_rank(row);
			item->indent = 1;
		}
	}
}

static void view_collect_cpus(struct view_items *items)
{
	const struct ktr__rows *rows = &items->view->timeline->rows;

	for (unsigned i = 0; i < rows->n_rows; i++)
		if (rows->row[i]->kind == KTR__ROW_CPU)
			view_add(items, rows->row[i], NULL, rows->row[i]->name, i);
}

static int view_same_heading(const struct view_item *a, const struct view_item *b)
{
	return view_any_row(a)->process_key == view_any_row(b)->process_key && a->block == b->block;
}

static int view_by_score(const void *a, const void *b, void *context)
{
	const struct view_item *item = context;
	const struct view_item *x = &item[*(const unsigned *)a], *y = &item[*(const unsigned *)b];

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* What is said of a row can be seen there: it goes before all others, and the thread that it belongs to with it. */
static void view_put_said_first(struct view_items *items)
{
	for (int k = 0; k < items->view->n_findings && k < VIEW_SAID; k++)
		for (unsigned i = 0; i < items->n; i++) {
			struct view_item *item = &items->item[i];

			if (item->row != items->view->finding[k].row)
				continue;
			item->score += 100 * (VIEW_SAID - k);
			for (unsigned of = 0; of < items->n && item->sub > 0; of++)
				if (items->item[of].sub == 0 && items->item[of].name == item->name)
					items->item[of].score += 100 * (VIEW_SAID - k) + 50;
			break;
		}
}

/* A heading: items [begin, end), and how much is to be said about them. */
struct view_head {
	unsigned begin, end;
	double score;
};

static int view_by_head(const void *a, const void *b)
{
	const struct view_head *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->begin < y->begin ? -1 : 1;
}

/* Finds the headings; those of rows that something is said of come first. Returns how many. */
static unsigned view_find_heads(struct view_items *items, struct view_head *head)
{
	unsigned n = 0;

	for (unsigned i = 0, k; i < items->n; i = k) {
		head[n] = (struct view_head){ i, i, 0 };
		for (k = i; k < items->n && view_same_heading(&items->item[i], &items->item[k]);
		     k++) {
			struct view_item *item = &items->item[k];

			item->head = i;
			head[n].end = k + 1;
			if (item->score > head[n].score)
				head[n].score = item->score;
		}
		n++;
	}
	qsort(head, n, sizeof(*head), view_by_head);
	return n;
}

/* Chooses the best items of a heading, as long as there is room. Returns the lines they take. */
static unsigned view_choose_some(struct view_items *items, const struct view_head *head,
				 unsigned room)
{
	unsigned used = 1;

	if (room < 2)
		return 0;
	items->item[head->begin].shown = 1;
	for (; used < room && used <= VIEW_SOME && used <= head->end - head->begin; used++) {
		struct view_item *best = NULL;

		for (unsigned i = head->begin; i < head->end; i++)
			if (!items->item[i].chosen &&
			    (best == NULL || items->item[i].score > best->score))
				best = &items->item[i];
		if (best == NULL)
			break;
		best->chosen = 1;
	}
	return used;
}

/*
 * Marks what stays: of each heading some rows, because rows mean little without others to compare
 * them with, as long as there is room; the other lines go to the best rows of the headings shown.
 */
static int view_choose(struct view_items *items, unsigned max_lines)
{
	unsigned *order = malloc((items->n + 1) * sizeof(*order)), used = 0, n_heads;
	struct view_head *head = malloc((items->n + 1) * sizeof(*head));

	if (order == NULL || head == NULL) {
		free(order);
		free(head);
		return -ENOMEM;
	}
	n_heads = view_find_heads(items, head);
	if (n_heads + items->n > max_lines && max_lines > 0)
		max_lines--; /* for the rest */
	for (unsigned i = 0; i < n_heads; i++)
		used += view_choose_some(items, &head[i], max_lines - used);
	for (unsigned i = 0; i < items->n; i++)
		order[i] = i;
	qsort_r(order, items->n, sizeof(*order), view_by_score, items->item);
	for (unsigned i = 0; i < items->n && used < max_lines; i++) {
		struct view_item *item = &items->item[order[i]];

		if (item->chosen || !items->item[item->head].shown)
			continue;
		item->chosen = 1;
		used++;
	}
	free(order);
	free(head);
	return 0;
}

/* Which of the processes of its pid the row's is, from 1, in the order in which they appeared; 0: the only one. */
static unsigned view_which(const struct ktr__rows *rows, const struct ktr__row *row)
{
	unsigned n = 0, which = 0;

	for (unsigned i = 0; i < rows->n_rows; i++) {
		unsigned k = 0;

		if (rows->row[i]->pid != row->pid || rows->row[i]->process_key == 0)
			continue;
		while (rows->row[k]->process_key != rows->row[i]->process_key)
			k++;
		n += k == i; /* the first row of that process */
		if (rows->row[i]->process_key == row->process_key && which == 0)
			which = n;
	}
	return n > 1 ? which : 0;
}

/* "indexer (1234)", and which one where several have that pid. */
static void view_process(const struct view_items *items, const struct ktr__row *row, char *text, size_t size)
{
	const char *process = row->process[0] != '\0' ? row->process : "process";
	unsigned which = view_which(&items->view->timeline->rows, row);

	if (which != 0)
		snprintf(text, size, "%s (%" PRIu32 " #%u)", process, row->pid, which);
	else
		snprintf(text, size, "%s (%" PRIu32 ")", process, row->pid);
}

static void view_heading(const struct view_items *items, const struct view_item *item, char *text,
			 size_t size)
{
	const struct ktr__row *row = view_any_row(item);
	char process[120];

	view_process(items, row, process, sizeof(process));
	if (items->view->by == KTR__BY_CPUS)
		snprintf(text, size, "CPUs");
	else if (items->view->by == KTR__BY_THREADS && item->block > 0)
		snprintf(text, size, "%s of %s", item->block == VIEW_LOCKS ? "locks" : "counters",
			 row->process[0] != '\0' ? row->process : "process");
	else if (items->view->by == KTR__BY_THREADS)
		snprintf(text, size, "%s", process);
	else if (items->n_processes > 1)
		snprintf(text, size, "%s: %s", process, row->group);
	else
		snprintf(text, size, "%s", row->group);
}

static void view_text(const struct view_item *item, char *text, size_t size)
{
	const struct ktr__row *row = view_any_row(item);

	if (row->nest != NULL && (row->depth > 0 || item->indent > 0))
		snprintf(text, size, "%s", row->depth > 0 ? "" : row->group); /* the line above says whose it is */
	else if (item->indent > 0)
		snprintf(text, size, "%s%s%s", row->group, row->group[0] ? " " : "",
			 row->n_ident > 0 && strncmp(item->name, row->name, strlen(row->name)) != 0
				 ? row->name
				 : "");
	else if (item->marks != NULL && item->marks->kind == KTR__ROW_THREAD)
		snprintf(text, size, "%s", item->marks->name);
	else
		snprintf(text, size, "%s", row->name[0] != '\0' ? row->name : "(no name)");
}

/* Adds what happens on a row that has no line to the marks of all such rows. */
static void view_add_rest(struct ktr__view *view, const struct view_item *item)
{
	unsigned n_columns = view->timeline->rows.grid.n_columns;
	const struct ktr__cell *cell = item->row != NULL ? item->row->lane.cell : NULL;
	const uint32_t *marks = item->marks != NULL ? item->marks->marks : NULL;

	view->n_hidden++;
	view->n_deeper += view_any_row(item)->nest != NULL && view_any_row(item)->depth > 0;
	if (view->rest == NULL || view->rest->marks == NULL)
		return;
	view->rest->n_events += view_any_row(item)->n_events;
	if (ktr__rings_join(&view->rest->rings, ktr__row_rings(view_any_row(item))) != 0) {
		free(view->rest->marks);
		view->rest->marks = NULL;
		return;
	}
	for (unsigned c = 0; c < n_columns; c++) {
		uint64_t sum = view->rest->marks[c];

		sum += marks != NULL ? marks[c] : cell != NULL ? cell[c].n : 0;
		view->rest->marks[c] = sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
	}
}

/* One line for all that has none. */
static int view_rest_line(struct ktr__view *view)
{
	struct ktr__line *line = &view->line[view->n_lines];

	if (view->n_hidden == 0)
		return 0;
	if (view->rest == NULL || view->rest->marks == NULL)
		return -ENOMEM;
	line->marks = view->rest;
	line->legend = -1;
	line->indent = -1; /* under no heading */
	snprintf(line->text, sizeof(line->text), "%u more rows", view->n_hidden);
	view->n_lines++;
	return 0;
}

/* Turns what stays into lines. */
static int view_lines(struct view_items *items)
{
	struct ktr__view *view = items->view;
	const struct view_item *before = NULL;
	const char *main_name = NULL;

	view->line = calloc(2 * (size_t)items->n + 1, sizeof(*view->line));
	view->rest = calloc(1, sizeof(*view->rest));
	if (view->line == NULL || view->rest == NULL)
		return -ENOMEM;
	view->rest->marks = calloc(view->timeline->rows.grid.n_columns, sizeof(uint32_t));
	for (unsigned i = 0; i < items->n; i++) {
		const struct view_item *item = &items->item[i];
		struct ktr__line *line;

		/* What belongs to a thread does not stand without it. */
		if (!item->chosen || (item->sub > 0 && item->name != main_name)) {
			view_add_rest(view, item);
			continue;
		}
		if (item->sub == 0)
			main_name = item->name;
		if (before == NULL || !view_same_heading(before, item)) {
			line = &view->line[view->n_lines++];
			line->legend = -1;
			view_heading(items, item, line->text, sizeof(line->text));
		}
		before = item;
		line = &view->line[view->n_lines++];
		*line = (struct ktr__line){ .row = item->row,
					    .marks = item->marks,
					    .legend = -1,
					    .indent = (int)item->indent };
		view_text(item, line->text, sizeof(line->text));
		view->n_rows++;
	}
	return view_rest_line(view);
}

static int view_collect(struct view_items *items)
{
	const struct ktr__timeline *t = items->view->timeline;
	const struct ktr__row **own;
	uint64_t process_key = 0;

	for (unsigned i = 0; i < t->rows.n_rows; i++) {
		const struct ktr__row *row = t->rows.row[i];

		if (row->n_events > items->n_events_most)
			items->n_events_most = row->n_events;
		items->n_processes += items->n_processes == 0 || row->process_key != process_key;
		process_key = row->process_key;
	}
	if (items->view->by == KTR__BY_CPUS) {
		view_collect_cpus(items);
	} else if (items->view->by == KTR__BY_IDS) {
		view_collect_ids(items);
	} else {
		own = calloc((size_t)t->n_threads + 1, sizeof(const struct ktr__row *));
		if (own == NULL)
			return -ENOMEM;
		view_collect_threads(items, own);
		free(own);
	}
	return 0;
}

/* Numbers the sentences whose rows have lines, and marks these. */
static void view_mark_said(struct ktr__view *view)
{
	unsigned n = 0;

	for (int k = 0; k < view->n_findings && k < VIEW_SAID; k++)
		for (unsigned i = 0; i < view->n_lines; i++)
			if (view->line[i].row != NULL && view->line[i].row == view->finding[k].row) {
				view->line[i].said = ++n;
				break;
			}
}

static enum ktr__timeline_by view_by(const struct ktr__timeline *t)
{
	if (t->options.by != KTR__BY_AUTO)
		return t->options.by == KTR__BY_NAMES ? KTR__BY_IDS : t->options.by;
	for (unsigned i = 0; i < t->rows.n_rows; i++)
		if (t->rows.row[i]->kind == KTR__ROW_ID || t->rows.row[i]->kind == KTR__ROW_NEST)
			return KTR__BY_IDS;
	return KTR__BY_THREADS;
}

/* How many items there are at most. */
static size_t view_n_items(const struct ktr__rows *rows)
{
	size_t n = rows->n_rows;

	for (unsigned i = 0; i < rows->n_rows; i++)
		n += rows->row[i]->n_levels;
	return n;
}

int ktr__view_init(struct ktr__view *view, const struct ktr__timeline *t, unsigned max_lines)
{
	struct view_items items = { .view = view };
	int error = -ENOMEM;

	memset(view, 0, sizeof(*view));
	view->timeline = t;
	view->by = view_by(t);
	items.item = calloc(view_n_items(&t->rows) + 1, sizeof(*items.item));
	items.odd = calloc((size_t)t->rows.n_rows + 1, sizeof(*items.odd));
	if (items.item != NULL && items.odd != NULL)
		error = view->n_findings = ktr__finding_look(&t->rows, &t->losses, view->finding, items.odd);
	if (error >= 0)
		error = view_collect(&items);
	if (error == 0) {
		view_put_said_first(&items);
		qsort(items.item, items.n, sizeof(*items.item), view_compare);
		error = view_choose(&items, max_lines);
	}
	if (error == 0)
		error = view_lines(&items);
	if (error == 0) {
		view_mark_said(view);
		error = ktr__legend_make(view);
	}
	free(items.item);
	free(items.odd);
	return error;
}

struct ktr__label_name *ktr__view_names(const struct ktr__view *view)
{
	struct ktr__label_name *name = calloc(view->n_lines + 1, sizeof(*name));

	for (unsigned i = 0; name != NULL && i < view->n_lines; i++)
		name[i].text = view->line[i].text;
	return name;
}

void ktr__view_free(struct ktr__view *view)
{
	if (view->rest != NULL) {
		free(view->rest->rings.word);
		free(view->rest->marks);
	}
	free(view->rest);
	free(view->line);
	free(view->legend);
	memset(view, 0, sizeof(*view));
}
