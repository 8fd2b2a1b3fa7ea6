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

#include <ktr/error.h>

#include <stddef.h>
#include <stdint.h>

/* ---- values and programs: expr_eval.c ---- */

enum ktr__expr_kind {
	KTR__EXPR_NONE,
	KTR__EXPR_INT,
	KTR__EXPR_BIG,
	KTR__EXPR_REAL,
	KTR__EXPR_TEXT,
	KTR__EXPR_UNKNOWN /* from a loader only: there is a value, but not now; see ktr__expr_run() */
};

struct ktr__expr_value {
	uint64_t bits;    /* of an integer or a double */
	const char *text; /* TEXT: length bytes, NUL or not */
	uint32_t length;
	uint32_t kind; /* enum ktr__expr_kind */
};

enum ktr__expr_code {
	KTR__EXPR_LOAD,   /* push field */
	KTR__EXPR_NUMBER, /* push value; what: its kind */
	KTR__EXPR_STRING, /* push length bytes of the program's texts at value */
	KTR__EXPR_ADD,    /* from here to SHR: pop b, pop a, push a op b */
	KTR__EXPR_SUB,
	KTR__EXPR_MUL,
	KTR__EXPR_DIV,
	KTR__EXPR_MOD,
	KTR__EXPR_AND,
	KTR__EXPR_OR,
	KTR__EXPR_XOR,
	KTR__EXPR_SHL,
	KTR__EXPR_SHR,
	KTR__EXPR_COMPARE, /* from here on tests: pop b, pop a, go to yes or no */
	KTR__EXPR_GLOB,    /* b is the pattern */
	KTR__EXPR_REGEX,   /* b is a number, the pattern's */
	KTR__EXPR_WORD     /* word[field] with value, both signed, or unsigned: see what */
};

/* What a test accepts: a set of outcomes. NONE is in no set, so that "not" is an exclusive or. */
#define KTR__EXPR_LESS      1u
#define KTR__EXPR_EQUAL     2u
#define KTR__EXPR_GREATER   4u
#define KTR__EXPR_UNORDERED 8u /* a NaN */
#define KTR__EXPR_OUTCOMES  15u
#define KTR__EXPR_PATH      16u /* the text, or what follows any '/' in it */
#define KTR__EXPR_UNSIGNED  32u /* WORD */
#define KTR__EXPR_FROM_WORD 64u /* LOAD: what WORD would look at, for the user's loader */

#define KTR__EXPR_DEPTH_MAX 8    /* [values] on the stack: 256 bytes of a signal handler's */
#define KTR__EXPR_OPS_MAX   250  /* targets fit a byte */
#define KTR__EXPR_ACCEPT    254u /* targets */
#define KTR__EXPR_REJECT    255u

struct ktr__expr_op {
	uint8_t code;
	uint8_t what;
	uint8_t yes; /* tests: index of an op behind this one, ACCEPT or REJECT */
	uint8_t no;
	uint16_t field;  /* LOAD: the user's number; WORD: index */
	uint16_t length; /* [bytes] LOAD of a named argument, STRING; [bits] WORD: that count, 0: all */
	uint64_t value;
};

_Static_assert(sizeof(struct ktr__expr_op) == 16, "lies in shared memory");

struct ktr__expr_program {
	const struct ktr__expr_op *op; /* read one by one, each checked: may change meanwhile */
	uint32_t n_ops;
	uint32_t n_texts; /* [bytes] */
	const char *texts;
	uint32_t first; /* op to begin with */
};

/*
 * Gives the value of op->field in *value, which is NONE with no bits when it is called. name is the
 * op's text of op->length bytes, checked.
 */
typedef void ktr__expr_load_fn(void *context, const struct ktr__expr_op *op, const char *name,
			       struct ktr__expr_value *value);

/* Does the text match regular expression number `index`? 0 or 1. */
typedef int ktr__expr_regex_fn(void *context, uint64_t index, const char *text, size_t length);

struct ktr__expr_user {
	ktr__expr_load_fn *load;
	ktr__expr_regex_fn *regex; /* NULL: none matches */
	void *context;
	const uint64_t *words; /* of WORD; NULL: such an op is refused */
	uint32_t n_words;
};

