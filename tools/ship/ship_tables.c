/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What events refer to: the trace, call sites, threads, processes, and the lines by which a trace tells of them,
 * which make a trace of rows again. Each row replaces what was told of the same before, so sending one again does
 * no harm.
 */
#include "tools/ship/ship_tables.h"

#include "analyze/read/reader.h"
#include "analyze/rewrite/rewrite.h"
#include "analyze/stats/ends.h"
#include "conf/kit/array.h"
#include "conf/kit/hash.h"
#include "ktr/session/drop.h"
#include "tools/ship/ship_send.h"

#include <errno.h>
#include <string.h>

static const char *const ship_tables_kinds[] = {
	[KTR_KIND_EVENT] = "event", [KTR_KIND_STATE] = "state", [KTR_KIND_COUNTER] = "counter",
	[KTR_KIND_POINT] = "point", [KTR_KIND_START] = "start", [KTR_KIND_STOP] = "stop",
};

static const char *const ship_tables_types[KTR_ARG_TYPES] = {
#define SHIP_TABLES_TYPE(name, text, bytes) [KTR_ARG_##name] = #name,
	KTR_ARG_LIST(SHIP_TABLES_TYPE)
#undef SHIP_TABLES_TYPE
};

/* The blocks that are being filled. */
struct ship_tables {
	struct ship *ship;
	struct native_block block[SCHEMA_TABLES];
	struct ktr__emit line;
};

static int64_t ship_tables_ts(const struct ship *ship, uint64_t ns)
{
	return ns ? (int64_t)ns + ship->utc_offset_ns : 0;
}

static void ship_tables_begin(struct ship_tables *t, enum schema_table table, unsigned host, unsigned trace)
{
	native_word(&t->block[table], host, t->ship->host);
	native_bytes(&t->block[table], trace, t->ship->uuid, sizeof(t->ship->uuid));
}

/*
 * The line that was written is one of a file, with this id in it. 1: it is told; 0: it was told before as it is; or
 * -ENOMEM.
 */
static int ship_tables_line(struct ship_tables *t, enum ktr_sidecar file, uint32_t id)
{
	struct native_block *b = &t->block[SCHEMA_FILES_TABLE];
	struct ship *ship = t->ship;
	uint64_t hash = ktr__hash_bytes(1, t->line.text, t->line.n);

	if (t->line.failed || ktr__array_grow(&ship->line_hash[file], &ship->line_room[file], id, sizeof(hash)))
		return -ENOMEM;
	if (ship->line_hash[file][id] == hash)
		return 0;
	ship->line_hash[file][id] = hash;
	ship_tables_begin(t, SCHEMA_FILES_TABLE, FILES_HOST, FILES_TRACE);
	native_word(b, FILES_FILE, ktr__lines_file(file));
	native_number(b, FILES_ID, id);
	native_bytes(b, FILES_LINE, t->line.text, t->line.n);
	native_number(b, FILES_VERSION, ship->version);
	native_row(b);
	return 1;
}

static void ship_tables_trace(struct ship_tables *t)
{
	struct native_block *b = &t->block[SCHEMA_TRACES_TABLE];
	const struct ship *ship = t->ship;
	const struct ktr_reader_info *info = ship->info;
	const uint64_t changes[] = { info->first_ns, info->last_ns,	 (uint64_t)info->utc_offset_ns,
				     info->n_cpus,   info->n_lost, t->ship->head->has_ended != 0 };
	uint64_t boot[2], hash = ktr__hash_bytes(1, (const char *)changes, sizeof(changes));
	uint8_t octets[16];

	/* All else of it stays. */
	if (hash == ship->trace_hash)
		return;
	t->ship->trace_hash = hash;
	/* As Native has it: two words, the higher first. */
	for (unsigned i = 0; i < 16; i++)
		octets[i] = info->boot_id[i / 8 * 8 + 7 - i % 8];
	memcpy(boot, octets, sizeof(boot));
	ship_tables_begin(t, SCHEMA_TRACES_TABLE, TRACES_HOST, TRACES_TRACE);
	native_word(b, TRACES_BUILD, ship->build);
	native_word(b, TRACES_MACHINE, info->host);
	native_word(b, TRACES_NAME, info->name);
	native_bytes(b, TRACES_CMDLINE, info->cmdline, strlen(info->cmdline));
	native_bytes(b, TRACES_BOOT, boot, sizeof(boot));
	native_word(b, TRACES_CLOCK, info->clock);
	native_number(b, TRACES_UTC_OFFSET, (uint64_t)info->utc_offset_ns);
	native_number(b, TRACES_FIRST_TS, (uint64_t)ship_tables_ts(ship, info->first_ns));
	native_number(b, TRACES_LAST_TS, (uint64_t)ship_tables_ts(ship, info->last_ns));
	native_number(b, TRACES_N_CPUS, info->n_cpus);
	native_number(b, TRACES_LOST, info->n_lost);
	native_number(b, TRACES_COMPLETE, ship->head->has_ended != 0);
	native_number(b, TRACES_VERSION, ship->version);
	native_row(b);
}

