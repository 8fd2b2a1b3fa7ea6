/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session file made by hand, for tests of those who read one: in memory, complete, and written by
 * nobody else. image_make() lays it out as session.h says; tests then spoil what they like.
 */
#ifndef TESTS_TEST_IMAGE_H
#define TESTS_TEST_IMAGE_H

#include "ktr/session/kernel.h"

#include <ktr/session.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMAGE_PAGE	4096u
#define IMAGE_RINGS	2u
#define IMAGE_DATA_LOG2 13 /* [log2 entries] room for all rings */
#define IMAGE_ROWS	16u

struct image {
	unsigned char *bytes;
	size_t n_bytes;
	struct ktr_header *header;
	struct ktr_control *control;
};

static inline void *image_region(const struct image *image, enum ktr_region_id region)
{
	return image->bytes + image->header->region[region].offset;
}

static inline struct ktr_ring *image_ring(const struct image *image, unsigned idx)
{
	return (struct ktr_ring *)image_region(image, KTR_REGION_ring) + idx;
}

static inline uint32_t image_n_rows(enum ktr_region_id region)
{
	switch (region) {
	case KTR_REGION_control:
		return 1;
	case KTR_REGION_string:
		return 4096;
	case KTR_REGION_ring:
		return 2 * IMAGE_RINGS;
	case KTR_REGION_data:
		return 1u << IMAGE_DATA_LOG2;
	default:
		return IMAGE_ROWS;
	}
}

static inline void image_layout(struct ktr_header *header)
{
	static const uint32_t row_bytes[] = {
#define IMAGE_ROW(name, row) sizeof(row),
		KTR_REGION_LIST(IMAGE_ROW)
#undef IMAGE_ROW
	};
	uint64_t at = KTR_SESSION_ALIGN;

	for (unsigned i = 0; i < KTR_REGIONS; i++) {
		struct ktr_region *region = &header->region[i];

		region->row_bytes = row_bytes[i];
		region->n_rows = image_n_rows(i);
		region->offset = at;
		region->bytes = ((uint64_t)region->row_bytes * region->n_rows +
				 KTR_SESSION_ALIGN - 1) / KTR_SESSION_ALIGN * KTR_SESSION_ALIGN;
		at += region->bytes;
	}
	header->n_regions = KTR_REGIONS;
	header->file_bytes = at;
}

/* The name is of at most 63 bytes. */
static inline void image_header(struct ktr_header *header, const char *name)
{
	*header = (struct ktr_header){
		.magic = KTR_SESSION_MAGIC, .major = KTR_SESSION_MAJOR, .minor = KTR_SESSION_MINOR,
		.header_bytes = sizeof(*header), .ready = 1, .arch = KTR_ARCH_X86_64,
		.path = KTR_PATH_RSEQ, .clock = KTR_CLOCK_TSC, .n_rings = IMAGE_RINGS,
		.ring_log2_max = 12, .keep_log2_max = 8, .creator_pid = 4711,
	};

	image_layout(header);
	memcpy(header->name, name, strlen(name));
	strcpy(header->host, "here");
}

/* The caller frees image->bytes. */
static inline void image_make(struct image *image, const char *name)
{
	struct ktr_header header;

	image_header(&header, name);
	image->n_bytes = header.file_bytes;
	image->bytes = aligned_alloc(KTR_SESSION_ALIGN, image->n_bytes);
	memset(image->bytes, 0, image->n_bytes);
	memcpy(image->bytes, &header, sizeof(header));
	image->header = (struct ktr_header *)(void *)image->bytes;
	image->control = image_region(image, KTR_REGION_control);
	image->control->n_sites = image->control->n_threads = image->control->n_procs = 1;
	image->control->n_modules = 1;
	image->control->string_bytes = 1;
}

/* Gives a ring memory: 2^log2 entries at an offset of the data region [64 KiB]. */
static inline void image_ring_open(struct image *image, unsigned idx, unsigned log2, unsigned at,
				   unsigned generation)
{
	uint64_t offset = image->header->region[KTR_REGION_data].offset + at * KTR_SESSION_ALIGN;

	image_ring(image, idx)->geom = offset >> 16 | (uint64_t)log2 << 32 |
				       generation * KTR_GEOM_GENERATION;
}

/* A process of ours that is in the session. */
static inline void image_process(struct image *image, uint32_t row, uint32_t pid, uint64_t start_time)
{
	struct ktr_proc_row *proc = (struct ktr_proc_row *)image_region(image, KTR_REGION_proc) + row;

	proc->state = KTR_ROW_READY;
	proc->pid = pid;
	proc->pid_ns = ktr__proc_own_ns();
	proc->start_time = start_time;
	image->control->n_procs = row + 1;
}

/* 0 or -1 */
static inline int image_write(const struct image *image, const char *path, size_t n_bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t n = fd < 0 ? -1 : pwrite(fd, image->bytes, n_bytes, 0);

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)n_bytes ? 0 : -1;
}

/* Maps the file, as who is in the session does; munmap(2) takes a page. */
static inline void *image_enter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at = mmap(NULL, IMAGE_PAGE, PROT_READ, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	return at;
}

/* A xorshift generator: the same numbers in every run. */
static inline uint64_t image_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
