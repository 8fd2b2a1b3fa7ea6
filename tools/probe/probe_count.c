/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/probe/probe_count.h"

#include "conf/kit/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_EXCLUDED "excluded: "

struct count_row {
	char *name; /* PROVIDER:MODULE, or a reason; owned */
	unsigned n, n_on, n_can;
};

struct count_table {
	struct count_row *row;
	uint32_t n;    /* with a name */
	uint32_t room; /* elements of row */
};

struct probe_count {
	struct count_table objects, reasons;
};

struct probe_count *probe_count_new(void)
{
	return calloc(1, sizeof(struct probe_count));
}

static void count_clear(struct count_table *table)
{
	for (uint32_t i = 0; i < table->n; i++)
		free(table->row[i].name);
	free(table->row);
}

void probe_count_free(struct probe_count *count)
{
	if (!count)
		return;
	count_clear(&count->objects);
	count_clear(&count->reasons);
	free(count);
}

/* NULL: there is no memory. There are some dozens at most, and probes of one object come one after the other. */
static struct count_row *count_row(struct count_table *table, const char *name, size_t length)
{
	struct count_row *row;

	for (uint32_t i = table->n; i-- > 0;)
		if (strncmp(table->row[i].name, name, length) == 0 && !table->row[i].name[length])
			return &table->row[i];
	if (ktr__array_grow(&table->row, &table->room, table->n, sizeof(*row)))
		return NULL;
	row = &table->row[table->n];
	row->name = strndup(name, length);
	table->n += row->name != NULL;
	return row->name ? row : NULL;
}

/* PROVIDER:MODULE of a name of four parts. */
static size_t count_object(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon ? (size_t)(colon - name) + 1 + strcspn(colon + 1, ":") : strlen(name);
}

int probe_count_add(struct probe_count *count, const struct ktr__spec_probe *probe)
{
	struct count_row *row = count_row(&count->objects, probe->name, count_object(probe->name));
	const char *why = probe->detail;

	if (!row)
		return -ENOMEM;
	row->n++;
	row->n_on += probe->on;
	row->n_can += !probe->excluded;
	if (!probe->excluded)
		return 0;
	if (strncmp(why, COUNT_EXCLUDED, strlen(COUNT_EXCLUDED)) == 0)
		why += strlen(COUNT_EXCLUDED);
	row = count_row(&count->reasons, why, strlen(why));
	if (!row)
		return -ENOMEM;
	row->n++;
	return 0;
}

static int count_order(const void *a, const void *b)
{
	const struct count_row *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n) - (x->n > y->n) : strcmp(x->name, y->name);
}

static struct count_row count_sort(struct count_table *table, int *width)
{
	struct count_row all = { .name = NULL };

	if (table->n)
		qsort(table->row, table->n, sizeof(*table->row), count_order);
	for (uint32_t i = 0; i < table->n; i++) {
		const struct count_row *row = &table->row[i];

		all.n += row->n;
		all.n_on += row->n_on;
		all.n_can += row->n_can;
		*width = (int)strlen(row->name) > *width ? (int)strlen(row->name) : *width;
	}
	return all;
}

static void count_show(const struct count_row *row, int width)
{
	printf("%-*s %9u %9u %5.1f %% %8u\n", width, row->name ? row->name : "all", row->n, row->n_can,
	       row->n ? 100.0 * row->n_can / row->n : 0, row->n_on);
}

unsigned probe_count_print(struct probe_count *count)
{
	int width = 6;
	struct count_row all = count_sort(&count->objects, &width);

	if (!all.n)
		return 0;
	printf("%-*s %9s %9s %7s %8s\n", width, "OBJECT", "PROBES", "POSSIBLE", "SHARE", "ON");
	for (uint32_t i = 0; i < count->objects.n; i++)
		count_show(&count->objects.row[i], width);
	if (count->objects.n > 1)
		count_show(&all, width);
	if (count_sort(&count->reasons, &width).n)
		printf("\n%9s  EXCLUDED, SINCE\n", "PROBES");
	for (uint32_t i = 0; i < count->reasons.n; i++)
		printf("%9u  %s\n", count->reasons.row[i].n, count->reasons.row[i].name);
	return all.n;
}
