/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps a crash loop from filling memory with sessions.
 *
 * What a start costs is bounded: a look at so many names, an lstat(2) for a sample of the files, and
 * only where more lie there than may stay are those opened. A name that carries the number of a running
 * process is taken for a live session's without looking, seven times out of eight: the eighth look is
 * for numbers that have been given anew, and for those of other pid namespaces. A sample of a large
 * heap shrinks it too, a piece with every start.
 *
 * Whoever removes a session holds its lock exclusively and has seen the path lead to it (INVARIANTS S4),
 * so that any number of programs may sweep at once.
 */
#include "conf/number.h"
#include "ktr/load/sweep.h"
#include "ktr/session/kernel.h"
#include "ktr/session/session_again.h"
#include "ktr/session/session_find.h"
#include "ktr/session/session_map.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define SWEEP_LOOK   4096 /* names; about 0.2 us each */
#define SWEEP_SAMPLE 64   /* files; about 1 us each, 4 us where they are opened */
#define SWEEP_ALL    8 /* times as many of all programs; less than half the sample */

struct sweep_file {
	uint64_t time_ns;
	uint64_t bytes;
	char name[KTR_SESSION_NAME_MAX];
	bool looked; /* it has been opened: */
	bool dead;   /* it is, and stays */
};

static struct sweep {
	struct sweep_file file[SWEEP_SAMPLE]; /* newest first */
	unsigned n_files;
	unsigned n_seen;
	unsigned n_looked;
	unsigned chance; /* not random enough for more than choosing a sample */
	size_t dir_bytes;
	char path[PATH_MAX];
} sweep;

/* How much of a session's name is its program's: "make" of make.4711 and of make.4711.1. */
static size_t sweep_stem(const char *name)
{
	size_t n = strlen(name);

	for (int i = 0; i < 2; i++) {
		size_t at = n;

		while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
			at--;
		if (at < 2 || at == n || name[at - 1] != '.')
			break;
		n = at - 1;
	}
	return n;
}

static bool sweep_same(const char *a, const char *b)
{
	size_t n = sweep_stem(a);

	return n == sweep_stem(b) && memcmp(a, b, n) == 0;
}

static unsigned sweep_chance(void)
{
	sweep.chance = sweep.chance * 1103515245u + 12345u; /* POSIX's example of rand() */
	return sweep.chance >> 8;
}

/* Is it the name of a process that runs? */
static bool sweep_runs(const char *name)
{
	const char *number = name + sweep_stem(name);
	long pid = *number ? strtol(number + 1, NULL, 10) : 0;

	return pid > 0 && pid <= INT_MAX && ktr__proc_exists((uint32_t)pid);
}

static int sweep_visit(void *context, const char *path, const char *name)
{
	unsigned at = sweep.n_files;
	struct stat st;

	(void)context;
	sweep.dir_bytes = strlen(path) - strlen(name) - (sizeof(KTR_SESSION_SUFFIX) - 1);
	if (++sweep.n_looked > SWEEP_LOOK || sweep.dir_bytes + NAME_MAX >= sizeof(sweep.path))
		return 1;
	memcpy(sweep.path, path, sweep.dir_bytes);
	if ((sweep_runs(name) && sweep_chance() & 7) || lstat(path, &st) != 0)
		return 0;
	if (++sweep.n_seen > SWEEP_SAMPLE) {
		at = sweep_chance() % sweep.n_seen;
		if (at >= SWEEP_SAMPLE)
			return 0;
	} else {
		sweep.n_files++;
	}
	sweep.file[at].time_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 +
				 (uint64_t)st.st_mtim.tv_nsec;
	sweep.file[at].bytes = (uint64_t)st.st_blocks * 512;
	strcpy(sweep.file[at].name, name);
	sweep.file[at].looked = sweep.file[at].dead = false;
	return 0;
}

static int sweep_newest(const void *a, const void *b)
{
	uint64_t x = ((const struct sweep_file *)a)->time_ns,
		 y = ((const struct sweep_file *)b)->time_ns;

	return (x < y) - (x > y);
}

static uint64_t sweep_limit(const char *name, uint64_t otherwise)
{
	const char *text = secure_getenv(name);
	uint64_t number;

	return text && *text && ktr__parse_size(text, &number, NULL) == 0 ? number : otherwise;
}

/*
 * Nobody uses it, nor looks after it: 1 with the lock held until map is closed, unless the path leads elsewhere by
 * now.
 */
