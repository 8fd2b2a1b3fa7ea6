/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts a pager on a pipe; knows when a terminal wants colours. */
#include "tools/pager.h"

#include "tools/options.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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

/* In the child. */
static void pager_run(const char *command, int from)
{
	signal(SIGPIPE, SIG_DFL);
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
	if (!command || pipe2(pipe_fd, O_CLOEXEC))
		return;
	pager->pid = fork();
	if (pager->pid == 0)
		pager_run(command, pipe_fd[0]);
	close(pipe_fd[0]);
	if (pager->pid < 0)
		close(pipe_fd[1]);
	else
		pager->fd = pipe_fd[1];
}

void pager_close(struct pager *pager)
{
	if (pager->pid < 0)
		return;
	close(pager->fd);
	while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager->pid = -1;
	pager->fd = STDOUT_FILENO;
}

const char *const colour_words[] = { "auto", "always", "never", NULL };

int colour_wanted(enum colour_when when)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	if (when != COLOUR_AUTO)
		return when == COLOUR_ALWAYS;
	return isatty(STDOUT_FILENO) && !(none && none[0]) && !(term && strcmp(term, "dumb") == 0);
}
