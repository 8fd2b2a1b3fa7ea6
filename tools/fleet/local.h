/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The questions of ktr fleet without a server: traces in a folder are asked one by one, in SQL (ktr-sql(1)), for
 * what a question needs, and what they answer is asked together.
 */
#ifndef FLEET_LOCAL_H
#define FLEET_LOCAL_H

#include "tools/fleet/questions.h"

#include <ktr/error.h>

struct local;

/* What is asked: as of question_query(), and of what. */
struct local_ask {
	const struct question *question;
	const char *name, *a, *b; /* its operands */
	const char *host;	  /* NULL: of all */
	int64_t from_ts, to_ts;	  /* [ns] of UTC: [from, to) */
};

/*
 * Reads the traces of a folder; ask is borrowed until it is closed. What cannot be read is told on stderr, and left
 * out. 0 with an owned object in *out, or -errno with err filled.
 */
int local_open(struct local **out, const char *command, const char *folder, const struct local_ask *ask,
	       struct ktr_error *err);
void local_close(struct local *local);

/* How many traces could not be read, and of how many a part could not. */
unsigned local_n_missing(const struct local *local);
unsigned local_n_partial(const struct local *local);

/* The answer to the question, or to "basis", as TabSeparatedWithNamesAndTypes; owned. 0 or -errno with err filled. */
int local_answer(struct local *local, const struct question *question, char **bytes, struct ktr_error *err);

#endif
