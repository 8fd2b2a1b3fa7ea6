/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constraints on kept spans. What is looked up may be more than what is asked for, never less: SQLite looks at
 * each row again. A time bounds when a span begins, also the time of its end does: none begins after it has
 * ended.
 */
#include "analyze/sql/sql_look.h"

#include "analyze/sql/sql.h"
#include "analyze/sql/sql_plan.h"
#include "conf/kit/hash.h"
#include "conf/kit/utf8.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_ROWS 1e6 /* how many spans there are taken to be */

/* By the place of a column in the table; sql_spans.c. */
enum {
	LOOK_TIME,
	LOOK_UNTIL,
	LOOK_DUR,
	LOOK_KIND,
	LOOK_GRP,
	LOOK_ID,
	LOOK_STATE,
	LOOK_KEY,
	LOOK_PID,
	LOOK_TID,
	LOOK_THREAD,
	LOOK_END_TID,
	LOOK_CPU,
	LOOK_SITE
};

#define LOOK_NUMBERS (1u << LOOK_KEY | 1u << LOOK_PID | 1u << LOOK_TID | 1u << LOOK_END_TID | 1u << LOOK_CPU)
#define LOOK_TEXTS   (1u << LOOK_GRP | 1u << LOOK_ID | 1u << LOOK_STATE | 1u << LOOK_THREAD | 1u << LOOK_SITE)

/* ---- the plan ---- */

/* What a constraint is to us: an operator of sql_plan.h, or 0. */
static char look_op(sqlite3_index_info *info, int i, const struct ktr__sql_column *column)
{
	const struct sqlite3_index_constraint *c = &info->aConstraint[i];
	char op = ktr__sql_plan_op(c->op);

	if (!c->usable || c->iColumn < 0)
		return 0;
	if (column[c->iColumn].role == KTR__SQL_FILTER)
		return op == '=' ? '=' : 0;
	if (c->iColumn == LOOK_TIME || c->iColumn == LOOK_UNTIL)
		return op;
	if (op != '=' || c->iColumn > LOOK_SITE)
		return 0;
	if (1u << c->iColumn & LOOK_NUMBERS)
		return op;
	if (1u << c->iColumn & LOOK_TEXTS && strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0)
		return op;
	return 0;
}

/* Does the value come from a row of another table? A constant is known by now, but for a parameter. */
static int look_is_joined(sqlite3_index_info *info, int i)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	sqlite3_value *value;

	return sqlite3_vtab_rhs_value(info, i, &value) != SQLITE_OK;
#else
	(void)info;
	(void)i;
	return 1;
#endif
}

int ktr__sql_look_best(sqlite3_index_info *info, const struct ktr__sql_column *column)
{
	char *text = sqlite3_malloc(2 * info->nConstraint + 1);
	double rows = LOOK_ROWS;
	int n = 0, joined = 0;

	if (!text)
		return -SQLITE_NOMEM;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		char op = look_op(info, i, column);

		if (!op)
			continue;
		if (column[c->iColumn].role != KTR__SQL_FILTER) {
			joined |= look_is_joined(info, i);
			rows *= op == '=' ? 0.001 : 0.05;
		}
		text[2 * n] = (char)('A' + c->iColumn);
		text[2 * n + 1] = op;
		info->aConstraintUsage[i].argvIndex = ++n;
		info->aConstraintUsage[i].omit = column[c->iColumn].role == KTR__SQL_FILTER;
	}
	if (!joined) {
		for (int i = 0; i < info->nConstraint; i++)
			info->aConstraintUsage[i].argvIndex = info->aConstraintUsage[i].omit = 0;
		sqlite3_free(text);
		return 0;
	}
	text[2 * n] = 0;
	info->idxStr = text;
	info->needToFreeIdxStr = 1;
	info->idxNum = KTR__SQL_KEPT;
	info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
	info->estimatedCost = 20 + rows;
	return 1;
}

/* ---- values ---- */

static uint64_t look_text(uint64_t hash, const char *bytes, size_t n)
{
	char *repaired;

	if (ktr__utf8_plain(bytes, n) == n)
		return ktr__hash_bytes(hash, bytes, n);
	repaired = malloc(3 * n + 1);
	if (repaired)
		hash = ktr__hash_bytes(hash, repaired, ktr__utf8_repair(repaired, bytes, n));
	free(repaired);
	return hash;
}