/*
 * 1: the program accepts; 0: it does not. Where the loader says UNKNOWN, tests go both ways, and the
 * answer is whether any value could make the program accept.
 */
int ktr__expr_run(const struct ktr__expr_program *program, const struct ktr__expr_user *user);

/* a code b, code from ADD to SHR. */
struct ktr__expr_value ktr__expr_arith(unsigned code, const struct ktr__expr_value *a,
				       const struct ktr__expr_value *b);

/* The outcome of a test, KTR__EXPR_LESS to _UNORDERED, or 0 where there is none. */
unsigned ktr__expr_outcome(const struct ktr__expr_op *op, const struct ktr__expr_value *a,
			   const struct ktr__expr_value *b, const struct ktr__expr_user *user);

static inline struct ktr__expr_value ktr__expr_unsigned(uint64_t bits)
{
	return (struct ktr__expr_value){ .bits = bits,
					 .kind = bits >> 63 ? KTR__EXPR_BIG : KTR__EXPR_INT };
}

static inline struct ktr__expr_value ktr__expr_text(const char *text, size_t length)
{
	return (struct ktr__expr_value){ .text = text,
					 .length = (uint32_t)length,
					 .kind = KTR__EXPR_TEXT };
}

/*
 * glob.c: does a pattern match the whole text? '*' any bytes, '?' one, [a-z] and [!a-z] one of a set,
 * '\' the next byte as it is. A bracket that is not closed stands for itself. Time is at most the
 * product of the lengths; no recursion.
 */
int ktr__glob(const char *pattern, size_t n_pattern, const char *text, size_t n_text);

/* ---- texts to trees: expr_lex.c, expr_parse.c; not in libktr ---- */

enum ktr__expr_type {
	KTR__EXPR_T_NUMBER,
	KTR__EXPR_T_TEXT,  /* of names: a bare word on the right stands for itself */
	KTR__EXPR_T_PATH,  /* likewise, and matches from behind any '/' on */
	KTR__EXPR_T_SET,   /* bits with names: == means "has one of them" */
	KTR__EXPR_T_PLACE, /* no value of its own: FILE:LINE, a number, or one of several fields */
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
	KTR__EXPR_N_FIELD,
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

/*
 * Reads an expression. 0 with *out owned, or -errno with *out NULL and err filled; its column is the
 * byte from 1.
 */
int ktr__expr_parse(const char *text, const struct ktr__expr_language *language,
		    struct ktr__expr **out, struct ktr_error *err);
void ktr__expr_free(struct ktr__expr *expr);

/* A ktr__expr_regex_fn over the expression's patterns; context is the struct ktr__expr. */
int ktr__expr_regex(void *context, uint64_t index, const char *text, size_t length);

/*
 * Two lines for a terminal: the expression, and a caret below the byte that the error is about, each
 * with "  " before it and a newline. A long expression is cut around the place. Empty where err has no
 * column.
 */
const char *ktr__expr_caret(const char *text, const struct ktr_error *err, char *buffer,
			    size_t size);

/* ---- trees to programs: expr_emit.c; not in libktr ---- */

/*
 * What is known of a FIELD, ARG or NAMED node while a program is emitted: 1 and a constant in *value
 * (NONE: it has no value here), or 0 and the op that will load it in *op: WORD where a test may look at
 * words[field] itself, signed or (what: KTR__EXPR_UNSIGNED) not, otherwise LOAD. Where no test can, WORD
 * is emitted as a LOAD with KTR__EXPR_FROM_WORD.
 */
typedef int ktr__expr_known_fn(void *context, const struct ktr__expr_node *node,
			       struct ktr__expr_value *value, struct ktr__expr_op *op);

struct ktr__expr_emitted {
	struct ktr__expr_op op[KTR__EXPR_OPS_MAX];
	unsigned n_ops;
	int always;        /* without ops: 1 accepts, 0 rejects everything */
	const char *texts; /* the expression's */
	uint32_t n_texts;
};

/* Emits node (the root, usually) with words of WORD ops as op says. 0, or -E2BIG with err filled. */
int ktr__expr_emit(const struct ktr__expr *expr, unsigned node, ktr__expr_known_fn *known,
		   void *context, struct ktr__expr_emitted *emitted, struct ktr_error *err);

#endif
