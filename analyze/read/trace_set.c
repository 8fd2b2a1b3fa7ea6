/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the directories of one trace.
 *
 * Rotation gives a new directory NAME.N, with a number above all before, and then has it exchange names with
 * NAME; a look at both that is not atomic may therefore find one directory twice, miss one in between, or take
 * the new one for an older one. Directories are told apart by device and inode, one with a number that is being
 * written is looked at until it has its end or another name, and the look for the next one is repeated until
 * nothing has moved in between.
 */
#include "analyze/read/trace_set.h"

#include "analyze/follow/kept.h"
#include "analyze/read/source.h"
#include "conf/kit/array.h"

#include <ktr/trace_file.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SET_PAUSE_NS 2000000 /* between two looks for a name that rotation is about to give away, */
#define SET_TRIES    16      /* looks for the next directory while rotation goes on */

struct ktr__lines ktr__set_lines(struct ktr__event_source *source, const struct ktr__trace_dir *member,
				 struct ktr_error *err)
{
	return (struct ktr__lines){ .source = source,
				    .path = member->path,
				    .dir_fd = member->dir_fd,
				    .finished = member->head.has_ended ||
						member->number != KTR__SET_LIVE,
				    .is_whole = member->is_whole,
				    .err = err };
}

static void set_forget(struct ktr__trace_dir *member)
{
	if (member->dir_fd >= 0)
		close(member->dir_fd);
	free(member->path);
}

void ktr__set_close(struct ktr__trace_set *set)
{
	for (unsigned i = 0; i < set->n; i++)
		set_forget(&set->member[i]);
	if (set->last_info >= 0)
		close(set->last_info);
	free(set->member);
	free(set->kept);
	set->last_info = -1;
	set->kept = NULL;
	set->member = NULL;
	set->n = 0;
}

int ktr__set_has_name(const struct ktr__trace_dir *member)
{
	struct stat st;

	return stat(member->path, &st) == 0 && st.st_dev == member->dev && st.st_ino == member->ino;
}

/* The inode of its info.jsonl, by which what was kept of a directory is told to be it; 0: it has none. */
static ino_t set_info_ino(int dir_fd)
{
	struct stat st;

	return fstatat(dir_fd, KTR_TRACE_DIR "/info.jsonl", &st, AT_SYMLINK_NOFOLLOW) ? 0 : st.st_ino;
}

