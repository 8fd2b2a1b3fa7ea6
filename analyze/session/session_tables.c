/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of a session into those of a reader: sites, threads, modules and classes. Rows are untrusted;
 * what makes no sense is noted. Followed, the rows that have come are read again and again.
 */
#include "analyze/session/session_tables.h"

#include "analyze/read/source.h"
#include "analyze/read/tables.h"
#include "analyze/session/session_cursor.h"
#include "analyze/session/session_feed.h"
#include "analyze/session/session_source.h"
#include "analyze/stats/ends.h"
#include "conf/kit/array.h"
#include "writer/format/life.h"

#include <errno.h>
#include <string.h>

#define SESSION_TEXT  4096 /* [bytes] the longest string of a table; more is cut */
#define SESSION_AGAIN 64u  /* rows of a table that may be being filled in */

/* A string of the session, owned by the tables' arena; NULL without memory. */
static const char *session_text(struct ktr__session_feed *o, uint32_t offset)
{
	char text[SESSION_TEXT];
	int n = ktr__map_string(&o->map, offset, text, sizeof(text));

	return ktr__arena_copy(&o->source->tables.arena, text, n < 0 ? 0 : (size_t)n);
}

/* 0 or -ENOMEM */
static int session_literals(struct ktr__session_feed *o, uint32_t id, const struct ktr_site_row *row)
{
	char text[KTR_LITERALS_MAX];
	struct ktr__session_site *site;

	if (ktr__array_grow(&o->site, &o->n_sites, id, sizeof(*o->site)))
		return -ENOMEM;
	site = &o->site[id];
	site->is_read = 1;
	site->in_literals = ktr__map_literals(&o->map, row, text);
	if (site->in_literals)
		site->literals = ktr__arena_copy(&o->source->tables.arena, text, sizeof(text));
	return site->in_literals && !site->literals ? -ENOMEM : 0;
}

static int session_site(struct ktr__session_feed *o, uint32_t id)
{
	struct ktr__site_text text;
	struct ktr_site_row row;
	int rc = ktr__map_site(&o->map, id, &row);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	memset(&text, 0, sizeof(text));
	text.mask = row.mask;
	text.line = row.line;
	text.file = session_text(o, row.file);
	text.func = session_text(o, row.func);
	text.format = session_text(o, row.format);
	text.names = session_text(o, row.names);
	text.module = session_text(o, row.module);
	text.n_args = row.n_args;
	memcpy(text.type, row.type, sizeof(text.type));
	memcpy(text.how, row.how, sizeof(text.how));
	if (!text.file || !text.func || !text.format || !text.names || !text.module)
		return -ENOMEM;
	rc = session_literals(o, id, &row);
	if (!rc)
		rc = ktr__tables_site(&o->source->tables, id, &text);
	if (rc == -EINVAL)
		ktr__source_note(o->source, 1, "%s: call site %u makes no sense", o->path, id);
	return rc == -EINVAL ? 0 : rc;
}

/* Those of a session that nobody is in, and those that are not there; of processes elsewhere nobody says. */
static int session_is_gone(const struct ktr__session_feed *o, const struct ktr_proc_row *row)
{
	return row->state == KTR_ROW_READY &&
	       (o->alive == 0 || (row->pid_ns == ktr__proc_own_ns() && !ktr__proc_alive(row)));
}

static int session_proc(struct ktr__session_feed *o, uint32_t id)
{
	struct ktr_proc_row row;
	struct ktr__end end = { 0 };
	int rc = ktr__map_proc(&o->map, id, &row);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	end.start_ns = row.start_ns;
	end.exit_ns = row.exit_ns;
	end.gone_ns = session_is_gone(o, &row) ? KTR__END_GONE : 0;
	rc = ktr__tables_process(&o->source->tables, id,
				 ktr__process_key(row.pid, row.pid_ns, row.start_time), &end);
	return rc == -EINVAL ? 0 : rc;
}

/* What is said of a thread that lives: what it is called by now, and whether it is there. */
static void session_look(const struct ktr_thread_row *row, const struct ktr_proc_row *proc, char name[],
			 struct ktr__end *end)
{
	struct ktr__life_stat stat;

	if (row->state != KTR_ROW_READY || !ktr__proc_alive(proc) || !ktr__life_stat(row->pid, row->tid, &stat))
		return;
	if (!stat.start_time)
		end->gone_ns = KTR__END_GONE;
	else if (!row->named && stat.name[0])
		memcpy(name, stat.name, sizeof(stat.name));
}

