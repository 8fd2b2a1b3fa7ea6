/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a value lies in what readers hand out, and what it is: tables of fields and columns say it by these, and
 * need no code for each.
 */
#ifndef ANALYZE_FIELD_H
#define ANALYZE_FIELD_H

#include "analyze/read/ktrgraph.h"

#include <ktr/reader.h>

#include <stddef.h>
#include <stdint.h>

/* The record that it lies in. */
enum ktr__field_of {
	KTR__FIELD_EVENT, /* or whatever else a table has a row of */
	KTR__FIELD_SITE,
	KTR__FIELD_THREAD
};

enum ktr__field_type {
	KTR__FIELD_NONE, /* it lies nowhere: whoever has the table makes it */
	KTR__FIELD_TEXT, /* NULL: it has none */
	KTR__FIELD_KIND, /* enum ktr_event_kind, as a text */
	KTR__FIELD_U8,
	KTR__FIELD_U32,
	KTR__FIELD_U64,
	KTR__FIELD_TIME, /* of CLOCK_MONOTONIC, wanted since the first event; 0: not known */
	KTR__FIELD_UTC   /* likewise, wanted since 1970 */
};

struct ktr__field {
	uint8_t of, type;
	uint16_t at; /* [bytes] in the record */
};

#define KTR__FIELD_AT(of, type, record, member)                                                                \
	{                                                                                                      \
		KTR__FIELD_##of, KTR__FIELD_##type, offsetof(record, member)                                   \
	}
#define KTR__OF_EVENT(type, member)  KTR__FIELD_AT(EVENT, type, struct ktr_event, member)
#define KTR__OF_SITE(type, member)   KTR__FIELD_AT(SITE, type, struct ktr_reader_site, member)
#define KTR__OF_THREAD(type, member) KTR__FIELD_AT(THREAD, type, struct ktr_reader_thread, member)

static inline int ktr__field_is_text(struct ktr__field field)
{
	return field.type == KTR__FIELD_TEXT || field.type == KTR__FIELD_KIND;
}

/* Borrowed from the record. */
static inline const char *ktr__field_text(struct ktr__field field, const void *record)
{
	const void *at = (const char *)record + field.at;

	return field.type == KTR__FIELD_KIND ? ktr__ktrgraph_text(*(const enum ktr_event_kind *)at)
					     : *(const char *const *)at;
}

static inline uint64_t ktr__field_number(struct ktr__field field, const void *record)
{
	const void *at = (const char *)record + field.at;

	if (field.type == KTR__FIELD_U8)
		return *(const uint8_t *)at;
	return field.type == KTR__FIELD_U32 ? *(const uint32_t *)at : *(const uint64_t *)at;
}

#endif
