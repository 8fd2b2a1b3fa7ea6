/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page's data are JSON: names, and by node its parent, its name, what it has for itself and in all. Nodes come
 * in the order in which they are drawn, each after its parent.
 */
#include "visualize/flame/flame_page.h"

#include "visualize/chart/markup.h"
#include "visualize/model/palette.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* The texts of visualize/flame/ that are built in; each ends in NUL. */
extern const char ktr__flame_html[], ktr__flame_css[], ktr__flame_js[];

struct flame_page {
	const struct ktr__flame_view *view;
	json_t *node;
	json_int_t n;
	int error;
};

/* What nobody will see, whatever the page is zoomed to, stays out; its caller's numbers have it. */
#define FLAME_PAGE_LEAST 1e-6

static void flame_page_node(struct flame_page *page, uint32_t at, json_int_t parent)
{
	const struct ktr__flame *flame = page->view->flame;
	const struct ktr__flame_node *n = &flame->node[at];
	json_int_t me = page->n;
	json_t *row;

	if ((double)n->total[0] < FLAME_PAGE_LEAST * (double)flame->node[0].total[0] || n->total[0] == 0)
		return;
	row = json_pack("[I,I,I,I,I]", parent, (json_int_t)n->name, (json_int_t)n->self[0], (json_int_t)n->total[0],
			(json_int_t)((double)n->self[1] * page->view->scale));
	page->error |= json_array_append_new(page->node, row);
	page->n++;
	for (uint32_t i = n->child; i != 0; i = flame->node[i].sibling)
		flame_page_node(page, i, me);
}

static json_t *flame_page_names(const struct ktr__flame *flame, int *error)
{
	json_t *names = json_array();

	for (uint32_t i = 0; i < flame->n_names; i++)
		*error |= json_array_append_new(names, json_string(flame->name[i].text));
	return names;
}

/* Of each name its colour; where traces are compared, of each shade. */
static json_t *flame_page_colours(const struct ktr__flame_view *view, int *error)
{
	json_t *colours = json_array();

	for (uint32_t i = 0; !view->diff && i < view->flame->n_names; i++)
		*error |= json_array_append_new(
			colours, json_integer(ktr__flame_name_colour(view, view->flame->name[i].text)));
	for (int i = -(int)KTR__FLAME_SHADES; view->diff && i <= (int)KTR__FLAME_SHADES; i++)
		*error |= json_array_append_new(colours, json_integer(ktr__flame_shade(i)));
	return colours;
}

static int flame_page_data(const struct ktr__flame_view *view, FILE *to)
{
	struct flame_page page = { view, json_array(), 0, 0 };
	json_t *names = flame_page_names(view->flame, &page.error), *all;
	json_t *colours = flame_page_colours(view, &page.error);
	char *text = NULL;

	flame_page_node(&page, 0, -1);
	all = json_pack("{s:s?,s:b,s:b,s:f,s:o,s:o,s:o}", "unit", view->unit, "diff", view->diff, "icicle",
			view->icicle, "most", view->most, "names", names, "colours", colours, "nodes", page.node);
	if (all != NULL && page.error == 0)
		text = json_dumps(all, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(all);
	if (text == NULL)
		return -ENOMEM;
	ktr__markup_json(to, text);
	free(text);
	return 0;
}

/* What stands for a mark "@@name@@" in flame.html. */
static int flame_page_mark(const struct ktr__flame_view *view, const char *mark, size_t n, FILE *to)
{
	const struct {
		const char *mark, *text;
	} texts[] = {
		{ "title", view->frame.title }, { "subtitle", view->frame.subtitle },
		{ "lost", view->frame.lost },   { "note", view->frame.note },
		{ "source", view->frame.source }, { "command", view->frame.command },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strlen(texts[i].mark) == n && memcmp(texts[i].mark, mark, n) == 0) {
			ktr__markup_text(to, texts[i].text);
			return 0;
		}
	if (mark[0] == 'd')
		return flame_page_data(view, to);
	fputs(mark[0] == 'c' ? ktr__flame_css : ktr__flame_js, to);
	return 0;
}

int ktr__flame_page(const struct ktr__flame_view *view, FILE *to)
{
	const char *at = ktr__flame_html, *mark, *end;
	int rc = 0;

	while (rc == 0 && (mark = strstr(at, "@@")) != NULL) {
		fwrite(at, 1, (size_t)(mark - at), to);
		mark += 2;
		end = strstr(mark, "@@");
		rc = flame_page_mark(view, mark, (size_t)(end - mark), to);
		at = end + 2;
	}
	fputs(at, to);
	return rc;
}
