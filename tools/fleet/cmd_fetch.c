/* SPDX-License-Identifier: BSD-2-Clause */
/* ktr fetch: a window of what was shipped, back as a trace. */
#include "tools/command.h"
#include "tools/fleet/answer_table.h"
#include "tools/fleet/cluster.h"
#include "tools/fleet/fetch_events.h"
#include "tools/fleet/fetch_skeleton.h"
#include "tools/fleet/native.h"
#include "tools/fleet/utc.h"
#include "tools/options.h"

#include <ktr/session.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FETCH_OUTPUT	"ktr.fetch"
#define FETCH_MARGIN_NS 1000000 /* around a span, at least */
#define FETCH_SHOWN	8	/* traces named when one is to be chosen */

struct fetch_command {
	struct store_options store;
	const char *host, *trace, *slowest, *from, *to, *output;
};

/* "slowest NAME": keeps the name. */
static int fetch_take_around(void *at, const char *what, const char *value, char **argv)
{
	static const char slowest[] = "slowest ";
	const size_t n = sizeof(slowest) - 1;

	if (strncmp(value, slowest, n) != 0 || !value[n])
		return usage_error(argv[0], "%s is \"slowest NAME\", not \"%s\"", what, value);
	*(const char **)at = value + n;
	return 0;
}

static const struct option_row fetch_rows[] = {
	OPTION_TEXT(0, "host", "NAME", struct fetch_command, host, "of this host"),
	OPTION_TEXT(0, "trace", "UUID", struct fetch_command, trace,
		    "of this trace, where the host has several then"),
	OPTION_TAKE(0, "around", "WHAT", struct fetch_command, slowest, fetch_take_around,
		    "around \"slowest NAME\", the span of that name that took longest"),
	OPTION_TEXT(0, "from", "TIME", struct fetch_command, from,
		    "begin there: 2026-11-27T08:30:00.25, of UTC, or seconds since 1970"),
	OPTION_TEXT(0, "to", "TIME", struct fetch_command, to, "end before that"),
	OPTION_TEXT('o', "output", "TRACE", struct fetch_command, output, "the trace to write (" FETCH_OUTPUT ")"),
	OPTION_TIME(0, "patience", "DURATION", struct fetch_command, store.patience_ns, 0, "10s or 1h",
		    "wait so long for a server that is away (1min)"),
	OPTIONS_STORE(struct fetch_command, store),
};

static const struct options fetch_options = {
	.operands = "URL",
	.about =
		"Fetches what ktr ship sent to a ClickHouse server, a window of one trace, as a trace that every command opens.",
	.examples = "ktr fetch --host web01 --around 'slowest request' -o near.ktr http://ch:8123\n"
		    "ktr fetch --host web01 --from 2026-11-27T08:30:00 --to 2026-11-27T08:30:01 http://ch:8123\n",
	OPTIONS_ROWS(fetch_rows),
};

/* Appends " AND name = 'text'" if there is one. */
static void fetch_is(struct native_buffer *query, const char *name, const char *text)
{
	if (!text)
		return;
	native_buffer_text(query, " AND ");
	native_buffer_text(query, name);
	native_buffer_text(query, " = ");
	store_quote(query, text, strlen(text));
}

/* The answer to a query of one line or more, for free(); NULL with err filled. */
static int fetch_ask(struct store *store, struct native_buffer *query, struct store_answer *answer,
		     struct ktr_error *err)
{
	int rc = 0;

	native_buffer_add(query, "", 1);
	memset(answer, 0, sizeof(*answer));
	if (query->failed)
		rc = ktr_error_set(err, ENOMEM, "no memory");
	else if (cluster_ask(store, (char *)query->at, answer) != STORE_DONE)
		rc = store_explain(store, answer, err);
	native_buffer_free(query);
	return rc;
}

/* A UUID, as it is written. */
static int fetch_is_uuid(const char *text)
{
	for (unsigned i = 0; i < 36; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? text[i] != '-' : !text[i] ||
			!strchr("0123456789abcdef", text[i]))
			return 0;
	return !text[36];
}

