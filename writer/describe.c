/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Session tables to trace text.
 *
 * Each table is a row of describe_tables: region, row type, and the members of its lines. A
 * row is written when its checksum differs from that of its last writing, so that renamed or ended
 * threads are written again. Strings and numbers of rows are untrusted; they end up quoted or
 * escaped.
 *
 * The arrays are as long as the session's tables and made by mmap(2): what is not used takes no
 * memory, MADV_DONTNEED clears them, and MADV_DONTFORK keeps them out of forked children.
 */
#include "writer/describe.h"

#include "ktr/class_name.h"
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

/* How a member of a line is made from the bytes of a row. */
enum describe_kind {
	DESCRIBE_U32,
	DESCRIBE_U64,
	DESCRIBE_HEX,	  /* of 64 bits */
	DESCRIBE_STRING,  /* an offset of the session's table */
	DESCRIBE_NAME,	  /* of fixed length, need not end in a NUL */
	DESCRIBE_ID,	  /* 16 octets */
	DESCRIBE_OCTETS,  /* the build-id */
	DESCRIBE_NUMBERS, /* of a byte each */
	DESCRIBE_TYPES	  /* of arguments, by name */
};

struct describe_member {
	char key[12];
	uint8_t kind;
	uint8_t more; /* NAME: [bytes] of room; OCTETS, NUMBERS, TYPES: where the row says how many */
	uint16_t at;  /* [bytes] where in the row */
};

#define MEMBER(row, kind, field) { #field, DESCRIBE_##kind, 0, offsetof(struct row, field) }
#define MEMBER_NAME(row)                                                                         \
	{ "name", DESCRIBE_NAME, sizeof(((struct row *)0)->name),                    \
	  offsetof(struct row, name) }
