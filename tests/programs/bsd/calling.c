/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr_ktrace() of the process itself and of others, with each of its errors: calling FILE PID, PID being
 * nobody's.
 */
#include <ktr/ktrace.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static int failed;

static void calling(int line, int got, int want)
{
	int error = got < 0 ? errno : 0;

	if (error == want)
		return;
	printf("FAILED: calling.c:%d: %s, not %s\n", line, strerror(error), strerror(want));
	failed = 1;
}

#define CALLING(call, want) calling(__LINE__, call, want)

int main(int argc, char **argv)
{
	const char *file = argv[1];
	pid_t nobody = argc > 2 ? atoi(argv[2]) : 0, other;
	int points = KTRFAC_SYSCALL | KTRFAC_USER;

	CALLING(ktr_ktrace(file, KTROP_SET, 0, getpid()), EINVAL);
	CALLING(ktr_ktrace(file, KTROP_SET, KTRFAC_INHERIT, getpid()), EINVAL);
	CALLING(ktr_ktrace(file, 3, points, getpid()), EINVAL);
	CALLING(ktr_ktrace(file, 64, points, getpid()), EINVAL);
	CALLING(ktr_ktrace("no/such", KTROP_SET, points, getpid()), ENOENT);
	CALLING(ktr_ktrace("/dev/null", KTROP_SET, points, getpid()), EACCES);
	CALLING(ktr_ktrace(file, KTROP_SET, points, nobody), ESRCH);
	CALLING(ktr_ktrace(file, KTROP_SET, points, -nobody), ESRCH);
	CALLING(ktr_ktrace(NULL, KTROP_CLEAR, points, nobody), ESRCH);
	signal(SIGCHLD, SIG_IGN);
	CALLING(ktr_ktrace(file, KTROP_SET, points, getpid()), 0);
	getppid();
	ktr_utrace("itself", 6);
	CALLING(ktr_ktrace(NULL, KTROP_CLEAR, points, getpid()), 0);
	signal(SIGCHLD, SIG_DFL);
	getpgrp(); /* nobody looks on */
	other = fork();
	if (other == 0)
		for (;;)
			pause();
	CALLING(ktr_ktrace(file, KTROP_SET, points, other), 0);
	CALLING(ktr_ktrace(file, KTROP_CLEARFILE, 0, 0), 0);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	setenv("PATH", "/nonexistent", 1);
	CALLING(ktr_ktrace(file, KTROP_SET, points, getpid()), ENOSYS);
	return failed;
}
