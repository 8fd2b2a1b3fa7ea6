/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/stats/functions.h"

#include "conf/kit/array.h"
#include "conf/kit/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_BUCKETS 4096u

static struct ktr__function *functions_make(struct ktr__functions *functions, const char *name, uint64_t hash)
{
	unsigned room = functions->room ? 2 * functions->room : 64;
	struct ktr__function **grown = functions->function, *made;

	if (functions->n == functions->room) {
		grown = realloc(grown, room * sizeof(struct ktr__function *));
		if (!grown)
			return NULL;
		functions->function = grown;
		functions->room = room;
	}
	made = calloc(1, sizeof(*made));
	if (!made)
		return NULL;
	made->name = name;
	made->hash = hash;
	made->chain = functions->bucket[hash % FUNCTIONS_BUCKETS];
	functions->bucket[hash % FUNCTIONS_BUCKETS] = made;
	return functions->function[functions->n++] = made;
}

static struct ktr__function *functions_find(struct ktr__functions *functions, const char *name)
{
	uint64_t hash = ktr__hash_bytes(0, name, strlen(name));
	struct ktr__function *at = functions->bucket[hash % FUNCTIONS_BUCKETS];

	while (at && (at->hash != hash || strcmp(at->name, name) != 0))
		at = at->chain;
	return at ? at : functions_make(functions, name, hash);
}

static int functions_end(void *context, const struct ktr__call *call)
{
	struct ktr__function *function = functions_find(context, ktr__call_name(call));
	uint64_t total_ns = ktr__call_total_ns(call);

	if (!function)
		return -ENOMEM;
	if (call->span->flags & (KTR__SPAN_NO_START | KTR__SPAN_NO_END)) {
		function->n_unknown++;
		return 0;
	}
	function->total_ns += call->again ? 0 : total_ns;
	function->self_ns += ktr__call_self_ns(call);
	return ktr__histogram_add(&function->durations, total_ns);
}

int ktr__functions_wants(const struct ktr_reader_site *site)
{
	return site->kind == KTR_KIND_EVENT && site->n_args == 3 && site->in_str == 1 &&
	       strcmp(site->func, "debug.ktr.budget") == 0;
}

/* "fbt:MODULE:FUNCTION:entry is off": names a function, whose return is another probe, once. */
static int functions_off(struct ktr__functions *functions, const struct ktr_event *event)
{
	const char *from = event->str[0].bytes, *end = from ? from + event->str[0].n_bytes : NULL;
	size_t n;

	if (functions->n_off == KTR__FUNCTIONS_OFF)
		return 0;
	for (int i = 0; i < 2 && from; i++) {
		from = memchr(from, ':', (size_t)(end - from));
		from = from ? from + 1 : NULL;
	}
	while (from && end > from && *--end != ':')
		;
	if (!from || end == from)
		return 0;
	n = (size_t)(end - from);
	for (unsigned i = 0; i < functions->n_off; i++)
		if (strlen(functions->off[i]) == n && memcmp(functions->off[i], from, n) == 0)
			return 0;
	if (ktr__array_grow(&functions->off, &functions->off_room, functions->n_off, sizeof(char *)))
		return -ENOMEM;
	functions->off[functions->n_off] = strndup(from, n);
	if (!functions->off[functions->n_off])
		return -ENOMEM;
	if (!functions->n_off++)
		functions->off_ns = event->time_ns;
	return 0;
}

static int functions_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__functions *functions = (struct ktr__functions *)(void *)sink;

	functions->last_ns = event->time_ns;
	if (ktr__functions_wants(event->site))
		return functions_off(functions, event);
	return ktr__calls_event(functions->calls, event);
}

static int functions_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	ktr__calls_loss(((struct ktr__functions *)(void *)sink)->calls, loss);
	return 0;
}

int ktr__functions_init(struct ktr__functions *functions, const struct ktr_reader *reader)
{
	static const struct ktr__calls_hooks hooks = { NULL, functions_end };
	uint64_t first_ns = ktr_reader_info(reader)->first_ns;

	*functions = (struct ktr__functions){ .sink = { functions_event, functions_loss, NULL },
					      .last_ns = first_ns };
	functions->bucket = calloc(FUNCTIONS_BUCKETS, sizeof(struct ktr__function *));
	return functions->bucket ? ktr__calls_new(&functions->calls, &hooks, functions, first_ns) : -ENOMEM;
}

int ktr__functions_finish(struct ktr__functions *functions)
{
	return ktr__calls_finish(functions->calls, functions->last_ns);
}

void ktr__functions_free(struct ktr__functions *functions)
{
	for (unsigned i = 0; i < functions->n; i++) {
		ktr__histogram_free(&functions->function[i]->durations);
		free(functions->function[i]);
	}
	for (unsigned i = 0; i < functions->n_off; i++)
		free(functions->off[i]);
	free(functions->off);
	free(functions->function);
	free(functions->bucket);
	ktr__calls_free(functions->calls);
}
