/* SPDX-License-Identifier: BSD-2-Clause */
/* ktr ship: traces into the column store that is asked about many machines. */
#include "tools/command.h"
#include "tools/fleet/cluster.h"
#include "tools/fleet/folder.h"
#include "tools/filter_option.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/ship/ship_follow.h"
#include "tools/ship/ship_send.h"
#include "tools/ship/ship_spool.h"
#include "tools/ship/ship_walk.h"
#include "writer/format/crc32c.h"

#include <ktr/trace_file.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHIP_KEPT_BYTES (32 << 20) /* [bytes] the most that mallopt(3) takes for a threshold */
#define SHIP_PAGE_BYTES (2 << 20) /* [bytes] of a large page; where they are larger, small ones are had */

struct ship_command {
	struct store_options store;
	const char *to, *host, *build, *state, *filter, *cluster;
	int schema; /* enum ship_schema */
	uint64_t every_ns, spool;
	int create, replicated, spans, no_events, again, follow;
};

enum ship_schema { SHIP_SCHEMA_NONE, SHIP_SCHEMA_NEW, SHIP_SCHEMA_OLD };

static int ship_take_schema(void *at, const char *what, const char *value, char **argv)
{
	if (value && strcmp(value, "18") != 0)
		return usage_error(argv[0], "%s: of ClickHouse 18 or of a later one, not \"%s\"", what, value);
	*(int *)at = value ? SHIP_SCHEMA_OLD : SHIP_SCHEMA_NEW;
	return 0;
}

static const struct option_row ship_options_rows[] = {
	OPTION_TEXT(0, "to", "URL", struct ship_command, to, "the server: http://host:8123, https://host:8443"),
	OPTION_TEXT(0, "host", "NAME", struct ship_command, host, "what this machine is called there (its name)"),
	OPTION_TEXT(0, "build", "NAME", struct ship_command, build,
		    "what the program's build is called (its build id)"),
	OPTION_FLAG(0, "spans", struct ship_command, spans, "spans and states, too"),
	OPTION_FLAG(0, "no-events", struct ship_command, no_events,
		    "no events: spans, counters, losses and what describes them"),
	OPTION_FILTER(struct ship_command, filter),
	OPTION_TEXT(0, "state", "DIR", struct ship_command, state,
		    "where is written down how far each trace has gone"),
	OPTION_FLAG('f', "follow", struct ship_command, follow,
		    "go on with what comes, until the trace ends, or of a folder until ^C"),
	OPTION_TIME(0, "every", "DURATION", struct ship_command, every_ns, 1000000000, "10s or 1min",
		    "with --follow: send what there is that often (10s)"),
	OPTION_NUMBER(0, "spool", "BYTES", struct ship_command, spool, 0, INT64_MAX,
		      "with --follow: keep so many of what rotation removes before it was shipped (1G)"),
	OPTION_NUMBER(0, "rate", "BYTES", struct ship_command, store.rate, 1024, INT64_MAX,
		      "send at most so many a second (20M)"),
	OPTION_FLAG(0, "again", struct ship_command, again, "traces of which rows may be there already, too"),
	OPTION_TIME(0, "patience", "DURATION", struct ship_command, store.patience_ns, 0, "10s or 1h",
		    "wait so long for a server that is away (1min)"),
	OPTIONS_STORE(struct ship_command, store),
	OPTION_FLAG(0, "create", struct ship_command, create, "make the tables that are not there"),
	OPTION_TAKE(0, "schema", "[=18]", struct ship_command, schema, ship_take_schema,
		    "print what makes the tables, and end; =18: for ClickHouse 18"),
	OPTION_FLAG(0, "replicated", struct ship_command, replicated,
		    "tables that keep copies, with the server's macros {shard} and {replica}"),
	OPTION_TEXT(0, "cluster", "NAME", struct ship_command, cluster,
		    "besides, a database of the tables of all shards of that cluster"),
};

