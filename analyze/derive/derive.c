/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/derive/derive.h"

#include "analyze/derive/derive_locks.h"
#include "analyze/derive/derive_memory.h"
#include "analyze/derive/derive_tell.h"

#include <errno.h>
#include <stdlib.h>

/* The moment is there: what has come before is told. */
static int derive_begin(struct ktr__derive *derive)
{
	int rc;

	derive->is_before = 0;
	rc = ktr__derive_lock_again(derive, derive->from_ns);
	return rc ? rc : ktr__derive_memory_again(derive, derive->from_ns);
}

static int derive_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__derive *derive = (struct ktr__derive *)(void *)sink;
	int rc = 0;

	derive->now_ns = event->time_ns;
	if (derive->is_before && event->time_ns >= derive->from_ns)
		rc = derive_begin(derive);
	if (derive->is_before)
		derive->n_before++;
	else if (!rc)
		rc = derive->to->event(derive->to, event);
	if (!rc)
		rc = ktr__derive_lock(derive, event);
	return rc ? rc : ktr__derive_memory(derive, event);
}

/* What goes on when the moment comes is told then. */
static int derive_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct ktr__derive *derive = (struct ktr__derive *)(void *)sink;
	int rc = 0;

	if (derive->is_before && loss->from_ns >= derive->from_ns)
		rc = derive_begin(derive);
	if (!rc && loss->from_ns)
		rc = ktr__derive_lock_loss(derive, loss);
	if (!rc && derive->heap.sites.n_probes)
		rc = derive->heap.sink.loss(&derive->heap.sink, loss);
	if (rc || !derive->to->loss || (derive->is_before && loss->to_ns && loss->to_ns < derive->from_ns))
		return rc;
	return derive->to->loss(derive->to, loss);
}

static int derive_note(struct ktr_sink *sink, const struct ktr_note *note)
{
	struct ktr__derive *derive = (struct ktr__derive *)(void *)sink;

	return derive->to->note ? derive->to->note(derive->to, note) : 0;
}

/* ---- life ---- */

int ktr__derive_new(struct ktr__derive **out, struct ktr_reader *reader, struct ktr_sink *to, int all)
{
	struct ktr__derive *derive = calloc(1, sizeof(*derive));
	int rc = derive ? 0 : -ENOMEM;

	*out = NULL;
	if (rc)
		return rc;
	derive->sink = (struct ktr_sink){ derive_event, derive_loss, derive_note };
	derive->to = to;
	derive->reader = reader;
	derive->all = all;
	rc = ktr__lock_sites_init(&derive->lock_sites, reader);
	rc = rc ? rc : ktr__lock_names_init(&derive->lock_names, reader);
	rc = rc ? rc : ktr__heap_init(&derive->heap, reader);
	rc = rc ? rc : ktr__derive_sites(derive);
	if (rc) {
		ktr__derive_free(derive);
		return rc;
	}
	*out = derive;
	return 0;
}

struct ktr_sink *ktr__derive_sink(struct ktr__derive *derive)
{
	return derive->lock_sites.n_probes || derive->heap.sites.n_probes ? &derive->sink : derive->to;
}

int ktr__derive_wants(const struct ktr__derive *derive, const struct ktr_reader_site *site)
{
	return ktr__lock_is_site(&derive->lock_sites, site) || ktr__heap_is_site(&derive->heap.sites, site) ||
	       ktr__lock_names_is_site(&derive->lock_names, site);
}

void ktr__derive_from(struct ktr__derive *derive, uint64_t from_ns)
{
	derive->from_ns = from_ns;
	derive->is_before = from_ns != 0;
}

int ktr__derive_end(struct ktr__derive *derive)
{
	return derive->is_before ? derive_begin(derive) : 0;
}

uint64_t ktr__derive_n_before(const struct ktr__derive *derive)
{
	return derive->n_before;
}

uint64_t ktr__derive_n_quiet(const struct ktr__derive *derive)
{
	return derive->n_quiet;
}

void ktr__derive_free(struct ktr__derive *derive)
{
	if (!derive)
		return;
	ktr__keyed_free(&derive->locks);
	ktr__keyed_free(&derive->threads);
	ktr__keyed_free(&derive->names);
	ktr__keyed_free(&derive->processes);
	ktr__keyed_free(&derive->memories);
	ktr__lock_sites_free(&derive->lock_sites);
	ktr__lock_names_free(&derive->lock_names);
	ktr__lock_halves_free(&derive->lock_halves);
	ktr__heap_free(&derive->heap);
	ktr__arena_free(&derive->arena);
	free(derive);
}
