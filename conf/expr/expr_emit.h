/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees to programs. */
#ifndef CONF_EXPR_EMIT_H
#define CONF_EXPR_EMIT_H

#include "conf/expr/expr.h"

/*
 * What is known of a FIELD, ARG or NAMED node while a program is emitted: 1 and a constant in *value (NONE: it
 * has no value here), or 0 and the op that will load it in *op, and the kind TEXT in *value if it is always a
 * text. The op is WORD where a test may look at words[field] itself, signed or (what: KTR__EXPR_UNSIGNED) not,
 * otherwise LOAD. Where no test can, WORD is emitted as a LOAD with KTR__EXPR_FROM_WORD.
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

/*
 * Emits node (the root, usually) as a program. Returns 0, or -E2BIG with err, which may be NULL, filled. The
 * texts of *emitted are borrowed from the expression.
 */
int ktr__expr_emit(const struct ktr__expr *expr, unsigned node, ktr__expr_known_fn *known,
		   void *context, struct ktr__expr_emitted *emitted, struct ktr_error *err);

#endif
