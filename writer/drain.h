/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A drain: takes what the rings of one session hold into one trace. Used by the thread inside a
 * traced process and by tools from outside; any number may drain one session.
 *
 *	struct ktr__drain_plan plan = { ... };
 *
 *	if (ktr__drain_open(&drain, &plan, &err))
 *		...
 *	while (wanted) {
 *		ktr__drain_round(drain, 0, &pause_ns);
 *		sleep for pause_ns;
 *	}
 *	ktr__drain_close(drain, &stats);
 *
 * Each ring is a stream of its own, so that time never goes back within one. A stream's packets are
 * written a buffer at a time. When that fails, the cursor stays where it was: nothing is lost but
 * what the ring overwrites until writing works again, and that is counted as any overtaking is.
 *
 * One thread uses one drain. Nothing here may be called from a signal handler.
 */
#ifndef WRITER_DRAIN_H
#define WRITER_DRAIN_H

#include "ktr/session/ring_read.h"
#include "ktr/session/session_map.h"
#include "writer/clock_map.h"
#include "writer/describe.h"
#include "writer/format/codec.h"
#include "writer/format/stream.h"

enum ktr__drain_from {
	KTR__DRAIN_START,  /* all there ever was; what is overwritten already counts as lost */
	KTR__DRAIN_OLDEST, /* what the rings hold now */
	KTR__DRAIN_HEAD,   /* what comes from now on */
	KTR__DRAIN_RESUME  /* what the trace, which is there, does not have yet: needs plan.resume */
};

/* Settings that the session's control page has, and may change at any time. */
#define KTR__FOLLOW_BYTES 1u
#define KTR__FOLLOW_NS	  2u
#define KTR__FOLLOW_KEEP  4u
#define KTR__FOLLOW_ASKED 8u /* debug.ktr.alq_rotate */
#define KTR__FOLLOW_ALL	  15u

struct ktr__drain;

struct ktr__drain_plan {
	const struct ktr__session_map *map; /* borrowed until the drain is closed */
	const void *base; /* the session mapped, ring headers and open rings readable; or NULL: pread(2) */
	const void *own;  /* the mapping that this process records through, or NULL: it has what it wrote to */
	const struct ktr__sys *sys;
	const char *path;	    /* of the trace */
	enum ktr__drain_from from;
	/* ktr__resume() of resume.h; by pointer, so that only those who go on with traces link it. */
	int (*resume)(struct ktr__drain *drain, struct ktr_error *err);
	uint64_t max_bytes;	    /* of one trace, roughly; 0: no limit */
	uint64_t max_ns;	    /* how old a trace gets before it is rotated; 0: as old as it may */
	uint32_t n_keep;	    /* traces kept after rotation; 0: recording stops at max_bytes */
	uint32_t follow;	    /* KTR__FOLLOW_*: what the session's knobs decide instead */
	uint32_t n_ahead;	    /* streams of so many rings of each kind are opened at once */
	void (*say)(void *context, const char *line); /* one line for the user; may be NULL */
	void *context;
};

struct ktr__drain_stats {
	uint64_t events;    /* written */
	uint64_t lost;	    /* overwritten or dropped, as the trace says */
	uint64_t unwritten; /* at the end: still in the rings when the trace could not be written */
	uint64_t took;	    /* at the end: of those there were since the session began, what has been dealt with */
	uint64_t bytes;
	uint64_t packets;
	uint64_t rounds;
	int error; /* -errno while writing is not possible, else 0 */
	int limit; /* 1: nothing more was written because of max_bytes */
	int named; /* 1: there is a trace */
};

/* A ring and its stream. Copied and put back when writing fails. */
struct ktr__drain_ring {
	struct ktr__ring_cursor cursor;
	uint64_t seq;	    /* packets so far */
	uint64_t discarded; /* [events] */
	uint64_t told;	    /* [events] of discarded in the last packet */
	uint64_t lost;	    /* [events] overtaken since the last packet */
	uint64_t lost_ns;   /* last event before them */
	uint64_t lost_slot; /* [slots] where they began */
	uint64_t index;	    /* [events] of the next event in the ring */
	uint64_t time_ns;   /* of the last event */
	uint32_t cpu;
	uint32_t started; /* 1: index is right */
};

/* What the pacing knows of a ring; never put back. */
struct ktr__drain_pace {
	uint64_t head;	  /* [slots] when last looked */
	uint64_t full_ns; /* when it was last read up to the head */
	uint64_t dropped; /* [events] as of the last look */
	double peak;	  /* [slots/ns] its highest rate, which fades */
	uint32_t open;	  /* 1: it had memory when last looked */
	uint32_t denied;  /* 1: we may not make its stream: its events stay in the ring */
	uint32_t broken;  /* 1: the ring's header makes no sense; left alone, and looked at again a second later */
	uint64_t broken_ns; /* since when */
	uint64_t geom;	  /* of the area that is held, or cannot be; else 0 or an older one */
	uint64_t held;	  /* [bytes] where the area begins that is held: ring_area.h; 0: none is */
	const void *held_base; /* the session mapped, with the area's pages */
	uint32_t leap;	  /* [slots] to leap over when it is overtaken the next time */
};

