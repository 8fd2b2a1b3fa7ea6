/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the commands of ktr take for a trace, each beside what is asked of it.
 *
 *	commands KTR TRACE [WORDS]
 *
 * With WORDS only lines that have them.
 *
 * Every line is a command as a user types it, a process of its own whose output goes to /dev/null or into
 * a picture. What reads is given as events per second of CPU time, start and printing included, and of the
 * kernel's time too: other load disturbs that little. What can be shared by threads is given twice: of one, and of
 * two, by the time that passes; the limit holds if one of them does. Limits are parts of the rate of a bare walk
 * over the packets in this process, which is measured first; in brackets stands what that is where the walk does
 * 150 million. What draws or sums up is given as the time that passes until it is there, of which two
 * traces may take twice as much; beside it stands the CPU time of all its processes. Of a few runs the best counts.
 * Memory is the most that any of the command's processes had.
 *
 * The limits are for 50 million events: with fewer they are easier to hold, and it is said so.
 */
#include "analyze/stats/tally.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS	    3
#define ARGS	    16
#define JSON_EVENTS 5000000u /* enough: JSON takes long */
#define ENOUGH	    50000000u
#define WALK_USUAL  150.0 /* [million/s] */
#define READ_MIB    64.0 /* what a command that reads may take */
#define DRAW_MIB    256.0
#define DRAW_S	    4.0 /* of one trace */

/* The trace, and words of it for the commands. */
struct subject {
	const char *ktr, *trace, *picture;
	const char *only; /* lines that have it; NULL: all */
	uint64_t n_events;
	uint64_t n_window; /* between from and to */
	char from[32], to[32];
	char site[256], arg[64]; /* the busiest with a number, and that */
	char head[24];
	char sql_window[128];
	double walk; /* [million/s] events of a bare walk over the packets */
	unsigned n_missed, n_asked;
	int failed;
};

struct cost {
	double passed, cpu; /* [s] */
	double mib;
};

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

static double now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/*
 * An answer, and no failure: that something differs, or that it cannot be told (ktr-diff(1)). A trace beside itself
 * is one that answers so.
 */
static int is_answer(char *const *argv, int status)
{
	return status == 0 || (strcmp(argv[1], "diff") == 0 && (status == 1 || status == 3));
}

