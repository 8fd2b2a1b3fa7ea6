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

struct salvage {
	struct find find;
};

static const struct option_row salvage_rows[] = {
	OPTIONS_SOURCE(struct salvage, find),
};

static const struct options salvage_options = {
	.operands = "[TRACE]",
	.about =
		"Joins a trace whose writer was killed with what its session still holds: every event once, and\n"
		"those that are gone are counted. Half-written ends are cut off.",
	.examples = "ktr salvage\n"
		    "ktr salvage /var/tmp/ktr.out\n",
	OPTIONS_ROWS(salvage_rows),
};

static int cmd_salvage(int argc, char **argv)
{
	struct salvage salvage = { .find.command = argv[0] };
	struct ktr__attach attach = { .trace = FIND_TRACE, .from = KTR__DRAIN_RESUME };
	char path[PATH_MAX];
	int rc;

	if (!options_parse(&salvage_options, argc, argv, &salvage, &rc))
		return rc;
	rc = operands_at_most(argv[0], argc, argv, 1);
	if (rc)
		return rc;
	if (optind < argc)
		attach.trace = argv[optind];
	rc = salvage.find.pid || salvage.find.session ? find_session(&salvage.find, path, sizeof(path))
						      : salvage_session(argv[0], attach.trace, path, sizeof(path));
	if (rc)
		return rc;
	attach.session = path;
	return save_session(argv[0], &attach, ktr__snapshot_session);
}

COMMAND(salvage, "join a killed writer's trace with what its session still holds", cmd_salvage);
