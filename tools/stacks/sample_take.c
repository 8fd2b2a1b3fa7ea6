/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/stacks/sample_take.h"

#include "ktr/provider/syscall/tracee_wait.h"

#include <errno.h>
#include <time.h>

struct take {
	struct sample *sample;
	const volatile int *stop;
};

static void take_forget(void *context, struct ktr__live_row *row)
{
	(void)context;
	sample_trace_forget(row);
}

void sample_free(struct sample *sample)
{
	const struct ktr__live_sink sink = { .forget = sample->trace ? take_forget : NULL };

	sample->rounds.sink = &sink;
	ktr__live_rounds_free(&sample->rounds);
	sample_tree_free(&sample->tree);
}

static int take_sample(void *context, const struct ktr__live_sample *taken)
{
	/* The frame of who could not be looked at. */
	static const struct ktr__live_frame nowhere;
	struct sample *sample = ((struct take *)context)->sample;
	struct sample_tree *tree = &sample->tree;
	uint32_t *root = &taken->row->node[0], *last = &taken->row->node[1];

	if (sample->trace)
		return sample_trace_add(sample->trace, sample->rounds.pid, sample->rounds.live, taken);
	if (taken->is_same) {
		tree->node[*last].self++;
		return 0;
	}
	if (!*root)
		*root = sample_tree_root(tree);
	*last = *root ? sample_tree_add(tree, *root, taken->code ? &nowhere : taken->frame,
					taken->code ? 1 : taken->n_frames) :
			0;
	return *last ? 0 : -ENOMEM;
}

/* A signal that comes ends it. */
static int take_wait(void *context, uint64_t due)
{
	const struct timespec at = { (time_t)(due / 1000000000), (long)(due % 1000000000) };

	if (*((struct take *)context)->stop)
		return 1;
	return due > ktr__tracee_wait_now() && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR;
}

int sample_take(struct sample *sample, const volatile int *stop)
{
	struct take take = { sample, stop };
	const struct ktr__live_sink sink = { .sample = take_sample, .wait = take_wait, .context = &take };
	int rc;

	sample->rounds.sink = &sink;
	rc = ktr__live_rounds(&sample->rounds);
	sample->rounds.sink = NULL;
	return rc == -ESRCH && sample->rounds.n_samples ? 0 : rc;
}
