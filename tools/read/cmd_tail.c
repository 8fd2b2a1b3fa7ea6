/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr tail: follows a trace, or a session, as tail -F does a file: through rotation, through repairs that
 * cut it, through the end of the program and the start of the next.
 *
 * A trace is followed in its files, and so misses nothing that its writer does not. A session is followed
 * in its rings: at once, but what is overwritten before it is read is lost, and told. Of what is there
 * already the last lines come first; what begins while we wait is printed from its beginning.
 */
#include "analyze/print/sink_json.h"
#include "analyze/read/reader.h"
#include "tools/command.h"
#include "tools/read/text_options.h"
#include "tools/walk.h"

#include <ktr/reader.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TAIL_LAST     10       /* events printed first, as tail(1) does */
#define TAIL_WAIT_MS  1000     /* of one wait: nothing hangs on it */
#define TAIL_LOOK_NS  50000000 /* between two looks for something to follow */
#define TAIL_GRACE_MS 300      /* an end may be that of a piece which is being rotated */

struct tail {
	struct find find;
	struct text_options options;
	uint64_t n_last; /* UINT64_MAX: all */
	int json, until_end;
	const char *filter;
	const char *trace; /* NULL: a session */
	char path[PATH_MAX];
	dev_t dev; /* of what was followed last */
	ino_t ino;
	/* One source. */
	struct ktr_reader *reader;
	uint64_t n_skip;
	struct ktr__sink_text text;
	struct ktr__sink_json sink_json;
	struct ktr_sink *sink;
	struct ktr__out out;
	int damaged;
};

/* A number, or all. */
static int tail_last(void *at, const char *what, const char *value, char **argv)
{
	if (strcmp(value, "all") != 0)
		return option_number(argv[0], what, value, 0, UINT64_MAX - 1, at);
	*(uint64_t *)at = UINT64_MAX;
	return 0;
}

static const struct option_row tail_rows[] = {
	OPTIONS_SOURCE(struct tail, find),
	OPTION_TAKE('n', "last", "N", struct tail, n_last, tail_last,
		    "begin with the last N events (10); all: from the beginning"),
	OPTION_FILTER(struct tail, filter),
	OPTION_FLAG(0, "until-end", struct tail, until_end, "end with the trace or the session, do not wait for another"),
	OPTIONS_TEXT(struct tail, options),
	OPTION_FLAG(0, "json", struct tail, json, "print JSON, an object per line, as ktr json does"),
};

static const struct options tail_options = {
	.operands = "[TRACE]",
	.about =
		"Prints the events of a trace or a session as they come, until it is interrupted: through\n"
		"rotation, and when the program is started anew. Without TRACE, ./ktr.out is followed, which need\n"
		"not be there yet.",
	.examples = "ktr tail\n"
		    "ktr tail -p 4711 -n 100\n"
		    "ktr tail -s server --json\n"
		    "ktr tail -n all --until-end /var/tmp/ktr.out\n",
	OPTIONS_ROWS(tail_rows),
};

/* ---- what to follow ---- */

/* Is there something new to follow? 1, 0, or negative after a complaint. */
static int tail_look(struct tail *tail, int first)
{
	struct stat st;

	if (tail->trace) {
		snprintf(tail->path, sizeof(tail->path), "%s", tail->trace);
	} else if (first || tail->find.session) {
		if (!first && access(tail->path, F_OK))
			return 0;
		if (find_session(&tail->find, tail->path, sizeof(tail->path)))
			return -1;
	}
	if (stat(tail->path, &st) || (!first && st.st_dev == tail->dev && st.st_ino == tail->ino))
		return 0;
	tail->dev = st.st_dev;
	tail->ino = st.st_ino;
	return 1;
}

/* Waits until there is. 1, or negative after a complaint. */
static int tail_await(struct tail *tail, int first)
{
	const struct timespec pause = { 0, TAIL_LOOK_NS };
	int rc = tail_look(tail, first);

	if (!rc)
		fprintf(stderr, "%s: waiting for %s%s\n", tail->find.command,
			first ? "" : "another ", tail->trace ? tail->trace : tail->find.session);
	while (!rc) {
		nanosleep(&pause, NULL);
		rc = tail_look(tail, first);
		if (rc > 0 && first)
			tail->n_last = UINT64_MAX; /* it has just begun */
	}
	return rc;
}

/* A trace: where the last N events begin. 0 or negative after a complaint. */
static int tail_begin(struct tail *tail, uint64_t *from_ns)
{
	struct walk walk = {
		.find = tail->find, .filter = tail->filter, .n_last = tail->n_last, .to_ns = UINT64_MAX
	};
	int rc = 0;

	snprintf(walk.path, sizeof(walk.path), "%s", tail->path);
	if (tail->n_last != UINT64_MAX && tail->trace)
		rc = walk_back(&walk);
	*from_ns = walk.from_ns;
	tail->n_skip = walk.n_skip;
	return -rc;
}

static void tail_note(struct tail *tail)
{
	const struct ktr_note *note = ktr_reader_note(tail->reader);

	tail->damaged |= note->damaged;
	ktr__out_flush(&tail->out);
	fprintf(stderr, "%s: %s\n", tail->find.command, note->text);
}

/*
 * A session, which each look maps to other times by some nanoseconds: the events there are now are
 * counted, and walked again. 0 or -errno.
 */
