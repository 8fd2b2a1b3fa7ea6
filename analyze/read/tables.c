/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of sites, threads, classes and modules.
 *
 * Rows and their strings live in the arena and stay where they are; the arrays over them grow
 * while the source is opened. Site 0 stands for every call site whose description was not to be
 * had: its arguments are the six raw words.
 *
 * Threads of a trace are found by the word in their events. Lives of one tid that share a word are
 * chained, the last to start first.
 */
#include "analyze/read/tables.h"

#include "analyze/print/render_plan.h"
#include "analyze/read/ktrgraph.h"
#include "analyze/stats/ends.h"
#include "conf/kit/array.h"
#include "conf/kit/hash.h"
#include "ktr/session/class_name.h"
#include "writer/format/ident.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLES_STRANGERS 32u /* threads without a row that get one */

/* 0 or -ENOMEM. n_sites is the length of both arrays: what only one has room for is room. */
static int tables_site_room(struct ktr__tables *tables, uint32_t id)
{
	uint32_t n = tables->n_sites;
	int rc = ktr__array_grow(&tables->program, &n, id, sizeof(*tables->program));

	return rc ? rc : ktr__array_grow(&tables->site, &tables->n_sites, id, sizeof(struct ktr_reader_site *));
}

static int tables_thread_room(struct ktr__tables *tables, uint32_t id)
{
	return ktr__array_grow(&tables->thread, &tables->n_threads, id, sizeof(struct ktr__thread *));
}

static int tables_unknown_site(struct ktr__tables *tables)
{
	struct ktr_reader_site *site = &tables->unknown;
	static const char *const names[KTR_ARGS_MAX] = { "arg0", "arg1", "arg2",
							 "arg3", "arg4", "arg5" };

	site->class_name = "none";
	site->name = "?:0";
	site->file = "?";
	site->func = "?";
	site->format = "(unknown call site) 0x%jx 0x%jx 0x%jx 0x%jx 0x%jx 0x%jx";
	site->module = "";
	site->value_arg = -1;
	site->n_args = KTR_ARGS_MAX;
	for (unsigned i = 0; i < KTR_ARGS_MAX; i++) {
		site->arg[i].name = names[i];
		site->arg[i].type = KTR_ARG_U64;
	}
	return ktr__render_prepare(site, &tables->arena);
}

int ktr__tables_init(struct ktr__tables *tables)
{
	int rc = 0;

	memset(tables, 0, sizeof(*tables));
	for (unsigned bit = 0; bit < KTR_CLASS_APP_FIRST && !rc; bit++) {
		char name[KTR_CLASS_NAME_MAX];

		ktr__class_name(bit, name);
		rc = ktr__tables_class(tables, bit, name);
	}
	tables->nobody.thread.name = "?";
	tables->nobody.thread.process = "";
	if (!rc)
		rc = tables_site_room(tables, 0);
	if (!rc)
		rc = tables_thread_room(tables, 0);
	if (rc)
		return rc;
	tables->site[0] = &tables->unknown;
	tables->thread[0] = &tables->nobody;
	return tables_unknown_site(tables);
}

void ktr__tables_free(struct ktr__tables *tables)
{
	free(tables->site);
	free(tables->program);
	free(tables->thread);
	free(tables->process);
	free(tables->module);
	free(tables->word);
	ktr__arena_free(&tables->arena);
}

int ktr__tables_class(struct ktr__tables *tables, unsigned bit, const char *name)
{
	if (bit >= KTR_CLASS_MAX || !name[0])
		return -EINVAL;
	tables->class_name[bit] = ktr__arena_copy(&tables->arena, name, strlen(name));
	return tables->class_name[bit] ? 0 : -ENOMEM;
}

/* "file.c:42"; what is made at run time stands in no line. */
static const char *tables_site_name(struct ktr__arena *arena, const char *file, uint32_t line)
{
	const char *base = ktr__ident_base(file);
	size_t n = strlen(base) + sizeof(":4294967295");
	char *name = ktr__arena_alloc(arena, n);

	if (name)
		snprintf(name, n, line ? "%s:%u" : "%s", base, line);
	return name;
}

