/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a command on a machine that lacks something: a filter of system calls (seccomp(2)) answers as an older
 * kernel, or a container, would. For tests/cli/host/fallback.sh.
 *
 *	without WHAT... -- COMMAND ARGS...	exit status 125 where the lack cannot be made
 *	without -l				lists what there is, one to a line
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ANY UINT32_MAX

struct lack {
	const char *name;
	int number;	/* of the system call; with all above it if above is set */
	int above;
	int argument;	/* which argument has to be value; of no importance where value is ANY */
	uint32_t value;
	int code;	/* what it answers */
};

/* Numbers from 424 on are the same on all architectures and not older than Linux 5.1. */
static const struct lack without_list[] = {
	{ "rseq", SYS_rseq, 0, 0, ANY, ENOSYS },
	{ "membarrier", SYS_membarrier, 0, 0, ANY, ENOSYS },
	{ "populate", SYS_madvise, 0, 2, 23, EINVAL },
	{ "pidfd", SYS_pidfd_open, 0, 0, ANY, ENOSYS },
	{ "pidfd_getfd", SYS_pidfd_getfd, 0, 0, ANY, EPERM },
	{ "close_range", SYS_close_range, 0, 0, ANY, ENOSYS },
	{ "renameat2", SYS_renameat2, 0, 0, ANY, EINVAL },
	{ "getrandom", SYS_getrandom, 0, 0, ANY, ENOSYS },
	{ "memfd", SYS_memfd_create, 0, 0, ANY, ENOSYS },
	{ "ofd", SYS_fcntl, 0, 1, F_OFD_SETLK, EINVAL },
	{ "affinity", SYS_sched_setaffinity, 0, 0, ANY, EPERM },
	{ "unshare", SYS_unshare, 0, 0, ANY, EPERM },
	{ "calls-since-5.1", 424, 1, 0, ANY, ENOSYS },
};

/* Appends the steps for one lack; false where the program is full. */
static int without_add(struct sock_filter *at, const struct lack *lack)
{
	struct sock_filter *p = at;
	uint32_t argument = (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (size_t)lack->argument);
	uint8_t behind = lack->value == ANY ? 1 : 3;

	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	*p++ = (struct sock_filter)BPF_JUMP((lack->above ? BPF_JGE : BPF_JEQ) | BPF_JMP | BPF_K,
					    (uint32_t)lack->number, 0, behind);
	if (lack->value != ANY) {
		*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument);
		*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, lack->value, 0, 1);
	}
	*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)lack->code);
	return (int)(p - at);
}

static const struct lack *without_find(const char *name)
{
	for (size_t i = 0; i < sizeof(without_list) / sizeof(*without_list); i++)
		if (strcmp(name, without_list[i].name) == 0)
			return &without_list[i];
	return NULL;
}

static int without_one(const char *name)
{
	const struct lack *lack = without_find(name);
	struct sock_filter steps[8];
	struct sock_fprog program = { 0, steps };
	int n;

	if (!lack) {
		fprintf(stderr, "without: what is %s?\n", name);
		return -1;
	}
	n = without_add(steps, lack);
	steps[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)n;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	int i = 1;

	if (argc == 2 && strcmp(argv[1], "-l") == 0) {
		for (size_t k = 0; k < sizeof(without_list) / sizeof(*without_list); k++)
			puts(without_list[k].name);
		return 0;
	}
	for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (without_one(argv[i])) {
			fprintf(stderr, "without: %s: %s\n", argv[i], strerror(errno));
			return 125;
		}
	}
	if (i + 1 >= argc)
		return 125;
	execvp(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 127;
}
