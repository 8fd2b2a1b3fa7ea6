/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text under construction: a buffer that grows, and the members of a JSON line written into it.
 *
 *	ktr__json_begin(&emit);
 *	ktr__json_u64(&emit, "line", 42);
 *	ktr__json_string(&emit, "file", "a.c");
 *	ktr__json_end(&emit);			{"line":42,"file":"a.c","crc":"..."}\n
 *
 * Without memory an emit stays as it was before the line or text began to fail and says so once, by
 * `failed`, at whose discretion everything after is dropped. One emit belongs to one thread.
 */
#ifndef WRITER_EMIT_H
#define WRITER_EMIT_H

#include <stddef.h>
#include <stdint.h>

struct ktr__emit {
	char *text;  /* owned; not NUL-terminated */
	size_t n;    /* [bytes] used */
	size_t room; /* [bytes] */
	size_t line; /* where the JSON line in progress begins */
	int failed;  /* 1: memory ran out */
};

void ktr__emit_free(struct ktr__emit *emit);

void ktr__emit_bytes(struct ktr__emit *emit, const char *bytes, size_t n);
void ktr__emit_text(struct ktr__emit *emit, const char *text);
void ktr__emit_format(struct ktr__emit *emit, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void ktr__json_begin(struct ktr__emit *emit);
void ktr__json_u64(struct ktr__emit *emit, const char *key, uint64_t value); /* below 2^63 */
void ktr__json_i64(struct ktr__emit *emit, const char *key, int64_t value);
void ktr__json_hex(struct ktr__emit *emit, const char *key, uint64_t value); /* "0x1f" */
void ktr__json_bool(struct ktr__emit *emit, const char *key, int value);
/* Any bytes; see ktr/trace_file.h for those that are not UTF-8. */
void ktr__json_string(struct ktr__emit *emit, const char *key, const char *text);
/* "0a1b..." */
void ktr__json_octets(struct ktr__emit *emit, const char *key, const uint8_t *bytes, size_t n);
/* value is JSON already. */
void ktr__json_raw(struct ktr__emit *emit, const char *key, const char *value);
void ktr__json_end(struct ktr__emit *emit);
void ktr__json_undo(struct ktr__emit *emit); /* as if it had not been begun */

/*
 * Length of the well-formed UTF-8 character at text (Unicode 15, table 3-7), or 0. Stops at a NUL.
 */
size_t ktr__utf8_length(const char *text);

#endif
