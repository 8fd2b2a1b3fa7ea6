/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/stats/samples.h"

#include "analyze/read/reader.h"
#include "analyze/read/tables.h"
#include "conf/kit/array.h"
#include "conf/kit/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_BUCKETS 4096u

/* ---- an event ---- */

/* As ktr/provider/profile/profile.c offers it. */
static int samples_site(const struct ktr_reader_site *site)
{
	return site->n_args == 4 && site->arg[2].type == KTR_ARG_STR && site->arg[3].type == KTR_ARG_STACK &&
	       strcmp(site->class_name, "profile") == 0 && strcmp(site->file, "profile") == 0 &&
	       strncmp(site->func, "profile-", 8) == 0;
}

static void samples_take(const struct ktr_event *event, struct ktr__sample *sample)
{
	static const char *const hows[] = { [KTR__SAMPLE_USER] = "user",
					    [KTR__SAMPLE_KERNEL] = "kernel",
					    [KTR__SAMPLE_BLOCKED] = "blocked",
					    [KTR__SAMPLE_MISSED] = "missed",
					    [KTR__SAMPLE_WAITING] = "waiting" };

	*sample = (struct ktr__sample){ event->arg[0], event->arg[1], KTR__SAMPLE_USER, &event->str[3] };
	for (unsigned i = 0; i < KTR__SAMPLE_HOWS; i++)
		if (strlen(hows[i]) == event->str[2].n_bytes &&
		    memcmp(hows[i], event->str[2].bytes, event->str[2].n_bytes) == 0)
			sample->how = (enum ktr__sample_how)i;
}

int ktr__sample_of(const struct ktr_event *event, struct ktr__sample *sample)
{
	if (!samples_site(event->site))
		return 0;
	samples_take(event, sample);
	return 1;
}

const char *ktr__sample_word(enum ktr__sample_how how)
{
	static const char *const words[] = { [KTR__SAMPLE_KERNEL] = "[kernel]",
					     [KTR__SAMPLE_BLOCKED] = "[signals blocked]",
					     [KTR__SAMPLE_MISSED] = "[not seen]",
					     [KTR__SAMPLE_WAITING] = "[waiting]" };

	return words[how];
}

const char *ktr__sample_function(struct ktr__symbols *symbols, const struct ktr_event *event, uint64_t pc,
				 size_t *n, char text[24])
{
	const char *name = NULL, *plus;

	if (symbols)
		name = ktr__symbols_at(symbols, ktr__tables_proc(event->thread), pc, KTR__SYMBOLS_RETURN);
	if (!name) {
		snprintf(text, 24, "0x%" PRIx64, pc);
		name = text;
	}
	plus = strrchr(name, '+');
	if (!plus || plus == name || strncmp(plus, "+0x", 3) != 0)
		plus = name + strlen(name);
	*n = (size_t)(plus - name);
	return name;
}

unsigned ktr__sample_lines(struct ktr__symbols *symbols, const struct ktr_event *event, uint64_t pc,
			   struct ktr__sample_line line[KTR__DEBUG_LINES], char text[24])
{
	const struct ktr__debug_line *known = NULL;
	uint32_t proc = ktr__tables_proc(event->thread);
	unsigned n = symbols ? ktr__symbols_lines(symbols, proc, pc - 1, &known) : 0, last = n ? n - 1 : 0;

	line[0] = (struct ktr__sample_line){ NULL, 0, NULL, 0 };
	for (unsigned i = 0; i < n; i++) {
		const char *name = known[i].function;

		line[i] = (struct ktr__sample_line){ name, name ? strlen(name) : 0, known[i].file, known[i].line };
	}
	line[last].name = ktr__sample_function(symbols, event, pc, &line[last].n, text);
	return last + 1;
}

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
		if (function->last != samples->n)
			function->total_ns += ns;
		function->last = samples->n;
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
	const char *inner = ktr__sample_word(sample->how);
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

static int samples_is(struct ktr__samples *samples, const struct ktr_event *event)
{
	uint32_t id = event->site->id;

	if (ktr__array_grow(&samples->is_sample, &samples->n_sites, id, sizeof(*samples->is_sample)) != 0)
		return samples_site(event->site);
	if (!samples->is_sample[id])
		samples->is_sample[id] = (uint8_t)(1 + samples_site(event->site));
	return samples->is_sample[id] == 2;
}

static int samples_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__samples *samples = (struct ktr__samples *)(void *)sink;
	struct ktr__sampled_thread *thread;
	struct ktr__sample sample;

	if (!samples_is(samples, event))
		return 0;
	samples_take(event, &sample);
	if (ktr__array_grow(&samples->thread, &samples->n_threads, event->thread->id,
			    sizeof(*samples->thread)) != 0)
		return -ENOMEM;
	thread = &samples->thread[event->thread->id];
	thread->thread = event->thread;
	thread->ns[sample.how] += sample.ns;
	thread->n_ticks[sample.how] += sample.n_ticks;
	samples->ns[sample.how] += sample.ns;
	samples->n_ticks[sample.how] += sample.n_ticks;
	if (sample.how == KTR__SAMPLE_BLOCKED || sample.how == KTR__SAMPLE_MISSED)
		return 0;
	samples->n++;
	thread->n++;
	samples->n_cut += sample.stack->cut;
	thread->n_cut += sample.stack->cut;
	return samples_stack(samples, event, &sample);
}

int ktr__samples_init(struct ktr__samples *samples, struct ktr_reader *reader)
{
	*samples = (struct ktr__samples){ .sink = { samples_event, NULL, NULL },
					  .symbols = ktr__reader_symbols(reader) };
	samples->function.bucket = calloc(SAMPLES_BUCKETS, sizeof(struct ktr__sampled *));
	samples->line.bucket = calloc(SAMPLES_BUCKETS, sizeof(struct ktr__sampled *));
	return samples->function.bucket && samples->line.bucket ? 0 : -ENOMEM;
}

void ktr__samples_finish(struct ktr__samples *samples)
{
	for (unsigned i = 0; i < samples->function.n; i++) {
		const struct ktr__sampled *function = samples->function.row[i];
		struct ktr__sampled_thread *thread;

		if (!function->thread)
			continue;
		thread = &samples->thread[function->thread->id];
		if (!thread->most || function->self_ns > thread->most->self_ns)
			thread->most = function;
	}
}

static void samples_rows_free(struct ktr__sampled_rows *rows)
{
	for (unsigned i = 0; i < rows->n; i++) {
		free(rows->row[i]->name);
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
	free(samples->is_sample);
}
