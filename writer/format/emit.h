/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text under construction: a buffer that grows, and the members of a JSON line written into it, which
 * tables describe.
 *
 *	static const struct ktr__member place[] = {
 *		KTR__MEMBER(place, U64, line), KTR__MEMBER(place, TEXT, file), KTR__MEMBER_END,
 *	};
 *	const struct place here = { 42, { "a.c" } };
 *
 *	ktr__json_begin(&emit);
 *	ktr__json_members(&emit, place, &here, NULL, 1);
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

/* A text is a pointer to any bytes, or the offset of a string in a session's table. */
union ktr__member_text {
	const char *text;
	uint32_t offset;
};

struct ktr__member_octets {
	uint8_t n;
	uint8_t octet[KTR_BUILD_ID_MAX];
};

struct ktr__member_args {
	uint8_t n;
	uint8_t each[KTR_ARGS_MAX];
};

struct ktr__member_id {
	uint8_t octet[16];
};

/* How a member of a line is made of a field of a structure: X(kind, type of the field). */
#define KTR__MEMBER_LIST(X)										\
	X(U64, uint64_t) /* below 2^63 */								\
	X(I64, int64_t)											\
	X(HEX, uint64_t) /* "0x1f" */									\
	X(BOOL, uint64_t)										\
	X(TAIL, uint64_t)  /* U64, which may be left out */						\
	X(WOVEN, uint64_t) /* left out */								\
	X(TEXT, union ktr__member_text)									\
	X(STRING, union ktr__member_text)  /* an offset where there is a map */				\
	X(CMDLINE, union ktr__member_text) /* the same, of a command line */				\
	X(OCTETS, struct ktr__member_octets) /* "0a1b..." */						\
	X(ID, struct ktr__member_id)									\
	X(NUMBERS, struct ktr__member_args)								\
	X(TYPES, struct ktr__member_args) /* of arguments, by name */

enum ktr__member_kind {
#define KTR__MEMBER_KIND(kind, type) KTR__MEMBER_##kind,
	KTR__MEMBER_LIST(KTR__MEMBER_KIND)
#undef KTR__MEMBER_KIND
};

struct ktr__member {
	char key[14];
	uint8_t kind;
	uint16_t at; /* [bytes] of the field in the structure */
};

#define KTR__MEMBER(row, kind, field)                                                                           \
	{ #field, KTR__MEMBER_##kind, offsetof(struct row, field) }
#define KTR__MEMBER_END { "", 0, 0 }

/* The type of arguments that members of the kind TYPES call by n bytes of a name; KTR_ARG_TYPES: it is none. */
unsigned ktr__member_type(const char *name, size_t n);

void ktr__json_begin(struct ktr__emit *emit);
/* Up to the member without a key. map, tail: see ktr__line_write(). */
void ktr__json_members(struct ktr__emit *emit, const struct ktr__member *member, const void *row,
		       const struct ktr__session_map *map, int tail);
void ktr__json_end(struct ktr__emit *emit);
void ktr__json_undo(struct ktr__emit *emit); /* as if it had not been begun */

/*
 * Length of the well-formed UTF-8 character at text (Unicode 15, table 3-7), or 0. Stops at a NUL.
 */
size_t ktr__utf8_length(const char *text);

#endif
