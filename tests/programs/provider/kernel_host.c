/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A traced program whose threads work, sleep, yield and touch memory, and say what getrusage(2) counts of it:
 *
 *	kernel_host [refuse] busy	prints per thread: tid, voluntary and involuntary switches, minor
 *					faults, wall ns and CPU ns, all between its events "begin" and "end"; the
 *					same switches by /proc/PID/task/TID/status, ns on the CPU and waiting
 *					for it, and times it was given it, by its schedstat; -1: not there
 *	kernel_host short N		starts N threads that end at once, one after the other, recording nothing
 *	kernel_host wait		says its pid and waits for the end of its input, a thread turning meanwhile
 *	kernel_host refused		does the kernel refuse perf_event_open? Exit status 0: yes
 *
 * refuse: a seccomp filter answers perf_event_open with EACCES, from the next program on.
 */
#include <ktr.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HOST_THREADS 3
#define HOST_PAGES   200

static uint64_t host_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void host_spin(uint64_t ns)
{
	uint64_t until = host_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (host_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

struct host_proc {
	long long voluntary, involuntary, run_ns, wait_ns, slices;
};

/* The text of a file of this thread in /proc, in `text`; empty where there is none. */
static void host_read(const char *name, char text[4096])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)gettid(), name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, 4095) : -1;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
}

static void host_proc(struct host_proc *proc)
{
	char text[4096];
	const char *at;

	*proc = (struct host_proc){ -1, -1, -1, -1, -1 };
	host_read("schedstat", text);
	sscanf(text, "%lld %lld %lld", &proc->run_ns, &proc->wait_ns, &proc->slices);
	host_read("status", text);
	at = strstr(text, "\nvoluntary_ctxt_switches:");
	if (at)
		sscanf(at, "\nvoluntary_ctxt_switches: %lld nonvoluntary_ctxt_switches: %lld", &proc->voluntary,
		       &proc->involuntary);
}

static long long host_since(long long before, long long after)
{
	return before < 0 || after < 0 ? -1 : after - before;
}

static void *host_busy(void *context)
{
	struct timespec nap = { 0, 2000000 };
	struct host_proc proc, proc_after;
	struct rusage before, after;
	uint64_t wall, cpu;
	char *memory = mmap(NULL, HOST_PAGES * 4096ul, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)context;
	CTR0(KTR_GEN, "warm");
	madvise(memory, HOST_PAGES * 4096ul, MADV_NOHUGEPAGE);
	getrusage(RUSAGE_THREAD, &before);
	getrusage(RUSAGE_THREAD, &after);
	host_spin(1000);
	host_proc(&proc);
	host_proc(&proc);
	getrusage(RUSAGE_THREAD, &before);
	CTR0(KTR_GEN, "begin");
	wall = host_ns(CLOCK_MONOTONIC);
	cpu = host_ns(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < 10; i++) {
		host_spin(3000000);
		nanosleep(&nap, NULL);
		sched_yield();
		CTR1(KTR_GEN, "turn %d", i);
	}
	for (unsigned i = 0; i < HOST_PAGES; i++)
		memory[i * 4096ul] = 1;
	cpu = host_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	wall = host_ns(CLOCK_MONOTONIC) - wall;
	CTR0(KTR_GEN, "end");
	getrusage(RUSAGE_THREAD, &after);
	host_proc(&proc_after);
	printf("%d %ld %ld %ld %llu %llu %lld %lld %lld %lld %lld\n", (int)gettid(), after.ru_nvcsw - before.ru_nvcsw,
	       after.ru_nivcsw - before.ru_nivcsw, after.ru_minflt - before.ru_minflt, (unsigned long long)wall,
	       (unsigned long long)cpu, host_since(proc.voluntary, proc_after.voluntary),
	       host_since(proc.involuntary, proc_after.involuntary), host_since(proc.run_ns, proc_after.run_ns),
	       host_since(proc.wait_ns, proc_after.wait_ns), host_since(proc.slices, proc_after.slices));
	return NULL;
}

static void *host_nothing(void *context)
{
	return context;
}

static void *host_turn(void *context)
{
	struct timespec nap = { 0, 1000000 };

	for (;;) {
		CTR0(KTR_GEN, "turning");
		nanosleep(&nap, NULL);
	}
	return context;
}

static void host_threads(unsigned n, void *(*run)(void *), unsigned at_once)
{
	pthread_t thread[HOST_THREADS];

	for (unsigned i = 0; i < n; i += at_once) {
		for (unsigned k = 0; k < at_once; k++)
			if (pthread_create(&thread[k], NULL, run, NULL))
				exit(1);
		for (unsigned k = 0; k < at_once; k++)
			pthread_join(thread[k], NULL);
	}
}

static void host_wait(void)
{
	pthread_t thread;
	char byte;

	if (pthread_create(&thread, NULL, host_turn, NULL))
		exit(1);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

static int host_refused(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1 };

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0;
}

static int host_refuse(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "refuse") == 0) {
		if (host_refuse())
			return 77;
		execvp(argv[2], argv + 2);
		return 1;
	}
	if (argc > 1 && strcmp(argv[1], "refused") == 0)
		return !host_refused();
	if (argc > 1 && strcmp(argv[1], "busy") == 0)
		host_threads(HOST_THREADS, host_busy, HOST_THREADS);
	if (argc > 2 && strcmp(argv[1], "short") == 0)
		host_threads((unsigned)atoi(argv[2]), host_nothing, 1);
	if (argc > 1 && strcmp(argv[1], "wait") == 0)
		host_wait();
	CTR0(KTR_GEN, "done");
	return 0;
}
