/* SPDX-License-Identifier: BSD-2-Clause */
#include "visualize/export/export_args.h"

#include "visualize/export/export.h"

#include "analyze/read/ktrgraph.h"
#include "conf/kit/decimal.h"
#include "visualize/export/stack_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_EXACT 0x1p53 /* integers below it are exact as doubles */

size_t ktr__export_digits(char text[KTR__EXPORT_DIGITS], const struct ktr_event *event, unsigned i)
{
	uint64_t word = event->arg[i];
	char *to = text;

	switch (event->site->arg[i].type) {
	case KTR_ARG_F64:
		return (size_t)snprintf(text, KTR__EXPORT_DIGITS, "%.17g", ktr__event_number(event, i));
	case KTR_ARG_PTR:
		return (size_t)snprintf(text, KTR__EXPORT_DIGITS, "0x%" PRIx64, word);
	case KTR_ARG_U8:
	case KTR_ARG_U16:
	case KTR_ARG_U32:
	case KTR_ARG_U64:
		return (size_t)(ktr__decimal_put(text, word) - text);
	default:
		if ((int64_t)word < 0)
			*to++ = '-';
		return (size_t)(ktr__decimal_put(to, (int64_t)word < 0 ? -word : word) - text);
	}
}

static void args_number(FILE *to, const struct ktr_event *event, unsigned i)
{
	enum ktr_arg_type type = event->site->arg[i].type;
	double real = ktr__event_number(event, i);
	char digits[KTR__EXPORT_DIGITS];
	int quoted = type == KTR_ARG_PTR || (type != KTR_ARG_F64 && fabs(real) >= ARGS_EXACT);

	if (!isfinite(real)) {
		fputs(isnan(real) ? "\"NaN\"" : real < 0 ? "\"-Infinity\"" : "\"Infinity\"", to);
		return;
	}
	fputs(quoted ? "\"" : "", to);
	fwrite(digits, 1, ktr__export_digits(digits, event, i), to);
	fputs(quoted ? "\"" : "", to);
}

void ktr__export_number(FILE *to, const struct ktr_event *event, unsigned i)
{
	double real = ktr__event_number(event, i), read;
	char text[40];

	if (event->site->arg[i].type == KTR_ARG_U64) {
		fprintf(to, "%" PRIu64, event->arg[i]);
	} else if (event->site->arg[i].type != KTR_ARG_F64) {
		fprintf(to, "%" PRId64, (int64_t)event->arg[i]);
	} else {
		/* As people wrote it, where that is the same number. */
		snprintf(text, sizeof(text), "%.15g", real);
		read = strtod(text, NULL);
		fprintf(to, memcmp(&read, &real, sizeof(read)) == 0 ? "%.15g" : "%.17g", real);
	}
}

void ktr__export_args(FILE *to, const struct ktr_event *event, unsigned from,
		      struct ktr__symbols *symbols)
{
	const struct ktr_reader_site *site = event->site;
	char stack[KTR__STACK_TEXT];

	for (unsigned i = from; i < site->n_args; i++) {
		const struct ktr_event_bytes *str = &event->str[i];

		if (i > from)
			putc(',', to);
		ktr__export_json(to, site->arg[i].name, strlen(site->arg[i].name));
		putc(':', to);
		if (site->arg[i].type == KTR_ARG_STACK)
			ktr__export_json(to, stack,
					 ktr__stack_text(event, i, symbols, " < ", stack));
		else if (site->arg[i].type != KTR_ARG_STR)
			args_number(to, event, i);
		else if (str->is_null)
			fputs("null", to);
		else
			ktr__export_json(to, str->bytes, str->n_bytes);
	}
}

struct ktr_event_bytes ktr__export_name(const struct ktr_event *event)
{
	const struct ktr_reader_site *site = event->site;
	struct ktr_event_bytes name = { site->group ? site->group : site->format, 0, 0, 0 };

	if (site->kind == KTR_KIND_STATE || site->kind == KTR_KIND_POINT)
		return event->str[site->value_arg];
	if (site->ident != NULL)
		name.bytes = site->ident;
	name.n_bytes = (uint32_t)strlen(name.bytes);
	return name;
}
