/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session file: one memory-mapped file that holds everything a tracer and its readers share.
 *
 *	0       header         written once by the creator, then read only
 *	64 KiB  control page   masks and knobs; append cursors of the tables; counters
 *	...     tables         classes, sites and their hash and override bytes, strings, threads,
 *	                       processes, modules, clock anchors, origins of knobs, the program's own knobs,
 *	                       the trigger,
 *	                       per-CPU counts
 *	...     ring headers   one per CPU for the main rings, for the keep rings, for those of the kernel
 *	...     ring data      sparse; what geom words point into
 *	...     probes         of libktr-probe: buckets by type and name, rows, counts; from minor version 1 on
 *	...     offers         probes of providers: buckets by name, rows, and the processes that have providers
 *
 * Little-endian, 64-bit only. All regions start at multiples of 64 KiB, whatever the page size. The
 * file is as long as it will ever be from the start, and sparse.
 *
 * Tables are append-only and lock-free: an index is taken with an atomic add on the cursor, the row is
 * filled, and its state is stored with release. Readers load the state with acquire and skip a row that
 * is not KTR_ROW_READY or KTR_ROW_GONE: a process killed half-way leaves a row nobody sees. The cursor
 * may run past the table's end; the overrun is the number of rows that did not fit.
 *
 * Index 0 of sites, threads, processes and strings means "none" and is never handed out.
 *
 *	operation x operation     append row   read row   set mask     record    drain
 *	append row                safe         safe       safe         safe      safe
 *	set mask                  safe         safe       last wins    safe      safe
 *	record (same CPU)         safe         safe       safe         safe      safe (reader's rule, ring_read.h)
 *	change geom               safe         safe       safe         on the ring's own CPU only; see ring.c
 */
#ifndef KTR_SESSION_H
#define KTR_SESSION_H

#include <ktr/class.h>
#include <ktr/conf.h>
#include <ktr/entry.h>
#include <ktr/site.h>

#define KTR_SESSION_MAGIC   0x314e535352544bull /* "KTRSSN1" */
#define KTR_SESSION_MAJOR   3			/* another major: not readable */
#define KTR_SESSION_MINOR   0			/* a higher minor only adds */
#define KTR_SESSION_ALIGN   65536u		/* [bytes] */
#define KTR_SESSION_SUFFIX  ".ktr"
#define KTR_SESSION_NAME_MAX 64 /* bytes, with the NUL */
#define KTR_CPU_MAX	    8192
#define KTR_ALQ_FILE_MAX    256 /* bytes, with the NUL */
#define KTR_SITES_MAX	    960 /* bytes, with the NUL */

#define KTR_ARCH_X86_64 1u
#define KTR_ARCH_ARM64	2u
#define KTR_ARCH_OTHER	3u

#define KTR_PATH_RSEQ	1u /* a ring per CPU, written through restartable sequences */
#define KTR_PATH_THREAD 2u /* a ring per thread and signal-nesting level, out of a pool */

#define KTR_CLOCK_TSC	    1u /* ticks of rdtsc */
#define KTR_CLOCK_CNTVCT    2u /* ticks of cntvct_el0 */
#define KTR_CLOCK_MONOTONIC 3u /* nanoseconds of CLOCK_MONOTONIC */

struct ktr_region {
	uint64_t offset; /* [bytes] from the start of the file, multiple of KTR_SESSION_ALIGN */
	uint64_t bytes;
	uint32_t row_bytes;
	uint32_t n_rows;
};

/* X(name, row type). The order is the order in the file. */
#define KTR_REGION_LIST(X)                                                                       \
	X(control, struct ktr_control)                                                           \
	X(class_, struct ktr_class_row)                                                          \
	X(site, struct ktr_site_row)                                                             \
	X(site_hash, uint32_t)                                                                   \
	X(site_ctl, uint8_t)                                                                     \
	X(string, char)                                                                          \
	X(thread, struct ktr_thread_row)                                                         \
	X(proc, struct ktr_proc_row)                                                             \
	X(module, struct ktr_module_row)                                                         \
	X(anchor, struct ktr_anchor)                                                             \
	X(origin, struct ktr_origin)                                                             \
	X(knob, struct ktr_knob_row)                                                             \
	X(trigger, struct ktr_trigger)                                                           \
	X(count, uint64_t)                                                                       \
	X(ring, struct ktr_ring)                                                                 \
	X(data, struct ktr_entry)                                                                \
	X(probe_hash, uint32_t)                                                                  \
	X(probe, struct ktr_probe_row)                                                           \
	X(probe_count, struct ktr_probe_counts)                                                  \
	X(offer_hash, uint32_t)                                                                  \
	X(offer, struct ktr_offer_row)                                                           \
	X(offer_host, struct ktr_offer_host)

/*
 * Why an event went into no ring, so that no stream of a trace can miss it: X(NAME, name, that is "not recorded
 * ..."). ktr_control.drop_name has how many.
 */
#define KTR_DROP_LIST(X)                                                                         \
	X(VFORK, vfork, "in a vfork child or a thread without restartable sequences")            \
	X(NO_RING, no_ring, "without a ring or memory for one")                                  \
	X(NESTED, nested, "in signal handlers nested too deep")                                  \
	X(NO_SITE, no_site, "because the table of call sites is full")                           \
	X(CLOSED, closed, "while rings were closed")

enum ktr_drop {
#define KTR__DROP_ENUM(name, field, text) KTR_DROP_##name,
	KTR_DROP_LIST(KTR__DROP_ENUM)
#undef KTR__DROP_ENUM
	KTR_DROPS
};

enum ktr_region_id {
#define KTR__REGION_ENUM(name, row) KTR_REGION_##name,
	KTR_REGION_LIST(KTR__REGION_ENUM)
#undef KTR__REGION_ENUM
	KTR_REGIONS
};

#define KTR_REGIONS_FIRST 16 /* those of minor version 0; later ones may be missing, and have no rows then */
#define KTR_REGIONS_MAX	  24 /* room for those of later minor versions */

struct ktr_header {
	uint64_t magic;
	uint16_t major;
	uint16_t minor;
	uint32_t header_bytes;
	uint32_t ready; /* 1, stored last with release */
	uint32_t arch;
	uint32_t path;	/* KTR_PATH_* */
	uint32_t clock; /* KTR_CLOCK_* */
	uint64_t file_bytes;
	uint32_t n_rings;	/* per kind: possible CPUs, or the size of the pool of thread rings */
	uint32_t ring_log2_max; /* [log2 entries] the largest main ring */
	uint32_t keep_log2_max;
	uint32_t creator_pid;
	uint32_t creator_uid;
	uint32_t n_regions;
	uint64_t pid_ns; /* inode of the creator's pid namespace */
	uint8_t uuid[16];
	uint64_t boot_id[2]; /* /proc/sys/kernel/random/boot_id: ticks compare within one boot only */
	uint64_t ticks_per_s; /* nominal, 0 if unknown; anchors are the truth */
	char name[KTR_SESSION_NAME_MAX];
	char host[64];
	struct ktr_region region[KTR_REGIONS_MAX];
};

KTR__LAYOUT(sizeof(struct ktr_header) <= 4096, "the header is one page");

/* A moment on three clocks, read as closely together as can be. */
struct ktr_anchor {
	uint64_t state; /* KTR_ROW_* */
	uint64_t ticks; /* the session's clock */
	uint64_t mono_ns;
	uint64_t utc_ns;
};

/* States of a row; stored with release, loaded with acquire. */
#define KTR_ROW_FREE	0u
#define KTR_ROW_FILLING 1u
#define KTR_ROW_READY	2u
#define KTR_ROW_GONE	3u /* what it describes has ended; the row stays valid */

/* A session's traces take at most (KTR_ROTATE_KEEP + 1) * KTR_ROTATE_BYTES unless told otherwise. */
#define KTR_ROTATE_BYTES (1ull << 30)
#define KTR_ROTATE_KEEP	 4

#define KTR_PROF_NONE	0u
#define KTR_PROF_ALL	1u
#define KTR_PROF_TIMERS 2u /* and samples are by timers because kgmon has chosen those */

#define KTR_BUDGET 10 /* [%] of a thread's time that a provider's probe may take unless told otherwise */

/* Rings of each CPU, or of each member of the pool: rows of the ring table in this order, n_rings of each. */
#define KTR_RING_MAIN	0u
#define KTR_RING_KEEP	1u
#define KTR_RING_KERNEL 2u /* of each CPU: what the kernel tells, written by ktr_control.feeder alone */
#define KTR_RING_KINDS	3u

/* ktr_control.kernel: what of it is wanted. */
#define KTR_KERNEL_SWITCH 1u
#define KTR_KERNEL_FAULT  2u
#define KTR_KERNEL_SWITCH_PROBE 256u /* debug.ktr.probes wants it: whoever feeds it puts its class into the mask */
#define KTR_KERNEL_FAULT_PROBE	512u

/* Where a forked child records */
#define KTR_FOLLOW_SAME 0u /* in its parent's session */
#define KTR_FOLLOW_OWN	1u /* in a session of its own, which begins as its parent's is */
#define KTR_FOLLOW_NONE 2u /* nowhere */

/*
 * Do the rings stand still? ktr_control.frozen: NO becomes FIRING by whoever stops them, then SOON or
 * YES; SOON becomes YES when each ring has its last events. Control may store NO and YES at any time.
 * From FIRING on each ring takes freeze_after events more; see ktr_ring.stop.
 */
#define KTR_FROZEN_NO	  0u
#define KTR_FROZEN_YES	  1u
#define KTR_FROZEN_SOON	  2u
#define KTR_FROZEN_FIRING 3u /* the moment is being marked */

struct ktr_control {
	/* Line 0: loaded by every gate and every record, written when a mask changes. */
	uint64_t gate;	  /* record | count | site_masks, 0 while frozen: the word the macros test */
	uint64_t record;  /* classes recorded */
	uint64_t special; /* classes that need the slow path: not simply recorded; ~0 when all do */
	uint64_t count;	  /* classes counted instead of recorded */
	uint64_t keep;	  /* classes that go to the keep rings */
	uint64_t site_masks; /* classes of sites switched on one by one */
	uint32_t clock_slots; /* (k - 1) << 1: the clock is read where these bits of head are 0 */
	uint32_t frozen;
	uint64_t generation; /* +1 before and +1 after each change above, or of site_ctl: struct ktr_site.ready */

	/* Line 1 on: knobs, written by whoever controls. */
	uint32_t ring_log2; /* [log2 entries] main rings as asked for; 0 before the first enable */
	uint32_t keep_log2;
	uint32_t keep_session; /* 1: a clean exit leaves the session behind; or KTR_KEEP_UNWRITTEN */
	uint32_t rings_open;   /* 1: rings may be allocated, a CPU that has none opens its own */
	uint64_t asked;	       /* the mask last asked for, as debug.ktr.mask prints it */
	uint32_t writer;       /* process whose writer thread drains the session; 0: none */
	uint32_t alq_crash;    /* 1: before the program dies of a fault the writer takes what there is */
	uint64_t rotate_bytes; /* of one trace; 0: no limit */
	uint64_t rotate_ns;    /* how old a trace gets; 0: as old as it may */
	uint64_t rotate_keep;  /* older traces kept; 0: recording stops at rotate_bytes */
	uint64_t rotate_asked; /* +1 with each request; every drain of the session follows */
	uint64_t cpumask[KTR_CPU_MAX / 64]; /* CPUs whose events are recorded; ring geom follows */

	/* Append cursors; rows handed out so far, index 0 included. */
	uint32_t n_classes __attribute__((aligned(64)));
	uint32_t n_sites;
	uint32_t n_threads;
	uint32_t n_procs;
	uint32_t n_modules;
	uint32_t n_anchors;
	uint64_t string_bytes;

	uint64_t prof_reset_ns; /* CLOCK_MONOTONIC: kgmon forgets what is older; 0: nothing. By whoever controls */
	uint32_t prof_all; /* KTR_PROF_: not KTR_PROF_NONE: calls of what is loaded from now on are counted, too */

	/* Events that could not be recorded, by reason; atomic adds in cold paths only. */
	uint64_t drop_vfork __attribute__((aligned(64))); /* in a vfork child, or a thread without rseq */
	uint64_t drop_no_ring;	  /* no ring for this CPU or thread, or no memory for it */
	uint64_t drop_nested;	  /* thread path: more signal levels than rings */
	uint64_t drop_no_thread;  /* thread table full: recorded as thread 0; not lost */
	uint64_t drop_no_site;	  /* site table full */
	uint64_t drop_closed;	  /* the ring was closed: cpumask, freeze, a resize in progress */
	uint64_t drop_no_class;	  /* application classes beyond the 32nd */
	uint32_t fbt_within;	  /* 1: of functions, only calls within those of callers; as fbt_depth */

	/* Knobs of the writer; written by whoever controls, but for the counts, which the writer has. */
	uint32_t alq_enable __attribute__((aligned(64))); /* 1: a writer thread drains; 0 stored: it ends */
	uint32_t cpus_part; /* 1: cpumask leaves CPUs out */
	uint64_t alq_max;   /* [events] the writer stops after so many; 0: never */
	uint64_t alq_cnt;   /* [events] written since the writer began */
	uint64_t alq_failed; /* [events] lost to it */
	uint64_t verbose;   /* 1, 2: the writer thread prints events as text */
	uint64_t verbose_to; /* 0: standard error, 1: syslog */
	uint32_t sites_change; /* +1 with each change of sites[]; 0: there never was one */
	uint32_t n_knobs;      /* append cursor, index 0 included */
	uint64_t follow_fork;  /* KTR_FOLLOW_*: what a forked child does */
	uint64_t freeze_after; /* [events] in each ring, from the moment that stops it on */
	uint64_t freeze_on;    /* KTR_FREEZE_ON_*: what else stops the rings */
	char alq_file[KTR_ALQ_FILE_MAX];
	char sites[KTR_SITES_MAX]; /* rules of single call sites, see rules.c */

	/* What the kernel tells of the threads, see ktr/provider/kernel/kernel_events.h. */
	uint64_t kernel; /* KTR_KERNEL_*: events that are wanted, if their class is recorded */
	/* The process that reads them, as it knows itself; 0: none. A lock decides: ktr/provider/kernel/feeder.h */
	uint32_t feeder;
	uint32_t writer_ends; /* KTR_WRITER_*: whether the trace's last round has begun */
	uint64_t writer_took; /* [events] of all rings that the trace has, or counts as lost, as its writer ended */

	uint64_t budget; /* [%] of a thread's time that a provider's probe may take; 0: all of it */

	/* Which calls of functions are recorded, ktr/provider/fbt/filter.h; 0: whichever are asked for. */
	uint64_t fbt_longer_ns; /* those that took so long */
	uint64_t fbt_depth; /* those at most so deep */
};

KTR__LAYOUT(sizeof(struct ktr_control) == 2624, "layout of the file: CONTRIBUTING, ADD A KNOB");

/* Of control.writer_ends. What was recorded before it left 0 is in the trace. */
#define KTR_WRITER_LEAVES 1u /* as its process ends: another one may go on with the trace */
#define KTR_WRITER_CLOSES 2u /* the trace is to end */
#define KTR_WRITER_YIELDS 3u /* to whoever may do what its process no longer may */

/* Of control.keep_session: it stays, as that of a killed program does, until a trace has what it holds. */
#define KTR_KEEP_UNWRITTEN 2u

/*
 * NAME.run beside NAME.ktr, while somebody (ktr run) holds a lock on it, fcntl(2)'s: the session is of all programs
 * that he starts. It stays when nobody is in it, and who comes next goes on in it.
 */
#define KTR_SESSION_RUN_SUFFIX ".run"

struct ktr_class_row {
	uint32_t state;
	uint32_t help; /* string */
	uint64_t mask; /* one bit */
	char name[KTR_CLASS_NAME_MAX];
};

KTR__LAYOUT(sizeof(struct ktr_class_row) == 48, "layout of the file");

/* A site's override byte in the site_ctl region; 0: as its class says. */
#define KTR_SITE_ON    1u
#define KTR_SITE_OFF   2u
#define KTR_SITE_COUNT 4u
#define KTR_SITE_KEEP  8u
#define KTR_SITE_TRIGGER 16u /* the trigger may hold here: it looks at each event */

#define KTR_BUILD_ID_MAX 20 /* bytes; longer ones are cut */

struct ktr_site_row {
	uint32_t state;
	uint32_t line;
	uint64_t mask;
	uint64_t key; /* hash of build-id and offset: equal keys are one site */
	uint64_t offset; /* of struct ktr_site from its module's load address */
	uint32_t file; /* strings */
	uint32_t func;
	uint32_t format;
	uint32_t names;
	uint32_t module; /* string: path of the executable or shared object */
	uint8_t n_args;
	uint8_t build_id_bytes;
	uint8_t type[KTR_ARGS_MAX];
	uint8_t how[KTR_ARGS_MAX];
	uint8_t limit[KTR_ARGS_MAX];
	uint8_t build_id[KTR_BUILD_ID_MAX];
	uint32_t literal[KTR_ARGS_MAX]; /* KTR_HOW_LITERAL: strings */
	uint8_t reserved[12];
};

KTR__LAYOUT(sizeof(struct ktr_site_row) == 128, "layout of the file");

#define KTR_THREAD_FED 1u

struct ktr_thread_row {
	uint32_t state;
	uint32_t proc; /* row of its process */
	uint32_t tid;  /* in its own pid namespace */
	uint32_t pid;
	uint64_t start_ns; /* CLOCK_MONOTONIC of its first event */
	uint64_t exit_ns;  /* 0 while it lives, or when nobody saw it end */
	char name[16];	   /* as of registration, renewed at exit and by ktr_thread_name() */
	uint64_t start_ticks; /* ticks of the session's clock at registration */
	uint32_t fed; /* KTR_THREAD_FED: made for the kernel's events; the thread may take it over */
	uint32_t named; /* 1: by ktr_thread_name(), which the kernel's name does not replace */
};

KTR__LAYOUT(sizeof(struct ktr_thread_row) == 64, "layout of the file");

#define KTR_CMDLINE_END '\037' /* for the NUL that /proc/PID/cmdline has: strings end in one */

struct ktr_proc_row {
	uint32_t state;
	uint32_t pid; /* in its own pid namespace */
	uint32_t ppid;
	uint32_t uid;
	uint64_t pid_ns;     /* inode */
	uint64_t start_time; /* [clock ticks since boot] field 22 of /proc/PID/stat: pids are reused */
	uint64_t start_ns;   /* CLOCK_MONOTONIC when it attached */
	uint64_t exit_ns;    /* clean exit; 0 otherwise */
	uint32_t exe;	     /* string */
	uint32_t cmdline;    /* string: arguments, a KTR_CMDLINE_END after each */
	char name[32];
	uint64_t image; /* differs between what a process was before and after exec(2) */
	uint32_t sandboxed; /* 1: it asks the kernel for nothing more: rings must stay where it has prepared them */
	uint8_t reserved[28];
};

KTR__LAYOUT(sizeof(struct ktr_proc_row) == 128, "layout of the file");

/* ktr_control.freeze_on: bit 0, and bit n for signal n. */
#define KTR_FREEZE_ON_EXIT 1u

/* ktr_trigger.why; from KTR_FROZE_SIGNAL on, and the number of the signal. */
#define KTR_FROZE_ASKED	  1u
#define KTR_FROZE_TRIGGER 2u
#define KTR_FROZE_CALL	  3u /* ktr_freeze() */
#define KTR_FROZE_EXIT	  4u
#define KTR_FROZE_SIGNAL  256u

/*
 * The condition that stops the rings, and what stopped them last. The program is of conf/expr/expr.h, over
 * the fields of ktr/session/trigger_fields.h; those who evaluate it check each step, and throw the result away
 * where generation has changed meanwhile.
 */
#define KTR_TRIGGER_OPS	  60
#define KTR_TRIGGER_TEXTS 384 /* [bytes] */
#define KTR_TRIGGER_SOURCE 640 /* [bytes] with its NUL */

struct ktr_trigger {
	uint32_t generation; /* +1 before and +1 after a change of what follows up to source */
	uint32_t n_ops;	     /* 0: no trigger */
	uint32_t n_texts;    /* [bytes] */
	uint32_t reserved;
	uint64_t op[KTR_TRIGGER_OPS][2];
	char texts[KTR_TRIGGER_TEXTS];
	char source[KTR_TRIGGER_SOURCE]; /* the expression as it was written */
	uint32_t why;	 /* KTR_FROZE_*, 0: nothing yet */
	uint32_t site;	 /* where the trigger held */
	uint64_t at; /* [ticks] the moment; events up to it do not count as later ones */
};

/* An executable or shared object mapped by a process: resolves stacks and pointers. */
struct ktr_module_row {
	uint32_t state;
	uint32_t proc;
	uint64_t base; /* load address: added to the object's own addresses */
	uint64_t end;
	uint32_t path; /* string */
	uint8_t build_id_bytes;
	uint8_t build_id[KTR_BUILD_ID_MAX];
	uint8_t reserved[15];
};

KTR__LAYOUT(sizeof(struct ktr_module_row) == 64, "layout of the file");

/* A knob of the program's own; its number may be set by whoever has the session. */
struct ktr_knob_row {
	uint32_t state;
	uint32_t type;   /* enum ktr_knob_type */
	uint32_t access; /* KTR_KNOB_* */
	uint32_t help;	 /* strings */
	uint32_t unit;
	uint32_t reserved;
	int64_t min;
	uint64_t max;
	uint64_t value;
	char name[KTR_KNOB_NAME_BYTES];
	uint8_t reserved2[16];
};

KTR__LAYOUT(sizeof(struct ktr_knob_row) == 192, "layout of the file");

#define KTR_KNOBS_MAX 64

/*
 * A probe of ktr/probe.h by type and name; processes of the session that have the same share the row, and the word
 * that its points test. Rows are found through the buckets, and linked in by whoever makes one; neither is ever
 * taken away. Row 0 is struct ktr_probe_head.
 *
 *	operation x operation	find, make	switch		fire		list
 *	any			safe		last wins	safe		safe
 */
#define KTR_PROBE_ROW_NAME     64 /* bytes, with the NUL */
#define KTR_PROBE_ROW_FUNCTION 32 /* the same; longer ones are cut */

struct ktr_probe_row {
	uint32_t state;
	uint32_t type;	/* enum ktr_probe_type */
	uint32_t on;	/* not 0: it is enabled; stored by the program and from outside */
	uint32_t fed;	/* KTR_PROBE_FED_*: what fires it; atomic or */
	uint32_t site;	/* the call site of fires by handle, made by whoever enables it first; 0: none yet */
	uint32_t next;	/* row of the same bucket */
	uint32_t users; /* [processes] that have it; one that was killed stays counted */
	uint32_t hash;
	char function[KTR_PROBE_ROW_FUNCTION];
	char name[KTR_PROBE_ROW_NAME];
};

KTR__LAYOUT(sizeof(struct ktr_probe_row) == 128, "layout of the file");

#define KTR_PROBE_FED_POINTS 1u /* macros in the program's text */
#define KTR_PROBE_FED_HANDLE 2u /* registered at run time, fired by its handle */

struct ktr_probe_head {
	uint32_t n_probes; /* append cursors, index 0 included */
	uint32_t n_counts;
	uint64_t uncounted; /* calls that an arc has not got, for want of memory */
	uint64_t uncounted_before; /* as arcs' before */
	uint32_t reserved[26];
};

KTR__LAYOUT(sizeof(struct ktr_probe_head) == sizeof(struct ktr_probe_row), "it takes the place of row 0");

/* Fires of probes first, first + 1, ... in one thread, which alone writes them. */
#define KTR_PROBE_COUNTS 504

struct ktr_probe_counts {
	uint32_t state;
	uint32_t first; /* row of the probe that count[0] is of */
	uint32_t pid;
	uint32_t reserved[13];
	uint64_t count[KTR_PROBE_COUNTS];
};

KTR__LAYOUT(sizeof(struct ktr_probe_counts) == 4096, "layout of the file");

/*
 * Who called whom how often, as ktr/provider/arcs counts it: a thread's table, which it alone writes, is of rows of
 * probe_count that follow each other. Each of them begins as one of counts does, with a number in the place of its
 * first probe that is none's. When its thread has ended, another one of the process goes on in it: whose calls they
 * are makes no difference. Where the table is full, the thread goes on in a larger one: an arc may be told of in
 * several. Addresses are those of the process as it is. Of an object that has been unloaded there is the row of its
 * module above the address of `to`, as another one may come to lie there.
 */
#define KTR_ARCS_FIRST UINT32_MAX
#define KTR_ARCS_ROW   128 /* places of a row, of which the head takes two */
#define KTR_ARCS_ROWS  1024u /* at most, of a table */
#define KTR_ARC_MODULE 48    /* [bits] of an address; above is a row */
#define KTR_ARC_GONE   0xffffu /* the row of one that has none */

struct ktr_arc {
	uint64_t from; /* the return address; 0: it is free */
	uint64_t to; /* behind the two bytes of the function that are patched; 0: it is being made */
	uint64_t n;
	uint64_t before; /* of these, before the last reset; by whoever resets */
};

struct ktr_arcs {
	uint32_t state;
	uint32_t first; /* KTR_ARCS_FIRST */
	uint32_t pid;
	uint32_t n_rows; /* 0: it is no table's first */
	uint64_t made_ns; /* CLOCK_MONOTONIC */
	uint64_t reserved;
	uint64_t taken; /* not 0: this place, too */
	uint64_t reserved2[3];
	struct ktr_arc arc[KTR_ARCS_ROW - 2];
};

KTR__LAYOUT(sizeof(struct ktr_arcs) == sizeof(struct ktr_probe_counts), "it takes the place of counts");
KTR__LAYOUT(sizeof(struct ktr_arc) == 32, "the head takes two places");

/*
 * A probe that a provider of ktr/provider.h offers, by provider, module, function and name; processes of the
 * session that have the same share the row. Rows are found through the buckets and never taken away, as those
 * above. Row 0 is struct ktr_offer_head.
 *
 * Who switches one, from wherever, stores on, counts head.change up, and wakes who sleeps on that word (futex(2),
 * not private). A process that has providers does what there is to do, and then stores the change that it has seen
 * into its struct ktr_offer_host.
 */
struct ktr_offer_row {
	uint32_t state;
	uint32_t on;	   /* not 0: it is wanted; stored by the program and from outside */
	uint32_t provider; /* strings */
	uint32_t module;
	uint32_t function;
	uint32_t name;
	uint32_t arguments; /* "int fd, const char *path"; 0: not known */
	uint32_t next;	    /* row of the same bucket */
	uint32_t hash;
	uint32_t users;	 /* [processes] that have it; one that was killed stays counted */
	uint32_t failed; /* errno of the last enabling, if it failed; or KTR_OFFER_* */
	uint32_t why;	 /* string: why it did, or what it took */
	uint32_t reserved[4];
};

/* Of failed. */
#define KTR_OFFER_SPENT	   UINT32_MAX /* switched off for control.budget; nobody has switched it since */
#define KTR_OFFER_EXCLUDED (UINT32_MAX - 1) /* is never to be on */

KTR__LAYOUT(sizeof(struct ktr_offer_row) == 64, "layout of the file");

#define KTR_OFFER_ASKS 8

struct ktr_offer_head {
	uint32_t n_offers; /* append cursors, index 0 included */
	uint32_t n_hosts;
	uint32_t change; /* futex: +1 with each change of any row's on */
	uint32_t asked;	 /* string: a SPEC, of which providers are to offer what fits; before asks */
	uint32_t asks;	 /* +1 with each, before change */
	uint32_t recent[KTR_OFFER_ASKS]; /* strings: SPECs that were asked for, so that they are not stored again */
	uint32_t reserved[3];
};

KTR__LAYOUT(sizeof(struct ktr_offer_head) == sizeof(struct ktr_offer_row), "it takes the place of row 0");

/* A process that has providers. */
struct ktr_offer_host {
	uint32_t state; /* KTR_ROW_GONE: it has ended, or has none any more */
	uint32_t pid;
	uint32_t done; /* the head's change as it was before the last look at all rows */
	uint32_t reserved[13];
};

KTR__LAYOUT(sizeof(struct ktr_offer_host) == 64, "layout of the file");

/*
 * A ring's header. geom is one word, so that one compare tells a writer that nothing has changed:
 *
 *	bits 0..31   offset of the entries from the start of the file [64 KiB]
 *	bits 32..37  log2 of the number of entries
 *	bit  38      closed: writers drop and count
 *	bits 39..63  generation, +1 with each change
 *
 * 0 means that the ring has no memory yet. head is slots << 1 | t, free-running, never reset. cont[t]
 * counts the continuations among those slots; a commit of several slots writes cont[!t] and flips t.
 */
#define KTR_GEOM_OFFSET(geom) (((geom) & 0xffffffffull) << 16)
#define KTR_GEOM_LOG2(geom)   ((unsigned)((geom) >> 32) & 63)
#define KTR_GEOM_CLOSED	      (1ull << 38)
#define KTR_GEOM_GENERATION   (1ull << 39)

struct ktr_ring {
	uint64_t geom;	  /* see above; written by who resizes, on the ring's CPU */
	uint64_t head;	  /* [slots << 1 | t] written by the commit, read by drains (acquire) */
	uint64_t cont[2]; /* [continuations] */
	uint64_t last;	  /* [ticks] the newest time that came with its event: KTR_CLOCK_MONOTONIC, rseq path */
	uint64_t reserved[3];

	uint64_t first;	  /* [slots] entries before this one were cleared; written by control */
	uint64_t dropped; /* [events] for this ring, counted by the cold path */
	uint32_t thread;  /* thread path: row of the thread that owns it */
	uint32_t owner;	  /* thread path: 0 free, else tid of the owner */
	uint64_t owner_start; /* of versions that do not know `owned`: row of its process, to tell a dead owner */
	/*
	 * What debug.ktr.clear took away, while first is raised by changes of size too: slots below
	 * cleared, with so many continuations among them. 0 while the pair changes.
	 */
	uint64_t cleared;
	uint64_t cleared_conts;
	/*
	 * While the rings stop: this one takes events as long as those it has had are fewer, KTR_RING_FULL
	 * when no more; counted from the moment itself with KTR_RING_EXACT, until then from the first event
	 * that saw the change; 0 before that. Set by whoever records on the ring's CPU, cleared when
	 * recording goes on.
	 */
	uint64_t stop;
	/*
	 * Thread path: whose it is, to tell a dead owner: bits 0 to 23 the thread, 24 to 43 the row of its
	 * process, from 44 on a number of changes. Who takes a ring that names a thread does so by one
	 * compare-and-swap; one that names none belongs to whoever set `owner`.
	 */
	uint64_t owned;
	uint64_t reserved2[16];
};

#define KTR_OWNED_ROW	 24
#define KTR_OWNED_CHANGE 44
#define KTR_OWNED_ROWS	 (1u << (KTR_OWNED_CHANGE - KTR_OWNED_ROW))

#define KTR_RING_FULL  (1ull << 63)
#define KTR_RING_EXACT (1ull << 62)

KTR__LAYOUT(sizeof(struct ktr_ring) == 256, "geom and head share the first line");

#endif
