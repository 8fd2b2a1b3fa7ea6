/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that share a table of files without being of one process (clone(2), CLONE_FILES alone) have names of
 * their own here, which may be old then.
 */
#include "ktr/provider/syscall/descriptors.h"

#include "conf/kit/hash.h"
#include "ktr/provider/syscall/peers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ktr__descriptor {
	struct ktr__descriptor *next;
	pid_t pid;
	int fd;
	char name[KTR__DESCRIPTORS_NAME];
};

static struct ktr__descriptor **descriptors_at(struct ktr__descriptors *descriptors, pid_t pid, int fd)
{
	uint64_t hash = ktr__hash_word((uint64_t)pid, (uint64_t)(unsigned)fd);
	struct ktr__descriptor **at = &descriptors->bucket[hash % KTR__DESCRIPTORS_BUCKETS];

	while (*at && ((*at)->pid != pid || (*at)->fd != fd))
		at = &(*at)->next;
	return at;
}

static struct ktr__descriptor *descriptors_new(struct ktr__descriptor **at, pid_t pid, int fd)
{
	struct ktr__descriptor *one = calloc(1, sizeof(*one));

	if (!one)
		return NULL;
	one->pid = pid;
	one->fd = fd;
	return *at = one;
}

/* Of what is too long the end is what tells files apart. */
static void descriptors_copy(struct ktr__descriptor *one, const char *name, size_t n)
{
	size_t skip = n >= sizeof(one->name) ? n - (sizeof(one->name) - 1) : 0;

	memcpy(one->name, name + skip, n - skip);
	one->name[n - skip] = '\0';
	if (skip)
		memcpy(one->name, "...", 3);
}

/* Asks what it is called. is_new: it has been made just now, so it has no peer yet. NULL: not known. */
static struct ktr__descriptor *descriptors_ask(struct ktr__descriptor **at, pid_t pid, pid_t tid, int fd,
					       int is_new)
{
	struct ktr__descriptor *one;
	char path[64], name[4096];
	uint64_t inode;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)tid, fd);
	n = readlink(path, name, sizeof(name) - 1);
	/* What is not there yet may come by any means. */
	one = n > 0 ? descriptors_new(at, pid, fd) : NULL;
	if (!one)
		return NULL;
	name[n] = '\0';
	inode = is_new ? 0 : ktr__peer_inode(name);
	if (inode && ktr__peer_name(tid, inode, name, sizeof(name)))
		n = (ssize_t)strlen(name);
	descriptors_copy(one, name, (size_t)n);
	return one;
}

const char *ktr__descriptors_name(struct ktr__descriptors *descriptors, pid_t pid, pid_t tid, int fd)
{
	struct ktr__descriptor **at = descriptors_at(descriptors, pid, fd), *one = fd < 0 ? NULL : *at;

	if (!one && fd >= 0)
		one = descriptors_ask(at, pid, tid, fd, 0);
	return one ? one->name : "";
}

void ktr__descriptors_set(struct ktr__descriptors *descriptors, pid_t pid, int fd, const char *name)
{
	struct ktr__descriptor **at = descriptors_at(descriptors, pid, fd);
	struct ktr__descriptor *one = *at ? *at : descriptors_new(at, pid, fd);

	if (one)
		descriptors_copy(one, name, strlen(name));
}

static void descriptors_drop(struct ktr__descriptors *descriptors, pid_t pid, int64_t fd)
{
	struct ktr__descriptor **at = descriptors_at(descriptors, pid, (int)fd), *one = *at;

	if (!one)
		return;
	*at = one->next;
	free(one);
}

/* Those of a process from `low` to `high`. */
static void descriptors_drop_range(struct ktr__descriptors *descriptors, pid_t pid, uint64_t low, uint64_t high)
{
	for (unsigned i = 0; i < KTR__DESCRIPTORS_BUCKETS; i++)
		for (struct ktr__descriptor **at = &descriptors->bucket[i], *one; (one = *at) != NULL;) {
			if (one->pid == pid && (uint64_t)one->fd >= low && (uint64_t)one->fd <= high) {
				*at = one->next;
				free(one);
			} else {
				at = &one->next;
			}
		}
}

/* How a call changes what descriptors are. */
enum descriptors_effect {
	DESCRIPTORS_MAKES,
	DESCRIPTORS_MAKES_SOCKET,
	DESCRIPTORS_MAKES_SECOND,
	DESCRIPTORS_COPIES,
	DESCRIPTORS_CLOSES,
	DESCRIPTORS_RANGE
};

