/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The questions that ktr fleet asks: each is a file of SQL, which others take as it is. What can be told of one
 * stands in lines of its own, a name each: "'' AS only_host,".
 */
#ifndef FLEET_QUESTIONS_H
#define FLEET_QUESTIONS_H

#include "tools/fleet/native.h"

/* X(name, operands, help) */
#define QUESTIONS_LIST(X)                                                             \
	X(top, 0, "the busiest call sites")                                           \
	X(slow, 0, "the slowest spans")                                               \
	X(losses, 0, "which hosts lost events")                                       \
	X(hosts, 0, "what there is of each host")                                     \
	X(span, 1, "NAME: how long it takes, by minute, host and build")              \
	X(diff, 2, "A B: two builds, or two hosts, side by side")                     \
	X(basis, 0, "what answers rest on")

#define QUESTIONS_DECLARE(name, n, help) extern const char question_##name[], question_##name##_end[];
QUESTIONS_LIST(QUESTIONS_DECLARE)

/* What a name stands for: a text, or with text NULL a number. */
struct question_value {
	const char *name, *text;
	int64_t number;
};

struct question {
	const char *name, *sql, *help;
	unsigned n_operands;
};

extern const struct question questions[]; /* a row without a name ends them */

/* NULL: there is none of that name. */
const struct question *question_find(const char *name);

/* The query, of a database, with the values that are given, and a NUL. 0 or -ENOMEM. */
int question_query(const struct question *question, const char *database, const struct question_value *value,
		   unsigned n_values, struct native_buffer *out);

#endif
