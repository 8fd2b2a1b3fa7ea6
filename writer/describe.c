/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Session tables to trace text.
 *
 * Each table is a row of describe_tables: region, row type, and its line (writer/format/sidecar_lines.h). A
 * row is written when its checksum differs from that of its last writing, so that renamed or ended
 * threads are written again. Strings and numbers of rows are untrusted; they end up quoted or
 * escaped.
 *
 * The arrays are as long as the session's tables and made by mmap(2): what is not used takes no
 * memory, MADV_DONTNEED clears them, and MADV_DONTFORK keeps them out of forked children.
 */
#include "writer/describe.h"

#include "ktr/session/class_name.h"
#include "writer/format/cmdline.h"
#include "writer/format/ident.h"
#include "writer/format/metadata.h"
#include "writer/format/packet.h"
#include "writer/format/sidecar_lines.h"

#include <ktr/version.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DESCRIBE_ROWS 65536u /* [bytes] read at a time where rows are looked for */

union describe_row {
	struct ktr_class_row class_;
	struct ktr_site_row site;
	struct ktr_thread_row thread;
	struct ktr_proc_row proc;
	struct ktr_module_row module;
	struct ktr_anchor anchor;
};

union describe_line {
	struct ktr__line_class class_;
	struct ktr__line_proc proc;
	struct ktr__line_thread thread;
	struct ktr__line_module module;
	struct ktr__line_site site;
	struct ktr__line_anchor anchor;
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

/* A name of fixed length, which need not end in a NUL. */
static const char *describe_name(struct ktr__describe *d, const char *name, size_t n)
{
	snprintf(d->text[0], sizeof(d->text[0]), "%.*s", (int)n, name);
	return d->text[0];
}

/* These make the line of a row. Nonzero: the row makes no sense, nothing is written. */
static int describe_class(struct ktr__describe *d, uint32_t idx, const union describe_row *any,
			  union describe_line *line)
{
	const struct ktr_class_row *row = &any->class_;
	unsigned bit = row->mask ? (unsigned)__builtin_ctzll(row->mask) : 0;

	(void)idx;
	if (!row->mask || (row->mask & (row->mask - 1)) || bit < KTR_CLASS_APP_FIRST)
		return -1;
	snprintf(d->class_name[bit], sizeof(d->class_name[bit]), "%.*s", (int)sizeof(d->class_name[bit]) - 1,
		 row->name);
	line->class_ = (struct ktr__line_class){
		.bit = bit,
		.name.text = describe_name(d, row->name, sizeof(row->name)),
		.help.offset = row->help,
	};
	return 0;
}

static int describe_proc(struct ktr__describe *d, uint32_t idx, const union describe_row *any,
			 union describe_line *line)
{
	const struct ktr_proc_row *row = &any->proc;

	line->proc = (struct ktr__line_proc){
		.proc = idx,
		.pid = row->pid,
		.ppid = row->ppid,
		.uid = row->uid,
		.pid_ns = row->pid_ns,
		.start_time = row->start_time,
		.start_ns = row->start_ns,
		.exit_ns = row->exit_ns,
		.name.text = describe_name(d, row->name, sizeof(row->name)),
		.exe.offset = row->exe,
		.cmdline.offset = row->cmdline,
		.alive_ns = d->watched.proc[idx].alive_ns,
		.gone_ns = d->watched.proc[idx].gone_ns,
	};
	return 0;
}

/* The word of a thread: once given it stays. */
static uint32_t describe_word(struct ktr__describe *d, uint32_t idx, uint32_t tid)
{
	uint32_t word = tid & KTR_WORD_TID, *given = &d->words[idx], life;

	if (!*given) {
		life = d->lives[word]++ % (KTR_WORD_LIFE_MAX + 1);
		if (!word && !life)
			life = d->lives[word]++; /* 0 is nobody's */
		*given = word | life << KTR_WORD_LIFE_SHIFT;
	}
	return *given;
}

static int describe_thread(struct ktr__describe *d, uint32_t idx, const union describe_row *any,
			   union describe_line *line)
{
	const struct ktr_thread_row *row = &any->thread;

