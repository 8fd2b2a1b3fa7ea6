/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr rm: removes sessions that ended programs left behind. One that is in use stays unless --force
 * is given: its programs would go on recording where nobody could look any more. What lies among the
 * sessions and is none is removed as well, unless somebody holds a lock on it: it may be a session of
 * another version.
 */
#include "ktr/load/sweep.h"
#include "ktr/session/session_find.h"
#include "tools/command.h"
#include "tools/find.h"
#include "tools/options.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RM_UNFINISHED_S 60 /* making a session takes a millisecond */

struct rm {
	const char *command;
	char **names;
	int n_names;
	int force, dead;
	char seen[64]; /* per name: has it matched anything? */
	unsigned n_removed;
	unsigned n_failed;
};

/* Is a file that is no session of ours locked? Opened without following a link or waiting. */
static int rm_locked(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return locked;
}

/* 1: removed; 0: in use; or -errno. */
static int rm_try(const struct rm *rm, const char *path)
{
	int rc = rm->force ? -EINVAL : ktr__sweep_one(path, NULL);

	if (rc >= 0 || rc == -ENOENT)
		return rc;
	if (!rm->force && (rc == -EAGAIN || rm_locked(path)))
		return 0;
	return unlink(path) == 0 ? 1 : -errno;
}

static int rm_wanted(struct rm *rm, const char *name)
{
	int wanted = !rm->n_names;

	for (int i = 0; i < rm->n_names; i++)
		if (find_matches(&rm->names[i], 1, name)) {
			wanted = 1;
			if (i < (int)sizeof(rm->seen))
				rm->seen[i] = 1;
		}
	return wanted;
}

static int rm_visit(void *context, const char *path, const char *name)
{
	struct rm *rm = context;
	int rc;

	if (!rm_wanted(rm, name))
		return 0;
	rc = rm_try(rm, path);
	if (rc > 0) {
		rm->n_removed++;
	} else if (rc < 0 && rc != -ENOENT) {
		fail(rm->command, "%s: %s", path, strerror(-rc));
		rm->n_failed++;
	} else if (rc == 0 && !rm->dead && access(path, F_OK) == 0) {
		fail(rm->command, "%s is in use; end its programs first, or give --force", name);
		rm->n_failed++;
	}
	return 0;
}

/* Names that matched nothing. */
static void rm_unseen(struct rm *rm)
{
	for (int i = 0; i < rm->n_names && i < (int)sizeof(rm->seen); i++) {
		struct ktr_error err = KTR_ERROR_NONE;
		char path[512];

		if (rm->seen[i])
			continue;
		if (ktr__session_find_name(rm->names[i], path, sizeof(path), &err) == 0)
			continue; /* there it is, now */
		if (strpbrk(rm->names[i], "*?["))
			fail(rm->command, "no session matches \"%s\"", rm->names[i]);
		else
			fail_with(rm->command, &err);
		rm->n_failed++;
	}
}

/* Files that programs were making when they were killed: unfinished, of no use, and some time old. */
static void rm_unfinished(void)
{
	char dir[PATH_MAX];
	struct dirent *entry;
	struct stat st;
	DIR *stream;

	if (ktr__session_dir(geteuid(), dir, sizeof(dir), NULL))
		return;
	stream = opendir(dir);
	while (stream && (entry = readdir(stream)) != NULL) {
		const char *end = strrchr(entry->d_name, '.');

		if (*entry->d_name == '.' && end && strcmp(end, ".new") == 0 &&
		    fstatat(dirfd(stream), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && time(NULL) - st.st_mtime > RM_UNFINISHED_S)
			unlinkat(dirfd(stream), entry->d_name, 0);
	}
	if (stream)
		closedir(stream);
}

static int cmd_rm(int argc, char **argv)
{
	static const struct option_row rows[] = {
		OPTION_FLAG('d', "dead", struct rm, dead,
			    "remove all sessions that nobody uses any more, or those of NAME"),
		OPTION_FLAG('f', "force", struct rm, force, "remove sessions by name even while they are in use"),
	};
	static const struct options options = {
		.operands = "NAME... | --dead [NAME...]",
		.about =
			"Removes sessions (see ktr ls); * and ? in a NAME match. Traces are plain directories: rm -r.",
		.examples = "ktr rm indexer.4711\nktr rm --dead\nktr rm --dead 'indexer*'\n",
		OPTIONS_ROWS(rows),
	};
	struct rm rm = { .command = argv[0] };
	struct ktr_error err = KTR_ERROR_NONE;
	int status;

	if (!options_parse(&options, argc, argv, &rm, &status))
		return status;
	rm.names = argv + optind;
	rm.n_names = argc - optind;
	if (rm.dead && rm.force)
		return usage_error(argv[0], "--dead and --force exclude each other");
	if (!rm.dead && !rm.n_names)
		return usage_error(argv[0], "name a session, or give --dead");
	if (rm.n_names > (int)sizeof(rm.seen))
		return usage_error(argv[0], "at most %zu names", sizeof(rm.seen));
	if (ktr__session_walk(rm_visit, &rm, &err))
		return fail_with(argv[0], &err);
	if (!rm.dead)
		rm_unseen(&rm);
	else
		rm_unfinished();
	if (rm.dead)
		printf("%u session%s removed\n", rm.n_removed, rm.n_removed == 1 ? "" : "s");
	ktr__sweep(NULL);
	return rm.n_failed ? 1 : 0;
}

COMMAND(rm, "remove sessions that ended programs left behind", cmd_rm);
