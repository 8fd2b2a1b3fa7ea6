/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folded stacks, a line each, as flame graphs are made of: "program;thread;outer;inner NUMBER".
 *
 * Where a trace has samples of ktr profile the number is CPU time in nanoseconds. Else, where it has CTRSTACK
 * events, the frames are theirs, and the number is how often. Else they are the spans that were open on a thread,
 * and the number is the time in nanoseconds that the innermost had for itself (visualize/model/flame_walk.h).
 */
#include "visualize/export/exports.h"
#include "visualize/model/flame_walk.h"

#include <errno.h>
#include <inttypes.h>

struct folded {
	struct ktr__flame_walk walk;
	struct ktr__flame_pair trees;
};

static int folded_loss(struct ktr__export *e, const struct ktr_loss *loss)
{
	struct folded *f = e->data;

	return f->walk.sink.loss(&f->walk.sink, loss);
}

static int folded_event(struct ktr__export *e, const struct ktr_event *event)
{
	struct folded *f = e->data;

	return f->walk.sink.event(&f->walk.sink, event);
}

static int folded_begin(struct ktr__export *e)
{
	struct folded *f = e->data;

	if (ktr__flame_init(&f->trees.spans) != 0 || ktr__flame_init(&f->trees.stacks) != 0 ||
	    ktr__flame_init(&f->trees.samples) != 0)
		return -ENOMEM;
	return ktr__flame_walk_begin(&f->walk, &f->trees, 0, KTR__FLAME_BY_NAME, e->reader);
}

static void folded_free(struct ktr__export *e)
{
	struct folded *f = e->data;

	ktr__flame_walk_free(&f->walk);
	ktr__flame_free(&f->trees.spans);
	ktr__flame_free(&f->trees.stacks);
	ktr__flame_free(&f->trees.samples);
}

static int folded_end(struct ktr__export *e)
{
	struct folded *f = e->data;
	int rc = ktr__flame_walk_end(&f->walk);
	const struct ktr__flame *flame = f->walk.n_samples > 0	? &f->trees.samples
					 : f->walk.n_stacks > 0 ? &f->trees.stacks
								: &f->trees.spans;

	if (ktr__flame_print(flame, 0, e->to) == 0)
		snprintf(e->note, sizeof(e->note),
			 "the trace has neither samples, stacks (CTRSTACK) nor spans: the file is empty");
	else if (flame->n_left_out > 0)
		snprintf(e->note, sizeof(e->note),
			 "%" PRIu64 " frames were left out: more than %u different ones; what they had is their caller's",
			 flame->n_left_out, KTR__FLAME_NODES);
	else if (f->walk.n_too_deep > 0)
		snprintf(e->note, sizeof(e->note), "%" PRIu64 " spans were left out: more than %u within each other",
			 f->walk.n_too_deep, KTR__FLAME_DEPTH);
	return rc;
}

const struct ktr__export_format ktr__export_folded = {
	.name = "folded",
	.help = "samples, stacks, or else spans by their own time: speedscope, flamegraph.pl",
	.n_data = sizeof(struct folded),
	.begin = folded_begin,
	.event = folded_event,
	.loss = folded_loss,
	.end = folded_end,
	.free = folded_free,
};
