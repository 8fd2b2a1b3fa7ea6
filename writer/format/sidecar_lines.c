/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of sidecar_lines.h; lines that are made by them, and taken back.
 *
 * A member is found by its key. A text cannot hold one: a quote that belongs to a text has a backslash before it,
 * so that the end of no key is found there.
 */
#include "writer/format/sidecar_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDECAR_LINES_MEMBER(of, kind, name) KTR__MEMBER(ktr__line_##of, kind, name),
#define SIDECAR_LINES_TABLE(name, list)                                                                         \
	const struct ktr__member ktr__line_##name[] = { list(SIDECAR_LINES_MEMBER, name) KTR__MEMBER_END };

KTR__LINE_LIST(SIDECAR_LINES_TABLE)

#define TRACE(kind, name) KTR__MEMBER(ktr__line_trace, kind, name)
#define PROC(kind, name)  KTR__MEMBER(ktr__line_proc, kind, name)

const struct ktr__member ktr__line_rewritten_trace[] = {
	TRACE(TEXT, kind), TRACE(U64, major), TRACE(U64, minor), TRACE(ID, uuid), TRACE(ID, boot_id),
	TRACE(TEXT, session), TRACE(TEXT, host), TRACE(TEXT, clock), TRACE(U64, base_ticks), TRACE(U64, base_ns),
	TRACE(U64, mult), TRACE(U64, shift), TRACE(I64, utc_offset_ns), TRACE(TEXT, cmdline), TRACE(BOOL, complete),
	TRACE(TEXT, writer), KTR__MEMBER_END,
};

const struct ktr__member ktr__line_rewritten_proc[] = {
	PROC(U64, proc), PROC(U64, pid), PROC(HEX, key), PROC(TEXT, name), PROC(CMDLINE, cmdline),
	PROC(U64, start_ns), PROC(U64, exit_ns), PROC(TAIL, alive_ns), PROC(TAIL, gone_ns), KTR__MEMBER_END,
};

#undef TRACE
#undef PROC

void ktr__line_write(struct ktr__emit *emit, const struct ktr__member *member, const void *line,
		     const struct ktr__session_map *map, int tail)
{
	ktr__json_begin(emit);
	ktr__json_members(emit, member, line, map, tail);
	ktr__json_end(emit);
}

/* What follows the key, up to the end of the line; NULL: there is nothing. */
static const char *sidecar_lines_find(const char *line, const char *end, const char *key)
{
	char text[sizeof(((struct ktr__member *)0)->key) + 4];
	size_t n = (size_t)snprintf(text, sizeof(text), "\"%s\":", key);
	const char *at = memmem(line, (size_t)(end - line), text, n);

	return at && at + n < end ? at + n : NULL;
}

static int sidecar_lines_types(const char *at, const char *end, struct ktr__member_args *args)
{
	const char *quote;
	unsigned type;

	for (at++; at < end && *at == '"' && args->n < KTR_ARGS_MAX; at += at < end && *at == ',') {
		quote = memchr(at + 1, '"', (size_t)(end - at - 1));
		if (!quote)
			return -EINVAL;
		type = ktr__member_type(at + 1, (size_t)(quote - at - 1));
		args->each[args->n++] = type < KTR_ARG_TYPES ? (uint8_t)type : KTR_ARG_NONE;
		at = quote + 1;
	}
	return at < end && *at == ']' ? 0 : -EINVAL;
}

static void sidecar_lines_id(const char *at, const char *end, struct ktr__member_id *id)
{
	char digits[3] = "";

	for (unsigned i = 0; i < sizeof(id->octet) && end - at >= 3; i++, at += 2) {
		memcpy(digits, at + 1, 2);
		id->octet[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
}

static int sidecar_lines_take(const char *at, const char *end, unsigned kind, void *into)
{
	switch (kind) {
	case KTR__MEMBER_TEXT:
	case KTR__MEMBER_STRING:
	case KTR__MEMBER_CMDLINE:
		((union ktr__member_text *)into)->text = *at == '"' ? at + 1 : NULL;
		return 0;
	case KTR__MEMBER_ID:
		sidecar_lines_id(at, end, into);
		return 0;
	case KTR__MEMBER_TYPES:
		return sidecar_lines_types(at, end, into);
	case KTR__MEMBER_NUMBERS:
	case KTR__MEMBER_OCTETS:
		return 0;
	case KTR__MEMBER_BOOL:
		*(uint64_t *)into = *at == 't';
		return 0;
	default:
		/* Hexadecimal ones are in quotes. What follows is no digit: it stops before the end. */
		*(uint64_t *)into = strtoull(at + (*at == '"'), NULL, 0);
		return 0;
	}
}

int ktr__line_scan(const char *line, size_t n_bytes, const struct ktr__member *member, void *into,
		   size_t into_size)
{
	const char *end = line + n_bytes, *at;
	int rc = 0;

	memset(into, 0, into_size);
	for (; member->key[0]; member++) {
		at = sidecar_lines_find(line, end, member->key);
		if (at && sidecar_lines_take(at, end, member->kind, (char *)into + member->at))
			rc = -EINVAL;
	}
	return rc;
}

bool ktr__line_says(const union ktr__member_text *text, const char *word)
{
	size_t n = strlen(word);

	return text->text && strncmp(text->text, word, n) == 0 && text->text[n] == '"';
}
