/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktrdump: what FreeBSD's ktrdump(8) prints, for those who know it by heart. A session newest first, a
 * trace (-i) or one that is followed (-l) oldest first. `ktr dump` prints more.
 *
 * The columns -ct are those of schedgraph.py: then each event is a line that it takes, as of
 * `ktr export schedgraph`. Of all other choices the text is the event's own.
 */
#include "analyze/print/sink_ktrdump.h"
#include "ktr/session/drop.h"
#include "tools/command.h"
#include "tools/pager.h"
#include "tools/walk.h"
#include "visualize/export/schedgraph_back.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define KTRDUMP_WAIT_MS    1000 /* of one wait: nothing hangs on it */
#define KTRDUMP_SCHEDGRAPH (KTR__KTRDUMP_CPU | KTR__KTRDUMP_TIME)

struct ktrdump {
	struct walk walk;
	const char *input, *core, *system, *output;
	int live, no_header;
	struct ktr__sink_ktrdump lines;
	int turned; /* what is printed newest first is walked oldest first */
	struct ktr__schedgraph_back back;   /* lines for schedgraph.py, turned */
	struct ktr__schedgraph *schedgraph; /* owned; or oldest first; or that of back */
	struct ktr_sink graph;              /* feeds it */
	struct output to;
};

static const struct option_row ktrdump_rows[] = {
	OPTION_BITS('c', "cpu", struct ktrdump, lines.columns, KTR__KTRDUMP_CPU, "show the CPU"),
	OPTION_BITS('f', "where", struct ktrdump, lines.columns, KTR__KTRDUMP_WHERE, "show file and line"),
	OPTION_BITS('H', "thread", struct ktrdump, lines.columns, KTR__KTRDUMP_THREAD, "show the thread's id"),
	OPTION_BITS('t', "timestamp", struct ktrdump, lines.columns, KTR__KTRDUMP_TIME,
		    "show the time, in nanoseconds; -ct alone is for schedgraph.py"),
	OPTION_FLAG('r', "relative", struct ktrdump, lines.relative,
		    "with -t: the time between a line and the one above"),
	OPTION_FLAG('q', "no-header", struct ktrdump, no_header, "leave out the two lines above the first"),
	OPTION_TEXT('i', "input", "TRACE", struct ktrdump, input, "read a trace, oldest first"),
	OPTION_FLAG('l', "live", struct ktrdump, live, "oldest first, and go on with what comes"),
	OPTION_TEXT('M', "core", "CORE", struct ktrdump, core, "the rings of a program that crashed, by its core"),
	OPTION_TEXT('m', "memory", "CORE", struct ktrdump, core, "the same as -M"),
	OPTION_TEXT('N', "system", "NAME", struct ktrdump, system,
		    "the session called so; with -M or -i not needed, and not looked at"),
	OPTION_TEXT('e', "exec", "NAME", struct ktrdump, system, "the same as -N"),
	OPTION_TEXT('o', "output", "FILE", struct ktrdump, output, "write to FILE"),
	OPTIONS_SOURCE(struct ktrdump, walk.find),
	OPTION_FILTER(struct ktrdump, walk.filter),
};

static const struct options ktrdump_options = {
	.operands = "",
	.about =
		"Prints the rings of a session newest first, as FreeBSD's ktrdump(8) does; of the only live\n"
		"session, if none is named. `ktr dump` knows more.",
	.examples = "ktrdump -cf                     what the only live session holds\n"
		    "ktrdump -ct -o out; schedgraph.py out\n"
		    "ktrdump -ctrf -i ktr.out        a trace, oldest first\n"
		    "ktrdump -cH -M core             a program that crashed\n",
	OPTIONS_ROWS(ktrdump_rows),
};

