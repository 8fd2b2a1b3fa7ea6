/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads our own metadata line by line: the head's members are one to a line, and so are event
 * classes. What does not look as writer/format/metadata.c writes it is passed over.
 */
#include "analyze/rewrite/tsdl.h"

#include "analyze/read/tables.h"
#include "writer/format/metadata.h"
#include "writer/format/packet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TSDL_MAX ((off_t)1 << 30) /* [bytes] more than all sites there can be */

static const char tsdl_mark[] = "/* ktr crc32c ";
static const char tsdl_event[] = "event { id = ";

int ktr__tsdl_load(struct ktr__tsdl *tsdl, int dir_fd)
{
	return ktr__lines_load(dir_fd, KTR_TRACE_METADATA, TSDL_MAX, &tsdl->text, &tsdl->n);
}

void ktr__tsdl_free(struct ktr__tsdl *tsdl)
{
	free(tsdl->text);
	tsdl->text = NULL;
	tsdl->n = 0;
}

/* The first line from `at` on that is a piece's checksum, as long as it must be. NULL: none. */
static const char *tsdl_find_mark(const struct ktr__tsdl *tsdl, const char *at)
{
	const char *end = tsdl->text + tsdl->n, *mark;

	for (; (mark = memmem(at, (size_t)(end - at), tsdl_mark, sizeof(tsdl_mark) - 1));
	     at = mark + 1)
		if (mark == tsdl->text || mark[-1] == '\n')
			return end - mark < KTR_METADATA_TAIL ? NULL : mark;
	return NULL;
}

int ktr__tsdl_piece(const struct ktr__tsdl *tsdl, size_t *from)
{
	const char *begin = tsdl->text + *from, *mark, *newline;
	size_t n;

	if (*from >= tsdl->n)
		return 0;
	mark = tsdl_find_mark(tsdl, begin);
	if (!mark) {
		*from = tsdl->n;
		return -ENODATA;
	}
	n = (size_t)(mark - begin) + KTR_METADATA_TAIL;
	if (ktr__metadata_check(begin, n) == n) {
		*from += n;
		return 1;
	}
	newline = memchr(mark, '\n', (size_t)(tsdl->text + tsdl->n - mark));
	*from = newline ? (size_t)(newline + 1 - tsdl->text) : tsdl->n;
	return -EBADMSG;
}

/* A quoted value, or a bare one up to ';', of the line at `at`. NULL without memory. */
static const char *tsdl_value(struct ktr__arena *arena, const char *at, const char *end)
{
	char text[4096];
	size_t n = 0;
	int quoted = at < end && *at == '"';

	for (at += quoted; at < end && *at != (quoted ? '"' : ';') && n < sizeof(text) - 1; at++) {
		if (*at == '\\' && at + 1 < end)
			at++;
		text[n++] = *at;
	}
	return ktr__arena_copy(arena, text, n);
}

/* The value of a member of the head: `\tkey = value;`. "" where there is none. */
static const char *tsdl_member(struct ktr__arena *arena, const char *from, const char *end,
			       const char *key)
{
	char line[48];
	int n = snprintf(line, sizeof(line), "\n\t%s = ", key);
	const char *at = memmem(from, (size_t)(end - from), line, (size_t)n);

	return at ? tsdl_value(arena, at + n, end) : "";
}

static void tsdl_uuid(const char *text, uint8_t *uuid)
{
	for (size_t i = 0; i < 16 && strlen(text) == 32; i++) {
		unsigned octet;

		if (sscanf(text + 2 * i, "%2x", &octet) == 1)
			uuid[i] = (uint8_t)octet;
	}
}

int ktr__tsdl_head(const struct ktr__tsdl *tsdl, struct ktr__arena *arena,
		   struct ktr__trace_head *head)
{
	const char *end, *tracer, *uuid, *seconds, *rest, *major;
	size_t n = 0;

	if (ktr__tsdl_piece(tsdl, &n) != 1)
		return -EPROTO;
	end = tsdl->text + n;
	tracer = tsdl_member(arena, tsdl->text, end, "tracer_name");
	major = tsdl_member(arena, tsdl->text, end, "tracer_major");
	head->name = tsdl_member(arena, tsdl->text, end, "session");
	head->host = tsdl_member(arena, tsdl->text, end, "hostname");
	head->cmdline = tsdl_member(arena, tsdl->text, end, "cmdline");
	uuid = tsdl_member(arena, tsdl->text, end, "uuid");
	seconds = tsdl_member(arena, tsdl->text, end, "offset_s");
	rest = tsdl_member(arena, tsdl->text, end, "offset");
	if (!tracer || !major || !head->name || !head->host || !head->cmdline || !uuid ||
	    !seconds || !rest)
		return -ENOMEM;
	head->format = (uint32_t)strtoul(major, NULL, 10);
	if (strcmp(tracer, "ktr") != 0 || head->format < KTR_TRACE_OLDEST || head->format > KTR_TRACE_MAJOR)
		return -EPROTO;
	head->clock_name = "?";
	tsdl_uuid(uuid, head->uuid);
	head->utc_offset_ns = (int64_t)(strtoull(seconds, NULL, 10) * 1000000000u +
					strtoull(rest, NULL, 10));
	return 0;
}

/* ---- event classes ---- */

/* The name of the field that ends before `end`, and where its type begins. */
struct tsdl_field {
	char type[8];
	char name[64];
	int is_stack;
};

