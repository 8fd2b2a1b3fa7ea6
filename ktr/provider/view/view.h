/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Some regions of the process's own session that follow each other in its file, mapped a second time, apart from
 * libktr's mapping. What they were mapped to stays mapped for good: a probe may be between loading the address of
 * its word and loading the word while a fork takes the child to another session. Memory is made present before it
 * is used, so that a full file system is a "no" here and never a SIGBUS at a probe.
 */
#ifndef KTR_VIEW_H
#define KTR_VIEW_H

#include <ktr/session.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KTR__VIEW_CHUNK 16384u /* [bytes] made present at a time */

struct ktr__view {
	enum ktr_region_id first; /* set by its owner: the regions, */
	unsigned n;
	const uint32_t *row_bytes; /* and how large a row of each has to be */
	struct ktr_header header;
	dev_t dev;
	ino_t ino;
	bool open;
	char *map;	/* stays what it was where there is no such session any more */
	uint64_t begin; /* [bytes] where in the file the mapping begins */
	uint64_t present[(64u << 20) / KTR__VIEW_CHUNK / 64]; /* chunks; what is after them is not used */
};

#define ktr__view_at(view, id, type) \
	((type *)(void *)((view)->map + ((view)->header.region[KTR_REGION_##id].offset - (view)->begin)))

/*
 * Is the process's session that of the last call? False where it has none, or one of an older version without these
 * regions; *changed where it is another one than before. By one thread at a time.
 */
bool ktr__view_follow(struct ktr__view *view, bool *changed);

/*
 * Async-signal-safe, all: makes bytes of it present; takes numbers that follow each other from an append cursor,
 * and returns the first, 0: there are not so many left.
 */
bool ktr__view_present(struct ktr__view *view, const void *from, size_t n_bytes);
bool ktr__view_is_present(const struct ktr__view *view, const void *at); /* a byte of it, already */
uint32_t ktr__view_next(const struct ktr__view *view, uint32_t *cursor, enum ktr_region_id id, uint32_t n);

#endif
