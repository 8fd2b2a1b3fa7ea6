/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The expression language of filters and triggers. It knows numbers and texts; what the fields are, and
 * where their values come from, its users say through tables and callbacks.
 *
 *	text --expr_lex.c, expr_parse.c--> tree --expr_emit.c--> program --expr_eval.c--> yes or no
 *
 * One tree gives any number of programs: whoever emits one says for each field and argument whether its
 * value is known by then. What depends on known values alone is computed at that time, so that a
 * program emitted for one call site holds only what its events differ in, and often nothing at all.
 *
 * Values. An integer is a whole number of 64 bits: INT below 2^63, negative ones included, BIG from 2^63
 * on. Comparisons are exact whatever the signs. Arithmetic wraps around modulo 2^64; where one side is
 * BIG both are taken as unsigned. Shifts by 64 and more, and by negative counts, shift everything out.
 * REAL is a double; one REAL makes + - * / and comparisons REAL, and has no remainder and no bits. A
 * division by zero, REAL ones excepted, has no value (NONE); neither has what is computed from NONE, an
 * argument that an event does not have, or a comparison of a number with a text. A condition over NONE
 * does not hold, and neither does its negation.
 *
 * The compiling half is for tools and allocates; the evaluating half is in libktr too and takes programs
 * from shared memory: any bytes are safe to evaluate, it never allocates, blocks or loops backwards.
 */
#ifndef CONF_EXPR_H
#define CONF_EXPR_H

#include "conf/eval/expr_eval.h"

#include <ktr/error.h>

#include <stddef.h>
#include <stdint.h>

enum ktr__expr_type {
	KTR__EXPR_T_NUMBER,
	KTR__EXPR_T_TEXT,  /* of names: a bare word on the right stands for itself */
	KTR__EXPR_T_PATH,  /* likewise, and matches after any '/' on */
	KTR__EXPR_T_SET,   /* bits with names: == means "has one of them" */
	KTR__EXPR_T_PLACE, /* no value of its own: FILE:LINE, a number, or one of several fields */
	KTR__EXPR_T_OF,    /* a number, of what is named after it: `span request`; alone it is an argument */
	KTR__EXPR_T_ANY    /* an argument: its type is known when it is emitted */
};

/*
 * A field of the user's. `either` leads on to another field that a comparison by name may match as well,
 * 0 ends. A PLACE is compared as "A:N", which means file == A and line == N; as a number, which means
 * number == it; as any other text, which means either field. All are indices in the table; the one at
 * index 0 cannot be referred to.
 */
struct ktr__expr_field {
	const char *name;
	const char *help;
	uint8_t type; /* enum ktr__expr_type */
	uint8_t either;
	uint8_t file;
	uint8_t line;
	uint8_t number;
	uint8_t user; /* the user's own mark */
};

/*
 * The user's own reading of a text that is compared with a field: a time, a set of names. -ENOTSUP: texts
 * mean nothing to it; -EAGAIN: compare with the `either` field instead. The error's column is within the
 * text.
 */
typedef int ktr__expr_constant_fn(void *context, unsigned field, const char *text, uint64_t *value,
				  struct ktr_error *err);

struct ktr__expr_language {
	const struct ktr__expr_field *fields;
	unsigned n_fields;
	unsigned n_args; /* arg0 to arg<n-1> */
	ktr__expr_constant_fn *constant;
	void *context;
};

enum ktr__expr_node_kind {
	KTR__EXPR_N_NUMBER, /* constants */
	KTR__EXPR_N_TEXT,
	KTR__EXPR_N_FIELD, /* of type OF: text is the name */
	KTR__EXPR_N_ARG,   /* by position: field */
	KTR__EXPR_N_NAMED, /* by name: text */
	KTR__EXPR_N_ARITH, /* code, left, right */
	KTR__EXPR_N_TEST,  /* code, what, left, right */
	KTR__EXPR_N_AND,   /* conditions from here on; TEST is one too */
	KTR__EXPR_N_OR,
	KTR__EXPR_N_NOT /* left */
};

struct ktr__expr_node {
	uint8_t kind; /* enum ktr__expr_node_kind */
	uint8_t code;
	uint8_t what;
	uint8_t type; /* enum ktr__expr_type, of values */
	uint16_t left, right, field;
	uint16_t
		named; /* a condition over a name: the field it was written with, + 1; value: the name */
	uint32_t column; /* [bytes] from 1 */
	struct ktr__expr_value value;
};

/* [nodes] Lists grow to so many alternatives; a program has fewer ops than that anyway. */
#define KTR__EXPR_NODES_MAX 2048

struct ktr__expr {
	struct ktr__expr_node node[KTR__EXPR_NODES_MAX];
	unsigned n_nodes;
	unsigned root;
	char *texts; /* of the nodes' values; longer than the source by at most a factor of two */
	size_t n_texts, room;
	void *regex; /* array of regex_t */
	unsigned n_regex;
};

#endif
