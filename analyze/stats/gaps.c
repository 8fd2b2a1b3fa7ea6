/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the N longest gaps of each list in order, the longest first, so that most events cost one comparison with
 * the last of them.
 */
#include "analyze/stats/gaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t gaps_length(const struct ktr__gap *gap)
{
	return gap->to_ns - gap->from_ns;
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
	unsigned at = list->n;

	if (!list->gap)
		list->gap = calloc(gaps->n_kept, sizeof(gap));
	if (!list->gap)
		return -ENOMEM;
	while (at && gaps_length(&list->gap[at - 1]) < gaps_length(&gap))
		at--;
	if (at == gaps->n_kept)
		return 0;
	list->n += list->n < gaps->n_kept;
	memmove(&list->gap[at + 1], &list->gap[at], (list->n - 1 - at) * sizeof(gap));
	list->gap[at] = gap;
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
