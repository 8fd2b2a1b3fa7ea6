/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr salvage: joins a trace whose writer was killed with what its session still holds. The
 * session is found by the uuid that both have.
 */
#include "tools/command.h"
#include "tools/find.h"
#include "tools/options.h"
#include "tools/record/save.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The session of a trace. 0 or the exit status after a complaint. */
static int salvage_session(const char *command, const char *trace, char *path, size_t size)
{
	struct ktr_error err = KTR_ERROR_NONE;
	int rc = save_find_session(trace, path, size, &err);

	if (rc && rc != -ESRCH)
		return fail_with(command, &err);
	if (rc)
		return fail(command,
			    "%s: its session is not there any more; the trace has what there is",
			    trace);
	return 0;
}

static const struct option_row salvage_rows[] = {
	OPTIONS_SOURCE,
};

static const struct options salvage_options = {
	.operands = "[TRACE]",
	.about =
		"Joins a trace whose writer was killed with what its session still holds: every event once, and\n"
		"those that are gone are counted. Half-written ends are cut off.",
	.examples = "ktr salvage\n"
		    "ktr salvage /var/tmp/ktr.out\n",
	.rows = salvage_rows,
	.n_rows = sizeof(salvage_rows) / sizeof(salvage_rows[0]),
};

static int cmd_salvage(int argc, char **argv)
{
	struct find find = { .command = argv[0] };
	struct ktr__attach attach = { .trace = FIND_TRACE, .from = KTR__DRAIN_RESUME };
	char path[PATH_MAX];
	const char *value;
	int id, rc;

	while ((id = options_next(&salvage_options, argc, argv, &value)) > 0)
		find_option(&find, id, value);
	if (id < 0)
		return options_status(id);
	rc = operands_at_most(argv[0], argc, argv, 1);
	if (rc)
		return rc;
	if (optind < argc)
		attach.trace = argv[optind];
	rc = find.pid || find.session ? find_session(&find, path, sizeof(path))
				      : salvage_session(argv[0], attach.trace, path, sizeof(path));
	if (rc)
		return rc;
	attach.session = path;
	return save_session(argv[0], &attach, ktr__snapshot_session);
}

COMMAND(salvage, "join a killed writer's trace with what its session still holds", cmd_salvage);
