/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr lockstat: who waited for which lock, and for whom; how long locks were held. plockstat's tables, and what it
 * does not have: who waited for whom, how often a lock changed hands, and who waits for each other.
 */
#include "analyze/read/reader.h"
#include "tools/agent_run.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/lockstat/lockstat_json.h"
#include "tools/lockstat/lockstat_tables.h"
#include "tools/lockstat/lockstat_told.h"
#include "tools/walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct lockstat {
	struct walk walk;
	uint64_t top, least_ns, depth, for_ns;
	unsigned shown; /* LOCKSTAT_*; 0: all there is */
	unsigned merged;
	const char *lock, *function, *output;
	int by_count, rates, histogram, json, verbose;
};

static const struct option_row lockstat_rows[] = {
	OPTIONS_SOURCE(struct lockstat, walk.find),
	OPTION_BITS('C', "contention", struct lockstat, shown, LOCKSTAT_CONTENTION, "who waited"),
	OPTION_BITS('H', "hold", struct lockstat, shown, LOCKSTAT_HOLD, "how long locks were held"),
	OPTION_BITS('A', "all", struct lockstat, shown, LOCKSTAT_CONTENTION | LOCKSTAT_HOLD, "both"),
	OPTION_BITS('E', "errors", struct lockstat, shown, LOCKSTAT_ERRORS, "what could not be had, or given back"),
	OPTION_NUMBER('n', "top", "N", struct lockstat, top, 0, UINT32_MAX, "lines of each table, 10 by default; 0: all"),
	OPTION_TEXT('l', "lock", "NAME", struct lockstat, lock,
		    "only of locks of that name, * and ? match; or 0xADDRESS[,BYTES]"),
	OPTION_TEXT('f', "function", "NAME", struct lockstat, function, "only what is called for in such functions"),
	OPTION_TIME('d', "longer", "DURATION", struct lockstat, least_ns, 1, "1ms or 10us",
		    "only what took so long, or longer"),
	OPTION_BITS('k', "by-function", struct lockstat, merged, LOCKSTAT_BY_FUNCTION, "calls in one function together"),
	OPTION_BITS('c', "by-variable", struct lockstat, merged, LOCKSTAT_BY_VARIABLE,
		    "locks in one variable together, an array of them"),
	OPTION_BITS('w', "any-caller", struct lockstat, merged, LOCKSTAT_ANY_CALLER, "whoever calls: by lock alone"),
	OPTION_BITS('W', "any-lock", struct lockstat, merged, LOCKSTAT_ANY_LOCK, "whatever lock: by caller alone"),
	OPTION_FLAG('b', "by-count", struct lockstat, by_count,
		    "those that are most often first, not those with the most time"),
	OPTION_FLAG('R', "rates", struct lockstat, rates, "how often a second, not how often"),
	OPTION_FLAG(0, "histogram", struct lockstat, histogram, "of each line how many took how long"),
	OPTION_NUMBER(0, "depth", "N", struct lockstat, depth, 1, 127,
		      "below each line a stack of so many callers, where stacks were recorded"),
	OPTION_TIME('e', "seconds", "DURATION", struct lockstat, for_ns, 1, "10 or 500ms",
		    "with -p: attaches to the process for so long, then sums up"),
	OPTION_FLAG('v', "verbose", struct lockstat, verbose, "say when the process is attached to"),
	OPTION_FLAG('j', "json", struct lockstat, json, "as JSON, all lines unless -n"),
	OPTION_TEXT('o', "output", "FILE", struct lockstat, output, "write there"),
	OPTIONS_WINDOW(struct lockstat, walk),
	OPTION_FILTER(struct lockstat, walk.filter),
};

static const struct options lockstat_options = {
	.operands = "[TRACE | -- PROGRAM [ARGUMENTS]]",
	.about = "Sums up what threads waited for, whom they waited for, and how long locks were held, as ktr run --agent "
		 "--lock has recorded it; or runs a program so. Without either, ./ktr.out is read.",
	.examples = "ktr lockstat -A -- ./server -t 4\n"
		    "ktr run --agent --lock contention -- memcached -t 4\n"
		    "ktr lockstat -n 10\n"
		    "ktr lockstat -H -d 1ms -k        who held locks for a millisecond, by function\n"
		    "ktr lockstat -C -l 'cache_*' --histogram\n"
		    "ktr lockstat -p 4711             what the rings of a running program hold; of one that hangs, why\n"
		    "ktr lockstat -A -p 4711 -e 10    attach to it for ten seconds\n",
	OPTIONS_ROWS(lockstat_rows),
};

/* Of a process that lives they have waited until now; of a trace as far as it goes. */
static uint64_t lockstat_now(const struct lockstat *c, const struct ktr__locks *locks)
{
	struct timespec now;
	uint64_t now_ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	if (c->walk.info->kind != KTR_SOURCE_LIVE || c->walk.to || now_ns < locks->last_ns)
		return locks->last_ns;
	return now_ns;
}

