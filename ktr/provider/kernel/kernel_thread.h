/* SPDX-License-Identifier: BSD-2-Clause */
/* Which row of the session's thread table a thread has, by tid; rows are made for those that have none. */
#ifndef WRITER_KERNEL_THREAD_H
#define WRITER_KERNEL_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ktr__session_rw;

struct ktr__kernel_thread {
	uint32_t tid; /* 0: free */
	uint32_t row; /* 0: of a process that is not traced */
};

struct ktr__kernel_threads {
	struct ktr__session_rw *session;
	struct ktr__kernel_thread *slot; /* owned; open addressing, a power of two, at most half full */
	uint32_t n_slots;
	uint32_t n_used;
	uint32_t n_present; /* rows before this one have memory */
	uint32_t n_looked;  /* rows there were at the last look */
	uint32_t n_seen;    /* rows of the table that are in it */
};

/* The thread's row; 0: its process is not of the session, or there is no room. ns: its first moment. */
uint32_t ktr__kernel_thread(struct ktr__kernel_threads *threads, uint32_t pid, uint32_t tid, uint64_t ns);

/* Is it a thread that takes part in feeding? They are named so. */
bool ktr__kernel_thread_is_ours(uint32_t pid, uint32_t tid);

/* "name (tid)" of a row: what people tell threads apart by. Its length, without the NUL. */
size_t ktr__kernel_thread_ident(const struct ktr__session_rw *session, uint32_t row, char *text, size_t size);

/* How many rows of processes there are, all of them present. */
uint32_t ktr__kernel_events_n_procs(const struct ktr__session_rw *session);

/* Takes over the rows that have come since. One that is being filled now is looked at again. */
void ktr__kernel_thread_look(struct ktr__kernel_threads *threads);

/* It has a name, or has ended at this moment. A row that the thread has taken over is left to it. */
void ktr__kernel_thread_name(struct ktr__kernel_threads *threads, uint32_t row, const char *name);
void ktr__kernel_thread_end(struct ktr__kernel_threads *threads, uint32_t tid, uint32_t row, uint64_t ns);

#endif
