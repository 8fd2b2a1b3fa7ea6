/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Odd lives: a signal at every instruction. A tracer lets the program run one instruction after another
 * from a mark on, k of them, then sends it a signal whose handler traces, and lets it run to the next
 * mark; k grows until it is past the end of the event. A restartable sequence begins anew after each
 * step, so there stepping gets as far as its first instructions; what interrupts it further on is the
 * business of timers (stress.c).
 */
#include "tests/stress/odd.h"

#include "tests/stress/event.h"

#include <ktr.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

#define STEP_MAX 1500 /* instructions; no event of a registered thread takes so many without a fault */
#define STEP_RSEQ_MAX 150
#define STEP_MARK() __asm__ volatile("int3" ::: "memory")

/* Shared with the tracer. */
enum { STEP_BEGUN, STEP_HANDLED, STEP_END, STEP_TRIED, STEP_MARKS };

static struct event_stream step_stream[3];

static void step_handler(int sig)
{
	(void)sig;
	for (int i = 0; i < 3; i++)
		event_emit(&step_stream[1 + (i & 1)], event_stream_id(0, 0, 1, i & 1));
	__atomic_fetch_add(&odd_fact[STEP_HANDLED], 3, __ATOMIC_RELAXED);
}

/* The traced child: marks each event, 24 kinds and lengths in turn, until it is told to end. */
static void step_child(void (*one)(uint64_t n))
{
	signal(SIGUSR1, step_handler);
	step_handler(0); /* everything is registered, rings are open */
	one(0);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(3);
	while (!__atomic_load_n(&odd_fact[STEP_END], __ATOMIC_ACQUIRE)) {
		odd_fact[STEP_MARKS]++;
		STEP_MARK();
		one(odd_fact[STEP_TRIED]);
	}
	_exit(0);
}

static bool step_stopped(pid_t pid, int *sig)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return false;
	*sig = WSTOPSIG(status);
	return true;
}

/* Lets the child run, with a signal, until it stops at a mark. */
static bool step_to_mark(pid_t pid, int sig)
{
	do {
		if (ptrace(PTRACE_CONT, pid, NULL, sig) || !step_stopped(pid, &sig))
			return false;
	} while (sig != SIGTRAP);
	return true;
}

/* From a mark: k steps, a signal, on to the next mark. 1: the k steps led to it; -1: the child is gone. */
static int step_round(pid_t pid, unsigned k)
{
	uint64_t marks = odd_fact[STEP_MARKS];
	int sig;

	for (unsigned i = 0; i < k; i++) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) || !step_stopped(pid, &sig))
			return -1;
		if (__atomic_load_n(&odd_fact[STEP_MARKS], __ATOMIC_ACQUIRE) != marks)
			return step_to_mark(pid, SIGUSR1) ? 1 : -1;
	}
	return step_to_mark(pid, SIGUSR1) ? 0 : -1;
}

static void step_trace(pid_t pid, unsigned variants, unsigned max)
{
	unsigned stride, dense = odd_long() ? 400 : 50;
	int sig, at = 0;

	if (!step_stopped(pid, &sig))
		exit(1);
	for (unsigned v = 0; v < variants; v++) {
		odd_fact[STEP_TRIED] = v;
		/* Every instruction of the short ones; of the long ones every few, other ones each time. */
		for (unsigned k = 0; k < max; k += stride) {
			stride = k < dense ? 1 : k / 16 + k % 3;
			at = step_round(pid, k);
			if (at)
				break;
		}
		if (at < 0)
			exit(1);
	}
	__atomic_store_n(&odd_fact[STEP_END], 1, __ATOMIC_RELEASE);
	/* Stops on the way out are signals of the child's own children. */
	do
		ptrace(PTRACE_CONT, pid, NULL, 0);
	while (waitpid(pid, &sig, 0) == pid && WIFSTOPPED(sig));
	if (sig)
		exit(1);
}

static void step_run(void (*one)(uint64_t n), unsigned variants)
{
	bool rseq = !getenv("KTR_PATH");
	pid_t pid = fork();

	if (!pid)
		step_child(one);
	if (pid < 0)
		exit(1);
	step_trace(pid, variants, rseq ? STEP_RSEQ_MAX : STEP_MAX);
}

static void step_event(uint64_t n)
{
	/* The number decides the kind, so the same one each time until the tracer wants another. */
	step_stream[0].next = n;
	event_emit(&step_stream[0], event_stream_id(0, 0, 0, 0));
	odd_fact[STEP_BEGUN]++;
}

static void step_events_run(void)
{
	step_run(step_event, odd_long() ? 12 : 3);
}

static unsigned step_count(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < odd_n_events; i++)
		n += event_kind_of(odd_events[i].format) >= 0;
	return n;
}

static void step_events_check(void)
{
	ODD_CHECK(odd_fact[STEP_BEGUN] > 80);
	ODD_CHECK(step_count() == odd_fact[STEP_BEGUN] + odd_fact[STEP_HANDLED]);
	ODD_CHECK(odd_control.drop_nested == 0);
}
/* The long campaign's 4,000 events and their payloads do not fit a ring of the usual size. */
ODD_CASE_LARGE(step_events, step_events_run, step_events_check, "all", "1048576");

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* vfork: the child's event is always dropped, the parent's never, a handler's either, each counted. */
static void step_vfork(uint64_t n)
{
	pid_t pid = vfork();

	(void)n;
	if (!pid) {
		CTR1(KTR_GEN, "child of a step %d", 1);
		_exit(0);
	}
	while (waitpid(pid, NULL, 0) < 0)
		;
	CTR1(KTR_GEN, "parent of a step %d", (int)odd_fact[STEP_BEGUN]);
	odd_fact[STEP_BEGUN]++;
}

static void step_vfork_run(void)
{
	step_run(step_vfork, 1);
}

static void step_vfork_check(void)
{
	ODD_CHECK(odd_fact[STEP_BEGUN] > 30);
	ODD_CHECK(odd_count("child of a step %d") == 0);
	ODD_CHECK(odd_counts_up("parent of a step %d", 0, odd_fact[STEP_BEGUN]));
	ODD_CHECK(step_count() + odd_control.drop_vfork == odd_fact[STEP_HANDLED] + odd_fact[STEP_BEGUN]);
}
ODD_CASE(step_vfork, step_vfork_run, step_vfork_check);
#endif

#endif
