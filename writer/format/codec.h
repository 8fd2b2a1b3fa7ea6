/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The packed form of events, both directions; ktr/trace_file.h describes the bytes. In both
 * libraries.
 *
 * Nothing here allocates, blocks or keeps state of its own. Ring entries and packets are
 * untrusted: any bytes are taken, and none lead outside the buffers given.
 */
#ifndef WRITER_CODEC_H
#define WRITER_CODEC_H

#include <ktr/reader.h>
#include <ktr/trace_file.h>

/*
 * How the events of one call site lie in a packet, prepared once. All zero: no such site.
 */
struct ktr__program {
	uint8_t n_args;
	uint8_t ready;		     /* KTR__PROGRAM_READY, or for ktr__walk_next() also the others */
	uint8_t payload;	     /* bit i: argument i is a string or a stack */
	uint8_t fixed;		     /* [bytes] of the numbers */
	uint8_t off[KTR_ARGS_MAX];   /* of argument i among the numbers; unused ones: fixed */
	uint8_t type[KTR_ARGS_MAX];  /* enum ktr_arg_type */
	uint8_t literal;	     /* bit i: argument i is a string that the site has, not the entry */
	uint8_t wanted;		     /* KTR__PROGRAM_SOME_ARGS: bit i: argument i, a number */
	uint8_t text;		     /* where among the numbers its only string is, or KTR__PROGRAM_TEXT */
};

/* The literals of a site, by its number: as ktr__map_literals() has them. */
typedef char ktr__literals[KTR_LITERALS_MAX];

#define KTR__PROGRAM_TEXT 255 /* no string, or several, or a stack */

#define KTR__PROGRAM_READY 1
#define KTR__PROGRAM_SKIP_ARGS 2 /* its arguments are of no use: they are passed over */
#define KTR__PROGRAM_SOME_ARGS 3 /* all but those in `wanted` are; it has payload */

/* type[i] >= KTR_ARG_TYPES, KTR_ARG_NONE or n_args > KTR_ARGS_MAX: -EINVAL. */
int ktr__program_make(struct ktr__program *program, unsigned n_args, const uint8_t *type);

/*
 * Reading: the events of one packet.
 *
 *	struct ktr_packet_header head;
 *	int64_t n = ktr__packet_look(bytes, n_bytes, &head);	(packet.h: its length, or why not)
 *	...
 *	ktr__walk_begin(&walk, bytes, &head, programs, n_programs);
 *	while ((rc = ktr__walk_next(&walk, &event, &found)) > 0)
 *		...
 */
struct ktr__walk {
	const uint8_t *at;
	const uint8_t *end;
	uint64_t time_ns;
	const struct ktr__program *programs; /* borrowed; index is the site */
	uint32_t n_programs;
	uint32_t n_left; /* events still to come, as the header says */
};

struct ktr__found {
	uint32_t site;	  /* 0: unknown, the words are in event->arg */
	uint32_t word;	  /* of the thread, without KTR_WORD_APPROX */
	uint32_t unknown; /* site 0: the index that had no description */
};

/*
 * packet: the whole packet of head->packet_bits / 8 bytes, which ktr__packet_look() has accepted.
 */
void ktr__walk_begin(struct ktr__walk *walk, const uint8_t *packet,
		     const struct ktr_packet_header *head, const struct ktr__program *programs,
		     uint32_t n_programs);

/*
 * The next event: 1, 0 at the end, -ENOENT for a site that is not in programs (its description is
 * on disk before its first event: read the sidecar on, and try again), -EBADMSG when the bytes
 * make no sense. After an error walk->at is still the event it is about. Fills of *event time_ns,
 * approx, arg[] (0 where there is none; of a string or stack its length) and str[] of strings and
 * stacks, which points into the packet; the rest is left as it is. The bytes of a stack are
 * unaligned u64. Of arguments that the site's program passes over, what arg[] and str[] hold means nothing.
 */
int ktr__walk_next(struct ktr__walk *walk, struct ktr_event *event, struct ktr__found *found);

/* What ktr__walk_sieve() is to do with a call site's events; 0: they are wanted. */
#define KTR__SIEVE_NEVER 0x80 /* none is */
#define KTR__SIEVE_ASK	 0x40 /* it is asked of each, when these arguments are there, all of them numbers: */
#define KTR__SIEVE_ARGS	 0x3f

