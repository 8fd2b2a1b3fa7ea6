/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a reader knows as text of a trace. Types of arguments are those of the copied bytes; what the
 * format has to say of them (how much of a string was to be copied) has been said when they were
 * recorded.
 */
#include "analyze/rewrite/rewrite.h"
#include "ktr/session/drop.h"
#include "writer/format/ident.h"
#include "writer/format/metadata.h"

#include <stdio.h>
#include <string.h>

#define REWRITE_NAMES 4096 /* [bytes] the arguments' source text */

/* A line of the members of a row. */
static void rewrite_line(struct ktr__emit *emit, const struct ktr__member *member, const void *row)
{
	ktr__json_begin(emit);
	ktr__json_members(emit, member, row, NULL);
	ktr__json_end(emit);
}

struct rewrite_head {
	const char *kind;
	uint64_t major;
	uint64_t minor;
	uint8_t uuid[16];
	uint8_t boot_id[16];
	const char *session;
	const char *host;
	const char *clock;
	struct ktr_trace_clock map;
	int64_t utc_offset_ns;
	const char *cmdline;
	uint64_t complete;
	const char *writer;
};

static const struct ktr__member rewrite_head[] = {
	KTR__MEMBER(rewrite_head, TEXT, kind),
	KTR__MEMBER(rewrite_head, U64, major),
	KTR__MEMBER(rewrite_head, U64, minor),
	KTR__MEMBER(rewrite_head, ID, uuid),
	KTR__MEMBER(rewrite_head, ID, boot_id),
	KTR__MEMBER(rewrite_head, TEXT, session),
	KTR__MEMBER(rewrite_head, TEXT, host),
	KTR__MEMBER(rewrite_head, TEXT, clock),
	KTR__MEMBER_AS("base_ticks", rewrite_head, U64, map.base_ticks, 0),
	KTR__MEMBER_AS("base_ns", rewrite_head, U64, map.base_ns, 0),
	KTR__MEMBER_AS("mult", rewrite_head, U64, map.mult, 0),
	KTR__MEMBER_AS("shift", rewrite_head, U32, map.shift, 0),
	KTR__MEMBER(rewrite_head, I64, utc_offset_ns),
	KTR__MEMBER(rewrite_head, TEXT, cmdline),
	KTR__MEMBER(rewrite_head, BOOL, complete),
	KTR__MEMBER(rewrite_head, TEXT, writer),
	KTR__MEMBER_END,
};

void ktr__rewrite_head(struct ktr__emit *emit, const struct ktr__trace_head *head, const char *writer)
{
	struct rewrite_head row = {
		.kind = "trace",
		.major = KTR_TRACE_MAJOR,
		.minor = KTR_TRACE_MINOR,
		.session = head->name,
		.host = head->host,
		.clock = head->clock_name,
		.map = head->clock,
		.utc_offset_ns = head->utc_offset_ns,
		.cmdline = head->cmdline,
		.complete = head->complete != 0,
		.writer = writer,
	};

	memcpy(row.uuid, head->uuid, sizeof(row.uuid));
	memcpy(row.boot_id, head->boot_id, sizeof(row.boot_id));
	rewrite_line(emit, rewrite_head, &row);
}

struct rewrite_end {
	const char *kind;
	uint64_t ns;
	uint64_t events;
	uint64_t lost;
};

void ktr__rewrite_end(struct ktr__emit *emit, uint64_t ns, uint64_t n_events, uint64_t n_lost)
{
	static const struct ktr__member members[] = {
		KTR__MEMBER(rewrite_end, TEXT, kind),
		KTR__MEMBER(rewrite_end, U64, ns),
		KTR__MEMBER(rewrite_end, U64, events),
		KTR__MEMBER(rewrite_end, U64, lost),
		KTR__MEMBER_END,
	};

	rewrite_line(emit, members, &(struct rewrite_end){ "end", ns, n_events, n_lost });
}

struct rewrite_dropped {
	const char *kind;
	const char *why;
	uint64_t events;
	uint64_t total;
};

void ktr__rewrite_dropped(struct ktr__emit *emit, unsigned why, uint64_t n_events)
{
	static const struct ktr__member members[] = {
		KTR__MEMBER(rewrite_dropped, TEXT, kind),
		KTR__MEMBER(rewrite_dropped, TEXT, why),
		KTR__MEMBER(rewrite_dropped, U64, events),
		KTR__MEMBER(rewrite_dropped, U64, total),
		KTR__MEMBER_END,
	};

	rewrite_line(emit, members,
		   &(struct rewrite_dropped){ "dropped", ktr__drop_name(why), n_events, n_events });
}

struct rewrite_class {
	uint64_t bit;
	const char *name;
	const char *help;
};

