/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts a pager on a pipe; knows when a terminal wants colours. */
#include "tools/pager.h"

#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *pager_command(void)
{
	const char *command = getenv("PAGER");

	if (!command)
		return "less";
	return command[0] && strcmp(command, "cat") != 0 ? command : NULL;
}

/* Is there a program of that name, of so many bytes? Where a shell would look for it. */
static int pager_is(const char *name, size_t n)
{
	const char *dirs = memchr(name, '/', n) ? "" : getenv("PATH");
	char path[PATH_MAX];

	for (size_t length; dirs; dirs = dirs[length] ? dirs + length + 1 : NULL) {
		length = strcspn(dirs, ":");
		snprintf(path, sizeof(path), "%.*s%s%.*s", (int)length, dirs, length ? "/" : "", (int)n, name);
		if (access(path, X_OK) == 0)
			return 1;
	}
	return 0;
}

/*
 * A bare machine has none, and what nobody shows is lost. What is more than a name and its options is a matter of
 * the shell.
 */
static int pager_there(const char *command)
{
	if (command[strcspn(command, "\"'\\$`;&|<>()={}")] != '\0' || command[0] == ' ')
		return 1;
	return pager_is(command, strcspn(command, " \t"));
}

/*
 * In the child. It begins when there is something to show: less(1) whose first read ^C ends waits for its user
 * before an empty screen.
 */
static void pager_run(const char *command, int from)
{
	struct pollfd wanted = { from, POLLIN, 0 };

	signal(SIGPIPE, SIG_DFL);
	interrupt_none();
	while (poll(&wanted, 1, -1) < 0 && errno == EINTR)
		;
	if (!(wanted.revents & POLLIN))
		_exit(0);
	dup2(from, STDIN_FILENO);
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void pager_open(struct pager *pager, int wanted)
{
	const char *command = wanted && isatty(STDOUT_FILENO) ? pager_command() : NULL;
	int pipe_fd[2];

	*pager = (struct pager){ STDOUT_FILENO, -1 };
	signal(SIGPIPE, SIG_IGN);
	if (!command || !pager_there(command) || pipe2(pipe_fd, O_CLOEXEC))
		return;
	pager->pid = fork();
	if (pager->pid == 0)
		pager_run(command, pipe_fd[0]);
	close(pipe_fd[0]);
	if (pager->pid < 0) {
		close(pipe_fd[1]);
		return;
	}
	pager->fd = pipe_fd[1];
	interrupt_pager(pager->pid, pager->fd);
}

void pager_close(struct pager *pager)
{
	if (pager->pid < 0)
		return;
	interrupt_pager(-1, -1);
	close(pager->fd);
	while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager->pid = -1;
	pager->fd = STDOUT_FILENO;
}

int output_open(struct output *output, const char *command, const char *path, int paged)
{
	struct ktr_error err = KTR_ERROR_NONE;

	*output = (struct output){ .command = command, .path = path, .pager = { -1, -1 } };
	if (!path) {
		progress_prints();
		pager_open(&output->pager, paged);
	} else if (ktr__newfile_begin(&output->file, path, &err)) {
		return fail_with(command, &err);
	} else {
		output->pager.fd = fileno(output->file.to);
	}
	if (ktr__out_open(&output->out, output->pager.fd) == 0)
		return 0;
	output_close(output, 0);
	return fail(command, "no memory");
}

int output_close(struct output *output, int rc)
{
	int flushed = ktr__out_close(&output->out);
	struct ktr_error err = KTR_ERROR_NONE;

	/* A source that fails half-way gives what it has. */
	if (output->path && ktr__newfile_end(&output->file, flushed, &err) && !flushed)
		return fail_with(output->command, &err);
	pager_close(&output->pager);
	rc = rc ? rc : flushed;
	if (rc && rc != -EPIPE)
		return fail(output->command, "%s: %s", output->path ? output->path : "standard output",
			    strerror(-rc));
	return 0;
}

const char *const colour_words[] = { "auto", "always", "never", NULL };

int colour_wanted(enum colour_when when)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	if (when != COLOUR_AUTO)
		return when == COLOUR_ALWAYS;
	return isatty(STDOUT_FILENO) && !(none && none[0]) && !(term && strcmp(term, "dumb") == 0);
}
