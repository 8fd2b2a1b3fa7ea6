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

/* A name that was given. */
struct names_given {
	struct ktr__keyed_row keyed; /* first: process, lock, life */
	char text[KTR__LOCK_NAME_BYTES];
};

/* Of a place where locks are made, or have names. */
struct names_life {
	struct ktr__keyed_row keyed; /* first: process, lock */
	uint32_t life;
	uint8_t is_named, is_used; /* in this life */
	uint8_t is_made;	   /* another one in place of this, which has no name yet */
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
	ktr__keyed_free(&names->lives);
	free(names->is_site);
	*names = (struct ktr__lock_names){ .is_site = NULL };
}

int ktr__lock_names_is_site(const struct ktr__lock_names *names, const struct ktr_reader_site *site)
{
	return site->id < names->n_sites && names->is_site[site->id];
}

static struct names_given *names_given(struct ktr__lock_names *names, uint32_t proc, uint64_t lock,
				       uint32_t life)
{
	const uint64_t key[4] = { proc, lock, life };

	return ktr__keyed_get(&names->given, key, sizeof(struct names_given));
}

static struct names_life *names_life(struct ktr__lock_names *names, uint32_t proc, uint64_t lock)
{
	return ktr__keyed_get(&names->lives, (const uint64_t[4]){ proc, lock, 0, 0 }, sizeof(struct names_life));
}

static void names_next(struct names_life *life)
{
	life->life++;
	life->is_named = life->is_used = life->is_made = 0;
}

int ktr__lock_names_event(struct ktr__lock_names *names, const struct ktr_event *event)
{
	const struct ktr_event_bytes *name = &event->str[1];
	char text[KTR__LOCK_NAME_BYTES];
	struct names_given *given;
	struct names_life *life;
	uint32_t proc;

	if (!ktr__lock_names_is_site(names, event->site) || name->is_null || !name->n_bytes)
		return 0;
	proc = ktr__tables_proc(event->thread);
	snprintf(text, sizeof(text), "%.*s", (int)name->n_bytes, name->bytes);
	life = names_life(names, proc, event->arg[0]);
	given = life ? names_given(names, proc, event->arg[0], life->life) : NULL;
	if (!given)
		return -ENOMEM;
	if (life->is_used && (life->is_made || (life->is_named && strcmp(given->text, text) != 0))) {
		names_next(life);
		given = names_given(names, proc, event->arg[0], life->life);
		if (!given)
			return -ENOMEM;
	}
	life->is_named = 1;
	life->is_made = 0;
	snprintf(given->text, sizeof(given->text), "%s", text);
	return 0;
}

int ktr__lock_names_live(struct ktr__lock_names *names, struct ktr__lock_event *e)
{
	const uint64_t key[4] = { e->proc, e->lock, 0, 0 };
	struct names_life *life;

	if (e->what == KTR__LOCK_MADE)
		life = names_life(names, e->proc, e->lock);
	else
		life = names->lives.n ? ktr__keyed_find(&names->lives, key) : NULL;
	if (!life)
		return e->what == KTR__LOCK_MADE ? -ENOMEM : 0;
	if (e->what != KTR__LOCK_MADE)
		life->is_used = 1;
	else if (life->is_named && life->is_used)
		names_next(life);
	else
		life->is_made = life->is_used;
	e->life = life->life;
	return 0;
}

uint32_t ktr__lock_names_life(const struct ktr__lock_names *names, uint32_t proc, uint64_t lock)
{
	const struct names_life *life = ktr__keyed_find(&names->lives, (const uint64_t[4]){ proc, lock, 0, 0 });

	return life ? life->life : 0;
}

/* Of "name+0x12": how long the name is, and the number. 0: it has none. */
static size_t names_plus(const char *name, uint64_t *offset)
{
	const char *plus = strrchr(name, '+');
	char *end;

	*offset = UINT64_MAX;
	if (!plus || strncmp(plus, "+0x", 3) != 0)
		return 0;
	*offset = strtoull(plus + 3, &end, 16);
	return *end ? 0 : (size_t)(plus - name);
}

const char *ktr__lock_names_of(const struct ktr__lock_names *names, uint32_t proc, uint64_t lock, uint32_t life,
			       char text[KTR__LOCK_NAME_BYTES])
{
	const uint64_t key[4] = { proc, lock, life };
	const struct names_given *given = ktr__keyed_find(&names->given, key);
	const char *name = given && given->text[0] ? given->text : NULL;
	char member[KTR__LOCK_NAME_BYTES];
	uint64_t offset;
	size_t n;

	if (name) {
		snprintf(text, KTR__LOCK_NAME_BYTES, "%s", name);
		return text;
	}
	name = names->symbols ? ktr__symbols_at(names->symbols, proc, lock, KTR__SYMBOLS_POINTER) : NULL;
	if (!name)
		return NULL;
	n = names_plus(name, &offset);
	if (offset == 0)
		snprintf(text, KTR__LOCK_NAME_BYTES, "%.*s", (int)n, name);
	else
		snprintf(text, KTR__LOCK_NAME_BYTES, "%s", name);
	if (n && !names->no_members &&
	    ktr__symbols_member(names->symbols, proc, lock, offset, member, sizeof(member) - n))
		snprintf(text + n, KTR__LOCK_NAME_BYTES - n, "%s", member);
	return text;
}
