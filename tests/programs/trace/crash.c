/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that records N events and dies, or nearly. For tests/cli/trace/crash.sh.
 *
 *	crash MODE N
 *
 *	segv	of a fault that nobody handles
 *	stack	of a stack that has run over, with an alternate one for signals
 *	abort	of abort(3)
 *	own	its own handler, installed after ktr's, says "mine" and exits with 7
 *	chain	its handler says "mine" and calls the one before it, as crash reporters do
 *	mend	its handler jumps out, a thousand times; then it exits with 0
 *	none	exits with 0 if the signals have their defaults
 *	off	the same: waits until no handler is there, the knob having been set to 0
 *	child	so does a forked child's, which has no writer
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct sigaction before;
static sigjmp_buf mended;
static volatile int *volatile nowhere;

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(9);
}

static void own(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	say("mine\n");
	_exit(7);
}

static void chain(int number, siginfo_t *info, void *context)
{
	say("mine\n");
	before.sa_sigaction(number, info, context);
}

static void mend(int number)
{
	(void)number;
	siglongjmp(mended, 1);
}

/* Installs a handler and waits until ktr's is in front of it: the writer looks about once a second. */
static void install(void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO }, now;
	time_t end = time(NULL) + 20;

	sigaction(SIGSEGV, &action, &before);
	do {
		usleep(1000);
		sigaction(SIGSEGV, NULL, &now);
	} while (now.sa_sigaction == handler && time(NULL) < end);
	if (now.sa_sigaction == handler)
		_exit(8);
}

static __attribute__((noinline)) int overrun(int n)
{
	volatile char room[4096];

	room[n % 4096] = (char)n;
	return overrun(n + 1) + room[0];
}

static void die(const char *mode)
{
	static char other[65536];
	const stack_t stack = { .ss_sp = other, .ss_size = sizeof(other) };

	if (strcmp(mode, "abort") == 0)
		abort();
	if (strcmp(mode, "stack") == 0 && sigaltstack(&stack, NULL) == 0)
		overrun(0);
	*nowhere = 1;
}

static void mend_all(void)
{
	for (volatile int i = 0; i < 1000; i++)
		if (!sigsetjmp(mended, 1))
			*nowhere = 1;
}

/* 0: the signals have their defaults within so many seconds. */
static int caught(int seconds)
{
	struct sigaction segv = { 0 }, abrt = { 0 };
	time_t end = time(NULL) + seconds;

	do {
		usleep(1000);
		sigaction(SIGSEGV, NULL, &segv);
		sigaction(SIGABRT, NULL, &abrt);
	} while ((segv.sa_handler != SIG_DFL || abrt.sa_handler != SIG_DFL) && time(NULL) < end);
	return segv.sa_handler != SIG_DFL || abrt.sa_handler != SIG_DFL;
}

int main(int argc, char **argv)
{
	const char *mode = argc == 3 ? argv[1] : "";
	int n = argc == 3 ? atoi(argv[2]) : 0, status;
	struct sigaction action = { .sa_handler = mend };

	if (strcmp(mode, "none") == 0)
		return caught(0);
	if (strcmp(mode, "off") == 0)
		return !caught(0) || ktr_set("debug.ktr.alq_crash", "0", NULL) || caught(120);
	if (strcmp(mode, "own") == 0)
		install(own);
	if (strcmp(mode, "chain") == 0)
		install(chain);
	if (strcmp(mode, "child") == 0 && fork() == 0) {
		*nowhere = 1;
		_exit(6);
	}
	for (int i = 0; i < n; i++)
		CTR1(KTR_GEN, "event %d", i);
	if (strcmp(mode, "child") == 0)
		return wait(&status) < 0 || !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV;
	if (strcmp(mode, "mend") == 0) {
		sigaction(SIGSEGV, &action, NULL);
		mend_all();
		return 0;
	}
	die(mode);
	return 5;
}
