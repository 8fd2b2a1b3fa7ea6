/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr dump: the events of a trace or session as text, oldest first.
 *
 * The flags that choose columns are those of FreeBSD's ktrdump(8); without any of them the usual
 * columns are shown. Events that were lost show as a line where they are missing.
 */
#include "tools/command.h"
#include "tools/pager.h"
#include "tools/walk.h"

#include "analyze/sink_text.h"
#include "analyze/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	DUMP_TIME = OPTION_LONG(0),
	DUMP_FUNC = OPTION_LONG(1),
	DUMP_COLOR = OPTION_LONG(2),
	DUMP_NO_PAGER = OPTION_LONG(3),
};

static const struct option_row dump_rows[] = {
	OPTIONS_WALK,
	{ DUMP_TIME, "time", "FORM", "relative (default), delta, utc or raw" },
	{ 't', "timestamp", NULL, "show the time; with any of -tcHkfi only what they ask for" },
	{ 'c', "cpu", NULL, "show the CPU" },
	{ 'H', "thread", NULL, "show the thread's name and id" },
	{ 'k', "class", NULL, "show the class" },
	{ 'f', "where", NULL, "show file and line" },
	{ 'i', "index", NULL, "show the running number of the event in its ring" },
	{ DUMP_FUNC, "function", NULL, "show the function as well" },
	{ 'r', "relative", NULL, "the same as --time=delta" },
	{ 'q', "no-header", NULL, "leave out the line with the columns' names" },
	{ 'o', "output", "FILE", "write to FILE" },
	{ DUMP_COLOR, "color", "WHEN", "always, never or auto (default): on a terminal" },
	{ DUMP_NO_PAGER, "no-pager", NULL, "do not start a pager on a terminal" },
};

static const struct options dump_options = {
	.operands = "[TRACE]",
	.about = "Prints the events of a trace, or of a session that lives or has died, as text. "
		 "Without TRACE, ./ktr.out is read.",
	.examples = "ktr dump\n"
		    "ktr dump -p 4711 -n 100         the last 100 events of a running program\n"
		    "ktr dump --from 1.5s --to 1.6s --time utc\n"
		    "ktr dump -R -tcH                newest first, three columns\n",
	.rows = dump_rows,
	.n_rows = sizeof(dump_rows) / sizeof(dump_rows[0]),
};

struct dump {
	struct walk walk;
	struct ktr__sink_text text;
	struct ktr__out out;
	struct pager pager;
	unsigned columns, more;
	int header, use_pager;
	const char *output;
	enum colour_when colour;
};

static int dump_time(struct dump *dump, const char *value)
{
	static const char *const forms[] = { "relative", "delta", "utc", "raw" };

	for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (strcmp(value, forms[i]) == 0) {
			dump->text.time = (enum ktr__text_time)i;
			return 0;
		}
	return usage_error(dump->walk.find.command,
			   "--time is relative, delta, utc or raw, not \"%s\"", value);
}

static unsigned dump_column(int id)
{
	switch (id) {
	case 't':
		return KTR__TEXT_TIME;
	case 'c':
		return KTR__TEXT_CPU;
	case 'H':
		return KTR__TEXT_THREAD;
	case 'k':
		return KTR__TEXT_CLASS;
	case 'f':
		return KTR__TEXT_WHERE;
	case 'i':
		return KTR__TEXT_INDEX;
	default:
		return 0;
	}
}

/* 0, or 2 after a complaint. */
static int dump_option(struct dump *dump, int id, const char *value)
{
	int taken = walk_option(&dump->walk, id, value);

	if (taken)
		return taken < 0 ? 2 : 0;
	switch (id) {
	case DUMP_TIME:
		return dump_time(dump, value);
	case DUMP_FUNC:
		dump->more |= KTR__TEXT_FUNC;
		return 0;
	case DUMP_COLOR:
		return colour_option(dump->walk.find.command, value, &dump->colour);
	case DUMP_NO_PAGER:
		dump->use_pager = 0;
		return 0;
	case 'r':
		dump->text.time = KTR__TEXT_DELTA;
		return 0;
	case 'q':
		dump->header = 0;
		return 0;
	case 'o':
		dump->output = value;
		return 0;
	default:
		dump->columns |= dump_column(id);
		return 0;
	}
}

/* Where the text goes. 0 or 1 after a complaint. */
static int dump_open(struct dump *dump)
{
	const char *command = dump->walk.find.command;
	int fd = -1;

	if (dump->output) {
		fd = open(dump->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (fd < 0)
			return fail(command, "%s: %s", dump->output, strerror(errno));
		dump->pager = (struct pager){ fd, -1 };
	} else {
		dump->text.colour = colour_wanted(dump->colour);
		pager_open(&dump->pager, dump->use_pager && !dump->walk.n_head);
	}
	if (ktr__out_open(&dump->out, dump->pager.fd))
		return fail(command, "no memory");
	return 0;
}

/* Writes the rest. 0, or 1 after a complaint; nobody reading on is no failure. */
static int dump_finish(struct dump *dump)
{
	int rc = ktr__out_close(&dump->out);

	if (dump->output && close(dump->pager.fd) && !rc)
		rc = -errno;
	pager_close(&dump->pager);
	if (rc && rc != -EPIPE)
		return fail(dump->walk.find.command, "%s: %s",
			    dump->output ? dump->output : "standard output", strerror(-rc));
	return 0;
}

static int dump_run(struct dump *dump)
{
	struct ktr_sink *sink = &dump->text.sink;
	int rc;

	ktr__sink_text_init(&dump->text);
	dump->text.out = &dump->out;
	dump->text.info = dump->walk.info;
	dump->text.symbols = ktr__reader_symbols(dump->walk.reader);
	dump->text.columns = (dump->columns ? dump->columns : KTR__TEXT_USUAL) | dump->more;
	if (dump->header)
		ktr__sink_text_header(&dump->text);
	rc = walk_run(&dump->walk, &sink, 1);
	return rc < 0 && !dump->out.error;
}

static int cmd_dump(int argc, char **argv)
{
	struct dump dump = { .walk.find.command = argv[0], .header = 1, .use_pager = 1 };
	const char *value;
	int id, rc = 0;

	while ((id = options_next(&dump_options, argc, argv, &value)) > 0 && !rc)
		rc = dump_option(&dump, id, value);
	if (id < 0 || rc)
		return rc ? rc : options_status(id);
	rc = walk_open(&dump.walk, argc, argv);
	if (rc)
		return rc;
	rc = dump_open(&dump);
	if (!rc) {
		rc = dump_run(&dump);
		rc |= dump_finish(&dump);
	}
	return walk_close(&dump.walk) | rc;
}

COMMAND(dump, "print the events of a trace or session as text", cmd_dump);
