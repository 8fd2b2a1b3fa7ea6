/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a reader knows as text of a trace. Types of arguments are those of the copied bytes; what the
 * format has to say of them (how much of a string was to be copied) has been said when they were
 * recorded.
 */
#include "analyze/rewrite/rewrite.h"

#include "analyze/read/tables.h"
#include "ktr/session/drop.h"
#include "writer/format/ident.h"
#include "writer/format/metadata.h"
#include "writer/format/sidecar_lines.h"

#include <stdio.h>
#include <string.h>

#define REWRITE_NAMES 4096 /* [bytes] the arguments' source text */

static struct ktr__member_id rewrite_id(const uint8_t id[16])
{
	struct ktr__member_id line;

	memcpy(line.octet, id, sizeof(line.octet));
	return line;
}

void ktr__rewrite_head(struct ktr__emit *emit, const struct ktr__trace_head *head, const char *writer)
{
	const struct ktr__line_trace line = {
		.kind.text = "trace",
		.major = head->format,
		.minor = KTR_TRACE_MINOR,
		.uuid = rewrite_id(head->uuid),
		.boot_id = rewrite_id(head->boot_id),
		.session.text = head->name,
		.host.text = head->host,
		.clock.text = head->clock_name,
		.base_ticks = head->clock.base_ticks,
		.base_ns = head->clock.base_ns,
		.mult = head->clock.mult,
		.shift = head->clock.shift,
		.utc_offset_ns = head->utc_offset_ns,
		.cmdline.text = head->cmdline,
		.complete = head->complete != 0,
		.writer.text = writer,
	};

	ktr__line_write(emit, ktr__line_rewritten_trace, &line, NULL, 1);
}

void ktr__rewrite_metadata(struct ktr__emit *emit, const struct ktr__trace_head *head, const char *process,
			   uint32_t pid)
{
	struct ktr__metadata_head top = {
		.host = head->host,
		.name = head->name,
		.cmdline = head->cmdline,
		.process = process,
		.pid = pid,
		.utc_offset_ns = head->utc_offset_ns,
		.format = head->format,
	};

	memcpy(top.uuid, head->uuid, sizeof(top.uuid));
	ktr__metadata_begin(emit, &top);
}

void ktr__rewrite_end(struct ktr__emit *emit, uint64_t ns, uint64_t n_events, uint64_t n_lost)
{
	ktr__line_write(emit, ktr__line_end, &(struct ktr__line_end){ { "end" }, ns, n_events, n_lost }, NULL, 1);
}

void ktr__rewrite_dropped(struct ktr__emit *emit, unsigned why, uint64_t n_events)
{
	const struct ktr__line_dropped line = {
		.kind.text = "dropped", .why.text = ktr__drop_name(why), .events = n_events, .total = n_events,
	};

	ktr__line_write(emit, ktr__line_dropped, &line, NULL, 0);
}

void ktr__rewrite_class(struct ktr__emit *emit, unsigned bit, const char *name)
{
	ktr__line_write(emit, ktr__line_class, &(struct ktr__line_class){ bit, { name }, { "" } }, NULL, 1);
}

void ktr__rewrite_proc(struct ktr__emit *emit, uint32_t proc, uint32_t pid, uint64_t key,
		       const char *name, const char *cmdline, const struct ktr__end *end)
{
	const struct ktr__line_proc line = {
		.proc = proc,
		.pid = pid,
		.key = key,
		.name.text = name,
		.cmdline.text = cmdline,
		.start_ns = end->start_ns,
		.exit_ns = end->exit_ns,
		.alive_ns = end->alive_ns,
		.gone_ns = end->gone_ns,
	};

	ktr__line_write(emit, ktr__line_rewritten_proc, &line, NULL, 1);
}

void ktr__rewrite_thread(struct ktr__emit *emit, const struct ktr_reader_thread *thread,
			 uint32_t word, uint32_t proc, const struct ktr__end *end)
{
	const struct ktr__line_thread line = {
		.thread = thread->id,
		.word = word,
		.tid = thread->tid,
		.pid = thread->pid,
		.proc = proc,
		.name.text = thread->name,
		.start_ns = end->start_ns,
		.exit_ns = end->exit_ns,
		.alive_ns = end->alive_ns,
		.gone_ns = end->gone_ns,
	};

	ktr__line_write(emit, ktr__line_thread, &line, NULL, 1);
}

void ktr__rewrite_module(struct ktr__emit *emit, uint32_t id, uint32_t proc,
			 const struct ktr__module_entry *module)
{
	struct ktr__line_module line = {
		.module = id,
		.proc = proc,
		.base = module->base,
		.end = module->end,
		.path.text = module->path,
		.build_id.n = module->n_build_id,
	};

	memcpy(line.build_id.octet, module->build_id, sizeof(line.build_id.octet));
	ktr__line_write(emit, ktr__line_module, &line, NULL, 1);
}

void ktr__rewrite_loss(struct ktr__emit *emit, const char *stream, const struct ktr_loss *loss,
		       uint64_t seq)
{
	const struct ktr__line_loss line = {
		.stream.text = stream,
		.cpu = loss->cpu,
		.keep = loss->keep,
		.why.text = "overwritten",
		.events = loss->n_events,
		.from_ns = loss->from_ns,
		.to_ns = loss->to_ns,
		.seq = seq,
	};

	ktr__line_write(emit, ktr__line_loss, &line, NULL, 1);
}

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
	struct ktr__line_site line = {
		.site = site->id,
		.name.text = name,
		.class.text = site->class_name,
		.mask = site->mask,
		.file.text = site->file,
		.line = site->line,
		.func.text = site->func,
		.format.text = site->format,
		.names.text = names,
		.types.n = (uint8_t)site->n_args,
		.how.n = (uint8_t)site->n_args,
		.limit.n = (uint8_t)site->n_args,
		.module.text = site->module,
	};

	rewrite_names(site, names);
	snprintf(name, sizeof(name), "%.255s:%u", ktr__ident_base(site->file), site->line);
	for (unsigned i = 0; i < site->n_args; i++) {
		line.types.each[i] = (uint8_t)site->arg[i].type;
		line.how.each[i] = rewrite_how(site->arg[i].type);
	}
	ktr__line_write(emit, ktr__line_site, &line, NULL, 1);
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
