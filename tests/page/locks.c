/* SPDX-License-Identifier: BSD-2-Clause */
/* Two threads that take a lock in turns, each when the other has had it; it knows nothing of ktr. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static int turns;

static void *take(void *name)
{
	int mine = *(const char *)name == 's';

	pthread_setname_np(pthread_self(), name);
	for (int at = 0; at < 10;) {
		pthread_mutex_lock(&shared);
		at = turns;
		if (at % 2 == mine && at < 10)
			turns++;
		usleep(1000);
		pthread_mutex_unlock(&shared);
		usleep(500);
	}
	return NULL;
}

int main(void)
{
	static char name[2][8] = { "first", "second" };
	pthread_t id[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&id[i], NULL, take, name[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(id[i], NULL);
	return 0;
}
