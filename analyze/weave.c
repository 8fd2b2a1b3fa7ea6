/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a reader knows as text of a trace. Types of arguments are those of the copied bytes; what the
 * format has to say of them (how much of a string was to be copied) has been said when they were
 * recorded.
 */
#include "analyze/weave.h"
#include "writer/ident.h"
#include "writer/metadata.h"

#include <stdio.h>
#include <string.h>

#define WEAVE_NAMES 4096 /* [bytes] the arguments' source text */

struct weave_head {
	const char *kind;
	uint64_t major;
	uint64_t minor;
	uint8_t uuid[16];
	const char *session;
	const char *host;
	const char *clock;
	struct ktr_trace_clock map;
	int64_t utc_offset_ns;
	const char *cmdline;
	uint64_t complete;
	const char *writer;
};

static const struct ktr__member weave_head[] = {
	KTR__MEMBER(weave_head, TEXT, kind),
	KTR__MEMBER(weave_head, U64, major),
	KTR__MEMBER(weave_head, U64, minor),
	KTR__MEMBER(weave_head, ID, uuid),
	KTR__MEMBER(weave_head, TEXT, session),
	KTR__MEMBER(weave_head, TEXT, host),
	KTR__MEMBER(weave_head, TEXT, clock),
	KTR__MEMBER_AS("base_ticks", weave_head, U64, map.base_ticks, 0),
	KTR__MEMBER_AS("base_ns", weave_head, U64, map.base_ns, 0),
	KTR__MEMBER_AS("mult", weave_head, U64, map.mult, 0),
	KTR__MEMBER_AS("shift", weave_head, U32, map.shift, 0),
	KTR__MEMBER(weave_head, I64, utc_offset_ns),
	KTR__MEMBER(weave_head, TEXT, cmdline),
	KTR__MEMBER(weave_head, BOOL, complete),
	KTR__MEMBER(weave_head, TEXT, writer),
	KTR__MEMBER_END,
};

void ktr__weave_head(struct ktr__emit *emit, const struct ktr__trace_head *head, const char *writer)
{
	struct weave_head row = {
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
	ktr__json_begin(emit);
	ktr__json_members(emit, weave_head, &row, NULL);
	ktr__json_end(emit);
}

struct weave_site {
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

#define WEAVE_MANY(key, kind, field)                                                               \
	KTR__MEMBER_AS(key, weave_site, kind, field, offsetof(struct weave_site, n_args))

static const struct ktr__member weave_site[] = {
	KTR__MEMBER(weave_site, U64, site),
	KTR__MEMBER(weave_site, TEXT, name),
	KTR__MEMBER_AS("class", weave_site, TEXT, class_name, 0),
	KTR__MEMBER(weave_site, HEX, mask),
	KTR__MEMBER(weave_site, TEXT, file),
	KTR__MEMBER(weave_site, U64, line),
	KTR__MEMBER(weave_site, TEXT, func),
	KTR__MEMBER(weave_site, TEXT, format),
	KTR__MEMBER(weave_site, TEXT, names),
	WEAVE_MANY("types", TYPES, type),
	WEAVE_MANY("how", NUMBERS, how),
	WEAVE_MANY("limit", NUMBERS, limit),
	KTR__MEMBER(weave_site, TEXT, module),
	KTR__MEMBER(weave_site, TEXT, build_id),
	KTR__MEMBER(weave_site, HEX, offset),
	KTR__MEMBER(weave_site, HEX, key),
	KTR__MEMBER_END,
};

static void weave_names(const struct ktr_reader_site *site, char *names)
{
	size_t n = 0;

	names[0] = 0;
	for (unsigned i = 0; i < site->n_args && n < WEAVE_NAMES; i++)
		n += (size_t)snprintf(names + n, WEAVE_NAMES - n, "%s%s", i ? "," : "",
				      site->arg[i].name);
}

static uint8_t weave_how(enum ktr_arg_type type)
{
	return type == KTR_ARG_STR     ? KTR_HOW_COPY
	       : type == KTR_ARG_STACK ? KTR_HOW_STACK
				       : KTR_HOW_VALUE;
}

void ktr__weave_site(struct ktr__emit *emit, const struct ktr_reader_site *site)
{
	char names[WEAVE_NAMES], name[300];
	struct weave_site row = {
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

	weave_names(site, names);
	snprintf(name, sizeof(name), "%.255s:%u", ktr__ident_base(site->file), site->line);
	for (unsigned i = 0; i < site->n_args; i++) {
		row.type[i] = (uint8_t)site->arg[i].type;
		row.how[i] = weave_how(site->arg[i].type);
	}
	ktr__json_begin(emit);
	ktr__json_members(emit, weave_site, &row, NULL);
	ktr__json_end(emit);
}

void ktr__weave_event(struct ktr__emit *emit, const struct ktr_reader_site *site)
{
	struct ktr_site_row row = { .mask = site->mask, .line = site->line };
	char names[WEAVE_NAMES];

	weave_names(site, names);
	row.n_args = (uint8_t)site->n_args;
	for (unsigned i = 0; i < site->n_args; i++)
		row.type[i] = (uint8_t)site->arg[i].type;
	ktr__metadata_event(emit, &(struct ktr__metadata_site){ site->id, &row, site->class_name,
								site->file, site->format, names });
}
