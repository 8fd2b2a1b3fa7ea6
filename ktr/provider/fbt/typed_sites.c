/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/fbt/typed_sites.h"

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

/* names: ",a,b"; what an event has of them, behind the key if there is one. */
static void typed_sites_values(struct ktr_site *site, bool has_key, const struct ktr__fbt_value *value, unsigned n,
			 const char *names)
{
	char text[KTR__FBT_VALUES * 48 + 8];

	snprintf(text, sizeof(text), "%s%s", has_key ? "key" : "", has_key || !*names ? names : names + 1);
	if (!site->names)
		site->names = strdup(text);
	site->n_args = (uint8_t)(n + has_key);
	site->type[0] = KTR_ARG_U64;
	for (unsigned i = 0; i < n; i++)
		site->type[i + has_key] = value[i].type;
}

static bool typed_sites_scope(struct ktr__fbt_typed *typed)
{
	char format[KTR__FBT_FORMAT], result[64];

	if (!typed->function->scope)
		return false;
	typed_sites_values(&typed->begin, true, typed->value, typed->n, typed->names);
	ktr__fbt_scope_format(format, typed->function->name, "start", *typed->format ? typed->format : "none");
	if (!typed->begin.names || !typed_sites_make(&typed->begin, format))
		return false;
	if (!typed->has_result)
		return true;
	typed_sites_values(&typed->end, true, &typed->result, 1, ",result");
	snprintf(result, sizeof(result), "result:%s", typed->result_format);
	ktr__fbt_scope_format(format, typed->function->name, "stop", result);
	return typed->end.names && typed_sites_make(&typed->end, format);
}

static bool typed_sites_entered(struct ktr__fbt_typed *typed)
{
	char format[KTR__FBT_FORMAT];

	typed_sites_values(&typed->entered, false, typed->value, typed->n, typed->names);
	typed_sites_plain_format(format, typed->function->name, "entry", typed->format);
	return typed->entered.names && typed_sites_make(&typed->entered, format);
}

static bool typed_sites_returned(struct ktr__fbt_typed *typed)
{
	char format[KTR__FBT_FORMAT], result[64];

	typed_sites_values(&typed->returned, false, &typed->result, typed->has_result, ",result");
	snprintf(result, sizeof(result), "result:%s", typed->has_result ? typed->result_format : "");
	typed_sites_plain_format(format, typed->function->name, "return", typed->has_result ? result : "");
	return typed->returned.names && typed_sites_make(&typed->returned, format);
}

void ktr__fbt_typed_sites(struct ktr__fbt_typed *typed, const char *module, const struct ktr_class *cls,
			  uint32_t wanted)
{
	struct ktr_site *const site[] = { &typed->begin, &typed->end, &typed->entered, &typed->returned };
	uint32_t made = 0;

	for (unsigned i = 0; i < sizeof(site) / sizeof(site[0]); i++) {
		site[i]->cls = cls;
		site[i]->file = module;
		site[i]->func = typed->function->name;
	}
	if (wanted == 3 && typed_sites_scope(typed))
		made = KTR__FBT_SITE_SCOPE;
	if (wanted == 1u << KTR__FBT_ENTRY && typed_sites_entered(typed))
		made = KTR__FBT_SITE_ENTRY;
	if (wanted == 1u << KTR__FBT_RETURN && typed_sites_returned(typed))
		made = KTR__FBT_SITE_RETURN;
	__atomic_fetch_or(&typed->made, made, __ATOMIC_RELEASE);
}
