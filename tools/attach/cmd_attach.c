/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr attach: a running program that knows nothing of ktr takes in its agent. One that has a session of its own
 * needs none; then what is asked for goes through that.
 */
#include "ktr/control/session_join.h"
#include "ktr/session/session_proc.h"
#include "ktr/session/table.h"
#include "tools/ask/ask_functions.h"
#include "tools/ask/ask_heap.h"
#include "tools/ask/ask_locks.h"
#include "tools/attach/attach_ended.h"
#include "tools/attach/attach_facts.h"
#include "tools/attach/attach_knobs.h"
#include "tools/attach/attach_library.h"
#include "tools/attach/attach_look.h"
#include "tools/attach/attach_probes.h"
#include "tools/attach/attach_refuse.h"
#include "tools/attach/cmd_attach.h"
#include "tools/attach/inject.h"
#include "tools/command.h"
#include "tools/options.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ATTACH_TRIES	 20 /* of a process that has only just begun, or goes on to execve(2) */
#define ATTACH_NAP_NS	 10000000
#define ATTACH_KNOBS	 2048 /* [bytes] as struct ktr__ask has them */
#define ATTACH_TRACE_MAX 255  /* of debug.ktr.alq_file */

static const struct option_row attach_rows[] = {
	OPTION_NUMBER('p', "pid", "PID", struct attach_command, pid, 1, INT32_MAX, "the process"),
	OPTION_TEXT('m', "mask", "MASK", struct attach_command, mask,
		    "classes to record: sched|lock, or all,-malloc (default: all)"),
	OPTION_FLAG('k', "kernel", struct attach_command, kernel,
		    "what the kernel tells of its threads, too: context switches, page faults"),
	OPTION_TEXT('o', "output", "TRACE", struct attach_command, trace,
		    "a thread of the process writes a trace; an older one moves aside"),
	OPTION_NUMBER('e', "entries", "N", struct attach_command, entries, 64, 1ull << 30,
		      "entries in each CPU's ring (4K, 1M)"),
	OPTION_TEXT(0, "fbt", "GLOBS", struct attach_command, functions,
		    "functions of the program and its libraries: 'parse_*,*_open'"),
	OPTION_TEXT(0, "usdt", "PROBES", struct attach_command, statics,
		    "static probes that it and its libraries have: 'python,libstdcxx:throw'"),
	OPTION_TAKE(0, "lock", "KINDS", struct attach_command, locks, ask_locks_take,
		    "who waits for locks (contention), who has them (hold), errors, signals, inversions, stacks, all"),
	OPTION_TAKE(0, "heap", "WHAT", struct attach_command, heap, ask_heap_take,
		    "who gets memory and gives it back: all with stacks, callers, one block in 512k bytes"),
	OPTION_FLAG('f', "force", struct attach_command, force,
		    "also where a filter of system calls may end the process for it"),
};

static const struct options attach_options = {
	.operands = "",
	.about =
		"Has a running program take in libktr, which it was not built with: as ktr run --agent does at its\n"
		"start. One of its threads is stopped for a moment. It is to be your own; nothing else is needed.",
	.examples = "ktr attach -p 4711 -k           and then\n"
		    "ktr tail -p 4711\n"
		    "ktr attach -p 4711 -k -o /tmp/trace\n"
		    "ktr attach -p 4711 --heap 512k -o /tmp/trace\n"
		    "ktr detach -p 4711\n",
	OPTIONS_ROWS(attach_rows),
};

static int attach_knob(char knobs[ATTACH_KNOBS], const char *name, const char *value)
{
	size_t n = strlen(knobs);

	return snprintf(knobs + n, ATTACH_KNOBS - n, "%s=%s\n", name, value) <
	       (int)(ATTACH_KNOBS - n);
}

/* The trace's absolute path, for the process is elsewhere. 0 or an exit status. */
static int attach_trace(const struct attach_command *c, char path[PATH_MAX])
{
	char dir[PATH_MAX];
	int n;

	if (c->trace[0] == '/')
		n = snprintf(path, PATH_MAX, "%s", c->trace);
	else if (!getcwd(dir, sizeof(dir)))
		return fail(c->command, "the current directory: %s", strerror(errno));
	else
		n = snprintf(path, PATH_MAX, "%s/%s", dir, c->trace);
	if (n > ATTACH_TRACE_MAX || strchr(path, '\n'))
		return usage_error(c->command,
				   "-o: the path of a trace has %d bytes at most, in one line",
				   ATTACH_TRACE_MAX);
	return 0;
}

static int attach_has_probes(const struct attach_command *c)
{
	return c->functions || c->statics || c->locks || c->heap;
}

/* Is the mask set after probes are on, with which their classes come? */
static int attach_is_late(const struct attach_command *c)
{
	return c->mask && attach_has_probes(c);
}

