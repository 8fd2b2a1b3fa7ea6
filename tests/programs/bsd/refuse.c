/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a program where ptrace(2) is refused with an errno: all of it, or, as kernels do that lack it, one request.
 *
 *	refuse ERRNO REQUEST COMMAND...		REQUEST: -1, all; -2, process_vm_readv(2) instead; -3, seccomp(2)
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argc > 2 ? (unsigned)atoi(argv[2]) : 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (argc > 1 ? (unsigned)atoi(argv[1]) : 0)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (argc < 4)
		return 2;
	if (atoi(argv[2]) == -2)
		filter[1].k = SYS_process_vm_readv;
	if (atoi(argv[2]) == -3)
		filter[1].k = SYS_seccomp;
	if (atoi(argv[2]) < 0)
		filter[3] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, 0, 0, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return 2;
	execvp(argv[3], argv + 3);
	return 2;
}
