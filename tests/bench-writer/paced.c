/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The highest rate at which the writer thread loses nothing.
 *
 *	paced [-t SECONDS] [-e ENTRIES] [-o TRACE] [-p PRODUCERS] [-r RATE] [EVENT...]
 *
 * For each kind of event (ctr0, ctr2, ctr6, str16) a child of this program is started with its
 * writer on, and its producers record for SECONDS at a given rate: a hundred events at a time,
 * then waiting on the clock for their next turn. The rate is doubled until events are lost, then
 * bisected between the last two; RATE, in million events per second and producer, sets one rate
 * instead, 0 meaning flat out.
 *
 * Printed: the rate asked for and the one produced, in million events/s of all producers; events
 * lost; bytes per event in the trace; the CPU time of the writer, in per cent of one CPU; the size
 * of the rings. With one producer the producer has CPU 0 and the writer the others to itself.
 */
#include <ktr.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TURN 100u /* events between two looks at the clock */

struct plan {
	const char *event;
	const char *trace;
	const char *entries;
	double seconds;
	double rate; /* [million events/s] of one producer; 0: flat out */
	int n_producers;
};

struct outcome {
	double seconds;
	uint64_t produced;
	uint64_t written;
	uint64_t lost;
	uint64_t bytes;
	double writer_cpu; /* [s] */
};

static struct plan plan;
static volatile uint64_t produced[64];

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void turn(uint64_t from)
{
	static const char text[] = "sixteen letters.";

	switch (plan.event[3]) {
	case '0':
		for (unsigned i = 0; i < TURN; i++)
			CTR0(KTR_GEN, "nothing");
		break;
	case '2':
		for (unsigned i = 0; i < TURN; i++)
			CTR2(KTR_GEN, "%d and %d", (int)(from + i), (int)i);
		break;
	case '6':
		for (unsigned i = 0; i < TURN; i++)
			CTR6(KTR_GEN, "%lu %lu %lu %lu %lu %lu", from + i, from, from, from, from,
			     from);
		break;
	default:
		for (unsigned i = 0; i < TURN; i++)
			CTR1(KTR_GEN, "%s", text);
	}
}

static void *produce(void *context)
{
	long me = (long)context;
	cpu_set_t set;
	double start, next;
	uint64_t n = 0;

	CPU_ZERO(&set);
	CPU_SET((int)me, &set);
	sched_setaffinity(0, sizeof(set), &set);
	start = next = now();
	while (next < start + plan.seconds) {
		turn(n);
		n += TURN;
		if (plan.rate > 0)
			while ((next = start + (double)n / plan.rate * 1e-6) > now())
				;
		else
			next = now();
	}
	produced[me] = n;
	return NULL;
}

/* CPU time of our thread of a name, in seconds. */
static double thread_cpu(const char *name)
{
	char path[300], text[256];
	const struct dirent *entry;
	DIR *dir = opendir("/proc/self/task");
	double seconds = 0;
	ssize_t n;
	int fd;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		fd = open(path, O_RDONLY);
		n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
		close(fd);
		if (n <= 0 || strncmp(text, name, strlen(name)) != 0)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", entry->d_name);
		fd = open(path, O_RDONLY);
		n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
		close(fd);
		text[n > 0 ? n : 0] = 0;
		seconds = strtod(text, NULL) * 1e-9;
	}
	if (dir)
		closedir(dir);
	return seconds;
}

/* In the child: produces and tells the parent. The writer's last work comes after main. */
static int child(int report)
{
	pthread_t threads[64];
	struct outcome outcome = { 0 };
	double start = now();

	for (long i = 0; i < plan.n_producers; i++)
		pthread_create(&threads[i], NULL, produce, (void *)i);
	for (int i = 0; i < plan.n_producers; i++) {
		pthread_join(threads[i], NULL);
		outcome.produced += produced[i];
	}
	outcome.seconds = now() - start;
	outcome.writer_cpu = thread_cpu("ktr-writer");
	return write(report, &outcome, sizeof(outcome)) != sizeof(outcome);
}

static uint64_t after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* What the trace's last line of info.jsonl says, and how large its streams are. */
static void read_trace(struct outcome *outcome)
{
	char path[400], text[4096];
	const struct dirent *entry;
	struct stat st;
	DIR *dir;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/ktr/info.jsonl", plan.trace);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	outcome->written = after(text, "\"events\":");
	outcome->lost = after(text, "\"lost\":");
	dir = opendir(plan.trace);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", plan.trace, entry->d_name);
		if (strncmp(entry->d_name, "cpu_", 4) == 0 && stat(path, &st) == 0)
			outcome->bytes += (uint64_t)st.st_size;
	}
	if (dir)
		closedir(dir);
}

