/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters of system calls: one that kills on whatever the host itself would not call, and those that refuse. The
 * first kind stands behind a call that readies ktr for it.
 */
#include "host.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LET(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* What the host calls behind it; anything else has the given end. Of the calling thread alone. more: one more. */
static void sandbox_close(uint32_t otherwise, uint32_t more)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		LET(SYS_write),
		LET(SYS_exit_group),
		LET(SYS_exit),
		LET(SYS_rt_sigreturn),
		LET(SYS_sched_setaffinity),
		LET(more),
		BPF_STMT(BPF_RET | BPF_K, otherwise),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/* The first event of all comes behind the filter if `early` is 0. */
static void sandbox_live(unsigned early)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);

	say(row, early);
	ready_for_sandbox();
	sandbox_close(SECCOMP_RET_KILL_PROCESS, SYS_write);
	say(row, MANY);
	tell("sandboxed\n");
}

int life_seccomp(void)
{
	sandbox_live(0);
	_exit(5);
}

int life_seccomp_exit(void)
{
	sandbox_live(FEW);
	return 5;
}

/* On each CPU in turn, of those the process may run on. */
int life_seccomp_migrate(void)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);
	cpu_set_t all, one;

	MUST(sched_getaffinity(0, sizeof(all), &all) == 0);
	ready_for_sandbox();
	sandbox_close(SECCOMP_RET_KILL_PROCESS, SYS_write);
	for (int lap = 0; lap < 3; lap++)
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
			if (!CPU_ISSET(cpu, &all))
				continue;
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			MUST(sched_setaffinity(0, sizeof(one), &one) == 0);
			say(row, 4);
		}
	tell("sandboxed\n");
	_exit(5);
}

/* The readiness of its process must do for what it does not call by itself. */
static void *sandbox_thread(void *unused)
{
	struct oracle_row *row = oracle_row(ORACLE_EITHER);

	(void)unused;
	sandbox_close(SECCOMP_RET_KILL_PROCESS, SYS_write);
	say(row, FEW);
	tell("sandboxed\n");
	_exit(5);
}

/* A thread that has not recorded before. */
int life_seccomp_thread(void)
{
	pthread_t thread;

	say(oracle_row(ORACLE_KEPT), FEW);
	ready_for_sandbox();
	MUST(pthread_create(&thread, NULL, sandbox_thread, NULL) == 0);
	pthread_join(thread, NULL);
	return 1;
}

/* Nothing dies of these: what ktr asks for it does not get. */
static int sandbox_refused(int code, uint32_t more)
{
	struct oracle_row *row = oracle_row(ORACLE_EITHER);

	sandbox_close(SECCOMP_RET_ERRNO | (uint32_t)code, more);
	say(row, MANY);
	tell("refused\n");
	return 5;
}

int life_seccomp_refuse(void)
{
	say(oracle_row(ORACLE_KEPT), FEW);
	return sandbox_refused(EPERM, SYS_futex);
}

int life_seccomp_nosys(void)
{
	return sandbox_refused(ENOSYS, SYS_futex);
}

/* Not even what a C library cannot do without where there are threads. */
int life_seccomp_refuse_all(void)
{
	say(oracle_row(ORACLE_KEPT), FEW);
	ready_for_sandbox();
	return sandbox_refused(EPERM, SYS_write);
}
