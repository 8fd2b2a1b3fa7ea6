/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of the tables out of JSON lines. Lines are independent of each other, except that a thread
 * names the row of its process, so processes are read first.
 *
 * jansson's strings are well-formed UTF-8; bytes that were not are spelled as private characters,
 * which ktr__text_raw() turns back.
 */
#include "analyze/read/sidecar.h"
#include "writer/format/packet.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What procs.jsonl says, for the threads, by row; a row that is not there has no name. */
struct sidecar_proc {
	const char *name;
	uint64_t key;
};

struct sidecar_procs {
	struct sidecar_proc *row; /* owned */
	uint32_t n;
};

struct sidecar;

/* Takes one line: 0, -EINVAL (it makes no sense), or another -errno that ends the reading. */
typedef int sidecar_fn(struct sidecar *s, const json_t *row);

struct sidecar {
	struct ktr__tables *tables;
	struct sidecar_procs procs;
	sidecar_fn *fn;
	ktr__dropped_fn *dropped;
	ktr__from_fn *from;
	void *context;
};

/* ---- members of a line ---- */

static uint64_t sidecar_u64(const json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key);

	if (json_is_integer(value))
		return (uint64_t)json_integer_value(value);
	if (json_is_string(value))
		return strtoull(json_string_value(value), NULL, 0);
	return 0;
}

/* Numbers that do not fit come out as the largest, which is refused wherever it matters. */
static uint32_t sidecar_u32(const json_t *row, const char *key)
{
	uint64_t value = sidecar_u64(row, key);

	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/*
 * The text as it was before it became UTF-8, in the arena; "" where there is none, NULL without
 * memory.
 */
static const char *sidecar_text(struct sidecar *s, const json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key);
	const char *text = json_is_string(value) ? json_string_value(value) : "";
	char *copy = ktr__arena_copy(&s->tables->arena, text, strlen(text));

	if (copy)
		ktr__text_raw(copy);
	return copy;
}

static int sidecar_octets(const json_t *row, const char *key, uint8_t *bytes, size_t n)
{
	const char *text = json_string_value(json_object_get(row, key));

	for (size_t i = 0; i < n; i++) {
		unsigned octet;

		if (!text || sscanf(text + 2 * i, "%2x", &octet) != 1 || strlen(text) != 2 * n)
			return -EINVAL;
		bytes[i] = (uint8_t)octet;
	}
	return 0;
}

/* ---- lines ---- */

static int sidecar_type(const char *name, uint8_t *type)
{
	static const char *const names[KTR_ARG_TYPES] = {
#define SIDECAR_TYPE(type_name, text, width) [KTR_ARG_##type_name] = #type_name,
		KTR_ARG_LIST(SIDECAR_TYPE)
#undef SIDECAR_TYPE
	};

	for (unsigned i = 0; name && i < KTR_ARG_TYPES; i++)
		if (strcmp(name, names[i]) == 0) {
			*type = (uint8_t)i;
			return 0;
		}
	return -EINVAL;
}

static int sidecar_site_args(const json_t *row, struct ktr__site_text *text)
{
	const json_t *types = json_object_get(row, "types"), *how = json_object_get(row, "how");

	if (json_array_size(types) > KTR_ARGS_MAX)
		return -EINVAL;
	text->n_args = (unsigned)json_array_size(types);
	for (unsigned i = 0; i < text->n_args; i++) {
		text->how[i] = (uint8_t)json_integer_value(json_array_get(how, i));
		if (sidecar_type(json_string_value(json_array_get(types, i)), &text->type[i]))
			return -EINVAL;
	}
	return 0;
}

static int sidecar_site(struct sidecar *s, const json_t *row)
{
	struct ktr__site_text text = {
		.mask = sidecar_u64(row, "mask"),
		.line = sidecar_u32(row, "line"),
		.file = sidecar_text(s, row, "file"),
		.func = sidecar_text(s, row, "func"),
		.format = sidecar_text(s, row, "format"),
		.names = sidecar_text(s, row, "names"),
		.module = sidecar_text(s, row, "module"),
	};
	int rc = sidecar_site_args(row, &text);

	if (!text.file || !text.func || !text.format || !text.names || !text.module)
		return -ENOMEM;
	return rc ? rc : ktr__tables_site(s->tables, sidecar_u32(row, "site"), &text);
}

static struct ktr__end sidecar_end(const json_t *row)
{
	return (struct ktr__end){ .start_ns = sidecar_u64(row, "start_ns"),
				  .exit_ns = sidecar_u64(row, "exit_ns"),
				  .alive_ns = sidecar_u64(row, "alive_ns"),
				  .gone_ns = sidecar_u64(row, "gone_ns") };
}

