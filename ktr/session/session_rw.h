/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session as those see it who write into it: the recording process, and whoever controls one from
 * outside. Creating, joining and leaving; the mapping; rings' memory.
 */
#ifndef KTR_SESSION_RW_H
#define KTR_SESSION_RW_H

#include <ktr/error.h>
#include <ktr/session.h>

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A mapped session. header is a private copy that was checked; the rest is shared and untrusted. */
struct ktr__session_rw {
	int fd; /* holds the shared lock that says "alive"; a host may close it behind our back */
	char *map; /* of another open file, which has no lock: children inherit it */
	char *lock; /* a page mapped of fd's open file, which keeps the lock then; NULL: none */
	struct ktr_control *control;
	struct ktr_ring *rings;
	bool records; /* this process has had a ring to write to */
	uint64_t dev, ino; /* of the file, to tell whether fd is still ours */
	uint32_t sealed; /* in a sandbox: [rows] of the thread table are there; nothing more is made present */
	struct ktr_header header;
	char path[512];
};

/* What a new session should be like. */
struct ktr__session_plan {
	const char *dir;  /* created 0700 if missing */
	const char *name; /* without suffix */
	bool shared_name; /* join it if it is there, instead of taking another name */
	uint32_t path;	  /* KTR_PATH_* */
	uint32_t clock;
	struct ktr_proc_row self; /* identity: pid, pid_ns, start_time, image */
};

/*
 * Creates the session, or joins it if it exists, is alive, and shared_name is set, or if it is the one
 * this process had before exec(2). Returns 0 with *joined telling which, or -errno with err filled and
 * nothing left behind; -EALREADY: another copy of the library in this process has it. Blocks on file
 * calls only.
 */
int ktr__session_create(const struct ktr__session_plan *plan, struct ktr__session_rw *session,
			bool *joined, struct ktr_error *err);

/* Maps an existing session read-write, for control or for recording. */
int ktr__session_join(const char *path, struct ktr__session_rw *session, struct ktr_error *err);

/* Unmaps and closes; the file stays. */
void ktr__session_detach(struct ktr__session_rw *session);

/*
 * Another open file of the session, also where a host has closed our descriptors behind our back. -1 where that
 * cannot be had, with errno set.
 */
int ktr__session_open_again(const struct ktr__session_rw *session);

/*
 * The same with a lock of its own, made before a fork for the child, which
 * takes it over: locks belong to the open file, which fork shares, and a child that ends must not look
 * like the last one out. -1 where that cannot be had; the child then holds no lock.
 */
int ktr__session_again(const struct ktr__session_rw *session);
void ktr__session_reopen(struct ktr__session_rw *session, int fd);

/* Is a file that was asked for with this result, of stat(2) or fstat(2), the session's? */
struct stat;
bool ktr__session_is(const struct ktr__session_rw *session, int code, const struct stat *st);

/* Is fd still the session's file? False after a host has closed all descriptors. */
bool ktr__session_fd_ours(const struct ktr__session_rw *session);

/* Has somebody cut the file short? What touches the mapping then gets SIGBUS. False where that cannot be told. */
bool ktr__session_cut(const struct ktr__session_rw *session);

/*
 * True when no other process is in the session: none holds its lock, and none of the table lives. We hold it
 * exclusively then, for good; otherwise not at all any more.
 */
bool ktr__session_alone(struct ktr__session_rw *session);

/*
 * May a process of the session that has this number, and is not the calling one, be alive? Numbers are those of pid
 * namespaces: of another one's it is known whether it has ended cleanly, no more.
 */
bool ktr__session_other(const struct ktr__session_rw *session, uint32_t pid);

