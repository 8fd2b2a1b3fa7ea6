/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr record: writes a live session's events to a trace from outside, until its processes have
 * ended or somebody stops us. With a program instead of a session it is ktr run.
 */
#include "analyze/filter/filter_spans.h"
#include "tools/command.h"
#include "tools/find.h"
#include "tools/options.h"
#include "tools/record/record_kernel.h"
#include "tools/record/save.h"
#include "tools/record/span_watch.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile sig_atomic_t record_stop;
_Static_assert(sizeof(sig_atomic_t) == sizeof(int), "the writer's loop looks at an int");

static void record_signal(int sig)
{
	(void)sig;
	record_stop = 1;
}

static void record_say(void *context, const char *line)
{
	fprintf(stderr, "%s: %s\n", (const char *)context, line);
}

/* No SA_RESTART: the signal ends the sleep between two rounds. */
static void record_catch(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = record_signal };

	sigemptyset(&action.sa_mask);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

/* Becomes "ktr run -o TRACE -- PROGRAM ...", whose status is then ours. */
static int record_run(const char *command, const char *trace, int argc, char **argv)
{
	const char *const head[] = { "ktr", "run", "-o", trace, "--" };
	size_t n_head = sizeof(head) / sizeof(head[0]), n = (size_t)(argc - optind);
	char **args = calloc(n_head + n + 1, sizeof(*args));

	if (!args)
		return fail(command, "no memory");
	memcpy(args, head, sizeof(head));
	memcpy(args + n_head, argv + optind, n * sizeof(*args));
	execv("/proc/self/exe", args);
	return fail(command, "cannot start ktr run: %s", strerror(errno));
}

struct record_command {
	struct find find;
	const char *trace;
	uint64_t for_ns;
	int from; /* KTR__DRAIN_* */
	int kernel;
	const char *trigger;
	uint64_t after;
	struct rotate_options rotate;
};

static const struct option_row record_rows[] = {
	OPTIONS_SOURCE(struct record_command, find),
	OPTION_TEXT('o', "output", "TRACE", struct record_command, trace,
		    "the trace to write; an older one moves aside (default: ktr.out)"),
	OPTION_TIME('t', "time", "DURATION", struct record_command, for_ns, 1, "10s or 500ms",
		    "stop after so long: 10s, 500ms"),
	OPTION_SET(0, "new", struct record_command, from, KTR__DRAIN_HEAD,
		   "only what comes from now on, not what the rings hold already"),
	OPTION_FLAG('k', "kernel", struct record_command, kernel,
		    "what the kernel tells of its threads, too: context switches, page faults"),
	OPTION_TEXT(0, "trigger", "EXPR", struct record_command, trigger,
		    "the rings stop when such a span ends, and that is all: 'span request > 5ms'"),
	OPTION_NUMBER(0, "after", "N", struct record_command, after, 0, 1ull << 40,
		      "events that a CPU records after that (0)"),
	OPTIONS_ROTATE(struct record_command, rotate),
};

static const struct options record_options = {
	.operands = "[-- PROGRAM [ARGUMENTS]]",
	.about =
		"Writes the events of a live session to a trace, with no help from its processes, until they\n"
		"have ended or ktr is interrupted. With a program it is ktr run.",
	.examples = "ktr record -p 4711\n"
		    "ktr record -k -t 10s -p 4711        and where its threads' time goes\n"
		    "ktr record -s indexer -o /var/tmp/ktr.out --size 1G --keep 4\n"
		    "ktr record -- ./indexer /usr/share/doc\n",
	OPTIONS_ROWS(record_rows),
	.stop = 1,
};

