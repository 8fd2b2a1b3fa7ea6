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

int ktr__json_escape(const char *json, size_t n, ktr__json_put_fn *put, void *context)
{
	size_t run, length;
	char text[8];
	int rc = 0;

	while (n && !rc) {
		run = ktr__json_harmless(json, n);
		rc = run ? put(json, run, context) : 0;
		json += run;
		n -= run;
		if (!n || rc)
			break;
		length = ktr__utf8_char(json, n);
		snprintf(text, sizeof(text), "\\u%04x", json_print_code(json, length));
		rc = put(text, 6, context);
		json += length;
		n -= length;
	}
	return rc;
}

struct json_print {
	ktr__json_put_fn *put;
	void *context;
};

static int json_print_some(const char *bytes, size_t n, void *context)
{
	struct json_print *print = context;

	return ktr__json_escape(bytes, n, print->put, print->context) ? -1 : 0;
}

int ktr__json_print_to(const json_t *tree, ktr__json_put_fn *put, void *context, size_t flags)
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
