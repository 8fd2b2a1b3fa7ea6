/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr profile: where a program's threads spend their CPU time. It runs the program as `ktr run --agent` does, with
 * one probe on, and records nothing else.
 */
#include "tools/command.h"
#include "tools/options.h"
#include "tools/record/cmd_run.h"

#include <stdio.h>

struct profile_command {
	struct run run;
	uint64_t rate;
};

static const struct option_row profile_rows[] = {
	OPTION_NUMBER('F', "rate", "HZ", struct profile_command, rate, 1, 50000,
		      "samples of each thread in a second of its CPU time (997)"),
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
	OPTION_FLAG('i', "inherit", struct profile_command, run.children, "and of the programs that it starts"),
	OPTIONS_ROTATE(struct profile_command, run.rotate),
};

static const struct options profile_options = {
	.operands = "[--] PROGRAM [ARGUMENTS]",
	.about =
		"Runs a program, which need not know of ktr, and records where its threads spend their CPU time: their\n"
		"stacks, at a rate. Timers of each thread send it a signal: system calls that a program does not expect\n"
		"to be interrupted may be, see ktr-profile(1). The exit status is the program's.",
	.examples = "ktr profile xz -T2 -k file    and then\n"
		    "ktr report --profile\n"
		    "ktr flame -o flame.html\n"
		    "ktr profile -F 99 -i -o make.ktr -- make -j4\n",
	OPTIONS_ROWS(profile_rows),
	.stop = 1,
};

static int cmd_profile(int argc, char **argv)
{
	struct profile_command c = { .run = RUN_OPTIONS(argv[0]), .rate = 997 };
	char probe[64];
	int rc;

	c.run.mask = "profile";
	if (!options_parse(&profile_options, argc, argv, &c, &rc))
		return rc;
	snprintf(probe, sizeof(probe), "profile:::profile-%u", (unsigned)c.rate);
	c.run.profile = probe;
	c.run.agent = 1;
	return run_program(&c.run, argv + optind);
}

COMMAND(profile, "run a program and record where its threads spend their CPU time", cmd_profile);
