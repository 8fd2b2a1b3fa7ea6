/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Formats of the KTRGRAPH family:
 *
 *	KTRGRAPH group:"G", id:"%s", WORD:VALUE, attributes: NAME:VALUE, NAME:VALUE
 *
 * where WORD is state, counter, point, start or stop, VALUE holds conversions, and "none" stands
 * for no attributes. KTR_SCOPE has its name in place of %s. The format is cut at its fixed texts,
 * and the conversions, which ktr/session/format.h finds, are told apart by where they stand.
 */
#include "analyze/read/ktrgraph.h"

#include "ktr/session/format.h"
#include "writer/format/arg_name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KIND_CONVERSIONS 16 /* more than arguments there are */

/* A piece of the format. */
struct ktrgraph_part {
	const char *at;
	const char *end;
};

enum { KTRGRAPH_GROUP, KTRGRAPH_ID, KTRGRAPH_WORD, KTRGRAPH_VALUE, KTRGRAPH_ATTRIBUTES, KTRGRAPH_PARTS };

/* The format's conversions that print an argument. */
struct ktrgraph_conversions {
	unsigned n;
	struct ktrgraph_conversion {
		const char *at;
		unsigned arg;
	} conv[KIND_CONVERSIONS];
};

static const struct ktrgraph_word {
	const char *text;
	const char *value; /* name of the argument with the value */
	enum ktr_event_kind kind;
} ktrgraph_words[] = {
	{ "state", "state", KTR_KIND_STATE }, { "counter", "counter", KTR_KIND_COUNTER },
	{ "point", "point", KTR_KIND_POINT }, { "start", "key", KTR_KIND_START },
	{ "stop", "key", KTR_KIND_STOP },
};

/* Cuts the format; 1 when it has all parts. */
static int ktrgraph_cut(const char *format, struct ktrgraph_part part[KTRGRAPH_PARTS])
{
	static const char begin[] = "KTRGRAPH group:\"";
	static const char *const ends[] = { "\", id:\"", "\", ", ":", ", attributes: " };
	const char *at;

	if (strncmp(format, begin, strlen(begin)) != 0)
		return 0;
	at = format + strlen(begin);
	for (unsigned i = 0; i < KTRGRAPH_ATTRIBUTES; i++) {
		part[i] = (struct ktrgraph_part){ at, strstr(at, ends[i]) };
		if (!part[i].end)
			return 0;
		at = part[i].end + strlen(ends[i]);
	}
	part[KTRGRAPH_ATTRIBUTES] = (struct ktrgraph_part){ at, at + strlen(at) };
	/* The first quote is the one that ends the group. */
	return !memchr(part->at, '"', (size_t)(part->end - part->at));
}

static void ktrgraph_conversions(const char *format, unsigned n_args, struct ktrgraph_conversions *all)
{
	struct ktr__format at = KTR__FORMAT(format);
	struct ktr__format_item item;

	all->n = 0;
	while (all->n < KIND_CONVERSIONS && ktr__format_next(&at, &item))
		if (item.kind == KTR__FORMAT_CONV && item.arg < n_args) {
			all->conv[all->n].at = item.start;
			all->conv[all->n++].arg = item.arg;
		}
}

/* The argument of the only conversion in a part; -1 without one, -2 when there are several. */
static int ktrgraph_only(const struct ktrgraph_conversions *all, const struct ktrgraph_part *part)
{
	int arg = -1;

	for (unsigned i = 0; i < all->n; i++) {
		if (all->conv[i].at < part->at || all->conv[i].at >= part->end)
			continue;
		if (arg >= 0)
			return -2;
		arg = (int)all->conv[i].arg;
	}
	return arg;
}

static int ktrgraph_is_number(enum ktr_arg_type type)
{
	return type != KTR_ARG_STR && type != KTR_ARG_STACK && type != KTR_ARG_NONE;
}

/* Does a value of this type suit the kind? */
static int ktrgraph_suits(enum ktr_event_kind kind, enum ktr_arg_type type)
{
	switch (kind) {
	case KTR_KIND_STATE:
	case KTR_KIND_POINT:
		return type == KTR_ARG_STR;
	case KTR_KIND_COUNTER:
		return ktrgraph_is_number(type) && type != KTR_ARG_PTR;
	default:
		return ktrgraph_is_number(type) && type != KTR_ARG_F64;
	}
}

/* Copies a constant part; "%%" is the text "%". */
static const char *ktrgraph_copy(struct ktr__arena *arena, const struct ktrgraph_part *part)
{
	char *copy = ktr__arena_copy(arena, part->at, (size_t)(part->end - part->at));

	if (!copy)
		return NULL;
	for (char *to = copy, *from = copy;; from++) {
		if (from[0] == '%' && from[1] == '%')
			from++;
		*to++ = *from;
		if (!*from)
			return copy;
	}
}

/* Where the attribute that begins at `at` ends: at ", " outside of quotes. */
static const char *ktrgraph_attribute_end(const char *at)
{
	int quoted = 0;

	for (; *at; at++) {
		if (*at == '"')
			quoted = !quoted;
		if (!quoted && at[0] == ',' && at[1] == ' ')
			break;
	}
	return at;
}

