/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values and programs of expressions, and how they are evaluated; conf/expr/expr.h tells what values mean.
 *
 * libktr takes programs from shared memory: any bytes are safe to evaluate. Nothing here allocates, blocks or loops
 * backwards.
 */
#ifndef CONF_EXPR_EVAL_H
#define CONF_EXPR_EVAL_H

#include <stddef.h>
#include <stdint.h>

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
	uint8_t yes; /* tests: index of an op after this one, ACCEPT or REJECT */
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
 * Returns 1 when the program accepts, 0 when it does not. Where the loader says UNKNOWN, tests go both ways,
 * and the answer is whether any value could make the program accept.
 */
int ktr__expr_run(const struct ktr__expr_program *program, const struct ktr__expr_user *user);

/* Returns a code b, code from ADD to SHR; NONE where that has no value. */
struct ktr__expr_value ktr__expr_arith(unsigned code, const struct ktr__expr_value *a,
				       const struct ktr__expr_value *b);

/* Returns the outcome of a test, KTR__EXPR_LESS to _UNORDERED, or 0 where there is none. */
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

#endif
