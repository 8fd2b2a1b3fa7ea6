/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr snapshot: saves what the rings of a session hold now, live or dead, as a trace.
 */
#include "tools/command.h"
#include "tools/find.h"
#include "tools/options.h"
#include "tools/save.h"

#include <limits.h>

static const struct option_row snapshot_rows[] = {
	OPTIONS_SOURCE,
	{ 'o', "output", "TRACE",
	  "the trace to write; an older one moves aside (default: ktr.out)" },
};

static const struct options snapshot_options = {
	.operands = "",
	.about =
		"Saves what the rings of a session hold at this moment. The session may be a live one, which is\n"
		"not disturbed, or one that a killed program has left behind.",
	.examples = "ktr snapshot -p 4711\n"
		    "ktr snapshot -s indexer.4711 -o last-moments\n",
	.rows = snapshot_rows,
	.n_rows = sizeof(snapshot_rows) / sizeof(snapshot_rows[0]),
};

static int cmd_snapshot(int argc, char **argv)
{
	struct find find = { .command = argv[0] };
	struct ktr__attach attach = { .trace = FIND_TRACE, .from = KTR__DRAIN_OLDEST };
	char path[PATH_MAX];
	const char *value;
	int id, rc;

	while ((id = options_next(&snapshot_options, argc, argv, &value)) > 0)
		if (!find_option(&find, id, value))
			attach.trace = value;
	if (id < 0)
		return options_status(id);
	rc = operands_at_most(argv[0], argc, argv, 0);
	if (!rc)
		rc = find_session(&find, path, sizeof(path));
	if (rc)
		return rc;
	attach.session = path;
	return save_session(argv[0], &attach, ktr__snapshot_session);
}

COMMAND(snapshot, "save what the rings of a session hold", cmd_snapshot);