/* What went into no ring: of no CPU, and at no time. */
static int ship_tables_dropped(struct ship_tables *t)
{
	struct native_block *b = &t->block[SCHEMA_LOSSES_TABLE];
	const uint64_t *n_dropped = t->ship->info->n_dropped;

	for (unsigned i = 0; i < KTR_DROPS; i++) {
		int rc;

		if (!n_dropped[i])
			continue;
		t->line.n = 0;
		ktr__rewrite_dropped(&t->line, i, n_dropped[i]);
		rc = ship_tables_line(t, KTR_SIDECAR_INFO, 1 + i);
		if (rc < 0)
			return rc;
		if (!rc)
			continue;
		ship_tables_begin(t, SCHEMA_LOSSES_TABLE, LOSSES_HOST, LOSSES_TRACE);
		native_word(b, LOSSES_WHY, ktr__drop_name(i));
		native_number(b, LOSSES_EVENTS, n_dropped[i]);
		native_row(b);
	}
	return 0;
}

static int ship_tables_info(struct ship_tables *t)
{
	struct ktr__trace_head head = *t->ship->head;
	int rc;

	head.format = KTR_TRACE_MAJOR;
	t->line.n = 0;
	ktr__rewrite_head(&t->line, &head, "weaver");
	rc = ship_tables_line(t, KTR_SIDECAR_INFO, 0);
	if (rc < 0)
		return rc;
	ship_tables_trace(t);
	return ship_tables_dropped(t);
}

static void ship_tables_site(struct ship_tables *t, const struct ktr_reader_site *site)
{
	struct native_block *b = &t->block[SCHEMA_SITES_TABLE];
	const char *names[KTR_ARGS_MAX], *types[KTR_ARGS_MAX];

	for (unsigned i = 0; i < site->n_args; i++) {
		names[i] = site->arg[i].name;
		types[i] = ship_tables_types[site->arg[i].type];
	}
	ship_tables_begin(t, SCHEMA_SITES_TABLE, SITES_HOST, SITES_TRACE);
	native_number(b, SITES_SITE_ID, site->id);
	native_word(b, SITES_SITE, site->name);
	native_word(b, SITES_CLASS, site->class_name);
	native_word(b, SITES_KIND, ship_tables_kinds[site->kind]);
	native_word(b, SITES_GRP, site->group);
	native_word(b, SITES_ID, site->ident);
	native_word(b, SITES_FILE, site->file);
	native_number(b, SITES_LINE, site->line);
	native_word(b, SITES_FUNC, site->func);
	native_bytes(b, SITES_FORMAT, site->format, strlen(site->format));
	native_word(b, SITES_MODULE, site->module);
	native_list(b, SITES_NAMES, names, site->n_args);
	native_list(b, SITES_TYPES, types, site->n_args);
	native_number(b, SITES_VERSION, t->ship->version);
	native_row(b);
}

static int ship_tables_sites(struct ship_tables *t)
{
	uint32_t n = ktr_reader_n_sites(t->ship->reader);

	for (uint32_t id = 1; id < n; id++) {
		const struct ktr_reader_site *site = ktr_reader_site(t->ship->reader, id);
		int rc;

		if (!site)
			continue;
		t->line.n = 0;
		ktr__rewrite_site(&t->line, site);
		rc = ship_tables_line(t, KTR_SIDECAR_SITES, id);
		if (rc < 0)
			return rc;
		if (rc)
			ship_tables_site(t, site);
	}
	return 0;
}

