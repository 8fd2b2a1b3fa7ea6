/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes spans of pairs.
 *
 * What a site is to each pair is found out when its first event comes, and kept by site id: two
 * masks of the pairs that it begins and ends. Most sites are in none, and cost a look at them.
 */
#include "analyze/stats/pairs.h"

#include "analyze/filter/pattern.h"
#include "analyze/read/tables.h"
#include "conf/kit/array.h"

#include <ktr/conf.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a key comes from: an argument's number, or one of these. */
#define PAIRS_THREAD  (-1)
#define PAIRS_CPU     (-2)
#define PAIRS_PROCESS (-3)
#define PAIRS_NONE    (-4) /* the site has no such argument */

struct pairs_site {
	uint8_t known;
	uint16_t begins, ends; /* bit i: pair i */
	int8_t key[KTR__PAIRS_MAX];
};

_Static_assert(KTR__PAIRS_MAX <= 16, "masks of pairs have 16 bits");

struct ktr__pairs {
	struct ktr__spans *spans;
	struct ktr__pair pair[KTR__PAIRS_MAX];
	char name[KTR__PAIRS_MAX][3 * KTR__PAIR_BYTES];
	unsigned n;
	struct pairs_site *site; /* owned, by id */
	uint32_t n_sites;
};

int ktr__pair_set(struct ktr__pair *pair, const char *from, const char *to, const char *key,
		  struct ktr_error *err)
{
	if (!from[0] || !to[0])
		return ktr_error_set(err, EINVAL,
				     "a pair is made of two sites: file.c:10..file.c:20");
	if (strlen(from) >= sizeof(pair->from) || strlen(to) >= sizeof(pair->to) ||
	    (key && strlen(key) >= sizeof(pair->key)))
		return ktr_error_set(err, EINVAL, "a pair with a name that is too long");
	snprintf(pair->from, sizeof(pair->from), "%s", from);
	snprintf(pair->to, sizeof(pair->to), "%s", to);
	snprintf(pair->key, sizeof(pair->key), "%s", key ? key : "");
	return 0;
}

/* Where ":KEY" begins, or NULL: a word that is no line number. */
static const char *pairs_colon(const char *text)
{
	const char *colon = strrchr(text, ':');

	if (!colon || !(isalpha((unsigned char)colon[1]) || colon[1] == '_'))
		return NULL;
	return colon[1 + strcspn(colon + 1, " %\"")] ? NULL : colon;
}

int ktr__pair_parse(struct ktr__pair *pair, const char *text, struct ktr_error *err)
{
	const char *dots = strstr(text, ".."), *to = dots ? dots + 2 : "", *colon = pairs_colon(to);
	size_t n_to = colon ? (size_t)(colon - to) : strlen(to);
	char one[KTR__PAIR_BYTES + 1], two[KTR__PAIR_BYTES + 1];

	if (!dots)
		return ktr_error_set(
			err, EINVAL,
			"'%.60s' is no pair: two sites with '..' between, file.c:10..file.c:20",
			text);
	snprintf(one, sizeof(one), "%.*s", (int)(dots - text), text);
	snprintf(two, sizeof(two), "%.*s", (int)n_to, to);
	return ktr__pair_set(pair, one, two, colon ? colon + 1 : NULL, err);
}

/* Where a site's key is. */
static int pairs_key(const char *key, const struct ktr_reader_site *site)
{
	char position[16];

	if (!key[0] || strcmp(key, "thread") == 0)
		return PAIRS_THREAD;
	for (unsigned i = 0; i < site->n_args; i++)
		if (site->arg[i].name && strcmp(site->arg[i].name, key) == 0)
			return (int)i;
	for (unsigned i = 0; i < site->n_args; i++) {
		snprintf(position, sizeof(position), "arg%u", i);
		if (strcmp(position, key) == 0)
			return (int)i;
	}
	if (strcmp(key, "cpu") == 0)
		return PAIRS_CPU;
	return strcmp(key, "process") == 0 ? PAIRS_PROCESS : PAIRS_NONE;
}

/* ---- are they there? ---- */

/* Complains about a name that no site has, with the nearest of those there are. */
static int pairs_unknown(const struct ktr_reader *reader, const char *name, struct ktr_error *err)
{
	unsigned n = ktr_reader_n_sites(reader), n_names = 0;
	const char **names = calloc(2 * n + 1, sizeof(*names)), *nearest = NULL;

	for (unsigned id = 1; names && id < n; id++) {
		const struct ktr_reader_site *site = ktr_reader_site(reader, id);

		if (site) {
			names[n_names++] = site->name;
			names[n_names++] = site->func;
		}
	}
	if (names)
		nearest = ktr_nearest_of(name, names, n_names);
	ktr_error_set(err, ENOENT,
		      nearest ? "--pair: no call site is '%.80s'; did you mean %.80s?"
			      : "--pair: no call site is '%.80s'",
		      name, nearest);
	free(names);
	return -ENOENT;
}