/*
 * Where the slowest span of a name is: narrows the window to it, and chooses its trace. 0 or -errno with err
 * filled.
 */
static int fetch_slowest(struct fetch *fetch, const char *name, const char *host, const char *trace,
			 struct ktr_error *err)
{
	struct native_buffer query = { 0 };
	struct store_answer answer;
	uint64_t dur;
	int64_t ts, margin;
	char text[128];
	int rc;

	native_buffer_text(&query, "SELECT toString(trace), ts, dur FROM ");
	native_buffer_text(&query, fetch->store->options.database);
	snprintf(text, sizeof(text), ".spans WHERE unsure = 0 AND open = 0 AND ts >= %" PRId64 " AND ts < %" PRId64,
		 fetch->from_ts, fetch->to_ts);
	native_buffer_text(&query, text);
	native_buffer_text(&query, " AND (id = ");
	store_quote(&query, name, strlen(name));
	native_buffer_text(&query, " OR grp = ");
	store_quote(&query, name, strlen(name));
	native_buffer_text(&query, ")");
	fetch_is(&query, "host", host);
	fetch_is(&query, "toString(trace)", trace);
	native_buffer_text(&query, " ORDER BY dur DESC, ts LIMIT 1 FORMAT TabSeparated");
	rc = fetch_ask(fetch->store, &query, &answer, err);
	if (!rc && !answer.n_bytes)
		rc = ktr_error_set(err, ENOENT, "%s has no span called %s there", fetch->store->shown, name);
	else if (!rc && (sscanf(answer.bytes, "%36s %" SCNd64 " %" SCNu64, fetch->trace, &ts, &dur) != 3 ||
		!fetch_is_uuid(fetch->trace) ||
			 ts < 0 || dur > INT64_MAX / 4 || ts > INT64_MAX / 2))
		rc = ktr_error_set(err, EPROTO, "%s: its answer makes no sense", fetch->store->shown);
	if (!rc) {
		margin = (int64_t)dur / 2 > FETCH_MARGIN_NS ? (int64_t)dur / 2 : FETCH_MARGIN_NS;
		fetch->from_ts = ts > margin ? ts - margin : 0;
		fetch->to_ts = ts + (int64_t)dur + margin;
	}
	store_answer_free(&answer);
	return rc;
}

/* One line of an answer: a trace. 0, or -EPROTO. */
static int fetch_take_trace(struct fetch *fetch, const char *line)
{
	unsigned long long n_cpus;
	const char *host = line;

	for (unsigned i = 0; i < 3 && host; i++) {
		host = strchr(host, '\t');
		host = host ? host + 1 : NULL;
	}
	if (!host ||
	    sscanf(line, "%36s\t%" SCNd64 "\t%llu", fetch->trace, &fetch->utc_offset_ns, &n_cpus) != 3 ||
	    !fetch_is_uuid(fetch->trace) || !n_cpus || n_cpus > KTR_CPU_MAX)
		return -EPROTO;
	fetch->n_cpus = (uint32_t)n_cpus;
	snprintf(fetch->host, sizeof(fetch->host), "%.*s", (int)strcspn(host, "\t\n"), host);
	answer_unescape(fetch->host);
	return 0;
}

