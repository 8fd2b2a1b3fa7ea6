/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looking at a ring, and copying out of it, through either door of a session: a mapping or
 * pread(2). For ring_read.c, which gives these steps their order.
 *
 * The order of loads is the same through both doors; with pread(2) each step is a call of its own
 * with a fence after it. A word copied by pread is not promised to be copied in one piece. A head
 * that is too small in the first look, or too large in the second, costs slots but admits no torn
 * one; head is read twice, and the smaller and the larger are taken.
 */
#ifndef KTR_RING_LOOK_H
#define KTR_RING_LOOK_H

#include "ktr/session/ring_read.h"
#include "ktr/session/session_map.h"

#include <stddef.h>
#include <string.h>

/* A place where a test lets the writer run on. */
#ifndef KTR_INJECT
#define KTR_INJECT(place) ((void)0)
#endif

struct ring_look {
	uint64_t geom;
	uint64_t head;
	uint64_t cont[2];
	uint64_t first;
};

static inline int ring_pread(const struct ktr__ring_source *source, uint64_t offset, void *bytes,
			     size_t n_bytes)
{
	int rc = ktr__read_at(source->fd, offset, bytes, n_bytes);

	ktr__fence_loads();
	return rc;
}

static inline uint64_t ring_header_at(const struct ktr__ring_source *source, uint32_t ring)
{
	const struct ktr_region *region = &source->header->region[KTR_REGION_ring];

	return region->offset + (uint64_t)ring * region->row_bytes;
}

/*
 * Loads n words at an offset in this order, each with acquire; through pread(2) in one call, with a
 * fence after it. 0 or -errno.
 */
static inline int ring_words(const struct ktr__ring_source *source, uint64_t offset, uint64_t *to,
			     unsigned n)
{
	const uint64_t *at;

	if (!source->base)
		return ring_pread(source, offset, to, n * sizeof(*to));
	at = (const uint64_t *)(const void *)((const char *)source->base + offset);
	for (unsigned i = 0; i < n; i++)
		to[i] = __atomic_load_n(&at[i], __ATOMIC_ACQUIRE);
	return 0;
}

#define RING_FIELD(at, field) ((at) + offsetof(struct ktr_ring, field))

_Static_assert(offsetof(struct ktr_ring, geom) == 0 && offsetof(struct ktr_ring, head) == 8 &&
		       offsetof(struct ktr_ring, first) == 64,
	       "words of a ring's header are read side by side");

/* The counters, then geom, then what geom rules: head and first. */
static inline int ring_look_before(const struct ktr__ring_source *source, uint32_t ring,
				   struct ring_look *look)
{
	uint64_t at = ring_header_at(source, ring), word[2], again[8];
	int rc = ring_words(source, RING_FIELD(at, cont), look->cont, 2);

	KTR_INJECT(5);
	if (rc == 0)
		rc = ring_words(source, at, word, 2);
	KTR_INJECT(5);
	if (rc == 0)
		rc = ring_words(source, RING_FIELD(at, head), again, 8);
	if (rc)
		return rc;
	look->geom = word[0];
	look->head = word[1] < again[0] ? word[1] : again[0];
	look->first = again[7];
	return 0;
}

/* The same backwards: head and geom, then the counters. */
static inline int ring_look_after(const struct ktr__ring_source *source, uint32_t ring,
				  struct ring_look *look)
{
	uint64_t at = ring_header_at(source, ring), word[2];
	int rc;

	ktr__fence_loads();
	rc = ring_words(source, RING_FIELD(at, head), &look->head, 1);
	KTR_INJECT(6);
	if (rc == 0)
		rc = ring_words(source, at, word, 2);
	KTR_INJECT(6);
	if (rc == 0)
		rc = ring_words(source, RING_FIELD(at, cont), look->cont, 2);
	if (rc)
		return rc;
	look->geom = word[0];
	if (look->head < word[1])
		look->head = word[1];
	return 0;
}

/*
 * Copies out of a mapping that others write to. The race is by design, and the second look tells
 * what to throw away; ThreadSanitizer gets plain loads that it does not see instead of memcpy.
 */
#if defined(__SANITIZE_THREAD__)
#define RING_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RING_TSAN 1
#endif
#endif
#ifdef RING_TSAN
__attribute__((no_sanitize("thread"))) static inline void ring_memcpy(void *to, const void *from,
								      size_t n)
{
	volatile uint64_t *t = to;
	const volatile uint64_t *f = from;

	for (size_t i = 0; i < n / sizeof(*t); i++)
		t[i] = f[i];
}
#else
/* Not memcpy: where code is to be small, gcc has it copied by the byte in place. */
#define ring_memcpy memmove
#endif

/* The mapping through which the area at `offset` may be read, or NULL: by pread(2). */
static inline const char *ring_base(const struct ktr__ring_source *source, uint64_t offset)
{
	if (source->base && source->held == offset)
		return source->held_base;
	return source->fd < 0 ? source->base : NULL;
}

/*
 * Copies slots [from, from + n), n at most `size`, out of the ring of `size` entries at `offset`,
 * in one or two pieces. By pread(2) where it has to be: see struct ktr__ring_source. 0 or -errno.
 */
static inline int ring_copy(const struct ktr__ring_source *source, uint64_t offset, uint64_t size,
			    uint64_t from, uint32_t n, struct ktr_entry *to)
{
	while (n) {
		uint64_t idx = from & (size - 1);
		uint64_t at = offset + idx * KTR_ENTRY_BYTES;
		uint32_t part = n < size - idx ? n : (uint32_t)(size - idx);
		const char *base = ring_base(source, offset);
		int rc;

		if (base) {
			ring_memcpy(to, base + at, (size_t)part * KTR_ENTRY_BYTES);
		} else {
			rc = ring_pread(source, at, to, (size_t)part * KTR_ENTRY_BYTES);
			if (rc)
				return rc;
		}
		KTR_INJECT(4);
		to += part;
		from += part;
		n -= part;
	}
	return 0;
}

#endif