	line->thread = (struct ktr__line_thread){
		.thread = idx,
		.word = describe_word(d, idx, row->tid),
		.tid = row->tid,
		.pid = row->pid,
		.proc = row->proc,
		.name.text = describe_name(d, row->name, sizeof(row->name)),
		.start_ns = row->start_ns,
		.exit_ns = row->exit_ns,
		.alive_ns = d->watched.thread[idx].alive_ns,
		.gone_ns = d->watched.thread[idx].gone_ns,
	};
	return 0;
}

static int describe_module(struct ktr__describe *d, uint32_t idx, const union describe_row *any,
			   union describe_line *line)
{
	const struct ktr_module_row *row = &any->module;

	(void)d;
	line->module = (struct ktr__line_module){
		.module = idx,
		.proc = row->proc,
		.base = row->base,
		.end = row->end,
		.path.offset = row->path,
		.build_id.n = row->build_id_bytes,
	};
	memcpy(line->module.build_id.octet, row->build_id, sizeof(row->build_id));
	return 0;
}

/* The event class of a site, too. */
static int describe_site(struct ktr__describe *d, uint32_t idx, const union describe_row *any,
			 union describe_line *line)
{
	const struct ktr_site_row *row = &any->site;
	struct ktr__metadata_site site = { idx, row, d->text[2], NULL, NULL, NULL };

