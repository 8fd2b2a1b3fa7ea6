/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * family: a parent, forked children, and a child that executes another program. All of them are in one
 * session and one trace, as processes of their own; the rows of the timeline are grouped by process.
 *
 *	ktr run ./family && ktr timeline
 */
#include <ktr.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

KTR_CLASS_DEFINE(family, "what each process of the family does");

enum { CHILDREN = 3 };

static int child(int number)
{
	for (int i = 0; i < 10; i++) {
		KTR_SCOPE(KTR_CLASS(family), "chore", "number:%d", i);

		CTR2(KTR_CLASS(family), "child %d does chore %d", number, i);
		usleep(500);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int n_well = 0, status;

	if (argc > 1 && strcmp(argv[1], "grandchild") == 0) {
		CTR1(KTR_CLASS(family), "executed anew as pid %d", (int)getpid());
		return 0;
	}
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		CTR2(KTR_CLASS(family), "%s of child %d", pid ? "parent" : "birth", i);
		if (pid == 0 && i == CHILDREN - 1)
			execl("/proc/self/exe", argv[0], "grandchild", (char *)NULL);
		if (pid == 0)
			exit(child(i));
	}
	while (wait(&status) > 0) {
		n_well += status == 0;
		CTR1(KTR_CLASS(family), "a child ended with %d", status);
	}
	printf("%d children ended well\n", n_well);
	return n_well == CHILDREN ? 0 : 1;
}
