/* SPDX-License-Identifier: BSD-2-Clause */
/* What another process has mapped: regions of memory, and the objects that they are of. */
#ifndef ANALYZE_LIVE_MAPS_H
#define ANALYZE_LIVE_MAPS_H

#include <stdint.h>
#include <sys/types.h>

/* A file, or the kernel's vdso, from its first byte to the end of its last part. */
struct ktr__live_object {
	uint64_t start, end;
	uint64_t first_end; /* of its first mapping */
	uint64_t inode;	    /* 0: it is no file */
	char *path;	    /* owned, as the process has it; "[vdso]" */
	int is_code;	    /* a part of it may be executed */
};

struct ktr__live_region {
	uint64_t start, end;
	char access[4]; /* r, w, x, p or s; - */
};

/* Both in the order of addresses. */
struct ktr__live_maps {
	struct ktr__live_object *object; /* owned */
	uint32_t n_objects, room_objects;
	struct ktr__live_region *region; /* owned */
	uint32_t n_regions, room_regions;
};

/* Begins with an empty struct. 0 or -errno; what it has goes with ktr__live_maps_free() in any case. */
int ktr__live_maps_read(pid_t pid, struct ktr__live_maps *maps);
void ktr__live_maps_free(struct ktr__live_maps *maps);

/* What an address lies in; NULL: nothing. */
const struct ktr__live_object *ktr__live_maps_object(const struct ktr__live_maps *maps, uint64_t address);
const struct ktr__live_region *ktr__live_maps_region(const struct ktr__live_maps *maps, uint64_t address);

#endif
