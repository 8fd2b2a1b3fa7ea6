/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that readies itself for a sandbox and then dies of any system call that is not its own: for sandbox.sh.
 *
 *	sandbox THREADS EVENTS [late | fork | until]
 *
 * Threads wait for each other by spinning, each sets a filter for itself, and records EVENTS times two events of
 * class GEN, of its number and how many came before, and two of class NET; so does the main thread. late: they
 * have not recorded before and do not ready themselves. fork: the main thread ends with a child that records, too.
 * until: again and again until somebody sets the knob sandbox.stop. Prints "ready PID TID...", and after the last
 * event how many of class GEN there were. Without ktr_sandbox() (WITHOUT=1) it is to die. UNFILTERED=1:
 * there are no filters.
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS_MAX 64

int ktr_sandbox(void) __attribute__((weak)); /* the test of a library without it is that we die */

static unsigned n_threads, n_ready, n_done, go;
static unsigned long n_events;
static int late, tids[THREADS_MAX];
static uint64_t one = 1, *stop = &one;
static unsigned long n_rounds;

#define LOAD(field)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALLOW(number)                                                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),                                       \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* What the C library does where a thread or the process ends, and printing. */
static void filter(void)
{
	struct sock_filter code[] = {
		LOAD(nr),
		ALLOW(SYS_write),
		ALLOW(SYS_exit),
		ALLOW(SYS_exit_group),
		ALLOW(SYS_futex),
		/* fork(3) */
		ALLOW(SYS_clone),
		ALLOW(SYS_set_robust_list),
		ALLOW(SYS_wait4),
		ALLOW(SYS_munmap),
		ALLOW(SYS_rt_sigprocmask),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
		LOAD(args[2]), /* its lower half */
		ALLOW(MADV_DONTNEED),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (getenv("UNFILTERED"))
		return;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("seccomp");
		_exit(77);
	}
}

static void ready(void)
{
	int code = getenv("WITHOUT") || !ktr_sandbox ? 0 : ktr_sandbox();

	if (code) {
		fprintf(stderr, "ktr_sandbox: %s\n", strerror(-code));
		_exit(1);
	}
}

static void wait_for(const unsigned *word, unsigned value)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value)
		__asm__ volatile("" ::: "memory");
}

static void events(int tid)
{
	filter();
	do {
		for (unsigned long i = 0; i < n_events; i++) {
			CTR2(KTR_GEN, "by %d: %d", tid, (int)i);
			CTR3(KTR_GEN, "by %d: %d %s", tid, (int)i,
			     i & 1 ? "short" : "so long that it takes more than one slot more");
			CTR1(KTR_NET, "also %lu", i);
			CTRSTACK(KTR_NET, NULL, 4);
		}
		__atomic_fetch_add(&n_rounds, 1, __ATOMIC_RELAXED);
	} while (!__atomic_load_n(stop, __ATOMIC_RELAXED));
	__atomic_fetch_add(&n_done, 1, __ATOMIC_RELEASE);
}

static void *thread(void *number)
{
	int tid = (int)syscall(SYS_gettid);

	tids[(int *)number - tids] = tid;
	if (!late) {
		ready();
		CTR0(KTR_INIT, "a first one");
	}
	__atomic_fetch_add(&n_ready, 1, __ATOMIC_RELEASE);
	wait_for(&go, 1);
	events(tid);
	return NULL;
}

static const struct ktr_knob knob = { .name = "sandbox.stop", .type = KTR_KNOB_UINT, .access = KTR_KNOB_RWTUN,
				      .help = "ends the program", .initial = "0", .max = 1 };

static void tell(const char *line)
{
	if (write(1, line, strlen(line)) < 0)
		_exit(1);
}

int main(int argc, char **argv)
{
	int pid = (int)getpid();
	char line[1000];
	size_t at;

	n_threads = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
	n_events = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	late = argc > 3 && strcmp(argv[3], "late") == 0;
	if (n_threads > THREADS_MAX)
		return 2;
	if (argc > 3 && strcmp(argv[3], "until") == 0 && ktr_knob_add(&knob, &stop, NULL))
		return 1;
	for (unsigned i = 0; i < n_threads; i++) {
		pthread_t id;

		if (pthread_create(&id, NULL, thread, &tids[i]))
			return 1;
		pthread_detach(id);
	}
	ready();
	wait_for(&n_ready, n_threads);
	at = (size_t)snprintf(line, sizeof(line), "ready %d", pid);
	for (unsigned i = 0; i < n_threads; i++)
		at += (size_t)snprintf(line + at, sizeof(line) - at, " %d", tids[i]);
	snprintf(line + at, sizeof(line) - at, "\n");
	tell(line);
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	events(pid);
	wait_for(&n_done, n_threads + 1);
	if (argc > 3 && strcmp(argv[3], "fork") == 0) {
		pid_t child = fork();
		int status = -1;

		for (int i = 0; !child && i < 1000; i++)
			CTR2(KTR_GEN, "by %d: %d", 0, i);
		if (!child)
			_exit(0);
		if (waitpid(child, &status, 0) != child || status)
			tell("the child has died\n");
	}
	snprintf(line, sizeof(line), "%lu\n", 2 * n_events * n_rounds);
	tell(line);
	return 0;
}
