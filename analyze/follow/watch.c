/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See watch.h. A trace is watched as a directory: its streams' writes are told, and so is whatever is
 * made in or moved out of the directory that it lies in. Where inotify has no watches left, or the
 * file system is one that tells nothing (a network's), a look every WATCH_POLL_NS does. Even where all
 * is told, a look a second finds a writer that was killed.
 */
#include "analyze/follow/watch.h"

#include "ktr/session/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define WATCH_POLL_NS 15000000ull /* a tail is to be less than 100 ms late: 80 of them are the writer's */
#define WATCH_TOLD_NS 500000000ull
#define WATCH_MIN_NS  1000000ull  /* a session: between two looks while events come, */
#define WATCH_MAX_NS  40000000ull /* and while none do */

uint64_t ktr__watch_now(void)
{
	return ktr__clock_now(KTR_CLOCK_MONOTONIC);
}

/* Is it on this machine's own disks or memory, where every write is told of? */
static int watch_is_local(const char *path)
{
	static const long remote[] = { 0x6969 /* NFS */,      0xff534d42 /* CIFS */,
				       0xfe534d42 /* SMB2 */, 0x65735546 /* FUSE */,
				       0x01021997 /* 9P */,   0x00c36400 /* CEPH */ };
	struct statfs fs;

	if (statfs(path, &fs))
		return 0;
	for (unsigned i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
		if ((long)fs.f_type == remote[i])
			return 0;
	return 1;
}

/* What has the name now is watched; what had it is not any more. */
static void watch_directory(struct ktr__watch *watch)
{
	int before = watch->directory;

	watch->directory = inotify_add_watch(watch->fd, watch->path,
					     IN_MODIFY | IN_CREATE | IN_ONLYDIR | IN_MOVE_SELF |
						     IN_DELETE_SELF);
	/* The same directory has the same number. */
	if (before >= 0 && before != watch->directory)
		inotify_rm_watch(watch->fd, before);
}

void ktr__watch_open(struct ktr__watch *watch, const char *path)
{
	struct stat st;
	char *parent, *slash;

	*watch = (struct ktr__watch){ .fd = -1, .directory = -1, .pause_ns = WATCH_MIN_NS };
	watch->path = strdup(path);
	if (!watch->path || stat(path, &st) || !S_ISDIR(st.st_mode))
		return; /* a session is written through mappings */
	watch->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (watch->fd < 0)
		return;
	watch_directory(watch);
	parent = strdup(path);
	slash = parent ? strrchr(parent, '/') : NULL;
	if (slash)
		slash[1] = 0;
	watch->is_told = parent && watch->directory >= 0 && watch_is_local(path) &&
			 inotify_add_watch(watch->fd, slash ? parent : ".",
					   IN_MOVED_TO | IN_CREATE | IN_ONLYDIR) >= 0;
	free(parent);
}

void ktr__watch_close(struct ktr__watch *watch)
{
	if (watch->fd >= 0)
		close(watch->fd);
	free(watch->path);
	watch->fd = -1;
	watch->path = NULL;
}

/* Does the event tell that the name may have become another directory's? */
static int watch_is_moved(const struct ktr__watch *watch, const struct inotify_event *event)
{
	const char *slash = strrchr(watch->path, '/');

	if (event->mask & IN_IGNORED)
		return 0; /* that is our own doing */
	if (event->wd == watch->directory || (event->mask & IN_Q_OVERFLOW))
		return (event->mask & (IN_MOVE_SELF | IN_DELETE_SELF | IN_Q_OVERFLOW)) != 0;
	return event->len && strcmp(event->name, slash ? slash + 1 : watch->path) == 0;
}

/* Takes what has been told; a directory that was moved has a successor to be watched. */
static void watch_drain(struct ktr__watch *watch)
{
	char buffer[4096] __attribute__((aligned(8)));
	int moved = 0;
	ssize_t n;

	while ((n = read(watch->fd, buffer, sizeof(buffer))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event = (const void *)(buffer + at);

			moved |= watch_is_moved(watch, event);
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	if (moved)
		watch_directory(watch);
}

int ktr__watch_wait(struct ktr__watch *watch, uint64_t max_ns)
{
	uint64_t pause = watch->is_told   ? WATCH_TOLD_NS
			 : watch->fd >= 0 ? WATCH_POLL_NS
					  : watch->pause_ns;
	struct pollfd fd = { .fd = watch->is_told ? watch->fd : -1, .events = POLLIN };
	struct timespec ts;
	int n;

	if (pause > max_ns)
		pause = max_ns;
	ts = (struct timespec){ (time_t)(pause / 1000000000u), (long)(pause % 1000000000u) };
	n = ppoll(&fd, 1, &ts, NULL);
	if (n < 0)
		return errno == EINTR ? -EINTR : 0;
	if (n > 0)
		watch_drain(watch);
	return 0;
}

void ktr__watch_busy(struct ktr__watch *watch, int busy)
{
	watch->pause_ns = busy ? WATCH_MIN_NS : watch->pause_ns * 2;
	if (watch->pause_ns > WATCH_MAX_NS)
		watch->pause_ns = WATCH_MAX_NS;
}
