/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dtrace-visualize: what the tool of this name of a DTrace-like kernel framework shows, of a session, a trace of
 * ktr, or a file of JSON; and of a trace or session, its threads as `ktr timeline` draws them. Pictures and pages
 * are made by that command and by `ktr plot`.
 */
#include "tools/bsd/dtrace_demo.h"
#include "tools/bsd/dtrace_json.h"
#include "tools/bsd/dtrace_views.h"
#include "tools/command.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DTRACE_VISUALIZE_WIDTH 80
#define DTRACE_VISUALIZE_FILE  (256u << 20) /* [bytes] of JSON at most */

struct dtrace_visualize {
	struct find find;
	const char *file;
	int demo, timeline, frequency, performance, all;
	uint64_t width;
	char path[PATH_MAX];
	int is_json;
	struct dtrace_events events;
};

static const struct option_row dtrace_visualize_rows[] = {
	OPTION_FLAG(0, "demo", struct dtrace_visualize, demo, "show a run of an example, as it was once recorded"),
	OPTION_FLAG('t', "timeline", struct dtrace_visualize, timeline, "show when probes fired, and what threads did"),
	OPTION_FLAG('q', "frequency", struct dtrace_visualize, frequency, "show how often each probe fired"),
	OPTION_FLAG('p', "performance", struct dtrace_visualize, performance, "show rates, and how long calls took"),
	OPTION_FLAG('a', "all", struct dtrace_visualize, all, "show all three, as without any of them"),
	OPTION_TEXT('f', "file", "FILE", struct dtrace_visualize, file,
		    "a trace, or events as JSON, of dtrace-analyze --json"),
	OPTION_NUMBER('w', "width", "N", struct dtrace_visualize, width, 10, 1000, "columns of the timeline (80)"),
	OPTION_NUMBER(0, "pid", "PID", struct dtrace_visualize, find.pid, 1, INT32_MAX, "the session of a process"),
	OPTION_TEXT('s', "session", "NAME", struct dtrace_visualize, find.session, "a session by its name (see ktr ls)"),
};

static const struct options dtrace_visualize_options = {
	.operands = "[TRACE]",
	.about = "Shows events of probes of <ktr/dtrace.h>, of a trace, a session, or a file of JSON. Without any,\n"
		 "./ktr.out is read, or where there is none, the only live session.",
	.examples = "dtrace-visualize --demo\n"
		    "dtrace-visualize --timeline ktr.out\n"
		    "dtrace-visualize -f events.json --all\n",
	OPTIONS_ROWS(dtrace_visualize_rows),
};

/* A file that begins as JSON does. A trace is a directory, a session begins otherwise. */
static int dtrace_visualize_is_json(const char *path)
{
	struct stat st;
	FILE *file = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
	char word[2] = "";
	int is = file && fscanf(file, " %1s", word) == 1 && word[0] == '{';

	if (file)
		fclose(file);
	return is;
}

static int dtrace_visualize_json(struct dtrace_visualize *c)
{
	FILE *file = fopen(c->path, "re");
	char *text = NULL;
	size_t n = 0, room = 0;
	int rc = 0;

	while (file && !rc && !feof(file) && !ferror(file) && n < DTRACE_VISUALIZE_FILE) {
		if (n == room) {
			char *grown = realloc(text, room = room ? 2 * room : 65536);

			rc = grown ? 0 : fail(c->find.command, "not enough memory");
			text = grown ? grown : text;
		}
		n += rc ? 0 : fread(text + n, 1, room - n, file);
	}
	if (!file || ferror(file))
		rc = fail(c->find.command, "%s: %s", c->path, strerror(errno));
	else if (!rc && n >= DTRACE_VISUALIZE_FILE)
		rc = fail(c->find.command, "%s: larger than 256 MiB", c->path);
	if (file)
		fclose(file);
	if (!rc)
		rc = dtrace_json_read(&c->events, c->find.command, c->path, text, n);
	free(text);
	return rc;
}

