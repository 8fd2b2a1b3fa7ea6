/* SPDX-License-Identifier: BSD-2-Clause */
/* See flame_walk.h. */
#include "visualize/model/flame_walk.h"

#include "analyze/read/reader.h"
#include "conf/kit/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ktr__flame_thread {
	uint64_t since_ns; /* when the set of open spans last changed */
	unsigned n;
	uint32_t base[3]; /* of spans, stacks and samples: the thread's own frame, or its program's */
	const struct ktr__span *span[KTR__FLAME_DEPTH]; /* in the order in which they began */
	uint32_t node[KTR__FLAME_DEPTH];
};

static int flame_walk_base(const struct ktr__flame_walk *walk, struct ktr__flame *to,
			   const struct ktr_reader_thread *thread, uint32_t *base)
{
	char name[KTR__FLAME_NAME_BYTES];
	int rc = ktr__flame_child(to, 0, thread->process, strlen(thread->process), base), n;

	if (rc != 0 || walk->by == KTR__FLAME_MERGED)
		return rc;
	n = walk->by == KTR__FLAME_EACH ? snprintf(name, sizeof(name), "%.900s %u", thread->name, thread->tid)
					: snprintf(name, sizeof(name), "%.900s", thread->name);
	return ktr__flame_child(to, *base, name, (size_t)n, base);
}

static struct ktr__flame_thread *flame_walk_thread(struct ktr__flame_walk *walk,
						   const struct ktr_reader_thread *thread)
{
	struct ktr__flame_thread *t;

	if (ktr__array_grow(&walk->thread, &walk->n_threads, thread->id, sizeof(*walk->thread)) != 0)
		return NULL;
	if (walk->thread[thread->id] != NULL)
		return walk->thread[thread->id];
	t = calloc(1, sizeof(*t));
	if (t == NULL || flame_walk_base(walk, &walk->to->spans, thread, &t->base[0]) != 0 ||
	    flame_walk_base(walk, &walk->to->stacks, thread, &t->base[1]) != 0 ||
	    flame_walk_base(walk, &walk->to->samples, thread, &t->base[2]) != 0) {
		free(t);
		return NULL;
	}
	return walk->thread[thread->id] = t;
}

/* What passed since the last change belongs to the innermost span that was open. */
static void flame_walk_settle(struct ktr__flame_walk *walk, struct ktr__flame_thread *t, uint64_t ns)
{
	if (ns <= t->since_ns)
		return;
	if (t->n > 0)
		walk->to->spans.node[t->node[t->n - 1]].self[walk->side] += ns - t->since_ns;
	t->since_ns = ns;
}

static int flame_walk_push(struct ktr__flame_walk *walk, struct ktr__flame_thread *t, const struct ktr__span *span)
{
	const char *name = span->site->ident != NULL ? span->site->ident : span->site->group;
	uint32_t parent = t->n > 0 ? t->node[t->n - 1] : t->base[0];

	if (ktr__flame_child(&walk->to->spans, parent, name, strlen(name), &t->node[t->n]) != 0)
		return -ENOMEM;
	t->span[t->n++] = span;
	return 0;
}

/* A span begins on its thread. */
static int flame_walk_begun(void *context, struct ktr__span *span)
{
	struct ktr__flame_walk *walk = context;
	struct ktr__flame_thread *t;

	if (span->kind != KTR_KIND_START)
		return 0;
	t = flame_walk_thread(walk, span->thread);
	if (t == NULL)
		return -ENOMEM;
	flame_walk_settle(walk, t, span->from_ns);
	if (t->n == KTR__FLAME_DEPTH) {
		walk->n_too_deep++;
		return 0;
	}
	walk->n_spans++;
	return flame_walk_push(walk, t, span);
}

/* It ends; spans are told apart by where they are. Those that began within it are in another frame from here on. */
static int flame_walk_ended(void *context, const struct ktr__span *span)
{
	struct ktr__flame_walk *walk = context;
	struct ktr__flame_thread *t;
	unsigned at = 0, n;
	int rc = 0;

	if (span->kind != KTR_KIND_START)
		return 0;
	t = flame_walk_thread(walk, span->thread);
	if (t == NULL)
		return -ENOMEM;
	walk->n_before += (span->flags & KTR__SPAN_NO_START) != 0;
	walk->n_open += (span->flags & KTR__SPAN_NO_END) != 0;
	walk->n_unsure += (span->flags & KTR__SPAN_UNSURE) != 0;
	flame_walk_settle(walk, t, span->to_ns);
	while (at < t->n && t->span[at] != span)
		at++;
	n = t->n;
	t->n = at;
	for (unsigned i = at + 1; i < n && rc == 0; i++)
		rc = flame_walk_push(walk, t, t->span[i]);
	return rc;
}

