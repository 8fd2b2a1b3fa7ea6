/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr json: the events of a trace or session as JSON; analyze/print/sink_json.h has the schema.
 */
#include "tools/command.h"
#include "tools/pager.h"
#include "tools/walk.h"

#include "analyze/print/sink_json.h"
#include "analyze/symbols/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
	JSON_OPTION_ARRAY = OPTION_LONG(0),
	JSON_OPTION_EVENTS = OPTION_LONG(1),
};

static const struct option_row json_rows[] = {
	OPTIONS_WALK,
	{ JSON_OPTION_ARRAY, "array", NULL, "one array instead of an object per line" },
	{ JSON_OPTION_EVENTS, "events", NULL, "events alone: no head, losses and notes" },
	{ 'o', "output", "FILE", "write to FILE" },
};

static const struct options json_options = {
	.operands = "[TRACE]",
	.about =
		"Prints the events of a trace, or of a session, as JSON: one object per line, of schema "
		"ktr-json-1. Without TRACE, ./ktr.out is read.",
	.examples = "ktr json | jq -r 'select(.class == \"net\") | .msg'\n"
		    "ktr json --array -o events.json ktr.out\n"
		    "ktr json -p 4711 -n 1000 --events\n",
	.rows = json_rows,
	.n_rows = sizeof(json_rows) / sizeof(json_rows[0]),
};

struct json {
	struct walk walk;
	struct ktr__sink_json sink;
	struct ktr__out out;
	const char *output;
};

static int json_option(struct json *json, int id, const char *value)
{
	int taken = walk_option(&json->walk, id, value);

	if (taken)
		return taken < 0 ? 2 : 0;
	if (id == JSON_OPTION_ARRAY)
		json->sink.array = 1;
	else if (id == JSON_OPTION_EVENTS)
		json->sink.only_events = 1;
	else
		json->output = value;
	return 0;
}

static int json_run(struct json *json, int fd)
{
	const char *command = json->walk.find.command;
	struct ktr_sink *sink = &json->sink.sink;
	int rc = ktr__out_open(&json->out, fd), end;

	if (rc)
		return fail(command, "no memory");
	json->sink.out = &json->out;
	json->sink.reader = json->walk.reader;
	json->sink.symbols = ktr__reader_symbols(json->walk.reader);
	rc = ktr__sink_json_init(&json->sink);
	if (!rc)
		rc = walk_run(&json->walk, &sink, 1);
	end = ktr__sink_json_fini(&json->sink);
	ktr__out_close(&json->out);
	if (!rc)
		rc = end;
	if (rc < 0 && rc != -EPIPE)
		return fail(command, "%s: %s", json->output ? json->output : "standard output",
			    strerror(-rc));
	return 0;
}

static int cmd_json(int argc, char **argv)
{
	struct json json = { .walk.find.command = argv[0] };
	const char *value;
	struct pager pager;
	int id, rc = 0, fd;

	while ((id = options_next(&json_options, argc, argv, &value)) > 0 && !rc)
		rc = json_option(&json, id, value);
	if (id < 0 || rc)
		return rc ? rc : options_status(id);
	rc = walk_open(&json.walk, argc, argv);
	if (rc)
		return rc;
	pager_open(&pager, 0);
	fd = json.output ? open(json.output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
			 : pager.fd;
	if (fd < 0)
		rc = fail(argv[0], "%s: %s", json.output, strerror(errno));
	else
		rc = json_run(&json, fd);
	if (json.output && fd >= 0 && close(fd) && !rc)
		rc = fail(argv[0], "%s: %s", json.output, strerror(errno));
	return walk_close(&json.walk) | rc;
}

COMMAND(json, "print the events of a trace or session as JSON", cmd_json);
