/* SPDX-License-Identifier: BSD-2-Clause */
/* ends US: four threads, and an end with status 7 after so long, whoever looks at it then. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void *goes_on(void *arg)
{
	for (volatile unsigned i = 0; *(int *)arg; i++)
		if (i % 1000 == 0)
			usleep(10);
	return NULL;
}

int main(int argc, char **argv)
{
	static int forever = 1;
	struct timespec wait = { 0, (argc > 1 ? atol(argv[1]) : 0) * 1000 };
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread, NULL, goes_on, &forever))
			return 1;
	while (nanosleep(&wait, &wait))
		;
	_exit(7);
}
