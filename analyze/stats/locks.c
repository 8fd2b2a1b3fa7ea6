/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One table of rows for all kinds of them. A lock that was taken before the first event, or whose taking was lost,
 * has no time of holding; recursive takings of a mutex are part of the first.
 *
 * Whose a lock is at the end is what takings tell, where they were recorded; else what the lock itself said when
 * the thread began to wait.
 */
#include "analyze/stats/locks.h"

#include "analyze/read/tables.h"
#include "conf/kit/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOCKS_BUCKETS 16384u

enum locks_what { LOCKS_TAKE, LOCKS_BLOCK, LOCKS_BLOCKED, LOCKS_GIVE };

/* Where arguments stand; -1: there is none. */
static const struct locks_probe {
	const char *name;
	enum locks_what what;
	enum ktr__locks_kind block, hold; /* of readers, where there are two: the next one is of writers */
	int8_t n_args, ns, owner, caller, write, recursive;
} locks_probes[] = {
	{ "mutex-acquire", LOCKS_TAKE, 0, KTR__LOCKS_MUTEX_HOLD, 3, -1, -1, 2, -1, 1 },
	{ "mutex-block", LOCKS_BLOCK, KTR__LOCKS_MUTEX_BLOCK, 0, 3, -1, 1, 2, -1, -1 },
	{ "mutex-blocked", LOCKS_BLOCKED, KTR__LOCKS_MUTEX_BLOCK, 0, 5, 1, 2, 4, -1, -1 },
	{ "mutex-release", LOCKS_GIVE, 0, KTR__LOCKS_MUTEX_HOLD, 3, -1, -1, 2, -1, 1 },
	{ "rw-acquire", LOCKS_TAKE, 0, KTR__LOCKS_READ_HOLD, 3, -1, -1, 2, 1, -1 },
	{ "rw-block", LOCKS_BLOCK, KTR__LOCKS_READ_BLOCK, 0, 4, -1, 2, 3, 1, -1 },
	{ "rw-blocked", LOCKS_BLOCKED, KTR__LOCKS_READ_BLOCK, 0, 6, 1, 3, 5, 2, -1 },
	{ "rw-release", LOCKS_GIVE, 0, KTR__LOCKS_READ_HOLD, 3, -1, -1, 2, 1, -1 },
	{ "cond-block", LOCKS_BLOCK, KTR__LOCKS_COND_BLOCK, 0, 3, -1, -1, 2, -1, -1 },
	{ "cond-blocked", LOCKS_BLOCKED, KTR__LOCKS_COND_BLOCK, 0, 5, 1, -1, 4, -1, -1 },
	{ "sem-block", LOCKS_BLOCK, KTR__LOCKS_SEM_BLOCK, 0, 2, -1, -1, 1, -1, -1 },
	{ "sem-blocked", LOCKS_BLOCKED, KTR__LOCKS_SEM_BLOCK, 0, 4, 1, -1, 3, -1, -1 },
	{ "spin-acquire", LOCKS_TAKE, 0, KTR__LOCKS_SPIN_HOLD, 2, -1, -1, 1, -1, -1 },
	{ "spin-spin", LOCKS_BLOCK, KTR__LOCKS_SPIN_SPIN, 0, 2, -1, -1, 1, -1, -1 },
	{ "spin-spun", LOCKS_BLOCKED, KTR__LOCKS_SPIN_SPIN, 0, 3, 1, -1, 2, -1, -1 },
	{ "spin-release", LOCKS_GIVE, 0, KTR__LOCKS_SPIN_HOLD, 2, -1, -1, 1, -1, -1 },
	{ "barrier-block", LOCKS_BLOCK, KTR__LOCKS_BARRIER_BLOCK, 0, 2, -1, -1, 1, -1, -1 },
	{ "barrier-blocked", LOCKS_BLOCKED, KTR__LOCKS_BARRIER_BLOCK, 0, 4, 1, -1, 3, -1, -1 },
};

_Static_assert(KTR__LOCKS_WRITE_HOLD == KTR__LOCKS_READ_HOLD + 1, "");
_Static_assert(KTR__LOCKS_WRITE_BLOCK == KTR__LOCKS_READ_BLOCK + 1, "");