static int session_thread(struct ktr__session_feed *o, uint32_t id)
{
	char name[sizeof(((struct ktr_thread_row *)0)->name) + 1] = "";
	char process[sizeof(((struct ktr_proc_row *)0)->name) + 1] = "";
	struct ktr__end end = { 0 };
	struct ktr_thread_row row;
	struct ktr_proc_row proc;
	uint64_t key = 0;
	int rc = ktr__map_thread(&o->map, id, &row);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	end.start_ns = row.start_ns;
	end.exit_ns = row.exit_ns;
	memcpy(name, row.name, sizeof(row.name));
	if (ktr__map_proc(&o->map, row.proc, &proc) == 0) {
		memcpy(process, proc.name, sizeof(proc.name));
		key = ktr__process_key(proc.pid, proc.pid_ns, proc.start_time);
		session_look(&row, &proc, name, &end);
	}
	return ktr__tables_thread(&o->source->tables, id,
				  &(struct ktr__thread_text){
					  .tid = row.tid,
					  .pid = row.pid,
					  .proc = row.proc,
					  .process_key = key,
					  .name = name,
					  .process = process,
					  .end = end,
				  });
}

static int session_module(struct ktr__session_feed *o, uint32_t id)
{
	struct ktr_module_row row;
	struct ktr__module_entry module;
	int rc = ktr__map_module(&o->map, id, &row);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	memset(&module, 0, sizeof(module));
	module.proc = row.proc;
	module.base = row.base;
	module.end = row.end;
	module.path = session_text(o, row.path);
	module.n_build_id = row.build_id_bytes;
	memcpy(module.build_id, row.build_id, sizeof(module.build_id));
	if (!module.path)
		return -ENOMEM;
	rc = ktr__tables_module(&o->source->tables, id, &module);
	if (rc == -EINVAL)
		ktr__source_note(o->source, 1, "%s: module %u makes no sense", o->path, id);
	return rc == -EINVAL ? 0 : rc;
}

static int session_class(struct ktr__session_feed *o, uint32_t id)
{
	char name[KTR_CLASS_NAME_MAX + 1] = "";
	struct ktr_class_row row;
	int rc = ktr__map_class(&o->map, id, &row);

	if (rc || !row.mask || (row.mask & (row.mask - 1)) || !row.name[0])
		return rc == -ENOENT ? 0 : rc;
	memcpy(name, row.name, sizeof(row.name));
	return ktr__tables_class(&o->source->tables, (unsigned)__builtin_ctzll(row.mask), name);
}

/* Is the row there already, and does it stay as it is? */
static int session_has(const struct ktr__session_feed *o, enum ktr_region_id region, uint32_t id)
{
	const struct ktr__tables *tables = &o->source->tables;

	if (region == KTR_REGION_site)
		return id < o->n_sites && o->site[id].is_read;
	if (region == KTR_REGION_thread)
		return id < tables->n_threads && tables->thread[id];
	return 0;
}

/*
 * The rows of a table that have come since it was last read. The last ones are looked at again: some
 * may not have been finished.
 */
static int session_table(struct ktr__session_feed *o, enum ktr_region_id region,
			 int (*row)(struct ktr__session_feed *, uint32_t))
{
	uint32_t n = ktr__map_n_rows(&o->map, &o->control, region), seen = o->n_seen[region];
	int rc = 0;

	for (uint32_t id = seen > SESSION_AGAIN ? seen - SESSION_AGAIN : 0; id < n && !rc; id++)
		if ((id || region == KTR_REGION_class_) && (!seen || !session_has(o, region, id)))
			rc = row(o, id);
	o->n_seen[region] = n;
	return rc;
}

void ktr__session_ends(const struct ktr__session_feed *o)
{
	const struct ktr__tables *tables = &o->source->tables;

	for (uint32_t i = 0; i < o->n_rings && tables->n_vague; i++) {
		const struct ktr__session_cursor *s = o->cursor[i];

		for (uint64_t at = 0; s && at < s->n; at++)
			if (!ktr__slot_is_cont(&s->slot[at]))
				ktr__ends_see(ktr__tables_by_row(tables, s->slot[at].thread & KTR_THREAD_INDEX),
					      s->slot[at].timestamp & KTR_TIME_TICKS);
	}
}

int ktr__session_tables(struct ktr__session_feed *o)
{
	int rc = ktr__map_control(&o->map, &o->control);

	if (!rc)
		rc = session_table(o, KTR_REGION_class_, session_class);
	if (!rc)
		rc = session_table(o, KTR_REGION_site, session_site);
	if (!rc)
		rc = session_table(o, KTR_REGION_module, session_module);
	if (!rc)
		rc = session_table(o, KTR_REGION_proc, session_proc);
	return rc ? rc : session_table(o, KTR_REGION_thread, session_thread);
}
