/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the writer thread keeps up with, what it costs, and how much a trace takes.
 *
 *	paced [-t SECONDS] [-e ENTRIES] [-o TRACE] [-j JSON] [-p PRODUCERS -r RATE] [EVENT...]
 *
 * For each kind of event (ctr0, ctr2 of two ints, ctr6 of six u64, mix: those of the demo by their
 * shares) a child of this program is started with its writer on, and a producer records at a given rate:
 * a hundred events at a time, then waiting on the clock for its next turn. The rate is bisected in windows
 * of a second, each tried TRIES times, because other work on the machine only ever takes away; the best
 * is then held for SECONDS, and lowered until nothing is lost. Last: write(2) of entries as they are, in
 * blocks and one by one; one producer flat out, and two, with the writer on and without it by turns, TRIES
 * times; and an idle program. -r sets one rate instead, in million events per second and producer, 0
 * meaning flat out.
 *
 * Printed: the rate asked for, the one produced and the one written, in million events/s of all
 * producers; events lost; bytes per event in the trace; CPU time of the writer, in per cent of one CPU;
 * entries in each ring. Produced is written and lost, exactly, or the row says so. With one producer the
 * producer has CPU 0 and the writer the others.
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

#define TURN  100u /* events between two looks at the clock */
#define TRIES 3
#define STEPS 7 /* of the bisection */

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

static FILE *json;
static unsigned n_json;

static struct plan plan;
static volatile uint64_t produced[64];
static double producer_cpu[64]; /* [s] */