/* Runs it once. 0, or its exit status. */
static int run_once(char *const *argv, struct cost *cost)
{
	double begin = now(CLOCK_MONOTONIC);
	struct rusage usage;
	int status, null;
	pid_t pid = fork();

	if (pid == 0) {
		null = open("/dev/null", O_WRONLY);
		dup2(null, STDOUT_FILENO);
		execv(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return 126;
	cost->passed = now(CLOCK_MONOTONIC) - begin;
	cost->cpu = seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
	cost->mib = (double)usage.ru_maxrss / 1024;
	if (!WIFEXITED(status))
		return 125;
	return is_answer(argv, WEXITSTATUS(status)) ? 0 : WEXITSTATUS(status);
}

/* The least of some runs, and the most memory. 0, or 1 after a complaint. */
static int run(struct subject *s, char *const *argv, struct cost *best)
{
	struct cost cost;

	for (int i = 0; i < RUNS; i++) {
		int rc = run_once(argv, &cost);

		if (rc) {
			printf("failed with %d:", rc);
			for (int k = 0; argv[k]; k++)
				printf(" %s", argv[k]);
			putchar('\n');
			s->failed = 1;
			return 1;
		}
		if (!i)
			*best = cost;
		best->passed = cost.passed < best->passed ? cost.passed : best->passed;
		best->cpu = cost.cpu < best->cpu ? cost.cpu : best->cpu;
		best->mib = cost.mib > best->mib ? cost.mib : best->mib;
	}
	return 0;
}

/* Cuts a command line at blanks, with the words of the subject in place of those in capitals. */
static void words(const struct subject *s, const char *line, char *copy, size_t size, char **argv)
{
	const struct {
		const char *name, *value;
	} names[] = { { "TRACE", s->trace }, { "PICTURE", s->picture }, { "FROM", s->from }, { "TO", s->to },
		      { "SITE", s->site },   { "ARG", s->arg },		{ "HEAD", s->head },
		      { "SQL_WINDOW", s->sql_window },
		      { "SQL_CLASS", "SELECT class, count(*), sum(arg0), avg(arg0) FROM events GROUP BY class" },
		      { "SQL_SITE", "SELECT site, count(*), sum(arg0), avg(arg0) FROM events GROUP BY site" },
		      { "SQL_THREAD", "SELECT thread, count(*), sum(arg0), avg(arg0) FROM events GROUP BY thread" },
		      { "SQL_CPU", "SELECT cpu, count(*), sum(arg0), avg(arg0) FROM events GROUP BY cpu" } };
	unsigned n = 0;
	char *save;

	snprintf(copy, size, "%s", line);
	argv[n++] = (char *)(uintptr_t)s->ktr;
	for (char *word = strtok_r(copy, " ", &save); word && n < ARGS - 1; word = strtok_r(NULL, " ", &save)) {
		argv[n] = word;
		for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (strcmp(word, names[i].name) == 0)
				argv[n] = (char *)(uintptr_t)names[i].value;
		n++;
	}
	argv[n] = NULL;
}

static const char *verdict(struct subject *s, int holds)
{
	s->n_missed += !holds;
	return holds ? "holds" : "MISSED";
}

/* One line of it, of so much time. is_last: the limit has not held before. Does it now? */
static int reads_in(struct subject *s, const char *line, uint64_t n, double limit, const struct cost *cost,
		    double took, int is_last)
{
	double rate = (double)n / 1e6 / (took > 1e-3 ? took : 1e-3);
	int holds = rate >= limit * s->walk;

	printf("%7.1f M/s %6.3f walk  at least %5.3f (%4.1f) %-6s %5.1f MiB  at most %3.0f  %-6s  %s\n", rate,
	       rate / s->walk, limit, limit * WALK_USUAL, is_last ? verdict(s, holds) : holds ? "holds" : "below",
	       cost->mib, READ_MIB, verdict(s, cost->mib <= READ_MIB), line);
	fflush(stdout);
	return holds;
}

static int is_asked(struct subject *s, const char *line)
{
	int is = !s->only || strstr(line, s->only);

	s->n_asked += (unsigned)is;
	return is;
}

/* A command that reads n events, and what part of the walk's rate is asked for. */
static void reads(struct subject *s, const char *line, uint64_t n, double limit)
{
	char copy[256], *argv[ARGS];
	struct cost cost;

	words(s, line, copy, sizeof(copy), argv);
	if (is_asked(s, line) && !run(s, argv, &cost))
		reads_in(s, line, n, limit, &cost, cost.cpu, 1);
}

/* The same by one thread and by two. The line has -j in it, and J for how many. */
static void reads_shared(struct subject *s, const char *line, uint64_t n, double limit)
{
	int holds = 0;

	for (char j = '1'; j <= '2' && is_asked(s, line); j++) {
		char copy[256], as_typed[256], *argv[ARGS];
		struct cost cost;

		snprintf(as_typed, sizeof(as_typed), "%s", line);
		*strchr(as_typed, 'J') = j;
		words(s, as_typed, copy, sizeof(copy), argv);
		if (run(s, argv, &cost))
			return;
		holds |= reads_in(s, as_typed, n, limit, &cost, j == '1' ? cost.cpu : cost.passed,
				  j == '2' && !holds);
	}
}

/* A command that takes so long at most, whatever it does meanwhile. */
static void takes(struct subject *s, const char *line, double most_s, double most_mib)
{
	char copy[256], *argv[ARGS];
	struct cost cost;

	words(s, line, copy, sizeof(copy), argv);
	if (!is_asked(s, line) || run(s, argv, &cost))
		return;
	printf("%7.2f s    at most %5.0f  %-6s %5.1f MiB  at most %3.0f  %-6s  %s (CPU %.2f s)\n", cost.passed,
	       most_s, verdict(s, cost.passed <= most_s), cost.mib, most_mib, verdict(s, cost.mib <= most_mib),
	       line, cost.cpu);
	fflush(stdout);
}

static int is_number(enum ktr_arg_type type)
{
	return type != KTR_ARG_STR && type != KTR_ARG_STACK && type != KTR_ARG_NONE && type != KTR_ARG_PTR;
}

/* The busiest site that has a number under a name that is one word. */
static void choose_site(struct subject *s, struct ktr_reader *reader, const struct ktr__tally *tally)
{
	uint64_t most = 0;

	for (unsigned id = 1; id < tally->n_sites; id++) {
		const struct ktr_reader_site *site = ktr_reader_site(reader, id);

		for (unsigned i = 0; site && tally->site[id] > most && i < site->n_args; i++) {
			if (!is_number(site->arg[i].type) || strchr(site->arg[i].name, ' '))
				continue;
			most = tally->site[id];
			snprintf(s->site, sizeof(s->site), "%s", site->name);
			snprintf(s->arg, sizeof(s->arg), "%s", site->arg[i].name);
			break;
		}
	}
}

/* Looks at the trace: the middle half of its time is the window. 0, or 1 after a complaint. */
static int look(struct subject *s)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char line[KTR_ERROR_LINE_BYTES];
	const struct ktr_reader_info *info;
	struct ktr__tally *tally;
	struct ktr_sink *sink;
	struct ktr_reader *reader;
	uint64_t span;

	if (ktr_reader_open(s->trace, NULL, &reader, &err)) {
		fprintf(stderr, "commands: %s\n", ktr_error_print(&err, line, sizeof(line)));
		return 1;
	}
	info = ktr_reader_info(reader);
	span = info->last_ns - info->first_ns;
	snprintf(s->from, sizeof(s->from), "%" PRIu64 "ns", span / 4);
	snprintf(s->to, sizeof(s->to), "%" PRIu64 "ns", span / 4 * 3);
	snprintf(s->sql_window, sizeof(s->sql_window),
		 "SELECT count(*) FROM events WHERE ts_ns BETWEEN %" PRIu64 " AND %" PRIu64, info->first_ns + span / 4,
		 info->first_ns + span / 4 * 3);
	if (ktr__tally_new(&tally, reader, NULL))
		return 1;
	sink = ktr__tally_sink(tally);
	if (ktr_reader_walk(reader, &sink, 1) < 0)
		return 1;
	s->n_events = tally->n_events;
	choose_site(s, reader, tally);
	ktr__tally_free(tally);
	if (ktr_reader_window(reader, info->first_ns + span / 4, info->first_ns + span / 4 * 3))
		return 1;
	while (ktr_reader_count(reader, &s->n_window) > 0)
		;
	ktr_reader_close(reader);
	return 0;
}

/* The best of some walks. 0, or 1 after a complaint. */
static int walk(struct subject *s)
{
	for (int i = 0; i < RUNS; i++) {
		struct ktr_error err = KTR_ERROR_NONE;
		struct ktr_reader *reader;
		uint64_t n = 0;
		double begin, rate;

		if (ktr_reader_open(s->trace, NULL, &reader, &err)) {
			fprintf(stderr, "commands: %s\n", err.text);
			return 1;
		}
		begin = now(CLOCK_PROCESS_CPUTIME_ID);
		while (ktr_reader_count(reader, &n) > 0)
			;
		rate = (double)n / 1e6 / (now(CLOCK_PROCESS_CPUTIME_ID) - begin);
		s->walk = rate > s->walk ? rate : s->walk;
		ktr_reader_close(reader);
	}
	return 0;
}

static void measure_reading(struct subject *s)
{
	uint64_t n_head = s->n_events < JSON_EVENTS ? s->n_events : JSON_EVENTS;

	snprintf(s->head, sizeof(s->head), "%" PRIu64, n_head);
	reads(s, "dump --count TRACE", s->n_events, 0.5);
	reads(s, "dump --count --from FROM --to TO TRACE", s->n_window, 0.5);
	reads(s, "dump --count --filter cpu==0 TRACE", s->n_events, 0.17);
	reads(s, "dump --count --filter arg0>1 TRACE", s->n_events, 0.17);
	reads(s, "dump --count --filter arg0%8==3 TRACE", s->n_events, 0.17);
	reads(s, "report TRACE", s->n_events, 0.17);
	reads_shared(s, "dump --no-pager -j J TRACE", s->n_events, 0.066);
	reads_shared(s, "json -j J --head HEAD TRACE", n_head, 0.027);
	reads_shared(s, "export csv -j J -o /dev/null TRACE", s->n_events, 0.05);
	reads_shared(s, "export perfetto -j J -o /dev/null TRACE", s->n_events, 0.053);
	reads_shared(s, "export parquet -j J -o PICTURE TRACE", s->n_events, 0.02);
	reads(s, "sql TRACE SQL_WINDOW", s->n_window, 0.27);
	reads_shared(s, "sql -j J TRACE SQL_CLASS", s->n_events, 0.04);
	reads_shared(s, "sql -j J TRACE SQL_SITE", s->n_events, 0.04);
	reads_shared(s, "sql -j J TRACE SQL_THREAD", s->n_events, 0.04);
	reads_shared(s, "sql -j J TRACE SQL_CPU", s->n_events, 0.04);
}

static void measure_sums(struct subject *s)
{
	takes(s, "report --no-pager TRACE", DRAW_S, READ_MIB);
	takes(s, "diff TRACE TRACE", 2 * DRAW_S, READ_MIB);
}

static void measure_drawing(struct subject *s)
{
	static const char *const lines[] = {
		"plot rate -o PICTURE TRACE",
		"plot latency -o PICTURE TRACE",
		"plot heatmap -o PICTURE TRACE",
		"plot load -o PICTURE TRACE",
		"plot states -o PICTURE TRACE",
		"plot counters -o PICTURE TRACE",
		"plot gaps -o PICTURE TRACE",
		"plot scatter --site SITE --y ARG -o PICTURE TRACE",
		"timeline -o PICTURE TRACE",
		"timeline --rows threads -o PICTURE TRACE",
		"timeline --rows cpus -o PICTURE TRACE",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		takes(s, lines[i], DRAW_S, DRAW_MIB);
	takes(s, "plot compare -o PICTURE TRACE TRACE", 2 * DRAW_S, DRAW_MIB);
}

int main(int argc, char **argv)
{
	struct subject s = { 0 };
	char picture[] = "/tmp/ktr-bench.XXXXXX.png";
	int fd;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: commands KTR TRACE [WORDS]\n");
		return 2;
	}
	s.ktr = argv[1];
	s.trace = argv[2];
	s.only = argv[3];
	if (look(&s) || walk(&s))
		return 1;
	fd = mkstemps(picture, 4);
	if (fd < 0)
		return 1;
	close(fd);
	s.picture = picture;
	printf("%" PRIu64 " events; SITE is %s, ARG %s, FROM and TO the middle half of the time\n", s.n_events, s.site,
	       s.arg);
	if (s.n_events < ENOUGH)
		printf("the limits are for %u million events: these are too few to tell\n", ENOUGH / 1000000);
	printf("a bare walk over the packets: %.1f million/s\n", s.walk);
	fflush(stdout);
	measure_reading(&s);
	measure_sums(&s);
	measure_drawing(&s);
	unlink(picture);
	if (!s.n_asked) {
		fprintf(stderr, "commands: no line has \"%s\"\n", s.only);
		return 1;
	}
	if (s.n_missed)
		printf("%u limits MISSED\n", s.n_missed);
	else
		puts(s.failed ? "a command failed: not all limits could be measured" : "all limits hold");
	return s.failed;
}
