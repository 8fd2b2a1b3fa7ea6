/* SPDX-License-Identifier: BSD-2-Clause */
/* Three threads on one CPU: each of their requests takes long because the others have it, and some wait. */
#include <ktr.h>

#include <pthread.h>
#include <sched.h>
#include <time.h>

static double seconds(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static void *serve(void *arg)
{
	for (int i = 0; i < 8; i++) {
		double until = seconds() + 0.008;

		KTR_START0(KTR_NET, "request", (const char *)arg, i);
		while (seconds() < until)
			;
		if (i % 4 == 0)
			nanosleep(&(struct timespec){ 0, 3000000 }, NULL);
		KTR_STOP0(KTR_NET, "request", (const char *)arg, i);
	}
	return NULL;
}

int main(void)
{
	static char name[3][8] = { "one", "two", "three" };
	pthread_t thread[3];
	cpu_set_t allowed, cpu;
	int first = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	while (first + 1 < CPU_SETSIZE && !CPU_ISSET(first, &allowed))
		first++;
	CPU_ZERO(&cpu);
	CPU_SET(first, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, serve, name[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