static int sidecar_proc(struct sidecar *s, const json_t *row)
{
	uint32_t id = sidecar_u32(row, "proc");
	uint64_t key = sidecar_u64(row, "key"); /* of a trace that was made of others */
	struct sidecar_proc *grown;
	struct ktr__end end;

	if (id >= KTR__THREADS_MAX)
		return -EINVAL;
	if (id >= s->procs.n) {
		grown = realloc(s->procs.row, (size_t)(id * 2 + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		memset(grown + s->procs.n, 0, (size_t)(id * 2 + 1 - s->procs.n) * sizeof(*grown));
		s->procs.row = grown;
		s->procs.n = id * 2 + 1;
	}
	if (!key)
		key = ktr__process_key(sidecar_u32(row, "pid"), sidecar_u64(row, "pid_ns"),
				       sidecar_u64(row, "start_time"));
	s->procs.row[id] = (struct sidecar_proc){ sidecar_text(s, row, "name"), key };
	end = sidecar_end(row);
	return s->procs.row[id].name ? ktr__tables_process(s->tables, id, key, &end) : -ENOMEM;
}

static int sidecar_thread(struct sidecar *s, const json_t *row)
{
	static const struct sidecar_proc none = { "", 0 };
	uint32_t proc = sidecar_u32(row, "proc");
	const struct sidecar_proc *its = proc < s->procs.n && s->procs.row[proc].name ? &s->procs.row[proc] : &none;
	struct ktr__thread_text text = {
		.tid = sidecar_u32(row, "tid"),
		.pid = sidecar_u32(row, "pid"),
		.word = sidecar_u32(row, "word"),
		.proc = proc,
		.process_key = its->key,
		.name = sidecar_text(s, row, "name"),
		.process = its->name,
		.end = sidecar_end(row),
	};

	if (!text.name)
		return -ENOMEM;
	return ktr__tables_thread(s->tables, sidecar_u32(row, "thread"), &text);
}

static int sidecar_class(struct sidecar *s, const json_t *row)
{
	const char *name = sidecar_text(s, row, "name");

	return name ? ktr__tables_class(s->tables, sidecar_u32(row, "bit"), name) : -ENOMEM;
}

static int sidecar_module(struct sidecar *s, const json_t *row)
{
	size_t n = json_string_length(json_object_get(row, "build_id")) / 2;
	struct ktr__module_entry module = {
		.proc = sidecar_u32(row, "proc"),
		.base = sidecar_u64(row, "base"),
		.end = sidecar_u64(row, "end"),
		.path = sidecar_text(s, row, "path"),
		.n_build_id = (uint8_t)n,
	};

	if (n > KTR_BUILD_ID_MAX || (n && sidecar_octets(row, "build_id", module.build_id, n)))
		return -EINVAL;
	if (!module.path)
		return -ENOMEM;
	return ktr__tables_module(s->tables, sidecar_u32(row, "module"), &module);
}

static int sidecar_loss(struct sidecar *s, const json_t *row)
{
	const char *why = json_string_value(json_object_get(row, "why"));
	const char *stream = json_string_value(json_object_get(row, "stream"));

	if (!why || !stream)
		return -EINVAL;
	if (strcmp(why, "dropped") == 0)
		s->dropped(s->context, stream, sidecar_u64(row, "events"));
	return 0;
}

static int sidecar_from(struct sidecar *s, const json_t *row)
{
	const char *kind = json_string_value(json_object_get(row, "kind"));

	if (kind && strcmp(kind, "from") == 0 && json_is_false(json_object_get(row, "unread")))
		s->from(s->context, sidecar_u32(row, "ring"), sidecar_u64(row, "slot"), sidecar_u64(row, "index"));
	return 0;
}

/* ---- files ---- */

static int sidecar_line(void *context, const char *line, size_t n)
{
	struct sidecar *s = context;
	json_error_t why;
	json_t *row = json_loadb(line, n, 0, &why);
	int rc = json_is_object(row) ? s->fn(s, row) : -EINVAL;

	json_decref(row);
	return rc;
}

static int sidecar_read(struct sidecar *s, struct ktr__lines *lines, enum ktr_sidecar which,
			sidecar_fn *fn)
{
	s->fn = fn;
	return ktr__lines_read(lines, which, sidecar_line, s);
}

int ktr__sidecar_tables(struct ktr__lines *lines)
{
	struct sidecar s = { .tables = &lines->source->tables };
	int rc = sidecar_read(&s, lines, KTR_SIDECAR_CLASSES, sidecar_class);

	if (!rc)
		rc = sidecar_read(&s, lines, KTR_SIDECAR_SITES, sidecar_site);
	if (!rc)
		rc = sidecar_read(&s, lines, KTR_SIDECAR_PROCS, sidecar_proc);
	if (!rc)
		rc = sidecar_read(&s, lines, KTR_SIDECAR_THREADS, sidecar_thread);
	if (!rc)
		rc = sidecar_read(&s, lines, KTR_SIDECAR_MODULES, sidecar_module);
	free(s.procs.row);
	return rc;
}

int ktr__sidecar_dropped(struct ktr__lines *lines, ktr__dropped_fn *fn, void *context)
{
	struct sidecar s = { .dropped = fn, .context = context };

	return sidecar_read(&s, lines, KTR_SIDECAR_LOSSES, sidecar_loss);
}

int ktr__sidecar_from(struct ktr__lines *lines, ktr__from_fn *fn, void *context)
{
	struct sidecar s = { .from = fn, .context = context };

	return sidecar_read(&s, lines, KTR_SIDECAR_INFO, sidecar_from);
}
