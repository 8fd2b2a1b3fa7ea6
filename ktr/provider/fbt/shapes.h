/* SPDX-License-Identifier: BSD-2-Clause */
/* How a value is recorded: out of its type and of the place where functions find it. */
#ifndef KTR_FBT_SHAPES_H
#define KTR_FBT_SHAPES_H

#include "ktr/provider/fbt/typed.h"
#include "ktr/provider/types/places.h"

#define KTR__FBT_NAME 40 /* [bytes] of an argument's or a member's */

/* Where it is. false: nowhere that one word could be taken from. */
bool ktr__fbt_shape_place(const struct ktr__types_place *place, bool is_result, struct ktr__fbt_value *value);

/*
 * What it is, and how a format prints it, "%jd"; NULL: it is none that can be recorded. What the value has of memory
 * is its owner's, who frees it by ktr__fbt_shape_free().
 */
const char *ktr__fbt_shape(const struct ktr__types *types, uint32_t type, struct ktr__fbt_value *value);
void ktr__fbt_shape_free(struct ktr__fbt_value *value);

/* Is an argument passed, and a result returned? A compiler leaves out what nobody uses. */
bool ktr__fbt_shape_passed(const struct ktr__types *types, const struct ktr__types_function *function, uint32_t i);
bool ktr__fbt_shape_returns(const struct ktr__types *types, const struct ktr__types_function *function);

/* Are they recorded alike? */
bool ktr__fbt_shape_same(const struct ktr__fbt_value *one, const struct ktr__fbt_value *two);

/* Is it char? */
bool ktr__fbt_shape_is_text(const struct ktr__types *types, uint32_t type);

/*
 * A name of the source, in which a format and a list of names find nothing of their own; without one arg and its
 * number. And a type, in a line. Owned by who calls; NULL: there is no memory.
 */
char *ktr__fbt_shape_name(const char *name, unsigned number);
char *ktr__fbt_shape_type(const struct ktr__types *types, uint32_t type, uint32_t language);

#endif