static int tail_count(struct tail *tail)
{
	struct ktr_event event;
	uint64_t n = 0;
	int what;

	if (tail->n_last == UINT64_MAX || tail->trace)
		return 0;
	while ((what = ktr_reader_next(tail->reader, &event)) > 0 && what != KTR_READ_WAIT) {
		if (what == KTR_READ_NOTE)
			tail_note(tail);
		n += what == KTR_READ_EVENT;
	}
	tail->n_skip = n > tail->n_last ? n - tail->n_last : 0;
	return what < 0 ? what : ktr_reader_seek(tail->reader, 0);
}

static int tail_open(struct tail *tail)
{
	struct ktr_reader_options options = { .size = sizeof(options), .follow = 1 };
	struct ktr_error err = KTR_ERROR_NONE;
	int rc = tail_begin(tail, &options.from_ns);

	if (rc)
		return rc;
	if (ktr_reader_open(tail->path, &options, &tail->reader, &err))
		return -fail_with(tail->find.command, &err);
	rc = -filter_use(tail->find.command, tail->reader, tail->filter);
	if (!rc && tail_count(tail))
		rc = -fail_with(tail->find.command, ktr_reader_error(tail->reader));
	return rc;
}

/* ---- following ---- */

/* One thing that was read. 0, or what the sink returns. */
static int tail_take(struct tail *tail, int what, const struct ktr_event *event)
{
	if (what == KTR_READ_NOTE)
		tail_note(tail);
	if (what == KTR_READ_EVENT && tail->n_skip) {
		tail->n_skip--;
		return 0;
	}
	if (what == KTR_READ_EVENT)
		return tail->sink->event(tail->sink, event);
	if (what == KTR_READ_LOSS && !tail->n_skip)
		return tail->sink->loss(tail->sink, ktr_reader_loss(tail->reader));
	return 0;
}

static uint64_t tail_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Has the end been there for so long that it is one? */
static int tail_is_over(struct tail *tail, uint64_t *since_ms)
{
	if (!tail->until_end || !ktr_reader_ended(tail->reader))
		*since_ms = 0;
	else if (!*since_ms)
		*since_ms = tail_now_ms();
	return *since_ms && tail_now_ms() - *since_ms >= TAIL_GRACE_MS;
}

/* Prints until the source is over: 0; or 1 when that is all, negative after a complaint. */
static int tail_run(struct tail *tail)
{
	uint64_t since_ms = 0;
	struct ktr_event event;
	int what, rc = 0;

	while (!rc && (what = ktr_reader_next(tail->reader, &event)) != KTR_READ_END) {
		if (what < 0)
			return -fail_with(tail->find.command, ktr_reader_error(tail->reader));
		if (what != KTR_READ_WAIT) {
			rc = tail_take(tail, what, &event);
			continue;
		}
		rc = ktr__out_flush(&tail->out);
		if (!rc && tail_is_over(tail, &since_ms))
			return 1;
		if (rc)
			break;
		what = ktr_reader_wait(tail->reader,
				       tail->until_end ? TAIL_GRACE_MS / 3 : TAIL_WAIT_MS);
		if (what < 0 && what != -EINTR)
			return -fail_with(tail->find.command, ktr_reader_error(tail->reader));
	}
	if (!rc)
		rc = ktr__out_flush(&tail->out);
	if (rc && rc != -EPIPE)
		fail(tail->find.command, "%s", strerror(-rc));
	return rc == -EPIPE ? 1 : rc;
}

/* Follows one source to its end. As above. */
static int tail_follow(struct tail *tail)
{
	int rc = tail_open(tail);

	if (rc)
		return rc;
	if (tail->json) {
		tail->sink_json.out = &tail->out;
		tail->sink_json.reader = tail->reader;
		tail->sink_json.symbols = ktr__reader_symbols(tail->reader);
		tail->sink = &tail->sink_json.sink;
		rc = ktr__sink_json_init(&tail->sink_json);
	} else {
		text_begin(&tail->options, &tail->text, &tail->out, tail->reader);
		tail->sink = &tail->text.sink;
	}
	if (!rc)
		rc = tail_run(tail);
	if (tail->json)
		ktr__sink_json_fini(&tail->sink_json);
	ktr_reader_close(tail->reader);
	return rc;
}

static int tail_source(struct tail *tail, int argc, char **argv)
{
	int rc = operands_at_most(argv[0], argc, argv, 1);

	if (rc)
		return rc;
	if (!tail->find.pid && !tail->find.session)
		tail->trace = optind < argc ? argv[optind] : FIND_TRACE;
	else if (optind < argc)
		return usage_error(argv[0], "\"%s\" and -p or -s: only one can be read",
				   argv[optind]);
	return 0;
}

static int cmd_tail(int argc, char **argv)
{
	struct tail tail = { .find.command = argv[0], .n_last = TAIL_LAST };
	int rc, first = 1;

	if (!options_parse(&tail_options, argc, argv, &tail, &rc))
		return rc;
	rc = tail_source(&tail, argc, argv);
	if (rc)
		return rc;
	if (ktr__out_open(&tail.out, STDOUT_FILENO))
		return fail(argv[0], "no memory");
	tail.text.colour = colour_wanted(tail.options.colour);
	do {
		rc = tail_await(&tail, first);
		if (rc > 0)
			rc = tail_follow(&tail);
		tail.n_last = UINT64_MAX;
		tail.options.no_header = 1;
		first = 0;
	} while (rc == 0 && !tail.until_end && !tail.find.pid);
	ktr__out_close(&tail.out);
	return rc == -2 ? 2 : rc < 0 || tail.damaged;
}

COMMAND(tail, "print events as they come, through rotation and restarts", cmd_tail);
