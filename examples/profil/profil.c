/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where two threads spend their time, by profil(2) into a buffer of the program's own: one works twice as long as
 * the other. Link with libktr-profil alone.
 *
 *	$ ./profil
 *	long_work: 60 ticks
 *	short_work: 30 ticks
 */
#include <ktr/profil.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TEXT_BYTES 65536

static unsigned short counter[TEXT_BYTES / 2]; /* one for each 2 bytes of text, at a scale of one to one */

/* What a place of work has, from its first byte to the first of the next. */
static unsigned long ticks(const char *begin, const char *end, const char *text)
{
	unsigned long n = 0;

	for (const char *at = begin; at < end; at += 2)
		n += counter[(at - text) / 2];
	return n;
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A section of its own: the linker tells where it begins and ends. */
#define WORK(name, seconds)                                                                 \
	extern const char __start_##name[], __stop_##name[];                                \
	static __attribute__((noinline, section(#name))) void *work_##name(void *argument)  \
	{                                                                                   \
		while (cpu_seconds() < (seconds))                                           \
			for (int i = 0; i < 1000000; i++)                                   \
				__asm__ volatile("");                                       \
		return argument;                                                            \
	}

WORK(long_work, 0.6)
WORK(short_work, 0.3)

int main(void)
{
	const char *a = __start_long_work, *b = __start_short_work, *text = a < b ? a : b;
	pthread_t thread[2];

	if (ktr_profil(counter, sizeof(counter), (size_t)text, KTR_PROFIL_SCALE_ONE)) {
		fprintf(stderr, "profil: %s\n", strerror(errno));
		return 1;
	}
	pthread_create(&thread[0], NULL, work_long_work, NULL);
	pthread_create(&thread[1], NULL, work_short_work, NULL);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	ktr_profil(NULL, 0, 0, 0);
	printf("long_work: %lu ticks\n", ticks(__start_long_work, __stop_long_work, text));
	printf("short_work: %lu ticks\n", ticks(__start_short_work, __stop_short_work, text));
	return 0;
}
