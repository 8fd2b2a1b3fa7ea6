/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session of a process, which may live in other namespaces than we do.
 *
 * A row of the process table has the number that the process has in its own pid namespace, and the
 * namespace; /proc/PID/status and /proc/PID/ns/pid tell the same about a number of ours. A session that
 * does not lie in our own directory (another KTR_DIR, another user's, another mount namespace) is found
 * by what the process has mapped: at that path below the process's root, at that path as we see it, or,
 * where no path leads there, through the process's descriptors and mappings themselves. What is taken
 * has the inode that the process has mapped. Of two paths to one file that one is taken which does not
 * end with the process.
 */
#include "ktr/session/session_proc.h"

#include "ktr/session/session_find.h"
#include "ktr/session/session_map.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is looked for, and what has been found so far. */
struct proc_find {
	uint32_t pid; /* ours */
	struct ktr_proc_row
		row; /* the running process: pid, pid_ns and start_time as its own row has them */
	char *path;
	size_t size;
	unsigned n_dead;
	uint64_t start_time; /* of the dead process whose session is kept */
};

/* A number after a word at the start of a line of /proc/PID/status; of several the last one. */
static int proc_status(uint32_t pid, const char *word, int last, uint64_t *number)
{
	char path[32], text[4096];
	const char *at;
	int found = 0;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	ktr__kernel_text(path, text, sizeof(text));
	at = strstr(text, word);
	if (!at)
		return 0;
	at += strlen(word);
	do {
		at += strspn(at, " \t");
		found |= ktr__kernel_number(&at, number);
	} while (last && (*at == ' ' || *at == '\t'));
	return found;
}

/* The process of our number `pid` as its own row would say it. 0 where that cannot be known. */
static int proc_inner(uint32_t pid, struct ktr_proc_row *row)
{
	char path[32];
	struct stat st;
	uint64_t number;

	memset(row, 0, sizeof(*row));
	snprintf(path, sizeof(path), "/proc/%u/ns/pid", pid);
	if (stat(path, &st) != 0 || !proc_status(pid, "\nNSpid:", 1, &number))
		return 0;
	row->pid = (uint32_t)number;
	row->pid_ns = st.st_ino;
	row->start_time = ktr__proc_start_time(pid);
	return row->start_time != 0;
}

static int proc_is(const struct ktr_proc_row *a, const struct ktr_proc_row *b)
{
	return a->pid == b->pid && a->pid_ns == b->pid_ns && a->start_time == b->start_time;
}

uint32_t ktr__proc_foreign(const struct ktr_proc_row *proc)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	struct ktr_proc_row row;
	uint32_t found = 0;

	while (dir && !found && (entry = readdir(dir)) != NULL) {
		uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (pid && ktr__proc_start_time(pid) == proc->start_time && proc_inner(pid, &row) &&
		    proc_is(&row, proc))
			found = pid;
	}
	if (dir)
		closedir(dir);
	return found;
}

static int proc_keep(struct proc_find *find, const char *path)
{
	size_t length = strlen(path);

	if (length >= find->size)
		return -ENAMETOOLONG;
	memcpy(find->path, path, length + 1);
	return 0;
}

/* 2: the running process is in this session; 1: one of that number was, *start tells when it began; 0. */
static int proc_search(const struct proc_find *find, const struct ktr__session_map *map,
		       uint64_t *start)
{
	struct ktr_control control;
	struct ktr_proc_row row;
	int found = 0;
	uint32_t n;

	if (ktr__map_control(map, &control))
		return 0;
	n = ktr__map_n_rows(map, &control, KTR_REGION_proc);
	for (uint32_t i = 1; i < n; i++) {
		if (ktr__map_proc(map, i, &row))
			continue;
		if (row.state == KTR_ROW_READY && find->row.pid && proc_is(&row, &find->row))
			return 2;
		if (row.pid != find->pid || row.pid_ns != ktr__proc_own_ns())
			continue;
		if (ktr__proc_alive(&row))
			return 2;
		found = 1;
		*start = row.start_time;
	}
	return found;
}

static int proc_visit(void *context, const char *path, const char *name)
{
	struct proc_find *find = context;
	struct ktr__session_map map;
	uint64_t start = 0;
	int found, rc;

	(void)name;
	if (ktr__map_open(path, KTR__MAP_OWN, &map, NULL))
		return 0;
	found = proc_search(find, &map, &start);
	ktr__map_close(&map);
	/* Of leftovers of several processes of that number the youngest is meant. */
	if (!found || (found == 1 && find->n_dead++ && start <= find->start_time))
		return 0;
	find->start_time = start;
	rc = proc_keep(find, path);
	return rc ? rc : found == 2;
}

/* A line of /proc/PID/maps: "from-to perms offset dev inode path". */
struct proc_mapped {
	unsigned long long ino;
	char range[64];
	char file[PATH_MAX];
};

