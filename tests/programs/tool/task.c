/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libktr-task's calls, each as a command: what they give in lines that tests/cli/tool/task.py reads.
 *
 *	task info PID | state PID | regions PID | read PID ADDRESS BYTES | errors PID TID
 *	task sample PID TID HZ [reap | both] [late]
 *	task faults PID TID EVERY
 *
 * sample writes to descriptor 1 until there is something to be read on 0, or its end, and tells the sums on 2.
 * reap: a thread waits for any child meanwhile. both: all threads are sampled, too, to the same descriptor. late:
 * what is stopped is so only after descriptor 0 has told twice.
 */
#include <ktr/task.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ktr_error err;

static int complain(int code)
{
	char line[KTR_ERROR_LINE_BYTES];

	fprintf(stderr, "%d %d %s\n", -code, err.code, ktr_error_print(&err, line, sizeof(line)));
	return 1;
}

static void print_info(const struct ktr_thread_info *one)
{
	printf(" %c %d %d %d %d", one->state, (int)one->cpu, (int)one->nice, (int)one->priority, (int)one->call);
	printf(" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, one->user_ns, one->system_ns, one->cpu_ns, one->start_ns);
	printf(" %" PRIu64 " %" PRIu64 " %s", one->n_voluntary, one->n_involuntary, one->name);
}

static int info(pid_t pid, int has_registers)
{
	pid_t *tid;
	uint32_t n;
	int rc = ktr_task_threads(pid, &tid, &n, &err);

	if (rc)
		return complain(rc);
	for (uint32_t i = 0; i < n; i++) {
		struct ktr_thread_info one = { .size = sizeof(one) };
		struct ktr_thread_state state = { .size = sizeof(state) };
		const unsigned long long *regs = (const unsigned long long *)&state.regs;

		rc = has_registers ? ktr_thread_state(pid, tid[i], &state, &err) :
				     ktr_thread_info(pid, tid[i], &one, &err);
		if (rc)
			return complain(rc);
		printf("%d", (int)tid[i]);
		if (!has_registers)
			print_info(&one);
		for (size_t r = 0; has_registers && r < sizeof(state.regs) / sizeof(*regs); r++)
			printf(" %llu", regs[r]);
		putchar('\n');
		if (has_registers)
			fprintf(stderr, "%d stood for %.1f us\n", (int)tid[i], (double)state.stopped_ns / 1e3);
	}
	free(tid);
	return 0;
}

static int regions(pid_t pid)
{
	struct ktr_vm_region *region = calloc(1, sizeof(*region));
	uint64_t at = 0;
	int rc;

	if (!region)
		return 1;
	region->size = sizeof(*region);
	while ((rc = ktr_vm_region(pid, at, region, &err)) == 0) {
		printf("%" PRIx64 "-%" PRIx64 " %.4s %08" PRIx64, region->start, region->end, region->access, region->offset);
		printf(" %02x:%02x %" PRIu64 " %s\n", region->major, region->minor, region->inode, region->path);
		at = region->end;
	}
	free(region);
	return rc == -ENOENT ? 0 : complain(rc);
}

static int read_memory(pid_t pid, uint64_t at, size_t n)
{
	char *to = malloc(n + 1);
	ssize_t got = to ? ktr_vm_read(pid, at, to, n, &err) : -ENOMEM;

	if (got < 0)
		return complain((int)got);
	fwrite(to, 1, (size_t)got, stdout);
	free(to);
	return 0;
}

static void told(const char *what, int rc)
{
	printf("%s: %d %d %s\n", what, -rc, err.code, err.text);
	ktr_error_clear(&err);
}

/* What each call says of a process and a thread. */
static int errors(pid_t pid, pid_t tid)
{
	struct ktr_thread_info thread = { .size = sizeof(thread) };
	struct ktr_thread_state state = { .size = sizeof(state) };
	struct ktr_vm_region *region = calloc(1, sizeof(*region));
	int nowhere = open("/dev/null", O_WRONLY);
	char byte;
	pid_t *all;
	uint32_t n;

	if (!region || nowhere < 0)
		return 1;
	region->size = sizeof(*region);
	told("threads", ktr_task_threads(pid, &all, &n, &err));
	free(all);
	told("info", ktr_thread_info(pid, tid, &thread, &err));
	told("state", ktr_thread_state(pid, tid, &state, &err));
	told("read", (int)ktr_vm_read(pid, 8, &byte, 1, &err));
	told("region", ktr_vm_region(pid, 0, region, &err));
	told("sample_task", ktr_sample_task(pid, 100, nowhere, &err));
	told("sample_thread", ktr_sample_thread(pid, tid, 100, nowhere, &err));
	told("stop", ktr_sample_stop(nowhere, NULL, &err));
	free(region);
	return 0;
}

static int arguments(pid_t pid)
{
	struct ktr_thread_info thread = { .size = 8 };
	struct ktr_thread_state state = { .size = 8 };
	struct ktr_sample_sums sums = { .size = 8 };
	int closed = dup(1);

	close(closed);
	told("hz 0", ktr_sample_task(pid, 0, 1, &err));
	told("hz 10001", ktr_sample_task(pid, 10001, 1, &err));
	told("thread 0", ktr_sample_thread(pid, 0, 1, 1, &err));
	told("closed", ktr_sample_task(pid, 1, closed, &err));
	told("input", ktr_sample_task(pid, 1, 0, &err));
	told("nothing", ktr_sample_stop(1, NULL, &err));
	told("small info", ktr_thread_info(pid, pid, &thread, &err));
	told("small state", ktr_thread_state(pid, pid, &state, &err));
	told("small sums", ktr_sample_stop(1, &sums, &err));
	told("self", ktr_sample_task(getpid(), 1, 1, &err));
	told("twice", ktr_sample_task(pid, 1, 2, &err));
	told("twice", ktr_sample_task(pid, 1, 2, &err));
	return 0;
}

static void *reap(void *arg)
{
	while (waitpid(-1, NULL, __WALL) >= 0 || errno == ECHILD || errno == EINTR)
		;
	return arg;
}

static int n_signals;

static void child(int number)
{
	(void)number;
	n_signals++;
}

/* As sample: `hz` is a number of faults. */
static int begin(pid_t pid, pid_t tid, unsigned hz, const char *how)
{
	if (strcmp(how, "faults") == 0)
		return ktr_sample_faults(pid, tid, hz, 1, &err);
	return tid ? ktr_sample_thread(pid, tid, hz, 1, &err) : ktr_sample_task(pid, hz, 1, &err);
}

static int sample(pid_t pid, pid_t tid, unsigned hz, const char *how, int late)
{
	struct ktr_sample_sums sums = { .size = sizeof(sums) };
	pthread_t thread;
	char byte;
	int rc;

	if (strcmp(how, "reap") == 0) {
		signal(SIGCHLD, child);
		if (pthread_create(&thread, NULL, reap, NULL))
			return 1;
	}
	rc = begin(pid, tid, hz, how);
	if (!rc && strcmp(how, "both") == 0)
		rc = ktr_sample_task(pid, hz, 1, &err);
	if (rc)
		return complain(rc);
	close(1);
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		;
	rc = ktr_sample_stop(1, &sums, &err);
	if (late && read(0, &byte, 1) < 0)
		return 1;
	fprintf(stderr, "code %d samplings %u samples %" PRIu64 " lost %" PRIu64, -rc, sums.n_samplings,
		sums.n_samples, sums.n_lost);
	fprintf(stderr, " rounds %" PRIu64 " missed %" PRIu64, sums.n_rounds, sums.n_missed);
	fprintf(stderr, " stops %" PRIu64 " ns %" PRIu64 " most %" PRIu64 "\n", sums.n_stops, sums.stopped_ns, sums.most_ns);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	pid_t pid = argc > 2 ? (pid_t)atoi(argv[2]) : 0;

	if (strcmp(what, "info") == 0 || strcmp(what, "state") == 0)
		return info(pid, what[0] == 's');
	if (strcmp(what, "regions") == 0)
		return regions(pid);
	if (strcmp(what, "arguments") == 0)
		return arguments(pid);
	if (strcmp(what, "errors") == 0 && argc == 4)
		return errors(pid, (pid_t)atoi(argv[3]));
	if (strcmp(what, "read") == 0 && argc == 5)
		return read_memory(pid, strtoull(argv[3], NULL, 16), strtoull(argv[4], NULL, 0));
	if (strcmp(what, "sample") == 0 && argc >= 5)
		return sample(pid, (pid_t)atoi(argv[3]), (unsigned)atoi(argv[4]),
			      argc > 5 ? argv[5] : "", argc > 5 && strcmp(argv[argc - 1], "late") == 0);
	if (strcmp(what, "faults") == 0 && argc == 5)
		return sample(pid, (pid_t)atoi(argv[3]), (unsigned)atoi(argv[4]), what, 0);
	fprintf(stderr, "usage: see its source\n");
	return 2;
}