void ktr__rewrite_class(struct ktr__emit *emit, unsigned bit, const char *name)
{
	static const struct ktr__member members[] = {
		KTR__MEMBER(rewrite_class, U64, bit),
		KTR__MEMBER(rewrite_class, TEXT, name),
		KTR__MEMBER(rewrite_class, TEXT, help),
		KTR__MEMBER_END,
	};

	rewrite_line(emit, members, &(struct rewrite_class){ bit, name, "" });
}

struct rewrite_proc {
	uint64_t proc;
	uint64_t pid;
	uint64_t key;
	const char *name;
	const char *cmdline;
	uint64_t start_ns;
	uint64_t exit_ns;
	uint64_t alive_ns;
	uint64_t gone_ns;
};

void ktr__rewrite_proc(struct ktr__emit *emit, uint32_t proc, uint32_t pid, uint64_t key,
		     const char *name, const char *cmdline, const struct ktr__end *end)
{
	static const struct ktr__member members[] = {
		KTR__MEMBER(rewrite_proc, U64, proc),
		KTR__MEMBER(rewrite_proc, U64, pid),
		KTR__MEMBER(rewrite_proc, HEX, key),
		KTR__MEMBER(rewrite_proc, TEXT, name),
		KTR__MEMBER(rewrite_proc, TEXT, cmdline),
		KTR__MEMBER(rewrite_proc, U64, start_ns),
		KTR__MEMBER(rewrite_proc, U64, exit_ns),
		KTR__MEMBER(rewrite_proc, U64, alive_ns),
		KTR__MEMBER(rewrite_proc, U64, gone_ns),
		KTR__MEMBER_END,
	};

	rewrite_line(emit, members,
		   &(struct rewrite_proc){ proc, pid, key, name, cmdline, end->start_ns, end->exit_ns,
			   end->alive_ns,
					 end->gone_ns });
}

struct rewrite_thread {
	uint64_t thread;
	uint64_t word;
	uint64_t tid;
	uint64_t pid;
	uint64_t proc;
	const char *name;
	uint64_t start_ns;
	uint64_t exit_ns;
	uint64_t alive_ns;
	uint64_t gone_ns;
};

void ktr__rewrite_thread(struct ktr__emit *emit, const struct ktr_reader_thread *thread,
		       uint32_t word, uint32_t proc, const struct ktr__end *end)
{
	static const struct ktr__member members[] = {
		KTR__MEMBER(rewrite_thread, U64, thread),
		KTR__MEMBER(rewrite_thread, U64, word),
		KTR__MEMBER(rewrite_thread, U64, tid),
		KTR__MEMBER(rewrite_thread, U64, pid),
		KTR__MEMBER(rewrite_thread, U64, proc),
		KTR__MEMBER(rewrite_thread, TEXT, name),
		KTR__MEMBER(rewrite_thread, U64, start_ns),
		KTR__MEMBER(rewrite_thread, U64, exit_ns),
		KTR__MEMBER(rewrite_thread, U64, alive_ns),
		KTR__MEMBER(rewrite_thread, U64, gone_ns),
		KTR__MEMBER_END,
	};

	rewrite_line(emit, members,
		   &(struct rewrite_thread){ thread->id, word, thread->tid, thread->pid, proc, thread->name,
					   end->start_ns, end->exit_ns, end->alive_ns, end->gone_ns });
}

struct rewrite_module {
	uint64_t module;
	uint64_t proc;
	uint64_t base;
	uint64_t end;
	const char *path;
	uint8_t n_build_id;
	uint8_t build_id[KTR_BUILD_ID_MAX];
	uint64_t reserved; /* a member has 8 bytes or more from where it is on */
};

void ktr__rewrite_module(struct ktr__emit *emit, uint32_t id, uint32_t proc,
		       const struct ktr__module_entry *module)
{
	static const struct ktr__member members[] = {
		KTR__MEMBER(rewrite_module, U64, module),
		KTR__MEMBER(rewrite_module, U64, proc),
		KTR__MEMBER(rewrite_module, HEX, base),
		KTR__MEMBER(rewrite_module, HEX, end),
		KTR__MEMBER(rewrite_module, TEXT, path),
		KTR__MEMBER_AS("build_id", rewrite_module, OCTETS, build_id,
			       offsetof(struct rewrite_module, n_build_id)),
		KTR__MEMBER_END,
	};
	struct rewrite_module row = { .module = id,
				    .proc = proc,
				    .base = module->base,
				    .end = module->end,
				    .path = module->path,
				    .n_build_id = module->n_build_id };

	memcpy(row.build_id, module->build_id, sizeof(row.build_id));
	rewrite_line(emit, members, &row);
}

struct rewrite_loss {
	const char *stream;
	uint64_t cpu;
	uint64_t keep;
	const char *why;
	uint64_t events;
	uint64_t from_ns;
	uint64_t to_ns;
	uint64_t seq;
};

