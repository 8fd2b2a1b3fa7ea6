/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/lock/lock_names.h"

#include "analyze/read/reader.h"
#include "analyze/read/tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As include/ktr/event.h has it. */
#define NAMES_FORMAT "lock %p is called %s"

/* A name that was given; the last one counts. */
struct names_given {
	struct ktr__keyed_row keyed; /* first: process, lock */
	char text[KTR__LOCK_NAME_BYTES];
};

static int names_is(const struct ktr_reader_site *site)
{
	return site && site->n_args == 2 && site->arg[0].type == KTR_ARG_PTR && site->arg[1].type == KTR_ARG_STR &&
	       strcmp(site->format, NAMES_FORMAT) == 0;
}

int ktr__lock_names_init(struct ktr__lock_names *names, struct ktr_reader *reader)
{
	*names = (struct ktr__lock_names){ .n_sites = ktr_reader_n_sites(reader),
					   .symbols = ktr__reader_symbols(reader) };
	names->is_site = calloc(names->n_sites + 1, 1);
	if (!names->is_site)
		return -ENOMEM;
	for (unsigned i = 0; i < names->n_sites; i++)
		names->is_site[i] = (uint8_t)names_is(ktr_reader_site(reader, i));
	return 0;
}

void ktr__lock_names_free(struct ktr__lock_names *names)
{
	ktr__keyed_free(&names->given);
	free(names->is_site);
	*names = (struct ktr__lock_names){ .is_site = NULL };
}

int ktr__lock_names_is_site(const struct ktr__lock_names *names, const struct ktr_reader_site *site)
{
	return site->id < names->n_sites && names->is_site[site->id];
}

int ktr__lock_names_event(struct ktr__lock_names *names, const struct ktr_event *event)
{
	const struct ktr_event_bytes *name = &event->str[1];
	struct names_given *given;

	if (!ktr__lock_names_is_site(names, event->site) || name->is_null || !name->n_bytes)
		return 0;
	given = ktr__keyed_get(&names->given,
			       (const uint64_t[4]){ ktr__tables_proc(event->thread), event->arg[0], 0, 0 },
			       sizeof(*given));
	if (!given)
		return -ENOMEM;
	snprintf(given->text, sizeof(given->text), "%.*s", (int)name->n_bytes, name->bytes);
	return 0;
}

const char *ktr__lock_names_of(const struct ktr__lock_names *names, uint32_t proc, uint64_t lock,
			       char text[KTR__LOCK_NAME_BYTES])
{
	const struct names_given *given = ktr__keyed_find(&names->given, (const uint64_t[4]){ proc, lock, 0, 0 });
	const char *name = given ? given->text : NULL;
	size_t n;

	if (!name && names->symbols)
		name = ktr__symbols_at(names->symbols, proc, lock, KTR__SYMBOLS_POINTER);
	if (!name)
		return NULL;
	n = strlen(name);
	if (!given && n > 4 && strcmp(name + n - 4, "+0x0") == 0)
		n -= 4;
	snprintf(text, KTR__LOCK_NAME_BYTES, "%.*s", (int)n, name);
	return text;
}