static int tsdl_type(const char *name)
{
	for (int i = 0; i < KTR_ARG_TYPES; i++)
		if (ktr__metadata_types[i] && strcmp(ktr__metadata_types[i], name) == 0)
			return i;
	return -1;
}

/* The next field: 1, 0 after the last, -EPROTO. A stack's length comes as a field before it. */
static int tsdl_field(const char **at, struct tsdl_field *field)
{
	int n = 0;

	if (sscanf(*at, " %7[a-z0-9] %63[A-Za-z0-9_]%n", field->type, field->name, &n) != 2)
		return (*at)[0] == ' ' && (*at)[1] == '}' ? 0 : -EPROTO;
	*at += n;
	field->is_stack = **at == '[';
	*at = strchr(*at, ';');
	if (!*at)
		return -EPROTO;
	++*at;
	return 1;
}

static int tsdl_fields(const char *at, struct ktr__site_text *text, char *names, char *format,
		       size_t size)
{
	struct tsdl_field field;
	size_t n_names = 0, n_format = 0;
	int rc;

	while ((rc = tsdl_field(&at, &field)) > 0) {
		unsigned i = text->n_args;
		int type = field.is_stack ? KTR_ARG_STACK : tsdl_type(field.type);

		if (strncmp(field.name, "ktr_n", 5) == 0)
			continue;
		if (type < 0 || i == KTR_ARGS_MAX)
			return -EPROTO;
		text->type[i] = (uint8_t)type;
		text->how[i] = type == KTR_ARG_STR     ? KTR_HOW_COPY
			       : type == KTR_ARG_STACK ? KTR_HOW_STACK
						       : KTR_HOW_VALUE;
		text->n_args++;
		n_names += (size_t)snprintf(names + n_names, size - n_names, "%s%s", i ? "," : "",
					    field.name);
		n_format += (size_t)snprintf(format + n_format, size - n_format, "%s%s=%s",
					     i ? " " : "", field.name,
					     type == KTR_ARG_STR   ? "%s"
					     : type == KTR_ARG_F64 ? "%g"
					     : type == KTR_ARG_PTR ? "%p"
								   : "%d");
	}
	text->names = names;
	text->format = format;
	return rc;
}

/* Classes by name: "net|rx". */
static uint64_t tsdl_mask(const struct ktr__tables *tables, const char *name, size_t n)
{
	uint64_t mask = 0;

	while (n) {
		const char *bar = memchr(name, '|', n);
		size_t part = bar ? (size_t)(bar - name) : n;

		for (unsigned bit = 0; bit < KTR_CLASS_MAX; bit++)
			if (tables->class_name[bit] && strlen(tables->class_name[bit]) == part &&
			    memcmp(tables->class_name[bit], name, part) == 0)
				mask |= 1ull << bit;
		name += part + (bar != NULL);
		n -= part + (bar != NULL);
	}
	return mask;
}

/* Behind the first place of a text that is not within quotes; NULL: there is none. */
static const char *tsdl_behind(const char *at, const char *end, const char *text)
{
	size_t n = strlen(text);
	int quoted = 0;

	for (; n <= (size_t)(end - at); at++) {
		if (!quoted && memcmp(at, text, n) == 0)
			return at + n;
		if (*at == '"')
			quoted = !quoted;
		else if (quoted && *at == '\\' && at + 1 < end)
			at++;
	}
	return NULL;
}

/* One event class: 1 when it was added, 0 when not, -ENOMEM. */
static int tsdl_site(struct ktr__tables *tables, const char *line, const char *end)
{
	const char *name = tsdl_behind(line, end, "; name = ");
	const char *uri = tsdl_behind(line, end, "; model.emf.uri = ");
	const char *at = tsdl_behind(line, end, "; fields := struct {");
	unsigned long id = strtoul(line + sizeof(tsdl_event) - 1, NULL, 10);
	char names[512] = "", format[768] = "", *colon;
	struct ktr__site_text text = { .module = "", .func = "?" };
	char *file;
	int rc;

	if (!name || *name != '"' || !uri || *uri != '"' || !at || id % 2 || id / 2 >= KTR__SITES_MAX || !id ||
	    (id / 2 < tables->n_sites && tables->site[id / 2]))
		return 0;
	file = (char *)(uintptr_t)tsdl_value(&tables->arena, uri, end);
	if (!file)
		return -ENOMEM;
	colon = strrchr(file, ':');
	if (!colon || tsdl_fields(at, &text, names, format, sizeof(names)))
		return 0;
	*colon = 0;
	text.file = file;
	text.line = (uint32_t)strtoul(colon + 1, NULL, 10);
	text.mask = tsdl_mask(tables, name + 1, strcspn(name + 1, ":\""));
	rc = ktr__tables_site(tables, (uint32_t)(id / 2), &text);
	return rc == -EINVAL ? 0 : rc ? rc : 1;
}

int ktr__tsdl_sites(const struct ktr__tsdl *tsdl, struct ktr__tables *tables)
{
	const char *at = tsdl->text, *end = tsdl->text + tsdl->n;
	int n = 0, rc = 0;

	while (rc >= 0 &&
	       (at = memmem(at, (size_t)(end - at), tsdl_event, sizeof(tsdl_event) - 1))) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		if (!newline)
			break;
		if (at == tsdl->text || at[-1] == '\n')
			rc = tsdl_site(tables, at, newline);
		n += rc > 0;
		at = newline;
	}
	return rc < 0 ? rc : n;
}