static uint8_t locks_probe(const struct ktr_reader_site *site)
{
	if (!site || strcmp(site->file, "lock") != 0 || strcmp(site->class_name, "lock") != 0)
		return 0;
	for (unsigned i = 0; i < sizeof(locks_probes) / sizeof(locks_probes[0]); i++)
		if (strcmp(site->func, locks_probes[i].name) == 0 && (int)site->n_args == locks_probes[i].n_args &&
		    !site->in_str)
			return (uint8_t)(i + 1);
	return 0;
}

/* ---- rows ---- */

static uint64_t locks_hash(const struct ktr__locks_row *key)
{
	uint64_t hash = ktr__hash_word(key->kind, key->proc);

	hash = ktr__hash_word(hash, (uint64_t)key->tid << 32 | key->other);
	return ktr__hash_word(ktr__hash_word(hash, key->lock), key->caller) % LOCKS_BUCKETS;
}

static int locks_same(const struct ktr__locks_row *a, const struct ktr__locks_row *b)
{
	return a->kind == b->kind && a->proc == b->proc && a->tid == b->tid && a->other == b->other &&
	       a->lock == b->lock && a->caller == b->caller;
}

static struct ktr__locks_row *locks_look(const struct ktr__locks *locks, const struct ktr__locks_row *key)
{
	struct ktr__locks_row *at = locks->bucket[locks_hash(key)];

	while (at && !locks_same(at, key))
		at = at->chain;
	return at;
}

const struct ktr__locks_row *ktr__locks_find(const struct ktr__locks *locks, const struct ktr__locks_row *key)
{
	return locks_look(locks, key);
}

/* NULL without memory. */
static struct ktr__locks_row *locks_row(struct ktr__locks *locks, struct ktr__locks_row key)
{
	struct ktr__locks_row *made = locks_look(locks, &key), **grown = locks->row;
	size_t room = locks->room ? 2 * locks->room : 64;
	uint64_t hash = locks_hash(&key);

	if (made)
		return made;
	if (locks->n == locks->room) {
		grown = realloc(grown, room * sizeof(struct ktr__locks_row *));
		if (!grown)
			return NULL;
		locks->row = grown;
		locks->room = room;
	}
	made = malloc(sizeof(*made));
	if (!made)
		return NULL;
	*made = key;
	made->chain = locks->bucket[hash];
	locks->bucket[hash] = made;
	return locks->row[locks->n++] = made;
}

static int locks_add(struct ktr__locks *locks, struct ktr__locks_row key, uint64_t ns)
{
	struct ktr__locks_row *row = locks_row(locks, key);

	if (!row)
		return -ENOMEM;
	row->n++;
	row->ns += ns;
	if (ns > row->max_ns)
		row->max_ns = ns;
	return 0;
}

/* ---- events ---- */

struct locks_event {
	const struct locks_probe *probe;
	const struct ktr_event *event;
	uint64_t lock, caller;
	uint32_t proc, tid, owner, write;
};

/* Whose a lock is: of a lock's readers each has a row. */
static struct ktr__locks_row locks_holder(const struct locks_event *e)
{
	return (struct ktr__locks_row){ .kind = KTR__LOCKS_HELD, .proc = e->proc, .lock = e->lock,
					.tid = e->probe->write >= 0 && !e->write ? e->tid : 0 };
}

static int locks_take(struct ktr__locks *locks, const struct locks_event *e)
{
	struct ktr__locks_row *use = locks_row(locks, (struct ktr__locks_row){ .kind = KTR__LOCKS_USE,
									       .proc = e->proc, .lock = e->lock });
	struct ktr__locks_row *held = locks_row(locks, locks_holder(e));

	if (!use || !held)
		return -ENOMEM;
	use->n++;
	use->changed += use->whose && use->whose != e->tid;
	use->whose = e->tid;
	if (e->probe->recursive >= 0 && e->event->arg[e->probe->recursive])
		return 0;
	held->since_ns = e->event->time_ns;
	held->thread = e->event->thread;
	return 0;
}

static int locks_give(struct ktr__locks *locks, const struct locks_event *e)
{
	struct ktr__locks_row key = locks_holder(e), *held = locks_look(locks, &key);
	uint64_t ns;

	if (e->probe->recursive >= 0 && e->event->arg[e->probe->recursive])
		return 0;
	if (!held || !held->since_ns) {
		locks->n_unknown++;
		return 0;
	}
	ns = e->event->time_ns - held->since_ns;
	held->since_ns = 0;
	return locks_add(locks, (struct ktr__locks_row){ .kind = e->probe->hold + (e->write != 0), .proc = e->proc,
							 .lock = e->lock, .caller = e->caller }, ns);
}

