/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * indexer: a parallel full-text indexer, and the program that `make demo` runs traced. For every
 * word it finds the files below some directories that hold it. One scanner thread walks the
 * directories (kernel_events.c), a few workers read files and cut them into words (kernel_events.c) and merge what
 * they found into an index of shards with a lock each (shard.c), which a flusher thread writes to
 * disk meanwhile (shard.c). The work is uneven: a few big files lie among thousands of small ones.
 *
 * THE QUESTION. With -o the last worker stalls. It reads a few dozen big files while the others do
 * thousands of small ones, and when these have finished it goes on alone for as long again, with
 * both CPUs nearly idle. It does not lack work, and the disk is not slow. What does it wait for?
 *
 * WHAT THE TRACE ANSWERS.
 * - The timeline: that worker's row is in state "waiting for lock" most of the time, for tens of
 *   milliseconds at a stretch, always with shard:7. No other row looks like that.
 * - The latency of the spans "lock wait" (only waits are recorded, not every lock): the median is
 *   about a millisecond or less, p99 is 30 to 200 times that. The long ones have shard:7 and
 *   holder:"flusher".
 * - The row "shard 7" shows who has that lock: nearly always the flusher. Its own row shows what it
 *   does with it: "sorting", "writing", "fsync".
 * So: all big files go to shard 7 (a well-meant rule, small files never wait for them), each piece
 * of a big file is followed by a checkpoint of that shard, and flush_shard() in shard.c keeps the
 * lock until the checkpoint is on disk. The worker comes with its next piece a few milliseconds
 * later and waits out the rest.
 *
 * THE CURE is an unlock in another place; -u does it. The same run then shows no such waits and
 * is done in about half to two thirds of the time.
 */
#include "indexer.h"

#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

KTR_CLASS_DEFINE(index, "words going into the index");

enum {
	MAX_WORKERS = 64,
	MAX_LOOK_UPS = 64
};

struct options options = { .n_workers = 4, .depth = 64, .n_rounds = 1 };
atomic_bool stop_asked;
_Thread_local const char *me = "main";

static struct worker workers[MAX_WORKERS];
static char *look_ups[MAX_LOOK_UPS];
static unsigned n_look_ups;

static const char help[] =
	"  indexer /usr/include                         read all text files, print totals\n"
	"  indexer -s mutex -s futex /usr/include       which files hold these words?\n"
	"  indexer -j 8 -o /tmp/index /usr/share/doc    keep the index: /tmp/index/shard.*\n"
	"\n"
	"Usage: indexer [-u] [-j WORKERS] [-q DEPTH] [-o INDEX] [-n ROUNDS] [-s WORD]... DIR...\n"
	"  -j WORKERS  threads that read files (4)\n"
	"  -q DEPTH    files that may wait for a worker, small and big ones each (64)\n"
	"  -o INDEX    write the index into this directory, while it grows and at the end\n"
	"  -n ROUNDS   index everything so often, each time anew; 0: until interrupted (1)\n"
	"  -s WORD     at the end print the files that hold WORD\n"
	"  -u          do not keep a shard's lock while its checkpoint is written\n"
	"  -h, --help  print this\n"
	"Exit status: 0; 1 if something could not be read or written, a word was not found or the\n"
	"last round was interrupted; 2 if the command line is wrong.\n";

void *need(void *p)
{
	if (!p)
		errx(1, "out of memory");
	return p;
}

void thread_name(const char *name)
{
	me = name;
	pthread_setname_np(pthread_self(), name);
}

static unsigned number(int option, const char *text, unsigned min, unsigned max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (end == text || *end || *text == '-' || n < min || n > max)
		errx(2, "-%c %s: not a number from %u to %u", option, text, min, max);
	return (unsigned)n;
}

static void parse_options(int argc, char **argv)
{
	int c;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		exit(fputs(help, stdout) < 0);
	while ((c = getopt(argc, argv, "uhj:q:o:n:s:")) != -1) {
		if (c == 'j')
			options.n_workers = number(c, optarg, 1, MAX_WORKERS);
		else if (c == 'q')
			options.depth = number(c, optarg, 1, 1 << 20);
		else if (c == 'o')
			options.index_dir = optarg;
		else if (c == 'n')
			options.n_rounds = number(c, optarg, 0, 1000000000);
		else if (c == 's' && n_look_ups < MAX_LOOK_UPS)
			look_ups[n_look_ups++] = optarg;
		else if (c == 'u')
			options.unlock_early = true;
		else if (c == 'h')
			exit(fputs(help, stdout) < 0);
		else if (c == 's')
			errx(2, "-s %s: only %d words can be looked up", optarg, MAX_LOOK_UPS);
		else
			errx(2, "try --help");
	}
	if (optind == argc)
		errx(2, "no directory given, try --help");
	options.roots = argv + optind;
}