static const struct {
	const char *call;
	enum descriptors_effect effect;
} descriptors_effects[] = {
	{ "close", DESCRIPTORS_CLOSES },
	{ "open", DESCRIPTORS_MAKES },
	{ "openat", DESCRIPTORS_MAKES },
	{ "openat2", DESCRIPTORS_MAKES },
	{ "creat", DESCRIPTORS_MAKES },
	{ "socket", DESCRIPTORS_MAKES_SOCKET },
	{ "accept", DESCRIPTORS_MAKES },
	{ "accept4", DESCRIPTORS_MAKES },
	{ "dup", DESCRIPTORS_MAKES },
	{ "dup2", DESCRIPTORS_MAKES_SECOND },
	{ "dup3", DESCRIPTORS_MAKES_SECOND },
	{ "fcntl", DESCRIPTORS_COPIES },
	{ "epoll_create", DESCRIPTORS_MAKES },
	{ "epoll_create1", DESCRIPTORS_MAKES },
	{ "eventfd", DESCRIPTORS_MAKES },
	{ "eventfd2", DESCRIPTORS_MAKES },
	{ "timerfd_create", DESCRIPTORS_MAKES },
	{ "signalfd", DESCRIPTORS_MAKES },
	{ "signalfd4", DESCRIPTORS_MAKES },
	{ "inotify_init", DESCRIPTORS_MAKES },
	{ "inotify_init1", DESCRIPTORS_MAKES },
	{ "memfd_create", DESCRIPTORS_MAKES },
	{ "pidfd_open", DESCRIPTORS_MAKES },
	{ "pidfd_getfd", DESCRIPTORS_MAKES },
	{ "perf_event_open", DESCRIPTORS_MAKES },
	{ "io_uring_setup", DESCRIPTORS_MAKES },
	{ "userfaultfd", DESCRIPTORS_MAKES },
	{ "fanotify_init", DESCRIPTORS_MAKES },
	{ "open_by_handle_at", DESCRIPTORS_MAKES },
	{ "open_tree", DESCRIPTORS_MAKES },
	{ "mq_open", DESCRIPTORS_MAKES },
	{ "bpf", DESCRIPTORS_MAKES },
	{ "close_range", DESCRIPTORS_RANGE },
};

#define DESCRIPTORS_EFFECTS (sizeof(descriptors_effects) / sizeof(descriptors_effects[0]))

/* By the call's place in its table: calls are many, and few of them change anything. */
static int descriptors_effect(const struct ktr__call *call)
{
	static uint8_t known[512]; /* effect + 2; 1: none; 0: not looked up */
	size_t row = (size_t)(call - ktr__call_row(0));

	if (row >= sizeof(known))
		return -1;
	if (!known[row]) {
		known[row] = 1;
		for (unsigned i = 0; i < DESCRIPTORS_EFFECTS; i++)
			if (strcmp(call->name, descriptors_effects[i].call) == 0)
				known[row] = (uint8_t)(descriptors_effects[i].effect + 2);
	}
	return known[row] - 2;
}

void ktr__descriptors_returned(struct ktr__descriptors *descriptors, pid_t pid, const struct ktr__call *call,
			       const uint64_t *args, int64_t value)
{
	switch (descriptors_effect(call)) {
	case DESCRIPTORS_MAKES:
		descriptors_drop(descriptors, pid, value);
		break;
	case DESCRIPTORS_MAKES_SOCKET:
		descriptors_drop(descriptors, pid, value);
		descriptors_ask(descriptors_at(descriptors, pid, (int)value), pid, pid, (int)value, 1);
		break;
	case DESCRIPTORS_COPIES:
		if (args[1] == F_DUPFD || args[1] == F_DUPFD_CLOEXEC)
			descriptors_drop(descriptors, pid, value);
		break;
	case DESCRIPTORS_MAKES_SECOND:
		descriptors_drop(descriptors, pid, (int)args[1]);
		break;
	case DESCRIPTORS_CLOSES:
		descriptors_drop(descriptors, pid, (int)args[0]);
		break;
	case DESCRIPTORS_RANGE:
		descriptors_drop_range(descriptors, pid, args[0], args[1]);
		break;
	default:
		break;
	}
}

void ktr__descriptors_forget(struct ktr__descriptors *descriptors, pid_t pid)
{
	descriptors_drop_range(descriptors, pid, 0, UINT64_MAX);
}

void ktr__descriptors_free(struct ktr__descriptors *descriptors)
{
	for (unsigned i = 0; i < KTR__DESCRIPTORS_BUCKETS; i++)
		for (struct ktr__descriptor *one = descriptors->bucket[i], *next; one; one = next) {
			next = one->next;
			free(one);
		}
}
