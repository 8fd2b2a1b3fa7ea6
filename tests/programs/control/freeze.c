/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does what it reads, a word a line, and says when it is done: an event, an abort, ktr_freeze(), an exit.
 * With an argument it has a handler of its own for SIGABRT and SIGUSR1, which says so.
 *
 *	step N		CTR2(KTR_NET, "step %d of %s", N, "freeze")
 *	rx N		CTR1(rx, "packet %d", N)
 *	freeze, abort, exit
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

KTR_CLASS_DEFINE(rx, "packets received");

static void handler(int number)
{
	static const char text[] = "handled\n";

	(void)number;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(1);
}

int main(int argc, char **argv)
{
	char line[64];

	(void)argv;
	if (argc > 1) {
		signal(SIGABRT, handler);
		signal(SIGUSR1, handler);
		/* Settings from now on find the handlers there. */
		if (ktr_set("debug.ktr.freeze_on", "abrt|usr1", NULL))
			return 1;
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		int n = atoi(line + strcspn(line, " "));

		if (strncmp(line, "step", 4) == 0)
			CTR2(KTR_NET, "step %d of %s", n, "freeze");
		else if (strncmp(line, "rx", 2) == 0)
			CTR1(KTR_CLASS(rx), "packet %d", n);
		else if (strncmp(line, "freeze", 6) == 0)
			ktr_freeze();
		else if (strncmp(line, "abort", 5) == 0)
			abort();
		else
			break;
		puts("done");
		fflush(stdout);
	}
	return 0;
}