	if (ktr__program_make(&d->programs[idx], row->n_args, row->type))
		return -1;
	d->programs[idx].literal = ktr__map_literals(d->map, row, d->literals[idx]);
	describe_class_names(d, row->mask, d->text[2], 256);
	site.file = describe_string(d, row->file, 0);
	site.format = describe_string(d, row->format, 1);
	ktr__map_string(d->map, row->names, d->text[3], 1024);
	site.names = d->text[3];
	ktr__metadata_event(&d->metadata, d->metadata_at, &site);
	snprintf(d->text[1], 300, "%.255s:%u", ktr__ident_base(site.file), row->line);
	line->site = (struct ktr__line_site){
		.site = idx,
		.name.text = d->text[1],
		.class.text = site.class_name,
		.mask = row->mask,
		.file.offset = row->file,
		.line = row->line,
		.func.offset = row->func,
		.format.offset = row->format,
		.names.offset = row->names,
		.types.n = row->n_args,
		.how.n = row->n_args,
		.limit.n = row->n_args,
		.module.offset = row->module,
		.build_id.n = row->build_id_bytes,
		.offset = row->offset,
		.key = row->key,
	};
	memcpy(line->site.types.each, row->type, sizeof(row->type));
	memcpy(line->site.how.each, row->how, sizeof(row->how));
	memcpy(line->site.limit.each, row->limit, sizeof(row->limit));
	memcpy(line->site.build_id.octet, row->build_id, sizeof(row->build_id));
	return 0;
}

static int describe_anchor(struct ktr__describe *d, uint32_t idx, const union describe_row *any,
			   union describe_line *line)
{
	(void)d;
	(void)idx;
	line->anchor = (struct ktr__line_anchor){ any->anchor.ticks, any->anchor.mono_ns, any->anchor.utc_ns };
	return 0;
}

/* Classes come first: sites are named after them. */
static const struct describe_table {
	enum ktr_region_id region;
	enum ktr_sidecar side;
	uint32_t row_bytes;
	uint16_t first;	  /* index 0 means "none" in most tables */
	uint16_t changes; /* 1: rows are written again when they have changed */
	int (*make)(struct ktr__describe *d, uint32_t idx, const union describe_row *row,
		    union describe_line *line);
	const struct ktr__member *member;
} describe_tables[KTR_DESCRIBE_TABLES] = {
#define TABLE(name, row, side) KTR_REGION_##name, KTR_SIDECAR_##side, sizeof(struct row)
	{ TABLE(class_, ktr_class_row, CLASSES), 0, 0, describe_class, ktr__line_class },
	{ TABLE(proc, ktr_proc_row, PROCS), 1, 1, describe_proc, ktr__line_proc },
	{ TABLE(thread, ktr_thread_row, THREADS), 1, 1, describe_thread, ktr__line_thread },
	{ TABLE(module, ktr_module_row, MODULES), 0, 0, describe_module, ktr__line_module },
	{ TABLE(site, ktr_site_row, SITES), 1, 0, describe_site, ktr__line_site },
	{ TABLE(anchor, ktr_anchor, ANCHORS), 0, 0, describe_anchor, ktr__line_anchor },
#undef TABLE
};

enum { DESCRIBE_PROC = 1, DESCRIBE_THREAD = 2, DESCRIBE_SITE = 4, DESCRIBE_ANCHOR = 5 };

/* NULL: the row is of another table. */
static struct ktr__life *describe_life_of(const struct ktr__describe *d, unsigned table, uint32_t idx)
{
	if (table == DESCRIBE_PROC)
		return &d->watched.proc[idx];
	return table == DESCRIBE_THREAD ? &d->watched.thread[idx] : NULL;
}

/* FNV-1a, of 64 bits. */
static uint64_t describe_hash(const char *line, size_t n)
{
	uint64_t hash = 14695981039346656037ull;

	while (n--)
		hash = (hash ^ (unsigned char)*line++) * 1099511628211ull;
	return hash;
}

static int describe_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Has the trace that is gone on with the line that has just been made? */
static int describe_is_known(const struct ktr__describe *d, const struct ktr__emit *emit)
{
	uint64_t hash;

	if (!d->n_known || emit->failed || emit->n <= emit->line)
		return 0;
	hash = describe_hash(emit->text + emit->line, emit->n - emit->line - 1);
	return bsearch(&hash, d->known, d->n_known, sizeof(hash), describe_compare) != NULL;
}

/* A line for one row. */
static void describe_row(struct ktr__describe *d, unsigned t, uint32_t idx,
			 const union describe_row *row)
{
	const struct describe_table *table = &describe_tables[t];
	const struct ktr__life *life = describe_life_of(d, t, idx);
	struct ktr__emit *emit = &d->side[table->side];
	union describe_line line;

	if (table->make(d, idx, row, &line))
		return;
	/* When a process or thread was seen gone is said of those that were. */
	ktr__line_write(emit, table->member, &line, d->map, life && life->gone_ns);
	if (describe_is_known(d, emit))
		ktr__json_undo(emit);
}

static uint32_t describe_n_rows(const struct ktr__describe *d, unsigned table)
{
	return d->map->header.region[describe_tables[table].region].n_rows;
}

static void describe_one(struct ktr__describe *d, unsigned table, uint32_t idx)
{
	const struct describe_table *t = &describe_tables[table];
	const struct ktr__life *life = describe_life_of(d, table, idx);
	union describe_row row;
	uint32_t crc;

	if (idx < t->first || idx >= describe_n_rows(d, table) ||
	    (d->seen[table][idx] && !t->changes))
		return;
	if (ktr__map_row(d->map, t->region, idx, &row, t->row_bytes))
		return;
	if (table == DESCRIBE_PROC)
		ktr__lives_proc(&d->watched, idx, &row.proc);
	else if (table == DESCRIBE_THREAD)
		ktr__lives_thread(&d->watched, idx, &row.thread);
	crc = ktr__crc32c(0, &row, t->row_bytes);
	if (life)
		crc = ktr__crc32c(crc, &life->gone_ns, sizeof(life->gone_ns));
	crc |= 1;
	if (d->seen[table][idx] == crc)
		return;
	d->seen[table][idx] = crc;
	describe_row(d, table, idx, &row);
}

/* The first row from `from` on that lies in a page that the file has. n: none does. */
static uint32_t describe_data(const struct ktr__describe *d, unsigned table, uint32_t from,
			      uint32_t n)
{
	const struct ktr_region *region = &d->map->header.region[describe_tables[table].region];
	uint64_t at = region->offset + (uint64_t)from * region->row_bytes;
	off_t data = lseek(d->map->fd, (off_t)at, SEEK_DATA);
	uint64_t skip;

	if (data < 0)
		return errno == ENXIO ? n : from;
	skip = (uint64_t)data > at ? ((uint64_t)data - at) / region->row_bytes : 0;
	return skip < n - from ? from + (uint32_t)skip : n;
}

/*
 * The rows from..n of a table. How many there are is in the session, and may be any number: holes are passed over,
 * and of the rest the states are read many at a time. Rows that are there are then read one by one.
 */
static void describe_table(struct ktr__describe *d, unsigned table, uint32_t from, uint32_t n)
{
	const struct ktr_region *region = &d->map->header.region[describe_tables[table].region];
	uint32_t each = region->row_bytes, many, state = 0;

	for (; from < n && (from = describe_data(d, table, from, n)) < n; from += many) {
		const char *rows = d->rows;

		many = DESCRIBE_ROWS / each < n - from ? DESCRIBE_ROWS / each : n - from;
		if (!many)
			many = 1;
		if (many * (uint64_t)each > DESCRIBE_ROWS ||
		    ktr__map_read(d->map, region->offset + (uint64_t)from * each, d->rows,
				  many * (uint64_t)each))
			rows = NULL; /* rows of another version, or the file ends in one of them */
		for (uint32_t i = 0; i < many; i++) {
			if (rows)
				memcpy(&state, rows + (uint64_t)i * each, sizeof(state));
			if (!rows || state == KTR_ROW_READY || state == KTR_ROW_GONE)
				describe_one(d, table, from + i);
		}
	}
}

static void describe_scan(struct ktr__describe *d, int all)
{
	struct ktr_control control;

	if (ktr__map_control(d->map, &control))
		return;
	for (unsigned t = 0; t < KTR_DESCRIBE_TABLES; t++) {
		uint32_t n = ktr__map_n_rows(d->map, &control, describe_tables[t].region);

		describe_table(d, t, all ? 0 : d->next[t], n);
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

static void describe_lived(struct ktr__describe *d, unsigned table, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ktr__life *life = describe_life_of(d, table, i);

		if (!life->is_new)
			continue;
		life->is_new = 0;
		describe_one(d, table, i);
	}
}

void ktr__describe_lives(struct ktr__describe *d)
{
	describe_lived(d, DESCRIBE_PROC, d->watched.end_procs);
	describe_lived(d, DESCRIBE_THREAD, d->watched.end_threads);
}

void ktr__describe_anchor(struct ktr__describe *d, const struct ktr_anchor *anchor)
{
	union describe_row row = { .anchor = *anchor };

	describe_row(d, DESCRIBE_ANCHOR, 0, &row);
}

void ktr__describe_event(struct ktr__describe *d, uint32_t site, uint32_t thread)
{
	describe_one(d, DESCRIBE_SITE, site);
	describe_one(d, DESCRIBE_THREAD, thread);
}

void ktr__describe_known_types(struct ktr__describe *d, uint32_t site, unsigned n_args, const uint8_t *type)
{
	struct ktr_site_row row;

	if (!site || site >= d->n_programs || ktr__program_make(&d->programs[site], n_args, type))
		return;
	if (ktr__map_site(d->map, site, &row) == 0 && row.n_args == n_args &&
	    memcmp(row.type, type, sizeof(row.type)) == 0)
		d->programs[site].literal = ktr__map_literals(d->map, &row, d->literals[site]);
}

void ktr__describe_known_site(struct ktr__describe *d, uint32_t site)
{
	if (site && site < d->n_programs)
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

void ktr__describe_known_life(struct ktr__describe *d, bool is_proc, uint32_t row, uint64_t alive_ns,
			      uint64_t gone_ns)
{
	unsigned table = is_proc ? DESCRIBE_PROC : DESCRIBE_THREAD;

	if (row && row < describe_n_rows(d, table))
		ktr__lives_known(describe_life_of(d, table, row), alive_ns, gone_ns);
}

int ktr__describe_known_line(struct ktr__describe *d, const char *line, size_t n)
{
	size_t room = d->room_known ? 2 * d->room_known : 256;
	uint64_t *grown;

	if (d->n_known == d->room_known) {
		grown = realloc(d->known, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		d->known = grown;
		d->room_known = room;
	}
	d->known[d->n_known++] = describe_hash(line, n);
	return 0;
}

void ktr__describe_rest(struct ktr__describe *d)
{
	if (d->n_known)
		qsort(d->known, d->n_known, sizeof(*d->known), describe_compare);
	/* What the metadata does not have is described anew, or not at all. */
	for (uint32_t i = 0; i < d->n_programs; i++)
		if (d->programs[i].ready && !d->seen[DESCRIBE_SITE][i])
			memset(&d->programs[i], 0, sizeof(d->programs[i]));
	ktr__describe_all(d);
	free(d->known);
	d->known = NULL;
	d->n_known = d->room_known = 0;
}

int ktr__describe_init(struct ktr__describe *d, const struct ktr__session_map *map)
{
	int bad = 0;

	memset(d, 0, sizeof(*d));
	d->map = map;
	d->n_programs = describe_n_rows(d, DESCRIBE_SITE);
	d->n_words = describe_n_rows(d, DESCRIBE_THREAD);
	d->programs = describe_map(d->n_programs, sizeof(*d->programs));
	d->literals = describe_map(d->n_programs, sizeof(*d->literals));
	d->words = describe_map(d->n_words, sizeof(*d->words));
	d->lives = describe_map(KTR_WORD_TID + 1, sizeof(*d->lives));
	d->rows = describe_map(DESCRIBE_ROWS, 1);
	bad = ktr__lives_init(&d->watched, map) || !d->n_programs || !d->n_words || !d->programs || !d->literals ||
	      !d->words ||
	      !d->lives || !d->rows;
	for (unsigned t = 0; t < KTR_DESCRIBE_TABLES; t++) {
		d->seen[t] = describe_map(describe_n_rows(d, t), sizeof(**d->seen));
		bad |= !d->seen[t];
	}
	for (unsigned bit = 0; bit < KTR_CLASS_APP_FIRST; bit++)
		ktr__class_name(bit, d->class_name[bit]);
	if (bad)
		ktr__describe_fini(d);
	return bad ? -ENOMEM : 0;
}

void ktr__describe_fini(struct ktr__describe *d)
{
	describe_unmap(d->programs, d->n_programs, sizeof(*d->programs));
	describe_unmap(d->literals, d->n_programs, sizeof(*d->literals));
	describe_unmap(d->words, d->n_words, sizeof(*d->words));
	describe_unmap(d->lives, KTR_WORD_TID + 1, sizeof(*d->lives));
	describe_unmap(d->rows, DESCRIBE_ROWS, 1);
	for (unsigned t = 0; t < KTR_DESCRIBE_TABLES && d->map; t++)
		describe_unmap(d->seen[t], describe_n_rows(d, t), sizeof(**d->seen));
	ktr__lives_fini(&d->watched);
	ktr__emit_free(&d->metadata);
	for (int i = 0; i < KTR_SIDECARS; i++)
		ktr__emit_free(&d->side[i]);
	free(d->known);
	memset(d, 0, sizeof(*d));
}

void ktr__describe_swap_words(struct ktr__describe *one, struct ktr__describe *other)
{
	uint32_t *words = one->words;
	uint16_t *lives = one->lives;

	one->words = other->words;
	one->lives = other->lives;
	other->words = words;
	other->lives = lives;
}

/* One of four words for a number of the session's header. */
static const char *describe_of(const char *const words[4], uint32_t number)
{
	return words[number & 3];
}

/* The first line, of which everything else of the trace depends. */
static void describe_head(struct ktr__emit *emit, const struct ktr_header *header,
			  const struct ktr_trace_clock *clock, int64_t utc_offset_ns, const char *cmdline,
			  int complete)
{
	static const char *const arch[] = { "none", "x86_64", "arm64", "other" };
	static const char *const path[] = { "none", "rseq", "thread", "other" };
	static const char *const clocks[] = { "none", "tsc", "cntvct", "monotonic" };
	struct ktr__line_trace line = {
		.kind.text = "trace",
		.major = KTR_TRACE_MAJOR,
		.minor = KTR_TRACE_MINOR,
		.session.text = header->name, /* both end: ktr__header_check() */
		.host.text = header->host,
		.pid = header->creator_pid,
		.arch.text = describe_of(arch, header->arch),
		.path.text = describe_of(path, header->path),
		.clock.text = describe_of(clocks, header->clock),
		.base_ticks = clock->base_ticks,
		.base_ns = clock->base_ns,
		.mult = clock->mult,
		.shift = clock->shift,
		.utc_offset_ns = utc_offset_ns,
		.cmdline.text = cmdline,
		.complete = complete != 0,
		.writer.text = KTR_VERSION_TEXT,
	};

	memcpy(line.uuid.octet, header->uuid, sizeof(line.uuid.octet));
	memcpy(line.boot_id.octet, header->boot_id, sizeof(line.boot_id.octet));
	ktr__line_write(emit, ktr__line_trace, &line, NULL, 1);
}

void ktr__describe_begin(struct ktr__describe *d, const struct ktr_trace_clock *clock,
			 int64_t utc_offset_ns, int complete)
{
	const struct ktr_header *header = &d->map->header;
	struct ktr__metadata_head head = { 0 };
	struct ktr_proc_row proc = { 0 };

	ktr__map_proc(d->map, 1, &proc);
	proc.name[sizeof(proc.name) - 1] = '\0';
	head.host = header->host; /* both end: ktr__header_check() */
	head.name = header->name;
	head.process = proc.name;
	ktr__map_cmdline(d->map, proc.cmdline, d->text[1], sizeof(d->text[1]));
	head.cmdline = d->text[1];
	head.pid = header->creator_pid;
	head.format = KTR_TRACE_MAJOR;
	memcpy(head.uuid, header->uuid, sizeof(head.uuid));
	head.utc_offset_ns = utc_offset_ns;
	d->metadata.n = d->sealed = 0;
	d->metadata_at = 0;
	for (int i = 0; i < KTR_SIDECARS; i++)
		d->side[i].n = 0;
	for (unsigned t = 0; t < KTR_DESCRIBE_TABLES; t++) {
		madvise(d->seen[t], describe_n_rows(d, t) * sizeof(**d->seen), MADV_DONTNEED);
		d->next[t] = 0;
	}
	/* A site whose row has gone bad meanwhile is described no more, and must not be packed as one that is. */
	madvise(d->programs, d->n_programs * sizeof(*d->programs), MADV_DONTNEED);
	describe_head(&d->side[KTR_SIDECAR_INFO], header, clock, utc_offset_ns, head.cmdline, complete);
	ktr__metadata_begin(&d->metadata, &head);
	ktr__describe_new(d);
}

void ktr__describe_clock(struct ktr__describe *d, const struct ktr_trace_clock *clock)
{
	const struct ktr__line_clock line = { { "clock" }, clock->base_ticks, clock->base_ns, clock->mult,
					      clock->shift };

	ktr__line_write(&d->side[KTR_SIDECAR_INFO], ktr__line_clock, &line, NULL, 1);
}

void ktr__describe_end(struct ktr__describe *d, uint64_t ns, uint64_t events, uint64_t lost)
{
	const struct ktr__line_end line = { { "end" }, ns + (uint64_t)d->watched.frame_ns, events, lost };

	ktr__line_write(&d->side[KTR_SIDECAR_INFO], ktr__line_end, &line, NULL, 1);
}

int ktr__describe_is_flushed(const struct ktr__describe *d)
{
	size_t n = d->metadata.n;

	for (int i = 0; i < KTR_SIDECARS; i++)
		n += d->side[i].n;
	return !n;
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
		ktr__metadata_end(&d->metadata, d->metadata_at, d->sealed);
	d->sealed = d->metadata.n;
	rc = describe_write(&d->metadata, trace, &trace->metadata);
	if (!rc)
		d->sealed = 0;
	d->metadata_at = trace->metadata.bytes;
	return rc;
}