/* One end of a pair: a site, and one that has the key. */
static int pairs_check_end(const struct ktr__pair *pair, const char *name,
			   const struct ktr_reader *reader, struct ktr_error *err)
{
	const struct ktr_reader_site *last = NULL;

	for (unsigned id = 1; id < ktr_reader_n_sites(reader); id++) {
		const struct ktr_reader_site *site = ktr_reader_site(reader, id);

		if (!site || !ktr__pattern_is_site(name, site))
			continue;
		last = site;
		if (pairs_key(pair->key, site) != PAIRS_NONE)
			return 0;
	}
	if (!last)
		return pairs_unknown(reader, name, err);
	return ktr_error_set(err, ENOENT, "--pair: %.80s has no argument '%.60s'%s%.60s",
			     last->name, pair->key, last->n_args ? "; its first is " : "",
			     last->n_args ? last->arg[0].name : "");
}

int ktr__pairs_check(const struct ktr__pair *pair, unsigned n, const struct ktr_reader *reader,
		     struct ktr_error *err)
{
	int rc = 0;

	if (!ktr_reader_info(reader)->last_ns)
		return 0; /* nothing was recorded: no name is wrong */
	for (unsigned i = 0; i < n && !rc; i++) {
		rc = pairs_check_end(&pair[i], pair[i].from, reader, err);
		if (!rc)
			rc = pairs_check_end(&pair[i], pair[i].to, reader, err);
	}
	return rc;
}

/* ---- events ---- */

static void pairs_learn(const struct ktr__pairs *pairs, const struct ktr_reader_site *site,
			struct pairs_site *known)
{
	known->known = 1;
	for (unsigned i = 0; i < pairs->n; i++) {
		int key = pairs_key(pairs->pair[i].key, site);

		known->key[i] = (int8_t)key;
		if (key == PAIRS_NONE)
			continue;
		known->begins |= (uint16_t)(ktr__pattern_is_site(pairs->pair[i].from, site) << i);
		known->ends |= (uint16_t)(ktr__pattern_is_site(pairs->pair[i].to, site) << i);
	}
}

/* The event as an end of pair i. */
static struct ktr__span pairs_describe(const struct ktr__pairs *pairs, unsigned i, int key,
				       const struct ktr_event *event)
{
	struct ktr__span span = {
		.kind = KTR_KIND_START,
		.pid = event->thread->pid,
		.process_key = ktr__tables_process_key(event->thread),
		.group = pairs->name[i],
		.ident = { "", 0, 0, 0 },
		.state = { "", 0, 0, 0 },
		.from_ns = event->time_ns,
		.site = event->site,
		.thread = event->thread,
		.cpu = event->cpu,
		.keep = event->keep,
		.pair = i + 1,
	};

	if (key == PAIRS_THREAD)
		span.key = event->thread->id;
	else if (key == PAIRS_CPU)
		span.key = event->cpu;
	else if (key >= 0 && event->site->in_str >> key & 1 && event->str[key].bytes)
		span.ident = event->str[key];
	else if (key >= 0)
		span.key = event->arg[key];
	return span;
}

static int pairs_one(struct ktr__pairs *pairs, unsigned i, const struct pairs_site *site,
		     const struct ktr_event *event)
{
	struct ktr__span span = pairs_describe(pairs, i, site->key[i], event);
	int begins = site->begins >> i & 1, rc = 0;

	/* The first of a row of the same kind ends nothing, and is not reported as an end. */
	if (site->ends >> i & 1 && (!begins || ktr__spans_is_open(pairs->spans, &span)))
		rc = ktr__spans_end(pairs->spans, &span);
	if (rc || !begins)
		return rc;
	span = pairs_describe(pairs, i, site->key[i], event);
	return ktr__spans_begin(pairs->spans, &span);
}

int ktr__pairs_event(struct ktr__pairs *pairs, const struct ktr_event *event)
{
	uint32_t id = event->site->id;
	struct pairs_site *site;
	unsigned any;
	int rc = 0;

	if (ktr__array_grow(&pairs->site, &pairs->n_sites, id, sizeof(*site)))
		return -ENOMEM;
	site = &pairs->site[id];
	if (!site->known)
		pairs_learn(pairs, event->site, site);
	any = site->begins | site->ends;
	for (unsigned i = 0; any >> i && !rc; i++)
		if (any >> i & 1)
			rc = pairs_one(pairs, i, site, event);
	return rc;
}

int ktr__pairs_new(struct ktr__pairs **out, const struct ktr__pair *pair, unsigned n,
		   struct ktr__spans *spans)
{
	struct ktr__pairs *pairs = calloc(1, sizeof(*pairs));

	*out = pairs;
	if (!pairs)
		return -ENOMEM;
	pairs->spans = spans;
	pairs->n = n < KTR__PAIRS_MAX ? n : KTR__PAIRS_MAX;
	for (unsigned i = 0; i < pairs->n; i++) {
		pairs->pair[i] = pair[i];
		snprintf(pairs->name[i], sizeof(pairs->name[i]), "%s to %s%s%s", pair[i].from, pair[i].to,
			 pair[i].key[0] ? " by " : "", pair[i].key);
	}
	return 0;
}

void ktr__pairs_free(struct ktr__pairs *pairs)
{
	if (!pairs)
		return;
	free(pairs->site);
	free(pairs);
}
