/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A piece is linked when it has its number and its end, which it is given at once: rotation leaves it alone until
 * so many younger ones are there. What has the number before that is the trace that comes next, for the two
 * exchange their names: one without an end is waited for as long as somebody has it locked, who was killed in
 * between otherwise. A piece takes its name among those that are kept when all of its files are there and it has
 * not been removed meanwhile, for rotation takes the name first.
 */
#include "tools/ship/ship_spool.h"

#include "analyze/follow/kept.h"
#include "conf/kit/array.h"
#include "tools/fleet/folder.h"
#include "tools/options.h"
#include "tools/ship/ship_links.h"

#include <ktr/trace_file.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SPOOL_LOOK_MS  200 /* between two looks where the folder does not tell that it has changed */
#define SPOOL_NEAR_MS  20  /* likewise, where a piece has no end yet */
#define SPOOL_WEIGH_NS 100000000ull /* between two looks how much it is, or ten times what one takes */
#define SPOOL_DEPTH    3u /* a piece, and folders in it */

/* A piece that was moved aside. */
struct spool_piece {
	char *name; /* owned */
	ino_t ino; /* of its info.jsonl */
	int is_seen, is_done; /* it was linked, or cannot be */
};

struct ship_spool {
	const char *command, *key;
	char *folder; /* owned */
	char *name;   /* owned; of the only trace; NULL: of all in the folder */
	uint64_t bytes;
	struct spool_piece *piece; /* owned */
	uint32_t n, room;
	int watch_fd, is_over, has_complained;
	int n_waiting; /* pieces that have no end yet, at the last look */
	uint64_t weigh_ns; /* not before it is looked how much it is */
	pthread_mutex_t lock; /* of the pieces: both threads look */
	pthread_t thread;
};

static uint64_t spool_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * Who opens it meanwhile finds that it has no name any more, and nothing of it: what tells that it is being removed
 * (ktr__lines_removed()) goes before its streams. 0, or -1: it is there still.
 */
static int spool_remove(const char *folder, const struct ktr__kept *piece)
{
	char *path = ktr__kept_path(folder, piece), gone[PATH_MAX], info[PATH_MAX + 32];
	int rc = -1;

	if (path && snprintf(gone, sizeof(gone), "%s/.%u-%llu", folder, piece->number,
			     (unsigned long long)piece->ino) < PATH_MAX) {
		rc = rename(path, gone);
		snprintf(info, sizeof(info), "%s/" KTR_TRACE_DIR "/info.jsonl", gone);
		unlink(info);
		ship_links_empty(AT_FDCWD, gone, SPOOL_DEPTH);
		rmdir(gone);
	}
	free(path);
	return rc;
}

/* Is the folder of all that is kept our own, and not a way into somewhere else? 0, or -errno. */
static int spool_check(const char *folder)
{
	char above[PATH_MAX];
	struct stat st;

	snprintf(above, sizeof(above), "%.*s", (int)(strrchr(folder, '/') - folder), folder);
	mkdir(above, 0700);
	if (lstat(above, &st))
		return -errno;
	return !S_ISDIR(st.st_mode) ? -ENOTDIR : st.st_uid != geteuid() ? -EPERM : 0;
}

/* Folders without a piece go. */
static void spool_tidy(const char *folder)
{
	char *above = strdup(folder);

	if (above && rmdir(folder) == 0) {
		*strrchr(above, '/') = 0;
		rmdir(above);
	}
	free(above);
}

/* ---- pieces ---- */

/* What a trace is called in its folder. Owned by the caller; NULL without memory. */
static char *spool_name(const char *path)
{
	size_t n = strlen(path);
	const char *slash;

	while (n > 1 && path[n - 1] == '/')
		n--;
	slash = memrchr(path, '/', n);
	return slash ? strndup(slash + 1, n - (size_t)(slash + 1 - path)) : strndup(path, n);
}

static void spool_complain(struct ship_spool *spool, const char *path, int rc)
{
	if (!spool->has_complained++)
		fprintf(stderr, "%s: %s: what rotation removes before it is shipped is not kept: %s\n", spool->command, path,
			strerror(-rc));
}

/* The file of its first lines. 0, or -1: there is none. */
static int spool_info(const char *path, struct stat *st)
{
	char info[PATH_MAX + 32];

	snprintf(info, sizeof(info), "%.4095s/" KTR_TRACE_DIR "/info.jsonl", path);
	return lstat(info, st);
}

static int spool_has_name(const char *path, ino_t ino)
{
	struct stat st;

	return spool_info(path, &st) == 0 && st.st_ino == ino;
}

