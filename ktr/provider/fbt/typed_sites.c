/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/fbt/typed_sites.h"

#include "ktr/provider/fbt/paths.h"
#include "ktr/start/attach.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPED_SITES_ATTRIBUTES 400 /* [bytes] of a format for them: names are short */

/* A name as a format has it. */
static size_t typed_sites_name(char *format, size_t room, const char *name)
{
	size_t n = 0;

	for (; *name && n + 3 < room; name++) {
		format[n++] = *name == '"' ? '\'' : *name;
		if (*name == '%')
			format[n++] = '%';
	}
	format[n] = '\0';
	return n;
}

void ktr__fbt_scope_format(char format[KTR__FBT_FORMAT], const char *name, const char *verb,
			     const char *attributes)
{
	size_t n = (size_t)snprintf(format, KTR__FBT_FORMAT, "KTRGRAPH group:\"scope\", id:\"");

	n += typed_sites_name(format + n, KTR__FBT_FORMAT - n - TYPED_SITES_ATTRIBUTES, name);
	snprintf(format + n, KTR__FBT_FORMAT - n, "\", %s:0x%%jX, attributes: %s", verb, attributes);
}

/* A probe by itself: "parse:entry s="%s", n=%jd". */
static void typed_sites_plain_format(char format[KTR__FBT_FORMAT], const char *name, const char *end,
			       const char *attributes)
{
	size_t n = typed_sites_name(format, KTR__FBT_FORMAT - TYPED_SITES_ATTRIBUTES, name);
	size_t from = n + (size_t)snprintf(format + n, KTR__FBT_FORMAT - n, ":%s ", end);

	snprintf(format + from, KTR__FBT_FORMAT - from, "%s", attributes);
	for (char *at = format + from; (at = strchr(at, ':')) != NULL;)
		*at = '=';
}

static bool typed_sites_make(struct ktr_site *site, const char *format)
{
	int code;

	if (site->id)
		return true;
	site->format = format;
	code = ktr__site_make(site);
	site->format = "";
	return !code;
}

/* One of those of a function: what its events have, behind the key if there is one. names: ",a,b". */
struct typed_sites_part {
	const struct ktr__fbt_value *value;
	unsigned n;
	const char *names;
};

/* unread: numbers among members are text. */
static bool typed_sites_values(struct ktr_site *site, bool has_key, bool unread,
			       const struct typed_sites_part *part)
{
	char text[KTR__FBT_VALUES * (KTR__FBT_PATH + 1) + 8];
	const char *names = part->names;

	snprintf(text, sizeof(text), "%s%s", has_key ? "key" : "", has_key || !*names ? names : names + 1);
	if (!site->names)
		site->names = strdup(text);
	site->n_args = (uint8_t)(part->n + has_key);
	site->type[0] = KTR_ARG_U64;
	for (unsigned i = 0; i < part->n; i++)
		site->type[i + has_key] = unread && ktr__fbt_is_number(&part->value[i]) ? (uint8_t)KTR_ARG_STR :
											   part->value[i].type;
	return site->names;
}

static struct typed_sites_part typed_sites_entry(const struct ktr__fbt_typed *typed)
{
	return (struct typed_sites_part){ typed->value, typed->n, typed->names };
}

static struct typed_sites_part typed_sites_result(const struct ktr__fbt_typed *typed)
{
	return (struct typed_sites_part){ typed->result, typed->n_results, typed->result_names };
}

static bool typed_sites_scope_end(struct ktr__fbt_typed *typed, struct ktr_site *site, bool unread,
				  const struct typed_sites_part *part, const char *verb, const char *attributes)
{
	char format[KTR__FBT_FORMAT];

	ktr__fbt_scope_format(format, typed->function->name, verb, *attributes ? attributes : "none");
	return typed_sites_values(site, true, unread, part) && typed_sites_make(site, format);
}

static bool typed_sites_scope(struct ktr__fbt_typed *typed)
{
	struct typed_sites_part entry = typed_sites_entry(typed), result = typed_sites_result(typed);
	bool made;

	if (!typed->function->scope)
		return false;
	made = typed_sites_scope_end(typed, &typed->begin, false, &entry, "start", typed->format);
	if (made && typed->n_results)
		made = typed_sites_scope_end(typed, &typed->end, false, &result, "stop", typed->result_format);
	if (!made || !typed->unread)
		return made;
	return typed_sites_scope_end(typed, &typed->unread->begin, true, &entry, "start", typed->unread_format) &&
	       (!typed->n_results || typed_sites_scope_end(typed, &typed->unread->end, true, &result, "stop",
							   typed->unread_result_format));
}

static bool typed_sites_alone(struct ktr__fbt_typed *typed, struct ktr_site *site, bool unread,
			      const struct typed_sites_part *part, const char *end, const char *attributes)
{
	char format[KTR__FBT_FORMAT];

	typed_sites_plain_format(format, typed->function->name, end, attributes);
	return typed_sites_values(site, false, unread, part) && typed_sites_make(site, format);
}

static bool typed_sites_entered(struct ktr__fbt_typed *typed)
{
	struct typed_sites_part part = typed_sites_entry(typed);

	return typed_sites_alone(typed, &typed->entered, false, &part, "entry", typed->format) &&
	       (!typed->unread ||
		typed_sites_alone(typed, &typed->unread->entered, true, &part, "entry", typed->unread_format));
}

static bool typed_sites_returned(struct ktr__fbt_typed *typed)
{
	struct typed_sites_part part = typed_sites_result(typed);

	return typed_sites_alone(typed, &typed->returned, false, &part, "return", typed->result_format) &&
	       (!typed->unread ||
		typed_sites_alone(typed, &typed->unread->returned, true, &part, "return",
				  typed->unread_result_format));
}

static void typed_sites_begin(struct ktr__fbt_typed *typed, struct ktr_site *site, const char *module,
			      const struct ktr_class *cls)
{
	site->cls = cls;
	site->file = module;
	site->func = typed->function->name;
}

void ktr__fbt_typed_sites(struct ktr__fbt_typed *typed, const char *module, const struct ktr_class *cls,
			  uint32_t wanted)
{
	struct ktr__fbt_unread *unread = typed->unread;
	struct ktr_site *const site[] = { &typed->begin, &typed->end, &typed->entered, &typed->returned };
	uint32_t made = 0;

	for (unsigned i = 0; i < sizeof(site) / sizeof(site[0]); i++)
		typed_sites_begin(typed, site[i], module, cls);
	if (unread) {
		typed_sites_begin(typed, &unread->begin, module, cls);
		typed_sites_begin(typed, &unread->end, module, cls);
		typed_sites_begin(typed, &unread->entered, module, cls);
		typed_sites_begin(typed, &unread->returned, module, cls);
	}
	if (wanted == 3 && typed_sites_scope(typed))
		made = KTR__FBT_SITE_SCOPE;
	if (wanted == 1u << KTR__FBT_ENTRY && typed_sites_entered(typed))
		made = KTR__FBT_SITE_ENTRY;
	if (wanted == 1u << KTR__FBT_RETURN && typed_sites_returned(typed))
		made = KTR__FBT_SITE_RETURN;
	__atomic_fetch_or(&typed->made, made, __ATOMIC_RELEASE);
}
