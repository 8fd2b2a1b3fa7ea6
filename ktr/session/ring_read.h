/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Consistent copies out of rings that are being written. Reading changes nothing, so that any
 * number of drains may run at once; each keeps a cursor per ring.
 *
 *	struct ktr__ring_source source = { .header = &map.header, .fd = map.fd };
 *	struct ktr__ring_cursor cursor = KTR__RING_FROM_START(cpu);
 *	struct ktr_entry buffer[1024];
 *	struct ktr__ring_batch batch;
 *
 *	while ((rc = ktr__ring_read(&source, &cursor, UINT64_MAX, buffer, 1024, &batch)) > 0)
 *		... batch.lost events are missing here, then batch.n slots from batch.entry on ...
 *
 * A batch begins with the first entry of an event and ends with the last slot of one. Its slots
 * were whole when they were copied; what they say is not checked (site, argument lengths, how many
 * continuations follow: a hostile peer may have written anything).
 */
#ifndef KTR_RING_READ_H
#define KTR_RING_READ_H

#include <ktr/session.h>

#include <stdint.h>

/*
 * One session behind either of two doors. With both, ring headers are looked at through the mapping, and
 * entries copied by pread(2), but for those of an area that is held (ring_area.h): a ring that changes its size
 * gives its old memory back, and a copy through a mapping, come too late, would take new memory there, or get
 * SIGBUS where there is none.
 */
struct ktr__ring_source {
	const struct ktr_header *header; /* borrowed; passed ktr__header_check() */
	const void *base; /* the whole file mapped (the process's own session), or NULL: */
	int fd;		  /* read by pread; -1: everything through the mapping */
	uint32_t leap;	  /* [slots] who was overtaken goes on so far from the oldest edge, in the older half */
	uint64_t held;	  /* [bytes] where the area begins that is held; 0: none is */
	const void *held_base; /* the file mapped so that the area's pages are there: base, or another mapping */
};

/* Where one drain stands in one ring. Only ktr__ring_read() moves it. */
struct ktr__ring_cursor {
	uint32_t ring;	    /* row of the ring table */
	uint32_t known;	    /* 1: conts is right, what is missing after next counts as lost */
	uint64_t next;	    /* [slots] every slot below it is accounted for */
	uint64_t conts;	    /* [continuations] among the slots below next */
	uint64_t clean_to;  /* [slots] no continuation lies in [next, clean_to) */
	uint64_t geom;	    /* as of the last batch */
};

/* From the beginning of recording: what was overwritten before the first batch counts as lost. */
#define KTR__RING_FROM_START(ring_idx) { ring_idx, 1, 0, 0, 0, 0 }
/* From the oldest entry there is: nothing before it counts. */
#define KTR__RING_FROM_OLDEST(ring_idx) { ring_idx, 0, 0, 0, 0, 0 }

struct ktr__ring_batch {
	const struct ktr_entry *entry; /* in the caller's buffer */
	uint64_t edge;	  /* [slots] before it all was overwritten or left behind; first is up to an event later */
	uint64_t first;	  /* [slots] index of entry[0] */
	uint32_t n;	  /* [slots] */
	uint32_t more;	  /* 1: there is more to read at once */
	uint64_t lost;	  /* [events] overwritten, left by a resize or leapt over, just before first: exact */
	uint64_t cleared; /* [events] taken away by debug.ktr.clear instead, just before first */
	uint64_t head;	  /* [slots] the ring's head after the copy */
	const struct ktr_entry *ahead; /* where the next n slots lie, for a prefetch and no more; or NULL */
	uint32_t damaged; /* 1: counters contradict each other; lost is then an upper bound */
};

/* The least buffer that always suffices: the longest event and the start of the next. */
#define KTR__RING_BUFFER_MIN (KTR_SLOTS_MAX + 1)

/*
 * Copies the next slots after the cursor, up to but not including slot `stop` (UINT64_MAX: all
 * there are), at most max of them, and moves the cursor past them. A stop inside an event ends
 * before that event. Returns 1 when the cursor has moved: the batch holds slots, a loss, or both;
 * 0 when there is nothing new (an empty ring, one without memory), or
 *	-ENOBUFS  the next event does not fit into the buffer, which has fewer than
 *		  KTR__RING_BUFFER_MIN slots; nothing has moved
 *	-EAGAIN   the ring changed under us again and again; nothing has moved
 *	-EPROTO   geom points outside the data region, or head went back
 *	-ERANGE   no such ring
 *	-errno    pread(2); -EIO for a file that has become shorter
 * Takes no lock. With a mapping alone it makes no system call either and costs the copy, and a constant
 * per batch unless events were lost or strings recorded. May be called from a signal handler on
 * cursors and buffers of its own.
 */
int ktr__ring_read(const struct ktr__ring_source *source, struct ktr__ring_cursor *cursor,
		   uint64_t stop, struct ktr_entry *buffer, uint32_t max,
		   struct ktr__ring_batch *batch);

/* Moves a cursor to the present head: only what is recorded from now on will be read. As above. */
int ktr__ring_to_head(const struct ktr__ring_source *source, struct ktr__ring_cursor *cursor);

/*
 * The ring's head now [slots], and in *geom (may be NULL) its geometry; 0 for a ring without memory
 * or one that cannot be read. A look, one or a few loads: for deciding whether to read.
 */
uint64_t ktr__ring_head(const struct ktr__ring_source *source, uint32_t ring, uint64_t *geom);

static inline int ktr__slot_is_cont(const struct ktr_entry *slot)
{
	return (slot->timestamp & KTR_CONT_MARK) != 0;
}

/*
 * How many continuations follow an event's first entry, after which `left` slots lie in the batch?
 */
static inline uint32_t ktr__slot_n_conts(const struct ktr_entry *first, uint32_t left)
{
	uint32_t n = 0;

	while (n < left && ktr__slot_is_cont(first + 1 + n))
		n++;
	return n;
}

#endif