/* Was it given its end, or will nobody give it one any more? */
static int spool_has_ended(const char *path)
{
	char info[PATH_MAX + 32], line[512];
	struct stat st;
	ssize_t n = 0;
	int fd, is_left;

	snprintf(info, sizeof(info), "%.4095s/" KTR_TRACE_DIR "/info.jsonl", path);
	fd = open(info, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	/* First: who writes it lets go of it after its last line. */
	is_left = flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;
	if (fstat(fd, &st) == 0)
		n = pread(fd, line, sizeof(line) - 1,
			  st.st_size > (off_t)sizeof(line) - 1 ? st.st_size - (off_t)(sizeof(line) - 1) : 0);
	line[n > 0 ? n : 0] = 0;
	close(fd);
	return is_left || strstr(line, "{\"kind\":\"end\"") != NULL;
}

/* Links a piece into a directory that has no name yet, and names it. 0 or -errno. */
static int spool_link_into(const char *path, ino_t ino, const char *folder, const char *kept)
{
	char fresh[PATH_MAX];
	int to, rc;

	if (access(kept, F_OK) == 0)
		return 0;
	snprintf(fresh, sizeof(fresh), "%s/.%s", folder, strrchr(kept, '/') + 1);
	if (mkdir(fresh, 0700) && errno != EEXIST)
		return -errno;
	to = open(fresh, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (to < 0)
		return -errno;
	rc = ship_links_make(AT_FDCWD, path, to, SPOOL_DEPTH);
	close(to);
	if (!rc && spool_has_name(path, ino) && rename(fresh, kept) == 0)
		return 0;
	ship_links_empty(AT_FDCWD, fresh, SPOOL_DEPTH);
	rmdir(fresh);
	return rc ? rc : -ENOENT;
}

/* folder: owned by the caller, where the pieces of the trace that this is one of are kept. NULL: it is none. */
static char *spool_folder(const struct ship_spool *spool, const char *path, struct ktr__kept *piece)
{
	const char *dot = strrchr(path, '.');
	char uuid[FOLDER_UUID_BYTES], *trace, *folder;
	uint8_t octet[16];
	struct stat st;
	unsigned i;

	if (!folder_is_part(path) || strlen(dot + 1) > 10 || strtoull(dot + 1, NULL, 10) >= UINT32_MAX ||
	    folder_uuid(path, uuid) || strlen(uuid) != 32 || spool_info(path, &st))
		return NULL;
	for (i = 0; i < 16 && sscanf(uuid + 2 * i, "%2hhx", &octet[i]) == 1; i++)
		;
	if (i < 16)
		return NULL;
	*piece = (struct ktr__kept){ (uint32_t)strtoul(dot + 1, NULL, 10), st.st_ino };
	trace = strndup(path, (size_t)(dot - path));
	if (!trace || ktr__kept_folder(trace, octet, spool->key, &folder))
		folder = NULL;
	free(trace);
	return folder;
}

/* 0: linked; -ENOENT: there is nothing to be linked, or not yet; or another -errno. */
static int spool_link(struct ship_spool *spool, const char *path)
{
	struct ktr__kept piece;
	char *folder = spool_folder(spool, path, &piece), *kept;
	int rc;

	if (!folder)
		return -ENOENT;
	kept = ktr__kept_path(folder, &piece);
	rc = kept ? spool_check(folder) : -ENOMEM;
	if (!rc)
		rc = mkdir(folder, 0700) && errno != EEXIST ?
			     -errno : spool_link_into(path, piece.ino, folder, kept);
	if (rc && rc != -ENOENT)
		spool_complain(spool, path, rc);
	spool_tidy(folder);
	free(kept);
	free(folder);
	return rc;
}

static struct spool_piece *spool_piece(struct ship_spool *spool, const char *name, ino_t ino)
{
	for (uint32_t i = 0; i < spool->n; i++)
		if (spool->piece[i].ino == ino && strcmp(spool->piece[i].name, name) == 0)
			return &spool->piece[i];
	if (ktr__array_grow(&spool->piece, &spool->room, spool->n, sizeof(*spool->piece)))
		return NULL;
	spool->piece[spool->n] = (struct spool_piece){ .name = strdup(name), .ino = ino };
	return spool->piece[spool->n].name ? &spool->piece[spool->n++] : NULL;
}

/* NAME.12, of the trace that is wanted? */
static int spool_is_wanted(const struct ship_spool *spool, const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && name[0] != '.' && dot[1] >= '1' && dot[1] <= '9' && !dot[1 + strspn(dot + 1, "0123456789")] &&
	       (!spool->name || (strncmp(spool->name, name, (size_t)(dot - name)) == 0 &&
				 !spool->name[dot - name]));
}

static void spool_look_at(struct ship_spool *spool, const char *name)
{
	char path[PATH_MAX];
	struct spool_piece *piece;
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/%s", spool->folder, name) >= PATH_MAX || spool_info(path, &st))
		return;
	piece = spool_piece(spool, name, st.st_ino);
	if (!piece)
		return;
	piece->is_seen = 1;
	if (piece->is_done)
		return;
	if (!spool_has_ended(path))
		spool->n_waiting++;
	else
		piece->is_done = spool_link(spool, path) != -ENOENT;
}

static void spool_look(struct ship_spool *spool)
{
	DIR *dir = ship_links_open(AT_FDCWD, spool->folder);
	const struct dirent *entry;

	spool->n_waiting = 0;
	for (uint32_t i = 0; i < spool->n; i++)
		spool->piece[i].is_seen = 0;
	while (dir && (entry = ship_links_read(dir)))
		if (spool_is_wanted(spool, entry->d_name))
			spool_look_at(spool, entry->d_name);
	if (dir)
		closedir(dir);
	for (uint32_t i = spool->n; i-- > 0;)
		if (!spool->piece[i].is_seen) {
			free(spool->piece[i].name);
			spool->piece[i] = spool->piece[--spool->n];
		}
}

/* Pieces that the trace has now, linked or not, are not to be linked after this. */
static void spool_pass(struct ship_spool *spool, const char *path)
{
	char *name = spool_name(path);
	size_t n = name ? strlen(name) : 0;

	spool_look(spool);
	for (uint32_t i = 0; name && i < spool->n; i++)
		spool->piece[i].is_done |= strncmp(spool->piece[i].name, name, n) == 0 &&
					   spool->piece[i].name + n == strrchr(spool->piece[i].name, '.');
	free(name);
}

/* ---- how much ---- */

struct spool_weight {
	uint64_t bytes;
	char *folder; /* owned; where the oldest one that has a weight is; NULL: there is none */
	struct ktr__kept oldest;
	struct timespec since;
};

/* Of a trace that is the one that has the lowest number. Returns what it weighs. */
static uint64_t spool_weigh_piece(struct spool_weight *w, const char *folder, const struct ktr__kept *piece,
				  int is_lowest)
{
	char *path = ktr__kept_path(folder, piece);
	uint64_t n = path ? ship_links_weigh(AT_FDCWD, path, SPOOL_DEPTH) : 0;
	struct stat st;

	if (n && stat(path, &st) == 0) {
		w->bytes += n;
		if (is_lowest && (!w->folder || st.st_mtim.tv_sec < w->since.tv_sec ||
		    (st.st_mtim.tv_sec == w->since.tv_sec && st.st_mtim.tv_nsec < w->since.tv_nsec))) {
			free(w->folder);
			w->folder = strdup(folder);
			w->oldest = *piece;
			w->since = st.st_mtim;
		}
	}
	free(path);
	return n;
}

/* All that we keep of traces of the folder. */
static struct spool_weight spool_weigh(const struct ship_spool *spool)
{
	struct spool_weight w = { 0 };
	char folder[PATH_MAX];
	const struct dirent *entry;
	struct ktr__kept *piece;
	struct stat st;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%.*s/" KTR__KEPT_DIR, PATH_MAX - 32, spool->folder);
	dir = ship_links_open(AT_FDCWD, folder);
	if (dir && (fstat(dirfd(dir), &st) || st.st_uid != geteuid())) {
		closedir(dir); /* another's, and not ours to remove anything in */
		dir = NULL;
	}
	while (dir && (entry = ship_links_read(dir))) {
		char kept[PATH_MAX];
		const char *dot = strrchr(entry->d_name, '.');
		int n = snprintf(kept, sizeof(kept), "%s/%s", folder, entry->d_name) >= PATH_MAX || !dot ||
				strcmp(dot + 1, spool->key) != 0 ? 0 : ktr__kept_pieces(kept, &piece);

		for (int i = 0, is_lowest = 1; i < n; i++)
			is_lowest &= !spool_weigh_piece(&w, kept, &piece[i], is_lowest);
		if (n > 0)
			free(piece);
	}
	if (dir)
		closedir(dir);
	return w;
}

static void spool_limit(struct ship_spool *spool)
{
	struct spool_weight w;
	int is_over;

	do {
		w = spool_weigh(spool);
		is_over = w.folder && w.bytes > spool->bytes && !spool_remove(w.folder, &w.oldest);
		free(w.folder);
	} while (is_over);
}

/* ---- the thread ---- */

/* Looks. Returns how long it is until the next time, in milliseconds. */
static int spool_turn(struct ship_spool *spool)
{
	uint64_t began_ns = spool_now(), took_ns;
	int wait_ms;

	pthread_mutex_lock(&spool->lock);
	spool_look(spool);
	if (began_ns >= spool->weigh_ns) {
		spool_limit(spool);
		took_ns = spool_now() - began_ns;
		spool->weigh_ns = began_ns + (10 * took_ns > SPOOL_WEIGH_NS ? 10 * took_ns : SPOOL_WEIGH_NS);
	}
	wait_ms = spool->n_waiting ? SPOOL_NEAR_MS : SPOOL_LOOK_MS;
	pthread_mutex_unlock(&spool->lock);
	return wait_ms;
}

static void *spool_main(void *context)
{
	struct ship_spool *spool = context;
	struct pollfd watch = { .fd = spool->watch_fd, .events = POLLIN };
	int wait_ms = SPOOL_NEAR_MS;
	char changes[4096];

	while (!__atomic_load_n(&spool->is_over, __ATOMIC_ACQUIRE)) {
		if (poll(&watch, 1, wait_ms) > 0 && read(spool->watch_fd, changes, sizeof(changes)) < 0)
			watch.fd = -1;
		wait_ms = spool_turn(spool);
	}
	return NULL;
}

/* Where it lies, and what it is called. 0 or -1 without memory. */
static int spool_of(struct ship_spool *spool, const char *path, int is_folder)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	spool->name = is_folder ? NULL : spool_name(path);
	if (spool->name)
		n -= strlen(spool->name);
	spool->folder = n ? strndup(path, n) : strdup(".");
	return spool->folder && (is_folder || spool->name) ? 0 : -1;
}

static void spool_free(struct ship_spool *spool)
{
	for (uint32_t i = 0; i < spool->n; i++)
		free(spool->piece[i].name);
	if (spool->watch_fd >= 0)
		close(spool->watch_fd);
	free(spool->piece);
	free(spool->folder);
	free(spool->name);
	free(spool);
}

struct ship_spool *ship_spool_begin(const struct ship *like, const char *path, int is_folder, uint64_t bytes)
{
	struct ship_spool *spool = calloc(1, sizeof(*spool));
	sigset_t all, outer;
	int rc;

	if (!spool || spool_of(spool, path, is_folder)) {
		if (spool) {
			free(spool->folder);
			free(spool->name);
		}
		free(spool);
		fail(like->command, "no memory");
		return NULL;
	}
	spool->command = like->command;
	spool->key = like->key;
	spool->bytes = bytes;
	pthread_mutex_init(&spool->lock, NULL);
	spool->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (spool->watch_fd >= 0)
		inotify_add_watch(spool->watch_fd, spool->folder, IN_MOVED_TO | IN_ONLYDIR);
	spool_turn(spool);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &outer);
	rc = pthread_create(&spool->thread, NULL, spool_main, spool);
	pthread_sigmask(SIG_SETMASK, &outer, NULL);
	if (!rc)
		return spool;
	fail(like->command, "%s: what rotation removes before it is shipped is not kept: %s", path, strerror(rc));
	spool_free(spool);
	return NULL;
}

