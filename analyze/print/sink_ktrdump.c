/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of ktrdump(8). Times are nanoseconds of CLOCK_MONOTONIC, of which FreeBSD's tools take any
 * number per second; the thread is its id, where FreeBSD prints a kernel address under the same heading.
 * Losses, for which it has no word, are counted.
 */
#include "analyze/print/sink_ktrdump.h"

#include "analyze/print/sink_text.h"

#include <string.h>

static const struct ktrdump_column {
	unsigned bit;
	unsigned width;
	const char *name;
} ktrdump_columns[] = {
	{ 0, 6, "index" },
	{ KTR__KTRDUMP_CPU, 3, "cpu" },
	{ KTR__KTRDUMP_TIME, 16, "timestamp" },
	{ KTR__KTRDUMP_WHERE, 40, "file and line" },
	{ KTR__KTRDUMP_THREAD, 18, "tid" },
};

#define KTRDUMP_N_COLUMNS (sizeof(ktrdump_columns) / sizeof(ktrdump_columns[0]))

static int ktrdump_shown(unsigned columns, const struct ktrdump_column *column)
{
	return !column->bit || columns & column->bit;
}

void ktr__ktrdump_header(struct ktr__out *out, unsigned columns)
{
	if (ktr__out_line(out))
		return;
	for (unsigned i = 0; i < KTRDUMP_N_COLUMNS; i++)
		if (ktrdump_shown(columns, &ktrdump_columns[i])) {
			ktr__out_visible(out, ktrdump_columns[i].name,
					 strlen(ktrdump_columns[i].name), ktrdump_columns[i].width);
			ktr__out_char(out, ' ');
		}
	ktr__out_text(out, "trace\n");
	for (unsigned i = 0; i < KTRDUMP_N_COLUMNS; i++)
		if (ktrdump_shown(columns, &ktrdump_columns[i])) {
			ktr__out_fill(out, '-', ktrdump_columns[i].width);
			ktr__out_char(out, ' ');
		}
	ktr__out_text(out, "----- \n");
}

/* The time, or how far it is from the line above. */
static uint64_t ktrdump_time(struct ktr__sink_ktrdump *dump, uint64_t ns)
{
	uint64_t last_ns = dump->n_events ? dump->last_ns : ns;

	dump->last_ns = ns;
	if (!dump->relative)
		return ns;
	return ns < last_ns ? last_ns - ns : ns - last_ns;
}

static void ktrdump_where(struct ktr__out *out, const struct ktr_reader_site *site)
{
	size_t before = out->n;
	const char *file = site->file;

	while (strncmp(file, "../", 3) == 0)
		file += 3;
	ktr__out_visible(out, file, strlen(file), 0);
	ktr__out_char(out, ':');
	ktr__out_number(out, site->line, 0, ' ');
	if (out->n - before < 40)
		ktr__out_fill(out, ' ', 40 - (out->n - before));
}

/* Everything in front of the text. */
static int ktrdump_cells(struct ktr__sink_ktrdump *dump, const struct ktr_event *event)
{
	struct ktr__out *out = dump->out;
	uint64_t ns = ktrdump_time(dump, event->time_ns);
	int rc = ktr__out_line(out);
	size_t before;

	if (rc)
		return rc;
	ktr__out_number(out, dump->index, 6, ' ');
	ktr__out_char(out, ' ');
	if (dump->columns & KTR__KTRDUMP_CPU) {
		ktr__out_number(out, event->cpu, 3, ' ');
		ktr__out_char(out, ' ');
	}
	if (dump->columns & KTR__KTRDUMP_TIME) {
		ktr__out_number(out, ns, 16, ' ');
		ktr__out_char(out, ' ');
	}
	if (dump->columns & KTR__KTRDUMP_WHERE) {
		ktrdump_where(out, event->site);
		ktr__out_char(out, ' ');
	}
	if (dump->columns & KTR__KTRDUMP_THREAD) {
		before = out->n;
		ktr__out_number(out, event->thread->tid, 0, ' ');
		ktr__out_fill(out, ' ', 19 - (out->n - before));
	}
	dump->index += (uint64_t)(int64_t)dump->step;
	dump->n_events++;
	return 0;
}

int ktr__ktrdump_line(struct ktr__sink_ktrdump *dump, const struct ktr_event *event,
		      const char *text, size_t n)
{
	int rc = ktrdump_cells(dump, event);

	if (rc)
		return rc;
	ktr__out_bytes(dump->out, text, n);
	ktr__out_char(dump->out, '\n');
	return 0;
}

static int ktrdump_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__sink_ktrdump *dump = (struct ktr__sink_ktrdump *)(void *)sink;
	int rc = ktrdump_cells(dump, event);

	if (rc)
		return rc;
	ktr__sink_text_message(dump->out, NULL, event, 1);
	ktr__out_char(dump->out, '\n');
	return 0;
}

static int ktrdump_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	((struct ktr__sink_ktrdump *)(void *)sink)->n_lost += loss->n_events;
	return 0;
}

void ktr__sink_ktrdump_init(struct ktr__sink_ktrdump *dump)
{
	dump->sink = (struct ktr_sink){ ktrdump_event, ktrdump_loss, NULL };
}
