/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/stats/samples.h"

#include "analyze/read/reader.h"
#include "conf/kit/array.h"
#include "conf/kit/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_BUCKETS 4096u

/* ---- functions ---- */

static struct ktr__sampled *samples_make(struct ktr__sampled_rows *rows, const struct ktr_reader_thread *thread,
					 const char *name, size_t n, uint64_t hash)
{
	unsigned room = rows->room ? 2 * rows->room : 64;
	struct ktr__sampled **grown = rows->row, *made;

	if (rows->n == rows->room) {
		grown = realloc(grown, room * sizeof(struct ktr__sampled *));
		if (!grown)
			return NULL;
		rows->row = grown;
		rows->room = room;
	}
	made = calloc(1, sizeof(*made));
	if (!made || !(made->name = strndup(name, n))) {
		free(made);
		return NULL;
	}
	made->thread = thread;
	made->hash = hash;
	made->chain = rows->bucket[hash % SAMPLES_BUCKETS];
	rows->bucket[hash % SAMPLES_BUCKETS] = made;
	return rows->row[rows->n++] = made;
}

static struct ktr__sampled *samples_find(struct ktr__sampled_rows *rows, const struct ktr_reader_thread *thread,
					 const char *name, size_t n)
{
	uint64_t hash = ktr__hash_bytes(thread ? thread->id + 1ull : 0, name, n);
	struct ktr__sampled *at = rows->bucket[hash % SAMPLES_BUCKETS];

	while (at && (at->hash != hash || at->thread != thread || strlen(at->name) != n ||
		      memcmp(at->name, name, n) != 0))
		at = at->chain;
	return at ? at : samples_make(rows, thread, name, n, hash);
}

/* A frame counts for its function, of this thread and of all. */
static int samples_frame(struct ktr__samples *samples, const struct ktr_event *event, const char *name,
			 size_t n, int innermost, uint64_t ns)
{
	const struct ktr_reader_thread *const whose[] = { NULL, event->thread };

	for (unsigned i = 0; i < 2; i++) {
		struct ktr__sampled *function = samples_find(&samples->function, whose[i], name, n);

		if (!function)
			return -ENOMEM;
		if (innermost) {
			function->self_ns += ns;
			function->n++;
		}
		if (function->last != samples->number)
			function->total_ns += ns;
		function->last = samples->number;
	}
	return 0;
}

/* The line that a sample was in, with its function. */
static int samples_line(struct ktr__samples *samples, const struct ktr__sample_line *line, uint64_t ns)
{
	char text[1024];
	int n = line->file ? snprintf(text, sizeof(text), "%.700s:%u %.*s", line->file, line->line,
				      line->n < 256 ? (int)line->n : 256, line->name)
			   : snprintf(text, sizeof(text), "%.*s", line->n < 256 ? (int)line->n : 256, line->name);
	struct ktr__sampled *of = samples_find(&samples->line, NULL, text, (size_t)n);

	if (!of)
		return -ENOMEM;
	if (line->file && !of->file) {
		of->file = strdup(line->file);
		if (!of->file)
			return -ENOMEM;
		of->line = line->line;
	}
	of->self_ns += ns;
	of->n++;
	return 0;
}

static int samples_pc(struct ktr__samples *samples, const struct ktr_event *event, uint64_t pc, int innermost,
		      uint64_t ns)
{
	struct ktr__sample_line line[KTR__DEBUG_LINES];
	char text[24];
	unsigned n = ktr__sample_lines(samples->symbols, event, pc, line, text);
	int rc = innermost && samples->wants_lines ? samples_line(samples, &line[0], ns) : 0;

	for (unsigned i = 0; i < n && !rc; i++)
		rc = samples_frame(samples, event, line[i].name, line[i].n, innermost && i == 0, ns);
	return rc;
}

static int samples_stack(struct ktr__samples *samples, const struct ktr_event *event,
			 const struct ktr__sample *sample)
{
	const char *inner = ktr__sample_inner(sample);
	uint32_t n_frames = sample->stack->n_bytes / 8;
	int rc = inner ? samples_frame(samples, event, inner, strlen(inner), 1, sample->ns) : 0;

	for (uint32_t i = 0; i < n_frames && !rc; i++) {
		uint64_t pc;

		memcpy(&pc, sample->stack->bytes + i * (size_t)8, sizeof(pc));
		rc = samples_pc(samples, event, pc, i == 0 && !inner, sample->ns);
	}
	return rc;
}

/* ---- the sink ---- */

/* A sample, on the CPU or off it. */
static int samples_found(void *context, const struct ktr_event *event, const struct ktr__sample *sample)
{
	struct ktr__samples *samples = context;
	struct ktr__sampled_thread *thread;

	if (ktr__array_grow(&samples->thread, &samples->n_threads, event->thread->id,
			    sizeof(*samples->thread)) != 0)
		return -ENOMEM;
	thread = &samples->thread[event->thread->id];
	thread->thread = event->thread;
	thread->ns[sample->how] += sample->ns;
	thread->n_ticks[sample->how] += sample->n_ticks;
	samples->ns[sample->how] += sample->ns;
	samples->n_ticks[sample->how] += sample->n_ticks;
	samples->number++;
	if (sample->how == KTR__SAMPLE_BLOCKED || sample->how == KTR__SAMPLE_MISSED ||
	    sample->how == KTR__SAMPLE_LOST)
		return 0;
	if (ktr__sample_is_off(sample->how)) {
		samples->n_off++;
		thread->n_off++;
	} else {
		samples->n++;
		thread->n++;
		samples->n_cut += sample->stack->cut;
		thread->n_cut += sample->stack->cut;
	}
	return samples_stack(samples, event, sample);
}

static int samples_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	int rc = ktr__sampler_event(&((struct ktr__samples *)(void *)sink)->sampler, event);

	return rc < 0 ? rc : 0;
}

static int samples_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	(void)loss;
	ktr__sampler_loss(&((struct ktr__samples *)(void *)sink)->sampler);
	return 0;
}

int ktr__samples_init(struct ktr__samples *samples, struct ktr_reader *reader)
{
	*samples = (struct ktr__samples){ .sink = { samples_event, samples_loss, NULL },
					  .symbols = ktr__reader_symbols(reader) };
	samples->function.bucket = calloc(SAMPLES_BUCKETS, sizeof(struct ktr__sampled *));
	samples->line.bucket = calloc(SAMPLES_BUCKETS, sizeof(struct ktr__sampled *));
	if (ktr__sampler_init(&samples->sampler, reader, samples_found, samples))
		return -ENOMEM;
	return samples->function.bucket && samples->line.bucket ? 0 : -ENOMEM;
}

int ktr__samples_finish(struct ktr__samples *samples)
{
	int rc = ktr__sampler_finish(&samples->sampler);

	for (unsigned i = 0; i < samples->function.n; i++) {
		const struct ktr__sampled *function = samples->function.row[i];
		struct ktr__sampled_thread *thread;

		if (!function->thread)
			continue;
		thread = &samples->thread[function->thread->id];
		if (!thread->most || function->self_ns > thread->most->self_ns)
			thread->most = function;
	}
	return rc;
}

static void samples_rows_free(struct ktr__sampled_rows *rows)
{
	for (unsigned i = 0; i < rows->n; i++) {
		free(rows->row[i]->name);
		free(rows->row[i]->file);
		free(rows->row[i]);
	}
	free(rows->row);
	free(rows->bucket);
}

void ktr__samples_free(struct ktr__samples *samples)
{
	samples_rows_free(&samples->function);
	samples_rows_free(&samples->line);
	free(samples->thread);
	ktr__sampler_free(&samples->sampler);
}
