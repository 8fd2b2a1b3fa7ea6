/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kgmon: BSD's kgmon(8) for programs that run. It switches the profiler of a session's processes from outside, and
 * writes what the session has of it as gmon.out, with nothing to be done by the program for that.
 *
 * As there: options are looked at in one order, wherever they stand; the last line tells the state that was wanted;
 * and a session that nobody is in is a kernel that can only be read. What is not: nothing stops for a dump, since
 * rings are read while they are written to.
 */
#include "ktr/session/session_proc.h"
#include "tools/attach/attach_refuse.h"
#include "tools/bsd/kgmon_dump.h"
#include "tools/command.h"
#include "tools/find.h"
#include "tools/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Exit statuses as there. */
#define KGMON_USAGE   1 /* by its own name; as a command of ktr, 2 as with all of them */
#define KGMON_OPEN    2
#define KGMON_PARAM   4
#define KGMON_WRITING 7
#define KGMON_NO_PROF 20

struct kgmon {
	struct find find;
	int low, high, stop, dump, reset, bsd;
	struct kgmon_session session;
};

static const struct option_row kgmon_rows[] = {
	OPTION_FLAG('b', "begin", struct kgmon, low, "resume profiling, at 99 Hz of each thread's CPU time"),
	OPTION_FLAG('B', "high-resolution", struct kgmon, high, "resume profiling, at 997 Hz"),
	OPTION_FLAG('h', "halt", struct kgmon, stop, "stop profiling"),
	OPTION_FLAG('p', "dump", struct kgmon, dump, "write gmon.out, here"),
	OPTION_FLAG('r', "reset", struct kgmon, reset, "forget what has been gathered"),
	OPTION_NUMBER('P', "pid", "PID", struct kgmon, find.pid, 1, INT32_MAX, "the session of a process"),
	OPTION_TEXT('n', "name", "NAME", struct kgmon, find.session, "a session by its name (see ktr ls)"),
	OPTION_FLAG(0, "bsd", struct kgmon, bsd, "with -p: gmon.out in BSD's form instead of GNU's"),
};

static const struct options kgmon_options = {
	.operands = "",
	.about = "Starts, stops, resets and dumps the profile of a running program, as BSD's kgmon(8) does of the\n"
		 "kernel: of the only live session, or of the one that -P or -n names. Without options it tells the\n"
		 "state. gprof(1) reads gmon.out.",
	.examples = "ktr attach -p 4711; ktr kgmon -P 4711 -b    begin\n"
		    "ktr kgmon -P 4711 -hp                       end, and write gmon.out\n"
		    "ktr kgmon -rb                               anew\n",
	OPTIONS_ROWS(kgmon_rows),
};

static const char *kgmon_state(enum kgmon_state state)
{
	switch (state) {
	case KGMON_OFF:
		return "off";
	case KGMON_ON:
		return "running";
	case KGMON_HIRES:
		return "running (high resolution)";
	}
	return "in an unknown state";
}

/* Nobody is there who would obey. */
static void kgmon_read_only(struct kgmon *kgmon)
{
	if (!kgmon->stop && !kgmon->high && !kgmon->low && !kgmon->reset)
		return;
	fprintf(stderr, "kgmon: kernel read-only: ");
	if (kgmon->dump && kgmon->session.state != KGMON_OFF)
		fprintf(stderr, "data may be inconsistent\n");
	if (kgmon->reset)
		fprintf(stderr, "-r suppressed\n");
	if (kgmon->high)
		fprintf(stderr, "-B suppressed\n");
	if (kgmon->low)
		fprintf(stderr, "-b suppressed\n");
	if (kgmon->stop)
		fprintf(stderr, "-h suppressed\n");
	kgmon->stop = kgmon->high = kgmon->low = kgmon->reset = 0;
}

static int kgmon_dump(struct kgmon *kgmon)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char note[KGMON_NOTE];
	int rc = kgmon_session_dump(&kgmon->session, kgmon->bsd, note, &err);

	if (rc == 0 && note[0])
		fprintf(stderr, "kgmon: %s\n", note);
	if (rc < 0)
		fail_with("kgmon", &err);
	/* What cannot be begun is complained of, and no more. */
	if (rc != KGMON_DUMP_FAILED)
		return 0;
	fail("kgmon", "writing tocks to gmon.out: %s", err.text);
	return KGMON_WRITING;
}

