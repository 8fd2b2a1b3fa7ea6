/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Session tables to trace text.
 *
 * Each table is a row of describe_tables: region, row type, and the function that writes one row. A
 * row is written when its checksum differs from that of its last writing, so that renamed or ended
 * threads are written again. Strings and numbers of rows are untrusted; they end up quoted or
 * escaped.
 *
 * The arrays are as long as the session's tables and made by mmap(2): what is not used takes no
 * memory, MADV_DONTNEED clears them, and MADV_DONTFORK keeps them out of forked children.
 */
#include "writer/describe.h"

#include "writer/ident.h"
#include "writer/metadata.h"
#include "writer/packet.h"

#include <ktr/version.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

union describe_row {
	struct ktr_class_row class_;
	struct ktr_site_row site;
	struct ktr_thread_row thread;
	struct ktr_proc_row proc;
	struct ktr_module_row module;
	struct ktr_anchor anchor;
};

static void *describe_map(size_t n, size_t each)
{
	void *at;

	if (!n || n > SIZE_MAX / each)
		n = each = 1;
	at = mmap(NULL, n * each, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	madvise(at, n * each, MADV_DONTFORK);
	return at;
}

static void describe_unmap(void *at, size_t n, size_t each)
{
	if (at)
		munmap(at, n ? n * each : 1);
}

/* String at an offset of the session's table, in one of two buffers. */
static const char *describe_string(struct ktr__describe *d, uint32_t offset, unsigned buffer)
{
	ktr__map_string(d->map, offset, d->text[buffer], sizeof(d->text[buffer]));
	return d->text[buffer];
}

static void describe_json(struct ktr__describe *d, struct ktr__emit *emit, const char *key,
			  uint32_t offset)
{
	ktr__json_string(emit, key, describe_string(d, offset, 0));
}

/* A name of fixed length that need not end in a NUL. */
static void describe_name(struct ktr__emit *emit, const char *key, const char *name, size_t size)
{
	char text[KTR_SESSION_NAME_MAX + 1];

	snprintf(text, sizeof(text), "%.*s", (int)size, name);
	ktr__json_string(emit, key, text);
}

static void describe_class(struct ktr__describe *d, uint32_t idx, const union describe_row *row)
{
	struct ktr__emit *emit = &d->side[KTR_SIDECAR_CLASSES];
	uint64_t mask = row->class_.mask;
	unsigned bit = mask ? (unsigned)__builtin_ctzll(mask) : 0;

	(void)idx;
	if (!mask || (mask & (mask - 1)) || bit < KTR_CLASS_APP_FIRST) {
		d->n_bad++;
		return;
	}
	snprintf(d->class_name[bit], sizeof(d->class_name[bit]), "%.*s",
		 (int)sizeof(d->class_name[bit]) - 1, row->class_.name);
	ktr__json_begin(emit);
	ktr__json_u64(emit, "bit", bit);
	ktr__json_string(emit, "name", d->class_name[bit]);
	describe_json(d, emit, "help", row->class_.help);
	ktr__json_end(emit);
}

/* "net", or "net|rx" for several. */
static void describe_class_names(struct ktr__describe *d, uint64_t mask, char *text, size_t size)
{
	size_t n = 0;

	text[0] = 0;
	for (unsigned bit = 0; bit < KTR_CLASS_MAX && n < size; bit++)
		if (mask >> bit & 1)
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? "|" : "",
					      d->class_name[bit][0] ? d->class_name[bit] : "?");
	if (!mask)
		snprintf(text, size, "none");
}

static void describe_array(struct ktr__emit *emit, const char *key, const uint8_t *value,
			   unsigned n)
{
	char text[64];
	size_t at = 0;

	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u", i ? "," : "",
				       value[i]);
	text[at] = 0;
	ktr__json_raw(emit, key, "[");
	ktr__emit_bytes(emit, text, at);
	ktr__emit_text(emit, "]");
}

static void describe_types(struct ktr__emit *emit, const struct ktr_site_row *row)
{
	static const char *const name[KTR_ARG_TYPES] = {
#define DESCRIBE_TYPE(type, text, width) [KTR_ARG_##type] = "\"" #type "\"",
		KTR_ARG_LIST(DESCRIBE_TYPE)
#undef DESCRIBE_TYPE
	};

	ktr__json_raw(emit, "types", "[");
	for (unsigned i = 0; i < row->n_args; i++) {
		ktr__emit_text(emit, i ? "," : "");
		ktr__emit_text(emit, name[row->type[i]]);
	}
	ktr__emit_text(emit, "]");
}

