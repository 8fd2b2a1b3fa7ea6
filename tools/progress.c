/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readers call for each packet, so a clock is looked at some thousand times a second. What tells nothing is
 * waited for by SIGALRM, whose handler writes a line that was made before.
 */
#include "tools/progress.h"

#include "analyze/read/reader.h"
#include "visualize/model/label.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_FIRST_NS 1000000000ull /* who waits no longer needs none */
#define PROGRESS_AGAIN_NS 200000000ull
#define PROGRESS_READERS  256u /* that are watched; ktr diff has the most */
#define PROGRESS_GONE	  "\r\033[K"

struct progress_reader {
	uint64_t from_ns, to_ns;
	uint64_t n_bytes, n_read; /* of the whole trace; 0: of a part only the times tell how far it is read */
	double share;
};

static struct {
	const char *command;
	struct progress_reader reader[PROGRESS_READERS];
	unsigned n_readers, n_expected;
	int has_share;
	int decided, wanted;
	uint64_t begun_ns, shown_ns, n_events;
	char phase[128];
	volatile sig_atomic_t shows;
} progress;

static _Thread_local int progress_is_apart;

static uint64_t progress_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void progress_write(const char *text, size_t n)
{
	ssize_t written = write(STDERR_FILENO, text, n);

	(void)written;
}

static int progress_is_wanted(void)
{
	const char *term = getenv("TERM");

	if (progress_is_apart)
		return 0;
	if (!progress.decided)
		progress.wanted = isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
	progress.decided = 1;
	return progress.wanted;
}

void progress_prints(void)
{
	struct stat is;

	if (fstat(STDOUT_FILENO, &is) == 0 && S_ISREG(is.st_mode))
		return;
	progress.decided = 1;
	progress.wanted = 0;
}

static double progress_share(void)
{
	double sum = 0;

	for (unsigned i = 0; i < progress.n_readers; i++)
		sum += progress.reader[i].share;
	return sum / (progress.n_expected > progress.n_readers ? progress.n_expected : progress.n_readers);
}

/* "2 min 5 s" */
static void progress_left(char *text, size_t size, double seconds)
{
	unsigned s = seconds < 1e6 ? (unsigned)(seconds + 0.5) : 1000000;

	if (s >= 3600)
		snprintf(text, size, ", %u h %u min left", s / 3600, s / 60 % 60);
	else if (s >= 60)
		snprintf(text, size, ", %u min %u s left", s / 60, s % 60);
	else
		snprintf(text, size, ", %u s left", s);
}

static void progress_show(uint64_t now)
{
	double seconds = (double)(now - progress.begun_ns) / 1e9, share = progress_share();
	char line[256], percent[32] = "", left[48] = "";

	if (progress.has_share) {
		snprintf(percent, sizeof(percent), " %.0f %%,", 100 * share);
		if (share > 0.005)
			progress_left(left, sizeof(left), seconds / share - seconds);
	}
	snprintf(line, sizeof(line), "\r%s:%s %s events, %s/s%s\033[K", progress.command, percent,
		 ktr__label_count(progress.n_events).text,
		 ktr__label_count((uint64_t)((double)progress.n_events / seconds)).text, left);
	progress.shown_ns = now;
	progress.shows = 1;
	progress_write(line, strlen(line));
}

static double progress_of(struct progress_reader *reader, uint64_t time_ns, uint64_t n_bytes)
{
	reader->n_read += n_bytes;
	if (reader->n_bytes)
		return (double)reader->n_read / (double)reader->n_bytes;
	if (time_ns < reader->from_ns || reader->to_ns <= reader->from_ns)
		return 0;
	return (double)(time_ns - reader->from_ns) / (double)(reader->to_ns - reader->from_ns);
}

void progress_step(void *context, uint64_t time_ns, uint64_t n_events, uint64_t n_bytes)
{
	struct progress_reader *reader = context;
	uint64_t now, due = progress.shown_ns + PROGRESS_AGAIN_NS;

	if (!progress_is_wanted())
		return;
	now = progress_now();
	progress.n_events += n_events;
	if (reader) {
		double share = progress_of(reader, time_ns, n_bytes);

		share = share > 1 ? 1 : share;
		reader->share = share > reader->share ? share : reader->share;
	}
	if (due < progress.begun_ns + PROGRESS_FIRST_NS)
		due = progress.begun_ns + PROGRESS_FIRST_NS;
	if (now >= due)
		progress_show(now);
}

static void progress_begin(const char *command)
{
	progress.command = command;
	if (!progress.begun_ns)
		progress.begun_ns = progress_now();
}

void progress_apart(void)
{
	progress_is_apart = 1;
}

void progress_expect(unsigned n_readers)
{
	if (progress_is_apart)
		return;
	progress.n_expected = progress.n_readers + n_readers;
}

void progress_watch(const char *command, struct ktr_reader *reader, uint64_t from_ns, uint64_t to_ns)
{
	const struct ktr_reader_info *info = ktr_reader_info(reader);
	struct progress_reader *row;

	if (!progress_is_wanted() || progress.n_readers == PROGRESS_READERS)
		return;
	progress_begin(command);
	progress.has_share = 1;
	row = &progress.reader[progress.n_readers++];
	row->from_ns = from_ns > info->first_ns ? from_ns : info->first_ns;
	row->to_ns = to_ns && to_ns < info->last_ns ? to_ns : info->last_ns;
	row->share = 0;
	row->n_read = 0;
	row->n_bytes = from_ns <= info->first_ns && (!to_ns || to_ns > info->last_ns) ? ktr__reader_bytes(reader)
										      : 0;
	ktr__reader_watch(reader, progress_step, row);
}

void progress_count(const char *command)
{
	if (progress_is_apart)
		return;
	if (progress_is_wanted())
		progress_begin(command);
	progress.has_share = 0;
}

static void progress_alarm(int number)
{
	(void)number;
	progress.shows = 1;
	progress_write(progress.phase, strlen(progress.phase));
}

void progress_phase(const char *command, const char *doing)
{
	struct sigaction action = { .sa_handler = progress_alarm, .sa_flags = SA_RESTART };

	if (!progress_is_wanted())
		return;
	progress_begin(command);
	snprintf(progress.phase, sizeof(progress.phase), "\r%s: %s...\033[K", command, doing);
	sigaction(SIGALRM, &action, NULL);
	if (progress.shows || progress_now() > progress.begun_ns + PROGRESS_FIRST_NS)
		progress_alarm(SIGALRM);
	else
		alarm(1);
}

void progress_wipe(void)
{
	alarm(0);
	if (progress.shows)
		progress_write(PROGRESS_GONE, sizeof(PROGRESS_GONE) - 1);
	progress.shows = 0;
}

void progress_quiet(void)
{
	progress_wipe();
	if (progress.begun_ns)
		progress.begun_ns = UINT64_MAX / 2; /* a second after it never comes */
}

void progress_end(void)
{
	if (progress_is_apart)
		return;
	progress_wipe();
	progress.phase[0] = '\0';
	for (unsigned i = 0; i < progress.n_readers; i++)
		progress.reader[i].share = 1;
	if (progress.n_readers >= progress.n_expected) {
		progress.n_readers = progress.n_expected = 0;
		progress.begun_ns = progress.shown_ns = progress.n_events = 0;
	}
}
