/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gets and gives back blocks of all sizes between two blocks of MARK bytes, and prints by how much more the
 * allocator says is in use then, without what it has rounded up: jemalloc's stats.allocated, tcmalloc's
 * current_allocated_bytes.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS 20000

static int (*jemalloc)(const char *, void *, size_t *, void *, size_t);
static int (*tcmalloc)(const char *, size_t *);

static size_t in_use(void)
{
	uint64_t epoch = 1;
	size_t n = 0, size = sizeof(n), n_epoch = sizeof(epoch);

	if (jemalloc) {
		jemalloc("epoch", &epoch, &n_epoch, &epoch, sizeof(epoch));
		jemalloc("stats.allocated", &n, &size, NULL, 0);
	} else {
		tcmalloc("generic.current_allocated_bytes", &n);
	}
	return n;
}

static struct {
	void *at;
	size_t size;
} block[BLOCKS];

int main(int argc, char **argv)
{
	size_t mark = argc > 1 ? strtoul(argv[1], NULL, 0) : 0, before, after, slack = 0;
	void *first, *last;

	*(void **)(void *)&jemalloc = dlsym(RTLD_DEFAULT, "mallctl");
	*(void **)(void *)&tcmalloc = dlsym(RTLD_DEFAULT, "MallocExtension_GetNumericProperty");
	if (!mark || (!jemalloc && !tcmalloc))
		return 2;
	in_use();
	/* What ktr's own thread gets as it starts is in use, too, and none of the program's. */
	usleep(300000);
	first = malloc(mark);
	before = in_use();
	for (unsigned i = 0; i < BLOCKS; i++) {
		block[i].size = i % 100 ? 1 + i * 7919 % 3000 : 1 + i * 37;
		block[i].at = i % 3 ? malloc(block[i].size) : calloc(1, block[i].size);
		if (i % 5 == 4) {
			block[i].size = block[i].size * 3 / 2;
			block[i].at = realloc(block[i].at, block[i].size);
		}
	}
	for (unsigned i = 0; i < BLOCKS; i++) {
		if (i % 4 == 1) {
			free(block[i].at);
			block[i].at = NULL;
		} else {
			slack += malloc_usable_size(block[i].at) - block[i].size;
		}
	}
	after = in_use();
	last = malloc(mark);
	printf("%zu\n", after - before - slack);
	free(first);
	free(last);
	return 0;
}