static uint64_t look_string(uint64_t hash, const char *text)
{
	return look_text(hash, text ? text : "", text ? strlen(text) : 0);
}

uint64_t ktr__sql_look_hash(const struct ktr__sql_span_row *row, unsigned column, uint64_t hash)
{
	const struct ktr__span *span = &row->span;

	switch (column) {
	case LOOK_GRP:
		return look_string(hash, span->group);
	case LOOK_ID:
		return look_text(hash, span->ident.bytes, span->ident.n_bytes);
	case LOOK_STATE:
		return look_text(hash, span->state.bytes, span->state.n_bytes);
	case LOOK_THREAD:
		return look_string(hash, span->thread->name);
	case LOOK_SITE:
		return look_string(hash, span->site->name);
	case LOOK_KEY:
		return ktr__hash_word(hash, span->key);
	case LOOK_PID:
		return ktr__hash_word(hash, span->pid);
	case LOOK_TID:
		return ktr__hash_word(hash, span->thread->tid);
	case LOOK_END_TID:
		return ktr__hash_word(hash, span->end_thread ? span->end_thread->tid : 0);
	default:
		return ktr__hash_word(hash, span->cpu);
	}
}

/* The same of a value. 0: no row has it. */
static int look_value(unsigned column, sqlite3_value *value, uint64_t *hash)
{
	const char *text;
	double real;

	if (1u << column & LOOK_TEXTS) {
		text = (const char *)sqlite3_value_text(value);
		*hash = look_text(*hash, text ? text : "", text ? (size_t)sqlite3_value_bytes(value) : 0);
		return text != NULL;
	}
	switch (sqlite3_value_numeric_type(value)) {
	case SQLITE_INTEGER:
		*hash = ktr__hash_word(*hash, (uint64_t)sqlite3_value_int64(value));
		return 1;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(value);
		if (!(real > -9e18 && real < 9e18))
			return 0;
		*hash = ktr__hash_word(*hash, (uint64_t)(int64_t)real);
		return 1;
	default:
		return 0;
	}
}

static void look_time(struct ktr__sql_look *look, uint64_t zero, unsigned column, char op, sqlite3_value *value)
{
	__int128 bound;

	if (op != '<' && op != 'l') {
		bound = ktr__sql_plan_bound(value, op == '>') + zero;
		bound = bound < 0 ? 0 : bound > UINT64_MAX ? UINT64_MAX : bound;
		if (column == LOOK_TIME && bound > look->from_ns)
			look->from_ns = (uint64_t)bound;
		if (bound > look->until_ns)
			look->until_ns = (uint64_t)bound;
	}
	if (op != '>' && op != 'g') {
		bound = ktr__sql_plan_bound(value, op != '<') + zero;
		bound = bound < 0 ? 0 : bound > UINT64_MAX ? UINT64_MAX : bound;
		if (bound < look->before_ns)
			look->before_ns = (uint64_t)bound;
	}
}

int ktr__sql_look_make(const struct ktr__sql_cursor *cursor, const char *text, sqlite3_value **argv,
		       struct ktr__sql_look *look)
{
	uint64_t zero = ktr_reader_info(ktr__sql_reader(cursor->sql))->first_ns;
	int of[LOOK_SITE + 1];

	*look = (struct ktr__sql_look){ .before_ns = UINT64_MAX };
	memset(of, -1, sizeof(of));
	for (int i = 0; text[2 * i]; i++) {
		unsigned column = (unsigned)(text[2 * i] - 'A');

		/* Nothing compares with NULL. */
		if (sqlite3_value_type(argv[i]) == SQLITE_NULL)
			return 0;
		if (column == LOOK_TIME || column == LOOK_UNTIL)
			look_time(look, zero, column, text[2 * i + 1], argv[i]);
		else if (column <= LOOK_SITE)
			of[column] = i;
	}
	for (unsigned c = 0; c <= LOOK_SITE; c++)
		if (of[c] >= 0) {
			look->columns |= 1u << c;
			if (!look_value(c, argv[of[c]], &look->hash))
				return 0;
		}
	return 1;
}