static const char *tables_copy(struct ktr__arena *arena, const char *text)
{
	return ktr__arena_copy(arena, text ? text : "", text ? strlen(text) : 0);
}

static int tables_site_strings(struct ktr__arena *arena, struct ktr_reader_site *site,
			       const struct ktr__site_text *text)
{
	site->file = tables_copy(arena, text->file);
	site->func = tables_copy(arena, text->func);
	site->format = tables_copy(arena, text->format);
	site->module = tables_copy(arena, text->module);
	site->name = tables_site_name(arena, text->file ? text->file : "", text->line);
	site->class_name = "";
	return site->file && site->func && site->format && site->module && site->name ? 0 : -ENOMEM;
}

/* What an argument is once it has been recorded. -EINVAL: no such type. */
static int tables_arg_type(uint8_t type, uint8_t how, enum ktr_arg_type *out)
{
	if (type == KTR_ARG_NONE || type >= KTR_ARG_TYPES)
		return -EINVAL;
	if (how == KTR_HOW_STACK)
		*out = KTR_ARG_STACK;
	else if (how != KTR_HOW_VALUE)
		*out = KTR_ARG_STR;
	else if (type == KTR_ARG_STR || type == KTR_ARG_STACK)
		*out = KTR_ARG_PTR; /* a string that is printed as a pointer was not copied */
	else
		*out = (enum ktr_arg_type)type;
	return 0;
}

int ktr__tables_site(struct ktr__tables *tables, uint32_t id, const struct ktr__site_text *text)
{
	struct ktr__arena *arena = &tables->arena;
	uint8_t type[KTR_ARGS_MAX];
	struct ktr_reader_site *site;
	int rc;

	if (id == 0 || id >= KTR__SITES_MAX || text->n_args > KTR_ARGS_MAX)
		return -EINVAL;
	rc = tables_site_room(tables, id);
	site = rc ? NULL : ktr__arena_alloc(arena, sizeof(*site));
	if (!site)
		return -ENOMEM;
	site->id = id;
	site->mask = text->mask;
	site->line = text->line;
	site->n_args = text->n_args;
	for (unsigned i = 0; i < text->n_args; i++) {
		if (tables_arg_type(text->type[i], text->how[i], &site->arg[i].type))
			return -EINVAL;
		type[i] = (uint8_t)site->arg[i].type;
		if (type[i] == KTR_ARG_STR || type[i] == KTR_ARG_STACK)
			site->in_str |= 1u << i;
	}
	rc = tables_site_strings(arena, site, text);
	if (!rc)
		rc = ktr__ktrgraph_names(site, text->names ? text->names : "", arena);
	if (!rc)
		rc = ktr__ktrgraph_parse(site, arena);
	if (!rc)
		rc = ktr__ktrgraph_unique(site, arena);
	if (!rc)
		rc = ktr__render_prepare(site, arena);
	if (!rc)
		rc = ktr__program_make(&tables->program[id], site->n_args, type);
	if (!rc)
		tables->site[id] = site;
	tables->changed = 1;
	return rc;
}

/* The highest bit keeps apart what is a pid and no more. */
uint64_t ktr__process_key(uint32_t pid, uint64_t pid_ns, uint64_t start_time)
{
	return ktr__hash_word(ktr__hash_word(ktr__hash_word(0, pid), pid_ns), start_time) | 1ull << 63;
}

/* What is known of an end from two places. */
static void tables_keep_end(struct ktr__end *end, const struct ktr__end *old)
{
	if (!end->exit_ns)
		end->exit_ns = old->exit_ns;
	if (end->alive_ns < old->alive_ns)
		end->alive_ns = old->alive_ns;
	if (old->gone_ns && (!end->gone_ns || old->gone_ns < end->gone_ns))
		end->gone_ns = old->gone_ns;
	end->last_ns = old->last_ns;
}