/* What was not asked for follows the session's knobs. */
static void record_rotate(const struct rotate_options *rotate, struct ktr__attach *attach)
{
	if (rotate->bytes != ROTATE_AS_IT_IS) {
		attach->max_bytes = rotate->bytes;
		attach->follow &= ~KTR__FOLLOW_BYTES;
	}
	if (rotate->ns != ROTATE_AS_IT_IS) {
		attach->max_ns = rotate->ns;
		attach->follow &= ~KTR__FOLLOW_NS;
	}
	if (rotate->keep != ROTATE_AS_IT_IS) {
		attach->n_keep = (uint32_t)rotate->keep;
		attach->follow &= ~KTR__FOLLOW_KEEP;
	}
}

/* What a span trigger waits for: that the trace is there. Stopped before, it would have nothing of the moment. */
struct record_watched {
	const struct ktr__attach *attach;
	struct stat before; /* of what had its name */
};

static int record_find_watched(const void *context, char path[PATH_MAX])
{
	const struct record_watched *watched = context;
	struct stat now;

	snprintf(path, PATH_MAX, "%s", watched->attach->session);
	return lstat(watched->attach->trace, &now) == 0 &&
	       (now.st_dev != watched->before.st_dev || now.st_ino != watched->before.st_ino);
}

/* Records, with an eye on long spans if a trigger asks for them. */
static int record_attend(const struct record_command *c, struct ktr__attach *attach)
{
	struct record_watched watched = { .attach = attach };
	struct span_watch watch = { .command = c->find.command,
				    .text = c->trigger,
				    .after = c->after,
				    .find = record_find_watched,
				    .context = &watched,
				    .done = &record_stop };
	int rc;

	if (lstat(attach->trace, &watched.before))
		memset(&watched.before, 0, sizeof(watched.before));
	if (c->trigger)
		span_watch_begin(&watch);
	rc = save_session(c->find.command, attach, ktr__record_session);
	if (c->trigger && !span_watch_end(&watch))
		fail(c->find.command, "--trigger: it did not hold");
	return rc;
}

static int record_session(const struct record_command *c, struct ktr__attach *attach)
{
	const char *command = c->find.command;
	struct record_kernel kernel;
	int rc;

	record_catch();
	if (c->kernel) {
		rc = record_kernel_open(&kernel, command, attach->session, record_say, attach->context);
		if (rc)
			return rc;
		attach->kernel_events = kernel.kernel_events;
	}
	rc = record_attend(c, attach);
	if (c->kernel)
		record_kernel_close(&kernel);
	return rc;
}

static int cmd_record(int argc, char **argv)
{
	struct record_command c = { .find.command = argv[0],
				    .trace = FIND_TRACE,
				    .from = KTR__DRAIN_OLDEST,
				    .rotate = ROTATE_OPTIONS };
	struct ktr__attach attach = { .follow = KTR__FOLLOW_ALL,
				      .stop = (const volatile int *)&record_stop,
				      .say = record_say,
				      .context = argv[0] };
	char path[PATH_MAX];
	int rc;

	if (!options_parse(&record_options, argc, argv, &c, &rc))
		return rc;
	attach.trace = c.trace;
	attach.for_ns = c.for_ns;
	attach.from = c.from;
	record_rotate(&c.rotate, &attach);
	if (optind < argc) {
		if (c.find.pid || c.find.session)
			return usage_error(argv[0], "either a session or a program");
		if (c.for_ns || c.from != KTR__DRAIN_OLDEST || attach.max_bytes || attach.n_keep || c.kernel ||
		    c.trigger)
			return usage_error(argv[0], "with a program only --output can be given");
		return record_run(argv[0], c.trace, argc, argv);
	}
	if (attach.n_keep && !attach.max_bytes)
		return usage_error(argv[0], "--keep says how many traces of --size stay: give that too");
	if (c.trigger && !ktr__filter_spans_asked(c.trigger))
		return usage_error(argv[0], "--trigger takes 'span NAME > 5ms'; others are for ktr sysctl debug.ktr.trigger");
	rc = find_session(&c.find, path, sizeof(path));
	if (rc)
		return rc;
	attach.session = path;
	return record_session(&c, &attach);
}

COMMAND(record, "write a live session's events to a trace", cmd_record);
