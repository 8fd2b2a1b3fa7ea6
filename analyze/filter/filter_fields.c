/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What filters can ask for: the table of fields, and their values.
 */
#include "analyze/filter/filter_fields.h"

#include "analyze/read/tables.h"
#include "conf/eval/expr_eval.h"
#include "conf/expr/expr.h"
#include "conf/names.h"
#include "conf/value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define FILTER_FIELDS_REF(name) KTR__FILTER_##name
#define KTR__FILTER_0		0 /* a name of none */

const struct ktr__expr_field ktr__filter_fields[] = {
#define FILTER_FIELDS_ROW(NAME, text, type, either, file, line, number, where, help)              \
	{ text,                                                                                  \
	  help,                                                                                  \
	  KTR__EXPR_T_##type,                                                                    \
	  FILTER_FIELDS_REF(either),                                                             \
	  FILTER_FIELDS_REF(file),                                                               \
	  FILTER_FIELDS_REF(line),                                                               \
	  FILTER_FIELDS_REF(number),                                                             \
	  0 },
	KTR__FILTER_FIELDS(FILTER_FIELDS_ROW)
};

static const struct ktr__field filter_fields_where[] = {
#define FILTER_FIELDS_WHERE(NAME, text, type, either, file, line, number, where, help) KTR__OF_##where,
	KTR__FILTER_FIELDS(FILTER_FIELDS_WHERE)
};

/* The bits of class names; a ktr_names_fn over the tables. A provider's class may have the name of another one. */
static int filter_fields_classes(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	const struct ktr__tables *tables = context;

	if (idx >= KTR_CLASS_MAX)
		return -ENOENT;
	if (!tables->class_name[idx])
		return 1;
	snprintf(name, size, "%s", tables->class_name[idx]);
	*value = 0;
	for (unsigned i = 0; i < KTR_CLASS_MAX; i++)
		if (tables->class_name[i] && strcmp(tables->class_name[i], tables->class_name[idx]) == 0)
			*value |= 1ull << i;
	return 0;
}

/* "net", "net|lock", "all,-net" */
static int filter_fields_class(const char *text, void *context, uint64_t *value, struct ktr_error *err)
{
	static const char kind[] = "unknown name";
	struct ktr_error why = KTR_ERROR_NONE;
	int rc = ktr__parse_mask(text, filter_fields_classes, context, 0, value, &why);

	if (!rc)
		return 0;
	if (strncmp(why.text, kind, strlen(kind)) == 0)
		return ktr_error_at(err, NULL, 0, why.column, why.code, "unknown class%s",
				    why.text + strlen(kind));
	return ktr_error_at(err, NULL, 0, why.column, why.code, "%s", why.text);
}

/* Decimals of a second, of which there may be nine. 0 or -EINVAL. */
static int filter_fields_fraction(const char *p, uint64_t *ns)
{
	uint64_t unit = 1000000000;

	*ns = 0;
	if (*p == '.')
		for (p++; ktr__is_digit(*p) && unit >= 10; p++)
			*ns += (unit /= 10) * (uint64_t)(*p - '0');
	if (*p == 'Z')
		p++;
	return *p ? -EINVAL : 0;
}

/* "2026-01-31 23:59:59.25", in UTC; the time of day may be left out, or its seconds. */
static int filter_fields_date(const char *text, uint64_t *value, struct ktr_error *err)
{
	static const char *const forms[] = { "%Y-%m-%d%n%H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d%n%H:%M",
					     "%Y-%m-%d" };
	uint64_t ns = 0;

	for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm tm = { .tm_mday = 1 };
		const char *end = strptime(text, forms[i], &tm);
		time_t seconds;

		if (!end || filter_fields_fraction(end, &ns))
			continue;
		seconds = timegm(&tm);
		if (seconds < 0 || (uint64_t)seconds > UINT64_MAX / 1000000000 - 1)
			break;
		*value = (uint64_t)seconds * 1000000000 + ns;
		return 0;
	}
	return ktr_error_at(err, NULL, 0, 1, EINVAL, "\"%.*s\" is no moment: 2026-01-31 23:59:59.5",
			    KTR__SHOWN_BYTES, text);
}

int ktr__filter_constant(void *context, unsigned field, const char *text, uint64_t *value,
			 struct ktr_error *err)
{
	if (field == KTR__FILTER_CLASS)
		return filter_fields_class(text, context, value, err);
	if (field == KTR__FILTER_UTC)
		return filter_fields_date(text, value, err);
	return -ENOTSUP;
}

int ktr__filter_value(unsigned field, const struct ktr_reader_info *info, const struct ktr_reader_site *site,
		      const struct ktr_event *event, struct ktr__expr_value *value)
{
	const struct ktr__field where = filter_fields_where[field];
	const void *record = event;
	const char *text;

	if (where.of == KTR__FIELD_SITE && where.type)
		record = site;
	else if (!event)
		return 0;
	else if (where.of == KTR__FIELD_THREAD)
		record = event->thread;
	if (ktr__field_is_text(where)) {
		text = ktr__field_text(where, record);
		if (text)
			*value = ktr__expr_text(text, strlen(text));
	} else if (where.type == KTR__FIELD_TIME) {
		*value = (struct ktr__expr_value){ .bits = event->time_ns - info->first_ns, .kind = KTR__EXPR_INT };
	} else if (where.type == KTR__FIELD_UTC) {
		*value = ktr__expr_unsigned(event->time_ns + (uint64_t)info->utc_offset_ns);
	} else if (where.type) {
		*value = ktr__expr_unsigned(ktr__field_number(where, record));
	}
	return 1;
}
