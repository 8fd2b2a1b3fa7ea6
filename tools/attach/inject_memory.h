/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of a process that is about to be attached to, through /proc/PID/mem. All addresses are anybody's. */
#ifndef TOOLS_INJECT_MEMORY_H
#define TOOLS_INJECT_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens it for reading and writing: a descriptor, or -errno. The same rules as for ptrace(2) say who may. */
int inject_memory_open(pid_t pid);

/* 1: all n bytes; 0: not. */
int inject_memory_read(int fd, uint64_t at, void *to, size_t n);
int inject_memory_write(int fd, uint64_t at, const void *from, size_t n);

#endif
