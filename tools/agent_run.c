/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/agent_run.h"

#include "tools/command.h"
#include "tools/find.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of ktr run: the program was not found, or could not be run. */
#define RUN_NOT_RUN   126
#define RUN_NOT_FOUND 127

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

int agent_run(const char *command, const char *option, const char *value, char **program)
{
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
	if (WIFEXITED(status) && (WEXITSTATUS(status) == RUN_NOT_RUN || WEXITSTATUS(status) == RUN_NOT_FOUND))
		return 1; /* it has said why */
	return 0;
}