void ship_spool_end(struct ship_spool *spool)
{
	if (!spool)
		return;
	__atomic_store_n(&spool->is_over, 1, __ATOMIC_RELEASE);
	pthread_join(spool->thread, NULL);
	spool_free(spool);
}

static void spool_drop(const char *folder, uint32_t below)
{
	struct ktr__kept *piece;
	int is_there = access(folder, F_OK) == 0 && spool_check(folder) == 0;
	int n = is_there ? ktr__kept_pieces(folder, &piece) : 0;

	for (int i = 0; i < n; i++)
		if (piece[i].number < below)
			spool_remove(folder, &piece[i]);
	if (n > 0)
		free(piece);
	/* What somebody was linking, or removing, when he was killed. */
	if (is_there && below == UINT32_MAX)
		ship_links_empty(AT_FDCWD, folder, SPOOL_DEPTH + 1);
	spool_tidy(folder);
}

void ship_spool_drop(const struct ship *ship, uint32_t below)
{
	char *folder;

	if (ktr__kept_folder(ship->path, ship->info->uuid, ship->key, &folder) || !folder)
		return;
	if (ship->spool)
		pthread_mutex_lock(&ship->spool->lock);
	if (ship->spool && below == UINT32_MAX)
		spool_pass(ship->spool, ship->path);
	spool_drop(folder, below);
	if (ship->spool)
		pthread_mutex_unlock(&ship->spool->lock);
	free(folder);
}
