/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Controlling ktr from C: the program's own session, and sessions of others.
 *
 * Nothing here is needed to trace: the library starts itself before main() and takes its settings from
 * loader.conf and the environment. What is set here overrides both. Settings are the knobs that
 * `ktr sysctl` shows; ktr_conf() is the tree itself, for programs that register knobs of their own
 * (ktr/conf.h).
 *
 * Calls return 0 or -errno and fill err (may be NULL). They may be called from any thread, but for
 * ktr_freeze() not from signal handlers, and block on file calls only. Option and result structures begin with
 * their own size, so that later versions can add members.
 */
#ifndef KTR_CTL_H
#define KTR_CTL_H

#include <ktr/conf.h>
#include <ktr/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* A function may have the name of its structure, as stat(2) has; g++'s -Wshadow is against it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC visibility push(default)

/* What a program that starts ktr by itself (KTR_NO_AUTOSTART) may ask for; NULL and 0: the default. */
struct ktr_options {
	size_t size;	     /* sizeof(struct ktr_options) */
	const char *session; /* name; processes that give the same one share the session */
	const char *mask;    /* "sched|lock", "all,-malloc", a number */
	const char *file;    /* trace directory: starts the writer */
	uint64_t entries;    /* per CPU */
	/* When the trace is rotated, as text, as debug.ktr.alq_rotate_* have it: "100M", "1h", "4". */
	const char *rotate_size;
	const char *rotate_time;
	const char *rotate_keep;
};

/*
 * Starts the library with these options, or applies those that can still be applied if it has started
 * already. -EALREADY: it had another session by then; the other options were applied. -ENXIO: no
 * session can be had (or KTR_DISABLE=1); err says why.
 */
int ktr_open(const struct ktr_options *options, struct ktr_error *err);

/* The mask of recorded classes of the program's own session. -ENXIO without one. */
int ktr_mask_get(uint64_t *mask);
int ktr_mask_set(uint64_t mask, struct ktr_error *err);

/*
 * Switches classes on and off and leaves the others as they are, also where somebody else changes the mask at the
 * same time. A class in both is off. -ENXIO without a session.
 */
int ktr_mask_change(uint64_t on, uint64_t off, struct ktr_error *err);

/* A knob of the program by name, as text: ktr_set("debug.ktr.mask", "all,-malloc", &err). */
int ktr_get(const char *name, char *buffer, size_t size, struct ktr_error *err);
int ktr_set(const char *name, const char *text, struct ktr_error *err);

/* The program's knob tree: debug.ktr and whatever was registered. Never NULL. */
struct ktr_conf *ktr_conf(void);

/*
 * Adds a knob of the program's own whose number lies in its session, so that `ktr sysctl` shows and sets it
 * while the program runs; the program reads *word whenever it likes (an atomic load: others write it).
 *
 *	static const struct ktr_knob batch = { .name = "app.batch", .type = KTR_KNOB_UINT,
 *		.access = KTR_KNOB_RWTUN, .help = "how many are taken at once", .initial = "8", .max = 64 };
 *	uint64_t *n_batch;
 *
 *	ktr_knob_add(&batch, &n_batch, &err);
 *	... __atomic_load_n(n_batch, __ATOMIC_RELAXED) ...
 *
 * BOOL, INT, UINT, SIZE and DURATION; no handlers. It begins as initial says, then as loader.conf and
 * environment do. Processes of a session that give the same name share the number. The row is borrowed for
 * good. Without a session the word is the process's own. -EINVAL: not a number, or too many; -EEXIST.
 * Other knobs, with handlers, ktr_conf_register() adds: they are not seen from outside.
 */
int ktr_knob_add(const struct ktr_knob *row, uint64_t **word, struct ktr_error *err);

struct ktr_stats {
	size_t size;	     /* sizeof(struct ktr_stats), set by the caller */
	uint64_t n_recorded; /* [events] in all rings since the session began */
	uint64_t n_dropped;  /* [events] that could not be recorded */
	uint64_t n_sites;
	uint64_t n_threads;
	uint64_t n_processes;
	uint64_t n_cpus;     /* rings */
	uint64_t entries;    /* per CPU */
};

int ktr_stats(struct ktr_stats *stats);

/* Name and path of the program's session; "" without one. Valid for the life of the process. */
const char *ktr_session_name(void);
const char *ktr_session_path(void);

/*
 * Stops the rings of the program's session, so that they keep what led here: the moment is marked in the
 * trace, and each ring takes debug.ktr.freeze_after events more. May be called from a signal handler;
 * never blocks; does nothing where they are stopped already. debug.ktr.freeze=0 lets them go on.
 */
void ktr_freeze(void);

/* Waits until what was recorded before the call is in the trace file. -ESRCH: there is no writer. */
int ktr_flush(void);

/*
 * Readies this process and the calling thread for a sandbox in which system calls may be fatal, such as a filter of
 * seccomp(2): the rings of all CPUs that are online (without restartable sequences: all of the pool) are made
 * and made present, counts and the rows of threads too, and the writer takes what there is. From then on no event
 * asks the kernel for anything: one that comes upon something that is not ready is dropped and counted, a thread
 * that begins to trace later has the name of its process, rings keep their size for as long as the process
 * lives, modules loaded later are not traced, a forked child records nothing, and a clean exit leaves the session
 * after. The writer thread, if there is one, goes on with the calls that ktr.3 lists: a filter for all
 * threads must let it. Each thread may call it, for its name; the first call does the rest.
 *
 * Before the filter is set. 0, also without a session; -ENOSPC, -ENOMEM: not all of it is there, and nothing has
 * changed; -ENOSYS: the C library does not tell a thread's number. Blocks while memory is made present.
 */
int ktr_sandbox(void);

/* Names the calling thread in traces; the kernel's name is not touched. At most 15 bytes are kept. */
int ktr_thread_name(const char *name);

/*
 * Somebody else's session, by path; mapped for control, never recorded into. close() accepts NULL.
 * -EACCES, -ENOENT, -EINVAL, -EPROTO, ... as for the tools.
 */
struct ktr_session;
int ktr_session_attach(const char *path, struct ktr_session **out, struct ktr_error *err);
struct ktr_conf *ktr_session_conf(struct ktr_session *session);
void ktr_session_close(struct ktr_session *session);

#pragma GCC visibility pop
#pragma GCC diagnostic pop
#ifdef __cplusplus
}
#endif

#endif
