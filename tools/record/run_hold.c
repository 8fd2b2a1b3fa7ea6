/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lock is fcntl(2)'s of an open file (F_OFD_SETLK): it ends with us however we end, children that execute do
 * not have it, and whoever wants to know asks for it without taking it. It is shared: of several ktr run with one
 * session the last one removes the file.
 */
#include "tools/record/run_hold.h"

#include "ktr/session/session_again.h"
#include "ktr/session/session_find.h"
#include "ktr/session/session_map.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int hold_lock(int fd, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLK, &lock);
}

/* Opens and locks the file of the name. 1: another one has just been removed by who held it last, try again. */
static int hold_open(struct run_hold *hold)
{
	struct stat ours, named;

	hold->fd = open(hold->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	if (hold->fd < 0)
		return 0;
	if (hold_lock(hold->fd, F_RDLCK) == 0 && fstat(hold->fd, &ours) == 0 && S_ISREG(ours.st_mode) &&
	    lstat(hold->path, &named) == 0 && ours.st_ino == named.st_ino)
		return 0;
	close(hold->fd);
	hold->fd = -1;
	return 1;
}

static void hold_aside(const char *session, size_t stem)
{
	struct ktr__session_map map;
	char old[PATH_MAX];

	if (ktr__map_open(session, KTR__MAP_OWN, &map, NULL))
		return;
	snprintf(old, sizeof(old), "%.*s.old" KTR_SESSION_SUFFIX, (int)stem, session);
	if (ktr__map_seize(&map) > 0 && !ktr__session_attended(session))
		rename(session, old);
	ktr__map_close(&map);
}

void run_hold_begin(struct run_hold *hold, const char *name)
{
	char session[PATH_MAX];
	size_t stem;

	hold->fd = -1;
	hold->path[0] = '\0';
	if (ktr__session_path_of(name, session, sizeof(session) - sizeof(".old"), NULL))
		return;
	stem = strlen(session) - (sizeof(KTR_SESSION_SUFFIX) - 1);
	snprintf(hold->path, sizeof(hold->path), "%.*s" KTR_SESSION_RUN_SUFFIX, (int)stem, session);
	*strrchr(session, '/') = '\0';
	mkdir(session, 0700); /* as the first program would; why it cannot be, that one tells */
	session[strlen(session)] = '/';
	hold_aside(session, stem);
	for (int i = 0; i < 100 && hold_open(hold); i++)
		;
}

void run_hold_end(struct run_hold *hold)
{
	if (hold->fd < 0)
		return;
	if (hold_lock(hold->fd, F_WRLCK) == 0)
		unlink(hold->path);
	hold_lock(hold->fd, F_UNLCK); /* a child that is about to close it has it, too */
	close(hold->fd);
	hold->fd = -1;
}

void run_hold_clear(struct run_hold *hold)
{
	hold->fd = open(hold->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	run_hold_end(hold);
}