/* A frame by the name of its function, without the place in it, and what was inlined there within it. */
static int flame_walk_frame(struct ktr__flame_walk *walk, struct ktr__flame *to, const struct ktr_event *event,
			    uint64_t pc, uint32_t *node)
{
	struct ktr__sample_line line[KTR__DEBUG_LINES];
	char text[24];
	int rc = 0;

	for (unsigned n = ktr__sample_lines(walk->symbols, event, pc, line, text); n > 0 && rc == 0; n--)
		rc = ktr__flame_child(to, *node, line[n - 1].name, line[n - 1].n, node);
	return rc;
}

/* Frames come innermost first, and are wanted the other way around. */
static int flame_walk_frames(struct ktr__flame_walk *walk, struct ktr__flame *to, const struct ktr_event *event,
			     const struct ktr_event_bytes *stack, uint32_t *node)
{
	uint32_t at = stack->n_bytes / 8 * 8;
	int rc = 0;

	if (stack->cut)
		rc = ktr__flame_child(to, *node, "...", 3, node);
	while (at > 0 && rc == 0) {
		uint64_t pc;

		at -= 8;
		memcpy(&pc, stack->bytes + at, sizeof(pc));
		rc = flame_walk_frame(walk, to, event, pc, node);
	}
	return rc;
}

static int flame_walk_stack(struct ktr__flame_walk *walk, const struct ktr_event *event, unsigned arg)
{
	struct ktr__flame_thread *t = flame_walk_thread(walk, event->thread);
	uint32_t node;
	int rc;

	if (t == NULL)
		return -ENOMEM;
	node = t->base[1];
	rc = flame_walk_frames(walk, &walk->to->stacks, event, &event->str[arg], &node);
	walk->to->stacks.node[node].self[walk->side]++;
	walk->n_stacks++;
	return rc;
}

/* Time without a stack has a frame that says why. */
static int flame_walk_sample(void *context, const struct ktr_event *event, const struct ktr__sample *sample)
{
	struct ktr__flame_walk *walk = context;
	const char *inner = ktr__sample_inner(sample);
	int off = ktr__sample_is_off(sample->how), rc;
	struct ktr__flame_thread *t;
	uint32_t node;

	if (walk->part != KTR__FLAME_WHOLE && off != (walk->part == KTR__FLAME_OFF))
		return 0;
	t = flame_walk_thread(walk, event->thread);
	if (t == NULL)
		return -ENOMEM;
	node = t->base[2];
	rc = flame_walk_frames(walk, &walk->to->samples, event, sample->stack, &node);
	if (rc == 0 && inner != NULL)
		rc = ktr__flame_child(&walk->to->samples, node, inner, strlen(inner), &node);
	walk->to->samples.node[node].self[walk->side] += sample->ns;
	walk->n_samples++;
	walk->n_off += (uint64_t)off;
	walk->n_waiting += sample->how == KTR__SAMPLE_WAITING;
	return rc;
}

static int flame_walk_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__flame_walk *walk = (struct ktr__flame_walk *)sink;
	int rc = ktr__spans_event(walk->engine, event), is_sample;

	if (!walk->begun)
		walk->first_ns = event->time_ns;
	walk->begun = 1;
	walk->last_ns = event->time_ns;
	is_sample = rc == 0 ? ktr__sampler_event(&walk->sampler, event) : 0;
	rc = is_sample < 0 ? is_sample : rc;
	for (unsigned i = 0; i < event->site->n_args && rc == 0 && !is_sample; i++)
		if (event->site->arg[i].type == KTR_ARG_STACK)
			rc = flame_walk_stack(walk, event, i);
	return rc;
}

static int flame_walk_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	ktr__spans_loss(((struct ktr__flame_walk *)sink)->engine, loss);
	ktr__sampler_loss(&((struct ktr__flame_walk *)sink)->sampler);
	return 0;
}

int ktr__flame_walk_begin(struct ktr__flame_walk *walk, struct ktr__flame_pair *to, unsigned side,
			  enum ktr__flame_threads by, struct ktr_reader *reader)
{
	*walk = (struct ktr__flame_walk){ .sink = { flame_walk_event, flame_walk_loss, NULL },
					  .to = to,
					  .side = side,
					  .by = by,
					  .symbols = ktr__reader_symbols(reader) };
	if (ktr__spans_new(&walk->engine, ktr_reader_info(reader)->first_ns, flame_walk_ended, walk) != 0)
		return -ENOMEM;
	ktr__spans_follow(walk->engine, flame_walk_begun);
	return ktr__sampler_init(&walk->sampler, reader, flame_walk_sample, walk);
}

int ktr__flame_walk_end(struct ktr__flame_walk *walk)
{
	int rc = ktr__spans_finish(walk->engine, walk->last_ns);

	return rc != 0 ? rc : ktr__sampler_finish(&walk->sampler);
}

void ktr__flame_walk_free(struct ktr__flame_walk *walk)
{
	for (uint32_t i = 0; i < walk->n_threads; i++)
		free(walk->thread[i]);
	free(walk->thread);
	ktr__spans_free(walk->engine);
	ktr__sampler_free(&walk->sampler);
}
