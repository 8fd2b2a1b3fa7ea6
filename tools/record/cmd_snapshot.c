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

enum { SNAPSHOT_FREEZE = OPTION_LONG(0) };

static const struct option_row snapshot_rows[] = {
	OPTIONS_SOURCE,
	{ 'o', "output", "TRACE",
	  "the trace to write; an older one moves aside (default: ktr.out)" },
	{ SNAPSHOT_FREEZE, "freeze", NULL, "the rings stand still meanwhile: what happens then is not recorded" },
};

static const struct options snapshot_options = {
	.operands = "",
	.about =
		"Saves what the rings of a session hold at this moment. The session may be a live one, which is\n"
		"not disturbed, or one that a killed program has left behind.",
	.examples = "ktr snapshot -p 4711\n"
		    "ktr snapshot --freeze -p 4711           all rings as of one moment\n"
		    "ktr snapshot -s indexer.4711 -o last-moments\n",
	.rows = snapshot_rows,
	.n_rows = sizeof(snapshot_rows) / sizeof(snapshot_rows[0]),
};

#define SNAPSHOT_KNOB "debug.ktr.freeze"

static int snapshot_save(const char *command, const struct ktr__attach *attach)
{
	return save_session(command, attach, ktr__snapshot_session);
}

/*
 * The same while the rings stand still. Who is interrupted in between would leave them so: signals wait. Rings that
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
	rc = rc < 0 ? 1 : snapshot_save(command, attach);
	if (strcmp(before, "0") == 0 && ktr_conf_set(ktr_session_conf(session), SNAPSHOT_KNOB, "0", &err) < 0)
		rc = fail_with(command, &err);
	sigprocmask(SIG_SETMASK, &outer, NULL);
	ktr_session_close(session);
	return rc;
}

static int cmd_snapshot(int argc, char **argv)
{
	struct find find = { .command = argv[0] };
	struct ktr__attach attach = { .trace = FIND_TRACE, .from = KTR__DRAIN_OLDEST };
	char path[PATH_MAX];
	const char *value;
	int id, rc, freeze = 0;

	while ((id = options_next(&snapshot_options, argc, argv, &value)) > 0) {
		if (id == SNAPSHOT_FREEZE)
			freeze = 1;
		else if (!find_option(&find, id, value))
			attach.trace = value;
	}
	if (id < 0)
		return options_status(id);
	rc = operands_at_most(argv[0], argc, argv, 0);
	if (!rc)
		rc = find_session(&find, path, sizeof(path));
	if (rc)
		return rc;
	attach.session = path;
	return freeze ? snapshot_frozen(argv[0], &attach) : snapshot_save(argv[0], &attach);
}

COMMAND(snapshot, "save what the rings of a session hold", cmd_snapshot);
