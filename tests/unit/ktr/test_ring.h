/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of ring readers share: a writer of a ring that keeps a ghost log of everything it
 * committed, and the rule that readers are held to: each committed event is handed out whole or
 * counted as missing, once, at its place.
 *
 * Include the code under test before this.
 */
#ifndef TESTS_TEST_RING_H
#define TESTS_TEST_RING_H

#include "tests/unit/suite.h"
#include "tests/unit/test_image.h"

#include "ktr/session/ring_read.h"

#include <sys/mman.h>

#define WRITER_SLOTS 120000u /* that the ghost log holds */

/*
 * A writer of one ring and all that it ever committed. The session is a file without a name,
 * mapped, so that it can be read through both doors.
 */
struct writer {
	struct image image;
	int fd;
	unsigned ring;
	uint64_t slots;
	uint64_t conts;
	uint64_t events;
	uint64_t random;
	struct ktr_entry *truth; /* by slot */
};

static inline struct ktr_entry *writer_slot(struct writer *w, uint64_t slot)
{
	uint64_t geom = image_ring(&w->image, w->ring)->geom;
	struct ktr_entry *ring = (void *)(w->image.bytes + KTR_GEOM_OFFSET(geom));

	return &ring[slot & ((1ull << KTR_GEOM_LOG2(geom)) - 1)];
}

/* What an event that is being written, or never was committed, may have done already. */
static inline void writer_scribble(struct writer *w)
{
	struct ktr_ring *ring = image_ring(&w->image, w->ring);

	ring->cont[!(ring->head & 1)] = w->conts + w->slots % 7;
	for (unsigned i = 0; i < KTR_SLOTS_MAX; i++)
		memset(writer_slot(w, w->slots + i), 0x5a, sizeof(struct ktr_entry));
}

/* Writes an event; false when the log is full. */
static inline int writer_event(struct writer *w, unsigned n_slots)
{
	struct ktr_ring *ring = image_ring(&w->image, w->ring);
	struct ktr_entry *truth = &w->truth[w->slots];
	unsigned t = ring->head & 1;

	if (w->slots + n_slots >= WRITER_SLOTS)
		return 0;
	memset(truth, (int)w->slots, n_slots * sizeof(*truth));
	truth->timestamp = w->events;
	for (unsigned i = 1; i < n_slots; i++)
		truth[i].timestamp = KTR_CONT_MARK | (w->conts + i - 1);
	for (unsigned i = 0; i < n_slots; i++)
		*writer_slot(w, w->slots + i) = truth[i];
	w->slots += n_slots;
	w->conts += n_slots - 1;
	w->events++;
	if (n_slots > 1) {
		t = !t;
		ring->cont[t] = w->conts;
	}
	ring->head = w->slots << 1 | t;
	return 1;
}

