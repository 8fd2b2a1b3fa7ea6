/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that is traced: producers, each on a CPU of its own, and the writer on those that are left.
 *
 * A producer records a hundred events at a time, then waits on the clock for its next turn. Before anything is
 * counted it goes once around its ring, slowly: where a machine is slow at the first touch of a page (as one is
 * whose page tables its host keeps), the producer is late after its first lap and makes good for it in a rush,
 * whatever the rate that was asked for. Then it records as fast as it can until rotation has removed its first
 * traces, if that was asked for: from then on a trace takes the memory that an older one had, whereas memory that
 * nobody had before comes from the host of a virtual machine, slowly: nothing that a writer could help. The
 * reference's ring and files are touched before, too. What is counted is what the producers say, and what the
 * writer says of itself when it has ended: traces that rotation has removed are in that, too.
 */
#include "paced.h"

#include <ktr.h>
#include <ktr/ctl.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define TURN 100u    /* events between two looks at the clock */
#define WARM_RATE 8.  /* million events per second, while nothing is counted */
#define WARM_LAPS 1.1 /* around the ring */
#define FULL_SECONDS 60 /* at most, until rotation removes */

static struct plan child_plan;
static double warm_seconds;
static pthread_barrier_t ready;
static int full; /* rotation has begun to remove */
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

/* So many million events per second, 0: as many as go, for so many seconds. How many there were. */
static uint64_t record(double rate, double seconds)
{
	double start = now(), next = start;
	uint64_t n = 0;

	while (next < start + seconds) {
		turn(n);
		n += TURN;
		if (rate > 0)
			while ((next = start + (double)n / rate * 1e-6) > now())
				;
		else
			next = now();
	}
	return n;
}

/* Meets the others twice: when all are warm, and when it has been read what was written and lost until then. */
static void *produce(void *context)
{
	const struct plan *plan = &child_plan;
	long me = (long)context;

	stay_on((int)me);
	produced[me] = record(WARM_RATE, warm_seconds);
	while (!__atomic_load_n(&full, __ATOMIC_RELAXED))
		produced[me] += record(0, 0.01);
	producer_cpu[me] = clock_s(CLOCK_THREAD_CPUTIME_ID);
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&ready);
	produced[me] = record(plan->rate, plan->seconds);
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

/* What was written and lost until now, and what it cost: taken off in the end. */
static void begin(struct outcome *outcome, double *writer)
{
	uint64_t n = 0;
	struct rusage usage;

	for (int i = 0; i < child_plan.n_producers; i++)
		n += produced[i];
	for (int i = 0; i < 1000 && getenv("KTR_FILE"); i++, usleep(1000)) {
		outcome->written = knob("debug.ktr.alq_cnt");
		outcome->lost = knob("debug.ktr.alq_failed");
		if (outcome->written + outcome->lost == n)
			break;
	}
	*writer = writer_cpu();
	getrusage(RUSAGE_SELF, &usage);
	kernel_of(&usage, outcome, -1);
}

/* Until rotation has removed so many traces. */
static void wait_for_removed(unsigned n)
{
	char name[400];

	snprintf(name, sizeof(name), "%s.%u", getenv("KTR_FILE"), ROTATE_KEEP + n);
	for (int i = 0; i < FULL_SECONDS * 1000 && access(name, F_OK); i++)
		usleep(1000);
}

/* The writer's last work is of the trace, but not of what it keeps up with. */
static void end_writer(struct outcome *outcome)
{
	ktr_set("debug.ktr.alq_enable", "0", NULL);
	outcome->written = knob("debug.ktr.alq_cnt") - outcome->written;
	outcome->lost = knob("debug.ktr.alq_failed") - outcome->lost;
}

int child(const struct plan *plan, int report)
{
	pthread_t threads[64];
	struct outcome outcome = { 0 };
	struct rusage usage;
	double start, begun;

	child_plan = *plan;
	warm_seconds = (double)knob("debug.ktr.entries") * WARM_LAPS * 1e-6 / WARM_RATE;
	pthread_barrier_init(&ready, NULL, (unsigned)plan->n_producers + 1);
	for (long i = 0; i < plan->n_producers; i++)
		pthread_create(&threads[i], NULL, produce, (void *)i);
	if (plan->n_removed)
		wait_for_removed(plan->n_removed);
	__atomic_store_n(&full, 1, __ATOMIC_RELAXED);
	if (!plan->n_producers) /* the cost of starting is none of an idle session */
		usleep(500000);
	pthread_barrier_wait(&ready);
	begin(&outcome, &begun);
	start = now();
	pthread_barrier_wait(&ready);
	if (!plan->n_producers)
		usleep((useconds_t)(plan->seconds * 1e6));
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
