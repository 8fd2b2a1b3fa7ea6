/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text under construction: a buffer that grows, and the members of a JSON line written into it, which
 * tables describe.
 *
 *	static const struct ktr__member place[] = {
 *		KTR__MEMBER(place, U32, line), KTR__MEMBER(place, TEXT, file), KTR__MEMBER_END,
 *	};
 *	const struct place here = { 42, "a.c" };
 *
 *	ktr__json_begin(&emit);
 *	ktr__json_members(&emit, place, &here, NULL);
 *	ktr__json_end(&emit);			{"line":42,"file":"a.c","crc":"..."}\n
 *
 * Without memory an emit stays as it was before the line or text began to fail and says so once, by
 * `failed`, at whose discretion everything after is dropped. One emit belongs to one thread.
 */
#ifndef WRITER_EMIT_H
#define WRITER_EMIT_H

#include "ktr/session/session_map.h"

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

/* How a member of a line is made from the bytes of a structure. */
enum ktr__member_kind {
	KTR__MEMBER_U32,
	KTR__MEMBER_U64, /* below 2^63 */
	KTR__MEMBER_I64,
	KTR__MEMBER_HEX,  /* of 64 bits: "0x1f" */
	KTR__MEMBER_BOOL, /* of 32 bits */
	KTR__MEMBER_TEXT, /* a pointer to any bytes; ktr/trace_file.h tells of those that are not UTF-8 */
	KTR__MEMBER_STRING,  /* an offset of a session's string table */
	KTR__MEMBER_CMDLINE, /* such a string, a command line */
	KTR__MEMBER_NAME,    /* of fixed length, need not end in a NUL */
	KTR__MEMBER_OCTETS,  /* "0a1b..." */
	KTR__MEMBER_ID,	     /* sixteen of them */
	KTR__MEMBER_NUMBERS, /* of a byte each */
	KTR__MEMBER_TYPES,   /* of arguments, by name */
	KTR__MEMBER_ARCH,    /* KTR_ARCH_*, KTR_PATH_* and KTR_CLOCK_*, by name */
	KTR__MEMBER_PATH,
	KTR__MEMBER_CLOCK
};

struct ktr__member {
	char key[14];
	uint8_t kind;
	uint8_t more; /* NAME: [bytes] of room; OCTETS, NUMBERS, TYPES: where the structure says how many */
	uint16_t at;  /* [bytes] where in the structure, which has 8 bytes or more from there on */
};

#define KTR__MEMBER_AS(key, row, kind, field, more)                                              \
	{ key, KTR__MEMBER_##kind, more, offsetof(struct row, field) }
#define KTR__MEMBER(row, kind, field) KTR__MEMBER_AS(#field, row, kind, field, 0)
#define KTR__MEMBER_END { "", 0, 0, 0 }

void ktr__json_begin(struct ktr__emit *emit);
/* Up to the member without a key. map is for STRING and may be NULL where there is none. */
void ktr__json_members(struct ktr__emit *emit, const struct ktr__member *member, const void *row,
		       const struct ktr__session_map *map);
void ktr__json_end(struct ktr__emit *emit);
void ktr__json_undo(struct ktr__emit *emit); /* as if it had not been begun */

/*
 * Length of the well-formed UTF-8 character at text (Unicode 15, table 3-7), or 0. Stops at a NUL.
 */
size_t ktr__utf8_length(const char *text);

#endif