static void kgmon_deaf(const struct kgmon *kgmon)
{
	unsigned n = kgmon_session_deaf(&kgmon->session);

	if (n)
		fprintf(stderr, "kgmon: warning: no samples of %u %s all signals%s\n", n,
			n == 1 ? "thread that blocks" : "threads that block",
			kgmon_session_chose(&kgmon->session) ? ": -B has them, where the kernel gives them"
							     : ", for they are by timers");
}

static int kgmon_run(struct kgmon *kgmon)
{
	struct kgmon_session *session = &kgmon->session;
	enum kgmon_state wanted;
	int rc = 0, lacks;

	if (!session->alive)
		kgmon_read_only(kgmon);
	wanted = kgmon->stop ? KGMON_OFF : kgmon->high ? KGMON_HIRES : kgmon->low ? KGMON_ON : session->state;
	if (kgmon->dump)
		rc = kgmon_dump(kgmon);
	if (rc)
		return rc;
	if (kgmon->reset)
		kgmon_session_reset(session);
	/* Somebody may have switched the samples alone on, or only what is loaded by now. */
	lacks = (kgmon->low || kgmon->high || kgmon->stop) &&
		((wanted != KGMON_OFF && !session->all_count) || session->is_later != (wanted != KGMON_OFF));
	if ((wanted != session->state || lacks) && kgmon_session_switch(session, wanted))
		fprintf(stderr, "kgmon: warning: cannot turn profiling %s\n", wanted == KGMON_OFF ? "off" : "on");
	else if (wanted != KGMON_OFF)
		kgmon_deaf(kgmon);
	printf("kgmon: kernel profiling is %s.\n", kgmon_state(wanted));
	return 0;
}

static int kgmon_usage(const char *name)
{
	return strcmp(name, "kgmon") == 0 ? KGMON_USAGE : 2;
}

/* Whoever asks for a process that has no session is told what gives it one, or why nothing does. */
static int kgmon_find(const struct find *find, char *path, size_t size)
{
	struct ktr_error err = KTR_ERROR_NONE, why = KTR_ERROR_NONE;
	struct attach_facts facts;
	int rc;

	if (!find->pid)
		return find_session(find, path, size);
	rc = ktr__session_find_pid((pid_t)find->pid, path, size, &err);
	if (!rc)
		return 0;
	attach_facts("/proc", (pid_t)find->pid, &facts);
	if (rc != -ENOENT || !facts.there)
		return fail_with(find->command, &err);
	if (attach_refuse(&facts, 0, &why))
		return fail(find->command, "process %d (%s) has no session, and %s", (int)find->pid, facts.name, why.text);
	return fail(find->command, "process %d (%s) has no session: ktr attach -p %d puts the profiler into it",
		    (int)find->pid, facts.name, (int)find->pid);
}

static int cmd_kgmon(int argc, char **argv)
{
	struct kgmon kgmon = { .find.command = argv[0] };
	struct ktr_error err = KTR_ERROR_NONE;
	char path[PATH_MAX];
	int rc;

	if (!options_parse(&kgmon_options, argc, argv, &kgmon, &rc))
		return rc ? kgmon_usage(argv[0]) : 0;
	if (operands_at_most(argv[0], argc, argv, 0))
		return kgmon_usage(argv[0]);
	if (kgmon.find.pid && kgmon.find.session) {
		usage_error(argv[0], "-P and -n exclude each other");
		return kgmon_usage(argv[0]);
	}
	if (kgmon_find(&kgmon.find, path, sizeof(path)))
		return KGMON_OPEN;
	if (kgmon_session_open(&kgmon.session, path, &err)) {
		fail("kgmon", "cannot get gmonparam: %s", err.text);
		return KGMON_PARAM;
	}
	if (kgmon.session.has_none) {
		fail("kgmon", "profiling not defined in kernel: no process of session %s has the agent; see ktr attach",
		     kgmon.session.map.header.name);
		rc = KGMON_NO_PROF;
	} else {
		rc = kgmon_run(&kgmon);
	}
	kgmon_session_close(&kgmon.session);
	return rc;
}

COMMAND_ALONE(kgmon, "kgmon", "start, stop, reset and dump a program's profile, as BSD's kgmon does", cmd_kgmon);
