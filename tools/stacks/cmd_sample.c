/* SPDX-License-Identifier: BSD-2-Clause */
/* ktr sample: a process's stacks, again and again for some seconds, as a tree of calls for each thread. */
#include "tools/attach/attach_look.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/stacks/sample_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAMPLE_SECONDS 10
#define SAMPLE_HZ      100

struct sample_command {
	const char *command;
	const char *output;
	uint64_t hz, pid, ns;
};

static const struct option_row sample_rows[] = {
	OPTION_NUMBER('F', "rate", "HZ", struct sample_command, hz, 1, 1000, "so many times in a second (100)"),
	OPTION_TEXT('o', "output", "TRACE", struct sample_command, output, "write a trace, and no report"),
};

static const struct options sample_options = {
	.operands = "PID [SECONDS]",
	.about = "Samples the stacks of all threads of a process, of those that wait, too, and prints them as trees of calls,\n"
		 "in the shape of sample(1) of macOS. It may be any program of yours, it need not know of ktr.",
	.examples = "ktr sample 4711\n"
		    "ktr sample 4711 2.5 -F 1000\n"
		    "ktr sample 4711 -o sampled; ktr flame sampled\n",
	OPTIONS_ROWS(sample_rows),
};

static volatile int sample_stop;

static void sample_interrupted(void)
{
	sample_stop = 1;
}

static void sample_sums(const struct ktr__live_rounds *rounds)
{
	double n = rounds->n_stops ? (double)rounds->n_stops : 1;

	fprintf(stderr,
		"ktr: %" PRIu64 " samples of %" PRIu32 " %s in %" PRIu64 " rounds, %" PRIu64
		" rounds came too late and were left out\n",
		rounds->n_samples, rounds->n_rows, rounds->n_rows == 1 ? "thread" : "threads", rounds->n_rounds,
		rounds->n_missed);
	fprintf(stderr,
		"ktr: %" PRIu64 " stops, each for %.1f us, at most %.1f us; %" PRIu64
		" samples of threads that had slept on without one\n",
		rounds->n_stops, (double)rounds->stopped_ns / 1e3 / n, (double)rounds->most_ns / 1e3,
		rounds->n_kept);
}

static int sample_trace(const struct sample_command *c, struct sample *sample, struct ktr_error *err)
{
	char cmdline[64];

	if (!c->output)
		return 0;
	snprintf(cmdline, sizeof(cmdline), "ktr sample %d -F %u", (int)c->pid, (unsigned)c->hz);
	sample->trace = sample_trace_new(c->output, cmdline, sample->rounds.period_ns, err);
	return sample->trace ? 0 : fail(c->command, "not enough memory");
}

/* After the last round, which has ended with -errno or 0. */
static int sample_end(const struct sample_command *c, const struct attach_facts *facts, struct sample *sample,
		      const struct sample_told *told, int rc)
{
	const struct ktr__live_rounds *rounds = &sample->rounds;

	if (rounds->refused && !rounds->n_stops)
		return attach_look_refused(c->command, facts, rounds->refused);
	if (rc)
		return attach_look_refused(c->command, facts, -rc);
	if (!sample->trace && sample_text(stdout, sample, told))
		return fail(c->command, "not enough memory");
	sample_sums(rounds);
	return 0;
}

static int sample_run(const struct sample_command *c, const struct attach_facts *facts)
{
	struct sample sample = { .rounds = { .pid = facts->pid, .period_ns = 1000000000 / c->hz } };
	struct ktr__live_rounds *rounds = &sample.rounds;
	struct ktr_error err = KTR_ERROR_NONE;
	struct sample_told told;
	int rc;

	rounds->rounds = c->ns / rounds->period_ns + !(c->ns / rounds->period_ns);
	rc = ktr__live_open(facts->pid, &rounds->live);
	if (rc)
		return attach_look_refused(c->command, facts, -rc);
	if (sample_trace(c, &sample, &err)) {
		ktr__live_close(rounds->live);
		return 1;
	}
	sample_told(facts->pid, facts->name, &told);
	ktr__live_warm(rounds->live);
	interrupt_call(sample_interrupted);
	rc = sample_take(&sample, &sample_stop);
	interrupt_call(NULL);
	rc = err.code ? fail_with(c->command, &err) : sample_end(c, facts, &sample, &told, rc);
	sample_free(&sample);
	if (sample.trace && sample_trace_close(sample.trace) && !rc)
		rc = fail_with(c->command, &err);
	ktr__live_close(rounds->live);
	return rc;
}

static int sample_operands(struct sample_command *c, int argc, char **argv)
{
	if (optind == argc)
		return usage_error(c->command, "which process: a PID");
	if (operands_at_most(c->command, argc, argv, 2) ||
	    option_number(c->command, "PID", argv[optind], 1, INT32_MAX, &c->pid))
		return 2;
	c->ns = SAMPLE_SECONDS * 1000000000ull;
	if (argc - optind == 2 && (option_duration(argv[optind + 1], &c->ns) || !c->ns))
		return usage_error(c->command, "\"%s\" is no time: 10, 2.5, 500ms", argv[optind + 1]);
	return 0;
}

static int cmd_sample(int argc, char **argv)
{
	struct sample_command c = { .command = argv[0], .hz = SAMPLE_HZ };
	struct attach_facts facts;
	int rc;

	if (!options_parse(&sample_options, argc, argv, &c, &rc))
		return rc;
	rc = sample_operands(&c, argc, argv);
	if (rc)
		return rc;
	rc = attach_look(argv[0], (pid_t)c.pid, &facts);
	if (rc)
		return rc;
	return sample_run(&c, &facts);
}

COMMAND(sample, "sample the stacks of a process's threads, and print them as trees of calls", cmd_sample);
