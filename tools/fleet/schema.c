/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statements are made of the lists of columns, so that what is sent and what is there cannot differ.
 *
 * Events lie by host, second and call site: that packs as well as by site, and a moment is found as by time.
 * Whatever has an identity of its own is in a table that keeps one row of each. Views count by the minute; spans
 * of which an end is not known, or during which events were lost, are in no quantile.
 */
#include "tools/fleet/schema.h"

#include "tools/fleet/cluster.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SCHEMA_DAY(ts) "toYYYYMMDD(toDateTime(intDiv(" ts ", 1000000000), 'UTC'), 'UTC')"
#define SCHEMA_MONTH(time) "toYYYYMM(" time ")"

#define SCHEMA_SHAPE(of, column, name, type) { name, NATIVE_##type },
#define SCHEMA_SHAPES(word, name, list) static const struct native_shape schema_shape_##word[] = \
	{ list(SCHEMA_SHAPE, word) };
SCHEMA_LIST(SCHEMA_SHAPES)

static const struct {
	const char *name;
	const struct native_shape *shape;
	unsigned n_columns;
} schema_tables[] = {
#define SCHEMA_ROW(word, name, list) { name, schema_shape_##word, word##_COLUMNS },
	SCHEMA_LIST(SCHEMA_ROW)
};

/* What a table is besides its columns. */
static const struct {
	const char *more;      /* columns that are computed */
	const char *engine;    /* without "MergeTree" */
	const char *arguments; /* of it; NULL: none */
	const char *by;	       /* how it is cut and sorted */
	int ages;	       /* its rows go after a time, where the server can do that */
} schema_more[] = {
	[SCHEMA_EVENTS_TABLE] = { "time DateTime ALIAS toDateTime(intDiv(ts, 1000000000))", "", NULL,
				  "PARTITION BY "
					SCHEMA_DAY("ts") " ORDER BY (host, intDiv(ts, 1000000000), site, ts)", 1 },
	[SCHEMA_SPANS_TABLE] =
		{ "time DateTime ALIAS toDateTime(intDiv(ts, 1000000000)), end Int64 ALIAS ts + toInt64(dur)",
				 "Replacing", NULL,
				 "PARTITION BY "
					SCHEMA_DAY("ts") " ORDER BY (host, grp, id, intDiv(ts, 60000000000), ts, "
				 "trace, pid, tid, key, depth, state, dur)", 1 },
	[SCHEMA_LOSSES_TABLE] = { NULL, "Replacing", "events",
		"ORDER BY (host, trace, why, cpu, keep, from_ts, to_ts)", 0 },
	[SCHEMA_TRACES_TABLE] = { NULL, "Replacing", "version", "ORDER BY (host, trace)", 0 },
	[SCHEMA_SITES_TABLE] = { NULL, "Replacing", "version", "ORDER BY (host, trace, site_id)", 0 },
	[SCHEMA_THREADS_TABLE] = { NULL, "Replacing", "version", "ORDER BY (host, trace, word, thread_id)", 0 },
	[SCHEMA_PROCESSES_TABLE] = { NULL, "Replacing", "version", "ORDER BY (host, trace, proc)", 0 },
	[SCHEMA_FILES_TABLE] = { NULL, "Replacing", "version", "ORDER BY (host, trace, file, id)", 0 },
	[SCHEMA_COUNTERS_TABLE] = { "time DateTime ALIAS toDateTime(intDiv(ts, 1000000000))", "Replacing", NULL,
				    "PARTITION BY "
					SCHEMA_DAY("ts") " ORDER BY (host, grp, id, intDiv(ts, 60000000000), ts, "
				    "trace, stream, idx)", 1 },
};

/* What follows the tables; @ stands for the database. */
struct schema_view {
	const char *name, *columns, *engine, *by;
};

static const struct schema_view schema_views[] = {
	{ "span_minute",
	  "minute DateTime, host LowCardinality(String), build LowCardinality(String), grp LowCardinality(String), "
	  "id LowCardinality(String), n AggregateFunction(count), total AggregateFunction(sum, UInt64), "
	  "worst AggregateFunction(max, UInt64), q AggregateFunction(quantilesTDigest(0.5, 0.9, 0.99, 0.999), UInt64)",
	  "Aggregating", "PARTITION BY " SCHEMA_MONTH("minute") " ORDER BY (grp, id, host, build, minute)" },
	{ "site_minute",
	  "minute DateTime, host LowCardinality(String), class LowCardinality(String), site LowCardinality(String), "
	  "n UInt64",
	  "Summing", "PARTITION BY " SCHEMA_MONTH("minute") " ORDER BY (host, class, site, minute)" },
	{ "schema", "version UInt32", "Replacing", "ORDER BY version" },
};