static const struct options ship_options = {
	.operands = "TRACE...",
	.about =
		"Ships traces to a ClickHouse server, each event once, and goes on where it was when it is run again.\n"
		"Of a DIR that is no trace the traces in it are shipped.",
	.examples = "ktr ship --schema | clickhouse-client --multiquery\n"
		    "ktr ship --to http://ch:8123 --create --spans ktr.out\n"
		    "ktr ship --to https://ch:8443 --user shipper --password-file /etc/ktr/key --host web01 /var/tmp/traces\n",
	OPTIONS_ROWS(ship_options_rows),
};

static int ship_print_schema(const struct ship_command *c)
{
	const struct schema_form form = { .database = c->store.database,
					  .is_old = c->schema == SHIP_SCHEMA_OLD,
					  .is_replicated = c->replicated,
					  .cluster = c->cluster };
	struct native_buffer text = { 0 };
	int rc;

	for (unsigned i = 0; (rc = schema_statement(&form, i, &text)) == 0; i++) {
		printf("%s;\n", (const char *)text.at);
		text.n = 0;
	}
	native_buffer_free(&text);
	return rc == -ENOENT ? 0 : fail("ktr ship", "no memory");
}

static int ship_create(const struct ship_command *c, struct store *store, struct ktr_error *err)
{
	const struct schema_form form = { .database = c->store.database, .is_old = store->is_old,
					  .is_replicated = c->replicated, .cluster = c->cluster };
	struct native_buffer text = { 0 };
	struct store_answer answer;
	int rc = 0;

	for (unsigned i = 0; !rc && (rc = schema_statement(&form, i, &text)) == 0; i++) {
		if (store_ask_patiently(store, (const char *)text.at, &answer) != STORE_DONE)
			rc = store_explain(store, &answer, err);
		store_answer_free(&answer);
		text.n = 0;
	}
	native_buffer_free(&text);
	if (rc == -ENOENT && !err->code)
		return 0;
	return rc == -ENOMEM ? ktr_error_set(err, ENOMEM, "no memory") : rc;
}

/* Where it is written down how far traces have gone. */
static const char *ship_state_folder(char *text, size_t size)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (geteuid() == 0)
		return "/var/lib/ktr/ship";
	if (state && *state == '/')
		snprintf(text, size, "%s/ktr/ship", state);
	else
		snprintf(text, size, "%s/.local/state/ktr/ship", home ? home : "");
	return text;
}

static int ship_one(const struct ship *like, const char *path, int follow)
{
	struct ship *ship = malloc(sizeof(*ship));
	struct ktr_error err = KTR_ERROR_NONE;
	int is_left;

	if (!ship)
		return fail(like->command, "no memory");
	*ship = *like;
	ship->path = path;
	ship->follow = follow;
	if (!ship_walk(ship, &err))
		ship_tell(ship);
	is_left = ship->is_left && follow;
	free(ship);
	if (is_left && !err.code)
		return ship_one(like, path, 0);
	return err.code ? fail_with(like->command, &err) : 0;
}

/* A folder whose traces are shipped. */
struct ship_folder {
	const struct ship *like;
	int rc;
};

static void ship_folder_trace(void *context, const char *path, const char *host)
{
	struct ship_folder *folder = context;

	(void)host;
	folder->rc |= ship_one(folder->like, path, 0);
}

/* The exit status. */
static int ship_folder(const struct ship *like, const char *path)
{
	struct ship_folder folder = { .like = like };
	int n = folder_traces(path, 0, ship_folder_trace, &folder);

	if (n < 0)
		return fail(like->command, "%s: %s", path, strerror(-n));
	return n ? folder.rc : fail(like->command, "%s: neither a trace nor a folder with traces in it", path);
}

/* A signal ends what is followed after the batch that is under way. */
static void ship_interrupted(void)
{
}

static int ship_operand(struct ship *like, const char *path, uint64_t spool)
{
	struct stat st;
	int is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode) && !folder_is_trace(path), rc;

	if (!like->follow)
		return is_folder ? ship_folder(like, path) : ship_one(like, path, 0);
	interrupt_call(ship_interrupted);
	interrupt_call_term();
	if (spool)
		like->spool = ship_spool_begin(like, path, is_folder, spool);
	rc = is_folder ? ship_follow(like, path) : ship_one(like, path, 1);
	ship_spool_end(like->spool);
	like->spool = NULL;
	return rc;
}

