/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another process's memory, and what /proc tells of it. Each takes addresses and lengths as anybody may have made
 * them.
 */
#ifndef KTR_TRACEE_MEMORY_H
#define KTR_TRACEE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads at most n bytes: how many there were, 0 if none. */
size_t ktr__tracee_read(pid_t tid, uint64_t at, void *to, size_t n);

/* Writes n bytes where the tracee may write itself: n, or less. */
size_t ktr__tracee_write(pid_t tid, uint64_t at, const void *from, size_t n);

/* Reads a text of less than size bytes: its length, to[length] being 0; -EFAULT; what is longer is cut. */
ssize_t ktr__tracee_string(pid_t tid, uint64_t at, char *to, size_t size);

/* Reads what an array of n struct iovec points to, at most `bytes` in all. */
size_t ktr__tracee_read_vector(pid_t tid, uint64_t vector, uint64_t n, void *to, size_t bytes);

/* The number after `name` ("Tgid:") in /proc/TID/status, in the base; 0 or -errno. */
int ktr__tracee_status(pid_t tid, const char *name, int base, uint64_t *value);

/* The thread's name. It stays as it is where there is none any more. */
void ktr__tracee_comm(pid_t tid, char comm[16]);

#endif
