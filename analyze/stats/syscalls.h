/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls of a trace that `ktr ktrace -o` has written: how often each was made, how long it took, how it
 * failed, what it moved, and what it was about. A sink. Calls are the scopes of class "syscall"; each thread
 * makes one at a time.
 */
#ifndef ANALYZE_SYSCALLS_H
#define ANALYZE_SYSCALLS_H

#include "analyze/stats/histogram.h"
#include "analyze/stats/keyed.h"

#include <ktr/reader.h>

#define KTR__SYSCALLS_SLOW 32  /* the longest calls that are kept */
#define KTR__SYSCALLS_ON   160 /* [bytes] of what a call was about, with the NUL */
#define KTR__SYSCALLS_OBJECTS 20000 /* rows of files, and of descriptors; what comes later is counted together */

/* A call by its name. */
struct ktr__syscall {
	struct ktr__keyed_row keyed;
	const char *name; /* of a site of the reader */
	struct ktr__histogram durations; /* [ns] of calls of which both ends are known */
	uint64_t total_ns, n_errors, n_restarts;
	uint64_t n_unknown; /* calls whose beginning or end was not seen */
	uint64_t bytes;	    /* that were read or written */
};

/* A file or a peer, whoever calls; or a descriptor of a process, as long as it stands for one. */
struct ktr__syscall_object {
	struct ktr__keyed_row keyed;
	char on[KTR__SYSCALLS_ON];
	const struct ktr_reader_thread *thread; /* who used it first */
	int fd; /* -1: it is no descriptor */
	uint64_t n, n_errors, total_ns, max_ns, bytes_read, bytes_written;
};

/* One way to fail. */
struct ktr__syscall_error {
	struct ktr__keyed_row keyed;
	const char *name; /* of the call */
	char error[24];
	char on[KTR__SYSCALLS_ON]; /* of the first */
	uint64_t n;
};

struct ktr__syscall_slow {
	const char *name;
	const struct ktr_reader_thread *thread;
	uint64_t from_ns, ns;
	char on[KTR__SYSCALLS_ON];
};

/* A call that has begun, by thread. */
struct ktr__syscall_open {
	const struct ktr_reader_site *site; /* NULL: none */
	uint64_t from_ns;
	int fd; /* its descriptor; -1: it has none */
};

struct ktr__syscalls {
	struct ktr_sink sink; /* hand this to ktr_reader_walk() */
	struct ktr__keyed calls, objects, descriptors, errors;
	struct ktr__syscall_open *open; /* owned; by thread id */
	uint32_t n_open;
	struct ktr__syscall_slow slow[KTR__SYSCALLS_SLOW]; /* calls that are about something; the longest first */
	unsigned n_slow;
	uint64_t n; /* calls */
};

/* Does it look at a site's events? */
int ktr__syscalls_wants(const struct ktr_reader_site *site);

void ktr__syscalls_init(struct ktr__syscalls *syscalls);
int ktr__syscalls_finish(struct ktr__syscalls *syscalls); /* after the walk: 0 or -ENOMEM */
void ktr__syscalls_free(struct ktr__syscalls *syscalls);

#endif