/* What is asked for, in the order in which it is to be done. 0 or an exit status. */
static int attach_asked(const struct attach_command *c, int links, char knobs[ATTACH_KNOBS])
{
	char number[24], path[PATH_MAX];
	int fits, rc;

	knobs[0] = '\0';
	if (c->mask && strchr(c->mask, '\n'))
		return usage_error(c->command, "-m: a mask is one line");
	if (c->trace && !links) {
		rc = attach_trace(c, path);
		if (rc)
			return rc;
	}
	snprintf(number, sizeof(number), "%llu", (unsigned long long)c->entries);
	fits = (!c->entries || attach_knob(knobs, "debug.ktr.entries", number)) &&
	       (!c->alone || attach_knob(knobs, "debug.ktr.clear", "1")) &&
	       (!c->kernel || links || attach_knob(knobs, "debug.ktr.kernel", "all")) &&
	       attach_knob(knobs, "debug.ktr.mask", !c->mask ? "all" : attach_is_late(c) ? "0" : c->mask) &&
	       (!c->trace || links ||
		(attach_knob(knobs, "debug.ktr.alq_file", path) &&
		 attach_knob(knobs, "debug.ktr.alq_enable", "1")));
	return fits ? 0 : usage_error(c->command, "-m is too long");
}

static void attach_next(const struct attach_command *c, const struct attach_facts *facts,
			const char *path)
{
	const char *name = strrchr(path, '/');
	int pid = (int)c->pid;

	if (c->quiet)
		return;
	name = name ? name + 1 : path;
	fprintf(stderr,
		"ktr: process %d (%s) has session %.*s; next: ktr tail -p %d, ktr detach -p %d\n",
		pid, facts->name,
		(int)strcspn(name, "\n") - (int)(strlen(name) > 4 ? strlen(KTR_SESSION_SUFFIX) : 0),
		name, pid, pid);
}

/* It has libktr, and a session. */
static int attach_session(const struct attach_command *c, const struct attach_facts *facts,
			  const char *path)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char knobs[ATTACH_KNOBS];
	int rc = attach_asked(c, 1, knobs);

	if (rc)
		return rc;
	if (attach_knobs_set(path, knobs, &err))
		return fail_with(c->command, &err);
	fprintf(stderr, "ktr: process %d (%s) has libktr: nothing is put into it\n", (int)c->pid,
		facts->name);
	if (c->kernel || c->trace)
		fprintf(stderr, "ktr: its trace is written from outside: ktr record%s -p %d%s%s\n",
			c->kernel ? " -k" : "", (int)c->pid, c->trace ? " -o " : "",
			c->trace ? c->trace : "");
	attach_next(c, facts, path);
	return 0;
}

/*
 * Does it pay to try again? It is still there, and has become another program while the one before was looked at,
 * or its loader has not come as far as its C library yet.
 */
static int attach_is_early(const struct attach_command *c, int rc)
{
	struct attach_facts facts;

	if (rc != -ESRCH && rc != -ENOEXEC && rc != -ENOSYS)
		return 0;
	attach_facts("/proc", (pid_t)c->pid, &facts);
	return facts.there && facts.state != 'Z' && facts.state != 'X' && facts.libc != ATTACH_LIBC_MUSL &&
	       !facts.is_32bit && !facts.other_machine && !facts.is_kernel;
}

static int attach_ended(const struct attach_command *c, const struct attach_facts *facts)
{
	return fail(c->command, "process %d (%s): it has ended meanwhile", (int)c->pid, facts->name);
}

/* The exit status; -EAGAIN, which only while is_patient: it is early. */
static int attach_agent(const struct attach_command *c, const struct attach_facts *facts, int is_patient)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char library[PATH_MAX + 64], knobs[ATTACH_KNOBS];
	struct inject inject = { .pid = facts->pid, .library = library, .knobs = knobs };
	sigset_t ends, before;
	int rc = attach_asked(c, 0, knobs);

	if (rc)
		return rc;
	if (attach_library(library, sizeof(library)))
		return fail(c->command, "%s is not there", library);
	/* Whoever kills us while a thread is stopped kills it, too; ^C waits. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &before);
	rc = inject_agent(&inject, &err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (inject.refused) {
		memset(&err, 0, sizeof(err));
		attach_refused(facts, inject.refused, &err);
	}
	if (is_patient && !inject.refused && attach_is_early(c, rc))
		return -EAGAIN;
	if (rc && !inject.refused && attach_has_ended((pid_t)c->pid, rc))
		return attach_ended(c, facts);
	if (rc)
		return fail(c->command, "process %d (%s): %s", (int)c->pid, facts->name, err.text);
	attach_next(c, facts, inject.session);
	return 0;
}

/* Does its session record something, for somebody else? */
static int attach_is_used(const char *session)
{
	struct ktr__session_rw joined;
	uint64_t gate;

	if (ktr__session_join(session, &joined, NULL))
		return 0;
	gate = __atomic_load_n(&joined.control->gate, __ATOMIC_RELAXED);
	ktr__session_detach(&joined);
	ktr__table_forget(); /* it is mapped again, maybe at the same place */
	return gate != 0;
}