#define ktr__region_rows(session, id, type)                                                           \
	((type *)(void *)((session)->map + (session)->header.region[KTR_REGION_##id].offset))

/* ring.c: the memory of rings. */

/*
 * Gives those of rings from..to, of these CPUs if given, that have none yet memory of 2^log2 entries, keep rings a
 * sixteenth: all, or none, and then shared memory is as it was. Allocated here, by populating, so that a full file
 * system is this caller's error and never a SIGBUS in somebody's event. 0 or -errno. Async-signal-safe.
 */
int ktr__rings_make(struct ktr__session_rw *session, uint32_t from, uint32_t to, unsigned log2,
		    const uint64_t *cpus);

/*
 * Opens the rings of all online CPUs (rseq path) with 2^entries_log2 entries, 0 for the default, and
 * lets CPUs that come later open their own. Idempotent. 0 or -errno, err says what was short.
 */
int ktr__rings_open(struct ktr__session_rw *session, unsigned entries_log2, struct ktr_error *err);

/* kernel_ring.c: classes and rings for events of the kernel. Idempotent. 0 or -errno, err filled. */
int ktr__kernel_open(struct ktr__session_rw *session, struct ktr_error *err);

/* Changes the size of all rings, or of none; keeps what fits. -EBUSY: a CPU may not be entered. */
int ktr__rings_resize(struct ktr__session_rw *session, unsigned log2, struct ktr_error *err);

/* resize.c: one ring that is in use. 0, -ENOSPC, -EBUSY. */
int ktr__ring_resize(struct ktr__session_rw *session, uint32_t index, unsigned log2);
int ktr__resize_lock(const struct ktr__session_rw *session); /* a descriptor to close, or -errno */

/* Where ring `index` goes when it takes 2^log2 entries: populates the area not in use. 0 or -errno. */
int ktr__ring_next_geom(struct ktr__session_rw *session, uint32_t index, uint64_t old, unsigned log2,
			uint64_t *geom);

#define KTR__TABLE_DUMPED (256u << 10) /* [bytes] of each table that go into a core whoever made the rows */

/* table.c: makes the pages present and writable in this process. 0 or -errno. Async-signal-safe. */
int ktr__populate(void *at, size_t bytes);

/* The same for a region; a row of a table; a string; the mask of a class, bound if need be. 0: no room. */
bool ktr__session_touch(const struct ktr__session_rw *session, enum ktr_region_id region, uint64_t offset,
			uint64_t n_bytes);
uint32_t ktr__session_row(const struct ktr__session_rw *session, uint32_t *cursor, enum ktr_region_id region);
uint32_t ktr__session_put(const struct ktr__session_rw *session, const char *text, size_t n_bytes);
uint64_t ktr__session_class(const struct ktr__session_rw *session, const char *name, const char *help);
void ktr__table_forget(void); /* this process has another session now */

/* ring.c: [bytes] that shared memory can take yet. */
uint64_t ktr__room(const struct ktr__session_rw *session);

/* count.c: memory for the counts of the first n_sites sites on all CPUs. 0 or -errno. */
int ktr__counts_open(struct ktr__session_rw *session, uint32_t n_sites);

/* stats.c: a ring's head and the continuations before it, both of one moment [slots]. */
uint64_t ktr__ring_moment(const struct ktr_ring *ring, uint64_t *conts);

/* [events] of all rings since the session began, and those that could not be recorded. */
uint64_t ktr__session_recorded(const struct ktr__session_rw *session);
uint64_t ktr__session_dropped(const struct ktr__session_rw *session);

/* freeze.c: control stops the rings now, or lets them go on. */
void ktr__freeze_set(struct ktr__session_rw *session, bool frozen);
void ktr__freeze_signals(uint64_t on); /* of this process, as KTR_FREEZE_ON_*: from now on these stop them */

/* trigger.c: text as ktr__trigger_text() makes it, "" for none. 0 or -errno. */
int ktr__trigger_set(struct ktr__session_rw *session, const char *text, struct ktr_error *err);
uint64_t ktr__trigger_n_sites(const struct ktr__session_rw *session); /* where it may hold */

/* mask.c */

/*
 * Publishes what follows from control.asked, count, site_masks, keep and frozen, one of which has been stored;
 * rings must be open. Any number of threads and processes at once; async-signal-safe.
 */
void ktr__mask_publish(struct ktr__session_rw *session);

/* Opens rings if any class is asked for, then publishes. 0 or -errno. */
int ktr__session_mask_set(struct ktr__session_rw *session, uint64_t mask, struct ktr_error *err);

/* The same, but what others set or clear at the same time is not undone. `clear` wins over `set`. */
int ktr__session_mask_change(struct ktr__session_rw *session, uint64_t set, uint64_t clear, struct ktr_error *err);

/* The classes that have call sites. */
uint64_t ktr__session_classes(const struct ktr__session_rw *session);

/* Only CPUs of bits[] (KTR_CPU_MAX of them) record from now on. 0 or -errno: -EBUSY. */
int ktr__cpumask_set(struct ktr__session_rw *session, const uint64_t *bits, struct ktr_error *err);

/*
 * Row `index` of a table, present; NULL: the table has none, or there is no memory for it. For numbers that lie
 * in the session, where anybody may have written them: nobody may ever have touched what they lead to. row() is
 * for what has a state, and gives those that are KTR_ROW_READY or KTR_ROW_GONE. Async-signal-safe.
 */
void *ktr__session_at(const struct ktr__session_rw *session, enum ktr_region_id region, uint64_t index);
void *ktr__session_ready(const struct ktr__session_rw *session, enum ktr_region_id region, uint64_t index);

/*
 * The string at an offset of the string table, which others write to: *n bytes of it, KTR__STRING_BYTES at
 * most, lie in the table. Behind those may be anything.
 */
#define KTR__STRING_BYTES 4096u /* [bytes] a string of the session has no more, its NUL included */
const char *ktr__session_bytes(const struct ktr__session_rw *session, uint32_t offset, size_t *n);

/* sandbox.c: a process that is in a sandbox, which is why rings keep their size. 0: none. */
uint32_t ktr__session_sandboxed(const struct ktr__session_rw *session);

/*
 * rules.c: single call sites. set() adds rules to those there are; with check, a pattern that fits no site
 * is -ENOENT with the nearest. check() finds such a pattern among the rules there are. site() makes a
 * site that has just been registered what they say.
 */
int ktr__rules_set(struct ktr__session_rw *session, const char *text, bool check, struct ktr_error *err);
int ktr__rules_check(const struct ktr__session_rw *session, struct ktr_error *err);
void ktr__rules_site(struct ktr__session_rw *session, uint32_t index);
void ktr__rules_text(const struct ktr__session_rw *session, char text[KTR_SITES_MAX]);

/* Closes the rings of CPUs that are left out, all of them while frozen, and opens the others. Signal-safe. */
void ktr__ring_gate(struct ktr__session_rw *session, uint32_t index);
void ktr__rings_gate(struct ktr__session_rw *session);

/* May this CPU record? */
static inline bool ktr__cpu_wanted(const struct ktr_control *control, uint32_t cpu)
{
	return __atomic_load_n(&control->cpumask[cpu / 64 % (KTR_CPU_MAX / 64)], __ATOMIC_SEQ_CST) >>
		       cpu % 64 & 1;
}

/* Rows of the site table handed out so far, the one of "none" included. */
uint32_t ktr__session_n_sites(const struct ktr__session_rw *session);

#endif