/* What is to be read, into walk.path. 0, or the exit status after a complaint. */
static int ktrdump_source(struct ktrdump *dump, int argc, char **argv)
{
	struct walk *walk = &dump->walk;
	const char *file = dump->input ? dump->input : dump->core;
	int rc = operands_at_most(argv[0], argc, argv, 0);

	if (rc)
		return rc;
	if (dump->input && dump->core)
		return usage_error(argv[0], "-i and -M exclude each other");
	if (file && (walk->find.pid || walk->find.session))
		return usage_error(argv[0], "\"%s\" and -p or -s: only one can be read", file);
	if (!file) {
		if (dump->system && !walk->find.session)
			walk->find.session = dump->system;
		return find_session(&walk->find, walk->path, sizeof(walk->path));
	}
	if (strlen(file) >= sizeof(walk->path))
		return fail(argv[0], "the path %.60s... is too long", file);
	memcpy(walk->path, file, strlen(file) + 1);
	dump->live = 0;
	return 0;
}

/* ---- lines for schedgraph.py ---- */

static int ktrdump_is_graph(const struct ktrdump *dump)
{
	return dump->lines.columns == KTRDUMP_SCHEDGRAPH && !dump->lines.relative;
}

static struct ktrdump *ktrdump_of(struct ktr_sink *sink)
{
	return (struct ktrdump *)(void *)((char *)sink - offsetof(struct ktrdump, graph));
}

static int ktrdump_graph_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	return ktr__schedgraph_event(ktrdump_of(sink)->schedgraph, event);
}

static int ktrdump_graph_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct ktrdump *dump = ktrdump_of(sink);

	ktr__schedgraph_loss(dump->schedgraph, loss);
	return dump->lines.sink.loss(&dump->lines.sink, loss);
}

static int ktrdump_graph_line(void *context, const struct ktr_event *event, const char *text,
			      size_t n, uint32_t counter)
{
	struct ktrdump *dump = context;

	(void)counter;
	if (dump->turned)
		dump->lines.index = event->index;
	return ktr__ktrdump_line(&dump->lines, event, text, n);
}

/* The sink of a walk oldest first. NULL after a complaint. */
static struct ktr_sink *ktrdump_sink(struct ktrdump *dump)
{
	int rc;

	if (!ktrdump_is_graph(dump))
		return &dump->lines.sink;
	dump->graph = (struct ktr_sink){ ktrdump_graph_event, ktrdump_graph_loss, NULL };
	rc = dump->turned ? ktr__schedgraph_back_init(&dump->back)
			  : ktr__schedgraph_new(&dump->schedgraph, ktrdump_graph_line, dump);
	if (dump->turned)
		dump->schedgraph = dump->back.schedgraph;
	if (!rc)
		return &dump->graph;
	fail(dump->walk.find.command, "%s", strerror(-rc));
	return NULL;
}

/* ---- where they go ---- */

static int ktrdump_open(struct ktrdump *dump)
{
	if (output_open(&dump->to, dump->walk.find.command, dump->output, 0))
		return 1;
	ktr__sink_ktrdump_init(&dump->lines);
	dump->lines.out = &dump->to.out;
	dump->lines.step = 1;
	if (!dump->no_header)
		ktr__ktrdump_header(&dump->to.out, dump->lines.columns);
	return 0;
}

/* Writes the rest. 0, or 1 after a complaint. */
static int ktrdump_close(struct ktrdump *dump)
{
	if (dump->turned)
		ktr__schedgraph_back_free(&dump->back);
	else
		ktr__schedgraph_free(dump->schedgraph);
	return output_close(&dump->to, 0);
}

/* FreeBSD's tool cannot know; its users want to. */
static void ktrdump_tell(const struct ktrdump *dump)
{
	uint64_t n_lost = dump->lines.n_lost + ktr__dropped_sum(ktr_reader_info(dump->walk.reader)->n_dropped);

	if (n_lost)
		fprintf(stderr,
			"%s: %" PRIu64
			" more events were overwritten or lost before they were read\n",
			dump->walk.find.command, n_lost);
}

/* ---- the three ways ---- */

/* Newest first, numbered as in one ring. */
static int ktrdump_back(struct ktrdump *dump)
{
	struct ktr_sink *sink = &dump->lines.sink;
	uint64_t n = 0;

	if (walk_count(&dump->walk, &n))
		return 1;
	dump->lines.index = n - 1;
	dump->lines.step = -1;
	return walk_run(&dump->walk, &sink, 1) < 0 && !dump->to.out.error;
}

