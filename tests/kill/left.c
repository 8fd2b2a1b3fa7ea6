/* SPDX-License-Identifier: BSD-2-Clause */
/* See left.h. */
#include "tests/kill/left.h"

#include <ktr/trace_file.h>

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEFT_NUMBERS (1u << 26) /* bits of the set of numbers found, per thread */

static uint8_t *left_seen[LEFT_THREADS]; /* set of numbers in the trace */

/* No snprintf(3): it would be the longest part of each event. */
void left_text(char *text, unsigned thread, uint64_t number, size_t n)
{
	char digits[24];
	size_t at = 0, n_digits = 0;

	text[at++] = (char)('0' + thread);
	text[at++] = ' ';
	for (uint64_t rest = number; rest || !n_digits; rest /= 10)
		digits[n_digits++] = (char)('0' + rest % 10);
	while (n_digits && at + 1 < n)
		text[at++] = digits[--n_digits];
	while (at + 1 < n && at < number % n)
		text[at++] = '.';
	text[at] = 0;
}

int left_prepare(void)
{
	for (unsigned i = 0; i < LEFT_THREADS; i++)
		left_seen[i] = mmap(NULL, LEFT_NUMBERS / 8, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return left_seen[LEFT_THREADS - 1] == MAP_FAILED ? -1 : 0;
}

uint64_t left_noted(const struct left *left)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < LEFT_THREADS; i++)
		n += __atomic_load_n(&left->shared->thread[i].done, __ATOMIC_ACQUIRE);
	return n;
}

/* Starts a command with its output in a file beside the trace. */
pid_t left_spawn(const struct left *left, const char *const *argv)
{
	pid_t pid = fork();
	char out[300];
	int fd;

	if (pid)
		return pid;
	snprintf(out, sizeof(out), "%s/out", left->dir);
	fd = open(out, O_WRONLY | O_CREAT | O_APPEND, 0600);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

int left_run(const struct left *left, const char *const *argv)
{
	int status = -1;

	return waitpid(left_spawn(left, argv), &status, 0) < 0 ? -1 : status;
}

/* What a command has said, to be freed; n bytes from an offset of the file. */
static char *left_said(const struct left *left, off_t from)
{
	char out[300], *text = calloc(1, 65536);
	int fd;

	snprintf(out, sizeof(out), "%s/out", left->dir);
	fd = open(out, O_RDONLY);
	if (fd >= 0 && text && pread(fd, text, 65535, from) < 0)
		text[0] = 0;
	if (fd >= 0)
		close(fd);
	return text;
}

static off_t left_out_bytes(const struct left *left)
{
	char out[300];
	struct stat st;

	snprintf(out, sizeof(out), "%s/out", left->dir);
	return stat(out, &st) == 0 ? st.st_size : 0;
}

/* Is there a line that tells neither of discarded events nor that a directory of ours is passed over? */
static int left_complains(char *said)
{
	int complains = 0;

	for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n"))
		complains |= strspn(line, " \t\r") != strlen(line) && !strstr(line, "iscarded") &&
			     !strstr(line, "Skipping directory '" KTR_TRACE_DIR "'");
	return complains;
}

/* One directory, read to its end. */
static int left_opened(struct left *left, const char *path)
{
	const char *const readers[][5] = { { "/usr/bin/babeltrace2", path, "-o", "dummy", NULL },
					   { "/usr/bin/babeltrace", "-o", "dummy", path, NULL } };

	for (unsigned i = 0; i < 2; i++) {
		off_t from = left_out_bytes(left);
		char *said, *copy;
		int status, bad;

		if (access(readers[i][0], X_OK) != 0)
			continue;
		status = left_run(left, readers[i]);
		said = left_said(left, from);
		copy = said ? strdup(said) : NULL;
		bad = status || !said || left_complains(said);
		if (bad)
			fprintf(stderr, "kill: %s %s: status %d: %s\n", readers[i][0], path, status, copy ? copy : "");
		free(said);
		free(copy);
		if (bad)
			return 1;
	}
	left->n_opened++;
	return 0;
}

int left_foreign(struct left *left)
{
	const char *base = strrchr(left->trace, '/') + 1;
	size_t n_dir = (size_t)(base - left->trace);
	struct dirent *entry;
	char path[600];
	int bad = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%.*s", (int)n_dir, left->trace);
	dir = opendir(path);
	while (dir && !bad && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, base, strlen(base)) != 0)
			continue;
		snprintf(path, sizeof(path), "%.*s%s", (int)n_dir, left->trace, entry->d_name);
		bad = left_opened(left, path);
	}
	if (dir)
		closedir(dir);
	return bad;
}

/* One walk: what was found, of the class that the threads have. */
struct left_walk {
	uint64_t n;
	uint64_t lost;
	uint64_t wrong; /* damage, and numbers that are out of order or there twice */
	uint64_t absent; /* not in the set, where the set is only looked at: */
	uint64_t first[LEFT_THREADS], last[LEFT_THREADS]; /* from the one number to the other, of each thread */
};

