/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text under construction, and JSON lines in it.
 *
 * JSON strings are UTF-8 and cannot hold any bytes as they are; what our strings hold (file names,
 * formats, names of threads cut by the kernel in the middle of a character) can be anything. A byte
 * that is no part of a well-formed character is written as U+EF00 + byte, of the private use area,
 * and so are the three bytes of a character that already lies there: reading undoes it without
 * exception.
 */
#include "writer/format/emit.h"

#include "writer/format/cmdline.h"
#include "writer/format/packet.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* [bytes] First allocation: a site's line and class fit. */
#define EMIT_ROOM 4096

void ktr__emit_free(struct ktr__emit *emit)
{
	free(emit->text);
	memset(emit, 0, sizeof(*emit));
}

/* Room for n bytes more; NULL, with failed set, when there is no memory. */
static char *emit_room(struct ktr__emit *emit, size_t n)
{
	size_t room = emit->room ? emit->room : EMIT_ROOM;
	char *text;

	if (emit->failed)
		return NULL;
	while (room - emit->n < n)
		room *= 2;
	if (room != emit->room) {
		text = realloc(emit->text, room);
		if (!text) {
			emit->failed = 1;
			return NULL;
		}
		emit->text = text;
		emit->room = room;
	}
	return emit->text + emit->n;
}

void ktr__emit_bytes(struct ktr__emit *emit, const char *bytes, size_t n)
{
	char *at = emit_room(emit, n);

	if (!at || !n)
		return;
	memcpy(at, bytes, n);
	emit->n += n;
}

void ktr__emit_text(struct ktr__emit *emit, const char *text)
{
	ktr__emit_bytes(emit, text, strlen(text));
}

void ktr__emit_format(struct ktr__emit *emit, const char *format, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n > 0)
		ktr__emit_bytes(emit, text,
				(size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

size_t ktr__utf8_length(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;
	size_t n;

	if (p[0] < 0x80)
		return p[0] != 0;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		n = 2;
	else if ((p[0] & 0xf0) == 0xe0)
		n = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

static void emit_json_string(struct ktr__emit *emit, const char *text)
{
	ktr__emit_text(emit, "\"");
	while (*text) {
		unsigned char c = (unsigned char)*text;
		size_t n = ktr__utf8_length(text);
		int raw = n == 3 && c == 0xee && ((unsigned char)text[1] & 0xfe) == 0xbe;

		if (c == '"' || c == '\\') {
			ktr__emit_format(emit, "\\%c", c);
		} else if (c < 0x20 || c == 0x7f) {
			ktr__emit_format(emit, "\\u%04x", c);
		} else if (!n || raw) {
			ktr__emit_format(emit, "\xee%c%c", 0xbe | (c >> 6 & 1), 0x80 | (c & 0x3f));
			n = 1;
		} else {
			ktr__emit_bytes(emit, text, n);
		}
		text += n;
	}
	ktr__emit_text(emit, "\"");
}

void ktr__json_begin(struct ktr__emit *emit)
{
	emit->line = emit->n;
	ktr__emit_text(emit, "{");
}

static const char emit_types[KTR_ARG_TYPES][6] = {
#define EMIT_TYPE(type, text, width) [KTR_ARG_##type] = #type,
	KTR_ARG_LIST(EMIT_TYPE)
#undef EMIT_TYPE
};

unsigned ktr__member_type(const char *name, size_t n)
{
	unsigned type = 0;

	while (type < KTR_ARG_TYPES && (strlen(emit_types[type]) != n || memcmp(emit_types[type], name, n) != 0))
		type++;
	return type;
}

static void emit_numbers(struct ktr__emit *emit, const uint8_t *value, unsigned n, int as_types)
{
	for (unsigned i = 0; i < n; i++)
		if (as_types)
			ktr__emit_format(emit, i ? ",\"%s\"" : "\"%s\"", emit_types[value[i]]);
		else
			ktr__emit_format(emit, i ? ",%u" : "%u", value[i]);
}

static void emit_octets(struct ktr__emit *emit, const uint8_t *bytes, unsigned n)
{
	ktr__emit_text(emit, "\"");
	while (n--)
		ktr__emit_format(emit, "%02x", *bytes++);
	ktr__emit_text(emit, "\"");
}

/* A text; where there is a map, that at an offset in the session. */
static void emit_string(struct ktr__emit *emit, unsigned kind, const union ktr__member_text *at,
			const struct ktr__session_map *map)
{
	char text[4096];
	const char *string = text;

	if (!map || kind == KTR__MEMBER_TEXT)
		string = at->text;
	else if (kind == KTR__MEMBER_STRING)
		ktr__map_string(map, at->offset, text, sizeof(text));
	else
		ktr__map_cmdline(map, at->offset, text, sizeof(text));
	emit_json_string(emit, string);
}

static void emit_value(struct ktr__emit *emit, unsigned kind, const void *at, const struct ktr__session_map *map)
{
	const struct ktr__member_octets *octets = at;
	const struct ktr__member_args *args = at;

	switch (kind) {
	case KTR__MEMBER_I64:
		ktr__emit_format(emit, "%" PRId64, *(const int64_t *)at);
		return;
	case KTR__MEMBER_HEX:
		ktr__emit_format(emit, "\"0x%" PRIx64 "\"", *(const uint64_t *)at);
		return;
	case KTR__MEMBER_BOOL:
		ktr__emit_text(emit, *(const uint64_t *)at ? "true" : "false");
		return;
	case KTR__MEMBER_ID:
		emit_octets(emit, ((const struct ktr__member_id *)at)->octet, 16);
		return;
	case KTR__MEMBER_OCTETS:
		emit_octets(emit, octets->octet, octets->n < KTR_BUILD_ID_MAX ? octets->n : KTR_BUILD_ID_MAX);
		return;
	case KTR__MEMBER_NUMBERS:
	case KTR__MEMBER_TYPES:
		ktr__emit_text(emit, "[");
		emit_numbers(emit, args->each, args->n, kind == KTR__MEMBER_TYPES);
		ktr__emit_text(emit, "]");
		return;
	case KTR__MEMBER_TEXT:
	case KTR__MEMBER_STRING:
	case KTR__MEMBER_CMDLINE:
		emit_string(emit, kind, at, map);
		return;
	default:
		ktr__emit_format(emit, "%" PRIu64, *(const uint64_t *)at & INT64_MAX);
	}
}

void ktr__json_members(struct ktr__emit *emit, const struct ktr__member *member, const void *row,
		       const struct ktr__session_map *map, int tail)
{
	for (; member->key[0]; member++) {
		if (member->kind == KTR__MEMBER_WOVEN || (member->kind == KTR__MEMBER_TAIL && !tail))
			continue;
		ktr__emit_format(emit, "%s\"%s\":", emit->n > emit->line + 1 ? "," : "", member->key);
		emit_value(emit, member->kind, (const char *)row + member->at, map);
	}
}

void ktr__json_undo(struct ktr__emit *emit)
{
	emit->n = emit->line;
}

void ktr__json_end(struct ktr__emit *emit)
{
	if (!emit_room(emit, KTR_LINE_TAIL + 1)) {
		ktr__json_undo(emit);
		return;
	}
	ktr__line_seal(emit->text + emit->line, emit->n - emit->line);
	emit->n += KTR_LINE_TAIL + 1;
}
