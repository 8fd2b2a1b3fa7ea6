/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments, as providers describe them, become those of a call site. What no provider describes is six words. */
#include "ktr/provider/registry/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIBE_LEFT 8	  /* [bytes] of a format for a conversion, or a character and its NUL */
#define DESCRIBE_TEXT 256 /* [bytes] of all arguments' names, and of names and types */

static void describe_words(struct ktr_site *site)
{
	site->names = "arg0,arg1,arg2,arg3,arg4,arg5";
	site->n_args = KTR_ARGS_MAX;
	memset(site->type, KTR_ARG_U64, sizeof(site->type));
}

/* A text that is appended to as long as there is room. */
static size_t describe_add(char *text, size_t n, const char *separator, const char *one, const char *two)
{
	int more = snprintf(text + n, DESCRIBE_TEXT - n, "%s%s%s", n ? separator : "", one, two);

	if (more > 0 && n + (size_t)more < DESCRIBE_TEXT)
		return n + (size_t)more;
	text[n] = '\0';
	return n;
}

void ktr__describe_site(struct ktr__offered *offered)
{
	struct ktr_provider_probe *probe = &offered->probe;
	struct ktr_site *site = &probe->site;
	struct ktr_provider_arg arg = { "", "", KTR_ARG_U64 };
	size_t n_names = 0, n_arguments = 0;
	char *names;

	site->cls = &probe->provider->cls;
	site->file = *probe->module ? probe->module : probe->provider->name;
	site->func = *probe->function ? probe->function : probe->name;
	describe_words(site);
	if (!probe->provider->ops->arg_desc || !(offered->arguments = calloc(2, DESCRIBE_TEXT)))
		return;
	names = offered->arguments + DESCRIBE_TEXT;
	site->names = names;
	site->n_args = 0;
	memset(site->type, 0, sizeof(site->type));
	while (site->n_args < KTR_ARGS_MAX && probe->provider->ops->arg_desc(probe, site->n_args, &arg) == 0) {
		const char *type = arg.type ? arg.type : "", *name = arg.name ? arg.name : "";
		size_t length = strlen(type);

		n_names = describe_add(names, n_names, ",", name, "");
		n_arguments = describe_add(offered->arguments, n_arguments, ", ", type,
					   length && type[length - 1] != '*' ? " " : "");
		n_arguments = describe_add(offered->arguments, n_arguments, "", name, "");
		site->type[site->n_args] = KTR_ARG_U64;
		if (arg.kind > KTR_ARG_NONE && arg.kind <= KTR_ARG_STACK)
			site->type[site->n_args] = (uint8_t)arg.kind;
		site->n_args++;
	}
}

static size_t describe_text(char *format, size_t n, const char *text, size_t length)
{
	for (size_t i = 0; i < length && n + DESCRIBE_LEFT < KTR__DESCRIBE_FORMAT; i++) {
		if (text[i] == '%')
			format[n++] = '%';
		format[n++] = text[i];
	}
	format[n] = '\0';
	return n;
}

static const char *describe_conversion(uint8_t type)
{
	switch (type) {
	case KTR_ARG_I8:
	case KTR_ARG_I16:
	case KTR_ARG_I32:
	case KTR_ARG_I64:
		return "%lld";
	case KTR_ARG_U8:
	case KTR_ARG_U16:
	case KTR_ARG_U32:
		return "%llu";
	case KTR_ARG_F64:
		return "%g";
	case KTR_ARG_STR:
		return "%s";
	case KTR_ARG_PTR:
		return "%p";
	default:
		return "%#llx";
	}
}

void ktr__describe_format(const struct ktr_provider_probe *probe, char format[KTR__DESCRIBE_FORMAT])
{
	const char *name = probe->site.names;
	size_t n = 0;

	if (*probe->function) {
		n = describe_text(format, n, probe->function, strlen(probe->function));
		n = describe_text(format, n, ":", 1);
	}
	n = describe_text(format, n, probe->name, strlen(probe->name));
	for (unsigned i = 0; i < probe->site.n_args && n + 2 * DESCRIBE_LEFT < KTR__DESCRIBE_FORMAT; i++) {
		size_t length = strcspn(name, ",");

		/* A stack stands after the text. */
		if (probe->site.type[i] == KTR_ARG_STACK)
			continue;
		n = describe_text(format, n, " ", 1);
		n = describe_text(format, n, name, length);
		n = describe_text(format, n, "=", 1);
		n += (size_t)snprintf(format + n, KTR__DESCRIBE_FORMAT - n, "%s", describe_conversion(probe->site.type[i]));
		name += length + (name[length] == ',');
	}
}