/* Opens what was kept of a piece: of that number, 0: any, and of that inode, 0: any. 0 or -errno. */
static int set_open_kept(const struct ktr__trace_set *set, struct ktr__trace_dir *member, uint32_t number,
			 ino_t ino)
{
	struct ktr__kept *piece = NULL;
	int n = set->kept ? ktr__kept_pieces(set->kept, &piece) : 0, i;
	struct stat st;

	member->dir_fd = -1;
	member->path = NULL;
	for (i = 0; i < n && ((number && piece[i].number != number) || (ino && piece[i].ino != ino)); i++)
		;
	if (i < n) {
		member->path = ktr__kept_path(set->kept, &piece[i]);
		member->number = piece[i].number;
		member->info_ino = piece[i].ino;
		member->is_kept = 1;
	}
	free(piece);
	if (!member->path)
		return n < 0 || i < n ? -ENOMEM : -ENOENT;
	member->dir_fd = open(member->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (member->dir_fd < 0 || fstat(member->dir_fd, &st))
		return -errno;
	member->dev = st.st_dev;
	member->ino = st.st_ino;
	member->is_whole = !ktr__lines_removed(member->dir_fd);
	return 0;
}

int ktr__set_use_kept(const struct ktr__trace_set *set, struct ktr__trace_dir *member)
{
	struct ktr__trace_dir kept = *member;

	/* One that was being removed when it was opened is known by its number alone. */
	if (!set->kept || (!member->info_ino && member->number == KTR__SET_LIVE))
		return 0;
	if (set_open_kept(set, &kept, member->number == KTR__SET_LIVE ? 0 : member->number, member->info_ino)) {
		set_forget(&kept);
		return 0;
	}
	set_forget(member);
	*member = kept;
	return 1;
}

/*
 * Opens a directory at path, or at path.number, or what was kept of it. What is removed loses its name first.
 * 0 or -errno.
 */
static int set_open_dir(const struct ktr__trace_set *set, struct ktr__trace_dir *member, const char *path,
			uint32_t number)
{
	struct stat st;
	int n = number == KTR__SET_LIVE ? asprintf(&member->path, "%s", path)
					: asprintf(&member->path, "%s.%u", path, number);

	member->dir_fd = -1;
	member->number = number;
	if (n < 0) {
		member->path = NULL;
		return -ENOMEM;
	}
	member->dir_fd = open(member->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (member->dir_fd < 0 && errno == ENOENT && number != KTR__SET_LIVE && set->kept) {
		free(member->path);
		return set_open_kept(set, member, number, 0);
	}
	if (member->dir_fd < 0 || fstat(member->dir_fd, &st))
		return -errno;
	member->dev = st.st_dev;
	member->ino = st.st_ino;
	member->info_ino = set_info_ino(member->dir_fd);
	member->is_whole = !ktr__lines_removed(member->dir_fd) || !ktr__set_has_name(member);
	return 0;
}

int ktr__set_is_removed(const struct ktr__trace_dir *member)
{
	return member->is_whole && ktr__lines_removed(member->dir_fd);
}

int ktr__set_has_gone(const struct ktr__trace_set *set)
{
	int gone = set->has_gone;

	for (unsigned i = 0; i < set->n && !gone; i++)
		gone = ktr__set_is_removed(&set->member[i]);
	return gone;
}

/* Opens the directory and reads what the trace in it says of itself. */
static int set_open(struct ktr__event_source *source, struct ktr__trace_dir *member, const char *path,
		    uint32_t number, struct ktr_error *err)
{
	struct ktr__lines lines;
	int rc = set_open_dir(source->set, member, path, number);

	if (rc)
		return ktr_error_at(err, path, 0, 0, -rc, "%s", strerror(-rc));
	if (number != KTR__SET_LIVE && ktr__set_is_removed(member))
		ktr__set_use_kept(source->set, member);
	lines = ktr__set_lines(source, member, err);
	rc = ktr__trace_head(&lines, &member->head);
	if (!rc || number == KTR__SET_LIVE || !ktr__set_is_removed(member) ||
	    !ktr__set_use_kept(source->set, member))
		return rc;
	lines = ktr__set_lines(source, member, err);
	return ktr__trace_head(&lines, &member->head);
}

/* Opens what may be of another trace, of which nothing is to be told. */
static int set_probe(struct ktr__event_source *source, struct ktr__trace_dir *member, const char *path,
		     uint32_t number)
{
	int rc;

	source->quiet = 1;
	rc = set_open(source, member, path, number, NULL);
	source->quiet = 0;
	return rc;
}

/*
 * What was kept of a member whose number is not known is found by the inode of its info.jsonl, which nothing else
 * is to have then.
 */
static void set_hold_last(struct ktr__trace_set *set)
{
	const struct ktr__trace_dir *last = &set->member[set->n - 1];

	if (set->last_info >= 0)
		close(set->last_info);
	set->last_info = set->kept && last->number == KTR__SET_LIVE ?
				 openat(last->dir_fd, KTR_TRACE_DIR "/info.jsonl", O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
}

/* Takes the member. 0 or -ENOMEM. */
static int set_add(struct ktr__trace_set *set, unsigned at, struct ktr__trace_dir *member)
{
	if (ktr__array_grow(&set->member, &set->room, set->n, sizeof(*member))) {
		set_forget(member);
		return -ENOMEM;
	}
	memmove(&set->member[at + 1], &set->member[at], (set->n++ - at) * sizeof(*member));
	set->member[at] = *member;
	return 0;
}

static int set_compare(const void *a, const void *b)
{
	uint32_t m = *(const uint32_t *)a, n = *(const uint32_t *)b;

	return (m > n) - (m < n);
}

/* The number after "NAME.", or 0. */
static uint32_t set_number(const char *entry, const char *name, size_t n_name)
{
	unsigned long long number;
	char *end;

	if (strncmp(entry, name, n_name) != 0 || entry[n_name] != '.' || entry[n_name + 1] < '1' ||
	    entry[n_name + 1] > '9')
		return 0;
	number = strtoull(entry + n_name + 1, &end, 10);
	return *end || number >= KTR__SET_LIVE ? 0 : (uint32_t)number;
}

/* Those of NAME.N, in no order. */
static int set_named(const char *path, uint32_t above, uint32_t **numbers)
{
	size_t n_path = strlen(path);
	const char *slash, *name;
	const struct dirent *entry;
	char *parent;
	uint32_t room = 0;
	int n = 0;
	DIR *dir;

	*numbers = NULL;
	slash = memrchr(path, '/', n_path);
	name = slash ? slash + 1 : path;
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return 0;
	parent = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	dir = parent ? opendir(parent) : NULL;
	free(parent);
	if (!dir)
		return 0; /* it need not be readable */
	while ((entry = readdir(dir))) {
		uint32_t number = set_number(entry->d_name, name, strlen(name));

		if (number <= above)
			continue;
		if (ktr__array_grow(numbers, &room, (uint32_t)n, sizeof(number))) {
			n = -ENOMEM;
			break;
		}
		(*numbers)[n++] = number;
	}
	closedir(dir);
	if (n < 0) {
		free(*numbers);
		*numbers = NULL;
	}
	return n;
}

/* Adds those of pieces that were kept. */
static int set_add_kept(const struct ktr__trace_set *set, uint32_t above, uint32_t **numbers, int n)
{
	struct ktr__kept *piece;
	int n_kept = ktr__kept_pieces(set->kept, &piece);
	uint32_t *all = n_kept > 0 ? realloc(*numbers, (size_t)(n + n_kept) * sizeof(*all)) : NULL;

	for (int i = 0; all && i < n_kept; i++)
		if (piece[i].number > above)
			all[n++] = piece[i].number;
	free(piece);
	if (all)
		*numbers = all;
	return n_kept < 0 || (n_kept && !all) ? -ENOMEM : n;
}

/*
 * The numbers N above `above` for which there is a NAME.N, or was one and is kept, ascending. Returns how many,
 * with *numbers owned by the caller, or -errno. set: NULL: those of the name alone.
 */
static int set_numbers(const struct ktr__trace_set *set, const char *path, uint32_t above, uint32_t **numbers)
{
	int n = set_named(path, above, numbers), unique = 0;

	if (n >= 0 && set && set->kept)
		n = set_add_kept(set, above, numbers, n);
	if (n > 0)
		qsort(*numbers, (size_t)n, sizeof(**numbers), set_compare);
	for (int i = 0; i < n; i++)
		if (!unique || (*numbers)[unique - 1] != (*numbers)[i])
			(*numbers)[unique++] = (*numbers)[i];
	if (n < 0) {
		free(*numbers);
		*numbers = NULL;
	}
	return n < 0 ? n : unique;
}

unsigned ktr__set_patience = 100;

int ktr__set_await(const char *path)
{
	const struct timespec pause = { 0, SET_PAUSE_NS };
	int error = errno; /* callers tell why there is nothing */
	uint32_t *numbers;
	int n = set_numbers(NULL, path, 0, &numbers);

	free(numbers);
	for (unsigned i = 0; n > 0 && i < ktr__set_patience; i++) {
		if (access(path, F_OK) == 0)
			return 1;
		nanosleep(&pause, NULL);
	}
	errno = error;
	return 0;
}

static int set_is_of(const struct ktr__trace_dir *a, const struct ktr__trace_dir *b)
{
	return memcmp(a->head.uuid, b->head.uuid, sizeof(a->head.uuid)) == 0;
}

static int set_is_same(const struct ktr__trace_dir *a, const struct ktr__trace_dir *b)
{
	if (a->is_kept || b->is_kept)
		return a->info_ino && a->info_ino == b->info_ino;
	return a->dev == b->dev && a->ino == b->ino;
}

/*
 * Had the number, when it was opened, the one that comes after NAME, which had not exchanged names with that yet?
 * Then it loses it in a moment; what has it rightly has its end in a moment.
 */
static int set_is_early(struct ktr__event_source *source, struct ktr__trace_dir *member)
{
	const struct timespec pause = { 0, SET_PAUSE_NS };
	int early = 0;

	source->quiet = 1;
	for (unsigned i = 0; i < ktr__set_patience && !early && !member->is_kept && member->head.is_written &&
			     !member->head.has_ended; i++) {
		struct ktr__lines lines = ktr__set_lines(source, member, NULL);

		if (i)
			nanosleep(&pause, NULL);
		early = !ktr__set_has_name(member) || ktr__trace_head(&lines, &member->head);
	}
	source->quiet = 0;
	return early;
}

void ktr__set_leave(struct ktr__trace_dir *member)
{
	if (member->dir_fd >= 0)
		close(member->dir_fd);
	member->dir_fd = -1;
}

int ktr__set_enter(const struct ktr__trace_set *set, struct ktr__trace_dir *member, const char *path)
{
	struct ktr__trace_dir again = { .dir_fd = -1 };
	int rc = -ENOENT;

	if (member->dir_fd >= 0)
		return 0;
	/* By its number, which nothing else gets; that of one without, which was removed, is not known. */
	if (member->number != KTR__SET_LIVE)
		rc = set_open_dir(set, &again, path, member->number);
	if (!rc && set_is_same(&again, member)) {
		member->dir_fd = again.dir_fd;
		again.dir_fd = -1;
	}
	set_forget(&again);
	return rc == -ENOMEM ? rc : member->dir_fd >= 0;
}

/* Adds what was rotated away before the only member there is yet. 0 or -ENOMEM. */
static int set_add_older(struct ktr__event_source *source, struct ktr__trace_set *set, const char *path)
{
	uint32_t *numbers;
	int n = set_numbers(set, path, 0, &numbers), rc = n < 0 ? n : 0;

	for (int i = 0; i < n && !rc; i++) {
		struct ktr__trace_dir member, *live = &set->member[set->n - 1];

		memset(&member, 0, sizeof(member));
		rc = set_probe(source, &member, path, numbers[i]);
		if (rc == 0 && set_is_same(&member, live)) {
			live->number =
				numbers[i]; /* it has just been rotated: nothing older follows */
			set_forget(&member);
			break;
		}
		if (rc == 0 && set_is_of(&member, live) && !set_is_early(source, &member))
			rc = set_add(set, set->n - 1, &member);
		else
			set_forget(&member);
		rc = rc == -ENOMEM ? rc : 0;
	}
	free(numbers);
	return rc;
}

int ktr__set_open(struct ktr__event_source *source, struct ktr__trace_set *set, const char *path, int alone,
		  struct ktr_error *err)
{
	struct ktr__trace_dir member;
	int rc;

	memset(&member, 0, sizeof(member));
	set->last_info = -1;
	rc = set_open(source, &member, path, KTR__SET_LIVE, err);
	set->has_gone = rc && ktr__set_is_removed(&member);
	if (rc)
		set_forget(&member);
	else
		rc = set_add(set, 0, &member);
	if (!rc && source->kept) {
		rc = ktr__kept_folder(path, set->member[0].head.uuid, source->kept, &set->kept);
		set_hold_last(set);
	}
	return rc || alone ? rc : set_add_older(source, set, path);
}

/*
 * The number that the last member has now: it may have been moved since it was opened. Of one that
 * was removed, the number before it is known.
 */
static uint32_t set_last_number(const struct ktr__trace_set *set, const char *path)
{
	const struct ktr__trace_dir *last = &set->member[set->n - 1];
	uint32_t *numbers, found = 0;
	int n;

	if (last->number != KTR__SET_LIVE)
		return last->number;
	n = set_numbers(set, path, 0, &numbers);
	while (n-- > 0 && !found) {
		struct ktr__trace_dir member = { 0 };

		if (set_open_dir(set, &member, path, numbers[n]) == 0 && set_is_same(&member, last))
			found = numbers[n];
		set_forget(&member);
	}
	free(numbers);
	return found || set->n < 2 ? found : last[-1].number;
}

/*
 * One look: 1 with *member open, 0 when the last one has the name still, -EAGAIN when something
 * moved meanwhile, or another -errno. What has the name is the next one only if nothing was moved to
 * a number while it was opened: that would be missed.
 */
static int set_look(struct ktr__event_source *source, struct ktr__trace_set *set, const char *path,
		    struct ktr__trace_dir *member)
{
	struct ktr__trace_dir *last = &set->member[set->n - 1];
	uint32_t number = set_last_number(set, path), *numbers;
	int n = set_numbers(set, path, number, &numbers), rc;

	rc = n < 0 ? n : set_probe(source, member, path, n ? numbers[0] : KTR__SET_LIVE);
	free(numbers);
	if (rc)
		return rc;
	if (set_is_same(member, last))
		return 0;
	if (!set_is_of(member, last))
		return -ESTALE;
	if (n && set_is_early(source, member))
		return -EAGAIN;
	if (!n) {
		n = set_numbers(set, path, number, &numbers);
		free(numbers);
		if (n)
			return n < 0 ? n : -EAGAIN;
	}
	if (number && last->number == KTR__SET_LIVE)
		last->number = number;
	return 1;
}

int ktr__set_next(struct ktr__event_source *source, struct ktr__trace_set *set, const char *path)
{
	const struct ktr__trace_dir *last = &set->member[set->n - 1];
	struct ktr__trace_dir member;
	int rc = 0;

	if (last->number == KTR__SET_LIVE && ktr__set_has_name(last))
		return 0;
	for (int i = 0; i < SET_TRIES; i++) {
		memset(&member, 0, sizeof(member));
		member.dir_fd = -1;
		rc = set_look(source, set, path, &member);
		if (rc == 1) {
			rc = set_add(set, set->n, &member) ? -ENOMEM : 1;
			set_hold_last(set);
			return rc;
		}
		set_forget(&member);
		if (rc != -ENOENT && rc != -EAGAIN)
			break;
	}
	return rc;
}
