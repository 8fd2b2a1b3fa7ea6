/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What Parquet needs of Thrift's compact protocol, in which its metadata are
 * (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
 */
#ifndef VISUALIZE_THRIFT_H
#define VISUALIZE_THRIFT_H

#include "visualize/model/column.h"

#include <stddef.h>
#include <stdint.h>

enum ktr__thrift_type {
	KTR__THRIFT_I32 = 5,
	KTR__THRIFT_I64 = 6,
	KTR__THRIFT_BINARY = 8,
	KTR__THRIFT_LIST = 9,
	KTR__THRIFT_STRUCT = 12
};

/* The head of a field; their numbers go up within a structure, from 1: *last is 0 at its beginning. */
void ktr__thrift_field(struct ktr__column *to, unsigned *last, unsigned field, unsigned type);

/* A field with its value. */
void ktr__thrift_number(struct ktr__column *to, unsigned *last, unsigned field, unsigned type, int64_t number);
void ktr__thrift_text(struct ktr__column *to, unsigned *last, unsigned field, const char *text);

/* The head of a list of n values, which follow. */
void ktr__thrift_list(struct ktr__column *to, unsigned *last, unsigned field, unsigned type, uint64_t n);

/* Bytes with their length: a value in a list or map. */
void ktr__thrift_bytes(struct ktr__column *to, const void *bytes, size_t n);

/* Ends a structure. */
void ktr__thrift_end(struct ktr__column *to);

#endif
