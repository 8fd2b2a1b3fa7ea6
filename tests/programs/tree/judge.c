/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For judge.sh: events behind the library's last look at its session, counted by the foreign programs' oracle.
 *
 *	judge thread	a thread records them, when the process is about to be no more
 *	judge main	main itself does, and there is no other thread
 */
#include <ktr.h>

#include "oracle.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int asked[2], told[2], threaded, behind;

static void record(int n)
{
	for (int i = 0; i < n; i++)
		COUNTED(CTR1(KTR_GEN, "event %d", i));
}

static void *thread(void *unused)
{
	char byte;

	record(100);
	if (write(told[1], "x", 1) == 1 && read(asked[0], &byte, 1) == 1)
		record(5);
	if (write(told[1], "x", 1) == 1)
		pause();
	return unused;
}

/* Linked in before the library's, so it runs behind that (libktr.a). */
__attribute__((destructor(101))) static void last(void)
{
	char byte;

	if (!behind)
		return;
	if (!threaded)
		record(5);
	else if (write(asked[1], "x", 1) != 1 || read(told[0], &byte, 1) != 1)
		_exit(3);
}

int main(int argc, char **argv)
{
	pthread_t id;
	char byte;

	threaded = argc > 1 && strcmp(argv[1], "thread") == 0;
	if (pipe(asked) || pipe(told))
		return 2;
	if (threaded && (pthread_create(&id, NULL, thread, NULL) || read(told[0], &byte, 1) != 1))
		return 2;
	record(100);
	behind = 1;
	return 0;
}
