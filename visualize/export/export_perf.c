/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples as `perf script` prints them, which most programs that draw profiles read: of each a line, then its
 * stack, the innermost frame first, and an empty line. The period is the time that the sample stands for.
 */
#include "visualize/export/exports.h"
#include "visualize/export/stack_set.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* As perf has it where it does not know. */
#define PERF_UNKNOWN "[unknown]"

static void perf_text(FILE *to, const char *text)
{
	char clean[4 * 1024 + 4];
	size_t n = strlen(text);

	fwrite(clean, 1, ktr__label_clean(clean, sizeof(clean), text, n < 1024 ? n : 1024), to);
}

/*
 * A frame, after what was inlined there. Addresses are as perf's: of the innermost frame that of the instruction,
 * of others where the call returns to.
 */
static void perf_frame(struct ktr__export *e, const struct ktr__stack_set *set,
		       const struct ktr__stack_frame *frame, int is_innermost)
{
	uint64_t address = frame->address ? frame->address + !is_innermost : 0;
	const struct ktr__stack_line *line = &set->line[frame->line];
	const char *name;

	for (uint32_t i = 1; i < frame->n_lines; i++, line++)
		fprintf(e->to, "\t%16" PRIx64 " %s (inlined)\n", address, set->function[line->function].name);
	name = set->function[line->function].name;
	fprintf(e->to, "\t%16" PRIx64 " %s (", address, name);
	if (frame->module)
		perf_text(e->to, set->module[frame->module - 1].entry->path);
	else
		fputs(strcmp(name, ktr__sample_word(KTR__SAMPLE_KERNEL)) == 0 ? "[kernel.kallsyms]" : PERF_UNKNOWN,
		      e->to);
	fputs(")\n", e->to);
}

struct perf_at {
	const struct ktr_reader_thread *thread;
	const struct ktr__stack_sample *sample;
};

static void perf_sample(struct ktr__export *e, const struct ktr__stack_set *set, const struct perf_at *at)
{
	const struct ktr__stack_sample *sample = at->sample;

	perf_text(e->to, at->thread->name[0] != '\0' ? at->thread->name : "?");
	fprintf(e->to, " %" PRIu32 "/%" PRIu32 " [%03" PRIu32 "] %5" PRIu64 ".%09" PRIu64 ": %10" PRIu64 " %s: \n",
		at->thread->pid, at->thread->tid, sample->cpu, sample->time_ns / 1000000000,
		sample->time_ns % 1000000000, sample->ns,
		sample->how == KTR__SAMPLE_WAITING ? "wall-clock" : "cpu-clock");
	for (uint32_t node = sample->node; node != 0; node = set->node[node].parent)
		perf_frame(e, set, &set->frame[set->node[node].frame], node == sample->node);
	putc('\n', e->to);
}

static int perf_begin(struct ktr__export *e)
{
	struct ktr__stack_set *set = e->data;
	int rc = ktr__stack_set_begin(set, e->symbols, e->reader);

	set->on_cpu_only = 1;
	return rc;
}

static int perf_event(struct ktr__export *e, const struct ktr_event *event)
{
	return ktr__stack_set_event(e->data, event);
}

static int perf_earlier(const void *a, const void *b)
{
	const struct ktr__stack_sample *one = ((const struct perf_at *)a)->sample,
				       *other = ((const struct perf_at *)b)->sample;

	return one->time_ns < other->time_ns ? -1 : one->time_ns > other->time_ns;
}

/* Of all threads, in the order of time. */
static int perf_samples(struct ktr__export *e, const struct ktr__stack_set *set)
{
	struct perf_at *at = calloc(set->n + 1, sizeof(*at));
	uint64_t n = 0;

	if (!at)
		return -ENOMEM;
	for (uint32_t i = 0; i < set->n_threads; i++)
		for (uint32_t k = 0; k < set->thread[i].n; k++)
			at[n++] = (struct perf_at){ set->thread[i].thread, &set->thread[i].sample[k] };
	qsort(at, n, sizeof(*at), perf_earlier);
	for (uint64_t i = 0; i < n; i++)
		perf_sample(e, set, &at[i]);
	free(at);
	return 0;
}

static int perf_loss(struct ktr__export *e, const struct ktr_loss *loss)
{
	(void)loss;
	ktr__stack_set_loss(e->data);
	return 0;
}

static int perf_end(struct ktr__export *e)
{
	int rc = ktr__stack_set_finish(e->data);

	rc = rc ? rc : perf_samples(e, e->data);
	ktr__stack_set_note(e->data, e->note, sizeof(e->note));
	return rc;
}

static void perf_free(struct ktr__export *e)
{
	ktr__stack_set_free(e->data);
}

const struct ktr__export_format ktr__export_perf = {
	.name = "perf-script",
	.help = "samples as perf script prints them: FlameGraph, Firefox Profiler, speedscope",
	.n_data = sizeof(struct ktr__stack_set),
	.begin = perf_begin,
	.event = perf_event,
	.loss = perf_loss,
	.end = perf_end,
	.free = perf_free,
};