static void on_signal(int sig)
{
	(void)sig;
	stop_asked = true;
}

static pthread_t start(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, run, arg);
	if (errno)
		err(1, "cannot start a thread");
	return thread;
}

/* What the shards' numbers mean: INDEX/files names one file per line, the first is number 0. */
static bool write_paths(void)
{
	char name[4096];
	FILE *f;
	bool good;

	snprintf(name, sizeof(name), "%s/files", options.index_dir);
	f = fopen(name, "we");
	for (uint32_t i = 0; f && i < paths.n; i++)
		fprintf(f, "%s\n", paths.path[i]);
	good = f && !ferror(f) && !fflush(f) && !fsync(fileno(f));
	if (!good)
		warn("%s", name);
	if (f)
		fclose(f);
	return good;
}

/* Runs all threads to their ends; returns how many things went wrong. */
static uint64_t run_threads(void)
{
	pthread_t scanner, flusher = 0, thread[MAX_WORKERS];
	uint64_t n_errors = 0;
	bool failed = false;

	if (options.index_dir)
		flusher = start(shard_flusher, &failed);
	for (unsigned i = 0; i < options.n_workers; i++) {
		snprintf(workers[i].name, sizeof(workers[i].name), "worker %u", i);
		workers[i].takes_big = i == options.n_workers - 1;
		thread[i] = start(feed_worker, &workers[i]);
	}
	scanner = start(feed_scanner, &n_errors);
	pthread_join(scanner, NULL);
	for (unsigned i = 0; i < options.n_workers; i++) {
		pthread_join(thread[i], NULL);
		n_errors += workers[i].n_failed;
	}
	if (options.index_dir) {
		shard_ask(SHARD_QUIT);
		pthread_join(flusher, NULL);
		failed = failed || !write_paths();
	}
	return n_errors + failed;
}

static void print_totals(double seconds)
{
	struct worker all = { 0 };

	for (const struct worker *w = workers; w < workers + options.n_workers; w++) {
		printf("%s: %ju files, %ju of them big, %.1f MB\n", w->name, (uintmax_t)w->n_files,
		       (uintmax_t)w->n_big, (double)w->n_bytes / 1e6);
		all.n_files += w->n_files;
		all.n_binary += w->n_binary;
		all.n_words += w->n_words;
		all.n_bytes += w->n_bytes;
	}
	printf("%s%ju files (and %ju binary ones left out), %.1f MB, %ju words in %.2f s\n",
	       stop_asked ? "interrupted: " : "", (uintmax_t)all.n_files, (uintmax_t)all.n_binary,
	       (double)all.n_bytes / 1e6, (uintmax_t)all.n_words, seconds);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct timespec t0, t1;
	uint64_t n_errors;

	parse_options(argc, argv);
	feed_init();
	if (options.index_dir && mkdir(options.index_dir, 0777) && errno != EEXIST)
		err(1, "%s", options.index_dir);
	for (unsigned i = 0; i < n_look_ups; i++)
		if (!feed_fold(look_ups[i]))
			errx(2, "-s %s: not a word of %d to %d letters, digits and _", look_ups[i],
			     WORD_MIN, WORD_MAX);
	shard_init();
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	CTR3(KTR_GEN, "indexing starts: %u workers, queue of %u, %u rounds", options.n_workers,
	     options.depth, options.n_rounds);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	n_errors = run_threads();
	clock_gettime(CLOCK_MONOTONIC, &t1);
	print_totals((double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9);
	for (unsigned i = 0; i < n_look_ups; i++) {
		uint32_t n = shard_look_up(look_ups[i]);

		printf("%s: in %u files\n", look_ups[i], n);
		n_errors += n == 0;
	}
	if (fflush(stdout)) {
		warn("standard output");
		n_errors++;
	}
	CTR1(KTR_GEN, "indexing ends, %ju errors", (uintmax_t)n_errors);
	return n_errors || (stop_asked && options.n_rounds);
}
