/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of the tables out of JSON lines. Lines are independent of each other, except that a thread
 * names the row of its process, so processes are read first.
 *
 * jansson's strings are well-formed UTF-8; bytes that were not are spelled as private characters,
 * which ktr__text_raw() turns back.
 */
#include "analyze/read/sidecar.h"

#include "analyze/read/tables.h"
#include "conf/kit/array.h"
#include "writer/format/packet.h"

#include <errno.h>
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

union sidecar_line {
	struct ktr__line_class class_;
	struct ktr__line_site site;
	struct ktr__line_proc proc;
	struct ktr__line_thread thread;
	struct ktr__line_module module;
	struct ktr__line_loss loss;
	struct ktr__line_from from;
};

/* Takes one line: 0, -EINVAL (it makes no sense), or another -errno that ends the reading. */
typedef int sidecar_fn(struct sidecar *s, const union sidecar_line *line);

struct sidecar {
	struct ktr__tables *tables;
	struct sidecar_procs procs;
	const struct ktr__member *member;
	sidecar_fn *fn;
	ktr__dropped_fn *dropped;
	ktr__from_fn *from;
	void *context;
};

/* ---- members of a line ---- */

static uint64_t sidecar_number(const json_t *value)
{
	if (json_is_integer(value))
		return (uint64_t)json_integer_value(value);
	if (json_is_string(value))
		return strtoull(json_string_value(value), NULL, 0);
	return 0;
}

