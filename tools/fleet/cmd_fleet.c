/* SPDX-License-Identifier: BSD-2-Clause */
/* ktr fleet: questions about all that was shipped, or about traces in a folder. */
#include "tools/command.h"
#include "tools/fleet/answer_chart.h"
#include "tools/fleet/answer_table.h"
#include "tools/fleet/cluster.h"
#include "tools/fleet/local.h"
#include "tools/fleet/questions.h"
#include "tools/fleet/store.h"
#include "tools/fleet/utc.h"
#include "tools/options.h"
#include "visualize/model/label.h"

#include <ktr/conf.h>

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLEET_EVER ((int64_t)1 << 62) /* [ns] of UTC */

struct fleet_command {
	struct store_options store;
	const char *host, *from, *to, *output;
	char about[256], command[512]; /* for a chart */
	struct local_ask ask;
	int json, sql;
	struct question_value value[6];
	unsigned n_values;
};

static const struct option_row fleet_rows[] = {
	OPTION_TEXT(0, "host", "NAME", struct fleet_command, host, "of this host alone"),
	OPTION_TEXT(0, "from", "TIME", struct fleet_command, from, "what was after it: 2026-11-27T08:30, of UTC"),
	OPTION_TEXT(0, "to", "TIME", struct fleet_command, to, "what was before that"),
	OPTION_TEXT('o', "output", "FILE", struct fleet_command, output, "draw it, too: FILE.png, .svg, .pdf or .gp"),
	OPTION_FLAG(0, "json", struct fleet_command, json, "as JSON: durations in nanoseconds"),
	OPTION_FLAG(0, "sql", struct fleet_command, sql, "print the query, and end; no URL is needed"),
	OPTION_TIME(0, "patience", "DURATION", struct fleet_command, store.patience_ns, 0, "10s or 1h",
		    "wait so long for a server that is away (1min)"),
	OPTIONS_STORE(struct fleet_command, store),
};

static const char *fleet_names(unsigned i, const char **help)
{
	*help = questions[i].help;
	return questions[i].name;
}

static const struct options fleet_options = {
	.first = fleet_names,
	.operands = "QUESTION [NAME...] URL | DIR",
	.about =
		"Asks a ClickHouse server about what ktr ship sent there: top, slow, losses, hosts, span NAME, diff A B, basis.\n"
		"Or without one the traces in a folder, and in its folders, which are called by their hosts.\n"
		"What an answer rests on is said with it.",
	.examples = "ktr fleet losses http://ch:8123\n"
		    "ktr fleet span request --host web01 -o request.png http://ch:8123\n"
		    "ktr fleet diff web01 web03 --json http://ch:8123\n"
		    "ktr fleet slow /srv/traces                  /srv/traces/web01/ktr.out, /srv/traces/web02/...\n"
		    "ktr fleet top --sql | clickhouse-client\n",
	OPTIONS_ROWS(fleet_rows),
};

static void fleet_value(struct fleet_command *c, const char *name, const char *text, int64_t number)
{
	c->value[c->n_values++] = (struct question_value){ name, text, number };
}

/* Asks, and takes the answer apart; it is to be freed with the table. 0 or -errno with err filled. */
static int fleet_ask(const struct fleet_command *c, struct store *store, const struct question *question,
		     struct answer_table *table, struct store_answer *answer, struct ktr_error *err)
{
	struct native_buffer query = { 0 };
	int with_shards = store->is_spread && question == question_find("basis"), rc;
	char shards[160];

	memset(answer, 0, sizeof(*answer));
	memset(table, 0, sizeof(*table));
	snprintf(shards, sizeof(shards), "SELECT *, toUInt64(%" PRIu64 ") AS shards, toUInt64(%" PRIu64
		 ") AS shards_unavailable FROM (", store->n_shards, store->n_away);
	native_buffer_text(&query, with_shards ? shards : "");
	rc = question_query(question, c->store.database, c->value, c->n_values, &query);
	if (!rc) {
		query.n--; /* its NUL */
		native_buffer_text(&query, with_shards ? ") " : "");
		native_buffer_text(&query, "FORMAT TabSeparatedWithNamesAndTypes");
		native_buffer_add(&query, "", 1);
		rc = query.failed ? -ENOMEM : 0;
	}
	if (rc)
		ktr_error_set(err, -rc, "no memory");
	else if (cluster_ask(store, (char *)query.at, answer) != STORE_DONE)
		rc = store_explain(store, answer, err);
	else if ((rc = answer_table_take(table, answer->bytes)) != 0)
		ktr_error_set(err, -rc, "%s: its answer makes no sense", store->shown);
	native_buffer_free(&query);
	return rc;
}