struct ktr__sieve {
	const uint8_t *site; /* what to do, by site; n_programs of them */
	struct ktr_event *event; /* of those that are asked of: time_ns and the arguments; others may change, too */
	int (*asks)(void *context, uint32_t site); /* 1: it is wanted, 0: it is not; -1: that is not known */
	void *context;
	int counts;	    /* 1: those that `asks` wants are counted, and passed over as well */
	int by_thread;	    /* 1: one thread's only, whose events the next call goes on with */
	uint32_t n_counted; /* filled */
	uint32_t word;	    /* filled by_thread, where any are passed over: the thread's */
	int wanted; /* filled: 1: the event that was come to is */
};

/*
 * Passes over events that are not wanted up to the first that is, or may be, or is later than until_ns, or has
 * anything unusual about it: ktr__walk_next() is to see that. Returns how many, those counted too.
 */
uint32_t ktr__walk_sieve(struct ktr__walk *walk, struct ktr__sieve *sieve, uint64_t until_ns);

/* Events of one thread that ktr__walk_count() has passed over. */
struct ktr__counted {
	uint32_t n; /* events; 0: the next one is not to be counted, and the rest is not filled */
	uint32_t word;
	uint64_t first_ns, last_ns;
};

/*
 * Passes over events of sites that are only counted (skip[site] not 0, of n_programs bytes) likewise, up to the
 * next event of another thread; count[site] is raised by each.
 */
void ktr__walk_count(struct ktr__walk *walk, const uint8_t *skip, uint64_t until_ns, uint64_t *count,
		     struct ktr__counted *counted);

/* Which bytes of a word are zero: bit 7 of the lowest of those is set, and of none below it. */
static inline uint64_t ktr__zero_bytes(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101u;

	return (word - ones) & ~word & (ones << 7);
}

/*
 * Writing: ring entries to packed events. One struct per packet being filled.
 */
struct ktr__pack {
	uint8_t *at;	/* next free byte */
	uint8_t *limit; /* no event packed ends after this; the buffer is KTR_PACK_SLACK longer */
	uint64_t time_ns;  /* of the last event; to begin with, the stream's last: time never goes back */
	uint64_t first_ns; /* of the first event packed */
	uint64_t limit_ticks; /* later times than this are taken for this */
	struct ktr_trace_clock clock;
	const struct ktr_entry *ahead; /* what comes after the run, or NULL: fetched into the cache meanwhile */
	const struct ktr__program *programs; /* by site */
	const ktr__literals *literals;	     /* by site, where a program has some */
	const uint32_t *words;		     /* by thread row; 0: unknown, as words[0] always is */
	uint32_t n_programs;
	uint32_t n_words;  /* at least 1 */
	uint32_t n_events; /* packed */
	uint32_t n_conts;  /* continuation entries met */
	uint32_t take_unknown; /* 1: pack the next event even if its site or thread is not known; cleared */
	uint32_t why;	       /* KTR_PACK_*: why the last run ended */
	uint32_t cpu_mask; /* thread path: the CPU's bits in an entry's thread field; else 0 */
	uint32_t cpu_bits; /* thread path: of the events packed, taken from the first */
};

#define KTR_PACK_DONE	 0u /* all was taken */
#define KTR_PACK_FULL	 1u /* the next event does not fit */
#define KTR_PACK_CPU	 2u /* the next event is of another CPU */
#define KTR_PACK_UNKNOWN 3u /* the next event's site has no program, or its thread no word */

/* [bytes] The longest event: extended header, word, payload and literals, what an argument has besides, odd. */
#define KTR_PACK_EVENT_MAX (14u + 4u + KTR_PAYLOAD_BYTES + KTR_LITERALS_MAX + 8u * KTR_ARGS_MAX + 2u)

#define KTR_PACK_SLACK 4096u /* [bytes] more than the longest event, and what the last store may spill */

/* [bytes] No event takes more than this for each of its slots. */
#define KTR_PACK_SLOT_MAX (96u + KTR_LITERALS_MAX)

/*
 * Packs the events in entry[0..n), a batch as ktr__ring_read() gives them, until pack->why.
 * Returns how many slots it has taken: always whole events. Continuations whose event is missing
 * are skipped; they count in n_conts.
 */
uint32_t ktr__pack_run(struct ktr__pack *pack, const struct ktr_entry *entry, uint32_t n);

/*
 * An event that is not numbers alone, at `at`: of a site with strings or stacks, or of an unknown one
 * (program NULL). literals are the site's; left slots follow the entry; id_at is where the id is made odd. Returns
 * the end.
 */
uint8_t *ktr__put_odd(const struct ktr__program *program, const char *literals, const struct ktr_entry *entry,
		      uint32_t left, uint8_t *at, uint8_t *id_at);

#endif
