/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace on disk: what the writing and the reading side share. ktr-trace(5) is the specification.
 *
 * A trace is a directory that is a CTF 1.8 trace (Common Trace Format) of packed, little-endian
 * streams:
 *
 *	metadata	TSDL text: one event class per call site. Each appended piece ends in a comment line
 *			"/" "* ktr crc32c 0123abcd *" "/" over the bytes since the one before it
 *	cpu_N		packets of CPU N's main ring (KTR_PATH_RSEQ), in time order
 *	cpu_N.keep	the same of its keep ring
 *	cpu_N.kernel	the same of what the kernel told of the threads on it
 *	ring_N		packets of thread ring N (KTR_PATH_THREAD); a packet holds events of one CPU
 *	ring_N.keep, ring_N.kernel
 *	ktr/		sidecars, JSON lines; foreign readers ignore a subdirectory
 *
 * Times are nanoseconds of CLOCK_MONOTONIC; the clock's offset in the metadata makes them UTC.
 *
 * Every sidecar line is one JSON object and ends in a checksum of fixed width, KTR_LINE_TAIL bytes:
 *
 *	{"thread":7,...,"crc":"0123abcd"}\n		CRC32C of the bytes before ,"crc":
 *
 * Rows may be written again when they change (a thread's name or end): the last line of an index
 * counts. Numbers that may exceed 63 bits are strings in hexadecimal. In strings, a byte that is
 * not part of well-formed UTF-8, or part of a character U+EF80 to U+EFFF, is written as the
 * character U+EF00 + byte, so that every byte survives (ktr__text_raw() undoes it).
 *
 *	info.jsonl	{"kind":"trace","major":2,"minor":0,"uuid":"<32 hex>","session","host","arch",
 *			 "path":"rseq|thread","clock":"tsc|cntvct|monotonic","base_ticks","base_ns",
 *			 "mult","shift","utc_offset_ns","boot_id":"<32 hex>","pid","cmdline",
 *			 "complete":true,"writer"}		complete: begins where the session begins
 *			{"kind":"end","ns","events","lost"}	after a clean stop: what this writer added
 *			{"kind":"dropped","why":"vfork","events","total","from_ns","to_ns"}	KTR_DROP_LIST of
 *			 ktr/session.h: events that went into no ring, and how many there were by then
 *	sites.jsonl	{"site","name":"file.c:42","mask":"0x1","class":"gen","file","line","func","format",
 *			 "names","types":["I32","STR"],"how":[0,1],"limit":[0,0],"module",
 *			 "build_id":"<hex>","offset","key":"0x.."}
 *	threads.jsonl	{"thread","word","tid","pid","proc","name","start_ns","exit_ns"}
 *	procs.jsonl	{"proc","pid","ppid","uid","pid_ns","start_time","start_ns","exit_ns","name","exe",
 *			 "cmdline"}
 *	classes.jsonl	{"bit","name","help"}			classes of the program; FreeBSD's are implied
 *	modules.jsonl	{"module","proc","base":"0x..","end":"0x..","path","build_id"}
 *	anchors.jsonl	{"ticks","mono_ns","utc_ns"}		data; the map of info.jsonl never changes
 *	losses.jsonl	{"stream":"cpu_0","cpu","keep":false,"why":"overwritten|dropped","events",
 *			 "from_ns","to_ns","seq"}		seq: of the packet that follows the gap
 *
 * "overwritten": the drain was overtaken, be it because the file system refused its packets for a
 * while; "dropped": the recorder had no room or no ring.
 */
#ifndef KTR_TRACE_FILE_H
#define KTR_TRACE_FILE_H

#include <ktr/entry.h>

#include <stddef.h>
#include <stdint.h>

#define KTR_TRACE_MAJOR 2 /* of what is written. A higher major: not readable */
#define KTR_TRACE_OLDEST 1 /* majors from here on are readable: 1 has longer headers of packets */
#define KTR_TRACE_MINOR 0 /* a higher minor only adds */

#define KTR_TRACE_METADATA "metadata"
#define KTR_TRACE_DIR	   "ktr" /* of the sidecars */
#define KTR_STREAM_CPU	   "cpu_"
#define KTR_STREAM_RING	   "ring_"
#define KTR_STREAM_KEEP	   ".keep"
#define KTR_STREAM_KERNEL  ".kernel"

/* X(name, file) */
#define KTR_SIDECAR_LIST(X)                                                                      \
	X(INFO, "info.jsonl")                                                                    \
	X(SITES, "sites.jsonl")                                                                  \
	X(THREADS, "threads.jsonl")                                                              \
	X(PROCS, "procs.jsonl")                                                                  \
	X(CLASSES, "classes.jsonl")                                                              \
	X(MODULES, "modules.jsonl")                                                              \
	X(ANCHORS, "anchors.jsonl")                                                              \
	X(LOSSES, "losses.jsonl")

enum ktr_sidecar {
#define KTR__SIDECAR_ENUM(name, file) KTR_SIDECAR_##name,
	KTR_SIDECAR_LIST(KTR__SIDECAR_ENUM)
#undef KTR__SIDECAR_ENUM
	KTR_SIDECARS
};

#define KTR_LINE_TAIL 18 /* [bytes] ,"crc":"0123abcd"} without the newline */

/*
 * A packet's first bytes. CTF knows packet.header (magic, stream_id, which is a byte) and packet.context
 * (from cpu_id on); cpu_id is declared with an alignment of 32 bytes, which makes the context start at
 * byte 32, and timestamp_begin with one of 16: bytes 5 to 31 and 44 to 47 belong to nobody, and what is
 * ours alone lies there. Events follow at KTR_PACKET_EVENTS. A writer's packet lies within a page of its
 * file (KTR_TRACE_PAGE), so that each of these bytes is there 256 times in a MiB.
 */
struct ktr_packet_start {
	uint32_t magic;	       /* KTR_PACKET_MAGIC */
	uint32_t events_id;    /* events in this packet << 8 | stream_id, which is 0 */
	uint64_t first_slot;
	uint64_t first_event;
	uint32_t crc;
	uint16_t flags;
	uint16_t ring;
	uint32_t cpu;
	uint32_t content_bits;
	uint32_t packet_bits;
	uint32_t n_slots;      /* from first_slot to next_slot */
	uint64_t time_begin;
	uint64_t time_end;
	uint64_t seq;
	uint64_t discarded;
};

/*
 * The first bytes of a packet of format 1, and what those of any format mean. There CTF's context begins with
 * timestamp_begin, and bytes 8 to 31 and 80 to 95 are ours.
 */
struct ktr_packet_header {
	uint32_t magic;	       /* KTR_PACKET_MAGIC */
	uint32_t stream_id;    /* 0 */
	uint64_t first_slot;   /* [slots] ring index of the first entry packed here */
	uint64_t next_slot;    /* [slots] ring index after the last: where the next packet goes on, or a loss */
	uint32_t crc;	       /* CRC32C of the whole packet with these four bytes zero */
	uint32_t flags;	       /* KTR_PACKET_* */
	uint64_t time_begin;   /* [ns] of the first event */
	uint64_t time_end;     /* [ns] of the last event; never above the next packet's time_begin */
	uint64_t content_bits; /* used, header included */
	uint64_t packet_bits;  /* length in the file: content and padding */
	uint64_t seq;	       /* packets of this stream before this one */
	uint64_t discarded;    /* [events] of this stream lost so far; what is missing lies before this packet */
	uint64_t first_event;  /* [events] running number, in the ring, of the first event: losses counted */
	uint32_t n_events;     /* in this packet; 0 is possible: it only tells of losses */
	uint32_t ring;	       /* number of the ring */
	uint32_t cpu;
	uint32_t events;       /* the events begin here: KTR_PACKET_OLD_EVENTS */
};

#define KTR_PACKET_MAGIC  0xc1fc1fc1u
#define KTR_PACKET_EVENTS 80u	   /* where events begin */
#define KTR_PACKET_OLD_EVENTS 100u /* the same in format 1 */
#define KTR_PACKET_MAX	  (1u << 20) /* [bytes] the longest packet a reader must accept */

/*
 * [bytes] No packet and no declaration of the metadata that a writer appends crosses a multiple of this in its
 * file: a write that a kill cuts short ends at a page of the file system's cache, which is as long or longer.
 */
#define KTR_TRACE_PAGE 4096u

#define KTR_PACKET_VERSION 0xffu   /* KTR_TRACE_MAJOR, or that of the trace */
#define KTR_PACKET_KEEP	   0x100u  /* from the keep ring */
#define KTR_PACKET_KERNEL  0x1000u /* from the kernel's ring */
#define KTR_PACKET_THREAD  0x200u  /* from a thread's ring */
#define KTR_PACKET_UNWRITTEN 0x800u /* by earlier writers: the place of packets being written; the stream's end */
#define KTR_PACKET_FILLER  0x400u  /* made by a repair: covers what was damaged */

KTR__LAYOUT(offsetof(struct ktr_packet_start, cpu) == 32, "where CTF finds the context");
KTR__LAYOUT(offsetof(struct ktr_packet_start, time_begin) == 48, "where CTF finds timestamp_begin");
KTR__LAYOUT(sizeof(struct ktr_packet_start) == KTR_PACKET_EVENTS, "where events begin");
KTR__LAYOUT(offsetof(struct ktr_packet_header, time_begin) == 32, "where CTF finds the context");
KTR__LAYOUT(offsetof(struct ktr_packet_header, cpu) == 96, "where CTF finds cpu_id");
KTR__LAYOUT(offsetof(struct ktr_packet_header, events) == KTR_PACKET_OLD_EVENTS, "where events begin");

/*
 * An event, all fields little-endian and without padding:
 *
 *	u16 id, u32 time	id = 2 * site + odd; the time's lower half, less than 2^32 ns after the last
 *	  or u16 0xffff, u32 id, u64 time
 *	u32 word		KTR_WORD_*: the thread, and whether the time is approximate
 *	arguments		numbers at their own width; a string with its NUL; a stack as u16 count and
 *				as many u64
 *	u8 cut, u8 null		odd events only: bit i tells that argument i was longer, or a NULL pointer
 *
 * Sites without strings and stacks have no odd events. Site 0 stands for a call site whose
 * description was not to be had: u32 site, u64[6] the raw words.
 *
 * The last time known to a reader is, at the first event of a packet, the packet's time_begin.
 */
#define KTR_EVENT_ID_EXTENDED 0xffffu
#define KTR_EVENT_SITE_COMPACT 0x7ffeu /* higher sites take the extended form */
#define KTR_EVENT_ODD	      1u

/*
 * The word of a thread: its tid (Linux: below 2^22) and which life of that tid this is in this
 * trace, for tids are reused and are not unique across pid namespaces. threads.jsonl tells the
 * word of each thread. Should all lives of a tid be used up, words repeat: then the last thread
 * that had started by the event's time is meant. The word 0 is of nobody known.
 */
#define KTR_WORD_TID	    0x003fffffu
#define KTR_WORD_APPROX	    0x00400000u
#define KTR_WORD_LIFE_SHIFT 23
#define KTR_WORD_LIFE_MAX   511u

/*
 * Ticks to nanoseconds: one affine map per trace, ns = base_ns + ((ticks - base_ticks) * mult >>
 * shift). Ticks before base_ticks are those of base_ticks.
 */
struct ktr_trace_clock {
	uint64_t base_ticks;
	uint64_t base_ns;
	uint64_t mult; /* below 2^63 */
	uint32_t shift; /* below 64 */
	uint32_t reserved;
};

static inline uint64_t ktr_trace_ns(const struct ktr_trace_clock *clock, uint64_t ticks)
{
	uint64_t delta = ticks > clock->base_ticks ? ticks - clock->base_ticks : 0;
	__extension__ unsigned __int128 product = delta;

	product = product * clock->mult >> clock->shift;
	return clock->base_ns + KTR__CAST(uint64_t, product);
}

#endif
