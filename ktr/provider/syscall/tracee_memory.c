/* SPDX-License-Identifier: BSD-2-Clause */
/* process_vm_readv(2), which reads whole pages or none: so texts are read up to where a page ends. */
#include "ktr/provider/syscall/tracee_memory.h"

#include "ktr/provider/syscall/tracee_proc.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define TRACEE_MEMORY_PAGE 4096 /* [bytes] the least that a page has */
#define TRACEE_MEMORY_IOV  1024 /* UIO_MAXIOV of the kernel */

static struct iovec tracee_memory_iov(uint64_t at, size_t n)
{
	struct iovec iov = { .iov_len = n };

	memcpy(&iov.iov_base, &at, sizeof(iov.iov_base));
	return iov;
}

size_t ktr__tracee_read(pid_t tid, uint64_t at, void *to, size_t n)
{
	struct iovec local = { to, n }, remote = tracee_memory_iov(at, n);
	ssize_t got = n ? process_vm_readv(tid, &local, 1, &remote, 1, 0) : 0;

	return got > 0 ? (size_t)got : 0;
}

ssize_t ktr__tracee_string(pid_t tid, uint64_t at, char *to, size_t size)
{
	size_t n = 0, want, got;
	const char *end;

	while (n + 1 < size) {
		want = TRACEE_MEMORY_PAGE - (at + n) % TRACEE_MEMORY_PAGE;
		want = want < 256 ? want : 256; /* most paths are shorter */
		want = want < size - 1 - n ? want : size - 1 - n;
		got = ktr__tracee_read(tid, at + n, to + n, want);
		if (!got)
			return -EFAULT;
		end = memchr(to + n, 0, got);
		if (end)
			return end - to;
		n += got;
	}
	to[n] = '\0';
	return (ssize_t)n;
}

size_t ktr__tracee_read_vector(pid_t tid, uint64_t vector, uint64_t n, void *to, size_t bytes)
{
	static struct iovec remote[TRACEE_MEMORY_IOV];
	struct iovec local = { to, bytes };
	size_t left = bytes, got;
	unsigned long n_iov = 0;
	ssize_t read;

	n = n < TRACEE_MEMORY_IOV ? n : TRACEE_MEMORY_IOV;
	got = ktr__tracee_read(tid, vector, remote, n * sizeof(remote[0])) / sizeof(remote[0]);
	while (n_iov < got && left) {
		if (remote[n_iov].iov_len > left)
			remote[n_iov].iov_len = left;
		left -= remote[n_iov++].iov_len;
	}
	local.iov_len -= left;
	read = n_iov ? process_vm_readv(tid, &local, 1, remote, n_iov, 0) : 0;
	return read > 0 ? (size_t)read : 0;
}

size_t ktr__tracee_write(pid_t tid, uint64_t at, const void *from, size_t n)
{
	struct iovec local = tracee_memory_iov((uintptr_t)from, n), remote = tracee_memory_iov(at, n);
	ssize_t put = n ? process_vm_writev(tid, &local, 1, &remote, 1, 0) : 0;

	return put > 0 ? (size_t)put : 0;
}

int ktr__tracee_status(pid_t tid, const char *name, int base, uint64_t *value)
{
	char path[64], text[4096], *at;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	n = ktr__tracee_text(path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	/* The first line is the name, which may hold anything but a line's end. */
	for (at = strchr(text, '\n'); at; at = strchr(at + 1, '\n'))
		if (strncmp(at + 1, name, strlen(name)) == 0) {
			*value = strtoull(at + 1 + strlen(name), NULL, base);
			return 0;
		}
	return -ENOENT;
}

void ktr__tracee_comm(pid_t tid, char comm[16])
{
	char path[64], text[64];
	ssize_t n;

	/* A thread has its own below /proc, though a list of /proc does not show it. */
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
	n = ktr__tracee_text(path, text, sizeof(text));
	if (n <= 0)
		return;
	if (text[n - 1] == '\n')
		text[n - 1] = '\0';
	snprintf(comm, 16, "%.15s", text);
}
