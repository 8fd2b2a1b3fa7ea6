/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Members of what a function's arguments, or its result, point to:
 *
 *	req->len, req->conn->peer.port	as in the source; a reference of C++, and what is passed like one, has a dot
 *	result->len			of the result, where no argument has that name
 *	*count				what is no struct
 *
 * Members of what has no name, and of base classes, are the struct's own.
 */
#ifndef KTR_FBT_PATHS_H
#define KTR_FBT_PATHS_H

#include "ktr/provider/fbt/typed.h"

#define KTR__FBT_PATH 64 /* [bytes] longer ones are none */

struct ktr__fbt_path {
	const char *text;
	uint32_t type; /* of the member */
	int arg; /* number of the argument; -1: it is the result's */
	const char *conversion; /* how a format prints it */
	struct ktr__fbt_value value; /* whoever is called owns what it has */
};

/*
 * Calls back for each that fits, each name between the arrows and dots being a glob: "req->*". The first word is
 * the argument's; behind a star in its place there has to be more, "*->len", or it is taken for "*count".
 */
typedef void ktr__fbt_path_found(void *context, struct ktr__fbt_path *path);
void ktr__fbt_paths(const struct ktr__types *types, const struct ktr__types_function *function, const char *glob,
		    ktr__fbt_path_found *found, void *context);

#endif
