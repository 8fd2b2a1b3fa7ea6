/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A function whose arguments and result are recorded: which of them, where each one is when the function begins and
 * has ended, and the call sites that its events are of. Out of the types of the file that it was loaded from, which
 * `ktr types` keeps by build-id (ktr/provider/types/types_file.h).
 *
 * While its arguments are on, the probe of a function's entry is kept here, and the function has one that is never
 * on: so a function without costs nothing more for it (fire.c).
 */
#ifndef KTR_FBT_TYPED_H
#define KTR_FBT_TYPED_H

#include "ktr/provider/fbt/object.h"
#include "ktr/provider/types/types.h"

#define KTR__FBT_VALUES 5 /* arguments: an event has six, and one is the key of a scope */
#define KTR__FBT_TEXT	64 /* [bytes] of a string that are recorded */

enum ktr__fbt_shape {
	KTR__FBT_SIGNED,
	KTR__FBT_UNSIGNED,
	KTR__FBT_FLOAT,
	KTR__FBT_STRING,
	KTR__FBT_ENUM,
};

/* The names of an enum, by value. Never freed: events that are being recorded may point to one. */
struct ktr__fbt_names {
	uint32_t n;
	struct ktr__fbt_name {
		uint64_t value; /* as many bytes of it as the enum has, the rest 0 */
		const char *name;
	} row[];
};

/*
 * Of the trampoline (trampoline_x86_64.S) everything that carries arguments and results lies on the stack, in words
 * from the place of the return address on, but for vectors 3 to 7, which are in their registers still.
 */
struct ktr__fbt_value {
	int32_t at;	/* [words] from the place */
	uint8_t vector; /* 3 to 7: it is in this one; else 0 */
	uint8_t n_bytes; /* 1, 2, 4, 8 */
	uint8_t shape; /* enum ktr__fbt_shape */
	uint8_t type;  /* enum ktr_arg_type */
	const struct ktr__fbt_names *names; /* of an enum */
};

/* Which call sites there are: bits. */
#define KTR__FBT_SITE_SCOPE  1u
#define KTR__FBT_SITE_ENTRY  2u /* the entry by itself */
#define KTR__FBT_SITE_RETURN 4u

struct ktr__fbt_typed {
	struct ktr__fbt_function self; /* the function of a record of its calls: none of its probes is on */
	struct ktr__fbt_function *function;
	struct ktr_provider_probe *entry; /* while it is on; else ktr__fbt_none. Atomic, as on, made and left */
	uint32_t on;
	uint32_t made; /* sites */
	uint32_t n;
	uint32_t has_result;
	struct ktr__fbt_value value[KTR__FBT_VALUES], result;
	struct ktr_site begin, end, entered, returned;
	char *name[KTR__FBT_VALUES], *type[KTR__FBT_VALUES]; /* of arguments, as all texts owned */
	char *result_type;
	char *result_format; /* "%jd" */
	char *names;  /* ",s,n" */
	char *format; /* attributes of a scope: "s:\"%s\", n:%jd"; what is left out says so; "": there are none */
};

/* The types of the last object that was asked about; the caller's, zero at first. */
struct ktr__fbt_types {
	const struct ktr__fbt_module *module; /* NULL: none was */
	struct ktr__types *image; /* NULL: there is none */
};

void ktr__fbt_types_free(struct ktr__fbt_types *types);

/*
 * Finds out about a function whose arguments are not on: it has typed then, anew if its file is another one than
 * before. 0; -ENOENT: its types are not known; -ENOMEM.
 */
int ktr__fbt_typed_make(struct ktr__fbt_types *types, const struct ktr__fbt_object *object, uint32_t number);

#endif
