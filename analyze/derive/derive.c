/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/derive/derive_parts.h"

#include "analyze/read/ktrgraph.h"
#include "analyze/read/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- sites ---- */

#define DERIVE_FORMAT(group, id, what) "KTRGRAPH group:\"" group "\", id:\"" id "\", " what ", attributes: none"

static const struct {
	const char *func, *class_name, *names, *format;
	enum ktr_arg_type type[2];
	unsigned n_args;
} derive_sites[KTR__DERIVE_SITES] = {
	[KTR__DERIVE_HOLDER] = { "holder", "lock", "id,state",
				 DERIVE_FORMAT(KTR__DERIVE_LOCKS, "%s", "state:\"%s\""),
				 { KTR_ARG_STR, KTR_ARG_STR }, 2 },
	[KTR__DERIVE_WAIT_BEGINS] = { "wait_begins", "lock", "id,key",
				      DERIVE_FORMAT(KTR__DERIVE_LOCKS, "%s", "start:0x%jX"),
				      { KTR_ARG_STR, KTR_ARG_U64 }, 2 },
	[KTR__DERIVE_WAIT_ENDS] = { "wait_ends", "lock", "id,key",
				    DERIVE_FORMAT(KTR__DERIVE_LOCKS, "%s", "stop:0x%jX"),
				    { KTR_ARG_STR, KTR_ARG_U64 }, 2 },
	[KTR__DERIVE_THREAD] = { "thread", "lock", "id,state",
				 DERIVE_FORMAT(KTR__DERIVE_WAITS, "%s", "state:\"%s\""),
				 { KTR_ARG_STR, KTR_ARG_STR }, 2 },
	[KTR__DERIVE_IN_USE] = { "in_use", "heap", "counter",
				 DERIVE_FORMAT(KTR__DERIVE_MEMORY, "bytes in use", "counter:%ju"),
				 { KTR_ARG_U64 }, 1 },
	[KTR__DERIVE_MAPPED] = { "mapped", "heap", "counter",
				 DERIVE_FORMAT(KTR__DERIVE_MEMORY, "bytes mapped", "counter:%ju"),
				 { KTR_ARG_U64 }, 1 },
};

/* Of the class of the events that they come from, as the session has it. */
static uint64_t derive_mask(const struct ktr_reader *reader, const char *class_name)
{
	for (unsigned i = 0; i < ktr_reader_n_sites(reader); i++) {
		const struct ktr_reader_site *site = ktr_reader_site(reader, i);

		if (site && strcmp(site->class_name, class_name) == 0)
			return site->mask;
	}
	return 0;
}

static int derive_site(struct ktr__derive *derive, unsigned i)
{
	struct ktr_reader_site *site = &derive->site[i];
	int rc;

	*site = (struct ktr_reader_site){
		.id = ktr_reader_n_sites(derive->reader) + i,
		.mask = derive_mask(derive->reader, derive_sites[i].class_name),
		.class_name = derive_sites[i].class_name,
		.name = KTR__DERIVE_FILE,
		.file = KTR__DERIVE_FILE,
		.func = derive_sites[i].func,
		.format = derive_sites[i].format,
		.module = "",
		.n_args = derive_sites[i].n_args,
	};
	for (unsigned k = 0; k < site->n_args; k++) {
		site->arg[k].type = derive_sites[i].type[k];
		site->in_str |= (unsigned)(site->arg[k].type == KTR_ARG_STR) << k;
	}
	rc = ktr__ktrgraph_names(site, derive_sites[i].names, &derive->arena);
	return rc ? rc : ktr__ktrgraph_parse(site, &derive->arena);
}

/* ---- events ---- */

static struct ktr_event_bytes derive_bytes(const char *text)
{
	return (struct ktr_event_bytes){ text, (uint32_t)strlen(text), 0, 0 };
}

static int derive_tell(struct ktr__derive *derive, struct ktr_event *event, enum ktr__derive_site site)
{
	event->site = &derive->site[site];
	return derive->to->event(derive->to, event);
}

int ktr__derive_state(struct ktr__derive *derive, const struct ktr_event *of, enum ktr__derive_site site,
		      const char *ident, const char *state)
{
	struct ktr_event event = *of;

	event.str[0] = derive_bytes(ident);
	event.str[1] = derive_bytes(state);
	return derive_tell(derive, &event, site);
}

int ktr__derive_span(struct ktr__derive *derive, const struct ktr_event *of, enum ktr__derive_site site,
		     const char *ident, uint64_t key)
{
	struct ktr_event event = *of;

	event.str[0] = derive_bytes(ident);
	event.arg[1] = key;
	return derive_tell(derive, &event, site);
}

int ktr__derive_number(struct ktr__derive *derive, const struct ktr_event *of, enum ktr__derive_site site,
		       uint64_t number)
{
	struct ktr_event event = *of;

	event.arg[0] = number;
	return derive_tell(derive, &event, site);
}

static int derive_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__derive *derive = (struct ktr__derive *)(void *)sink;
	int rc = derive->to->event(derive->to, event);

	if (!rc)
		rc = ktr__derive_lock(derive, event);
	return rc ? rc : ktr__derive_memory(derive, event);
}

static int derive_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct ktr__derive *derive = (struct ktr__derive *)(void *)sink;

	if (loss->from_ns)
		ktr__derive_lock_loss(derive);
	if (derive->heap.sites.n_probes)
		derive->heap.sink.loss(&derive->heap.sink, loss);
	return derive->to->loss ? derive->to->loss(derive->to, loss) : 0;
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
	for (unsigned i = 0; i < KTR__DERIVE_SITES && !rc; i++)
		rc = derive_site(derive, i);
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
	ktr__heap_free(&derive->heap);
	ktr__arena_free(&derive->arena);
	free(derive);
}