/* Is it a session's line? The path is cut where the kernel says that the file has no name any more. */
static int proc_line(const char *line, struct proc_mapped *mapped)
{
	static const char gone[] = " (deleted)";
	size_t suffix = sizeof(KTR_SESSION_SUFFIX) - 1, length;
	int at = 0;

	if (sscanf(line, "%63s %*s %*s %*s %llu %n", mapped->range, &mapped->ino, &at) < 2 || !at ||
	    line[at] != '/')
		return 0;
	snprintf(mapped->file, sizeof(mapped->file), "%s", line + at);
	length = strcspn(mapped->file, "\n");
	mapped->file[length] = '\0';
	if (length > sizeof(gone) && strcmp(mapped->file + length - (sizeof(gone) - 1), gone) == 0)
		mapped->file[length -= sizeof(gone) - 1] = '\0';
	return length > suffix && strcmp(mapped->file + length - suffix, KTR_SESSION_SUFFIX) == 0;
}

/* Takes the path if it leads to the mapped file. */
static int proc_take(struct proc_find *find, const struct proc_mapped *mapped, const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_ino != mapped->ino)
		return -ENOENT;
	return proc_keep(find, path);
}

static int proc_take_fd(struct proc_find *find, const struct proc_mapped *mapped)
{
	char path[64 + NAME_MAX];
	struct dirent *entry;
	int rc = -ENOENT;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/fd", find->pid);
	dir = opendir(path);
	while (dir && rc && (entry = readdir(dir)) != NULL) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%u/fd/%s", find->pid, entry->d_name);
		rc = proc_take(find, mapped, path);
	}
	if (dir)
		closedir(dir);
	return rc;
}

static int proc_is_one_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_ino == of_b.st_ino &&
	       of_a.st_dev == of_b.st_dev;
}

static int proc_reach(struct proc_find *find, const struct proc_mapped *mapped)
{
	char path[PATH_MAX + 64];
	int rc;

	snprintf(path, sizeof(path), "/proc/%u/root%s", find->pid, mapped->file);
	rc = proc_take(find, mapped, path);
	if (rc || proc_is_one_file(path, mapped->file))
		rc = proc_take(find, mapped, mapped->file);
	if (rc)
		rc = proc_take_fd(find, mapped);
	if (rc) {
		snprintf(path, sizeof(path), "/proc/%u/map_files/%s", find->pid, mapped->range);
		rc = proc_take(find, mapped, path);
	}
	return rc;
}

/* The session that a process has mapped. 0, -ENOENT, -ENXIO (mapped, and cannot be reached), -EACCES. */
static int proc_mapped(struct proc_find *find)
{
	char maps[32], line[PATH_MAX + 128];
	struct proc_mapped mapped;
	int rc = -ENOENT;
	FILE *stream;

	snprintf(maps, sizeof(maps), "/proc/%u/maps", find->pid);
	stream = fopen(maps, "re");
	if (!stream)
		return errno == ENOENT ? -ENOENT : -EACCES;
	while (rc && fgets(line, sizeof(line), stream))
		if (proc_line(line, &mapped))
			rc = proc_reach(find, &mapped) ? -ENXIO : 0;
	if (rc == -ENOENT && ferror(stream))
		rc = -EACCES;
	fclose(stream);
	return rc;
}

static int proc_none(const struct proc_find *find, int rc, struct ktr_error *err)
{
	uint64_t uid;

	if (rc == -ENXIO)
		return ktr_error_set(
			err, ENXIO,
			"process %u has a session that nothing leads to: its file was removed",
			find->pid);
	if (rc == -EACCES && proc_status(find->pid, "\nUid:", 0, &uid) && uid != geteuid())
		return ktr_error_set(
			err, EPERM,
			"process %u is of uid %llu: only that user and root see its session",
			find->pid, (unsigned long long)uid);
	if (rc == -EACCES)
		return ktr_error_set(
			err, EACCES,
			"process %u may not be looked at (ptrace(2) access); -s names its session",
			find->pid);
	return ktr_error_set(
		err, ENOENT,
		"process %u has no session: it is not linked with libktr, or was started with "
		"KTR_DISABLE=1",
		find->pid);
}

int ktr__session_find_pid(pid_t pid, char *path, size_t size, struct ktr_error *err)
{
	struct proc_find find = { .pid = (uint32_t)pid, .path = path, .size = size };
	int rc;

	if (pid <= 0)
		return ktr_error_set(err, EINVAL, "%d is not a process id", (int)pid);
	if (!proc_inner(find.pid, &find.row))
		memset(&find.row, 0, sizeof(find.row));
	rc = ktr__session_walk(proc_visit, &find, err);
	if (rc)
		return rc < 0 ? rc : 0;
	/* A running process elsewhere goes before the leftover of one that had its number. */
	if (ktr__proc_start_time(find.pid)) {
		rc = proc_mapped(&find);
		return rc && !find.n_dead ? proc_none(&find, rc, err) : 0;
	}
	if (find.n_dead)
		return 0;
	return ktr_error_set(err, ENOENT, "there is no process %d, and no session of it", (int)pid);
}
