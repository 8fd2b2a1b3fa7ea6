/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What becomes of signals that ktr's handlers see first, for tests/cli/host/signals.sh: what is printed, and the
 * exit status, are to be as without ktr.
 *
 *	signals MODE HOW
 *
 * HOW is how ktr's handler comes in front of the program's: "freeze" sets debug.ktr.freeze_on, "crash" waits until
 * the writer has seen it (debug.ktr.alq_crash), "none" does nothing.
 *
 *	reset, reset_sent	SA_RESETHAND: the second fault, or signal, kills
 *	again			the same, and the handler is installed again
 *	leftover		the same, and ktr finds the default with the flags of a handler
 *	defer, nodefer		the handler sends itself the signal
 *	mask			what is blocked in the handler
 *	stack, onstack		which stack it runs on, there being another
 *	restart, norestart	a read(2) that it interrupts
 *	ignore			ignored: poll(2) is not interrupted, exec(2) hands it on
 *	default, fault, abort, sys	no handler: how the program dies, and of what
 *	recursion		the handler faults
 *	info, plain		the handler's arguments
 *	chain			a handler installed later calls the one before it, or does what its default would be
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char other[256 << 10];
static const char *mode, *how;
static volatile int *volatile nowhere;
static volatile int depth, handled;
static struct sigaction before;

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(9);
}

/* Until ktr's handler is in front of this one. */
static void front(int number)
{
	struct sigaction ours, now;
	time_t end = time(NULL) + 120;

	sigaction(number, NULL, &ours);
	if (strcmp(how, "freeze") == 0 && ktr_set("debug.ktr.freeze_on", "ill|segv|abrt", NULL))
		_exit(10);
	/* Number 31 has no name. */
	if (strcmp(how, "freeze") == 0 && number == SIGSYS && ktr_set("debug.ktr.freeze_on", "0x80000000", NULL))
		_exit(10);
	if (strcmp(how, "none") == 0 || strcmp(mode, "ignore") == 0)
		return;
	do {
		sigaction(number, NULL, &now);
		if (now.sa_handler == ours.sa_handler)
			usleep(1000);
	} while (now.sa_handler == ours.sa_handler && time(NULL) < end);
	if (now.sa_handler == ours.sa_handler)
		_exit(11);
}

/* Where the program has none itself. */
static void wait_for_ours(int number)
{
	struct sigaction now;

	while (strcmp(how, "crash") == 0 && sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		usleep(1000);
}

static void handler(int number)
{
	char here;

	say(&here >= other && &here < other + sizeof(other) ? "on the other stack\n" : "mine\n");
	if (strcmp(mode, "recursion") == 0)
		*nowhere = 1;
	if (strstr(mode, "defer") && depth++ < 3)
		raise(number);
	if (strcmp(mode, "mask") == 0) {
		sigset_t set;

		sigprocmask(SIG_BLOCK, NULL, &set);
		for (int i = 1; i < 32; i++)
			if (sigismember(&set, i) == 1)
				printf("%d blocked\n", i);
		fflush(stdout);
	}
	if (strcmp(mode, "again") == 0 && depth++ < 3)
		sigaction(number, &before, NULL);
	handled = 1;
	if (strstr(mode, "defer"))
		say("back\n");
}

static void handler_info(int number, siginfo_t *info, void *context)
{
	printf("%d %d %d %d\n", number, info->si_code, info->si_pid == getpid(), context != NULL);
	fflush(stdout);
}

static void later(int number, siginfo_t *info, void *context)
{
	say("later\n");
	if (before.sa_handler == SIG_DFL) {
		signal(number, SIG_DFL);
		raise(number);
	} else {
		before.sa_sigaction(number, info, context);
	}
}

static void install(int number, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	if (strcmp(mode, "mask") == 0) {
		sigaddset(&action.sa_mask, SIGUSR2);
		sigaddset(&action.sa_mask, SIGTERM);
	}
	before = action;
	sigaction(number, &action, NULL);
	front(number);
}

/* ---- system calls that are interrupted ---- */

static int fds[2];
static volatile pid_t waiter;

static void *wait_in_kernel(void *unused)
{
	struct pollfd poll_in = { .fd = fds[0], .events = POLLIN };
	char byte;
	int n;

	(void)unused;
	waiter = (pid_t)syscall(SYS_gettid);
	n = strcmp(mode, "ignore") == 0 ? poll(&poll_in, 1, 120000) : (int)read(fds[0], &byte, 1);
	printf("it returned %d, %s\n", n, n < 0 ? strerror(errno) : "whole");
	fflush(stdout);
	return NULL;
}

static int sleeps(pid_t tid)
{
	char path[64], text[256] = "", *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	file = fopen(path, "r");
	if (!file || !fgets(text, sizeof(text), file))
		text[0] = 0;
	if (file)
		fclose(file);
	state = strrchr(text, ')');
	return state && state[2] == 'S';
}

static void interrupt(int number)
{
	char line[256];
	pthread_t thread;
	FILE *status;

	if (pipe(fds) || pthread_create(&thread, NULL, wait_in_kernel, NULL))
		_exit(12);
	while (!waiter || !sleeps(waiter))
		usleep(1000);
	pthread_kill(thread, number);
	/* Delivered: handled, or nothing pending any more and the thread asleep again. */
	while (strcmp(mode, "ignore") != 0 && !handled)
		usleep(1000);
	if (strcmp(mode, "norestart") == 0) {
		pthread_join(thread, NULL);
		return;
	}
	for (int i = 0; i < 20 || !sleeps(waiter); i++)
		usleep(1000);
	if (write(fds[1], "x", 1) != 1)
		_exit(12);
	pthread_join(thread, NULL);
	if (strcmp(mode, "ignore") != 0)
		return;
	fflush(stdout);
	status = popen("grep SigIgn /proc/self/status", "r");
	while (status && fgets(line, sizeof(line), status))
		say(line);
	if (status)
		pclose(status);
}

/* ---- deaths ---- */

static void trap_getppid(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP | 77),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(77);
}

