/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the writer thread keeps up with, what it costs, and how much a trace takes.
 *
 *	paced [-t SECONDS] [-e ENTRIES] [-o TRACE] [-d TRACE] [-j JSON] [-p PRODUCERS -r RATE] [EVENT...]
 *
 * For each kind of event (ctr0, ctr2 of two ints, ctr6 of six u64, str16: a string of 16 bytes, mix: those of
 * the demo by their shares), into a trace in memory that is rotated so that it holds at most 2 GB:
 *
 *	recorder   one producer flat out, and nobody who reads: the recorder's own rate
 *	flat out   the same with the writer on
 *	reference  reference.c: a loop in the writer's place that does nothing but copy
 *	lossless   what the writer keeps up with: the rate is bisected in windows of a second, each tried TRIES
 *		   times, because other work on the machine only ever takes away; the best is then held for
 *		   SECONDS, and lowered until nothing is lost
 *	disk       last of all, to a trace on a disk, ctr2 and mix: flat out, then lossless, searched from what was
 *		   written on downwards
 *
 * Of what is kept up with LIMIT of the reference is asked, or all that one producer records where that is less
 * (beside the writer, if it lost nothing flat out), and it is said where that was missed. Then: write(2) of entries
 * as they are, in blocks and one by one; two producers flat out, with the writer on and without it by turns, TRIES
 * times; an idle program. -r sets one rate instead, in million events per second and producer, 0 meaning flat out.
 *
 * Each run is a child of this program (child.c). Printed: the rate asked for, the one produced and the one written,
 * in million events/s of all producers; events lost; bytes per event in the trace; CPU time of the writer, in per
 * cent of one CPU, and what it would write if it had all of one, which other load disturbs little; CPU time of the
 * kernel, the producers' too; faults of pages, per 1000 events; entries in each ring. Produced is written and lost,
 * exactly, or the row says so. The first producer has CPU 0, the writer the others.
 *
 * Rings, the reference's too, are of 4M entries, 256 MiB: a tenant of a shared machine is without one of its CPUs
 * now and then, long enough for a producer to go once around a smaller ring. -e sets another size.
 */
#include "paced.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIES 3
#define STEPS 7 /* of the bisection */
#define LIMIT 0.6
#define WHOLE 0.97 /* of the recorder's rate: all that it records */

static FILE *json;
static unsigned n_json, n_missed;
static struct plan plan;
static const char *disk;

static uint64_t after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* Adds the events of a trace, as its last line tells, and the bytes of its streams. */
static void add_trace(const char *trace, uint64_t *events, uint64_t *bytes)
{
	char path[400], text[4096];
	const struct dirent *entry;
	struct stat st;
	DIR *dir;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/ktr/info.jsonl", trace);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	*events += after(text, "\"events\":");
	dir = opendir(trace);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", trace, entry->d_name);
		if (strncmp(entry->d_name, "cpu_", 4) == 0 && stat(path, &st) == 0)
			*bytes += (uint64_t)st.st_size;
	}
	if (dir)
		closedir(dir);
}