#define SCHEMA_MINUTE "toDateTime(intDiv(ts, 60000000000) * 60) AS minute"

/* The view of a table, and of that of its end SCHEMA_AGAIN; & stands for the end. */
static const char *const schema_selects[] = {
	"CREATE MATERIALIZED VIEW IF NOT EXISTS @.span_minute&_mv TO @.span_minute AS SELECT "
		SCHEMA_MINUTE ", host, build, "
	"grp, id, countState() AS n, sumState(dur) AS total, maxState(dur) AS worst, "
	"quantilesTDigestState(0.5, 0.9, 0.99, 0.999)(dur) AS q FROM @.spans& WHERE unsure = 0 AND open = 0 "
	"GROUP BY minute, host, build, grp, id",
	"CREATE MATERIALIZED VIEW IF NOT EXISTS @.site_minute&_mv TO @.site_minute AS SELECT "
		SCHEMA_MINUTE ", host, class, "
	"site, count() AS n FROM @.events& GROUP BY minute, host, class, site",
};

const char *schema_name(enum schema_table table)
{
	return schema_tables[table].name;
}

void schema_block(struct native_block *block, enum schema_table table)
{
	native_open(block, schema_tables[table].shape, schema_tables[table].n_columns);
}

/* With @ as the database. */
static void schema_text(const struct schema_form *form, struct native_buffer *out, const char *text)
{
	for (; *text; text++)
		if (*text == '@')
			native_buffer_text(out, form->database);
		else
			native_buffer_add(out, text, 1);
}

static void schema_select(const struct schema_form *form, struct native_buffer *out, unsigned i, const char *end)
{
	for (const char *text = schema_selects[i], *mark; *text; text = mark + (*mark != 0)) {
		char piece[600];

		mark = strchrnul(text, '&');
		snprintf(piece, sizeof(piece), "%.*s", (int)(mark - text), text);
		schema_text(form, out, piece);
		native_buffer_text(out, *mark ? end : "");
	}
}

static const char *schema_codec(const struct native_shape *shape)
{
	return shape->type == NATIVE_I64_UP || shape->type == NATIVE_U64_UP ? " CODEC(Delta, ZSTD(1))"
									    : " CODEC(ZSTD(1))";
}

static void schema_engine(const struct schema_form *form, struct native_buffer *out, const char *name,
			  const char *engine, const char *arguments, const char *by)
{
	char text[512];

	if (form->is_replicated)
		snprintf(text, sizeof(text),
			") ENGINE = Replicated%sMergeTree('/clickhouse/tables/{shard}/@/%s', '{replica}'%s%s) ",
			 engine, name, arguments ? ", " : "", arguments ? arguments : "");
	else
		snprintf(text, sizeof(text), ") ENGINE = %sMergeTree(%s) ", engine, arguments ? arguments : "");
	schema_text(form, out, text);
	schema_text(form, out, by);
}

static void schema_settings(const struct schema_form *form, struct native_buffer *out, int ages)
{
	if (ages && !form->is_old)
		native_buffer_text(out, " TTL toDateTime(intDiv(ts, 1000000000)) + INTERVAL 30 DAY");
	native_buffer_text(out, " SETTINGS index_granularity = 8192");
	if (ages && !form->is_old)
		native_buffer_text(out, ", ttl_only_drop_parts = 1");
	if (form->is_replicated)
		native_buffer_text(out, ", replicated_deduplication_window = 10000");
	else if (!form->is_old)
		native_buffer_text(out, ", non_replicated_deduplication_window = 10000");
}

static void schema_create(const struct schema_form *form, struct native_buffer *out, unsigned i)
{
	static const char *const types[] = {
		[NATIVE_U8] = "UInt8",	   [NATIVE_U16] = "UInt16", [NATIVE_U32] = "UInt32", [NATIVE_U64] =
			"UInt64",
		[NATIVE_I64] = "Int64",	   [NATIVE_F64] = "Float64", [NATIVE_U64_UP] = "UInt64",
		[NATIVE_I64_UP] = "Int64", [NATIVE_UUID] = "UUID", [NATIVE_TEXT] =
			"String",
		[NATIVE_WORD] = "LowCardinality(String)", [NATIVE_LIST] = "Array(String)",
	};

	schema_text(form, out, "CREATE TABLE IF NOT EXISTS @.");
	native_buffer_text(out, schema_tables[i].name);
	for (unsigned c = 0; c < schema_tables[i].n_columns; c++) {
		const struct native_shape *shape = &schema_tables[i].shape[c];

		native_buffer_text(out, c ? ", " : " (");
		native_buffer_text(out, shape->name);
		native_buffer_text(out, " ");
		native_buffer_text(out, types[shape->type]);
		if (!form->is_old)
			native_buffer_text(out, schema_codec(shape));
	}
	if (schema_more[i].more) {
		native_buffer_text(out, ", ");
		native_buffer_text(out, schema_more[i].more);
	}
	schema_engine(form, out, schema_tables[i].name, schema_more[i].engine, schema_more[i].arguments,
		      schema_more[i].by);
	schema_settings(form, out, schema_more[i].ages);
}