static int ship_tables_classes(struct ship_tables *t)
{
	for (unsigned bit = KTR_CLASS_APP_FIRST; bit < KTR_CLASS_MAX; bit++) {
		const char *name = ktr_reader_class_name(t->ship->reader, bit);
		int rc;

		if (!name)
			continue;
		t->line.n = 0;
		ktr__rewrite_class(&t->line, bit, name);
		rc = ship_tables_line(t, KTR_SIDECAR_CLASSES, bit);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void ship_tables_thread(struct ship_tables *t, const struct ktr__thread *row)
{
	struct native_block *b = &t->block[SCHEMA_THREADS_TABLE];

	ship_tables_begin(t, SCHEMA_THREADS_TABLE, THREADS_HOST, THREADS_TRACE);
	native_number(b, THREADS_WORD, row->word);
	native_number(b, THREADS_THREAD_ID, row->thread.id);
	native_number(b, THREADS_TID, row->thread.tid);
	native_number(b, THREADS_PID, row->thread.pid);
	native_word(b, THREADS_THREAD, row->thread.name);
	native_word(b, THREADS_PROCESS, row->thread.process);
	native_number(b, THREADS_START_TS, (uint64_t)ship_tables_ts(t->ship, row->end.start_ns));
	native_number(b, THREADS_EXIT_TS, (uint64_t)ship_tables_ts(t->ship, row->end.exit_ns));
	native_number(b, THREADS_VERSION, t->ship->version);
	native_row(b);
}

/* The process that a thread is one of; several threads tell of it. */
static int ship_tables_process(struct ship_tables *t, const struct ktr__thread *row)
{
	static const struct ktr__end none;
	struct native_block *b = &t->block[SCHEMA_PROCESSES_TABLE];
	const struct ktr__end *end = row->process ? &row->process->end : &none;
	int rc;

	if (!row->proc || row->proc > KTR__THREADS_MAX)
		return 0;
	t->line.n = 0;
	ktr__rewrite_proc(&t->line, row->proc, row->thread.pid, row->process_key, row->thread.process,
			  row->proc == 1 ? t->ship->info->cmdline : "", end);
	rc = ship_tables_line(t, KTR_SIDECAR_PROCS, row->proc);
	if (rc <= 0)
		return rc;
	ship_tables_begin(t, SCHEMA_PROCESSES_TABLE, PROCESSES_HOST, PROCESSES_TRACE);
	native_number(b, PROCESSES_PROC, row->proc);
	native_number(b, PROCESSES_PID, row->thread.pid);
	native_word(b, PROCESSES_PROCESS, row->thread.process);
	native_number(b, PROCESSES_START_TS, (uint64_t)ship_tables_ts(t->ship, end->start_ns));
	native_number(b, PROCESSES_EXIT_TS, (uint64_t)ship_tables_ts(t->ship, end->exit_ns));
	native_number(b, PROCESSES_VERSION, t->ship->version);
	native_row(b);
	return 0;
}

static int ship_tables_threads(struct ship_tables *t)
{
	uint32_t n = ktr_reader_n_threads(t->ship->reader);

	for (uint32_t id = 1; id < n; id++) {
		const struct ktr_reader_thread *thread = ktr_reader_thread(t->ship->reader, id);
		const struct ktr__thread *row;
		int rc;

		if (!thread)
			continue;
		row = ktr__ends_row(thread);
		rc = ship_tables_process(t, row);
		if (rc < 0)
			return rc;
		t->line.n = 0;
		ktr__rewrite_thread(&t->line, thread, row->word, row->proc, &row->end);
		rc = ship_tables_line(t, KTR_SIDECAR_THREADS, id);
		if (rc < 0)
			return rc;
		if (rc)
			ship_tables_thread(t, row);
	}
	return 0;
}

static int ship_tables_modules(struct ship_tables *t)
{
	const struct ktr__tables *tables = ktr__reader_tables(t->ship->reader);

	for (uint32_t id = 1; id < tables->n_modules; id++) {
		int rc;

		if (!tables->module[id])
			continue;
		t->line.n = 0;
		ktr__rewrite_module(&t->line, id, tables->module[id]->proc, tables->module[id]);
		rc = ship_tables_line(t, KTR_SIDECAR_MODULES, id);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int ship_tables(struct ship *ship, struct ktr_error *err)
{
	struct ship_tables t = { .ship = ship };
	int rc;

	for (unsigned i = 0; i < SCHEMA_TABLES; i++)
		schema_block(&t.block[i], (enum schema_table)i);
	rc = ship_tables_info(&t);
	if (!rc)
		rc = ship_tables_classes(&t);
	if (!rc)
		rc = ship_tables_sites(&t);
	if (!rc)
		rc = ship_tables_threads(&t);
	if (!rc)
		rc = ship_tables_modules(&t);
	if (rc)
		ktr_error_set(err, -rc, "no memory");
	/* The lines last: where they are, all else is. */
	for (unsigned i = 0; i < SCHEMA_TABLES; i++) {
		if (!rc)
			rc = ship_send_block(ship, (enum schema_table)i, &t.block[i], err);
		native_close(&t.block[i]);
	}
	ktr__emit_free(&t.line);
	return rc;
}