int ktr__tables_process(struct ktr__tables *tables, uint32_t id, uint64_t key, const struct ktr__end *end)
{
	struct ktr__end known = *end;
	struct ktr__process *row;
	int rc;

	if (id == 0 || id >= KTR__THREADS_MAX)
		return -EINVAL;
	rc = ktr__array_grow(&tables->process, &tables->n_processes, id, sizeof(struct ktr__process *));
	if (rc)
		return rc;
	row = tables->process[id];
	if (row && row->key == key && row->end.start_ns == end->start_ns)
		tables_keep_end(&known, &row->end);
	else
		row = ktr__arena_alloc(&tables->arena, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->key = key;
	row->end = known;
	tables->process[id] = row;
	tables->changed = 1;
	return 0;
}

int ktr__tables_thread(struct ktr__tables *tables, uint32_t id, const struct ktr__thread_text *text)
{
	const struct ktr__thread *old;
	struct ktr__thread *row;
	int rc;

	if (id == 0 || id >= KTR__THREADS_MAX)
		return -EINVAL;
	rc = tables_thread_room(tables, id);
	row = rc ? NULL : ktr__arena_alloc(&tables->arena, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->word = text->word;
	row->proc = text->proc;
	row->process_key = text->process_key ? text->process_key : text->pid;
	row->thread.id = id;
	row->thread.tid = text->tid;
	row->thread.pid = text->pid;
	row->end = text->end;
	old = tables->thread[id];
	if (old && old->thread.tid == text->tid && old->end.start_ns == text->end.start_ns) {
		tables_keep_end(&row->end, &old->end);
		/* A session does not know it, and packets of its trace name the thread by it. */
		if (!row->word)
			row->word = old->word;
	}
	row->thread.start_ns = row->end.start_ns;
	row->thread.exit_ns = row->end.exit_ns;
	row->thread.name = tables_copy(&tables->arena, text->name);
	row->thread.process = tables_copy(&tables->arena, text->process);
	if (!row->thread.name || !row->thread.process)
		return -ENOMEM;
	tables->thread[id] = row;
	tables->changed = 1;
	return 0;
}

int ktr__tables_module(struct ktr__tables *tables, uint32_t id, const struct ktr__module_entry *module)
{
	struct ktr__module_entry *row;
	int rc;

	if (id == 0 || id >= KTR__MODULES_MAX || module->end <= module->base ||
	    module->n_build_id > KTR_BUILD_ID_MAX)
		return -EINVAL;
	rc = ktr__array_grow(&tables->module, &tables->n_modules, id, sizeof(struct ktr__module_entry *));
	row = rc ? NULL : ktr__arena_alloc(&tables->arena, sizeof(*row));
	if (!row)
		return -ENOMEM;
	*row = *module;
	tables->module[id] = row;
	return 0;
}

/* "sched", "net|rx", "none"; a class without a name is its number. */
static const char *tables_mask_text(struct ktr__tables *tables, uint64_t mask)
{
	char text[KTR_CLASS_MAX * (KTR_CLASS_NAME_MAX + 1)], *to = text;
	size_t room = sizeof(text);

	if (mask == KTR_ALL)
		return "all";
	if (!mask)
		return "none";
	for (unsigned bit = 0; bit < KTR_CLASS_MAX; bit++) {
		const char *name = tables->class_name[bit];
		int n;

		if (!(mask >> bit & 1))
			continue;
		n = name ? snprintf(to, room, "%s%.*s", to == text ? "" : "|", KTR_CLASS_NAME_MAX,
				    name)
			 : snprintf(to, room, "%s0x%llx", to == text ? "" : "|", 1ull << bit);
		if (n < 0 || (size_t)n >= room)
			break;
		to += n;
		room -= (size_t)n;
	}
	return ktr__arena_copy(&tables->arena, text, (size_t)(to - text));
}

static int tables_name_classes(struct ktr__tables *tables)
{
	const char *last = "none";
	uint64_t last_mask = 0;

	for (uint32_t id = 1; id < tables->n_sites; id++) {
		if (!tables->site[id])
			continue;
		if (tables->site[id]->mask != last_mask)
			last = tables_mask_text(tables, tables->site[id]->mask);
		if (!last)
			return -ENOMEM;
		last_mask = tables->site[id]->mask;
		tables->site[id]->class_name = last;
	}
	return 0;
}

static uint32_t tables_word_slot(const struct ktr__tables *tables, uint32_t word)
{
	uint32_t at = (word * 0x9e3779b1u) >> 8;

	for (;; at++) {
		struct ktr__thread *there = tables->word[at & (tables->n_words - 1)];

		if (!there || there->word == word)
			return at & (tables->n_words - 1);
	}
}

/* Puts a thread into the chain of its word, the last to start in front. */
static void tables_add_word(struct ktr__tables *tables, struct ktr__thread *thread)
{
	struct ktr__thread **at = &tables->word[tables_word_slot(tables, thread->word)];

	thread->same = NULL;
	while (*at && (*at)->thread.start_ns > thread->thread.start_ns)
		at = &(*at)->same;
	thread->same = *at;
	*at = thread;
}

/* Room for rows of threads that nothing tells of, after all others. 0 or -ENOMEM. */
static int tables_strangers(struct ktr__tables *tables)
{
	uint32_t last = tables->n_threads;

	while (last && !tables->thread[last - 1])
		last--;
	tables->n_strangers = TABLES_STRANGERS;
	return last + TABLES_STRANGERS < KTR__THREADS_MAX
		       ? tables_thread_room(tables, last + TABLES_STRANGERS)
		       : 0;
}

int ktr__tables_finish(struct ktr__tables *tables)
{
	uint32_t n = 64;
	int rc;

	if (tables->word && !tables->changed)
		return 0;
	rc = tables_name_classes(tables);
	if (rc)
		return rc;
	tables->changed = 0;
	rc = tables_strangers(tables);
	if (!rc)
		rc = ktr__ends_resolve(tables);
	if (rc)
		return rc;
	while (n < tables->n_threads * 2)
		n *= 2;
	free(tables->word);
	tables->word = calloc(n, sizeof(*tables->word));
	if (!tables->word)
		return -ENOMEM;
	tables->n_words = n;
	for (uint32_t row = 1; row < tables->n_threads; row++)
		if (tables->thread[row] && tables->thread[row]->word)
			tables_add_word(tables, tables->thread[row]);
	return 0;
}

const struct ktr_reader_thread *ktr__tables_stranger(struct ktr__tables *tables, uint32_t word)
{
	struct ktr__thread *row;
	uint32_t id = tables->n_threads - tables->n_strangers;

	if (!word || !tables->n_strangers || id >= tables->n_threads || tables->thread[id])
		return &tables->nobody.thread;
	row = ktr__arena_alloc(&tables->arena, sizeof(*row));
	if (!row)
		return &tables->nobody.thread;
	row->word = word;
	row->thread = tables->nobody.thread;
	row->thread.id = id;
	row->thread.tid = word & KTR_WORD_TID;
	tables->n_strangers--;
	tables->thread[id] = row;
	tables_add_word(tables, row);
	return &row->thread;
}

const struct ktr_reader_thread *ktr__tables_by_row(const struct ktr__tables *tables, uint32_t row)
{
	if (row < tables->n_threads && tables->thread[row])
		return &tables->thread[row]->thread;
	return &tables->nobody.thread;
}

const struct ktr_reader_thread *ktr__tables_by_word(const struct ktr__tables *tables, uint32_t word,
						    uint64_t time_ns)
{
	const struct ktr__thread *thread;

	if (!word)
		return &tables->nobody.thread;
	thread = tables->word[tables_word_slot(tables, word)];
	if (!thread)
		return &tables->nobody.thread;
	while (thread->same && thread->thread.start_ns > time_ns)
		thread = thread->same;
	return &thread->thread;
}
