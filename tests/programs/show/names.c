/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that get their names late, from others; for tests/cli/show/names.sh. */
#include <ktr.h>
#include <ktr/ctl.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static sem_t begun, go_on;

static void *work(void *arg)
{
	if (arg)
		ktr_thread_name("given");
	CTR0(KTR_GEN, "first event");
	sem_post(&begun);
	sem_wait(&go_on);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t late, given;

	(void)argv;
	sem_init(&begun, 0, 0);
	sem_init(&go_on, 0, 0);
	pthread_create(&late, NULL, work, NULL);
	pthread_create(&given, NULL, work, &begun);
	sem_wait(&begun);
	sem_wait(&begun);
	pthread_setname_np(late, "named late");
	pthread_setname_np(given, "not this one");
	CTR0(KTR_GEN, "both have names");
	if (argc > 1)
		pause();
	/* They never end, as pools' do not: the process does. */
	return 0;
}