static int ktrgraph_attributes(struct ktr_reader_site *site, const struct ktrgraph_conversions *all,
			   const struct ktrgraph_part *attributes, struct ktr__arena *arena)
{
	const char *end;

	for (const char *at = attributes->at; *at; at = *end ? end + 2 : end) {
		const char *colon = strchr(at, ':');

		end = ktrgraph_attribute_end(at);
		if (!colon || colon >= end || colon == at)
			continue;
		for (unsigned i = 0; i < all->n; i++) {
			const char *name;

			if (all->conv[i].at < colon || all->conv[i].at >= end)
				continue;
			name = ktr__arena_copy(arena, at, (size_t)(colon - at));
			if (!name)
				return -ENOMEM;
			site->arg[all->conv[i].arg].name = name;
		}
	}
	return 0;
}

static const struct ktrgraph_word *ktrgraph_word(const struct ktrgraph_part *part)
{
	size_t n = (size_t)(part->end - part->at);

	for (unsigned i = 0; i < sizeof(ktrgraph_words) / sizeof(ktrgraph_words[0]); i++)
		if (strlen(ktrgraph_words[i].text) == n && memcmp(ktrgraph_words[i].text, part->at, n) == 0)
			return &ktrgraph_words[i];
	return NULL;
}

static void ktrgraph_plain(struct ktr_reader_site *site)
{
	site->kind = KTR_KIND_EVENT;
	site->group = NULL;
	site->ident = NULL;
	site->value_arg = -1;
	site->first_attr = 0;
}

int ktr__ktrgraph_parse(struct ktr_reader_site *site, struct ktr__arena *arena)
{
	struct ktrgraph_part part[KTRGRAPH_PARTS], *id = &part[KTRGRAPH_ID];
	const struct ktrgraph_word *known;
	struct ktrgraph_conversions all;
	int id_arg, value_arg;

	ktrgraph_plain(site);
	if (!ktrgraph_cut(site->format, part))
		return 0;
	ktrgraph_conversions(site->format, site->n_args, &all);
	known = ktrgraph_word(&part[KTRGRAPH_WORD]);
	id_arg = ktrgraph_only(&all, id);
	value_arg = ktrgraph_only(&all, &part[KTRGRAPH_VALUE]);
	if (!known || value_arg < 0 || !ktrgraph_suits(known->kind, site->arg[value_arg].type))
		return 0;
	if (id_arg > 0 || id_arg < -1 ||
	    (id_arg == 0 && (strncmp(id->at, "%s\"", 3) != 0 || site->arg[0].type != KTR_ARG_STR)))
		return 0;
	site->group = ktrgraph_copy(arena, &part[KTRGRAPH_GROUP]);
	site->ident = id_arg < 0 ? ktrgraph_copy(arena, id) : NULL;
	if (!site->group || (id_arg < 0 && !site->ident))
		return -ENOMEM;
	if (id_arg == 0)
		site->arg[0].name = "id";
	site->kind = known->kind;
	site->value_arg = value_arg;
	site->arg[value_arg].name = known->value;
	site->first_attr = value_arg + 1;
	return ktrgraph_attributes(site, &all, &part[KTRGRAPH_ATTRIBUTES], arena);
}

int ktr__ktrgraph_names(struct ktr_reader_site *site, const char *names, struct ktr__arena *arena)
{
	const char *from, *to, *end = names + strlen(names);

	for (unsigned i = 0; i < site->n_args; i++) {
		char number[16];

		names = ktr__arg_name(names, end, &from, &to);
		if (from == to) {
			snprintf(number, sizeof(number), "arg%u", i);
			from = number;
			to = number + strlen(number);
		}
		site->arg[i].name = ktr__arena_copy(arena, from, (size_t)(to - from));
		if (!site->arg[i].name)
			return -ENOMEM;
	}
	return 0;
}

static int ktrgraph_is_taken(const struct ktr_reader_site *site, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(site->arg[i].name, name) == 0)
			return 1;
	return 0;
}

int ktr__ktrgraph_unique(struct ktr_reader_site *site, struct ktr__arena *arena)
{
	for (unsigned i = 1; i < site->n_args; i++) {
		const char *name = site->arg[i].name;
		size_t n = strlen(name);
		char *copy;

		if (!ktrgraph_is_taken(site, i, name))
			continue;
		copy = ktr__arena_alloc(arena, n + sizeof("_2147483647"));
		if (!copy)
			return -ENOMEM;
		for (unsigned number = 2; number == 2 || ktrgraph_is_taken(site, i, copy); number++)
			snprintf(copy, n + sizeof("_2147483647"), "%s_%u", name, number);
		site->arg[i].name = copy;
	}
	return 0;
}

double ktr__event_number(const struct ktr_event *event, unsigned arg)
{
	uint64_t word = event->arg[arg];
	double value;

	switch (event->site->arg[arg].type) {
	case KTR_ARG_F64:
		memcpy(&value, &word, sizeof(value));
		return value;
	case KTR_ARG_U64:
		return (double)word;
	default:
		return (double)(int64_t)word;
	}
}

const char *ktr__ktrgraph_text(enum ktr_event_kind kind)
{
	for (unsigned i = 0; i < sizeof(ktrgraph_words) / sizeof(ktrgraph_words[0]); i++)
		if (ktrgraph_words[i].kind == kind)
			return ktrgraph_words[i].text;
	return "event";
}
