/* SPDX-License-Identifier: BSD-2-Clause */
/* The handler makes system calls alone, whatever it interrupts. */
#include "tools/interrupt.h"

#include "analyze/print/unfinished.h"
#include "tools/progress.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const int interrupt_signals[] = { SIGINT, SIGTERM, SIGHUP };
#define INTERRUPT_SIGNALS (sizeof(interrupt_signals) / sizeof(interrupt_signals[0]))

static volatile pid_t interrupt_pager_pid = -1;
static volatile int interrupt_pager_fd = -1;
static void (*volatile interrupt_function)(void);
static volatile sig_atomic_t interrupt_has_come, interrupt_takes_term;

static void interrupt_die(int number)
{
	ktr__unfinished_remove();
	progress_wipe();
	/* Who reads the pager sees what has come so far, and decides when it is enough. */
	if (interrupt_pager_pid > 0) {
		close(interrupt_pager_fd);
		while (waitpid(interrupt_pager_pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	signal(number, SIG_DFL);
	raise(number);
}

static void interrupt_handler(int number)
{
	int error = errno;

	if ((number == SIGINT || (number == SIGTERM && interrupt_takes_term)) && interrupt_function) {
		interrupt_has_come = 1;
		interrupt_function();
	} else {
		interrupt_die(number);
	}
	errno = error;
}

void interrupt_init(void)
{
	struct sigaction action = { .sa_handler = interrupt_handler }, was;

	for (size_t i = 0; i < INTERRUPT_SIGNALS; i++) {
		sigaddset(&action.sa_mask, interrupt_signals[i]);
		if (sigaction(interrupt_signals[i], NULL, &was) == 0 && was.sa_handler == SIG_DFL)
			sigaction(interrupt_signals[i], &action, NULL);
	}
}

void interrupt_none(void)
{
	struct sigaction was;

	for (size_t i = 0; i < INTERRUPT_SIGNALS; i++)
		if (sigaction(interrupt_signals[i], NULL, &was) == 0 && was.sa_handler == interrupt_handler)
			signal(interrupt_signals[i], SIG_DFL);
}

void interrupt_pager(pid_t pid, int fd)
{
	interrupt_pager_pid = pid;
	interrupt_pager_fd = fd;
}

void interrupt_call(void (*function)(void))
{
	interrupt_has_come = 0;
	interrupt_function = function;
}

void interrupt_call_term(void)
{
	interrupt_takes_term = 1;
}

int interrupt_came(void)
{
	return interrupt_has_come != 0;
}

void interrupt_end(void)
{
	sigset_t set;

	interrupt_die(SIGINT);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	_exit(130); /* where the caller ignores it */
}