static struct ktr__locks_row locks_waits(uint32_t proc, uint32_t tid)
{
	return (struct ktr__locks_row){ .kind = KTR__LOCKS_WAITING, .proc = proc, .tid = tid };
}

static int locks_block(struct ktr__locks *locks, const struct locks_event *e)
{
	struct ktr__locks_row *waiting = locks_row(locks, locks_waits(e->proc, e->tid));

	if (!waiting)
		return -ENOMEM;
	waiting->since_ns = e->event->time_ns;
	waiting->at = e->lock;
	waiting->whose = e->owner;
	waiting->thread = e->event->thread;
	return 0;
}

static int locks_blocked(struct ktr__locks *locks, const struct locks_event *e)
{
	struct ktr__locks_row key = locks_waits(e->proc, e->tid), *waiting = locks_look(locks, &key), *use;
	uint64_t ns = e->event->arg[e->probe->ns];
	int rc;

	if (waiting)
		waiting->since_ns = 0;
	use = locks_row(locks, (struct ktr__locks_row){ .kind = KTR__LOCKS_USE, .proc = e->proc, .lock = e->lock });
	if (!use)
		return -ENOMEM;
	use->blocked++;
	rc = locks_add(locks, (struct ktr__locks_row){ .kind = e->probe->block + (e->write != 0), .proc = e->proc,
						       .lock = e->lock, .caller = e->caller }, ns);
	if (rc || e->probe->owner < 0 || !e->owner)
		return rc;
	return locks_add(locks, (struct ktr__locks_row){ .kind = KTR__LOCKS_EDGE, .proc = e->proc, .tid = e->tid,
							 .other = e->owner, .lock = e->lock }, ns);
}

static int locks_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__locks *locks = (struct ktr__locks *)(void *)sink;
	uint8_t number = event->site->id < locks->n_sites ? locks->probe[event->site->id] : 0;
	const struct locks_probe *probe = number ? &locks_probes[number - 1] : NULL;
	struct locks_event e;

	locks->first_ns = locks->first_ns ? locks->first_ns : event->time_ns;
	locks->last_ns = event->time_ns;
	if (!probe)
		return 0;
	e = (struct locks_event){ .probe = probe, .event = event, .lock = event->arg[0],
				  .caller = event->arg[probe->caller], .proc = ktr__tables_proc(event->thread),
				  .tid = event->thread->tid };
	e.owner = probe->owner >= 0 ? (uint32_t)event->arg[probe->owner] : 0;
	e.write = probe->write >= 0 ? (uint32_t)event->arg[probe->write] : 0;
	switch (probe->what) {
	case LOCKS_TAKE:
		return locks_take(locks, &e);
	case LOCKS_GIVE:
		return locks_give(locks, &e);
	case LOCKS_BLOCK:
		return locks_block(locks, &e);
	default:
		return locks_blocked(locks, &e);
	}
}

const struct ktr__locks_row *ktr__locks_behind(const struct ktr__locks *locks,
					       const struct ktr__locks_row *waiting)
{
	struct ktr__locks_row key = { .kind = KTR__LOCKS_HELD, .proc = waiting->proc, .lock = waiting->at };
	const struct ktr__locks_row *held = locks_look(locks, &key), *behind;
	uint32_t whose = held && held->since_ns ? held->thread->tid : waiting->whose;

	key = locks_waits(waiting->proc, whose);
	behind = whose ? locks_look(locks, &key) : NULL;
	return behind && behind->since_ns ? behind : NULL;
}

int ktr__locks_init(struct ktr__locks *locks, const struct ktr_reader *reader)
{
	*locks = (struct ktr__locks){ .sink = { locks_event, NULL, NULL } };
	locks->n_sites = ktr_reader_n_sites(reader);
	locks->probe = calloc(locks->n_sites + 1, 1);
	locks->bucket = calloc(LOCKS_BUCKETS, sizeof(struct ktr__locks_row *));
	if (!locks->probe || !locks->bucket)
		return -ENOMEM;
	for (unsigned i = 0; i < locks->n_sites; i++) {
		locks->probe[i] = locks_probe(ktr_reader_site(reader, i));
		locks->n_probes += locks->probe[i] != 0;
	}
	return 0;
}

void ktr__locks_free(struct ktr__locks *locks)
{
	for (size_t i = 0; i < locks->n; i++)
		free(locks->row[i]);
	free(locks->row);
	free(locks->bucket);
	free(locks->probe);
}
