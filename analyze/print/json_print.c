/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON on its way out. What is escaped here can stand only within strings, so nothing has to be parsed; jansson
 * hands over runs of whole characters.
 */
#include "analyze/print/json_print.h"

#include "conf/kit/utf8.h"

#include <stdlib.h>

/* A character of two or three bytes, or DEL. */
static unsigned json_print_code(const char *bytes, size_t length)
{
	const unsigned char *p = (const unsigned char *)bytes;

	if (length == 1)
		return p[0];
	if (length == 2)
		return (unsigned)(p[0] & 0x1f) << 6 | (p[1] & 0x3f);
	return (unsigned)(p[0] & 0x0f) << 12 | (unsigned)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
}

/* Below a blank there is only what lies between members: jansson escapes it within strings. */
size_t ktr__json_harmless(const char *json, size_t n)
{
	size_t at = 0, length;

	for (;;) {
		at += ktr__utf8_plain(json + at, n - at);
		length = ktr__utf8_char(json + at, n - at);
		if (at == n ||
		    (length && (unsigned char)json[at] >= ' ' && ktr__utf8_is_control(json + at, length)))
			return at;
		at += length ? length : 1;
	}
}

struct json_print {
	json_dump_callback_t put;
	void *context;
};

/* Hands on JSON text, escaped. Characters are whole. 0, or -1: what put returned is not 0. */
static int json_print_some(const char *json, size_t n, void *context)
{
	const struct json_print *print = context;
	size_t at = 0, length;
	char text[8];

	while (at < n) {
		length = ktr__json_harmless(json + at, n - at);
		if (length && print->put(json + at, length, print->context))
			return -1;
		at += length;
		if (at == n)
			break;
		length = ktr__utf8_char(json + at, n - at);
		snprintf(text, sizeof(text), "\\u%04x", json_print_code(json + at, length));
		if (print->put(text, 6, print->context))
			return -1;
		at += length;
	}
	return 0;
}

int ktr__json_print_to(const json_t *tree, json_dump_callback_t put, void *context, size_t flags)
{
	struct json_print print = { put, context };

	return json_dump_callback(tree, json_print_some, &print, flags);
}

static int json_print_file(const char *bytes, size_t n, void *context)
{
	return fwrite(bytes, 1, n, context) != n;
}

int ktr__json_print(const json_t *tree, FILE *to, size_t flags)
{
	return ktr__json_print_to(tree, json_print_file, to, flags);
}

char *ktr__json_string(const json_t *tree, size_t flags)
{
	char *text = NULL;
	size_t n;
	FILE *to = open_memstream(&text, &n);
	int bad = !to || ktr__json_print(tree, to, flags);

	if (to && (fclose(to) || bad)) {
		free(text);
		text = NULL;
	}
	return text;
}