static void remove_trace(void)
{
	char command[400];

	snprintf(command, sizeof(command), "rm -rf '%s'", plan.trace);
	if (system(command))
		perror(plan.trace);
}

/* Runs a child of this program at plan.rate and prints a row. */
static struct outcome run(char *self)
{
	struct outcome outcome = { 0 };
	char fd[16], rate[32], seconds[32], producers[16];
	int ends[2], status;
	pid_t pid;

	remove_trace();
	if (pipe(ends))
		exit(1);
	snprintf(fd, sizeof(fd), "%d", ends[1]);
	snprintf(rate, sizeof(rate), "%.9g", plan.rate);
	snprintf(seconds, sizeof(seconds), "%g", plan.seconds);
	snprintf(producers, sizeof(producers), "%d", plan.n_producers);
	pid = fork();
	if (pid == 0) {
		setenv("KTR_FILE", plan.trace, 1);
		setenv("KTR_MASK", "gen", 1);
		setenv("KTR_ENTRIES", plan.entries, 1);
		unsetenv("KTR_DISABLE");
		execl("/proc/self/exe", self, "-c", fd, "-r", rate, "-t", seconds, "-p", producers,
		      plan.event, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	if (read(ends[0], &outcome, sizeof(outcome)) != sizeof(outcome))
		fprintf(stderr, "the child said nothing\n");
	close(ends[0]);
	waitpid(pid, &status, 0);
	read_trace(&outcome);
	printf("%-6s %8.1f %8.2f %10llu %7.1f %8.1f %9s%s\n", plan.event,
	       plan.rate * plan.n_producers, (double)outcome.produced / outcome.seconds * 1e-6,
	       (unsigned long long)outcome.lost,
	       (double)outcome.bytes / (double)(outcome.written ? outcome.written : 1),
	       outcome.writer_cpu / outcome.seconds * 100, plan.entries,
	       outcome.written + outcome.lost < outcome.produced ? "  MISSING" : "");
	fflush(stdout);
	remove_trace();
	return outcome;
}

static void search(char *self)
{
	double low = 0, high = 0;

	for (plan.rate = 5; plan.rate <= 320 && !high; plan.rate *= 2) {
		struct outcome outcome = run(self);
		int kept_up = (double)outcome.produced / outcome.seconds * 1e-6 >=
			      0.98 * plan.rate * plan.n_producers;

		if (outcome.lost || !kept_up)
			high = plan.rate;
		else
			low = plan.rate;
	}
	while (high - low > 0.05 * high) {
		plan.rate = (low + high) / 2;
		if (run(self).lost)
			high = plan.rate;
		else
			low = plan.rate;
	}
	printf("%-6s lossless up to %.1f million events/s\n\n", plan.event, low * plan.n_producers);
}

int main(int argc, char **argv)
{
	static const char *const all[] = { "ctr0", "ctr2", "ctr6", "str16" };
	int option, report = -1, one = 0, n;

	plan = (struct plan){ "ctr2", "/tmp/bench_paced.out", "65536", 5, 0, 1 };
	while ((option = getopt(argc, argv, "t:e:o:p:r:c:")) > 0)
		switch (option) {
		case 't':
			plan.seconds = strtod(optarg, NULL);
			break;
		case 'e':
			plan.entries = optarg;
			break;
		case 'o':
			plan.trace = optarg;
			break;
		case 'p':
			plan.n_producers = atoi(optarg) < 64 ? atoi(optarg) : 64;
			break;
		case 'r':
			plan.rate = strtod(optarg, NULL);
			one = 1;
			break;
		case 'c':
			report = atoi(optarg);
			break;
		default:
			return 2;
		}
	if (report >= 0) {
		plan.event = argv[optind];
		return child(report);
	}
	printf("%-6s %8s %8s %10s %7s %8s %9s\n", "event", "asked", "made", "lost", "bytes",
	       "writer%", "entries");
	n = optind < argc ? argc - optind : 4;
	for (int i = 0; i < n; i++) {
		plan.event = optind < argc ? argv[optind + i] : all[i];
		if (one)
			run(argv[0]);
		else
			search(argv[0]);
	}
	return 0;
}