/* Does the event say of what thread it is and which, and nothing else? */
static int left_named(const struct ktr_event *event, uint64_t *thread, uint64_t *number)
{
	char text[2 * LEFT_TEXT_MAX], want[2 * LEFT_TEXT_MAX], dots[LEFT_TEXT_MAX];
	unsigned long long digits[2];

	ktr_event_text(event, text, sizeof(text));
	if (event->site->n_args > 1) {
		*thread = event->arg[0];
		*number = event->arg[1];
	} else {
		if (sscanf(text, "%llu %llu", &digits[0], &digits[1]) != 2)
			return 0;
		*thread = digits[0];
		*number = digits[1];
	}
	left_text(dots, (unsigned)*thread, *number, *number % 4 == 2 ? LEFT_SHORT : LEFT_TEXT_MAX);
	if (*number % 4 == 3)
		snprintf(want, sizeof(want), "%s", dots);
	else
		snprintf(want, sizeof(want), "thread %u number %" PRIu64 "%s%s", (unsigned)*thread, *number,
			 *number % 4 == 1   ? " " LEFT_LITERAL
			 : *number % 4 == 2 ? ", "
					    : "",
			 *number % 4 == 2 ? dots : "");
	return strcmp(text, want) == 0;
}

static void left_event(struct left_walk *walk, const struct ktr_event *event, int fill,
			uint64_t last[LEFT_THREADS])
{
	uint64_t thread, number, bit;

	if (event->keep || event->site->mask != KTR_GEN)
		return;
	if (!left_named(event, &thread, &number)) {
		walk->wrong++;
		return;
	}
	bit = 1u << number % 8;
	if (thread >= LEFT_THREADS || number >= LEFT_NUMBERS || number + 1 <= last[thread]) {
		walk->wrong++;
		return;
	}
	last[thread] = number + 1;
	walk->n++;
	if (!fill && !(left_seen[thread][number / 8] & bit)) {
		if (!walk->last[thread])
			walk->first[thread] = number;
		walk->last[thread] = number + 1;
		walk->absent++;
	}
	if (fill)
		left_seen[thread][number / 8] |= (uint8_t)bit;
}

static int left_walk(const char *path, int fill, struct left_walk *walk)
{
	uint64_t last[LEFT_THREADS] = { 0 };
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_reader *reader;
	struct ktr_event event;
	int what, rc = ktr_reader_open(path, NULL, &reader, &err);

	memset(walk, 0, sizeof(*walk));
	if (rc) {
		fprintf(stderr, "kill: %s: %s\n", path, err.text);
		return rc;
	}
	if (fill)
		for (unsigned i = 0; i < LEFT_THREADS; i++)
			madvise(left_seen[i], LEFT_NUMBERS / 8, MADV_DONTNEED);
	while ((what = ktr_reader_next(reader, &event)) > 0) {
		if (what == KTR_READ_EVENT)
			left_event(walk, &event, fill, last);
		else if (what == KTR_READ_LOSS && !ktr_reader_loss(reader)->keep)
			walk->lost += ktr_reader_loss(reader)->n_events;
		else if (what == KTR_READ_NOTE && ktr_reader_note(reader)->damaged) {
			fprintf(stderr, "kill: %s: %s\n", path, ktr_reader_note(reader)->text);
			walk->wrong++;
		}
	}
	ktr_reader_close(reader);
	return what < 0 ? what : 0;
}

static int left_fault(const struct left *left, const char *what, const struct left_walk *walk)
{
	uint64_t begun = 0;

	for (unsigned i = 0; i < LEFT_THREADS; i++)
		begun += left->shared->thread[i].begun;
	fprintf(stderr,
		"kill: %s: %" PRIu64 " events, %" PRIu64 " lost, %" PRIu64 " wrong, %" PRIu64
		" absent; %" PRIu64 " begun, %" PRIu64 " returned\n",
		what, walk->n, walk->lost, walk->wrong, walk->absent, begun, left_noted(left));
	for (unsigned i = 0; i < LEFT_THREADS; i++)
		if (walk->last[i])
			fprintf(stderr, "kill: absent: thread %u, %" PRIu64 " to %" PRIu64 " of %" PRIu64 "\n",
				i, walk->first[i], walk->last[i] - 1, left->shared->thread[i].done);
	return 1;
}

/* As many as were recorded, which is what returned, and what each thread may have been about to? */
static int left_counts(const struct left *left, const struct left_walk *walk)
{
	uint64_t begun = 0;

	for (unsigned i = 0; i < LEFT_THREADS; i++)
		begun += left->shared->thread[i].begun;
	return walk->n + walk->lost >= left_noted(left) && walk->n + walk->lost <= begun;
}

/* The trace as it is, and whether all that the session has is in it. 0, or 1 with the fault said. */
static int left_look(struct left *left, const char *what, struct left_walk *walk)
{
	struct left_walk rings;

	if (left_walk(left->trace, 1, walk) || walk->wrong)
		return left_fault(left, what, walk);
	if (!left_walk(left->shared->session, 0, &rings) && !rings.wrong && !rings.absent)
		return 0;
	left_fault(left, what, walk);
	return left_fault(left, "what the session has is not in that", &rings);
}

int left_check(struct left *left)
{
	const char *const salvage[] = { left->ktr, "salvage", left->trace, NULL };
	struct left_walk before, after;

	if (left_look(left, "the trace as it was left", &before))
		return 1;
	if (left->from_start && !left_counts(left, &before))
		return left_fault(left, "as it was left, events are missing and not counted", &before);
	if (left_run(left, salvage))
		return left_fault(left, "salvage failed", &before);
	if (left_look(left, "the salvaged trace", &after))
		return 1;
	if (after.n < before.n || !left_counts(left, &after))
		return left_fault(left, "events are missing and not counted", &after);
	left->events += after.n;
	left->lost += after.lost;
	return 0;
}
