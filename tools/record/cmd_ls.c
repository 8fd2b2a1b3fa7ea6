/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr ls: the user's sessions, live and dead. A file that cannot be read as a session is listed as
 * damaged with the reason, in one line, so that it can be seen and removed.
 */
#include "analyze/print/json_print.h"
#include "ktr/load/sweep.h"
#include "ktr/session/session_find.h"
#include "tools/command.h"
#include "tools/find.h"
#include "tools/options.h"
#include "tools/report/session_info.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ls_row {
	struct session_info info;
	char path[512];
	char damage[KTR_ERROR_TEXT_BYTES]; /* why it cannot be read; "" for a good one */
};

struct ls {
	char **names; /* patterns; all when there are none */
	int n_names;
	struct ls_row *rows;
	size_t n_rows;
	int json;
};

static int ls_visit(void *context, const char *path, const char *name)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__session_map map;
	struct ls *ls = context;
	struct ls_row *row, *more;
	int rc;

	if (ls->n_names && !find_matches(ls->names, ls->n_names, name))
		return 0;
	more = realloc(ls->rows, (ls->n_rows + 1) * sizeof(*ls->rows));
	if (!more)
		return -ENOMEM;
	ls->rows = more;
	row = &ls->rows[ls->n_rows];
	memset(row, 0, sizeof(*row));
	snprintf(row->path, sizeof(row->path), "%s", path);
	rc = ktr__map_open(path, KTR__MAP_OWN, &map, &err);
	if (rc == 0) {
		rc = session_info(&map, &row->info);
		ktr__map_close(&map);
	}
	if (rc == -ENOENT || rc == -EAGAIN)
		return 0; /* it has gone, or is not there yet */
	if (rc)
		snprintf(row->damage, sizeof(row->damage), "%s",
			 err.code ? err.text : strerror(-rc));
	/* The file's name is what -s and `ktr rm` take. */
	snprintf(row->info.name, sizeof(row->info.name), "%s", name);
	ls->n_rows++;
	return 0;
}

static int ls_order(const void *a, const void *b)
{
	const struct ls_row *x = a, *y = b;

	if (x->info.alive != y->info.alive)
		return y->info.alive - x->info.alive;
	return strcmp(x->info.name, y->info.name);
}

static const char *ls_state(const struct ls_row *row)
{
	if (row->damage[0])
		return "damaged";
	if (!row->info.alive)
		return "dead";
	return row->info.frozen ? "frozen" : "live";
}