static void describe_build_id(struct ktr__emit *emit, const uint8_t *id, uint8_t n)
{
	ktr__json_octets(emit, "build_id", id, n < KTR_BUILD_ID_MAX ? n : KTR_BUILD_ID_MAX);
}

static void describe_site_event(struct ktr__describe *d, uint32_t idx,
				const struct ktr_site_row *row, const char *class_name)
{
	struct ktr__metadata_site site = { idx, row, class_name, NULL, NULL, NULL };
	char names[1024];

	ktr__map_string(d->map, row->names, names, sizeof(names));
	site.names = names;
	site.file = describe_string(d, row->file, 0);
	site.format = describe_string(d, row->format, 1);
	ktr__metadata_event(&d->metadata, &site);
}

static void describe_site(struct ktr__describe *d, uint32_t idx, const union describe_row *any)
{
	struct ktr__emit *emit = &d->side[KTR_SIDECAR_SITES];
	const struct ktr_site_row *row = &any->site;
	char class_name[256], name[300];

	if (ktr__program_make(&d->programs[idx], row->n_args, row->type)) {
		d->n_bad++;
		return;
	}
	describe_class_names(d, row->mask, class_name, sizeof(class_name));
	snprintf(name, sizeof(name), "%.255s:%u", ktr__ident_base(describe_string(d, row->file, 0)),
		 row->line);
	ktr__json_begin(emit);
	ktr__json_u64(emit, "site", idx);
	ktr__json_string(emit, "name", name);
	ktr__json_hex(emit, "mask", row->mask);
	ktr__json_string(emit, "class", class_name);
	describe_json(d, emit, "file", row->file);
	ktr__json_u64(emit, "line", row->line);
	describe_json(d, emit, "func", row->func);
	describe_json(d, emit, "format", row->format);
	describe_json(d, emit, "names", row->names);
	describe_types(emit, row);
	describe_array(emit, "how", row->how, row->n_args);
	describe_array(emit, "limit", row->limit, row->n_args);
	describe_json(d, emit, "module", row->module);
	describe_build_id(emit, row->build_id, row->build_id_bytes);
	ktr__json_hex(emit, "offset", row->offset);
	ktr__json_hex(emit, "key", row->key);
	ktr__json_end(emit);
	describe_site_event(d, idx, row, class_name);
}

/* The word of a thread: once given it stays. */
static uint32_t describe_word(struct ktr__describe *d, uint32_t idx, uint32_t tid)
{
	uint32_t word = tid & KTR_WORD_TID, life;

	if (d->words[idx])
		return d->words[idx];
	life = d->lives[word]++ % (KTR_WORD_LIFE_MAX + 1);
	if (!word && !life)
		life = d->lives[word]++; /* 0 is nobody's */
	d->words[idx] = word | life << KTR_WORD_LIFE_SHIFT;
	return d->words[idx];
}

static void describe_thread(struct ktr__describe *d, uint32_t idx, const union describe_row *any)
{
	struct ktr__emit *emit = &d->side[KTR_SIDECAR_THREADS];
	const struct ktr_thread_row *row = &any->thread;

	ktr__json_begin(emit);
	ktr__json_u64(emit, "thread", idx);
	ktr__json_u64(emit, "word", describe_word(d, idx, row->tid));
	ktr__json_u64(emit, "tid", row->tid);
	ktr__json_u64(emit, "pid", row->pid);
	ktr__json_u64(emit, "proc", row->proc);
	describe_name(emit, "name", row->name, sizeof(row->name));
	ktr__json_u64(emit, "start_ns", row->start_ns);
	ktr__json_u64(emit, "exit_ns", row->exit_ns);
	ktr__json_end(emit);
}

