/* SPDX-License-Identifier: BSD-2-Clause */
/* An expression and where it is wrong, for a terminal. */
#ifndef CONF_EXPR_CARET_H
#define CONF_EXPR_CARET_H

#include <ktr/error.h>

#include <stddef.h>

/*
 * Two lines for a terminal: the expression, and a caret below the byte that the error is about, each
 * with "  " before it and a newline. A long expression is cut around the place. Empty where err has no
 * column. Returns buffer.
 */
const char *ktr__expr_caret(const char *text, const struct ktr_error *err, char *buffer,
			    size_t size);

#endif
