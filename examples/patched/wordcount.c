/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wordcount: a program that knew nothing of ktr: it counts the words of files, one thread each.
 * wordcount.patch is all it takes to trace it:
 *
 *	patch -o traced.c wordcount.c wordcount.patch
 *	cc traced.c $(pkg-config --cflags --libs ktr) -lpthread -o traced
 *	ktr run ./traced /etc/services /etc/protocols && ktr report
 */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>

enum { MAX_FILES = 16 };

struct job {
	const char *path;
	long words;
};

static void *count(void *arg)
{
	struct job *job = arg;
	FILE *file = fopen(job->path, "r");
	int c, in_word = 0;

	if (!file)
		return NULL;
	while ((c = getc(file)) != EOF) {
		if (!isspace(c) && !in_word)
			job->words++;
		in_word = !isspace(c);
	}
	fclose(file);
	return NULL;
}

int main(int argc, char **argv)
{
	struct job jobs[MAX_FILES] = { { NULL, 0 } };
	pthread_t threads[MAX_FILES];
	int n = argc - 1 < MAX_FILES ? argc - 1 : MAX_FILES;
	long total = 0;

	for (int i = 0; i < n; i++) {
		jobs[i].path = argv[i + 1];
		if (pthread_create(&threads[i], NULL, count, &jobs[i]) != 0)
			return 1;
	}
	for (int i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		total += jobs[i].words;
	}
	printf("%ld words\n", total);
	return 0;
}
