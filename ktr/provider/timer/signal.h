/* SPDX-License-Identifier: BSD-2-Clause */
/* A signal that a program has left alone, for timers. */
#ifndef KTR_TIMER_SIGNAL_H
#define KTR_TIMER_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* Of real time, from the first of these downwards: programs count up from SIGRTMIN, and some down from SIGRTMAX. */
#define KTR__TIMER_SIGNAL_MOST	61
#define KTR__TIMER_SIGNAL_LEAST 40

typedef void ktr__timer_handler(int number, siginfo_t *info, void *context);

/* Has a signal this handler? Not 0, nor one that the program has taken meanwhile. */
bool ktr__timer_signal_is_ours(int number, ktr__timer_handler *handler);

/*
 * A signal with this handler: `number`, if that has it, else one with none, which gets it, with all signals blocked
 * in it; whoever waits for signals (wait.c) is not told of it. Or -errno: -EBUSY, the program uses all of them.
 */
int ktr__timer_signal_take(int number, ktr__timer_handler *handler);

#endif