static int lockstat_print(const struct lockstat *c, const struct ktr__locks *locks, FILE *to)
{
	const struct lockstat_view view = {
		.locks = locks,
		.names = &locks->names,
		.symbols = ktr__reader_symbols(c->walk.reader),
		.top = c->top != UINT64_MAX ? c->top : c->json ? 0 : 10,
		.now_ns = lockstat_now(c, locks),
		.shown = c->shown ? c->shown : LOCKSTAT_ALL,
		.merged = c->merged,
		.lock = c->lock,
		.function = c->function,
		.by_count = c->by_count,
		.rates = c->rates,
		.depth = (unsigned)c->depth,
		.histogram = c->histogram,
	};
	int rc;

	if (c->json)
		return lockstat_json(&view, to);
	rc = lockstat_tables(&view, to);

	if (view.shown & LOCKSTAT_CONTENTION)
		lockstat_tell(&view, to);
	if (rc == 0 && locks->n_unknown && view.shown & LOCKSTAT_HOLD)
		fprintf(to, "\n%" PRIu64 " release%s not seen taken: not counted as held\n", locks->n_unknown,
			locks->n_unknown == 1 ? " of a lock that was" : "s of locks that were");
	if (rc == 0 && locks->n_lost)
		fprintf(to, "\n%" PRIu64 " events are lost: as many may be missing here; what went on then is left out\n",
			locks->n_lost);
	return rc;
}

/* What a program is run for: as plockstat, who waits, if nothing is said. */
static const char *lockstat_shown(const struct lockstat *c)
{
	return (c->shown & LOCKSTAT_ALL) >= (LOCKSTAT_CONTENTION | LOCKSTAT_HOLD) ? "all" :
	       c->shown == LOCKSTAT_HOLD			  ? "hold" :
	       c->shown == LOCKSTAT_ERRORS			  ? "errors" :
	       c->shown == (LOCKSTAT_HOLD | LOCKSTAT_ERRORS)	  ? "hold,errors" :
	       c->shown == (LOCKSTAT_CONTENTION | LOCKSTAT_ERRORS) ? "contention,errors" :
								    "contention";
}

/* With stacks where they are shown. */
static const char *lockstat_kinds(const struct lockstat *c, char kinds[64])
{
	snprintf(kinds, 64, "%s%s", lockstat_shown(c), c->depth ? ",stacks" : "");
	return kinds;
}

/* As text or JSON; where there is nothing to be said of locks, that. 0 or a negative errno. */
static int lockstat_say(const struct lockstat *c, const struct ktr__locks *locks, FILE *to)
{
	char *text = NULL;
	size_t n = 0;
	FILE *all = open_memstream(&text, &n);
	int rc;

	if (!all)
		return -ENOMEM;
	rc = lockstat_print(c, locks, all);
	if (fclose(all))
		rc = -ENOMEM;
	fwrite(text, 1, rc ? 0 : n, to);
	if (!rc && !n && !locks->rows.n)
		fprintf(to, "no thread waited for a lock, nor did anything else with one that was recorded\n");
	free(text);
	return rc;
}

/* To a file, or where others go. 0 or 1 after a complaint. */
static int lockstat_write(const struct lockstat *c, const struct ktr__locks *locks)
{
	FILE *to = c->output ? fopen(c->output, "we") : stdout;
	int rc, bad;

	if (!to)
		return fail(c->walk.find.command, "%s: %s", c->output, strerror(errno));
	rc = lockstat_say(c, locks, to);
	if (rc == -ENOMEM)
		fail(c->walk.find.command, "no memory");
	bad = ferror(to);
	if (c->output && (fclose(to) || bad))
		return fail(c->walk.find.command, "%s: %s", c->output, strerror(errno));
	return rc != 0;
}

static int cmd_lockstat(int argc, char **argv)
{
	struct lockstat c = { .walk.find.command = argv[0], .top = UINT64_MAX };
	struct ktr__locks locks;
	struct agent_attached attached = { 0, 0 };
	char kinds[64];
	int rc = 0, saved;

	if (!options_parse(&lockstat_options, argc, argv, &c, &rc))
		return rc;
	if (optind < argc && optind > 1 && strcmp(argv[optind - 1], "--") == 0) {
		if (c.walk.find.pid || c.walk.find.session)
			return usage_error(argv[0], "a program, or -p or -s: one of them");
		rc = agent_run(argv[0], "--lock", lockstat_kinds(&c, kinds), argv + optind);
		optind = argc; /* the trace is ./ktr.out */
	} else if (c.for_ns) {
		if (!c.walk.find.pid || optind < argc)
			return usage_error(argv[0], "-e goes with -p alone: a program is waited for until it ends");
		rc = agent_attach(argv[0], (pid_t)c.walk.find.pid, "--lock", lockstat_kinds(&c, kinds), c.for_ns, c.verbose,
				  &attached);
		c.walk.find.pid = attached.has_trace ? 0 : c.walk.find.pid; /* likewise */
	}
	rc = rc ? rc : walk_open(&c.walk, argc, argv);
	if (rc)
		return rc;
	rc = ktr__locks_init(&locks, c.walk.reader);
	if (!rc && !locks.sites.n_probes) {
		ktr__locks_free(&locks);
		walk_close(&c.walk);
		return fail(argv[0], "%s: nothing of locks was recorded: ktr run --agent --lock contention", c.walk.path);
	}
	locks.least_ns = c.least_ns;
	locks.from_ns = attached.began_ns;
	locks.names.no_members = (c.merged & LOCKSTAT_BY_VARIABLE) != 0;
	rc = rc ? rc : walk_run(&c.walk, (struct ktr_sink *[]){ &locks.sink }, 1);
	if (rc == -ENOMEM)
		fail(argv[0], "no memory");
	rc = rc ? rc : lockstat_write(&c, &locks);
	saved = errno; /* of what could not be written */
	ktr__locks_free(&locks);
	rc = walk_close(&c.walk) | (rc != 0);
	errno = saved;
	return rc;
}

COMMAND(lockstat, "sum up waiting for locks, holding them, and who waited for whom", cmd_lockstat);