void ktr__rewrite_loss(struct ktr__emit *emit, const char *stream, const struct ktr_loss *loss,
		     uint64_t seq)
{
	static const struct ktr__member members[] = {
		KTR__MEMBER(rewrite_loss, TEXT, stream),
		KTR__MEMBER(rewrite_loss, U64, cpu),
		KTR__MEMBER(rewrite_loss, BOOL, keep),
		KTR__MEMBER(rewrite_loss, TEXT, why),
		KTR__MEMBER(rewrite_loss, U64, events),
		KTR__MEMBER(rewrite_loss, U64, from_ns),
		KTR__MEMBER(rewrite_loss, U64, to_ns),
		KTR__MEMBER(rewrite_loss, U64, seq),
		KTR__MEMBER_END,
	};

	rewrite_line(emit, members,
		   &(struct rewrite_loss){ stream, loss->cpu, loss->keep, "overwritten",
					 loss->n_events, loss->from_ns, loss->to_ns, seq });
}

struct rewrite_site {
	uint64_t site;
	const char *name;
	const char *class_name;
	uint64_t mask;
	const char *file;
	uint64_t line;
	const char *func;
	const char *format;
	const char *names;
	const char *module;
	const char *build_id;
	uint64_t offset;
	uint64_t key;
	uint8_t n_args;
	uint8_t type[KTR_ARGS_MAX];
	uint8_t how[KTR_ARGS_MAX];
	uint8_t limit[KTR_ARGS_MAX];
	uint64_t reserved; /* a member has 8 bytes or more from where it is on */
};

#define REWRITE_MANY(key, kind, field)                                                               \
	KTR__MEMBER_AS(key, rewrite_site, kind, field, offsetof(struct rewrite_site, n_args))

static const struct ktr__member rewrite_site[] = {
	KTR__MEMBER(rewrite_site, U64, site),
	KTR__MEMBER(rewrite_site, TEXT, name),
	KTR__MEMBER_AS("class", rewrite_site, TEXT, class_name, 0),
	KTR__MEMBER(rewrite_site, HEX, mask),
	KTR__MEMBER(rewrite_site, TEXT, file),
	KTR__MEMBER(rewrite_site, U64, line),
	KTR__MEMBER(rewrite_site, TEXT, func),
	KTR__MEMBER(rewrite_site, TEXT, format),
	KTR__MEMBER(rewrite_site, TEXT, names),
	REWRITE_MANY("types", TYPES, type),
	REWRITE_MANY("how", NUMBERS, how),
	REWRITE_MANY("limit", NUMBERS, limit),
	KTR__MEMBER(rewrite_site, TEXT, module),
	KTR__MEMBER(rewrite_site, TEXT, build_id),
	KTR__MEMBER(rewrite_site, HEX, offset),
	KTR__MEMBER(rewrite_site, HEX, key),
	KTR__MEMBER_END,
};

static void rewrite_names(const struct ktr_reader_site *site, char *names)
{
	size_t n = 0;

	names[0] = 0;
	for (unsigned i = 0; i < site->n_args && n < REWRITE_NAMES; i++)
		n += (size_t)snprintf(names + n, REWRITE_NAMES - n, "%s%s", i ? "," : "",
				      site->arg[i].name);
}

static uint8_t rewrite_how(enum ktr_arg_type type)
{
	return type == KTR_ARG_STR     ? KTR_HOW_COPY
	       : type == KTR_ARG_STACK ? KTR_HOW_STACK
				       : KTR_HOW_VALUE;
}

void ktr__rewrite_site(struct ktr__emit *emit, const struct ktr_reader_site *site)
{
	char names[REWRITE_NAMES], name[300];
	struct rewrite_site row = {
		.site = site->id,
		.name = name,
		.class_name = site->class_name,
		.mask = site->mask,
		.file = site->file,
		.line = site->line,
		.func = site->func,
		.format = site->format,
		.names = names,
		.module = site->module,
		.build_id = "",
		.n_args = (uint8_t)site->n_args,
	};

	rewrite_names(site, names);
	snprintf(name, sizeof(name), "%.255s:%u", ktr__ident_base(site->file), site->line);
	for (unsigned i = 0; i < site->n_args; i++) {
		row.type[i] = (uint8_t)site->arg[i].type;
		row.how[i] = rewrite_how(site->arg[i].type);
	}
	rewrite_line(emit, rewrite_site, &row);
}

void ktr__rewrite_event(struct ktr__emit *emit, const struct ktr_reader_site *site)
{
	struct ktr_site_row row = { .mask = site->mask, .line = site->line };
	char names[REWRITE_NAMES];

	rewrite_names(site, names);
	row.n_args = (uint8_t)site->n_args;
	for (unsigned i = 0; i < site->n_args; i++)
		row.type[i] = (uint8_t)site->arg[i].type;
	ktr__metadata_event(emit, 0, &(struct ktr__metadata_site){ site->id, &row, site->class_name,
								site->file, site->format, names });
}
