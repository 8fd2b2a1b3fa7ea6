/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr rm: removes sessions that ended programs left behind. One that is in use stays unless --force
 * is given: its programs would go on recording where nobody could look any more.
 */
#include "tools/command.h"
#include "tools/options.h"

#include "ktr/session_find.h"
#include "ktr/session_map.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct rm {
	const char *command;
	int force;
	unsigned n_removed;
	unsigned n_failed;
};

/* Is the session in use? What cannot be read is not. */
static int rm_alive(const char *path)
{
	struct ktr__session_map map;
	int alive, rc = ktr__map_open(path, KTR__MAP_OWN, &map, NULL);

	if (rc)
		return rc == -EAGAIN; /* somebody is just making it */
	alive = ktr__map_alive(&map) != 0;
	ktr__map_close(&map);
	return alive;
}

static void rm_unlink(struct rm *rm, const char *path)
{
	if (unlink(path) == 0) {
		rm->n_removed++;
	} else if (errno != ENOENT) {
		fail(rm->command, "%s: %s", path, strerror(errno));
		rm->n_failed++;
	}
}

static int rm_visit_dead(void *context, const char *path, const char *name)
{
	struct rm *rm = context;

	(void)name;
	if (!rm_alive(path))
		rm_unlink(rm, path);
	return 0;
}

static void rm_name(struct rm *rm, const char *name)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char path[PATH_MAX];

	if (ktr__session_find_name(name, path, sizeof(path), &err)) {
		fail_with(rm->command, &err);
		rm->n_failed++;
	} else if (!rm->force && rm_alive(path)) {
		fail(rm->command, "%s is in use; end its programs first, or give --force", name);
		rm->n_failed++;
	} else {
		rm_unlink(rm, path);
	}
}

static int cmd_rm(int argc, char **argv)
{
	static const struct option_row rows[] = {
		{ 'd', "dead", NULL, "remove all sessions that nobody uses any more" },
		{ 'f', "force", NULL, "remove a session by name even while it is in use" },
	};
	static const struct options options = {
		.operands = "NAME... | --dead",
		.about = "Removes sessions (see ktr ls). Traces are plain directories: rm -r.",
		.examples = "ktr rm indexer.4711\nktr rm --dead\n",
		.rows = rows,
		.n_rows = sizeof(rows) / sizeof(rows[0]),
	};
	struct rm rm = { .command = argv[0] };
	struct ktr_error err = KTR_ERROR_NONE;
	const char *value;
	int id, dead = 0;

	while ((id = options_next(&options, argc, argv, &value)) > 0) {
		dead |= id == 'd';
		rm.force |= id == 'f';
	}
	if (id < 0)
		return options_status(id);
	if (!dead && optind == argc)
		return usage_error(argv[0], "name a session, or give --dead");
	for (int i = optind; i < argc; i++)
		rm_name(&rm, argv[i]);
	if (dead && ktr__session_walk(rm_visit_dead, &rm, &err))
		return fail_with(argv[0], &err);
	if (dead)
		printf("%u session%s removed\n", rm.n_removed, rm.n_removed == 1 ? "" : "s");
	return rm.n_failed ? 1 : 0;
}

COMMAND(rm, "remove sessions that ended programs left behind", cmd_rm);
