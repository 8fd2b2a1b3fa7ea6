/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts to trees. */
#ifndef CONF_EXPR_PARSE_H
#define CONF_EXPR_PARSE_H

#include "conf/expr/expr.h"

/*
 * Reads an expression. Returns 0 with *out owned, or -errno with *out NULL and err, which may be NULL, filled:
 * -EINVAL for what is no expression, -ENOMEM, or what the language's constant() returned. The error's column is
 * the byte, from 1.
 */
int ktr__expr_parse(const char *text, const struct ktr__expr_language *language,
		    struct ktr__expr **out, struct ktr_error *err);

/* Accepts NULL. */
void ktr__expr_free(struct ktr__expr *expr);

/* A ktr__expr_regex_fn over the expression's patterns; context is the struct ktr__expr. Returns 1 or 0. */
int ktr__expr_regex(void *context, uint64_t index, const char *text, size_t length);

#endif