#define KTR__DRAIN_LIMIT 2

/* What is used most comes first, large things last: short offsets make short code. */
struct ktr__drain {
	struct ktr__drain_ring *ring; /* owned; by row of the ring table */
	struct ktr__drain_pace *pace;
	uint32_t n_rows;
	uint32_t retired;     /* number of the last trace that was rotated away, by whomever; 0: none was */
	uint32_t oldest;      /* number of the oldest of them that is kept */
	uint32_t removed;     /* how many of them are not */
	int all;	      /* 1: this round takes what there is up to the heads */
	int moved;	      /* 1: the trace has not its name any more */
	int stuck;	      /* 1: the trace cannot be rotated */
	int full;	      /* 1: too little free space; KTR__DRAIN_LIMIT: max_bytes and no rotation */
	int kernel;	      /* 1: the session's kernel rings are in use */
	int yields;	      /* 1: what we may not do somebody stands by to do */
	int begun;	      /* 1: the trace's clock is fixed: packets may come */
	uint32_t broken;      /* how often a ring made no sense */
	int partial;	      /* 1: a trace before this one, which has gone, had part of the events */
	struct ktr__drain_stats stats;
	uint64_t dropped[KTR_DROPS]; /* [events] that went into no ring, and are told of */
	uint64_t look_ns;     /* when slow things were last looked at */
	uint64_t retry_ns;    /* not before this: writing failed */
	uint64_t stuck_ns;    /* since when the trace cannot be rotated */
	struct ktr__drain_plan plan;
	uint64_t rate_ns;     /* when the heads were last compared */
	uint64_t moved_ns;    /* when one of them had moved */
	uint64_t place_ns;    /* when it was last looked where the trace is */
	uint64_t look_events; /* stats.events when slow things were last looked at */
	uint64_t look_bytes;
	uint64_t due_ns;      /* when the trace's clock is to be fixed at the latest */
	uint64_t wanted;      /* requests to rotate there were */
	uint64_t asked;	      /* those that have been met */
	uint64_t asked_ns;    /* when the control page was last looked at */
	uint64_t begun_ns;    /* the present trace, when it got its name: the time, */
	uint64_t begun_bytes; /* what it began with, */
	uint64_t begun_events; /* and the stats of then */
	uint64_t resumed_bytes; /* of a trace that is gone on with, then, */
	int ended;		/* and whether it had an end */
	uint64_t begun_lost;
	uint64_t refused_ns; /* when something was refused for want of rights; 0: nothing was */
	int refused_said;
	char refusal[400];   /* the line about it; "": nothing failed */
	uint8_t *buffer;	   /* owned: packets on their way */
	struct ktr_entry *entries; /* owned: a batch */
	struct ktr__ring_source source;
	struct ktr__clock_map clock_map;
	struct ktr__emit losses; /* lines of packets in the buffer */
	struct ktr__trace trace;
	struct ktr__describe describe;
};

/*
 * Begins the trace, under its name: later the process may have another root or user, who may not rename it. *out
 * is owned, NULL on failure. 0 or -errno, err filled.
 */
int ktr__drain_open(struct ktr__drain **out, const struct ktr__drain_plan *plan,
		    struct ktr_error *err);

#define KTR__DRAIN_ALL 1u /* up to the heads, however fresh the events are */

/*
 * One look at all rings. *pause_ns is how long nothing much will be missed. 0, or -errno while
 * nothing can be written (the next rounds try again by themselves).
 */
int ktr__drain_round(struct ktr__drain *drain, unsigned flags, uint64_t *pause_ns);

/* Writes a trace's head and gives it its name. On failure the trace is gone and the user told. */
int ktr__drain_publish(struct ktr__drain *drain);

/*
 * Something failed, which leaves the trace as it is. What for want of rights did is for whoever stands by, who may
 * be about to come; so the user is told, once, when nobody has.
 */
void ktr__drain_refused(struct ktr__drain *drain, int rc, uint64_t now, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Writes the head of a trace that is to be the drain's, and opens streams ahead. 0 or -errno. */
int ktr__drain_head(const struct ktr__drain *drain, struct ktr__describe *describe, struct ktr__trace *trace);

/* The drain's trace is another one by now, which has its name: it counts for itself. */
void ktr__drain_restart(struct ktr__drain *drain);

/*
 * Takes everything that is committed, ends the trace and frees the drain. stats may be NULL. 0, or
 * -errno when not everything could be written; stats->unwritten is then how many events were not.
 */
int ktr__drain_close(struct ktr__drain *drain, struct ktr__drain_stats *stats);

/* CLOCK_MONOTONIC */
uint64_t ktr__drain_now(void);

/* A line for the user. */
void ktr__drain_say(struct ktr__drain *drain, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
