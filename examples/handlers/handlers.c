/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handlers: tracing from signal handlers. A timer interrupts a loop that traces too; the handler's event
 * lies between the two events of the loop it came between, on the same thread. Nothing is masked for that,
 * and neither the loop's errno nor its half-written event is harmed.
 *
 *	ktr run ./handlers && ktr dump | less
 */
#define _GNU_SOURCE
#include <ktr.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

KTR_CLASS_DEFINE(tick, "the timer's handler and the loop it interrupts");

enum { TICKS = 100 };

static volatile sig_atomic_t n_ticks;

static void on_tick(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (n_ticks == TICKS)
		return; /* the timer goes on until main() has seen it */
	n_ticks++;
	CTR3(KTR_CLASS(tick), "tick %d: signal %d, code %d", (int)n_ticks, sig, info->si_code);
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerval every = { .it_interval.tv_usec = 500, .it_value.tv_usec = 500 }, off = { 0 };
	long rounds = 0;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	errno = 0;
	while (n_ticks < TICKS) {
		CTR1(KTR_CLASS(tick), "round %ld begins", rounds);
		for (volatile int i = 0; i < 20000; i++)
			;
		CTR1(KTR_CLASS(tick), "round %ld ends", rounds);
		rounds++;
	}
	setitimer(ITIMER_REAL, &off, NULL);
	if (errno != 0)
		return 1;
	printf("%d ticks\n", TICKS);
	return 0;
}