static int fleet_print_json(const char *name, const struct answer_table *table, const struct answer_table *basis)
{
	json_t *all = json_pack("{s:s, s:s, s:o, s:o}", "schema", "ktr-fleet-1", "question", name, "rows",
				answer_table_json(table), "basis", answer_table_json(basis));
	char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;

	if (text)
		puts(text);
	free(text);
	json_decref(all);
	return text ? 0 : fail("ktr fleet", "no memory");
}

/* "hosts 4, traces 12, ..." */
static void fleet_basis(const struct answer_table *basis, char *text, size_t size)
{
	char words[512] = "", *at;
	size_t n = 0;

	for (unsigned i = 0; i < basis->n_columns && basis->n_rows > 1 && n < sizeof(words) - 1; i++) {
		n += (size_t)snprintf(words + n, sizeof(words) - n, "%s%s", i ? ", " : "", basis->cell[i]);
		for (at = words; (at = strchr(at, '_')) != NULL;)
			*at = ' ';
		if (n < sizeof(words) - 1)
			n += (size_t)snprintf(words + n, sizeof(words) - n, " %s",
					      basis->cell[basis->n_columns + i]);
	}
	ktr__label_clean(text, size, words, strlen(words));
}

/* The exit status. */
static int fleet_print(const struct fleet_command *c, const char *name, const struct answer_table *table,
		       const struct answer_table *basis)
{
	char text[KTR__LABEL_BYTES];
	const struct answer_chart chart = { c->output, name, c->about, text, c->command };
	struct ktr_error err = KTR_ERROR_NONE;
	int rc = 0;

	fleet_basis(basis, text, sizeof(text));
	if (c->json)
		rc = fleet_print_json(name, table, basis);
	else {
		answer_table_print(table, stdout);
		printf("basis: %s\n", text);
	}
	if (!rc && c->output && answer_chart_draw(&chart, table, &err))
		rc = fail_with("ktr fleet", &err);
	return rc;
}

static int fleet_run(const struct fleet_command *c, struct store *store, const struct question *question)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct answer_table table = { 0 }, basis = { 0 };
	struct store_answer answer = { 0 }, rests = { 0 };
	uint64_t n_away;
	int rc = store_greet(store, &err);

	if (!rc)
		rc = cluster_look(store, &err);
	if (!rc)
		rc = fleet_ask(c, store, question, &table, &answer, &err);
	for (n_away = UINT64_MAX; !rc && n_away != store->n_away;) {
		n_away = store->n_away;
		answer_table_free(&basis);
		store_answer_free(&rests);
		rc = fleet_ask(c, store, question_find("basis"), &basis, &rests, &err);
	}
	rc = rc ? fail_with(store->command, &err) : fleet_print(c, question->name, &table, &basis);
	if (!rc)
		rc = cluster_status(store);
	answer_table_free(&table);
	answer_table_free(&basis);
	store_answer_free(&answer);
	store_answer_free(&rests);
	return rc;
}

static int fleet_ask_local(struct local *local, const struct question *question, struct answer_table *table,
			   char **bytes, struct ktr_error *err)
{
	int rc = local_answer(local, question, bytes, err);

	if (!rc && (rc = answer_table_take(table, *bytes)) != 0)
		ktr_error_set(err, -rc, "no memory");
	return rc;
}

/* Of traces in a folder. What could not be read makes the answer one of the rest. */
static int fleet_run_local(const char *command, struct fleet_command *c, const char *folder,
			   const struct question *question)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct answer_table table = { 0 }, basis = { 0 };
	char *answer = NULL, *rests = NULL;
	struct local *local = NULL;
	int rc;

	c->ask.question = question;
	c->ask.host = c->host && *c->host ? c->host : NULL;
	rc = local_open(&local, command, folder, &c->ask, &err);
	if (!rc)
		rc = fleet_ask_local(local, question, &table, &answer, &err);
	if (!rc)
		rc = fleet_ask_local(local, question_find("basis"), &basis, &rests, &err);
	if (rc)
		rc = fail_with(command, &err);
	else if ((rc = fleet_print(c, question->name, &table, &basis)) == 0 && local_n_missing(local))
		rc = fail(command, "%u of the traces in %s could not be read: the answer is of the rest",
			  local_n_missing(local), folder);
	else if (!rc && local_n_partial(local))
		rc = fail(command, "of %u of the traces in %s a part could not be read: the answer is of the rest",
			  local_n_partial(local), folder);
	answer_table_free(&table);
	answer_table_free(&basis);
	free(answer);
	free(rests);
	local_close(local);
	return rc;
}