static void ship_key(struct ship *like)
{
	char path[2 * PATH_MAX] = "";
	size_t n = 0;

	if (like->state_folder[0] != '/' && getcwd(path, PATH_MAX))
		n = strlen(path);
	snprintf(path + n, sizeof(path) - n, "/%.4095s", like->state_folder);
	snprintf(like->key, sizeof(like->key), "%08x", ktr__crc32c(0, path, strlen(path)));
}

/* How traces are shipped. host and folder have room for names. */
static void ship_like(const struct ship_command *c, struct store *store, char *host, char *folder,
		      struct ship *like)
{
	gethostname(host, HOST_NAME_MAX);
	*like = (struct ship){ .store = store,
			       .command = store->command,
			       .host = c->host ? c->host : host,
			       .build = c->build,
			       .filter_text = c->filter,
			       .with_events = !c->no_events,
			       .with_spans = c->spans,
			       .again = c->again,
			       .follow = c->follow,
			       .every_ns = c->every_ns,
			       .state_folder = c->state ? c->state : ship_state_folder(folder, PATH_MAX) };
	like->state.lock_fd = -1;
	ship_key(like);
}

/* Each piece of a trace that has not been read yet is a file that is open. */
static void ship_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/*
 * What one batch gives back is the next one's: a page is not returned in between, to be had and cleared again. And
 * pages are large, where the system has such: in a virtual machine the first use of each is what costs.
 */
static void ship_memory(void)
{
#ifdef __GLIBC__
	char *room;

	mallopt(M_MMAP_THRESHOLD, SHIP_KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, 2 * SHIP_KEPT_BYTES);
	room = malloc(SHIP_KEPT_BYTES - SHIP_PAGE_BYTES);
	if (room)
		madvise(room + -(uintptr_t)room % SHIP_PAGE_BYTES, SHIP_KEPT_BYTES - 2 * SHIP_PAGE_BYTES,
			MADV_HUGEPAGE);
	free(room);
#endif
}

static int cmd_ship(int argc, char **argv)
{
	struct ship_command c = { .store = STORE_OPTIONS, .every_ns = 10 * 1000000000ull, .spool = 1ull << 30 };
	char host[HOST_NAME_MAX + 1] = "", folder[PATH_MAX];
	struct ktr_error err = KTR_ERROR_NONE;
	struct store store;
	struct ship like;
	int rc;

	if (!options_parse(&ship_options, argc, argv, &c, &rc))
		return rc;
	rc = store_check_database(argv[0], &c.store);
	if (rc)
		return rc;
	if (c.cluster && !cluster_is_name(c.cluster))
		return usage_error(argv[0], "--cluster %s: letters, digits and _", c.cluster);
	if (c.cluster && !c.schema && !c.create)
		return usage_error(argv[0], "--cluster is for --create and --schema");
	if (c.schema)
		return ship_print_schema(&c);
	if (!c.to)
		return usage_error(argv[0], "which server? --to http://host:8123");
	if (optind == argc && !c.create)
		return usage_error(argv[0], "which trace?");
	if (c.follow && argc - optind != 1)
		return usage_error(argv[0], "one trace, or one folder, with --follow");
	for (int i = optind; i < argc; i++)
		if (folder_is_part(argv[i]))
			return fail(argv[0], "%s is a part of %.*s, which takes it along", argv[i],
				    (int)(strrchr(argv[i], '.') - argv[i]), argv[i]);
	if (store_open(&store, argv[0], c.to, &c.store, &err) || store_greet(&store, &err))
		return fail_with(argv[0], &err);
	if (c.create)
		ship_create(&c, &store, &err);
	if (!err.code && optind < argc)
		ship_send_check(&store, &err);
	rc = err.code ? fail_with(argv[0], &err) : 0;
	ship_memory();
	ship_files();
	ship_like(&c, &store, host, folder, &like);
	while (!err.code && optind < argc)
		rc |= ship_operand(&like, argv[optind++], c.spool);
	store_close(&store);
	return rc;
}

COMMAND(ship, "ship traces to the column store of a fleet", cmd_ship);
