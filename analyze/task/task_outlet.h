/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A descriptor that buffers are written to, by several threads, whole and in their order, without waiting for
 * whoever reads them.
 */
#ifndef ANALYZE_TASK_OUTLET_H
#define ANALYZE_TASK_OUTLET_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define KTR__OUTLET_PIECES 8 /* that wait; more are refused */

struct ktr__outlet_piece {
	struct ktr__outlet_piece *next;
	uint32_t n_bytes, at;  /* of all, and of those that are written */
	uint32_t n_samples;    /* in it */
	uint32_t reserved;
	unsigned char bytes[]; /* aligned for a struct ktr_sample_buffer */
};

struct ktr__outlet {
	int fd;	       /* the caller's number; it may be another file's by now */
	int out;       /* our own of it; -1 when all is done */
	int is_socket;
	int waits;     /* it would wait for who reads, unless it is asked first */
	pthread_mutex_t lock;		 /* of all below */
	struct ktr__outlet_piece *first; /* owned */
	unsigned n_pieces;
	uint64_t n_unsent; /* samples of pieces that were given up */
	int code;	   /* -errno of write(2), after which nothing is written; 0 */
};

/* For a descriptor of the caller's: 0, or -EBADF and others as dup(2) has them, with nothing to be closed. */
int ktr__outlet_open(struct ktr__outlet *outlet, int fd);

/* Gives up what still waits, and lets go of the descriptor. */
void ktr__outlet_close(struct ktr__outlet *outlet);

/* Takes a piece (owned) if there is room for it or is_last is set: 0, -EAGAIN, or -errno of write(2). Not taken: it
 * stays the caller's. */
int ktr__outlet_put(struct ktr__outlet *outlet, struct ktr__outlet_piece *piece, int is_last);

/* Writes what can be written at once. 0: nothing waits; 1: something does; -errno of write(2). */
int ktr__outlet_flush(struct ktr__outlet *outlet);

#endif
