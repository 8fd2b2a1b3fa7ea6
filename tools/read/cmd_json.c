/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr json: the events of a trace or session as JSON; analyze/print/sink_json.h has the schema.
 */
#include "analyze/print/sink_json.h"
#include "analyze/read/reader.h"
#include "tools/command.h"
#include "tools/pager.h"
#include "tools/walk.h"

struct json {
	struct walk walk;
	struct ktr__sink_json sink;
	struct output to;
	const char *output;
};

static const struct option_row json_rows[] = {
	OPTIONS_WALK(struct json, walk),
	OPTION_THREADS(struct json, walk),
	OPTION_FLAG(0, "array", struct json, sink.array, "one array instead of an object per line"),
	OPTION_FLAG(0, "events", struct json, sink.only_events, "events alone: no head, losses and notes"),
	OPTION_TEXT('o', "output", "FILE", struct json, output, "write to FILE"),
};

static const struct options json_options = {
	.operands = "[TRACE]",
	.about =
		"Prints the events of a trace, or of a session, as JSON: one object per line, of schema "
		"ktr-json-1. Without TRACE, ./ktr.out is read.",
	.examples = "ktr json | jq -r 'select(.class == \"net\") | .msg'\n"
		    "ktr json --array -o events.json ktr.out\n"
		    "ktr json -p 4711 -n 1000 --events\n",
	OPTIONS_ROWS(json_rows),
};

static int json_run(struct json *json)
{
	int rc, end, printed;

	if (output_open(&json->to, json->walk.find.command, json->output, 0))
		return 1;
	json->sink.out = &json->to.out;
	json->sink.reader = json->walk.reader;
	json->sink.symbols = ktr__reader_symbols(json->walk.reader);
	rc = ktr__sink_json_init(&json->sink);
	if (!rc)
		rc = walk_print(&json->walk, &ktr__sink_json_trade, &json->sink, &json->sink.sink, &printed);
	end = ktr__sink_json_fini(&json->sink);
	return output_close(&json->to, rc < 0 ? rc : end);
}

static int cmd_json(int argc, char **argv)
{
	struct json json = { .walk.find.command = argv[0] };
	int rc;

	if (!options_parse(&json_options, argc, argv, &json, &rc))
		return rc;
	rc = walk_open(&json.walk, argc, argv);
	if (rc)
		return rc;
	rc = json_run(&json);
	return walk_close(&json.walk) | rc;
}

COMMAND(json, "print the events of a trace or session as JSON", cmd_json);