/* Calls for the trace, and those that it was rotated from. */
static void each_trace(const char *trace, void (*call)(const char *, uint64_t *, uint64_t *), uint64_t sums[2])
{
	char pattern[400];
	glob_t found;

	if (glob(trace, GLOB_NOCHECK, NULL, &found))
		return;
	snprintf(pattern, sizeof(pattern), "%s.[0-9]*", trace);
	glob(pattern, GLOB_APPEND, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		call(found.gl_pathv[i], &sums[0], &sums[1]);
	globfree(&found);
}

double trace_bytes(const char *trace)
{
	uint64_t sums[2] = { 0, 0 };

	each_trace(trace, add_trace, sums);
	return (double)sums[1] / (double)(sums[0] ? sums[0] : 1);
}

static void remove_one(const char *trace, uint64_t *unused, uint64_t *unused_too)
{
	char command[500];

	(void)unused, (void)unused_too;
	snprintf(command, sizeof(command), "rm -rf '%s'", trace);
	if (system(command))
		perror(trace);
}

static void remove_traces(void)
{
	each_trace(plan.trace, remove_one, (uint64_t[2]){ 0, 0 });
}

/* The child: this program again, with its writer on, or with rings that nobody drains. */
static void become(char *self, int report, int writer)
{
	char fd[16], rate[32], seconds[32], producers[16], removed[16], bytes[32], keep[16];

	snprintf(fd, sizeof(fd), "%d", report);
	snprintf(rate, sizeof(rate), "%.9g", plan.rate);
	snprintf(seconds, sizeof(seconds), "%g", plan.seconds);
	snprintf(producers, sizeof(producers), "%d", plan.n_producers);
	snprintf(removed, sizeof(removed), "%d", writer && plan.n_producers && plan.trace != disk ? REMOVED : 0);
	snprintf(bytes, sizeof(bytes), "%llu", ROTATE_BYTES);
	snprintf(keep, sizeof(keep), "%d", ROTATE_KEEP);
	unsetenv("KTR_FILE");
	if (writer)
		setenv("KTR_FILE", plan.trace, 1);
	setenv("KTR_MASK", "gen", 1);
	setenv("KTR_ENTRIES", plan.entries, 1);
	setenv("KTR_ROTATE_SIZE", bytes, 1);
	setenv("KTR_ROTATE_KEEP", keep, 1);
	unsetenv("KTR_DISABLE");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (plan.n_producers == 1)
		stay_on(-1); /* the writer begins before main */
	execl("/proc/self/exe", self, "-c", fd, "-r", rate, "-t", seconds, "-p", producers, "-w", removed,
	      plan.event, (char *)NULL);
	_exit(127);
}

static double per_us(uint64_t n, const struct outcome *outcome)
{
	return (double)n / (outcome->seconds > 0 ? outcome->seconds : 1) * 1e-6;
}

static void print(const char *name, const struct outcome *outcome, int writer)
{
	double s = outcome->seconds > 0 ? outcome->seconds : 1;
	double made = per_us(outcome->produced, outcome), written = per_us(outcome->written, outcome);
	double cpu = outcome->writer_cpu / s * 100, kernel = outcome->kernel_cpu / s * 100;
	double faults = (double)outcome->faults / (double)(outcome->produced ? outcome->produced : 1) * 1000;
	double per_cpu = cpu > 0.1 ? written / cpu * 100 : 0;
	int exact = !writer || outcome->written + outcome->lost == outcome->produced;

	printf("%-9s %5.1f s %8.1f %8.2f %8.2f %10llu %7.1f %8.2f %8.2f %8.2f %7.3f %9s%s\n", name, outcome->seconds,
	       plan.rate * plan.n_producers, made, written, (unsigned long long)outcome->lost, outcome->bytes,
	       cpu, per_cpu, kernel, faults, plan.entries, exact ? "" : "  MISCOUNTED");
	fflush(stdout);
	if (json)
		fprintf(json,
			"%s\n {\"name\":\"%s\",\"event\":\"%s\",\"producers\":%d,\"entries\":\"%s\","
			"\"seconds\":%.3f,"
			"\"asked_per_s\":%.0f,\"made_per_s\":%.0f,\"written_per_s\":%.0f,\"lost\":%llu,"
			"\"bytes_per_event\":%.2f,\"writer_cpu_percent\":%.3f,\"kernel_cpu_percent\":%.3f,"
			"\"faults\":%llu,\"exact\":%s}",
			n_json++ ? "," : "[", name, plan.event, plan.n_producers, plan.entries,
			outcome->seconds, plan.rate * plan.n_producers * 1e6, made * 1e6, written * 1e6,
			(unsigned long long)outcome->lost, outcome->bytes, cpu, kernel,
			(unsigned long long)outcome->faults, exact ? "true" : "false");
}

/* As many as KTR_ENTRIES says: 65536, 64K, 4M. */
static uint64_t n_entries(void)
{
	char *unit;
	uint64_t n = strtoull(plan.entries, &unit, 10);

	return *unit == 'M' ? n << 20 : *unit == 'K' ? n << 10 : n;
}

/* Runs a child at plan.rate. */
static struct outcome run(char *self, int writer)
{
	struct outcome outcome = { 0 };
	int ends[2], status;
	pid_t pid;

	remove_traces();
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
		outcome.bytes = trace_bytes(plan.trace);
	remove_traces();
	return outcome;
}

/* Was nothing lost at this rate, and the rate kept, in one of so many tries? The most that was written, too. */
static int lossless(char *self, int tries, struct outcome *outcome, double *most)
{
	while (tries--) {
		*outcome = run(self, 1);
		if (!outcome->lost && per_us(outcome->produced, outcome) >= WHOLE * plan.rate)
			return 1;
		if (per_us(outcome->written, outcome) > *most)
			*most = per_us(outcome->written, outcome);
	}
	return 0;
}

/* From a rate that was too high to the next one to try: by a step, or to what was written, but not too far. */
static double lower(double rate, double most)
{
	double step = 0.97 * rate, far = 0.8 * rate;

	return most > step ? step : most < far ? far : most;
}

/* The rate that is kept up with, at most `high`, and the row of it. */
static double search(char *self, const char *name, double high)
{
	double low = 0, seconds = plan.seconds, most = 0;
	struct outcome outcome = { 0 };

	plan.seconds = seconds < 1 ? seconds : 1;
	plan.rate = high;
	for (int i = 0; i < STEPS && high - low > high / 100; i++) {
		if (lossless(self, TRIES, &outcome, &most))
			low = plan.rate;
		else
			high = plan.rate;
		plan.rate = (low + high) / 2;
	}
	plan.seconds = seconds;
	for (plan.rate = low; plan.rate > 1; plan.rate = lower(plan.rate, most)) {
		most = 0;
		if (lossless(self, TRIES, &outcome, &most))
			break;
	}
	print(name, &outcome, 1);
	return per_us(outcome.written, &outcome);
}

static void add(struct outcome *sum, const struct outcome *outcome)
{
	sum->seconds += outcome->seconds;
	sum->produced += outcome->produced;
	sum->written += outcome->written;
	sum->lost += outcome->lost;
	sum->writer_cpu += outcome->writer_cpu;
	sum->kernel_cpu += outcome->kernel_cpu;
	sum->faults += outcome->faults;
	sum->bytes = outcome->bytes;
}

/* With the writer and without it by turns: what other work takes away in a while is to meet both. */
static void flat_out(char *self, struct outcome *with, struct outcome *alone)
{
	struct outcome one;

	plan.rate = 0;
	for (int i = 0; i < TRIES; i++) {
		one = run(self, 1);
		add(with, &one);
		one = run(self, 0);
		add(alone, &one);
	}
}

static void one_event(char *self)
{
	struct outcome with = { 0 }, alone = { 0 }, copied;
	double seconds = plan.seconds, kept, best, own, whole;
	int missed;

	printf("%s\n", plan.event);
	plan.seconds = seconds < 2 ? seconds : 2;
	flat_out(self, &with, &alone);
	own = per_us(alone.produced, &alone);
	whole = with.lost ? own : per_us(with.produced, &with);
	print("recorder", &alone, 0);
	print("flat out", &with, 1);
	copied = reference(plan.trace, with.bytes, n_entries(), seconds < 3 ? seconds : 3);
	best = per_us(copied.written, &copied);
	print("reference", &copied, 0);
	plan.seconds = seconds;
	kept = search(self, "lossless", own);
	missed = kept < LIMIT * best && kept < WHOLE * whole;
	printf("          %.2f of the reference (%.2f is asked)%s, %.2f of the recorder\n", kept / best, LIMIT,
	       missed ? ": MISSED" : kept < LIMIT * best ? ", which one producer does not reach" : "", kept / own);
	n_missed += missed;
}

static void to_disk(char *self)
{
	const char *trace = plan.trace;
	struct outcome outcome;

	printf("%s, to a disk\n", plan.event);
	plan.trace = disk;
	plan.rate = 0;
	outcome = run(self, 1);
	print("flat out", &outcome, 1);
	search(self, "disk", per_us(outcome.written, &outcome));
	plan.trace = trace;
}

static void two_producers(char *self)
{
	struct outcome with = { 0 }, alone = { 0 };

	plan.n_producers = 2;
	flat_out(self, &with, &alone);
	print("recorder", &alone, 0);
	print("flat out", &with, 1);
	printf("          producers run at %.2f of their rate alone; the writer has %.2f of the CPUs\n",
	       per_us(with.produced, &with) / per_us(alone.produced, &alone),
	       with.writer_cpu / with.seconds / (double)sysconf(_SC_NPROCESSORS_ONLN));
	plan.n_producers = 1;
}

/* write(2) of entries of 64 bytes as they are, so many at a time. */
static void raw(unsigned n_block)
{
	static const char *const names[] = { "raw", "raw block" };
	static struct {
		uint64_t word[8];
	} entry[1024];
	struct outcome outcome = { 0 };
	int fd = open(plan.trace, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	double start = now();

	for (outcome.produced = 0; now() < start + 1; outcome.produced += n_block) {
		for (unsigned i = 0; i < n_block; i++)
			entry[i].word[0] = outcome.produced + i;
		if (write(fd, entry, n_block * sizeof(*entry)) < 0)
			break;
	}
	outcome.seconds = now() - start;
	outcome.writer_cpu = outcome.seconds;
	outcome.written = outcome.produced;
	outcome.bytes = sizeof(*entry);
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

static void rest(char *self)
{
	plan.event = "ctr2";
	printf("write(2) of entries, one at a time and 1024\n");
	raw(1);
	raw(1024);
	printf("ctr2, 2 producers\n");
	two_producers(self);
	printf("no event\n");
	idle(self);
	plan.n_producers = 1;
}

static void measure(char *self, int argc, char **argv)
{
	static const char *const all[] = { "ctr0", "ctr2", "ctr6", "str16", "mix" };
	int n = argc ? argc : (int)(sizeof(all) / sizeof(all[0]));

	printf("%-9s %7s %8s %8s %8s %10s %7s %8s %8s %8s %7s %9s\n", "", "", "asked", "made", "written", "lost",
	       "bytes", "writer%", "at 100%", "kernel%", "faults", "entries");
	for (int i = 0; i < n; i++) {
		plan.event = argc ? argv[i] : all[i];
		one_event(self);
	}
	if (!argc)
		rest(self);
	for (int i = 0; disk && i < n; i++) {
		plan.event = argc ? argv[i] : all[i];
		if (strcmp(plan.event, "ctr2") == 0 || strcmp(plan.event, "mix") == 0)
			to_disk(self);
	}
}

int main(int argc, char **argv)
{
	int option, report = -1, one = 0;
	struct outcome outcome;

	plan = (struct plan){ "ctr2", "/dev/shm/ktr-bench.out", "4M", 10, 0, 1, 0 };
	while ((option = getopt(argc, argv, "t:e:o:d:p:r:c:j:w:")) > 0)
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
		case 'd':
			disk = optarg;
			break;
		case 'p':
			plan.n_producers = atoi(optarg) < 64 ? atoi(optarg) : 64;
			break;
		case 'r':
			plan.rate = strtod(optarg, NULL);
			one = 1;
			break;
		case 'w':
			plan.n_removed = (unsigned)atoi(optarg);
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
		return child(&plan, report);
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
