/* SPDX-License-Identifier: BSD-2-Clause */
/* ktr cut: a part of a trace or session as a trace of its own. */
#include "tools/command.h"
#include "tools/walk.h"
#include "tools/read/trace_writer.h"

#include <stdio.h>
#include <string.h>

#define CUT_OUTPUT "ktr.cut"

static const struct option_row cut_rows[] = {
	OPTIONS_WALK_ONWARD,
	{ 'o', "output", "TRACE", "the trace to write (" CUT_OUTPUT ")" },
};

static const struct options cut_options = {
	.operands = "[TRACE]",
	.about =
		"Writes a part of a trace, or of a session, as a trace of its own, which every reader of CTF\n"
		"opens: a window of time, the first or last events, or all as one where it was rotated.",
	.examples = "ktr cut --from 1.5s --to 1.6s -o stall.ktr\n"
		    "ktr cut -n 100000 -o end.ktr /var/tmp/ktr.out\n",
	.rows = cut_rows,
	.n_rows = sizeof(cut_rows) / sizeof(cut_rows[0]),
};

struct cut {
	struct ktr_sink sink; /* first */
	struct trace_writer *writer;
};

static int cut_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	return trace_writer_event(((struct cut *)(void *)sink)->writer, 0, event);
}

static int cut_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	return trace_writer_loss(((struct cut *)(void *)sink)->writer, 0, loss);
}

static int cut_run(struct walk *walk, const char *output)
{
	const struct ktr_reader_info *info = walk->info;
	struct ktr__trace_head head = {
		.name = info->name,
		.host = info->host,
		.cmdline = info->cmdline,
		.clock_name = info->clock,
		.utc_offset_ns = info->utc_offset_ns,
		.clock = { .mult = 1 },
	};
	struct cut cut = { { cut_event, cut_loss, NULL }, NULL };
	struct ktr_sink *sink = &cut.sink;
	struct ktr_error err = KTR_ERROR_NONE;
	struct trace_writer_stats stats;
	int rc;

	memcpy(head.boot_id, info->boot_id, sizeof(head.boot_id));
	rc = trace_writer_open(&cut.writer, output, &head, info->n_cpus, &err);
	if (rc)
		return fail_with(walk->find.command, &err);
	rc = trace_writer_source(cut.writer, walk->reader, (struct trace_writer_place){ 0, 0, 0 }, &err);
	if (!rc)
		rc = trace_writer_begin(cut.writer, &err);
	if (!rc) {
		rc = walk_run(walk, &sink, 1);
		if (rc)
			ktr_error_set(&err, -rc, "%s: cannot write: %m", output);
	}
	rc = trace_writer_close(cut.writer, rc != 0, &stats, &err);
	if (err.code)
		return fail_with(walk->find.command, &err);
	fprintf(stderr, "ktr: %s: %llu events, %llu lost; next: ktr dump %s\n", output,
		(unsigned long long)stats.n_events, (unsigned long long)stats.n_lost, output);
	return 0;
}

static int cmd_cut(int argc, char **argv)
{
	struct walk walk = { .find.command = argv[0] };
	const char *value, *output = CUT_OUTPUT;
	int id, rc;

	while ((id = options_next(&cut_options, argc, argv, &value)) > 0) {
		int taken = walk_option(&walk, id, value);

		if (taken < 0)
			return 2;
		if (!taken)
			output = value;
	}
	if (id < 0)
		return options_status(id);
	rc = walk_open(&walk, argc, argv);
	if (rc)
		return rc;
	rc = cut_run(&walk, output);
	return walk_close(&walk) | rc;
}

COMMAND(cut, "write a part of a trace as a trace of its own", cmd_cut);
