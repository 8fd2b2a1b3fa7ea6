/* SPDX-License-Identifier: BSD-2-Clause */
/* See thrift.h. */
#include "visualize/export/thrift.h"

#include <string.h>

void ktr__thrift_field(struct ktr__column *to, unsigned *last, unsigned field, unsigned type)
{
	uint8_t head = (uint8_t)((field - *last) << 4 | type);

	ktr__column_bytes(to, &head, 1);
	*last = field;
}

void ktr__thrift_number(struct ktr__column *to, unsigned *last, unsigned field, unsigned type, int64_t number)
{
	ktr__thrift_field(to, last, field, type);
	ktr__column_signed(to, number);
}

void ktr__thrift_bytes(struct ktr__column *to, const void *bytes, size_t n)
{
	ktr__column_number(to, n);
	ktr__column_bytes(to, bytes, n);
}

void ktr__thrift_text(struct ktr__column *to, unsigned *last, unsigned field, const char *text)
{
	ktr__thrift_field(to, last, field, KTR__THRIFT_BINARY);
	ktr__thrift_bytes(to, text, strlen(text));
}

void ktr__thrift_list(struct ktr__column *to, unsigned *last, unsigned field, unsigned type, uint64_t n)
{
	uint8_t head = (uint8_t)((n < 15 ? n : 15) << 4 | type);

	ktr__thrift_field(to, last, field, KTR__THRIFT_LIST);
	ktr__column_bytes(to, &head, 1);
	if (n >= 15)
		ktr__column_number(to, n);
}

void ktr__thrift_end(struct ktr__column *to)
{
	ktr__column_bytes(to, "", 1);
}
