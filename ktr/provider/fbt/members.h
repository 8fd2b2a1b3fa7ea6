/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A provider like fbt_args: fbt_member:MODULE:FUNCTION:req->len says whether events of a function's entry have that
 * member of what its argument points to, or those of its return a member of its result. paths.h has what members
 * there are.
 */
#ifndef KTR_FBT_MEMBERS_H
#define KTR_FBT_MEMBERS_H

#include "ktr/provider/fbt/args.h"

void ktr__fbt_members_begin(void);

/* Offers those of a function that are asked for. part: its name as part of a probe's. */
void ktr__fbt_members_offer(struct ktr__fbt_asked *asked, const struct ktr__fbt_object *object, uint32_t number,
			    const char *name, const char *part);

/* For args.c, of one function: adds those that are on; and their module goes. */
void ktr__fbt_members_wished(const struct ktr__fbt_member *members, struct ktr__fbt_wish *wish);
void ktr__fbt_members_leave(struct ktr__fbt_member *members);

/* The last part of a SPEC that may be for members. NULL: it has none. */
const char *ktr__fbt_members_glob(const char *spec);

/* A SPEC for those that are beside a member that there may be none of. false: it is for no member. */
bool ktr__fbt_members_beside(const char *spec, char *beside, size_t size);

#endif
