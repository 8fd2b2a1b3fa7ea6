/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least that a writer could do: a loop on its core that copies.
 *
 * One thread fills a ring with slots of 64 bytes as fast as it can and waits where that is full; another copies
 * each slot to the end of a packet, which becomes longer by what an event takes in a trace, and writes 512 KiB at
 * a time. No slot is looked at, nothing is checked. The ring is as large as the recorder's, shared memory of pages
 * that are there; the files are in the place of the trace and rotated as it is. writer_cpu is the time that
 * it did not wait for the other.
 */
#include "paced.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BATCH 1024u
#define BLOCK (512u << 10)

struct slot {
	uint64_t word[8];
};

static struct {
	struct slot *slot;
	uint64_t n; /* a power of two */
	uint64_t head __attribute__((aligned(64)));
	uint64_t tail __attribute__((aligned(64)));
	int stop __attribute__((aligned(64)));
} ring;

static void *fill(void *unused)
{
	uint64_t head = 0, tail = 0;

	stay_on(0);
	while (!__atomic_load_n(&ring.stop, __ATOMIC_RELAXED)) {
		if (head - tail >= ring.n - BATCH) {
			tail = __atomic_load_n(&ring.tail, __ATOMIC_ACQUIRE);
			continue;
		}
		for (unsigned i = 0; i < 100; i++) {
			struct slot *slot = &ring.slot[head & (ring.n - 1)];

			for (unsigned k = 0; k < 8; k++)
				slot->word[k] = head + k;
			__atomic_store_n(&ring.head, ++head, __ATOMIC_RELEASE);
		}
	}
	return unused;
}

struct files {
	const char *path;
	int fd;
	unsigned number;
	uint64_t bytes;
};

static void files_name(const struct files *files, unsigned number, char name[400])
{
	snprintf(name, 400, "%s.copy.%u", files->path, number);
}

static void files_remove(const struct files *files, unsigned number)
{
	char name[400];

	files_name(files, number, name);
	unlink(name);
}

static void files_next(struct files *files)
{
	char name[400];

	if (files->fd >= 0)
		close(files->fd);
	files_name(files, ++files->number, name);
	files->fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	files->bytes = 0;
	if (files->number > ROTATE_KEEP + 1)
		files_remove(files, files->number - ROTATE_KEEP - 1);
}

static void files_append(struct files *files, const uint8_t *block, size_t n)
{
	if (files->fd < 0 || files->bytes >= ROTATE_BYTES)
		files_next(files);
	if (pwrite(files->fd, block, n, (off_t)files->bytes) != (ssize_t)n) {
		perror(files->path);
		exit(1);
	}
	files->bytes += n;
}

static void files_end(struct files *files)
{
	close(files->fd);
	for (unsigned i = 0; i <= ROTATE_KEEP; i++)
		if (files->number > i)
			files_remove(files, files->number - i);
}

/* n slots to the end of a packet, where an event has bytes/256 bytes. */
static uint8_t *copy(uint8_t *packet, uint64_t tail, unsigned n, unsigned bytes)
{
	unsigned at = 0;

	for (unsigned i = 0; i < n; i++, at += bytes)
		memcpy(packet + (at >> 8), &ring.slot[(tail + i) & (ring.n - 1)], sizeof(struct slot));
	return packet + (at >> 8);
}

static uint64_t ready(void)
{
	return __atomic_load_n(&ring.head, __ATOMIC_ACQUIRE);
}

/* Until the ring has been filled up to `head`: how long that took, in CPU time. */
static double wait_for(uint64_t head)
{
	double since = clock_s(CLOCK_THREAD_CPUTIME_ID);

	while (ready() < head)
		;
	return clock_s(CLOCK_THREAD_CPUTIME_ID) - since;
}

/* Counted from when as many files as the trace's pieces were removed. */
static void drain(struct files *files, unsigned bytes, double seconds, struct outcome *outcome)
{
	uint8_t *block = malloc(BLOCK + BATCH * sizeof(struct slot) + sizeof(struct slot)), *at = block;
	double start = 0, waited = 0, cpu = 0;
	uint64_t tail = 0, first = 0;

	if (!block)
		exit(1);
	memset(block, 0, BLOCK + BATCH * sizeof(struct slot));
	while (!first || now() < start + seconds) {
		if (!first && files->number > ROTATE_KEEP + REMOVED) {
			first = tail;
			start = now();
			waited = 0;
			cpu = clock_s(CLOCK_THREAD_CPUTIME_ID);
		}
		if (ready() < tail + 2 * BATCH)
			waited += wait_for(tail + 2 * BATCH);
		at = copy(at, tail, BATCH, bytes);
		__atomic_store_n(&ring.tail, tail += BATCH, __ATOMIC_RELEASE);
		if (at >= block + BLOCK) {
			files_append(files, block, (size_t)(at - block));
			at = block;
		}
	}
	outcome->seconds = now() - start;
	outcome->produced = outcome->written = tail - first;
	outcome->writer_cpu = clock_s(CLOCK_THREAD_CPUTIME_ID) - cpu - waited;
	outcome->bytes = bytes / 256.0;
	free(block);
}

struct outcome reference(const char *path, double bytes, uint64_t n_slots, double seconds)
{
	struct files files = { path, -1, 0, 0 };
	struct outcome outcome = { 0 };
	pthread_t thread;

	memset(&ring, 0, sizeof(ring));
	ring.n = n_slots;
	ring.slot = mmap(NULL, ring.n * sizeof(struct slot), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (ring.slot == MAP_FAILED || pthread_create(&thread, NULL, fill, NULL)) {
		perror("the reference's ring");
		exit(1);
	}
	stay_on(-1);
	drain(&files, (unsigned)(bytes * 256), seconds, &outcome);
	__atomic_store_n(&ring.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	munmap(ring.slot, ring.n * sizeof(struct slot));
	files_end(&files);
	return outcome;
}