#define MEMBER_MANY(row, kind, key, field, n)                                                    \
	{ key, DESCRIBE_##kind, offsetof(struct row, n), offsetof(struct row, field) }
#define MEMBER_BUILD_ID(row) MEMBER_MANY(row, OCTETS, "build_id", build_id, build_id_bytes)
#define MEMBER_END { "", 0, 0, 0 }

static const struct describe_member describe_class[] = {
	MEMBER_NAME(ktr_class_row), MEMBER(ktr_class_row, STRING, help), MEMBER_END,
};

static const struct describe_member describe_proc[] = {
	MEMBER(ktr_proc_row, U32, pid), MEMBER(ktr_proc_row, U32, ppid), MEMBER(ktr_proc_row, U32, uid),
	MEMBER(ktr_proc_row, U64, pid_ns), MEMBER(ktr_proc_row, U64, start_time), MEMBER(ktr_proc_row, U64, start_ns),
	MEMBER(ktr_proc_row, U64, exit_ns), MEMBER_NAME(ktr_proc_row), MEMBER(ktr_proc_row, STRING, exe),
	MEMBER(ktr_proc_row, STRING, cmdline), MEMBER_END,
};

static const struct describe_member describe_thread[] = {
	MEMBER(ktr_thread_row, U32, tid), MEMBER(ktr_thread_row, U32, pid), MEMBER(ktr_thread_row, U32, proc),
	MEMBER_NAME(ktr_thread_row), MEMBER(ktr_thread_row, U64, start_ns), MEMBER(ktr_thread_row, U64, exit_ns), MEMBER_END,
};

static const struct describe_member describe_module[] = {
	MEMBER(ktr_module_row, U32, proc), MEMBER(ktr_module_row, HEX, base), MEMBER(ktr_module_row, HEX, end),
	MEMBER(ktr_module_row, STRING, path), MEMBER_BUILD_ID(ktr_module_row), MEMBER_END,
};

static const struct describe_member describe_site[] = {
	MEMBER(ktr_site_row, HEX, mask), MEMBER(ktr_site_row, STRING, file), MEMBER(ktr_site_row, U32, line),
	MEMBER(ktr_site_row, STRING, func), MEMBER(ktr_site_row, STRING, format), MEMBER(ktr_site_row, STRING, names),
	MEMBER_MANY(ktr_site_row, TYPES, "types", type, n_args), MEMBER_MANY(ktr_site_row, NUMBERS, "how", how, n_args),
	MEMBER_MANY(ktr_site_row, NUMBERS, "limit", limit, n_args), MEMBER(ktr_site_row, STRING, module),
	MEMBER_BUILD_ID(ktr_site_row), MEMBER(ktr_site_row, HEX, offset), MEMBER(ktr_site_row, HEX, key), MEMBER_END,
};

#define MEMBER_AS(key, row, kind, field, more) { key, DESCRIBE_##kind, more, offsetof(struct row, field) }

static const struct describe_member describe_header[] = {
	MEMBER_AS("uuid", ktr_header, ID, uuid, 0),
	MEMBER_AS("session", ktr_header, NAME, name, KTR_SESSION_NAME_MAX),
	MEMBER_AS("host", ktr_header, NAME, host, sizeof(((struct ktr_header *)0)->host)),
	MEMBER_AS("boot_id", ktr_header, ID, boot_id, 0),
	MEMBER_AS("pid", ktr_header, U32, creator_pid, 0), MEMBER_END,
};

static const struct describe_member describe_clock[] = {
	MEMBER(ktr_trace_clock, U64, base_ticks), MEMBER(ktr_trace_clock, U64, base_ns),
	MEMBER(ktr_trace_clock, U64, mult), MEMBER(ktr_trace_clock, U32, shift), MEMBER_END,
};

static const struct describe_member describe_anchor[] = {
	MEMBER(ktr_anchor, U64, ticks), MEMBER(ktr_anchor, U64, mono_ns), MEMBER(ktr_anchor, U64, utc_ns), MEMBER_END,
};

static void describe_array(struct ktr__emit *emit, const struct describe_member *member,
			   const uint8_t *value, unsigned n)
{
	static const char types[KTR_ARG_TYPES][6] = {
#define DESCRIBE_TYPE(type, text, width) [KTR_ARG_##type] = #type,
		KTR_ARG_LIST(DESCRIBE_TYPE)
#undef DESCRIBE_TYPE
	};

	ktr__json_raw(emit, member->key, "[");
	for (unsigned i = 0; i < n; i++) {
		ktr__emit_text(emit, i ? "," : "");
		if (member->kind == DESCRIBE_TYPES)
			ktr__emit_format(emit, "\"%s\"", types[value[i]]);
		else
			ktr__emit_format(emit, "%u", value[i]);
	}
	ktr__emit_text(emit, "]");
}

static void describe_member(struct ktr__describe *d, struct ktr__emit *emit,
			    const struct describe_member *member, const char *row)
{
	const char *at = row + member->at;
	const uint8_t n = (uint8_t)row[member->more];
	char name[KTR_SESSION_NAME_MAX + 1];
	uint64_t number;
	uint32_t word;

	memcpy(&number, at, sizeof(number));
	memcpy(&word, at, sizeof(word));
	switch (member->kind) {
	case DESCRIBE_U32:
		number = word;
		/* fall through */
	case DESCRIBE_U64:
		ktr__json_u64(emit, member->key, number);
		break;
	case DESCRIBE_HEX:
		ktr__json_hex(emit, member->key, number);
		break;
	case DESCRIBE_STRING:
		ktr__json_string(emit, member->key, describe_string(d, word, 0));
		break;
	case DESCRIBE_NAME:
		snprintf(name, sizeof(name), "%.*s", member->more, at);
		ktr__json_string(emit, member->key, name);
		break;
	case DESCRIBE_ID:
		ktr__json_octets(emit, member->key, (const uint8_t *)at, 16);
		break;
	case DESCRIBE_OCTETS:
		ktr__json_octets(emit, member->key, (const uint8_t *)at,
				 n < KTR_BUILD_ID_MAX ? n : KTR_BUILD_ID_MAX);
		break;
	default:
		describe_array(emit, member, (const uint8_t *)at, n);
	}
}

/* Up to the member without a key. */
static void describe_members(struct ktr__describe *d, struct ktr__emit *emit,
			     const struct describe_member *member, const void *row)
{
	for (; member->key[0]; member++)
		describe_member(d, emit, member, row);
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

/* What the codec needs of a site, and its event class. */
static void describe_site_event(struct ktr__describe *d, uint32_t idx, const struct ktr_site_row *row,
				const char *class_name)
{
	struct ktr__metadata_site site = { idx, row, class_name, NULL, NULL, NULL };
	char names[1024];

	ktr__map_string(d->map, row->names, names, sizeof(names));
	site.names = names;
	site.file = describe_string(d, row->file, 0);
	site.format = describe_string(d, row->format, 1);
	ktr__metadata_event(&d->metadata, &site);
}

/*
 * The first members of a line, which are not in the row as they stand. Nonzero: the row makes no sense,
 * nothing is written.
 */
static int describe_begin_class(struct ktr__describe *d, struct ktr__emit *emit, uint32_t idx,
				const union describe_row *row)
{
	uint64_t mask = row->class_.mask;
	unsigned bit = mask ? (unsigned)__builtin_ctzll(mask) : 0;

	(void)idx;
	if (!mask || (mask & (mask - 1)) || bit < KTR_CLASS_APP_FIRST)
		return -1;
	snprintf(d->class_name[bit], sizeof(d->class_name[bit]), "%.*s",
		 (int)sizeof(d->class_name[bit]) - 1, row->class_.name);
	ktr__json_u64(emit, "bit", bit);
	return 0;
}

static int describe_begin_site(struct ktr__describe *d, struct ktr__emit *emit, uint32_t idx,
			       const union describe_row *any)
{
	const struct ktr_site_row *row = &any->site;
	char class_name[256], name[300];

	if (ktr__program_make(&d->programs[idx], row->n_args, row->type))
		return -1;
	describe_class_names(d, row->mask, class_name, sizeof(class_name));
	snprintf(name, sizeof(name), "%.255s:%u", ktr__ident_base(describe_string(d, row->file, 0)),
		 row->line);
	ktr__json_string(emit, "name", name);
	ktr__json_string(emit, "class", class_name);
	describe_site_event(d, idx, row, class_name);
	return 0;
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

static int describe_begin_thread(struct ktr__describe *d, struct ktr__emit *emit, uint32_t idx,
				 const union describe_row *row)
{
	ktr__json_u64(emit, "word", describe_word(d, idx, row->thread.tid));
	return 0;
}

/* Classes come first: sites are named after them. */
static const struct describe_table {
	enum ktr_region_id region;
	enum ktr_sidecar side;
	size_t row_bytes;
	uint32_t first; /* index 0 means "none" in most tables */
	int changes;	/* 1: rows are written again when they have changed */
	const char *key; /* of the row's index; NULL: the line does not say */
	int (*begin)(struct ktr__describe *d, struct ktr__emit *emit, uint32_t idx,
		     const union describe_row *row); /* may be NULL */
	const struct describe_member *member;
} describe_tables[KTR_DESCRIBE_TABLES] = {
#define TABLE(name, row, side) KTR_REGION_##name, KTR_SIDECAR_##side, sizeof(struct row)
	{ TABLE(class_, ktr_class_row, CLASSES), 0, 0, NULL, describe_begin_class, describe_class },
	{ TABLE(proc, ktr_proc_row, PROCS), 1, 1, "proc", NULL, describe_proc },
	{ TABLE(thread, ktr_thread_row, THREADS), 1, 1, "thread", describe_begin_thread, describe_thread },
	{ TABLE(module, ktr_module_row, MODULES), 0, 0, "module", NULL, describe_module },
	{ TABLE(site, ktr_site_row, SITES), 1, 0, "site", describe_begin_site, describe_site },
	{ TABLE(anchor, ktr_anchor, ANCHORS), 0, 0, NULL, NULL, describe_anchor },
#undef TABLE
};

enum { DESCRIBE_THREAD = 2, DESCRIBE_SITE = 4, DESCRIBE_ANCHOR = 5 };

/* A line for one row. */
static void describe_row(struct ktr__describe *d, const struct describe_table *table, uint32_t idx,
			 const union describe_row *row)
{
	struct ktr__emit *emit = &d->side[table->side];

	ktr__json_begin(emit);
	if (table->key)
		ktr__json_u64(emit, table->key, idx);
	if (table->begin && table->begin(d, emit, idx, row)) {
		ktr__json_undo(emit);
		return;
	}
	describe_members(d, emit, table->member, row);
	ktr__json_end(emit);
}

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
	describe_row(d, t, idx, &row);
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

void ktr__describe_anchor(struct ktr__describe *d, const struct ktr_anchor *anchor)
{
	union describe_row row = { .anchor = *anchor };

	describe_row(d, &describe_tables[DESCRIBE_ANCHOR], 0, &row);
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
	for (unsigned bit = 0; bit < KTR_CLASS_APP_FIRST; bit++)
		ktr__class_name(bit, d->class_name[bit]);
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
	static const char clocks[][10] = { "none", "tsc", "cntvct", "monotonic" };
	static const char archs[][7] = { "none", "x86_64", "arm64", "other" };
	struct ktr__emit *emit = &d->side[KTR_SIDECAR_INFO];
	const struct ktr_header *header = &d->map->header;

	ktr__json_begin(emit);
	ktr__json_string(emit, "kind", "trace");
	ktr__json_u64(emit, "major", KTR_TRACE_MAJOR);
	ktr__json_u64(emit, "minor", KTR_TRACE_MINOR);
	describe_members(d, emit, describe_header, header);
	ktr__json_string(emit, "arch", archs[header->arch & 3]);
	ktr__json_string(emit, "path", header->path == KTR_PATH_RSEQ ? "rseq" : "thread");
	ktr__json_string(emit, "clock", clocks[header->clock & 3]);
	describe_members(d, emit, describe_clock, clock);
	ktr__json_i64(emit, "utc_offset_ns", head->utc_offset_ns);
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

	ktr__map_proc(d->map, 1, &proc);
	proc.name[sizeof(proc.name) - 1] = '\0';
	head.host = header->host; /* both end: ktr__header_check() */
	head.name = header->name;
	head.process = proc.name;
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