static json_t *ls_json_processes(const struct session_info *info)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < info->n_pids && i < SESSION_PIDS_MAX; i++) {
		const struct session_process *process = &info->process[i];
		json_t *object = json_object();

		json_object_set_new(object, "pid",
				    process->pid ? json_integer(process->pid) : json_null());
		json_object_set_new(object, "own_pid", json_integer(process->its));
		json_object_set_new(object, "name", json_string(process->name));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *ls_json_row(const struct ls_row *row)
{
	const struct session_info *info = &row->info;
	json_t *pids, *object = json_object();

	/* A text that is not UTF-8 is left out rather than bent. */
	json_object_set_new(object, "name", json_string(info->name));
	json_object_set_new(object, "state", json_string(ls_state(row)));
	json_object_set_new(object, "path", json_string(row->path));
	if (row->damage[0]) {
		json_object_set_new(object, "error", json_string(row->damage));
		return object;
	}
	pids = json_array();
	for (unsigned i = 0; i < info->n_pids && i < SESSION_PIDS_MAX; i++)
		if (info->process[i].pid)
			json_array_append_new(pids, json_integer(info->process[i].pid));
	json_object_set_new(object, "pids", pids);
	json_object_set_new(object, "n_pids", json_integer(info->n_pids));
	json_object_set_new(object, "processes", ls_json_processes(info));
	json_object_set_new(object, "program", json_string(info->process[0].name));
	json_object_set_new(object, "cmdline", json_string(info->cmdline));
	json_object_set_new(object, "mask", json_string(info->mask));
	json_object_set_new(object, "frozen", json_boolean(info->frozen));
	json_object_set_new(object, "events", json_integer((json_int_t)info->events));
	json_object_set_new(object, "lost", json_integer((json_int_t)info->lost));
	json_object_set_new(object, "bytes", json_integer((json_int_t)info->bytes));
	json_object_set_new(object, "age_s", json_integer((json_int_t)info->age_s));
	return object;
}

static int ls_json(const struct ls *ls)
{
	json_t *array = json_array();
	int rc;

	for (size_t i = 0; i < ls->n_rows; i++)
		json_array_append_new(array, ls_json_row(&ls->rows[i]));
	rc = ktr__json_print(array, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(array);
	return rc ? 1 : 0;
}

static void ls_size(uint64_t bytes, char *text, size_t size)
{
	static const char units[] = "KMGTPE";
	double n = (double)bytes / 1024;
	unsigned unit = 0;

	for (; n >= 1000 && unit < sizeof(units) - 2; unit++)
		n /= 1024;
	snprintf(text, size, n < 10 && unit ? "%.1f%c" : "%.0f%c", n, units[unit]);
}

static void ls_age(uint64_t s, char *text, size_t size)
{
	if (s < 120)
		snprintf(text, size, "%us", (unsigned)s);
	else if (s < 2 * 3600)
		snprintf(text, size, "%um", (unsigned)(s / 60));
	else if (s < 2 * 86400)
		snprintf(text, size, "%uh", (unsigned)(s / 3600));
	else
		snprintf(text, size, "%llud", (unsigned long long)s / 86400);
}

/* A number in parentheses is one of another pid namespace, which means nothing here. */
static void ls_pids(const struct session_info *info, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < info->n_pids && i < 4 && at < size; i++) {
		const struct session_process *process = &info->process[i];

		at += (size_t)snprintf(text + at, size - at, process->pid ? "%s%u" : "%s(%u)",
				       i ? "," : "", process->pid ? process->pid : process->its);
	}
	if (info->n_pids > 4 && at < size)
		snprintf(text + at, size - at, ",+%u", info->n_pids - 4);
}

static void ls_text(const struct ls *ls)
{
	int width = 4, mask = 4;

	for (size_t i = 0; i < ls->n_rows; i++) {
		int name = (int)strlen(ls->rows[i].info.name);
		int names = (int)strlen(ls->rows[i].info.mask);

		width = name > width ? name : width;
		mask = names > mask ? (names > 24 ? 24 : names) : mask;
	}
	printf("%-*s %-7s %-11s %-15s %-*s %12s %9s %6s %5s\n", width, "NAME", "STATE", "PIDS",
	       "PROGRAM", mask, "MASK", "EVENTS", "LOST", "SIZE", "AGE");
	for (size_t i = 0; i < ls->n_rows; i++) {
		const struct session_info *info = &ls->rows[i].info;
		char pids[64], size[16], age[24];

		if (ls->rows[i].damage[0]) {
			printf("%-*s %-7s %s\n", width, info->name, "damaged", ls->rows[i].damage);
			continue;
		}
		ls_pids(info, pids, sizeof(pids));
		ls_size(info->bytes, size, sizeof(size));
		ls_age(info->age_s, age, sizeof(age));
		printf("%-*s %-7s %-11s %-15s %-*s %12llu %9llu %6s %5s\n", width, info->name,
		       ls_state(&ls->rows[i]), pids, info->process[0].name, mask, info->mask,
		       (unsigned long long)info->events, (unsigned long long)info->lost, size, age);
	}
}

/* Prints what was found. 0, or 1 when nothing is of the names that were asked for. */
static int ls_print(const char *command, struct ls *ls)
{
	if (ls->n_rows)
		qsort(ls->rows, ls->n_rows, sizeof(*ls->rows), ls_order);
	if (ls->json)
		return ls_json(ls) | (ls->n_names && !ls->n_rows);
	if (ls->n_rows)
		ls_text(ls);
	else if (ls->n_names)
		return fail(command, "no session is called %s%s", ls->names[0],
			    ls->n_names > 1 ? " or as the others" : "");
	return 0;
}

static int cmd_ls(int argc, char **argv)
{
	static const struct option_row rows[] = {
		OPTION_FLAG(0, "json", struct ls, json, "print a JSON array instead of a table"),
	};
	static const struct options options = {
		.operands = "[NAME...]",
		.about =
			"Lists your sessions: of running programs, and what others left behind; * and ? in a NAME\n"
			"match. LOST counts events that could not be recorded; SIZE is memory in use.",
		.examples = "ktr ls\nktr ls 'indexer*'\nktr ls --json\n",
		OPTIONS_ROWS(rows),
	};
	struct ktr_error err = KTR_ERROR_NONE;
	struct ls ls = { 0 };
	int rc;

	if (!options_parse(&options, argc, argv, &ls, &rc))
		return rc;
	ls.names = argv + optind;
	ls.n_names = argc - optind;
	ktr__sweep(NULL);
	rc = ktr__session_walk(ls_visit, &ls, &err);
	if (rc) {
		ktr_error_set(&err, rc, "cannot list the sessions: %s", strerror(-rc));
		rc = fail_with(argv[0], &err);
	} else {
		rc = ls_print(argv[0], &ls);
	}
	free(ls.rows);
	return rc;
}

COMMAND(ls, "list sessions, live and dead", cmd_ls);
