/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples for speedscope: a profile for each thread, whose samples follow each other in the order of time, each as
 * wide as its time. Where a thread did not run there is no width.
 *
 * https://www.speedscope.app/file-format-schema.json has the fields.
 */
#include "visualize/export/exports.h"
#include "visualize/export/stack_set.h"

#include <inttypes.h>
#include <string.h>

static void speedscope_frames(struct ktr__export *e, const struct ktr__stack_set *set)
{
	fputs("\"shared\":{\"frames\":[", e->to);
	for (uint32_t i = 0; i < set->n_lines; i++) {
		const struct ktr__stack_function *function = &set->function[set->line[i].function];
		const char *file = function->file ? function->file
				   : function->lib ? set->lib[function->lib - 1]->path
						   : NULL;

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", e->to);
		ktr__export_json(e->to, function->name, strlen(function->name));
		if (file) {
			fputs(",\"file\":", e->to);
			ktr__export_json(e->to, file, strlen(file));
		}
		if (set->line[i].line)
			fprintf(e->to, ",\"line\":%" PRIu32, set->line[i].line);
		putc('}', e->to);
	}
	fputs("]}", e->to);
}

/* [frames] Stacks of any provider have fewer; of deeper ones the outermost frames are left out. */
#define SPEEDSCOPE_DEPTH 4096u

/* Outermost first. */
static void speedscope_stack(struct ktr__export *e, const struct ktr__stack_set *set, uint32_t node)
{
	uint32_t inner[SPEEDSCOPE_DEPTH], n = 0;

	for (; node && n < SPEEDSCOPE_DEPTH; node = set->node[node].parent)
		inner[n++] = node;
	for (uint32_t i = n; i > 0; i--) {
		const struct ktr__stack_frame *frame = &set->frame[set->node[inner[i - 1]].frame];

		for (uint32_t k = frame->n_lines; k > 0; k--)
			fprintf(e->to, i > 1 || k > 1 ? "%" PRIu32 "," : "%" PRIu32, frame->line + k - 1);
	}
}

static void speedscope_thread(struct ktr__export *e, const struct ktr__stack_set *set,
			      const struct ktr__stack_thread *thread)
{
	char name[600];
	uint64_t ns = 0;
	int n = snprintf(name, sizeof(name), "%.400s %" PRIu32, thread->thread->name, thread->thread->tid);

	for (uint32_t i = 0; i < thread->n; i++)
		ns += thread->sample[i].ns;
	fputs("{\"type\":\"sampled\",\"name\":", e->to);
	ktr__export_json(e->to, name, (size_t)n);
	fprintf(e->to, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[", ns);
	for (uint32_t i = 0; i < thread->n; i++) {
		fputs(i ? ",[" : "[", e->to);
		if (thread->sample[i].node)
			speedscope_stack(e, set, thread->sample[i].node);
		putc(']', e->to);
	}
	fputs("],\"weights\":[", e->to);
	for (uint32_t i = 0; i < thread->n; i++)
		fprintf(e->to, i ? ",%" PRIu64 : "%" PRIu64, thread->sample[i].ns);
	fputs("]}", e->to);
}

static int speedscope_begin(struct ktr__export *e)
{
	return ktr__stack_set_begin(e->data, e->symbols, e->reader);
}

static int speedscope_event(struct ktr__export *e, const struct ktr_event *event)
{
	return ktr__stack_set_event(e->data, event);
}

static int speedscope_loss(struct ktr__export *e, const struct ktr_loss *loss)
{
	(void)loss;
	ktr__stack_set_loss(e->data);
	return 0;
}

static int speedscope_end(struct ktr__export *e)
{
	struct ktr__stack_set *set = e->data;
	const char *name = e->info->cmdline;
	int rc = ktr__stack_set_finish(set);

	if (rc)
		return rc;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"ktr\",\"name\":", e->to);
	ktr__export_json(e->to, name, strlen(name));
	fputs(",\n", e->to);
	speedscope_frames(e, set);
	fputs(",\n\"profiles\":[", e->to);
	for (uint32_t i = 0; i < set->n_threads; i++) {
		fputs(i ? ",\n" : "\n", e->to);
		speedscope_thread(e, set, &set->thread[i]);
	}
	fputs("]}\n", e->to);
	ktr__stack_set_note(set, e->note, sizeof(e->note));
	return 0;
}

static void speedscope_free(struct ktr__export *e)
{
	ktr__stack_set_free(e->data);
}

const struct ktr__export_format ktr__export_speedscope = {
	.name = "speedscope",
	.help = "samples, a profile for each thread: speedscope",
	.n_data = sizeof(struct ktr__stack_set),
	.begin = speedscope_begin,
	.event = speedscope_event,
	.loss = speedscope_loss,
	.end = speedscope_end,
	.free = speedscope_free,
};
