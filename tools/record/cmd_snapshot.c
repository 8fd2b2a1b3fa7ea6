/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr snapshot: saves what the rings of a session hold now, live or dead, as a trace.
 */
#include "tools/command.h"
#include "tools/find.h"
#include "tools/options.h"
#include "tools/record/save.h"

#include <ktr/ctl.h>

#include <limits.h>
#include <signal.h>
#include <string.h>

struct snapshot {
	struct find find;
	const char *trace;
	int freeze;
};

static const struct option_row snapshot_rows[] = {
	OPTIONS_SOURCE(struct snapshot, find),
	OPTION_TEXT('o', "output", "TRACE", struct snapshot, trace,
		    "the trace to write; an older one moves aside (default: ktr.out)"),
	OPTION_FLAG(0, "freeze", struct snapshot, freeze, "the rings stand still meanwhile: what happens then is not recorded"),
};

static const struct options snapshot_options = {
	.operands = "",
	.about =
		"Saves what the rings of a session hold at this moment. The session may be a live one, which is\n"
		"not disturbed, or one that a killed program has left behind.",
	.examples = "ktr snapshot -p 4711\n"
		    "ktr snapshot --freeze -p 4711           all rings as of one moment\n"
		    "ktr snapshot -s indexer.4711 -o last-moments\n",
	OPTIONS_ROWS(snapshot_rows),
};

#define SNAPSHOT_KNOB "debug.ktr.freeze"

/*
 * Saves while the rings stand still. Who is interrupted in between would leave them so: signals wait. Rings that
 * somebody has stopped already, and those of a session that nobody is in, stay as they are.
 */
static int snapshot_frozen(const char *command, const struct ktr__attach *attach)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_session *session;
	char before[32] = "1";
	sigset_t all, outer;
	int rc;

	if (ktr_session_attach(attach->session, &session, &err))
		return fail_with(command, &err);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &outer);
	rc = ktr_conf_get(ktr_session_conf(session), SNAPSHOT_KNOB, before, sizeof(before), &err);
	if (!rc && strcmp(before, "0") == 0)
		rc = ktr_conf_set(ktr_session_conf(session), SNAPSHOT_KNOB, "1", &err);
	if (rc < 0)
		fail_with(command, &err);
	rc = rc < 0 ? 1 : save_session(command, attach, ktr__snapshot_session);
	if (strcmp(before, "0") == 0 && ktr_conf_set(ktr_session_conf(session), SNAPSHOT_KNOB, "0", &err) < 0)
		rc = fail_with(command, &err);
	sigprocmask(SIG_SETMASK, &outer, NULL);
	ktr_session_close(session);
	return rc;
}

static int cmd_snapshot(int argc, char **argv)
{
	struct snapshot snapshot = { .find.command = argv[0], .trace = FIND_TRACE };
	struct ktr__attach attach = { .from = KTR__DRAIN_OLDEST };
	char path[PATH_MAX];
	int rc;

	if (!options_parse(&snapshot_options, argc, argv, &snapshot, &rc))
		return rc;
	rc = operands_at_most(argv[0], argc, argv, 0);
	if (!rc)
		rc = find_session(&snapshot.find, path, sizeof(path));
	if (rc)
		return rc;
	attach.session = path;
	attach.trace = snapshot.trace;
	return snapshot.freeze ? snapshot_frozen(argv[0], &attach) :
				 save_session(argv[0], &attach, ktr__snapshot_session);
}

COMMAND(snapshot, "save what the rings of a session hold", cmd_snapshot);
