/* SPDX-License-Identifier: BSD-2-Clause */
/* ktr stacks: what each thread of a process waits for, and the calls that it is in. */
#include "tools/attach/attach_look.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/stacks/sample_trace.h"
#include "tools/stacks/stacks_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stacks_command {
	const char *command;
	const char *output;
	uint64_t pid, tid;
};

static const struct option_row stacks_rows[] = {
	OPTION_NUMBER('p', "pid", "PID", struct stacks_command, pid, 1, INT32_MAX, "the process"),
	OPTION_NUMBER('t', "thread", "TID", struct stacks_command, tid, 1, INT32_MAX, "this thread of it alone"),
	OPTION_TEXT('o', "output", "TRACE", struct stacks_command, output, "write a trace, and print nothing"),
};

static const struct options stacks_options = {
	.operands = "",
	.about = "Prints what each thread of a process does or waits for, and its stack. It may be any program of yours, it\n"
		 "need not know of ktr. Its threads are stopped for a moment, one after the other.",
	.examples = "ktr stacks -p 4711\n"
		    "ktr stacks -p $(pidof -s nginx)\n"
		    "ktr stacks -p 4711 -o stacks; ktr flame stacks\n",
	OPTIONS_ROWS(stacks_rows),
};

struct stacks_sum {
	uint64_t n, ns, most_ns; /* stops, and how long they took */
	uint64_t n_shown;
	int refused; /* errno */
	struct sample_trace *trace; /* owned: where stacks go; NULL: they are printed */
	struct ktr_error err;	    /* of the trace */
};

static int stacks_open(const struct stacks_command *c, const struct attach_facts *facts, struct ktr__live **live)
{
	int rc = ktr__live_open(facts->pid, live);

	return rc ? attach_look_refused(c->command, facts, -rc) : 0;
}

static void stacks_count(struct stacks_sum *sum, const struct ktr__live_taken *thread)
{
	sum->n_shown++;
	if (thread->code == EPERM || thread->code == EACCES || thread->code == ENOSYS)
		sum->refused = thread->code;
	if (!thread->stopped_ns)
		return;
	sum->n++;
	sum->ns += thread->stopped_ns;
	if (sum->most_ns < thread->stopped_ns)
		sum->most_ns = thread->stopped_ns;
}

/* 0 or -errno. */
static int stacks_record(struct stacks_sum *sum, struct ktr__live *live, const struct ktr__live_taken *thread)
{
	static struct ktr__live_frame frame[KTR__LIVE_FRAMES];
	const char *why = NULL;
	char *what = NULL;
	size_t n_what;
	FILE *to = open_memstream(&what, &n_what);
	unsigned n = 0;
	int rc;

	if (!to)
		return ktr_error_set(&sum->err, ENOMEM, "not enough memory");
	stacks_text_what(to, live, thread);
	fclose(to);
	if (!thread->code)
		n = ktr__live_frames(live, &thread->live, frame, &why);
	rc = sample_trace_thread(sum->trace, thread, live, what ? what : "", frame, n, why != NULL);
	free(what);
	return rc;
}

static void stacks_each(const struct stacks_command *c, struct ktr__live *live, struct ktr__live_taken *thread,
			struct stacks_sum *sum)
{
	uint32_t n;
	pid_t *tid = ktr__live_threads(thread->pid, &n);

	for (uint32_t i = 0; tid && i < n; i++) {
		if (c->tid && (pid_t)c->tid != tid[i])
			continue;
		thread->tid = tid[i];
		if (ktr__live_take(thread, ktr__live_maps(live)))
			continue;
		if (sum->trace && stacks_record(sum, live, thread))
			break;
		if (!sum->trace && sum->n_shown)
			putchar('\n');
		if (!sum->trace)
			stacks_text(stdout, live, thread);
		stacks_count(sum, thread);
	}
	free(tid);
}

static int stacks_end(const struct stacks_command *c, const struct attach_facts *facts,
		      const struct stacks_sum *sum)
{
	fflush(stdout);
	if (sum->refused && !sum->n)
		return attach_look_refused(c->command, facts, sum->refused);
	if (!sum->n_shown)
		return fail(c->command, c->tid ? "process %d (%s) has no thread %d" :
						 "process %d (%s): it has ended meanwhile",
			    (int)facts->pid, facts->name, (int)c->tid);
	if (sum->n)
		fprintf(stderr, "ktr: %" PRIu64 " %s stopped, each for %.1f us, at most %.1f us\n", sum->n,
			sum->n == 1 ? "thread" : "threads", (double)sum->ns / 1e3 / (double)sum->n,
			(double)sum->most_ns / 1e3);
	return 0;
}

static int stacks_run(const struct stacks_command *c, const struct attach_facts *facts)
{
	struct ktr__live_taken *thread = calloc(1, sizeof(*thread));
	struct stacks_sum sum = { 0 };
	struct ktr__live *live = NULL;
	int rc;

	if (thread)
		thread->room = malloc(KTR__LIVE_STACK);
	if (!thread || !thread->room) {
		free(thread);
		return fail(c->command, "not enough memory");
	}
	thread->pid = facts->pid;
	rc = stacks_open(c, facts, &live);
	if (!rc && c->output) {
		sum.trace = sample_trace_new(c->output, "ktr stacks", 0, &sum.err);
		rc = sum.trace ? 0 : fail(c->command, "not enough memory");
	}
	if (!rc) {
		stacks_each(c, live, thread, &sum);
		if (sum.trace)
			sample_trace_close(sum.trace);
		rc = sum.err.code ? fail_with(c->command, &sum.err) : stacks_end(c, facts, &sum);
	}
	ktr__live_close(live);
	free(thread->room);
	free(thread);
	return rc;
}

static int cmd_stacks(int argc, char **argv)
{
	struct stacks_command c = { .command = argv[0] };
	struct attach_facts facts;
	int rc;

	if (!options_parse(&stacks_options, argc, argv, &c, &rc))
		return rc;
	if (operands_at_most(argv[0], argc, argv, 0))
		return 2;
	if (!c.pid)
		return usage_error(argv[0], "which process: -p PID");
	rc = attach_look(argv[0], (pid_t)c.pid, &facts);
	if (rc)
		return rc;
	return stacks_run(&c, &facts);
}

COMMAND(stacks, "print what a process's threads wait for, and their stacks", cmd_stacks);
