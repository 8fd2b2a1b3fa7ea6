/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that forks a child, which becomes another program by exec(2), and ends before that one does; for
 * tests/cli/host/execs.sh.
 *
 *	execs exit|named|kill PROGRAM [ARGUMENT...]
 */
#include <ktr.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int there[2];
	pid_t pid;
	char byte;

	if (argc < 3 || pipe2(there, O_CLOEXEC) != 0)
		return 2;
	CTR0(KTR_GEN, "of the parent");
	pid = fork();
	if (pid == 0) {
		CTR0(KTR_GEN, "of the child");
		/* It could join us again by our name, when it has started. */
		if (strcmp(argv[1], "named") != 0)
			unsetenv("KTR_SESSION");
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	close(there[1]);
	/* The end of the pipe: the child is another program now, or could not be. */
	if (pid < 0 || read(there[0], &byte, 1) != 0)
		return 3;
	printf("%d\n", (int)pid);
	fflush(stdout);
	if (strcmp(argv[1], "kill") == 0)
		raise(SIGKILL);
	return 0;
}