static int attach_alone(const struct attach_command *c, const struct attach_facts *facts, const char *session)
{
	if (!facts->has_agent)
		return fail(c->command, "process %d (%s): it has libktr, and records what it has itself: start it with this command",
			    (int)c->pid, facts->name);
	if (attach_is_used(session))
		return fail(c->command, "process %d (%s): it is recorded already; ktr detach -p %d ends that", (int)c->pid,
			    facts->name, (int)c->pid);
	return 0;
}

static void attach_probes_list(FILE *to, const struct attach_command *c)
{
	const char *before = "";

	if (c->functions)
		ask_functions_probes(to, "fbt", c->functions, "", &before);
	if (c->statics)
		ask_statics_probes(to, c->statics, &before);
	if (c->locks) {
		fputs(before, to);
		ask_locks_probes(to, c->locks);
		before = ",";
	}
	if (c->heap) {
		fputs(before, to);
		ask_heap_probes(to, c->heap);
	}
}

/* What is asked for of functions, static probes, locks and memory. 0 or -errno, err filled. */
static int attach_probes(const struct attach_command *c, const char *session, struct ktr_error *err)
{
	char mask[ATTACH_KNOBS], *list = NULL;
	size_t n = 0;
	FILE *to;
	int rc;

	if (!attach_has_probes(c))
		return 0;
	to = open_memstream(&list, &n);
	if (!to)
		return ktr_error_set(err, ENOMEM, "no memory");
	attach_probes_list(to, c);
	rc = fclose(to) ? ktr_error_set(err, ENOMEM, "no memory") : attach_probes_on(session, list, err);
	free(list);
	if (!rc && attach_is_late(c)) {
		snprintf(mask, sizeof(mask), "debug.ktr.mask=%s\n", c->mask);
		rc = attach_knobs_set(session, mask, err);
	}
	return rc;
}

/* As attach_agent(). */
static int attach_once(const struct attach_command *c, char session[PATH_MAX], int is_patient)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct attach_facts facts;
	int has_session, rc;

	attach_facts("/proc", (pid_t)c->pid, &facts);
	has_session = facts.there && !ktr__session_find_pid((pid_t)c->pid, session, PATH_MAX, NULL);
	/* One that is gone is refused for that. */
	rc = has_session && c->alone && facts.state != 'Z' ? attach_alone(c, &facts, session) : 0;
	if (rc)
		return rc;
	if (has_session && !facts.has_agent && !c->alone && (c->locks || c->heap))
		return fail(c->command, "process %d (%s): it has libktr of its own, and %s needs the agent: ktr run --agent starts it with that",
			    (int)c->pid, facts.name, c->locks ? "--lock" : "--heap");
	if (has_session && !facts.has_agent && !c->alone) {
		rc = attach_session(c, &facts, session);
	} else {
		rc = attach_refuse(&facts, c->force, &err);
		if (is_patient && attach_is_early(c, rc))
			return -EAGAIN;
		if (rc)
			return attach_look_fails(c->command, &facts, &err);
		rc = attach_agent(c, &facts, is_patient);
	}
	if (rc)
		return rc;
	rc = ktr__session_find_pid((pid_t)c->pid, session, PATH_MAX, &err);
	if (is_patient && attach_is_early(c, rc == -ENOENT ? -ESRCH : rc))
		return -EAGAIN;
	has_session = !rc;
	if (has_session)
		rc = attach_probes(c, session, &err);
	/* A probe that it has not got tells nothing of its end. */
	if (rc && attach_has_ended((pid_t)c->pid, has_session ? 0 : rc))
		return attach_ended(c, &facts);
	return rc ? fail_with(c->command, &err) : 0;
}

int attach_process(const struct attach_command *c, char session[PATH_MAX])
{
	const struct timespec nap = { 0, ATTACH_NAP_NS };
	int rc;

	if (c->pid == (uint64_t)getpid())
		return fail(c->command, "process %d: that is this command", (int)c->pid);
	for (int left = ATTACH_TRIES; (rc = attach_once(c, session, left > 0)) == -EAGAIN; left--)
		nanosleep(&nap, NULL);
	return rc;
}

static int cmd_attach(int argc, char **argv)
{
	struct attach_command c = { .command = argv[0] };
	char session[PATH_MAX];
	int rc;

	if (!options_parse(&attach_options, argc, argv, &c, &rc))
		return rc;
	if (operands_at_most(argv[0], argc, argv, 0))
		return 2;
	if (!c.pid)
		return usage_error(argv[0], "which process: -p PID");
	return attach_process(&c, session);
}

COMMAND(attach, "have a running program recorded that was not built for it", cmd_attach);
