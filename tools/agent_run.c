/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/agent_run.h"

#include "tools/command.h"
#include "tools/find.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Of ktr run: the program could not be run. */
#define RUN_NOT_RUN 126

static void run_become(const char *option, const char *value, char **program)
{
	const char *const head[] = { "ktr", "run", "--agent", option, value, "--" };
	size_t n_head = sizeof(head) / sizeof(head[0]), n = 0;
	char **args;

	while (program[n])
		n++;
	args = calloc(n_head + n + 1, sizeof(*args));
	if (!args)
		return;
	memcpy(args, head, sizeof(head));
	memcpy(args + n_head, program, n * sizeof(*args));
	signal(SIGPIPE, command_sigpipe); /* main() ignores them; ignored signals stay so across exec */
	signal(SIGXFSZ, command_sigxfsz);
	execv("/proc/self/exe", args);
}

/* The trace that is there, or nothing. */
static struct stat run_trace(void)
{
	struct stat st;

	return lstat(FIND_TRACE, &st) == 0 ? st : (struct stat){ 0 };
}

int agent_run(const char *command, const char *option, const char *value, char **program)
{
	struct stat before = run_trace(), after;
	void (*interrupted)(int), (*quit)(int);
	int status = 0;
	pid_t child = fork();

	if (child < 0)
		return fail(command, "%s", strerror(errno));
	if (child == 0) {
		run_become(option, value, program);
		_exit(RUN_NOT_RUN);
	}
	interrupted = signal(SIGINT, SIG_IGN);
	quit = signal(SIGQUIT, SIG_IGN);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, interrupted);
	signal(SIGQUIT, quit);
	after = run_trace();
	/* Without a trace of its own it has said why. The exit status is the program's, which may be any. */
	return !after.st_ino || (after.st_ino == before.st_ino && after.st_dev == before.st_dev);
}

/* "ktr WORD ...", whose exit status is returned. */
static int run_ktr(const char *const *args)
{
	int status = 0;
	pid_t child = fork();

	if (child < 0)
		return -errno;
	if (child == 0) {
		signal(SIGPIPE, command_sigpipe);
		signal(SIGXFSZ, command_sigxfsz);
		execv("/proc/self/exe", (char *const *)(uintptr_t)args);
		_exit(RUN_NOT_RUN);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static volatile sig_atomic_t run_interrupted; /* the signal */

static void run_interrupt(int number)
{
	run_interrupted = number;
}

/* Has it ended, though nobody has waited for it? */
static int run_is_over(pid_t pid)
{
	char path[32], text[512];
	const char *at;
	ssize_t n;
	int fd;

	if (kill(pid, 0) && errno == ESRCH)
		return 1;
	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 1;
	text[n] = '\0';
	at = strrchr(text, ')');
	return at && at[1] && strchr("ZX", at[2]);
}

static uint64_t run_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Until it is time, somebody interrupts, or there is no process any more. */
static void run_nap(pid_t pid, uint64_t for_ns)
{
	const struct sigaction action = { .sa_handler = run_interrupt };
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction before[3];
	struct timespec nap = { 0, 50000000 };
	uint64_t end_ns;

	run_interrupted = 0;
	for (unsigned i = 0; i < 3; i++)
		sigaction(signals[i], &action, &before[i]);
	end_ns = run_now() + for_ns;
	for (;;) {
		uint64_t now_ns = run_now();

		if (now_ns >= end_ns || run_interrupted || run_is_over(pid))
			break;
		nap.tv_nsec = end_ns - now_ns < 50000000 ? (long)(end_ns - now_ns) : 50000000;
		nanosleep(&nap, NULL);
	}
	for (unsigned i = 0; i < 3; i++)
		sigaction(signals[i], &before[i], NULL);
}

int agent_attach(const char *command, pid_t pid, const char *option, const char *value, uint64_t for_ns,
		 int verbose, struct agent_attached *attached)
{
	char number[16];
	const char *const attach[] = { "ktr", "attach", "-p", number, option, value, "-o", FIND_TRACE, NULL };
	const char *const detach[] = { "ktr", "detach", "-p", number, NULL };

	struct stat before, after;

	snprintf(number, sizeof(number), "%ld", (long)pid);
	if (stat(FIND_TRACE, &before))
		before = (struct stat){ .st_ino = 0 };
	attached->began_ns = run_now();
	if (run_ktr(attach))
		return 1; /* it has said why */
	if (verbose)
		fprintf(stderr, "%s: attached to process %s\n", command, number);
	run_nap(pid, for_ns);
	if (!run_is_over(pid) && run_ktr(detach) && !run_is_over(pid))
		return 1;
	/* One of another time has been moved aside. */
	attached->has_trace = stat(FIND_TRACE, &after) == 0 &&
			      (after.st_ino != before.st_ino || after.st_dev != before.st_dev);
	/* What only wants to end it is obeyed once the process is let go. */
	if (run_interrupted && run_interrupted != SIGINT)
		raise(run_interrupted);
	return 0;
}
