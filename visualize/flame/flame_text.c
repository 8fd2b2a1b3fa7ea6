/* SPDX-License-Identifier: BSD-2-Clause */
/* See flame_text.h. */
#include "visualize/flame/flame_text.h"

#include "visualize/model/label.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define TEXT_BAR 10u /* [columns] */

struct text {
	const struct ktr__flame_view *view;
	FILE *to;
	unsigned columns;
	int ascii;
	double all, least;
};

/* Larger ones first, equal ones by name, in which order they come. */
static int text_compare(const void *a, const void *b, void *context)
{
	const struct ktr__flame *flame = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (flame->node[x].total[0] != flame->node[y].total[0])
		return flame->node[x].total[0] > flame->node[y].total[0] ? -1 : 1;
	return ktr__flame_order(flame, x, y);
}

static void text_bar(const struct text *t, double share)
{
	unsigned n = (unsigned)lrint(share * TEXT_BAR);

	for (unsigned i = 0; i < TEXT_BAR; i++)
		fputs(i >= n ? " " : t->ascii ? "#" : "\xe2\x96\x87", t->to);
}

/* What a line begins with: total, share, bar, own, and the change. */
static void text_numbers(const struct text *t, uint32_t node)
{
	const struct ktr__flame_node *n = &t->view->flame->node[node];
	double share = (double)n->total[0] / t->all, change = ktr__flame_change(t->view, node);

	fprintf(t->to, "%14s %5.1f %% ", ktr__flame_number(t->view, (double)n->total[0]).text, 100 * share);
	text_bar(t, share);
	fprintf(t->to, " %14s", ktr__flame_number(t->view, (double)n->self[0]).text);
	if (t->view->diff)
		fprintf(t->to, " %c%14s", change < 0 ? '-' : '+', ktr__flame_number(t->view, fabs(change)).text);
}

static void text_line(const struct text *t, uint32_t node, unsigned level)
{
	unsigned used = 14 + 9 + TEXT_BAR + 15 + (t->view->diff ? 16 : 0) + 2 + 2 * level;
	char fit[KTR__FLAME_NAME_BYTES];

	text_numbers(t, node);
	ktr__label_fit(fit, sizeof(fit), ktr__flame_text(t->view->flame, node),
		       t->columns > used + 12 ? t->columns - used : 12, t->ascii);
	fprintf(t->to, "  %*s%s\n", (int)(2 * level), "", fit);
}

static int text_children(const struct text *t, uint32_t node, unsigned level)
{
	const struct ktr__flame *flame = t->view->flame;
	uint32_t n = 0, n_less = 0, *child;
	double less = 0;
	int rc = 0;

	for (uint32_t i = flame->node[node].child; i != 0; i = flame->node[i].sibling)
		n++;
	child = malloc((n + 1) * sizeof(*child));
	if (child == NULL)
		return -ENOMEM;
	n = 0;
	for (uint32_t i = flame->node[node].child; i != 0; i = flame->node[i].sibling)
		child[n++] = i;
	qsort_r(child, n, sizeof(*child), text_compare, (void *)(uintptr_t)flame);
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		double total = (double)flame->node[child[i]].total[0];

		if (total < t->least * t->all || total == 0) {
			n_less += total > 0;
			less += total;
			continue;
		}
		text_line(t, child[i], level);
		rc = text_children(t, child[i], level + 1);
	}
	if (n_less > 0)
		fprintf(t->to, "%14s %5.1f %% %*s  %*s(%u more)\n", ktr__flame_number(t->view, less).text,
			100 * less / t->all, (int)TEXT_BAR + 15 + (t->view->diff ? 16 : 0), "",
			(int)(2 * level), "", n_less);
	free(child);
	return rc;
}

int ktr__flame_print_tree(const struct ktr__flame_view *view, unsigned columns, int ascii, double least,
			  FILE *to)
{
	struct text t = { view, to, columns, ascii, (double)view->flame->node[0].total[0], least };
	const char *const line[] = { view->frame.title, view->frame.subtitle, view->frame.lost,
				     view->frame.note };

	for (size_t i = 0; i < sizeof(line) / sizeof(line[0]); i++)
		if (line[i][0] != '\0')
			fprintf(to, "%s\n", line[i]);
	fprintf(to, "\n%14s   share %*s %14s%s  frame\n", "total", (int)TEXT_BAR, "", "its own",
		view->diff ? "    its change  " : "");
	text_line(&t, 0, 0);
	return text_children(&t, 0, 1);
}
