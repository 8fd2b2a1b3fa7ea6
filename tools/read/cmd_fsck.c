/* SPDX-License-Identifier: BSD-2-Clause */
/* ktr fsck: repairs traces, so that foreign readers open them again, and says what it did. */
#include "analyze/rewrite/fsck.h"
#include "tools/command.h"
#include "tools/find.h"
#include "tools/options.h"
#include "tools/progress.h"

#include <stdio.h>

/* As fsck(8) ends; added up over several traces. */
enum {
	FSCK_CLEAN = 0,
	FSCK_MENDED = 1,
	FSCK_LEFT = 4,
	FSCK_FAILED = 8,
	FSCK_USAGE = 16,
};

struct fsck_command {
	int look, yes, quiet, discard;
};

static const struct option_row fsck_rows[] = {
	OPTION_FLAG('n', "look", struct fsck_command, look, "say what is wrong, and change nothing"),
	OPTION_FLAG('y', "yes", struct fsck_command, yes, "repair, as without it: nothing is ever asked"),
	OPTION_FLAG('q', "quiet", struct fsck_command, quiet, "say nothing of traces in which nothing is wrong"),
	OPTION_FLAG(0, "discard", struct fsck_command, discard, "do not keep what is cut off"),
};

static const struct options fsck_options = {
	.operands = "[TRACE...]",
	.about =
		"Repairs what a crash, a full disk or damage left of a trace, so that babeltrace2 and other readers\n"
		"of CTF open it again. What is cut off is kept in TRACE/ktr/lost+found. Exit status: 0, nothing is\n"
		"wrong; 1, it was repaired; 4, something is wrong still; 8, it could not be done; 16, wrong usage.",
	.examples = "ktr fsck\n"
		    "ktr fsck -n /var/tmp/ktr.out     only look\n",
	OPTIONS_ROWS(fsck_rows),
};

static void fsck_say(void *context, const char *line)
{
	(void)context;
	progress_wipe();
	fprintf(stderr, "ktr fsck: %s\n", line);
}

static int fsck_one(const char *command, const struct ktr__fsck *plan, const char *path, int quiet)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__fsck fsck = *plan;
	int rc;

	fsck.path = path;
	fsck.say = fsck_say;
	fsck.step = progress_step;
	progress_count(command);
	rc = ktr__fsck(&fsck, &err);
	progress_end();
	if (rc) {
		fail_with(command, &err);
		return FSCK_FAILED | (fsck.n_mended ? FSCK_MENDED : 0) |
		       (fsck.n_found > fsck.n_mended ? FSCK_LEFT : 0);
	}
	if (!quiet || fsck.n_found)
		fprintf(stderr, "%s: %s: %llu events in %llu packets; %s\n", command, path,
			(unsigned long long)fsck.n_events, (unsigned long long)fsck.n_packets,
			!fsck.n_found        ? "nothing is wrong"
			: fsck.only_look     ? "it needs repair"
			: plan->keep_nothing ? "repaired"
					     : "repaired; what was cut is in ktr/lost+found");
	return fsck.n_mended ? FSCK_MENDED : fsck.n_found ? FSCK_LEFT : FSCK_CLEAN;
}

static int cmd_fsck(int argc, char **argv)
{
	struct fsck_command c = { 0 };
	struct ktr__fsck plan = { 0 };
	int status;

	if (!options_parse(&fsck_options, argc, argv, &c, &status))
		return status ? FSCK_USAGE : 0;
	plan.only_look = c.look;
	plan.keep_nothing = c.discard;
	if (optind == argc)
		return fsck_one(argv[0], &plan, FIND_TRACE, c.quiet);
	for (int i = optind; i < argc; i++)
		status |= fsck_one(argv[0], &plan, argv[i], c.quiet);
	return status;
}

COMMAND(fsck, "repair a trace after a crash, so that every CTF reader opens it", cmd_fsck);