static void describe_proc(struct ktr__describe *d, uint32_t idx, const union describe_row *any)
{
	struct ktr__emit *emit = &d->side[KTR_SIDECAR_PROCS];
	const struct ktr_proc_row *row = &any->proc;

	ktr__json_begin(emit);
	ktr__json_u64(emit, "proc", idx);
	ktr__json_u64(emit, "pid", row->pid);
	ktr__json_u64(emit, "ppid", row->ppid);
	ktr__json_u64(emit, "uid", row->uid);
	ktr__json_u64(emit, "pid_ns", row->pid_ns);
	ktr__json_u64(emit, "start_time", row->start_time);
	ktr__json_u64(emit, "start_ns", row->start_ns);
	ktr__json_u64(emit, "exit_ns", row->exit_ns);
	describe_name(emit, "name", row->name, sizeof(row->name));
	describe_json(d, emit, "exe", row->exe);
	describe_json(d, emit, "cmdline", row->cmdline);
	ktr__json_end(emit);
}

static void describe_module(struct ktr__describe *d, uint32_t idx, const union describe_row *any)
{
	struct ktr__emit *emit = &d->side[KTR_SIDECAR_MODULES];
	const struct ktr_module_row *row = &any->module;

	ktr__json_begin(emit);
	ktr__json_u64(emit, "module", idx);
	ktr__json_u64(emit, "proc", row->proc);
	ktr__json_hex(emit, "base", row->base);
	ktr__json_hex(emit, "end", row->end);
	describe_json(d, emit, "path", row->path);
	describe_build_id(emit, row->build_id, row->build_id_bytes);
	ktr__json_end(emit);
}

static void describe_anchor(struct ktr__describe *d, uint32_t idx, const union describe_row *any)
{
	struct ktr__emit *emit = &d->side[KTR_SIDECAR_ANCHORS];

	(void)idx;
	ktr__json_begin(emit);
	ktr__json_u64(emit, "ticks", any->anchor.ticks);
	ktr__json_u64(emit, "mono_ns", any->anchor.mono_ns);
	ktr__json_u64(emit, "utc_ns", any->anchor.utc_ns);
	ktr__json_end(emit);
}

/* Classes come first: sites are named after them. */
static const struct describe_table {
	enum ktr_region_id region;
	size_t row_bytes;
	uint32_t first; /* index 0 means "none" in most tables */
	int changes;    /* 1: rows are written again when they have changed */
	void (*write)(struct ktr__describe *d, uint32_t idx, const union describe_row *row);
} describe_tables[KTR_DESCRIBE_TABLES] = {
	{ KTR_REGION_class_, sizeof(struct ktr_class_row), 0, 0, describe_class },
	{ KTR_REGION_proc, sizeof(struct ktr_proc_row), 1, 1, describe_proc },
	{ KTR_REGION_thread, sizeof(struct ktr_thread_row), 1, 1, describe_thread },
	{ KTR_REGION_module, sizeof(struct ktr_module_row), 0, 0, describe_module },
	{ KTR_REGION_site, sizeof(struct ktr_site_row), 1, 0, describe_site },
	{ KTR_REGION_anchor, sizeof(struct ktr_anchor), 0, 0, describe_anchor },
};

enum {
	DESCRIBE_THREAD = 2,
	DESCRIBE_SITE = 4
};

static uint32_t describe_n_rows(const struct ktr__describe *d, unsigned table)
{
	return d->map->header.region[describe_tables[table].region].n_rows;
}

static void describe_one(struct ktr__describe *d, unsigned table, uint32_t idx)
{
	const struct describe_table *t = &describe_tables[table];
	union describe_row row;
	uint32_t crc;

	if (idx < t->first || idx >= describe_n_rows(d, table) ||
	    (d->seen[table][idx] && !t->changes))
		return;
	if (ktr__map_row(d->map, t->region, idx, &row, t->row_bytes))
		return;
	crc = ktr__crc32c(0, &row, t->row_bytes) | 1;
	if (d->seen[table][idx] == crc)
		return;
	d->seen[table][idx] = crc;
	t->write(d, idx, &row);
}

static void describe_scan(struct ktr__describe *d, int all)
{
	struct ktr_control control;

	if (ktr__map_control(d->map, &control))
		return;
	for (unsigned t = 0; t < KTR_DESCRIBE_TABLES; t++) {
		uint32_t n = ktr__map_n_rows(d->map, &control, describe_tables[t].region);

		for (uint32_t i = all ? 0 : d->next[t]; i < n; i++)
			describe_one(d, t, i);
		if (n > d->next[t])
			d->next[t] = n;
	}
}

