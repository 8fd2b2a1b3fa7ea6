/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ends [thread]: at a line of input it exits, which takes 300 ms more after all exit handlers: the C library writes
 * what a stream has left, slowly. thread: the main thread has ended before that, so that nothing of the process's
 * memory is seen under its number. Says "begun", and "exits" in the midst of it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static ssize_t slowly(void *cookie, const char *bytes, size_t n)
{
	const struct timespec nap = { 0, 300000000 };

	(void)cookie;
	(void)bytes;
	if (write(1, "exits\n", 6) < 0)
		return -1;
	nanosleep(&nap, NULL);
	return (ssize_t)n;
}

static void *ends(void *main_thread)
{
	pthread_join(*(pthread_t *)main_thread, NULL);
	exit(0);
}

int main(int argc, char **argv)
{
	static pthread_t self;
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = slowly });
	pthread_t thread;

	(void)argv;
	alarm(300);
	self = pthread_self();
	if (!stream || fputs("left", stream) < 0 || write(1, "begun\n", 6) < 0)
		return 1;
	getchar();
	if (argc > 1 && pthread_create(&thread, NULL, ends, &self) == 0)
		pthread_exit(NULL);
	return 0;
}
