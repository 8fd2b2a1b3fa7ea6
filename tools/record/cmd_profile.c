/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr profile: where a program's threads spend their CPU time. It runs the program as `ktr run --agent` does, with
 * one probe on, and records nothing else; or has one that runs take in the agent (profile_attached.h).
 */
#include "tools/attach/profile_attached.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/record/cmd_run.h"
#include "tools/record/run_code.h"

#include <stdio.h>
#include <string.h>

struct profile_command {
	struct run run;
	uint64_t rate, pid, for_ns;
	int force, off, asked_mask;
	/* As the provider counts them. */
	enum profile_source { PROFILE_DEFAULT, PROFILE_PERF, PROFILE_TIMERS, PROFILE_ANY } source;
};

static const char *const profile_sources[] = { "perf", "timers", "any", NULL };

static const struct option_row profile_rows[] = {
	OPTION_NUMBER('p', "pid", "PID", struct profile_command, pid, 1, INT32_MAX,
		      "a process that runs already, instead of a program"),
	OPTION_TIME('d', "duration", "DURATION", struct profile_command, for_ns, 1,
		    "10s or 500ms", "with -p: so long (until ^C, or its end)"),
	OPTION_NUMBER('F', "rate", "HZ", struct profile_command, rate, 1, 50000,
		      "samples of each thread in a second of its CPU time (997)"),
	OPTION_WORD(0, "source", "WHAT", struct profile_command, source, PROFILE_PERF, profile_sources,
		    "perf: samples of the kernel's, no signal is sent; timers: of each thread; any: perf if it can be had (any)"),
	OPTION_TEXT('o', "output", "TRACE", struct profile_command, run.trace,
		    "the trace; an older one moves aside (default: ktr.out)"),
	OPTION_TEXT('e', "entries", "N", struct profile_command, run.entries,
		    "size of each CPU's ring [events]; larger ones lose less"),
	OPTION_TEXT('s', "session", "NAME", struct profile_command, run.session,
		    "the session's name; programs that share one share a trace"),
	OPTION_TEXT('m', "mask", "MASK", struct profile_command, run.mask,
		    "other classes to record, too: profile,sched (default: profile alone)"),
	OPTION_FLAG('k', "kernel", struct profile_command, run.kernel,
		    "context switches and page faults of its threads, too"),
	OPTION_FLAG(0, "off-cpu", struct profile_command, off,
		    "where and how long threads were off the CPU, too: calls that wait, locks, page faults, ready to run"),
	OPTION_FLAG('i', "inherit", struct profile_command, run.children, "and of the programs that it starts"),
	OPTION_FLAG('f', "force", struct profile_command, force, "with -p: as of ktr attach"),
	OPTIONS_ROTATE(struct profile_command, run.rotate),
};

static const struct options profile_options = {
	.operands = "{-p PID | [--] PROGRAM [ARGUMENTS]}",
	.about =
		"Runs a program, which need not know of ktr, and records where its threads spend their CPU time: their\n"
		"stacks, at a rate. The kernel takes them, by perf events; where it does not allow that, timers of each\n"
		"thread send it a signal: then system calls that a program does not expect to be interrupted may be, see\n"
		"ktr-profile(1). The exit status is the program's. With -p a program that runs is sampled for a while, as\n"
		"ktr attach can reach it.",
	.examples = "ktr profile xz -T2 -k file    and then\n"
		    "ktr report --profile\n"
		    "ktr flame -o flame.html\n"
		    "ktr profile --off-cpu -o slow.ktr PROGRAM\n"
		    "ktr profile -p 4711 -d 10s\n"
		    "ktr profile -F 99 -i -o make.ktr -- make -j4\n",
	OPTIONS_ROWS(profile_rows),
	.stop = 1,
};

/* One that runs already. */
static int profile_process(const struct profile_command *c, int argc, const char *probes)
{
	struct profile_attached attached = { .command = c->run.command, .pid = c->pid, .for_ns = c->for_ns,
					     .trace = c->run.trace, .probes = probes, .mask = c->run.mask,
					     .source = c->source, .kernel = c->off, .force = c->force };
	int rc;

	if (optind < argc)
		return usage_error(c->run.command, "either -p PID or a program");
	if (c->run.kernel || c->run.children || c->run.session || c->run.entries ||
	    c->run.rotate.bytes != ROTATE_AS_IT_IS || c->run.rotate.ns != ROTATE_AS_IT_IS ||
	    c->run.rotate.keep != ROTATE_AS_IT_IS || c->asked_mask)
		return usage_error(c->run.command, "with -p only -d, -F, -o, -f, --source and --off-cpu can be given");
	rc = profile_attached(&attached);
	if (!rc)
		run_code_keep(c->run.command, c->run.trace);
	return rc;
}

static int cmd_profile(int argc, char **argv)
{
	struct profile_command c = { .run = RUN_OPTIONS(argv[0]), .rate = 997 };
	char probe[96];
	int rc;

	c.run.mask = "profile";
	if (!options_parse(&profile_options, argc, argv, &c, &rc))
		return rc;
	snprintf(probe, sizeof(probe), "profile:::profile-%u%s", (unsigned)c.rate,
		 c.off ? ",offcpu:::blocked" : "");
	c.asked_mask = strcmp(c.run.mask, "profile") != 0;
	if (c.off && !c.asked_mask)
		c.run.mask = "profile,offcpu";
	if (c.pid)
		return profile_process(&c, argc, probe);
	if (c.for_ns || c.force)
		return usage_error(argv[0], "-d and -f are of -p");
	c.run.kernel |= c.off;
	c.run.profile = probe;
	c.run.profile_ns = 1000000000u / c.rate;
	c.run.profile_source = c.source;
	c.run.agent = 1;
	return run_program(&c.run, argv + optind);
}

COMMAND(profile, "record where the threads of a program spend their CPU time", cmd_profile);
