/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that does its work whatever becomes of its tracer: prints one line with a number that
 * depends on that work, and ends with status 7. For tests/cli/host/badstart.sh.
 *
 *	bad [threads [fill]]	fill: a file that takes the rest of its file system, made half-way; "-": waits for
 *				the end of its standard input then
 *
 * On descriptor 3, where there is one, it says how many events were recorded and dropped.
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BAD_EVENTS 3000 /* of each thread, each of two halves; three sites */

static unsigned long bad_sum;

static void bad_trace(int n)
{
	CTR2(KTR_GEN, "bad number %d of %d", n, n + 1);
	CTR2(KTR_GEN, "bad string %d %s", n, "text of some length");
	CTR1(KTR_INIT, "bad kept %d", n);
	__atomic_fetch_add(&bad_sum, (unsigned long)n, __ATOMIC_RELAXED);
}

static void *bad_work(void *argument)
{
	(void)argument;
	for (int i = 0; i < BAD_EVENTS; i++)
		bad_trace(i);
	return NULL;
}

static void bad_half(unsigned threads)
{
	pthread_t thread[512];
	unsigned n = 0;

	for (; n < threads && n < 512; n++)
		if (pthread_create(&thread[n], NULL, bad_work, NULL))
			break;
	while (n)
		pthread_join(thread[--n], NULL);
	bad_work(NULL);
}

static void bad_fill(const char *path)
{
	static char block[65536];
	size_t bytes = sizeof(block);
	int fd;

	if (strcmp(path, "-") == 0) {
		while (read(STDIN_FILENO, block, sizeof(block)) > 0)
			;
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		perror(path);
		exit(1);
	}
	memset(block, 'x', sizeof(block));
	while (bytes)
		if (write(fd, block, bytes) < 0)
			bytes /= 2;
	unlink(path); /* the space is given back when the program ends */
}

int main(int argc, char **argv)
{
	struct ktr_stats stats = { .size = sizeof(stats) };
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
	char text[128];
	int n;

	bad_half(threads);
	if (argc > 2)
		bad_fill(argv[2]);
	bad_half(threads);
	printf("worked %lu\n", bad_sum / (threads + 1));
	if (ktr_stats(&stats))
		n = snprintf(text, sizeof(text), "untraced\n");
	else
		n = snprintf(text, sizeof(text), "recorded=%lu dropped=%lu\n", (unsigned long)stats.n_recorded,
			     (unsigned long)stats.n_dropped);
	if (fcntl(3, F_GETFD) >= 0 && write(3, text, (size_t)n) != n)
		return 1;
	return 7;
}