static int sweep_seize(const struct ktr__session_map *map, const char *path)
{
	struct stat ours, there;
	int rc = ktr__map_seize(map);

	if (rc > 0 && (ktr__session_attended(path) || fstat(map->fd, &ours) != 0 || lstat(path, &there) != 0 ||
		       ours.st_ino != there.st_ino || ours.st_dev != there.st_dev))
		rc = 0;
	return rc;
}

int ktr__sweep_one(const char *path, struct ktr_error *err)
{
	struct ktr__session_map map;
	int rc = ktr__map_open(path, KTR__MAP_OWN, &map, err);

	if (rc)
		return rc;
	rc = sweep_seize(&map, path);
	if (rc > 0 && unlink(path) != 0)
		rc = ktr_error_at(err, path, 0, 0, errno, "%m");
	ktr__map_close(&map);
	return rc;
}

/* Removes the file at sweep.path if it is nobody's and more than may stay. True: it is a dead one, and stays. */
static bool sweep_dead(bool remove)
{
	struct ktr__session_map map;
	struct ktr_control control;
	bool stays = false;

	if (ktr__map_open(sweep.path, KTR__MAP_OWN, &map, NULL))
		return false;
	if (sweep_seize(&map, sweep.path) > 0 && ktr__map_control(&map, &control) == 0 &&
	    (!control.keep_session || control.keep_session == KTR_KEEP_UNWRITTEN))
		stays = !remove || unlink(sweep.path) != 0;
	ktr__map_close(&map);
	return stays;
}

struct sweep_sums {
	uint64_t n, same, bytes;
};

/* Opens the file, unless that has been done. */
static void sweep_look(struct sweep_file *file, bool remove)
{
	if (file->looked)
		return;
	file->looked = true;
	strcpy(stpcpy(sweep.path + sweep.dir_bytes, file->name), KTR_SESSION_SUFFIX);
	file->dead = sweep_dead(remove);
}

/* Those of the first i that stay, dead for all that is known (surely: dead for certain). */
static struct sweep_sums sweep_before(unsigned i, const char *own, bool surely)
{
	struct sweep_sums sums = { 0, own && sweep_same(own, sweep.file[i].name), 0 };

	for (unsigned j = 0; j < i; j++) {
		struct sweep_file *file = &sweep.file[j];

		if (surely)
			sweep_look(file, false);
		if (file->looked && !file->dead)
			continue;
		sums.n++;
		sums.same += sweep_same(file->name, sweep.file[i].name);
		sums.bytes += file->bytes;
	}
	return sums;
}

static bool sweep_is_more(const struct sweep_sums *sums, const struct sweep_file *file, uint64_t n_keep,
			  uint64_t bytes_max)
{
	return sums->same >= n_keep || sums->n >= n_keep * SWEEP_ALL ||
	       (sums->n && sums->bytes + file->bytes > bytes_max);
}

/* What may stay even if all before it were dead is not opened: that takes three calls for each process it had. */
static void sweep_files(const char *own, uint64_t n_keep, uint64_t bytes_max)
{
	for (unsigned i = 0; i < sweep.n_files; i++) {
		struct sweep_file *file = &sweep.file[i];
		struct sweep_sums sums = sweep_before(i, own, false);

		if (sweep_is_more(&sums, file, n_keep, bytes_max)) {
			sums = sweep_before(i, own, true);
			sweep_look(file, sweep_is_more(&sums, file, n_keep, bytes_max));
		}
	}
}

void ktr__sweep(const char *own)
{
	uint64_t n_keep = sweep_limit("KTR_DEAD_SESSIONS", SWEEP_COUNT);
	uint64_t bytes_max = sweep_limit("KTR_DEAD_BYTES", SWEEP_BYTES), bytes = 0;
	struct statvfs fs;

	sweep.n_files = sweep.n_seen = sweep.n_looked = 0;
	sweep.chance = (unsigned)getpid();
	ktr__session_walk(sweep_visit, NULL, NULL);
	for (unsigned i = 0; i < sweep.n_files; i++)
		bytes += sweep.file[i].bytes;
	if (!sweep.n_files)
		return;
	strcpy(sweep.path + sweep.dir_bytes, ".");
	if (statvfs(sweep.path, &fs) == 0 && fs.f_blocks &&
	    fs.f_blocks * fs.f_frsize / 4 < bytes_max)
		bytes_max = fs.f_blocks * fs.f_frsize / 4;
	if (sweep.n_files + (own != NULL) <= n_keep && bytes <= bytes_max)
		return;
	qsort(sweep.file, sweep.n_files, sizeof(sweep.file[0]), sweep_newest);
	sweep_files(own, n_keep, bytes_max);
}
