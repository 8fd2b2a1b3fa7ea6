/* SPDX-License-Identifier: BSD-2-Clause */
/* An image of types (types.h) while it is made. The first call that fails is remembered; finishing tells. */
#ifndef ANALYZE_TYPES_BUILD_H
#define ANALYZE_TYPES_BUILD_H

#include "ktr/provider/types/types.h"
#include "analyze/types/word_map.h"

struct ktr__types_build {
	struct ktr__types_head head;
	struct ktr__types_function *function; /* owned, as all */
	struct ktr__types_type *type;
	struct ktr__types_member *member;
	char *strings;
	uint32_t function_room, type_room, member_room, string_room;
	struct ktr__word_map string_map, type_map;
	int error; /* -errno of the first call that failed, or 0 */
};

void ktr__types_build_begin(struct ktr__types_build *build);
void ktr__types_build_free(struct ktr__types_build *build);

/* The number of a text, the same for the same text; 0 for "" and NULL. */
uint32_t ktr__types_build_text(struct ktr__types_build *build, const char *text);

/*
 * The number of a type, the same for what is the same in every member; 0 when there is no more room. For a struct,
 * union, class or enum the key says which is the same instead, and *is_new (else NULL) whether it is wanted whole.
 */
uint32_t ktr__types_build_type(struct ktr__types_build *build, const struct ktr__types_type *type, uint64_t key,
			       int *is_new);

/*
 * Adds a record behind those that there are. Its number is that of those before; pointers into arrays become
 * stale.
 */
void ktr__types_build_member(struct ktr__types_build *build, const struct ktr__types_member *member);
void ktr__types_build_function(struct ktr__types_build *build, const struct ktr__types_function *function);

/* Sorts, and writes the image: *bytes is owned, of malloc(3). 0 or -errno. */
int ktr__types_build_end(struct ktr__types_build *build, void **bytes, size_t *n_bytes);

#endif
