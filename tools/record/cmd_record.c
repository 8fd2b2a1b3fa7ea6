/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr record: writes a live session's events to a trace from outside, until its processes have
 * ended or somebody stops us. With a program instead of a session it is ktr run.
 */
#include "tools/command.h"
#include "tools/find.h"
#include "tools/options.h"
#include "tools/record/record_kernel.h"
#include "tools/record/save.h"

#include "conf/value.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	char **args = calloc((size_t)(argc - optind) + 6, sizeof(*args));
	int n = 0;

	if (!args)
		return fail(command, "no memory");
	args[n++] = strdup("ktr");
	args[n++] = strdup("run");
	args[n++] = strdup("-o");
	args[n++] = strdup(trace);
	args[n++] = strdup("--");
	for (int i = optind; i < argc; i++)
		args[n++] = argv[i];
	execv("/proc/self/exe", args);
	return fail(command, "cannot start ktr run: %s", strerror(errno));
}

static const struct option_row record_rows[] = {
	OPTIONS_SOURCE,
	{ 'o', "output", "TRACE",
	  "the trace to write; an older one moves aside (default: ktr.out)" },
	{ 't', "time", "DURATION", "stop after so long: 10s, 500ms" },
	{ OPTION_LONG(0), "new", NULL,
	  "only what comes from now on, not what the rings hold already" },
	{ 'k', "kernel", NULL, "what the kernel tells of its threads, too: context switches, page faults" },
	OPTIONS_ROTATE,
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
	.rows = record_rows,
	.n_rows = sizeof(record_rows) / sizeof(record_rows[0]),
	.stop = 1,
};

/* One option. 0 or an exit status. */
static int record_option(const char *command, int id, const char *value, struct ktr__attach *attach)
{
	uint64_t number = 0;
	int rc = 0;

	switch (id) {
	case 'o':
		attach->trace = value;
		return 0;
	case 't':
		if (option_duration(value, &attach->for_ns) || !attach->for_ns)
			return usage_error(command, "-t %s: not a duration such as 10s or 500ms",
					   value);
		return 0;
	case OPTION_LONG(0):
		attach->from = KTR__DRAIN_HEAD;
		return 0;
	case OPTION_SIZE:
		attach->follow &= ~KTR__FOLLOW_BYTES;
		return option_rotate(command, id, value, &attach->max_bytes);
	case OPTION_EVERY:
		attach->follow &= ~KTR__FOLLOW_NS;
		return option_rotate(command, id, value, &attach->max_ns);
	default:
		attach->follow &= ~KTR__FOLLOW_KEEP;
		rc = option_rotate(command, id, value, &number);
		attach->n_keep = (uint32_t)number;
		return rc;
	}
}

static int cmd_record(int argc, char **argv)
{
	struct find find = { .command = argv[0] };
	struct ktr__attach attach = { .trace = FIND_TRACE,
				      .from = KTR__DRAIN_OLDEST,
				      .follow = KTR__FOLLOW_ALL,
				      .stop = (const volatile int *)&record_stop,
				      .say = record_say,
				      .context = argv[0] };
	struct record_kernel kernel;
	char path[PATH_MAX];
	const char *value;
	int id, rc, with_kernel = 0;

	while ((id = options_next(&record_options, argc, argv, &value)) > 0) {
		if (find_option(&find, id, value))
			continue;
		if (id == 'k') {
			with_kernel = 1;
			continue;
		}
		rc = record_option(argv[0], id, value, &attach);
		if (rc)
			return rc;
	}
	if (id < 0)
		return options_status(id);
	if (optind < argc) {
		if (find.pid || find.session)
			return usage_error(argv[0], "either a session or a program");
		if (attach.for_ns || attach.from != KTR__DRAIN_OLDEST || attach.max_bytes || attach.n_keep ||
		    with_kernel)
			return usage_error(argv[0], "with a program only --output can be given");
		return record_run(argv[0], attach.trace, argc, argv);
	}
	if (attach.n_keep && !attach.max_bytes)
		return usage_error(argv[0], "--keep says how many traces of --size stay: give that too");
	rc = find_session(&find, path, sizeof(path));
	if (rc)
		return rc;
	attach.session = path;
	record_catch();
	if (with_kernel) {
		rc = record_kernel_open(&kernel, argv[0], path, record_say, argv[0]);
		if (rc)
			return rc;
		attach.kernel_events = kernel.kernel_events;
	}
	rc = save_session(argv[0], &attach, ktr__record_session);
	if (with_kernel)
		record_kernel_close(&kernel);
	return rc;
}

COMMAND(record, "write a live session's events to a trace", cmd_record);
