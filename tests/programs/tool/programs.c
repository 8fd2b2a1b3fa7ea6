/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For programs.sh: a program among several that one ktr run starts. With -DOTHER it is another one: other call
 * sites, a class of its own, strings.
 *
 *	programs TAG COUNT [HOW [COMMAND...]]
 *
 * records COUNT events and then does HOW: kill, _exit, thread (the main thread ends first); runs a COMMAND and
 * records once more (runs), or becomes it (becomes); leaves a daemon that records once more for each byte of
 * standard input, and ends with it (daemon), or does that itself (steps).
 */
#include <ktr.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef OTHER
KTR_CLASS_DEFINE(parcel, "of the other program alone");
#define SAY(tag, i) CTR3(KTR_CLASS(parcel), "parcel %s %d in %s", (tag), (i), "a string that is somewhat longer than a word")
#else
#define SAY(tag, i) CTR2(KTR_GEN, "event %s %d", (tag), (i))
#endif

static const char *tag;
static int next;

static void say(int count)
{
	for (int to = next + count; next < to; next++)
		SAY(tag, next);
}

static void steps(int count)
{
	char byte;

	while (read(0, &byte, 1) == 1) {
		say(count);
		if (write(1, &byte, 1) != 1)
			_exit(1);
	}
}

static void *outlives(void *unused)
{
	say(next);
	return unused;
}

int main(int argc, char **argv)
{
	const char *how = argc > 3 ? argv[3] : "";
	int count = argc > 2 ? atoi(argv[2]) : 1, status = 0;
	pthread_t thread;

	tag = argc > 1 ? argv[1] : "none";
	if (strcmp(how, "steps") == 0) {
		steps(count);
		return 0;
	}
	say(count);
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "thread") == 0 && !pthread_create(&thread, NULL, outlives, NULL))
		pthread_exit(NULL);
	if (strcmp(how, "becomes") == 0)
		execvp(argv[4], argv + 4);
	if (strcmp(how, "runs") == 0) {
		if (fork() == 0)
			execvp(argv[4], argv + 4);
		wait(&status);
		say(count);
	}
	if (strcmp(how, "daemon") == 0 && fork() == 0)
		steps(count);
	return status != 0;
}