/* Oldest first, and turned round where newest first is asked for. */
static int ktrdump_forth(struct ktrdump *dump)
{
	struct ktr_sink *sink = ktrdump_sink(dump);
	uint64_t n_zero = 0;
	int rc;

	if (!sink)
		return 1;
	rc = walk_run(&dump->walk, &sink, 1);
	if (dump->turned && !dump->to.out.error)
		rc = ktr__schedgraph_back_run(&dump->back, ktrdump_graph_line, dump, &n_zero);
	else if (dump->schedgraph && !dump->to.out.error)
		rc = ktr__schedgraph_end(dump->schedgraph);
	if (n_zero)
		fprintf(stderr,
			"%s: %" PRIu64 " counter events were left out: " KTR__SCHEDGRAPH_ZEROS "\n",
			dump->walk.find.command, n_zero);
	return rc < 0 && !dump->to.out.error;
}

/* What comes, until the session is over. 0, or negative: the reader or the output failed. */
static int ktrdump_live(struct ktrdump *dump, struct ktr_sink *sink)
{
	struct ktr_reader *reader = dump->walk.reader;
	struct ktr_event event;
	int what, rc = 0;

	while (!rc && (what = ktr_reader_next(reader, &event)) != KTR_READ_END) {
		if (what < 0)
			return -fail_with(dump->walk.find.command, ktr_reader_error(reader));
		if (what == KTR_READ_EVENT)
			rc = sink->event(sink, &event);
		else if (what == KTR_READ_LOSS)
			rc = sink->loss(sink, ktr_reader_loss(reader));
		else if (what == KTR_READ_NOTE)
			fprintf(stderr, "%s: %s\n", dump->walk.find.command,
				ktr_reader_note(reader)->text);
		if (what != KTR_READ_WAIT)
			continue;
		rc = ktr__out_flush(&dump->to.out);
		if (!rc)
			rc = ktr_reader_wait(reader, KTRDUMP_WAIT_MS);
		rc = rc == -EINTR ? 0 : rc;
	}
	return rc;
}

static int ktrdump_follow(struct ktrdump *dump)
{
	struct ktr_reader_options options = { .size = sizeof(options), .follow = 1 };
	struct ktr_error err = KTR_ERROR_NONE;
	struct walk *walk = &dump->walk;
	struct ktr_sink *sink;
	int rc;

	if (ktr_reader_open(walk->path, &options, &walk->reader, &err))
		return fail_with(walk->find.command, &err);
	rc = filter_use(walk->find.command, walk->reader, walk->filter);
	if (!rc)
		rc = ktrdump_open(dump);
	if (!rc) {
		sink = ktrdump_sink(dump);
		rc = !sink || (ktrdump_live(dump, sink) < 0 && !dump->to.out.error);
		if (!rc && dump->schedgraph)
			rc = ktr__schedgraph_end(dump->schedgraph) < 0 && !dump->to.out.error;
		rc |= ktrdump_close(dump);
		ktrdump_tell(dump);
	}
	ktr_reader_close(walk->reader);
	return rc;
}

/* What there is. */
static int ktrdump_once(struct ktrdump *dump)
{
	int rc = walk_open_path(&dump->walk);

	if (rc)
		return rc;
	rc = ktrdump_open(dump);
	if (!rc) {
		rc = dump->walk.reverse ? ktrdump_back(dump) : ktrdump_forth(dump);
		rc |= ktrdump_close(dump);
		ktrdump_tell(dump);
	}
	return walk_close(&dump->walk) | rc;
}

static int ktrdump_main(int argc, char **argv)
{
	struct ktrdump dump = { .walk.find.command = argv[0] };
	int rc, newest;

	if (!options_parse(&ktrdump_options, argc, argv, &dump, &rc))
		return rc;
	newest = !dump.input && !dump.live;
	rc = ktrdump_source(&dump, argc, argv);
	if (rc)
		return rc;
	dump.turned = newest && ktrdump_is_graph(&dump);
	dump.walk.reverse = newest && !dump.turned;
	return dump.live ? ktrdump_follow(&dump) : ktrdump_once(&dump);
}

/* By its own name, and for completion. */
COMMAND_ALONE(ktrdump, "ktrdump", NULL, ktrdump_main);