static int dtrace_visualize_trace(struct dtrace_visualize *c)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_reader *reader;
	int rc;

	if (ktr_reader_open(c->path, NULL, &reader, &err))
		return fail_with(c->find.command, &err);
	rc = dtrace_events_read(&c->events, c->find.command, reader);
	ktr_reader_close(reader);
	return rc;
}

/* Which of all sources is meant. 0, or the exit status after a complaint. */
static int dtrace_visualize_source(struct dtrace_visualize *c, int argc, char **argv)
{
	int n = (optind < argc) + c->demo + (c->file != NULL) + (c->find.pid || c->find.session);

	if (n > 1)
		return usage_error(argv[0], "--demo, -f, a TRACE and a session: only one can be shown");
	if (c->demo)
		return 0;
	if (!c->file)
		return dtrace_source(&c->find, argc, argv, c->path, sizeof(c->path));
	if (strlen(c->file) >= sizeof(c->path))
		return fail(argv[0], "the path %.60s... is too long", c->file);
	strcpy(c->path, c->file);
	return 0;
}

static int dtrace_visualize_load(struct dtrace_visualize *c)
{
	int rc;

	if (c->demo)
		rc = dtrace_json_read(&c->events, c->find.command, "the demo", dtrace_demo, dtrace_demo_bytes());
	else if ((c->is_json = dtrace_visualize_is_json(c->path)))
		rc = dtrace_visualize_json(c);
	else
		rc = dtrace_visualize_trace(c);
	dtrace_events_end(&c->events);
	return rc;
}

/* What the threads did, as another command draws it. */
static int dtrace_visualize_threads(struct dtrace_visualize *c)
{
	struct command *timeline = command_first;
	char name[] = "ktr timeline", option[] = "--width", width[16], *argv[] = { name, option, width, c->path, NULL };

	while (timeline && strcmp(timeline->name, "timeline") != 0)
		timeline = timeline->next;
	snprintf(width, sizeof(width), "%u", c->width < 40 ? 40u : (unsigned)c->width);
	fflush(stdout);
	optind = 0;
	return timeline ? timeline->run(4, argv) : 0;
}

static int dtrace_visualize_show(struct dtrace_visualize *c)
{
	int every = c->all || !(c->timeline || c->frequency || c->performance), rc = 0;

	if (c->demo)
		printf("A run of examples/dtrace that was recorded once; nothing of this machine.\n\n");
	printf("GNU Mach DTrace Visualization Tool\n==================================================\n\n");
	if (c->performance || every) {
		dtrace_view_performance(&c->events, stdout);
		putchar('\n');
	}
	if (c->frequency || every) {
		dtrace_view_frequency(&c->events, stdout);
		putchar('\n');
	}
	if (c->timeline || every) {
		dtrace_view_timeline(&c->events, (unsigned)c->width, stdout);
		putchar('\n');
		if (c->events.n && !c->demo && !c->is_json)
			rc = dtrace_visualize_threads(c);
	}
	printf("Visualization complete.\n");
	return rc;
}

static int cmd_dtrace_visualize(int argc, char **argv)
{
	struct dtrace_visualize c = { .find.command = argv[0], .width = DTRACE_VISUALIZE_WIDTH };
	int rc;

	if (!options_parse(&dtrace_visualize_options, argc, argv, &c, &rc))
		return rc;
	rc = dtrace_visualize_source(&c, argc, argv);
	if (rc)
		return rc;
	rc = dtrace_visualize_load(&c);
	if (!rc && !c.events.n)
		rc = fail(argv[0], "no events of probes of ktr/dtrace.h (class mach), and none of the kernel");
	if (!rc || c.events.n)
		rc |= dtrace_visualize_show(&c);
	dtrace_events_free(&c.events);
	return rc;
}

COMMAND_ALONE(dtrace_visualize, "dtrace-visualize", NULL, cmd_dtrace_visualize);
