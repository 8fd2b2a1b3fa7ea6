/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the N longest gaps of each list as a heap whose top is the shortest of them, so that most
 * events cost one comparison.
 */
#include "analyze/stats/gaps.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t gaps_length(const struct ktr__gap *gap)
{
	return gap->to_ns - gap->from_ns;
}

/* The shortest sinks from place i to where it belongs. */
static void gaps_sink(struct ktr__gaps_list *list, unsigned i)
{
	for (;;) {
		unsigned least = i;

		for (unsigned child = 2 * i + 1; child <= 2 * i + 2 && child < list->n; child++)
			if (gaps_length(&list->gap[child]) < gaps_length(&list->gap[least]))
				least = child;
		if (least == i)
			return;
		struct ktr__gap gap = list->gap[i];

		list->gap[i] = list->gap[least];
		list->gap[least] = gap;
		i = least;
	}
}

static void gaps_rise(struct ktr__gaps_list *list, unsigned i)
{
	while (i && gaps_length(&list->gap[i]) < gaps_length(&list->gap[(i - 1) / 2])) {
		struct ktr__gap gap = list->gap[i];

		list->gap[i] = list->gap[(i - 1) / 2];
		list->gap[(i - 1) / 2] = gap;
		i = (i - 1) / 2;
	}
}

/* What any ring lost, or one of the thread's. */
static int gaps_is_unsure(const struct ktr__gaps *gaps, const struct ktr__gaps_list *list,
			  const struct ktr_event *event)
{
	if (list == &gaps->overall)
		return gaps->streams.until_ns > list->last_ns;
	return ktr__streams_lost(&gaps->streams, event->thread->id, list->last_ns);
}

static int gaps_add(const struct ktr__gaps *gaps, struct ktr__gaps_list *list,
		    const struct ktr_event *event)
{
	struct ktr__gap gap = { list->last_ns, event->time_ns, list->last,
				event->site,   event->thread,  gaps_is_unsure(gaps, list, event) };

	if (list->n == gaps->n_kept) {
		if (gaps_length(&gap) <= gaps_length(&list->gap[0]))
			return 0;
		list->gap[0] = gap;
		gaps_sink(list, 0);
		return 0;
	}
	if (!list->gap)
		list->gap = calloc(gaps->n_kept, sizeof(*list->gap));
	if (!list->gap)
		return -ENOMEM;
	list->gap[list->n++] = gap;
	gaps_rise(list, list->n - 1);
	return 0;
}

/* The event ends one gap of the list and begins the next. */
static int gaps_see(const struct ktr__gaps *gaps, struct ktr__gaps_list *list,
		    const struct ktr_event *event)
{
	int rc = list->last && event->time_ns > list->last_ns ? gaps_add(gaps, list, event) : 0;

	list->last = event->site;
	list->last_ns = event->time_ns;
	return rc;
}

int ktr__gaps_event(struct ktr__gaps *gaps, const struct ktr_event *event)
{
	int rc = ktr__streams_see(&gaps->streams, event->thread->id, event->cpu, event->keep);

	if (!rc)
		rc = gaps_see(gaps, &gaps->overall, event);
	if (!rc && event->thread->id < gaps->n_threads)
		rc = gaps_see(gaps, &gaps->thread[event->thread->id], event);
	return rc;
}

void ktr__gaps_loss(struct ktr__gaps *gaps, const struct ktr_loss *loss)
{
	ktr__streams_loss(&gaps->streams, loss);
}

static int gaps_compare(const void *a, const void *b)
{
	const struct ktr__gap *x = a, *y = b;

	if (gaps_length(x) != gaps_length(y))
		return gaps_length(x) < gaps_length(y) ? 1 : -1;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

void ktr__gaps_finish(struct ktr__gaps *gaps)
{
	if (gaps->overall.n)
		qsort(gaps->overall.gap, gaps->overall.n, sizeof(*gaps->overall.gap), gaps_compare);
	for (uint32_t i = 0; i < gaps->n_threads; i++)
		if (gaps->thread[i].n)
			qsort(gaps->thread[i].gap, gaps->thread[i].n, sizeof(struct ktr__gap),
			      gaps_compare);
}

int ktr__gaps_init(struct ktr__gaps *gaps, unsigned n_kept, uint32_t n_threads)
{
	*gaps = (struct ktr__gaps){ .n_kept = n_kept < KTR__GAPS_MAX ? n_kept : KTR__GAPS_MAX };
	if (!n_kept)
		return 0;
	gaps->thread = calloc(n_threads ? n_threads : 1, sizeof(*gaps->thread));
	gaps->n_threads = gaps->thread ? n_threads : 0;
	return gaps->thread ? 0 : -ENOMEM;
}

void ktr__gaps_free(struct ktr__gaps *gaps)
{
	for (uint32_t i = 0; i < gaps->n_threads; i++)
		free(gaps->thread[i].gap);
	free(gaps->thread);
	free(gaps->overall.gap);
	ktr__streams_free(&gaps->streams);
}
