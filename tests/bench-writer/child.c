/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that is traced: producers, each on a CPU of its own, and the writer on those that are left.
 *
 * A producer records a hundred events at a time, then waits on the clock for its next turn. What is counted is what
 * the producers say, and what the writer says of itself when it has ended: traces that rotation has removed are in
 * that, too.
 */
#include "paced.h"

#include <ktr.h>
#include <ktr/ctl.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define TURN 100u /* events between two looks at the clock */

static struct plan child_plan;
static volatile uint64_t produced[64];
static double producer_cpu[64]; /* [s] */

void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu >= 0)
		CPU_SET(cpu, &set);
	else
		for (int i = 1; i < sysconf(_SC_NPROCESSORS_ONLN); i++)
			CPU_SET(i, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void turn(uint64_t from)
{
	static const char text[] = "sixteen letters.";
	static const char *volatile source = text; /* no literal for all that the compiler knows: it is copied */
	const char *copied = source;

	switch (child_plan.event[0] == 'c' ? child_plan.event[3] : child_plan.event[0]) {
	case '0':
		for (unsigned i = 0; i < TURN; i++)
			CTR0(KTR_GEN, "nothing");
		break;
	case '2':
		for (unsigned i = 0; i < TURN; i++)
			CTR2(KTR_GEN, "%d and %d", (int)(from + i), (int)i);
		break;
	case 'm':
		/* Of a hundred events of the demo 40 are spans, 30 queue states, 20 counters, 10 have a name. */
		for (unsigned i = 0; i < TURN / 10; i++) {
			CTR1(KTR_GEN, "begin %d", (int)i);
			CTR1(KTR_GEN, "begun %d", (int)i);
			CTR1(KTR_GEN, "end %d", (int)i);
			CTR2(KTR_GEN, "ended %d %lu", (int)i, from);
			CTR2(KTR_GEN, "state %d %p", (int)i, text);
			CTR2(KTR_GEN, "state %d of %p", (int)i, text);
			CTR0(KTR_GEN, "empty");
			CTR3(KTR_GEN, "count %d %lu %lu", (int)i, from, from);
			CTR1(KTR_GEN, "bytes %lu", from);
			CTR2(KTR_GEN, "file %s %d", text, (int)i);
		}
		break;
	case '6':
		for (unsigned i = 0; i < TURN; i++)
			CTR6(KTR_GEN, "%lu %lu %lu %lu %lu %lu", from + i, from, from, from, from,
			     from);
		break;
	default:
		for (unsigned i = 0; i < TURN; i++)
			CTR1(KTR_GEN, "%s", copied);
	}
}

static void *produce(void *context)
{
	const struct plan *plan = &child_plan;
	long me = (long)context;
	double start, next;
	uint64_t n = 0;

	stay_on((int)me);
	start = next = now();
	while (next < start + plan->seconds) {
		turn(n);
		n += TURN;
		if (plan->rate > 0)
			while ((next = start + (double)n / plan->rate * 1e-6) > now())
				;
		else
			next = now();
	}
	produced[me] = n;
	producer_cpu[me] = clock_s(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

/* CPU time of all threads but this one and the producers, in seconds: the writer, and what it leaves to others. */
static double writer_cpu(void)
{
	double seconds = clock_s(CLOCK_PROCESS_CPUTIME_ID) - clock_s(CLOCK_THREAD_CPUTIME_ID);

	for (long i = 0; i < child_plan.n_producers; i++)
		seconds -= producer_cpu[i];
	return seconds;
}

static void kernel_of(const struct rusage *usage, struct outcome *outcome, int sign)
{
	outcome->kernel_cpu += sign * ((double)usage->ru_stime.tv_sec + (double)usage->ru_stime.tv_usec * 1e-6);
	outcome->faults += (uint64_t)(sign * (usage->ru_minflt + usage->ru_majflt));
}

static uint64_t knob(const char *name)
{
	char text[64] = "";

	ktr_get(name, text, sizeof(text), NULL);
	return strtoull(text, NULL, 10);
}

/* The writer's last work is of the trace, but not of what it keeps up with. */
static void end_writer(struct outcome *outcome)
{
	ktr_set("debug.ktr.alq_enable", "0", NULL);
	outcome->written = knob("debug.ktr.alq_cnt");
	outcome->lost = knob("debug.ktr.alq_failed");
}

int child(const struct plan *plan, int report)
{
	pthread_t threads[64];
	struct outcome outcome = { 0 };
	struct rusage usage;
	double start, begun = 0;

	child_plan = *plan;
	if (!plan->n_producers) { /* the cost of starting is none of an idle session */
		usleep(500000);
		begun = writer_cpu();
	}
	getrusage(RUSAGE_SELF, &usage);
	kernel_of(&usage, &outcome, -1);
	start = now();
	if (!plan->n_producers)
		usleep((useconds_t)(plan->seconds * 1e6));
	for (long i = 0; i < plan->n_producers; i++)
		pthread_create(&threads[i], NULL, produce, (void *)i);
	for (int i = 0; i < plan->n_producers; i++) {
		pthread_join(threads[i], NULL);
		outcome.produced += produced[i];
	}
	outcome.seconds = now() - start;
	outcome.writer_cpu = writer_cpu() - begun;
	getrusage(RUSAGE_SELF, &usage);
	kernel_of(&usage, &outcome, 1);
	if (getenv("KTR_FILE"))
		end_writer(&outcome);
	return write(report, &outcome, sizeof(outcome)) != sizeof(outcome);
}