static double clock_s(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double now(void)
{
	return clock_s(CLOCK_MONOTONIC);
}

static void turn(uint64_t from)
{
	static const char text[] = "sixteen letters.";

	switch (plan.event[2] == 'x' ? 'x' : plan.event[3]) {
	case '0':
		for (unsigned i = 0; i < TURN; i++)
			CTR0(KTR_GEN, "nothing");
		break;
	case '2':
		for (unsigned i = 0; i < TURN; i++)
			CTR2(KTR_GEN, "%d and %d", (int)(from + i), (int)i);
		break;
	case 'x':
		/* Of a hundred events of the demo 40 are spans, 30 queue states, 20 counters, 10 have a name. */
		for (unsigned i = 0; i < TURN / 10; i++) {
			CTR1(KTR_GEN, "begin %d", (int)i);
			CTR1(KTR_GEN, "begun %d", (int)i);
			CTR1(KTR_GEN, "end %d", (int)i);
			CTR2(KTR_GEN, "ended %d %lu", (int)i, from);
			CTR2(KTR_GEN, "state %d %p", (int)i, text);
			CTR2(KTR_GEN, "state %d of %p", (int)i, text);
			CTR0(KTR_GEN, "empty");
			CTR3(KTR_GEN, "count %d %lu %lu", (int)i, from, from);
			CTR1(KTR_GEN, "bytes %lu", from);
			CTR2(KTR_GEN, "file %s %d", text, (int)i);
		}
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
	producer_cpu[me] = clock_s(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

/* CPU time of all threads but this one and the producers, in seconds: the writer, and what it leaves to others. */
static double writer_cpu(void)
{
	double seconds = clock_s(CLOCK_PROCESS_CPUTIME_ID) - clock_s(CLOCK_THREAD_CPUTIME_ID);

	for (long i = 0; i < plan.n_producers; i++)
		seconds -= producer_cpu[i];
	return seconds;
}

/* In the child: produces and tells the parent. The writer's last work comes after main. */
static int child(int report)
{
	pthread_t threads[64];
	struct outcome outcome = { 0 };
	double start = now(), begun = 0;

	if (!plan.n_producers) { /* the cost of starting is none of an idle session */
		usleep(500000);
		start = now();
		begun = writer_cpu();
		usleep((useconds_t)(plan.seconds * 1e6));
	}
	for (long i = 0; i < plan.n_producers; i++)
		pthread_create(&threads[i], NULL, produce, (void *)i);
	for (int i = 0; i < plan.n_producers; i++) {
		pthread_join(threads[i], NULL);
		outcome.produced += produced[i];
	}
	outcome.seconds = now() - start;
	outcome.writer_cpu = writer_cpu() - begun;
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

/* The child: this program again, with its writer on, or with rings that nobody drains. */
static void become(char *self, int report, int writer)
{
	char fd[16], rate[32], seconds[32], producers[16];

	snprintf(fd, sizeof(fd), "%d", report);
	snprintf(rate, sizeof(rate), "%.9g", plan.rate);
	snprintf(seconds, sizeof(seconds), "%g", plan.seconds);
	snprintf(producers, sizeof(producers), "%d", plan.n_producers);
	unsetenv("KTR_FILE");
	if (writer)
		setenv("KTR_FILE", plan.trace, 1);
	setenv("KTR_MASK", "gen", 1);
	setenv("KTR_ENTRIES", plan.entries, 1);
	setenv("KTR_ROTATE_SIZE", "0", 1);
	unsetenv("KTR_DISABLE");
	execl("/proc/self/exe", self, "-c", fd, "-r", rate, "-t", seconds, "-p", producers, plan.event,
	      (char *)NULL);
	_exit(127);
}

static void print(const char *name, const struct outcome *outcome, int writer)
{
	double s = outcome->seconds > 0 ? outcome->seconds : 1;
	double made = (double)outcome->produced / s * 1e-6, written = (double)outcome->written / s * 1e-6;
	double bytes = (double)outcome->bytes / (double)(outcome->written ? outcome->written : 1);
	double cpu = outcome->writer_cpu / s * 100;
	int exact = !writer || outcome->written + outcome->lost == outcome->produced;

	printf("%-9s %5.1f s %8.1f %8.2f %8.2f %10llu %7.1f %8.2f %9s%s\n", name, outcome->seconds,
	       plan.rate * plan.n_producers, made, written, (unsigned long long)outcome->lost, bytes, cpu,
	       plan.entries, exact ? "" : "  MISCOUNTED");
	fflush(stdout);
	if (json)
		fprintf(json,
			"%s\n {\"name\":\"%s\",\"event\":\"%s\",\"producers\":%d,\"entries\":\"%s\","
			"\"seconds\":%.3f,"
			"\"asked_per_s\":%.0f,\"made_per_s\":%.0f,\"written_per_s\":%.0f,\"lost\":%llu,"
			"\"bytes_per_event\":%.2f,\"writer_cpu_percent\":%.3f,\"exact\":%s}",
			n_json++ ? "," : "[", name, plan.event, plan.n_producers, plan.entries,
			outcome->seconds, plan.rate * plan.n_producers * 1e6, made * 1e6, written * 1e6,
			(unsigned long long)outcome->lost, bytes, cpu, exact ? "true" : "false");
}

/* Runs a child at plan.rate. */
static struct outcome run(char *self, int writer)
{
	struct outcome outcome = { 0 };
	int ends[2], status;
	pid_t pid;

	remove_trace();
	if (pipe(ends))
		exit(1);
	pid = fork();
	if (pid == 0)
		become(self, ends[1], writer);
	close(ends[1]);
	if (read(ends[0], &outcome, sizeof(outcome)) != sizeof(outcome))
		fprintf(stderr, "the child said nothing\n");
	close(ends[0]);
	waitpid(pid, &status, 0);
	if (writer)
		read_trace(&outcome);
	remove_trace();
	return outcome;
}

static double per_us(uint64_t n, const struct outcome *outcome)
{
	return (double)n / outcome->seconds * 1e-6;
}

/* Was nothing lost at this rate, and the rate kept, in one of so many tries? The most that was written, too. */
static int lossless(char *self, int tries, struct outcome *outcome, double *most)
{
	while (tries--) {
		*outcome = run(self, 1);
		if (!outcome->lost && per_us(outcome->produced, outcome) >= 0.97 * plan.rate)
			return 1;
		if (per_us(outcome->written, outcome) > *most)
			*most = per_us(outcome->written, outcome);
	}
	return 0;
}

/* From a rate that was too high to the next one to try: by a step, or to what was written, but not too far. */
static double lower(double rate, double most)
{
	double step = 0.93 * rate, far = 0.75 * rate;

	return most > step ? step : most < far ? far : most;
}

static void search(char *self)
{
	double low = 0, high = 100, seconds = plan.seconds, most = 0;
	struct outcome outcome = { 0 };

	plan.seconds = seconds < 1 ? seconds : 1;
	for (int i = 0; i < STEPS; i++) {
		plan.rate = (low + high) / 2;
		if (lossless(self, TRIES, &outcome, &most))
			low = plan.rate;
		else
			high = plan.rate;
	}
	plan.seconds = seconds;
	for (plan.rate = low; plan.rate > 1; plan.rate = lower(plan.rate, most)) {
		most = 0;
		if (lossless(self, TRIES, &outcome, &most))
			break;
	}
	print("lossless", &outcome, 1);
}

static void add(struct outcome *sum, const struct outcome *outcome)
{
	sum->seconds += outcome->seconds;
	sum->produced += outcome->produced;
	sum->written += outcome->written;
	sum->lost += outcome->lost;
	sum->bytes += outcome->bytes;
	sum->writer_cpu += outcome->writer_cpu;
}

/* With the writer and without it by turns: what other work takes away in a while is to meet both. */
static void flat_out(char *self, int n)
{
	struct outcome with = { 0 }, alone = { 0 }, one;
	double share, ratio;

	plan.rate = 0;
	plan.n_producers = n;
	for (int i = 0; i < TRIES; i++) {
		one = run(self, 1);
		add(&with, &one);
		one = run(self, 0);
		add(&alone, &one);
	}
	print("flat out", &with, 1);
	print("alone", &alone, 0);
	share = with.writer_cpu / with.seconds / (double)sysconf(_SC_NPROCESSORS_ONLN);
	ratio = (double)with.produced / with.seconds / ((double)alone.produced / alone.seconds);
	printf("          producers run at %.2f of their rate alone; the writer has %.2f of the CPUs\n", ratio,
	       share);
	plan.n_producers = 1;
}

/* write(2) of entries of 64 bytes as they are, so many at a time. */
static void raw(unsigned n_block)
{
	static const char *const names[] = { "raw", "raw block" };
	static struct ktr_entry entry[1024];
	struct outcome outcome = { 0 };
	int fd = open(plan.trace, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	double start = now();

	for (outcome.produced = 0; now() < start + 1; outcome.produced += n_block) {
		for (unsigned i = 0; i < n_block; i++)
			entry[i].timestamp = outcome.produced + i;
		if (write(fd, entry, n_block * sizeof(*entry)) < 0)
			break;
	}
	outcome.seconds = now() - start;
	outcome.writer_cpu = outcome.seconds;
	outcome.written = outcome.produced;
	outcome.bytes = outcome.written * sizeof(*entry);
	close(fd);
	unlink(plan.trace);
	plan.rate = 0;
	print(names[n_block > 1], &outcome, 1);
}

static void idle(char *self)
{
	struct outcome outcome;

	plan.rate = 0;
	plan.n_producers = 0;
	outcome = run(self, 1);
	print("idle", &outcome, 1);
}

static void measure(char *self, int argc, char **argv)
{
	static const char *const all[] = { "ctr0", "ctr2", "ctr6", "mix" };
	int n = argc ? argc : 4;

	printf("%-9s %7s %8s %8s %8s %10s %7s %8s %9s\n", "", "", "asked", "made", "written", "lost", "bytes",
	       "writer%", "entries");
	for (int i = 0; i < n; i++) {
		plan.event = argc ? argv[i] : all[i];
		printf("%s\n", plan.event);
		search(self);
	}
	plan.event = "ctr2";
	printf("write(2) of entries, one at a time and 1024\n");
	raw(1);
	raw(1024);
	for (int i = 1; i <= 2; i++) {
		printf("ctr2, %d producer%s flat out\n", i, i > 1 ? "s" : "");
		flat_out(self, i);
	}
	printf("no event\n");
	idle(self);
}

int main(int argc, char **argv)
{
	int option, report = -1, one = 0;
	struct outcome outcome;

	plan = (struct plan){ "ctr2", "/var/tmp/ktr-bench.out", "1M", 5, 0, 1 };
	while ((option = getopt(argc, argv, "t:e:o:p:r:c:j:")) > 0)
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
		case 'j':
			json = fopen(optarg, "we");
			if (!json) {
				perror(optarg);
				return 1;
			}
			break;
		default:
			return 2;
		}
	if (report >= 0) {
		plan.event = argv[optind];
		return child(report);
	}
	setenv("KTR_DISABLE", "1", 1);
	if (one) {
		plan.event = optind < argc ? argv[optind] : plan.event;
		outcome = run(argv[0], 1);
		print(plan.event, &outcome, 1);
	} else {
		measure(argv[0], argc - optind, argv + optind);
	}
	if (json)
		fprintf(json, "\n]\n");
	return 0;
}
