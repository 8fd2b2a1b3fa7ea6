/* SPDX-License-Identifier: BSD-2-Clause */
/* Comparisons, those with names included; what is returned is said in expr_tree.h. */
#ifndef CONF_EXPR_NAME_H
#define CONF_EXPR_NAME_H

#include "conf/expr/expr_tree.h"

/* One comparison while it is being put together. */
struct ktr__tree_compare {
	unsigned code;   /* COMPARE, GLOB or REGEX */
	unsigned what;   /* accepted outcomes */
	unsigned column; /* of the sign */
	int right;       /* constant or other node */
};


/* Is the node the field of a name, to the right of which a bare word is a text? Returns 1 or 0. */
int ktr__tree_is_name(struct ktr__tree *p, int node);

/* A name's field against a text. */
int ktr__tree_name_test(struct ktr__tree *p, unsigned field, struct ktr__tree_compare c);

/* left against c->right, whatever they are. */
int ktr__tree_compare(struct ktr__tree *p, int left, const struct ktr__tree_compare *c);

#endif