/* The question that the first operand names, and its values. 0, or 2 after a complaint. */
static int fleet_question(struct fleet_command *c, const struct question **question, int argc, char **argv)
{
	int64_t ts;

	if (optind == argc)
		return usage_error(argv[0],
				   "which question? top, slow, losses, hosts, span NAME, diff A B or basis");
	*question = question_find(argv[optind]);
	if (!*question)
		return usage_error(argv[0],
			"there is no question \"%s\": top, slow, losses, hosts, span NAME, diff A B or basis",
				   argv[optind]);
	optind++;
	if ((unsigned)(argc - optind) < (*question)->n_operands)
		return usage_error(argv[0], "%s %s", (*question)->name, (*question)->help);
	if ((*question)->n_operands == 1)
		fleet_value(c, "name", c->ask.name = argv[optind], 0);
	if ((*question)->n_operands == 2) {
		fleet_value(c, "a", c->ask.a = argv[optind], 0);
		fleet_value(c, "b", c->ask.b = argv[optind + 1], 0);
	}
	optind += (int)(*question)->n_operands;
	if (c->host && (*question)->n_operands == 2)
		return usage_error(argv[0], "--host %s: %s is about those that it names", c->host, (*question)->name);
	if (c->host)
		fleet_value(c, "only_host", c->host, 0);
	if (c->from && utc_parse(c->from, &ts))
		return usage_error(argv[0], "--from %s: no time such as 2026-11-27T08:30", c->from);
	c->ask.from_ts = c->from ? ts : 0;
	if (c->from)
		fleet_value(c, "window_from", NULL, ts);
	if (c->to && utc_parse(c->to, &ts))
		return usage_error(argv[0], "--to %s: no time such as 2026-11-27T08:30", c->to);
	c->ask.to_ts = c->to ? ts : FLEET_EVER;
	if (c->to)
		fleet_value(c, "window_to", NULL, ts);
	return 0;
}

/* What a chart of it says, and whether there is one. 0, or 2 after a complaint. */
static int fleet_chart(struct fleet_command *c, const struct question *question, char **argv)
{
	const struct answer_chart chart = { c->output, question->name, c->about, "", c->command };
	struct ktr_error err = KTR_ERROR_NONE;

	if (!c->output)
		return 0;
	if (c->ask.name)
		ktr__label_clean(c->about, sizeof(c->about), c->ask.name, strlen(c->ask.name));
	if (c->ask.a) {
		char a[120], b[120];

		ktr__label_clean(a, sizeof(a), c->ask.a, strlen(c->ask.a));
		ktr__label_clean(b, sizeof(b), c->ask.b, strlen(c->ask.b));
		snprintf(c->about, sizeof(c->about), "%s and %s", a, b);
	}
	return answer_chart_check(&chart, &err) ? usage_error(argv[0], "-o %s: %s", c->output, err.text) : 0;
}

static int fleet_print_query(const struct fleet_command *c, const struct question *question)
{
	struct native_buffer query = { 0 };
	int rc = question_query(question, c->store.database, c->value, c->n_values, &query);

	if (!rc)
		fputs((const char *)query.at, stdout);
	native_buffer_free(&query);
	return rc ? fail("ktr fleet", "no memory") : 0;
}

static int cmd_fleet(int argc, char **argv)
{
	struct fleet_command c = { .store = STORE_OPTIONS };
	const struct question *question = NULL;
	struct ktr_error err = KTR_ERROR_NONE;
	struct store store;
	int rc;

	snprintf(c.command, sizeof(c.command), "%s", argv[0]);
	for (int i = 1; i < argc; i++)
		ktr__label_word(c.command, sizeof(c.command), argv[i]);
	if (!options_parse(&fleet_options, argc, argv, &c, &rc))
		return rc;
	setlocale(LC_CTYPE, ""); /* has the terminal an ellipsis? */
	rc = store_check_database(argv[0], &c.store);
	if (!rc)
		rc = fleet_question(&c, &question, argc, argv);
	if (!rc)
		rc = fleet_chart(&c, question, argv);
	if (rc)
		return rc;
	if (c.sql)
		return operands_at_most(argv[0], argc, argv, 1) ? 2 : fleet_print_query(&c, question);
	if (optind == argc)
		return usage_error(argv[0], "which server, or which folder of traces? http://host:8123");
	if (operands_at_most(argv[0], argc, argv, 1))
		return 2;
	if (!strstr(argv[optind], "://"))
		return fleet_run_local(argv[0], &c, argv[optind], question);
	if (store_open(&store, argv[0], argv[optind], &c.store, &err))
		return fail_with(argv[0], &err);
	rc = fleet_run(&c, &store, question);
	store_close(&store);
	return rc;
}

COMMAND(fleet, "ask about traces of many machines", cmd_fleet);
