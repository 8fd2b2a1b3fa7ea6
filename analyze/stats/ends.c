/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/stats/ends.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t ends_of(const struct ktr__end *end)
{
	uint64_t ns = end->alive_ns;

	if (end->exit_ns || !end->gone_ns)
		return end->exit_ns;
	if (end->last_ns > ns)
		ns = end->last_ns;
	if (end->start_ns > ns)
		ns = end->start_ns;
	return ns < end->gone_ns ? ns : end->gone_ns;
}

uint64_t ktr__ends_process(const struct ktr_reader_thread *thread)
{
	const struct ktr__process *process = ktr__ends_row(thread)->process;

	return process ? ends_of(&process->end) : 0;
}

uint64_t ktr__ends_thread(const struct ktr_reader_thread *thread)
{
	uint64_t own = thread->exit_ns, process;

	if (own)
		return own;
	own = ends_of(&ktr__ends_row(thread)->end);
	process = ktr__ends_process(thread);
	if (!own || (process && process < own))
		own = process;
	return own && own < thread->start_ns ? thread->start_ns : own;
}

uint64_t ktr__ends_gone(const struct ktr_reader_thread *thread)
{
	const struct ktr__thread *row = ktr__ends_row(thread);
	const struct ktr__process *process = row->process;

	if (thread->exit_ns)
		return 0;
	if (row->end.gone_ns)
		return row->end.gone_ns;
	return process && !process->end.exit_ns ? process->end.gone_ns : 0;
}

int ktr__ends_lives(const struct ktr__tables *tables)
{
	for (uint32_t i = 0; i < tables->n_processes; i++)
		if (tables->process[i] && !ends_of(&tables->process[i]->end))
			return 1;
	return 0;
}

static int ends_compare(const void *a, const void *b)
{
	const struct ktr__process *x = *(struct ktr__process *const *)a, *y = *(struct ktr__process *const *)b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->end.start_ns > y->end.start_ns) - (x->end.start_ns < y->end.start_ns);
}

/* A process has a row for each program that it was, one after the other: exec(2) ends one as the next begins. */
static int ends_images(struct ktr__tables *tables)
{
	struct ktr__process **sorted = calloc(tables->n_processes + 1, sizeof(struct ktr__process *));
	uint32_t n = 0;

	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < tables->n_processes; i++)
		if (tables->process[i])
			sorted[n++] = tables->process[i];
	qsort(sorted, n, sizeof(struct ktr__process *), ends_compare);
	for (uint32_t i = 1; i < n; i++) {
		struct ktr__end *end = &sorted[i - 1]->end;
		uint64_t next_ns = sorted[i]->end.start_ns;

		if (sorted[i]->key == sorted[i - 1]->key && next_ns > end->start_ns && !end->exit_ns &&
		    (!end->gone_ns || next_ns < end->gone_ns))
			end->gone_ns = next_ns;
	}
	free(sorted);
	return 0;
}

int ktr__ends_resolve(struct ktr__tables *tables)
{
	int rc = ends_images(tables);

	tables->n_vague = 0;
	for (uint32_t i = 1; i < tables->n_threads && !rc; i++) {
		struct ktr__thread *row = tables->thread[i];
		struct ktr__process *process;

		if (!row)
			continue;
		process = row->proc < tables->n_processes ? tables->process[row->proc] : NULL;
		row->process = process;
		row->is_vague = (!row->end.exit_ns && row->end.gone_ns) ||
				(process && !process->end.exit_ns && process->end.gone_ns);
		tables->n_vague += (uint32_t)row->is_vague;
		if (!row->thread.exit_ns && !row->end.gone_ns && process)
			row->thread.exit_ns = process->end.exit_ns;
	}
	return rc;
}
