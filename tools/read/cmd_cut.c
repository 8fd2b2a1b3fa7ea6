/* SPDX-License-Identifier: BSD-2-Clause */
/* ktr cut: a part of a trace or session as a trace of its own. */
#include "tools/command.h"
#include "tools/walk.h"

#include "analyze/print/unfinished.h"
#include "analyze/rewrite/trace_writer.h"

#include <stdio.h>
#include <string.h>

#define CUT_OUTPUT "ktr.cut"

struct cut {
	struct ktr_sink sink; /* first */
	struct walk walk;
	const char *output;
	struct ktr__trace_writer *writer;
};

static const struct option_row cut_rows[] = {
	OPTIONS_WALK_ONWARD(struct cut, walk),
	OPTION_TEXT('o', "output", "TRACE", struct cut, output, "the trace to write (" CUT_OUTPUT ")"),
};

static const struct options cut_options = {
	.operands = "[TRACE]",
	.about =
		"Writes a part of a trace, or of a session, as a trace of its own, which every reader of CTF\n"
		"opens: a window of time, the first or last events, or all as one where it was rotated.",
	.examples = "ktr cut --from 1.5s --to 1.6s -o stall.ktr\n"
		    "ktr cut -n 100000 -o end.ktr /var/tmp/ktr.out\n",
	OPTIONS_ROWS(cut_rows),
};

static int cut_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	return ktr__trace_writer_event(((struct cut *)(void *)sink)->writer, 0, event);
}

static int cut_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	return ktr__trace_writer_loss(((struct cut *)(void *)sink)->writer, 0, loss);
}

static int cut_run(struct cut *cut)
{
	struct walk *walk = &cut->walk;
	const struct ktr_reader_info *info = walk->info;
	struct ktr__trace_head head = {
		.name = info->name,
		.host = info->host,
		.cmdline = info->cmdline,
		.clock_name = info->clock,
		.utc_offset_ns = info->utc_offset_ns,
		.clock = { .mult = 1 },
	};
	struct ktr_sink *sink = &cut->sink;
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__trace_writer_stats stats;
	int rc, unfinished = ktr__unfinished_trace(cut->output);

	memcpy(head.boot_id, info->boot_id, sizeof(head.boot_id));
	rc = ktr__trace_writer_open(&cut->writer, cut->output, &head, info->n_cpus, &err);
	if (rc)
		return fail_with(walk->find.command, &err);
	rc = ktr__trace_writer_source(cut->writer, walk->reader, (struct ktr__trace_writer_place){ 0, 0, 0 }, &err);
	if (!rc)
		rc = ktr__trace_writer_begin(cut->writer, &err);
	if (!rc) {
		rc = walk_run(walk, &sink, 1);
		if (rc)
			ktr_error_set(&err, -rc, "%s: cannot write: %m", cut->output);
	}
	rc = ktr__trace_writer_close(cut->writer, rc != 0, &stats, &err);
	ktr__unfinished_done(unfinished);
	if (err.code)
		return fail_with(walk->find.command, &err);
	fprintf(stderr, "ktr: %s: %llu events, %llu lost; next: ktr dump %s\n", cut->output,
		(unsigned long long)stats.n_events, (unsigned long long)stats.n_lost, cut->output);
	return 0;
}

static int cmd_cut(int argc, char **argv)
{
	struct cut cut = { .sink = { cut_event, cut_loss, NULL },
			   .walk.find.command = argv[0],
			   .output = CUT_OUTPUT };
	int rc;

	if (!options_parse(&cut_options, argc, argv, &cut, &rc))
		return rc;
	rc = walk_open(&cut.walk, argc, argv);
	if (rc)
		return rc;
	rc = cut_run(&cut);
	return walk_close(&cut.walk) | rc;
}

COMMAND(cut, "write a part of a trace as a trace of its own", cmd_cut);
