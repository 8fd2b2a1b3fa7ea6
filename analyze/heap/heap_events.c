/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/heap/heap_events.h"

#include "analyze/read/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	enum ktr__heap_what what;
} heap_probes[] = {
	{ "alloc", KTR__HEAP_GOT },	 { "alloc-stack", KTR__HEAP_GOT },    { "realloc", KTR__HEAP_MOVES },
	{ "free", KTR__HEAP_GIVES },	 { "sampled-free", KTR__HEAP_GAVE }, { "fail", KTR__HEAP_FAILED },
	{ "map", KTR__HEAP_MAPPED },	 { "unmap", KTR__HEAP_UNMAPS },	      { "remap", KTR__HEAP_REMAPS },
	{ "map-fail", KTR__HEAP_MAP_FAILED },
	{ "sample-", KTR__HEAP_SAMPLED }, /* and a number */
};

enum { HEAP_BLOCK, HEAP_SIZE, HEAP_PERIOD, HEAP_CALLER, HEAP_STACK, HEAP_ARGS };

static const char *const heap_arg_names[HEAP_ARGS] = { "block", "size", "period", "caller", "stack" };

struct ktr__heap_site {
	uint8_t what;	      /* enum ktr__heap_what; 0: it is none of the provider's */
	int8_t at[HEAP_ARGS]; /* -1: it has none */
};

static void heap_site(struct ktr__heap_site *to, const struct ktr_reader_site *site)
{
	memset(to->at, -1, sizeof(to->at));
	if (!site || strcmp(site->file, "heap") != 0 || strcmp(site->class_name, "heap") != 0)
		return;
	for (unsigned i = 0; i < site->n_args; i++)
		for (unsigned k = 0; k < HEAP_ARGS; k++)
			if (strcmp(site->arg[i].name, heap_arg_names[k]) == 0 &&
			    (site->arg[i].type == KTR_ARG_STACK) == (k == HEAP_STACK) &&
			    site->arg[i].type != KTR_ARG_STR)
				to->at[k] = (int8_t)i;
	for (unsigned i = 0; i < sizeof(heap_probes) / sizeof(heap_probes[0]); i++)
		if (strcmp(site->func, heap_probes[i].name) == 0 ||
		    (heap_probes[i].what == KTR__HEAP_SAMPLED && strncmp(site->func, heap_probes[i].name, 7) == 0))
			to->what = (uint8_t)heap_probes[i].what;
	/* Without these it is none of ours. */
	if ((to->what == KTR__HEAP_FAILED || to->what == KTR__HEAP_MAP_FAILED ? to->at[HEAP_SIZE] :
										 to->at[HEAP_BLOCK]) < 0 ||
	    ((to->what == KTR__HEAP_GOT || to->what == KTR__HEAP_SAMPLED || ktr__heap_is_map(to->what)) &&
	     to->at[HEAP_SIZE] < 0) ||
	    (to->what == KTR__HEAP_SAMPLED && to->at[HEAP_PERIOD] < 0))
		to->what = 0;
}

int ktr__heap_sites_init(struct ktr__heap_sites *sites, const struct ktr_reader *reader)
{
	*sites = (struct ktr__heap_sites){ .n = reader ? ktr_reader_n_sites(reader) : 0 };
	sites->site = calloc(sites->n + 1, sizeof(*sites->site));
	if (!sites->site)
		return -ENOMEM;
	for (unsigned i = 0; i < sites->n; i++) {
		heap_site(&sites->site[i], ktr_reader_site(reader, i));
		sites->n_probes += sites->site[i].what != 0;
	}
	return 0;
}

void ktr__heap_sites_free(struct ktr__heap_sites *sites)
{
	free(sites->site);
	*sites = (struct ktr__heap_sites){ .site = NULL };
}

int ktr__heap_is_site(const struct ktr__heap_sites *sites, const struct ktr_reader_site *site)
{
	return site->id < sites->n && sites->site[site->id].what;
}

static uint64_t heap_arg(const struct ktr__heap_site *site, const struct ktr_event *event, unsigned which)
{
	return site->at[which] >= 0 ? event->arg[site->at[which]] : 0;
}

int ktr__heap_event(const struct ktr__heap_sites *sites, const struct ktr_event *event, struct ktr__heap_event *e)
{
	const struct ktr__heap_site *site = event->site->id < sites->n ? &sites->site[event->site->id] : NULL;

	if (!site || !site->what)
		return 0;
	*e = (struct ktr__heap_event){
		.event = event,
		.what = (enum ktr__heap_what)site->what,
		.block = heap_arg(site, event, HEAP_BLOCK),
		.caller = heap_arg(site, event, HEAP_CALLER),
		.size = heap_arg(site, event, HEAP_SIZE),
		.period = heap_arg(site, event, HEAP_PERIOD),
		.stack = site->at[HEAP_STACK] >= 0 ? &event->str[site->at[HEAP_STACK]] : NULL,
		.proc = ktr__tables_proc(event->thread),
	};
	return 1;
}