/* Makes a session with one open ring of 2^log2 entries. */
static inline void writer_start(struct writer *w, unsigned ring, unsigned log2, uint64_t seed)
{
	struct image heap;

	memset(w, 0, sizeof(*w));
	image_make(&heap, "ring");
	w->fd = memfd_create("session", MFD_CLOEXEC);
	w->image.n_bytes = heap.n_bytes;
	CU_ASSERT_EQUAL_FATAL(pwrite(w->fd, heap.bytes, heap.n_bytes, 0), (ssize_t)heap.n_bytes);
	w->image.bytes = mmap(NULL, heap.n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
	CU_ASSERT_FATAL(w->image.bytes != MAP_FAILED);
	w->image.header = heap.header; /* the reader's private copy */
	w->image.control = image_region(&w->image, KTR_REGION_control);
	image_ring_open(&w->image, ring, log2, 0, 1);
	w->ring = ring;
	w->random = seed * 0x9e3779b97f4a7c15ull + 1;
	w->truth = malloc(WRITER_SLOTS * sizeof(*w->truth));
}

static inline void writer_stop(struct writer *w)
{
	munmap(w->image.bytes, w->image.n_bytes);
	close(w->fd);
	free(w->image.header);
	free(w->truth);
}

static inline struct ktr__ring_source writer_source(struct writer *w, int by_file)
{
	struct ktr__ring_source source = { .header = w->image.header, .base = w->image.bytes, .fd = -1 };

	if (by_file) {
		source.base = NULL;
		source.fd = w->fd;
	}
	return source;
}

/* Moves the newest n slots to a new place; older ones are gone. */
static inline void writer_resize(struct writer *w, unsigned log2, unsigned at, unsigned generation,
				 uint64_t n)
{
	uint64_t geom = image_ring(&w->image, w->ring)->geom;

	/* The old memory is given back, and others write to it. */
	memset(w->image.bytes + KTR_GEOM_OFFSET(geom), 0x3c,
	       sizeof(struct ktr_entry) << KTR_GEOM_LOG2(geom));
	image_ring_open(&w->image, w->ring, log2, at, generation);
	image_ring(&w->image, w->ring)->first = w->slots - n;
	for (uint64_t i = w->slots - n; i < w->slots; i++)
		*writer_slot(w, i) = w->truth[i];
}

/* As debug.ktr.clear does it. */
static inline void writer_clear(struct writer *w)
{
	struct ktr_ring *ring = image_ring(&w->image, w->ring);

	ring->cleared_conts = w->conts;
	ring->cleared = ring->first = w->slots;
}

/* First entries in slots [from, to). */
static inline uint64_t writer_count(const struct writer *w, uint64_t from, uint64_t to)
{
	uint64_t n = 0;

	for (uint64_t i = from; i < to; i++)
		n += !ktr__slot_is_cont(&w->truth[i]);
	return n;
}

/* Is every slot of the batch what was committed there, and is it made of whole events? */
static inline unsigned batch_faults(const struct writer *w, const struct ktr__ring_batch *batch)
{
	uint64_t end = batch->first + batch->n;
	unsigned faults = 0;

	if (!batch->n)
		return 0;
	faults += end > w->slots;
	faults += memcmp(batch->entry, &w->truth[batch->first],
			 batch->n * sizeof(struct ktr_entry)) != 0;
	faults += ktr__slot_is_cont(&w->truth[batch->first]);
	faults += end < w->slots && ktr__slot_is_cont(&w->truth[end]);
	return faults;
}

/* Checks what a read said about a cursor that stood at `before`. Returns the number of faults. */
static inline unsigned read_faults(const struct writer *w, int rc,
				   const struct ktr__ring_cursor *before,
				   const struct ktr__ring_cursor *cursor,
				   const struct ktr__ring_batch *batch)
{
	unsigned faults = 0;

	if (rc != 1)
		return cursor->next != before->next;
	faults += batch->damaged;
	faults += batch_faults(w, batch);
	faults += batch->first + batch->n != cursor->next;
	/* Between the edge and the first event there is but the rest of one. */
	faults += batch->edge > batch->first || writer_count(w, batch->edge, batch->first);
	if (before->known)
		faults += batch->lost + batch->cleared !=
			  writer_count(w, before->next, batch->first);
	else
		faults += batch->lost || batch->cleared;
	faults += !cursor->known;
	faults += cursor->conts != cursor->next - writer_count(w, 0, cursor->next);
	return faults;
}

static inline unsigned random_length(struct writer *w, unsigned mix)
{
	uint64_t r = image_random(&w->random);

	switch (mix) {
	case 0: /* no strings */
		return 1;
	case 1: /* now and then one */
		return r % 500 ? 1 : 1 + (unsigned)(r >> 20) % KTR_SLOTS_MAX;
	case 2: /* all sorts */
		return 1 + (unsigned)r % 7;
	default: /* only long ones */
		return KTR_SLOTS_MAX - (unsigned)r % 3;
	}
}

#endif
