/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of an expression, one after the other. */
#ifndef CONF_EXPR_LEX_H
#define CONF_EXPR_LEX_H

#include "conf/eval/expr_eval.h"

enum ktr__expr_token {
	KTR__EXPR_TOK_END,
	KTR__EXPR_TOK_NUMBER,
	KTR__EXPR_TOK_TEXT,  /* quoted, or a bare word where one may stand */
	KTR__EXPR_TOK_REGEX, /* between slashes */
	KTR__EXPR_TOK_NAME,
	/* Words and signs. */
	KTR__EXPR_TOK_AND,
	KTR__EXPR_TOK_OR,
	KTR__EXPR_TOK_NOT,
	KTR__EXPR_TOK_IN,
	KTR__EXPR_TOK_OPEN,
	KTR__EXPR_TOK_CLOSE,
	KTR__EXPR_TOK_COMMA,
	KTR__EXPR_TOK_RANGE,
	KTR__EXPR_TOK_TILDE, /* ~ and =~: a pattern follows; or, before a value, its complement */
	KTR__EXPR_TOK_UNLIKE,
	KTR__EXPR_TOK_COMPARE, /* what: the accepted outcomes */
	KTR__EXPR_TOK_ARITH,   /* what: the op's code */
};

/* What may stand next. */
enum ktr__expr_lex_mode {
	KTR__EXPR_LEX_VALUE,
	KTR__EXPR_LEX_WORD,   /* a bare word is a text */
	KTR__EXPR_LEX_PATTERN /* likewise, and a slash begins a regular expression */
};

struct ktr__expr_lex {
	const char *source, *at;
	struct ktr__expr *expr; /* takes the texts */
	struct ktr_error *err;
	/* The current word. */
	enum ktr__expr_token token;
	unsigned what;
	unsigned column; /* [bytes] from 1 */
	int bare;        /* TEXT without quotes */
	int no_case;     /* REGEX: i after it */
	struct ktr__expr_value value;
};

/* Moves on to the next word. 0 or -errno with err filled. */
int ktr__expr_next(struct ktr__expr_lex *lex, enum ktr__expr_lex_mode mode);

/* Fills err for the current word, or for a column. Returns -EINVAL. */
int ktr__expr_wrong(struct ktr__expr_lex *lex, unsigned column, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
