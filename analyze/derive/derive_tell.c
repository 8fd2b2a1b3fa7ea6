/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/derive/derive_tell.h"

#include "analyze/read/ktrgraph.h"

#include <string.h>

/* ---- sites ---- */

#define TELL_FORMAT(group, id, what) "KTRGRAPH group:\"" group "\", id:\"" id "\", " what ", attributes: none"

static const struct {
	const char *func, *class_name, *names, *format;
	enum ktr_arg_type type[2];
	unsigned n_args;
} tell_sites[KTR__DERIVE_SITES] = {
	[KTR__DERIVE_HOLDER] = { "holder", "lock", "id,state",
				 TELL_FORMAT(KTR__DERIVE_LOCKS, "%s", "state:\"%s\""),
				 { KTR_ARG_STR, KTR_ARG_STR }, 2 },
	[KTR__DERIVE_WAIT_BEGINS] = { "wait_begins", "lock", "id,key",
				      TELL_FORMAT(KTR__DERIVE_LOCKS, "%s", "start:0x%jX"),
				      { KTR_ARG_STR, KTR_ARG_U64 }, 2 },
	[KTR__DERIVE_WAIT_ENDS] = { "wait_ends", "lock", "id,key",
				    TELL_FORMAT(KTR__DERIVE_LOCKS, "%s", "stop:0x%jX"),
				    { KTR_ARG_STR, KTR_ARG_U64 }, 2 },
	[KTR__DERIVE_THREAD] = { "thread", "lock", "id,state",
				 TELL_FORMAT(KTR__DERIVE_WAITS, "%s", "state:\"%s\""),
				 { KTR_ARG_STR, KTR_ARG_STR }, 2 },
	[KTR__DERIVE_IN_USE] = { "in_use", "heap", "counter",
				 TELL_FORMAT(KTR__DERIVE_MEMORY, "bytes in use", "counter:%ju"),
				 { KTR_ARG_U64 }, 1 },
	[KTR__DERIVE_MAPPED] = { "mapped", "heap", "counter",
				 TELL_FORMAT(KTR__DERIVE_MEMORY, "bytes mapped", "counter:%ju"),
				 { KTR_ARG_U64 }, 1 },
};

/* Of the class of the events that they come from, as the session has it. */
static uint64_t tell_mask(const struct ktr_reader *reader, const char *class_name)
{
	for (unsigned i = 0; i < ktr_reader_n_sites(reader); i++) {
		const struct ktr_reader_site *site = ktr_reader_site(reader, i);

		if (site && strcmp(site->class_name, class_name) == 0)
			return site->mask;
	}
	return 0;
}

static int tell_site(struct ktr__derive *derive, unsigned i)
{
	struct ktr_reader_site *site = &derive->site[i];
	int rc;

	*site = (struct ktr_reader_site){
		.id = ktr_reader_n_sites(derive->reader) + i,
		.mask = tell_mask(derive->reader, tell_sites[i].class_name),
		.class_name = tell_sites[i].class_name,
		.name = KTR__DERIVE_FILE,
		.file = KTR__DERIVE_FILE,
		.func = tell_sites[i].func,
		.format = tell_sites[i].format,
		.module = "",
		.n_args = tell_sites[i].n_args,
	};
	for (unsigned k = 0; k < site->n_args; k++) {
		site->arg[k].type = tell_sites[i].type[k];
		site->in_str |= (unsigned)(site->arg[k].type == KTR_ARG_STR) << k;
	}
	rc = ktr__ktrgraph_names(site, tell_sites[i].names, &derive->arena);
	return rc ? rc : ktr__ktrgraph_parse(site, &derive->arena);
}

int ktr__derive_sites(struct ktr__derive *derive)
{
	int rc = 0;

	for (unsigned i = 0; i < KTR__DERIVE_SITES && !rc; i++)
		rc = tell_site(derive, i);
	return rc;
}

/* ---- events ---- */

static struct ktr_event_bytes tell_bytes(const char *text)
{
	return (struct ktr_event_bytes){ text, (uint32_t)strlen(text), 0, 0 };
}

static int tell_event(struct ktr__derive *derive, struct ktr_event *event, enum ktr__derive_site site)
{
	if (derive->is_before)
		return 0;
	event->site = &derive->site[site];
	return derive->to->event(derive->to, event);
}

int ktr__derive_state(struct ktr__derive *derive, const struct ktr_event *of, enum ktr__derive_site site,
		      const char *ident, const char *state)
{
	struct ktr_event event = *of;

	event.str[0] = tell_bytes(ident);
	event.str[1] = tell_bytes(state);
	return tell_event(derive, &event, site);
}

int ktr__derive_span(struct ktr__derive *derive, const struct ktr_event *of, enum ktr__derive_site site,
		     const char *ident, uint64_t key)
{
	struct ktr_event event = *of;

	event.str[0] = tell_bytes(ident);
	event.arg[1] = key;
	return tell_event(derive, &event, site);
}

int ktr__derive_number(struct ktr__derive *derive, const struct ktr_event *of, enum ktr__derive_site site,
		       uint64_t number)
{
	struct ktr_event event = *of;

	event.arg[0] = number;
	return tell_event(derive, &event, site);
}