static int fetch_choose(struct fetch *fetch, const char *host, const char *trace, struct ktr_error *err)
{
	struct native_buffer query = { 0 };
	struct store_answer answer;
	char text[200], *line, *rest;
	unsigned n = 0;
	int rc;

	native_buffer_text(&query, "SELECT toString(trace), utc_offset, n_cpus, host, name FROM ");
	native_buffer_text(&query, fetch->store->options.database);
	snprintf(text, sizeof(text), ".traces FINAL WHERE first_ts < %" PRId64 " AND last_ts >= %" PRId64,
		 fetch->to_ts, fetch->from_ts);
	native_buffer_text(&query, text);
	fetch_is(&query, "host", host);
	fetch_is(&query, "toString(trace)", trace);
	snprintf(text, sizeof(text), " ORDER BY first_ts LIMIT %d FORMAT TabSeparated", FETCH_SHOWN);
	native_buffer_text(&query, text);
	rc = fetch_ask(fetch->store, &query, &answer, err);
	for (line = rc ? NULL : answer.bytes; line && *line; line = rest) {
		rest = strchr(line, '\n');
		if (rest)
			*rest++ = 0;
		if (fetch_take_trace(fetch, line))
			rc = ktr_error_set(err, EPROTO, "%s: its answer makes no sense", fetch->store->shown);
		n++;
	}
	if (!rc && !n)
		rc = ktr_error_set(err, ENOENT, "%s has no trace there", fetch->store->shown);
	else if (!rc && n > 1)
		rc = ktr_error_set(err, EEXIST,
			"%s has %s%u traces there; which one? --trace %s is the last, of host %s",
				fetch->store->shown,
				   n == FETCH_SHOWN ? "at least " : "", n, fetch->trace, fetch->host);
	store_answer_free(&answer);
	return rc;
}

static int fetch_run(struct fetch *fetch, const struct fetch_command *c, struct ktr_error *err)
{
	const char *trace = c->trace;
	int rc = store_greet(fetch->store, err);

	if (!rc)
		rc = cluster_look(fetch->store, err);
	if (!rc && c->slowest) {
		rc = fetch_slowest(fetch, c->slowest, c->host, trace, err);
		trace = fetch->trace;
	}
	if (!rc)
		rc = fetch_choose(fetch, c->host, trace, err);
	if (!rc)
		rc = fetch_skeleton(fetch, err);
	if (!rc)
		rc = fetch_events(fetch, err);
	fetch_skeleton_remove(fetch);
	return rc;
}

/* Options that the table cannot check. 0, or 2 after a complaint. */
static int fetch_check(const struct fetch_command *c, struct fetch *fetch, int argc, char **argv)
{
	fetch->from_ts = 0;
	fetch->to_ts = INT64_MAX / 2;
	if (optind == argc)
		return usage_error(argv[0], "which server? http://host:8123");
	if (operands_at_most(argv[0], argc, argv, 1))
		return 2;
	if ((c->from && utc_parse(c->from, &fetch->from_ts)) || (c->to && utc_parse(c->to, &fetch->to_ts)))
		return usage_error(argv[0], "--from and --to are times such as 2026-11-27T08:30:00.25");
	if (c->trace && !fetch_is_uuid(c->trace))
		return usage_error(argv[0], "--trace %s: no UUID", c->trace);
	return store_check_database(argv[0], &c->store);
}

static int cmd_fetch(int argc, char **argv)
{
	struct fetch_command c = { .store = STORE_OPTIONS, .output = FETCH_OUTPUT };
	struct ktr_error err = KTR_ERROR_NONE;
	struct store store;
	struct fetch fetch = { .store = &store, .command = argv[0] };
	int rc;

	if (!options_parse(&fetch_options, argc, argv, &c, &rc))
		return rc;
	rc = fetch_check(&c, &fetch, argc, argv);
	if (rc)
		return rc;
	fetch.output = c.output;
	if (store_open(&store, argv[0], argv[optind], &c.store, &err))
		return fail_with(argv[0], &err);
	fetch_run(&fetch, &c, &err);
	if (!err.code) {
		fprintf(stderr, "ktr: %s: %" PRIu64 " events of ", c.output, fetch.n_events);
		print_visible(stderr, fetch.host);
		fprintf(stderr, ", %" PRIu64 " lost; next: ktr dump %s\n", fetch.n_lost, c.output);
	}
	/* A trace that is there is on a shard that is: what is slowest may be on another one. */
	rc = c.slowest || err.code ? cluster_status(&store) : 0;
	store_close(&store);
	return err.code ? fail_with(argv[0], &err) : rc;
}

COMMAND(fetch, "fetch a window of what was shipped as a trace", cmd_fetch);
