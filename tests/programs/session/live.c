/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A traced program for the scripts: records 20 spans of class vfs and 100 events of class gen, then does
 * each of what its arguments say.
 *
 *	kill	ends by SIGKILL, without a word
 *	close	closes all descriptors from 3 on, as daemons do
 *	wait	says its process id in its own namespace, then waits for the end of its input
 *	exec	becomes the program that the rest names
 */
#include <ktr.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char byte;

	for (int i = 0; i < 20; i++) {
		KTR_START0(KTR_VFS, "file", "read", i);
		KTR_STOP0(KTR_VFS, "file", "read", i);
	}
	for (int i = 0; i < 100; i++)
		CTR1(KTR_GEN, "live %d", i);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "kill") == 0)
			raise(SIGKILL);
		if (strcmp(argv[i], "close") == 0)
			close_range(3, ~0u, 0);
		if (strcmp(argv[i], "exec") == 0)
			execvp(argv[i + 1], argv + i + 1);
		if (strcmp(argv[i], "wait") == 0) {
			printf("%d\n", (int)getpid());
			fflush(stdout);
			while (read(STDIN_FILENO, &byte, 1) > 0)
				;
			CTR0(KTR_GEN, "waited");
		}
	}
	return 0;
}
