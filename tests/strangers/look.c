/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each event brings its row, its process and its thread as the kernel says them, and its number. So every line is
 * held against three: the row, which says how many there are; the reader's own pid and tid, which come from ktr's
 * tables; and the numbers before it.
 */
#include "look.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define LOOK_FAULTS 4u /* told of in full */

void look_fault(struct look *look, const char *format, ...)
{
	va_list args;

	if (look->n_faults++ >= LOOK_FAULTS)
		return;
	fputs("    ", stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

void look_begin(struct look *look, const struct oracle *oracle, const char *ktr)
{
	look->oracle = oracle;
	look->ktr = ktr;
	free(look->seen);
	look->seen = calloc(ORACLE_ROWS, LOOK_SEEN);
	if (!look->seen)
		abort();
	memset(look->next, 0, sizeof(look->next));
	look->lost = 0;
}

/* The number behind a word, or 0. */
static uint64_t look_number(const char *line, const char *word)
{
	const char *at = strstr(line, word);

	return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

static void look_oracle(struct look *look, const char *line, const char *msg)
{
	uint32_t pid = (uint32_t)look_number(line, "\"pid\":"), tid = (uint32_t)look_number(line, "\"tid\":");
	const struct oracle_row *row;
	unsigned n, p, t, seq;

	if (sscanf(msg, "oracle %u %u %u %u", &n, &p, &t, &seq) != 4 || n >= look->oracle->n_rows ||
	    p != look->oracle->row[n].pid || t != look->oracle->row[n].tid || seq >= look->oracle->row[n].begun ||
	    seq >= LOOK_SEEN) {
		look_fault(look, "an event that nobody recorded: %.60s", msg);
		return;
	}
	row = &look->oracle->row[n];
	if (pid != row->pid || tid != row->tid)
		look_fault(look, "event %u of row %u, of process %u, thread %u, stands under process %u, thread %u",
			   seq, n, row->pid, row->tid, pid, tid);
	if (look->seen[n * LOOK_SEEN + seq]++)
		look_fault(look, "event %u of row %u is there twice", seq, n);
	else if (seq < look->next[n])
		look_fault(look, "event %u of row %u comes behind %u", seq, n, look->next[n] - 1);
	look->next[n] = seq + 1;
}

/* What ktr itself says of processes and threads bears their numbers, too. */
static void look_own(struct look *look, const char *line, const char *msg)
{
	uint32_t pid = (uint32_t)look_number(line, "\"pid\":"), tid = (uint32_t)look_number(line, "\"tid\":");
	int number;

	/* Below 0: the kernel refused to say. */
	if (sscanf(msg, "process %d ", &number) == 1 && number > 0 && (uint32_t)number != pid)
		look_fault(look, "\"%.40s\" stands under process %u", msg, pid);
	if (sscanf(msg, "thread %d ", &number) == 1 && number > 0 && (uint32_t)number != tid)
		look_fault(look, "\"%.40s\" stands under thread %u", msg, tid);
}

static void look_line(struct look *look, const char *line)
{
	static const char event[] = "{\"type\":\"event\"", head[] = "{\"type\":\"head\"", words[] = "\"msg\":\"";
	const char *msg;

	if (strncmp(line, head, sizeof(head) - 1) == 0)
		look->lost += look_number(line, "\"lost\":");
	else if (strstr(line, "\"damaged\":true"))
		look_fault(look, "%.160s", line);
	if (strncmp(line, event, sizeof(event) - 1) != 0)
		return;
	msg = strstr(line, words);
	if (!msg)
		look_fault(look, "an event without words: %.80s", line);
	else if (strncmp(msg + sizeof(words) - 1, "oracle ", 7) == 0)
		look_oracle(look, line, msg + sizeof(words) - 1);
	else
		look_own(look, line, msg + sizeof(words) - 1);
}

void look_read(struct look *look, const char *path)
{
	char command[1024], *line = NULL;
	size_t size = 0;
	FILE *stream;
	int status;

	snprintf(command, sizeof(command), "'%s' json '%s' 2>&1", look->ktr, path);
	stream = popen(command, "r");
	if (!stream)
		abort();
	while (getline(&line, &size, stream) > 0)
		look_line(look, line);
	free(line);
	status = pclose(stream);
	if (status)
		look_fault(look, "%s: exit status %d", command, WEXITSTATUS(status));
}

/* Of a row: how many events that are done were not read. */
static unsigned look_missing(const struct look *look, unsigned n, unsigned *first)
{
	unsigned missing = 0;

	for (unsigned seq = look->oracle->row[n].done; seq-- > 0;)
		if (!look->seen[n * LOOK_SEEN + seq]) {
			missing++;
			*first = seq;
		}
	return missing;
}

void look_end(struct look *look, const char *what)
{
	uint64_t dropped = 0;

	for (unsigned n = 0; n < look->oracle->n_rows; n++) {
		const struct oracle_row *row = &look->oracle->row[n];
		unsigned first = 0, missing = look_missing(look, n, &first);

		if (row->fate == ORACLE_KEPT && missing)
			look_fault(look, "%s: %u of %u events of row %u (process %u, thread %u) are missing, the first is %u",
				   what, missing, row->done, n, row->pid, row->tid, first);
		if (row->fate == ORACLE_DROPPED && missing != row->done)
			look_fault(look, "%s: %u events of a child of vfork(2) are there", what, row->done - missing);
		if (row->fate != ORACLE_KEPT)
			dropped += missing;
	}
	if (look->lost != dropped)
		look_fault(look, "%s: says that %llu events are lost, which are %llu", what,
			   (unsigned long long)look->lost, (unsigned long long)dropped);
}
