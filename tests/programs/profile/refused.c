/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refused CALL[=ERROR|=kill] PROGRAM ARGUMENTS: runs it where the kernel refuses that system call, with EACCES or
 * that error, a number, or ends who makes it.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned number;
} calls[] = { { "perf_event_open", SYS_perf_event_open },
	      { "ptrace", SYS_ptrace },
	      { "timer_create", SYS_timer_create } };

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };
	unsigned i = 0, n = sizeof(calls) / sizeof(calls[0]);
	const char *error = argc > 2 ? strchr(argv[1], '=') : NULL;

	while (argc > 2 && i < n && strncmp(calls[i].name, argv[1], strcspn(argv[1], "=")) != 0)
		i++;
	if (argc < 3 || i == n)
		return 2;
	code[1].k = calls[i].number;
	if (error && strcmp(error, "=kill") == 0)
		code[2].k = SECCOMP_RET_KILL_PROCESS;
	else if (error)
		code[2].k = SECCOMP_RET_ERRNO | (unsigned)atoi(error + 1);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		return 3;
	execv(argv[2], argv + 2);
	return 4;
}