/* Of what the child died: the last signal that it got, by what, and where. */
static int died(void (*die)(void))
{
	siginfo_t info = { 0 };
	pid_t pid = fork();
	int status;

	if (!pid) {
		die();
		_exit(0);
	}
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL)) {
		kill(pid, SIGKILL);
		_exit(77);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (status >> 16 == 0)
			ptrace(PTRACE_GETSIGINFO, pid, NULL, &info);
		ptrace(PTRACE_CONT, pid, NULL, WSTOPSIG(status));
	}
	printf("status %#x; signal %d, code %d, address %p, by itself %d\n", status, info.si_signo, info.si_code,
	       info.si_signo == SIGSEGV ? info.si_addr : NULL, info.si_signo == SIGABRT && info.si_pid == pid);
	return 0;
}

/* Until the parent traces us. */
static void seized(void)
{
	for (;;) {
		char line[128];
		FILE *file = fopen("/proc/self/status", "r");
		int tracer = 0;

		while (file && fgets(line, sizeof(line), file))
			sscanf(line, "TracerPid: %d", &tracer);
		if (file)
			fclose(file);
		if (tracer)
			return;
	}
}

static void die_default(void)
{
	seized();
	kill(getpid(), SIGILL);
}

static void die_fault(void)
{
	seized();
	*(volatile int *)(uintptr_t)0x10 = 1;
}

static void die_abort(void)
{
	seized();
	abort();
}

static void die_sys(void)
{
	seized();
	trap_getppid();
	syscall(SYS_getppid);
	_exit(5); /* goes on where it should be dead */
}

/* ---- */

static void with_handlers(void)
{
	static const stack_t stack = { .ss_sp = other, .ss_size = sizeof(other) };

	if (strcmp(mode, "reset") == 0 || strcmp(mode, "again") == 0) {
		install(SIGSEGV, SA_RESETHAND);
		*nowhere = 1;
	} else if (strcmp(mode, "reset_sent") == 0) {
		install(SIGILL, (int)(SA_RESETHAND | SA_NODEFER));
		raise(SIGILL);
		raise(SIGILL);
	} else if (strcmp(mode, "defer") == 0 || strcmp(mode, "nodefer") == 0) {
		install(SIGILL, strcmp(mode, "nodefer") ? 0 : SA_NODEFER);
		raise(SIGILL);
	} else if (strcmp(mode, "mask") == 0) {
		install(SIGILL, 0);
		raise(SIGILL);
	} else if (strstr(mode, "stack")) {
		sigaltstack(&stack, NULL);
		install(SIGILL, strcmp(mode, "stack") ? SA_ONSTACK : 0);
		raise(SIGILL);
	} else if (strstr(mode, "restart")) {
		install(SIGILL, strcmp(mode, "restart") ? 0 : SA_RESTART);
		interrupt(SIGILL);
	} else if (strcmp(mode, "recursion") == 0) {
		install(SIGSEGV, 0);
		*nowhere = 1;
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = handler_info, .sa_flags = SA_SIGINFO };
	static const struct {
		char mode[8];
		int number;
		void (*die)(void);
	} deaths[] = {
		{ "default", SIGILL, die_default },
		{ "fault", SIGSEGV, die_fault },
		{ "abort", SIGABRT, die_abort },
		{ "sys", SIGSYS, die_sys },
	};

	mode = argc == 3 ? argv[1] : "";
	how = argc == 3 ? argv[2] : "";
	for (unsigned i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++) {
		if (strcmp(mode, deaths[i].mode))
			continue;
		/* In a child that has no writer, ktr's handlers are there all the same. */
		if (strcmp(how, "freeze") == 0)
			front(deaths[i].number);
		wait_for_ours(deaths[i].number);
		return died(deaths[i].die);
	}
	if (strcmp(mode, "ignore") == 0) {
		signal(SIGILL, SIG_IGN);
		front(SIGILL);
		interrupt(SIGILL);
	} else if (strcmp(mode, "info") == 0 || strcmp(mode, "plain") == 0) {
		if (strcmp(mode, "plain") == 0)
			action = (struct sigaction){ .sa_handler = handler };
		sigaction(SIGILL, &action, NULL);
		front(SIGILL);
		raise(SIGILL);
		kill(getpid(), SIGILL);
	} else if (strcmp(mode, "leftover") == 0) {
		action.sa_flags |= (int)SA_RESETHAND;
		sigaction(SIGILL, &action, NULL);
		raise(SIGILL);
		front(SIGILL);
		raise(SIGILL);
	} else if (strcmp(mode, "chain") == 0) {
		if (strcmp(how, "freeze") == 0)
			front(SIGILL);
		wait_for_ours(SIGILL);
		action.sa_sigaction = later;
		sigaction(SIGILL, &action, &before);
		raise(SIGILL);
	} else {
		with_handlers();
	}
	say("the end\n");
	return 3;
}