/* Numbers that do not fit come out as the largest, which is refused wherever it matters. */
static uint32_t sidecar_u32(uint64_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* n octets, and no more. */
static int sidecar_octets(const json_t *value, uint8_t *octets, size_t n)
{
	const char *text = json_string_value(value);

	for (size_t i = 0; i < n; i++) {
		unsigned octet;

		if (!text || sscanf(text + 2 * i, "%2x", &octet) != 1 || strlen(text) != 2 * n)
			return -EINVAL;
		octets[i] = (uint8_t)octet;
	}
	return 0;
}

static int sidecar_type(const json_t *value, uint8_t *type)
{
	const char *name = json_string_value(value);
	unsigned one = name ? ktr__member_type(name, strlen(name)) : KTR_ARG_TYPES;

	*type = (uint8_t)one;
	return one < KTR_ARG_TYPES ? 0 : -EINVAL;
}

static int sidecar_args(const json_t *value, unsigned kind, struct ktr__member_args *args)
{
	size_t n = json_array_size(value);

	if (n > KTR_ARGS_MAX)
		return -EINVAL;
	args->n = (uint8_t)n;
	for (size_t i = 0; i < n; i++) {
		const json_t *one = json_array_get(value, i);

		if (kind == KTR__MEMBER_NUMBERS)
			args->each[i] = (uint8_t)json_integer_value(one);
		else if (sidecar_type(one, &args->each[i]))
			return -EINVAL;
	}
	return 0;
}

static int sidecar_build_id(const json_t *value, struct ktr__member_octets *octets)
{
	size_t n = json_string_length(value) / 2;

	if (n > KTR_BUILD_ID_MAX || json_string_length(value) % 2)
		return -EINVAL;
	octets->n = (uint8_t)n;
	return sidecar_octets(value, octets->octet, n);
}

static int sidecar_member(const json_t *value, unsigned kind, void *at)
{
	const char *text = json_string_value(value);
	struct ktr__member_id *id = at;

	switch (kind) {
	case KTR__MEMBER_TEXT:
	case KTR__MEMBER_STRING:
	case KTR__MEMBER_CMDLINE:
		((union ktr__member_text *)at)->text = text ? text : "";
		return 0;
	case KTR__MEMBER_BOOL:
		*(uint64_t *)at = json_is_true(value);
		return 0;
	case KTR__MEMBER_TYPES:
	case KTR__MEMBER_NUMBERS:
		return sidecar_args(value, kind, at);
	case KTR__MEMBER_OCTETS:
		return sidecar_build_id(value, at);
	case KTR__MEMBER_ID:
		/* Without one it is all zero; where one is needed, that is seen. */
		if (sidecar_octets(value, id->octet, sizeof(id->octet)))
			memset(id, 0, sizeof(*id));
		return 0;
	default:
		*(uint64_t *)at = sidecar_number(value);
		return 0;
	}
}

int ktr__sidecar_parse(const json_t *row, const struct ktr__member *member, void *line)
{
	int rc = 0;

	for (; member->key[0] && !rc; member++)
		rc = sidecar_member(json_object_get(row, member->key), member->kind, (char *)line + member->at);
	return rc;
}

const char *ktr__sidecar_text(struct ktr__tables *tables, union ktr__member_text text)
{
	char *copy = ktr__arena_copy(&tables->arena, text.text, strlen(text.text));

	if (copy)
		ktr__text_raw(copy);
	return copy;
}

static int sidecar_site(struct sidecar *s, const union sidecar_line *line)
{
	const struct ktr__line_site *site = &line->site;
	struct ktr__site_text text = {
		.mask = site->mask,
		.line = sidecar_u32(site->line),
		.file = ktr__sidecar_text(s->tables, site->file),
		.func = ktr__sidecar_text(s->tables, site->func),
		.format = ktr__sidecar_text(s->tables, site->format),
		.names = ktr__sidecar_text(s->tables, site->names),
		.module = ktr__sidecar_text(s->tables, site->module),
		.n_args = site->types.n,
	};

	memcpy(text.type, site->types.each, sizeof(site->types.each));
	memcpy(text.how, site->how.each, site->types.n);
	if (!text.file || !text.func || !text.format || !text.names || !text.module)
		return -ENOMEM;
	return ktr__tables_site(s->tables, sidecar_u32(site->site), &text);
}

static int sidecar_proc(struct sidecar *s, const union sidecar_line *line)
{
	const struct ktr__line_proc *proc = &line->proc;
	const struct ktr__end end = { proc->start_ns, proc->exit_ns, proc->alive_ns, proc->gone_ns, 0 };
	uint32_t id = sidecar_u32(proc->proc);
	uint64_t key = proc->key; /* of a trace that was made of others */

	if (id >= KTR__THREADS_MAX)
		return -EINVAL;
	if (ktr__array_grow(&s->procs.row, &s->procs.n, id, sizeof(*s->procs.row)))
		return -ENOMEM;
	if (!key)
		key = ktr__process_key(sidecar_u32(proc->pid), proc->pid_ns, proc->start_time);
	s->procs.row[id] = (struct sidecar_proc){ ktr__sidecar_text(s->tables, proc->name), key };
	return s->procs.row[id].name ? ktr__tables_process(s->tables, id, key, &end) : -ENOMEM;
}

static int sidecar_thread(struct sidecar *s, const union sidecar_line *line)
{
	static const struct sidecar_proc none = { "", 0 };
	const struct ktr__line_thread *thread = &line->thread;
	uint32_t proc = sidecar_u32(thread->proc);
	const struct sidecar_proc *its = proc < s->procs.n && s->procs.row[proc].name ? &s->procs.row[proc] : &none;
	struct ktr__thread_text text = {
		.tid = sidecar_u32(thread->tid),
		.pid = sidecar_u32(thread->pid),
		.word = sidecar_u32(thread->word),
		.proc = proc,
		.process_key = its->key,
		.name = ktr__sidecar_text(s->tables, thread->name),
		.process = its->name,
		.end = { thread->start_ns, thread->exit_ns, thread->alive_ns, thread->gone_ns, 0 },
	};

	if (!text.name)
		return -ENOMEM;
	return ktr__tables_thread(s->tables, sidecar_u32(thread->thread), &text);
}

static int sidecar_class(struct sidecar *s, const union sidecar_line *line)
{
	const char *name = ktr__sidecar_text(s->tables, line->class_.name);

	return name ? ktr__tables_class(s->tables, sidecar_u32(line->class_.bit), name) : -ENOMEM;
}

static int sidecar_module(struct sidecar *s, const union sidecar_line *line)
{
	struct ktr__module_entry module = {
		.proc = sidecar_u32(line->module.proc),
		.base = line->module.base,
		.end = line->module.end,
		.path = ktr__sidecar_text(s->tables, line->module.path),
		.n_build_id = line->module.build_id.n,
	};

	memcpy(module.build_id, line->module.build_id.octet, sizeof(module.build_id));
	if (!module.path)
		return -ENOMEM;
	return ktr__tables_module(s->tables, sidecar_u32(line->module.module), &module);
}

static int sidecar_loss(struct sidecar *s, const union sidecar_line *line)
{
	const struct ktr__line_loss *loss = &line->loss;

	if (!loss->why.text[0] || !loss->stream.text[0])
		return -EINVAL;
	if (strcmp(loss->why.text, "dropped") == 0)
		s->dropped(s->context, loss->stream.text, loss->events);
	return 0;
}

static int sidecar_from(struct sidecar *s, const union sidecar_line *line)
{
	const struct ktr__line_from *from = &line->from;

	if (strcmp(from->kind.text, "from") == 0 && !from->unread)
		s->from(s->context, sidecar_u32(from->ring), from->slot, from->index);
	return 0;
}

/* ---- files ---- */

static int sidecar_line(void *context, const char *line, size_t n)
{
	struct sidecar *s = context;
	json_error_t why;
	json_t *row = json_loadb(line, n, 0, &why);
	union sidecar_line parsed;
	int rc = -EINVAL;

	memset(&parsed, 0, sizeof(parsed));
	if (json_is_object(row))
		rc = ktr__sidecar_parse(row, s->member, &parsed);
	if (!rc)
		rc = s->fn(s, &parsed);
	json_decref(row);
	return rc;
}

static int sidecar_read(struct sidecar *s, struct ktr__lines *lines, enum ktr_sidecar which,
			const struct ktr__member *member, sidecar_fn *fn)
{
	s->member = member;
	s->fn = fn;
	return ktr__lines_read(lines, which, sidecar_line, s);
}

int ktr__sidecar_tables(struct ktr__lines *lines)
{
	struct sidecar s = { .tables = &lines->source->tables };
	int rc = sidecar_read(&s, lines, KTR_SIDECAR_CLASSES, ktr__line_class, sidecar_class);

	if (!rc)
		rc = sidecar_read(&s, lines, KTR_SIDECAR_SITES, ktr__line_site, sidecar_site);
	if (!rc)
		rc = sidecar_read(&s, lines, KTR_SIDECAR_PROCS, ktr__line_proc, sidecar_proc);
	if (!rc)
		rc = sidecar_read(&s, lines, KTR_SIDECAR_THREADS, ktr__line_thread, sidecar_thread);
	if (!rc)
		rc = sidecar_read(&s, lines, KTR_SIDECAR_MODULES, ktr__line_module, sidecar_module);
	free(s.procs.row);
	return rc;
}

int ktr__sidecar_dropped(struct ktr__lines *lines, ktr__dropped_fn *fn, void *context)
{
	struct sidecar s = { .dropped = fn, .context = context };

	return sidecar_read(&s, lines, KTR_SIDECAR_LOSSES, ktr__line_loss, sidecar_loss);
}

int ktr__sidecar_from(struct ktr__lines *lines, ktr__from_fn *fn, void *context)
{
	struct sidecar s = { .from = fn, .context = context };

	return sidecar_read(&s, lines, KTR_SIDECAR_INFO, ktr__line_from, sidecar_from);
}
