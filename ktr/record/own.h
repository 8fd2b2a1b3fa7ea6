/* SPDX-License-Identifier: BSD-2-Clause */
/* The process's own session, and what the files of the recording side do to it for each other. */
#ifndef KTR_OWN_H
#define KTR_OWN_H

#include "ktr/record/record.h"
#include "ktr/session/session_rw.h"

/* Valid once ktr__rec.path is set; map NULL before, and for good where no session could be made. */
extern struct ktr__session_rw ktr__own;

/*
 * Rows and strings of append-only tables, by table.c. 0: the table, or the file system, is full. touch()
 * makes bytes of a region present before they are written or read, because a fault in a full file
 * system is a SIGBUS; false: they cannot be. All async-signal-safe.
 */
static inline bool ktr__table_touch(enum ktr_region_id region, uint64_t offset, uint64_t n_bytes)
{
	return ktr__session_touch(&ktr__own, region, offset, n_bytes);
}

static inline uint32_t ktr__table_row(uint32_t *cursor, enum ktr_region_id region)
{
	return ktr__session_row(&ktr__own, cursor, region);
}

static inline uint32_t ktr__table_string(const char *text, size_t n_bytes)
{
	return ktr__session_put(&ktr__own, text, n_bytes);
}

/* thread.c */
void ktr__threads_start(void); /* once, before the first registration */
void ktr__thread_mark(void); /* the end of this thread is seen, also if it never records */
void ktr__proc_register(void); /* a row for this process, and one for each object it has mapped */
void ktr__proc_fork_child(const struct ktr__session_rw *parent); /* own session, or the same */
void ktr__proc_identify(struct ktr_proc_row *row); /* pid, pid_ns, start_time and image of ours */
void ktr__proc_exit(void);

/* trigger.c: a site of this process has got its row. */
void ktr__trigger_site(const struct ktr_site *site);

/*
 * freeze.c: stops the rings of the session, unless they are stopped or stopping: marks the moment in the
 * trace, lets each ring take freeze_after events more. Signal-safe.
 */
void ktr__session_freeze(uint32_t why);
bool ktr__freeze_begin(const struct ktr_site *site); /* site: the event's that does it, or NULL */

/* site.c */
void ktr__sites_before_fork(void);
void ktr__sites_after_fork(void);
void ktr__sites_gate(const uint64_t *gate); /* what all modules test from now on */
bool ktr__sites_copy(const struct ktr__session_rw *from); /* classes and sites, with their numbers */

/* module.c: finds the executable or shared object an address belongs to. */
struct ktr__object {
	uint64_t base;
	uint64_t end;
	bool executable; /* the program itself, not a shared object */
	uint8_t build_id_bytes;
	uint8_t build_id[KTR_BUILD_ID_MAX];
	char path[512];
};

bool ktr__object_find(const void *address, struct ktr__object *object);

/* Calls back for every object mapped now. */
void ktr__object_walk(void (*found)(void *context, const struct ktr__object *object), void *context);

/* start.c */
bool ktr__start_asked(void); /* for tracing: only then does anything complain */
extern bool ktr__site_refused; /* site.c: a module of another ABI, which has been said */
void ktr__start_once(void);
void ktr__start_with(const char *session); /* ktr_open(): as ktr__start_once(), with a session's name */
struct ktr_conf *ktr__own_conf(void);

/* The writer's flush and stop (ktr/load/writer_hook.h) where this process may have one, else -ESRCH. */
int ktr__own_flush(void);
void ktr__own_stop(void);
void ktr__start_retry(bool last); /* a class was bound; last: the executable has attached */
__attribute__((format(printf, 1, 2))) void ktr__complain(const char *format, ...);

#endif