void ktr__describe_new(struct ktr__describe *d)
{
	describe_scan(d, 0);
}

void ktr__describe_all(struct ktr__describe *d)
{
	describe_scan(d, 1);
}

void ktr__describe_event(struct ktr__describe *d, uint32_t site, uint32_t thread)
{
	describe_one(d, DESCRIBE_SITE, site);
	describe_one(d, DESCRIBE_THREAD, thread);
}

void ktr__describe_known_site(struct ktr__describe *d, uint32_t site)
{
	struct ktr_site_row row;

	if (!site || site >= d->n_programs || ktr__map_site(d->map, site, &row))
		return;
	if (ktr__program_make(&d->programs[site], row.n_args, row.type) == 0)
		d->seen[DESCRIBE_SITE][site] = 1;
}

void ktr__describe_known_word(struct ktr__describe *d, uint32_t thread, uint32_t word)
{
	uint16_t *lives = &d->lives[word & KTR_WORD_TID];
	uint32_t life = word >> KTR_WORD_LIFE_SHIFT;

	if (!thread || thread >= d->n_words)
		return;
	d->words[thread] = word & ~KTR_WORD_APPROX;
	if (*lives <= life)
		*lives = (uint16_t)(life + 1);
}

int ktr__describe_init(struct ktr__describe *d, const struct ktr__session_map *map)
{
	int bad = 0;

	memset(d, 0, sizeof(*d));
	d->map = map;
	d->n_programs = describe_n_rows(d, DESCRIBE_SITE);
	d->n_words = describe_n_rows(d, DESCRIBE_THREAD);
	d->programs = describe_map(d->n_programs, sizeof(*d->programs));
	d->words = describe_map(d->n_words, sizeof(*d->words));
	d->lives = describe_map(KTR_WORD_TID + 1, sizeof(*d->lives));
	bad = !d->n_programs || !d->n_words || !d->programs || !d->words || !d->lives;
	for (unsigned t = 0; t < KTR_DESCRIBE_TABLES; t++) {
		d->seen[t] = describe_map(describe_n_rows(d, t), sizeof(**d->seen));
		bad |= !d->seen[t];
	}
#define DESCRIBE_CLASS(name, bit, help)                                                            \
	for (unsigned i = 0; i < sizeof(#name); i++)                                               \
		d->class_name[bit][i] = (char)(#name[i] >= 'A' && #name[i] <= 'Z' ? #name[i] + 32  \
										  : #name[i]);
	KTR_CLASS_LIST(DESCRIBE_CLASS)
#undef DESCRIBE_CLASS
	if (bad)
		ktr__describe_fini(d);
	return bad ? -ENOMEM : 0;
}

void ktr__describe_fini(struct ktr__describe *d)
{
	describe_unmap(d->programs, d->n_programs, sizeof(*d->programs));
	describe_unmap(d->words, d->n_words, sizeof(*d->words));
	describe_unmap(d->lives, KTR_WORD_TID + 1, sizeof(*d->lives));
	for (unsigned t = 0; t < KTR_DESCRIBE_TABLES && d->map; t++)
		describe_unmap(d->seen[t], describe_n_rows(d, t), sizeof(**d->seen));
	ktr__emit_free(&d->metadata);
	for (int i = 0; i < KTR_SIDECARS; i++)
		ktr__emit_free(&d->side[i]);
	memset(d, 0, sizeof(*d));
}

static void describe_info(struct ktr__describe *d, const struct ktr_trace_clock *clock,
			  const struct ktr__metadata_head *head, int complete)
{
	static const char *const clocks[] = { "none", "tsc", "cntvct", "monotonic" };
	static const char *const archs[] = { "none", "x86_64", "arm64", "other" };
	struct ktr__emit *emit = &d->side[KTR_SIDECAR_INFO];
	const struct ktr_header *header = &d->map->header;

	ktr__json_begin(emit);
	ktr__json_string(emit, "kind", "trace");
	ktr__json_u64(emit, "major", KTR_TRACE_MAJOR);
	ktr__json_u64(emit, "minor", KTR_TRACE_MINOR);
	ktr__json_octets(emit, "uuid", head->uuid, sizeof(head->uuid));
	ktr__json_string(emit, "session", head->name);
	ktr__json_string(emit, "host", head->host);
	ktr__json_string(emit, "arch", archs[header->arch <= KTR_ARCH_OTHER ? header->arch : 0]);
	ktr__json_string(emit, "path", header->path == KTR_PATH_RSEQ ? "rseq" : "thread");
	ktr__json_string(emit, "clock",
			 clocks[header->clock <= KTR_CLOCK_MONOTONIC ? header->clock : 0]);
	ktr__json_u64(emit, "base_ticks", clock->base_ticks);
	ktr__json_u64(emit, "base_ns", clock->base_ns);
	ktr__json_u64(emit, "mult", clock->mult);
	ktr__json_u64(emit, "shift", clock->shift);
	ktr__json_i64(emit, "utc_offset_ns", head->utc_offset_ns);
	ktr__json_octets(emit, "boot_id", (const uint8_t *)header->boot_id,
			 sizeof(header->boot_id));
	ktr__json_u64(emit, "pid", head->pid);
	ktr__json_string(emit, "cmdline", head->cmdline);
	ktr__json_bool(emit, "complete", complete);
	ktr__json_string(emit, "writer", KTR_VERSION_TEXT);
	ktr__json_end(emit);
}

void ktr__describe_begin(struct ktr__describe *d, const struct ktr_trace_clock *clock,
			 int64_t utc_offset_ns, int complete)
{
	const struct ktr_header *header = &d->map->header;
	struct ktr__metadata_head head = { 0 };
	struct ktr_proc_row proc = { 0 };
	char name[KTR_SESSION_NAME_MAX + 1], host[sizeof(header->host) + 1], process[33];

	ktr__map_proc(d->map, 1, &proc);
	snprintf(name, sizeof(name), "%.*s", (int)sizeof(header->name), header->name);
	snprintf(host, sizeof(host), "%.*s", (int)sizeof(header->host), header->host);
	snprintf(process, sizeof(process), "%.*s", (int)sizeof(proc.name), proc.name);
	head.host = host;
	head.name = name;
	head.process = process;
	head.cmdline = describe_string(d, proc.cmdline, 1);
	head.pid = header->creator_pid;
	memcpy(head.uuid, header->uuid, sizeof(head.uuid));
	head.utc_offset_ns = utc_offset_ns;
	d->metadata.n = d->sealed = 0;
	for (int i = 0; i < KTR_SIDECARS; i++)
		d->side[i].n = 0;
	for (unsigned t = 0; t < KTR_DESCRIBE_TABLES; t++) {
		madvise(d->seen[t], describe_n_rows(d, t) * sizeof(**d->seen), MADV_DONTNEED);
		d->next[t] = 0;
	}
	describe_info(d, clock, &head, complete);
	ktr__metadata_begin(&d->metadata, &head);
	ktr__describe_new(d);
}

void ktr__describe_end(struct ktr__describe *d, uint64_t ns, uint64_t events, uint64_t lost)
{
	struct ktr__emit *emit = &d->side[KTR_SIDECAR_INFO];

	ktr__json_begin(emit);
	ktr__json_string(emit, "kind", "end");
	ktr__json_u64(emit, "ns", ns);
	ktr__json_u64(emit, "events", events);
	ktr__json_u64(emit, "lost", lost);
	ktr__json_end(emit);
}

static int describe_write(struct ktr__emit *emit, struct ktr__trace *trace, struct ktr__file *file)
{
	int rc;

	if (emit->failed)
		return -ENOMEM;
	if (!emit->n)
		return 0;
	rc = ktr__trace_append(trace, file, emit->text, emit->n);
	if (!rc)
		emit->n = 0;
	return rc;
}

int ktr__describe_flush(struct ktr__describe *d, struct ktr__trace *trace)
{
	int rc = 0;

	for (int i = 0; !rc && i < KTR_SIDECARS; i++)
		rc = describe_write(&d->side[i], trace, &trace->side[i]);
	if (rc)
		return rc;
	if (d->metadata.n > d->sealed)
		ktr__metadata_end(&d->metadata, d->sealed);
	d->sealed = d->metadata.n;
	rc = describe_write(&d->metadata, trace, &trace->metadata);
	if (!rc)
		d->sealed = 0;
	return rc;
}