static void schema_create_view(const struct schema_form *form, struct native_buffer *out,
			       const struct schema_view *view)
{
	schema_text(form, out, "CREATE TABLE IF NOT EXISTS @.");
	native_buffer_text(out, view->name);
	native_buffer_text(out, " (");
	native_buffer_text(out, view->columns);
	schema_engine(form, out, view->name, view->engine, NULL, view->by);
	schema_settings(form, out, 0);
}

/* What is inserted into it goes to the view alone. */
static void schema_create_again(const struct schema_form *form, struct native_buffer *out, const char *table)
{
	schema_text(form, out, "CREATE TABLE IF NOT EXISTS @.");
	native_buffer_text(out, table);
	schema_text(form, out, SCHEMA_AGAIN " AS @.");
	native_buffer_text(out, table);
	native_buffer_text(out, " ENGINE = Null");
}

#define SCHEMA_VIEWS   (sizeof(schema_views) / sizeof(*schema_views))
#define SCHEMA_SELECTS (sizeof(schema_selects) / sizeof(*schema_selects))

/* Table i of those of all shards, in a database of their own. 0 or -ENOENT. */
static int schema_create_spread(const struct schema_form *form, struct native_buffer *out, unsigned i)
{
	const char *name = i < SCHEMA_TABLES ? schema_name(i) : NULL;
	char text[300];

	if (i >= SCHEMA_TABLES && i < SCHEMA_TABLES + SCHEMA_VIEWS)
		name = schema_views[i - SCHEMA_TABLES].name;
	if (name)
		snprintf(text, sizeof(text), "CREATE TABLE IF NOT EXISTS @" CLUSTER_SUFFIX ".%s AS @.%s ENGINE = "
			 "Distributed(%s, @, %s)", name, name, form->cluster, name);
	else if (i == SCHEMA_TABLES + SCHEMA_VIEWS)
		snprintf(text, sizeof(text), "CREATE TABLE IF NOT EXISTS @" CLUSTER_SUFFIX ".shards AS system.one "
			 "ENGINE = Distributed(%s, system, one)", form->cluster);
	else if (i == SCHEMA_TABLES + SCHEMA_VIEWS + 1)
		snprintf(text, sizeof(text), "CREATE VIEW IF NOT EXISTS @" CLUSTER_SUFFIX ".cluster AS SELECT "
			 "uniqExact(shard_num) AS shards FROM system.clusters WHERE cluster = '%s'", form->cluster);
	else
		return -ENOENT;
	schema_text(form, out, text);
	return 0;
}

int schema_statement(const struct schema_form *form, unsigned i, struct native_buffer *out)
{
	char insert[80];

	if (i == 0)
		schema_text(form, out, "CREATE DATABASE IF NOT EXISTS @");
	else if (--i < SCHEMA_TABLES)
		schema_create(form, out, i);
	else if ((i -= SCHEMA_TABLES) < SCHEMA_VIEWS)
		schema_create_view(form, out, &schema_views[i]);
	else if ((i -= SCHEMA_VIEWS) < SCHEMA_SELECTS)
		schema_select(form, out, i, "");
	else if ((i -= SCHEMA_SELECTS) < 2)
		schema_create_again(form, out, schema_name(i ? SCHEMA_EVENTS_TABLE : SCHEMA_SPANS_TABLE));
	else if ((i -= 2) < SCHEMA_SELECTS)
		schema_select(form, out, i, SCHEMA_AGAIN);
	else if (i == SCHEMA_SELECTS) {
		snprintf(insert, sizeof(insert), "INSERT INTO @.schema (version) VALUES (%d)", SCHEMA_VERSION);
		schema_text(form, out, insert);
	} else if (!form->cluster)
		return -ENOENT;
	else if ((i -= SCHEMA_SELECTS + 1) == 0)
		schema_text(form, out, "CREATE DATABASE IF NOT EXISTS @" CLUSTER_SUFFIX);
	else if (schema_create_spread(form, out, i - 1))
		return -ENOENT;
	native_buffer_add(out, "", 1);
	return out->failed ? -ENOMEM : 0;
}
