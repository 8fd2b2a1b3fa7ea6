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
#define KTR__FBT_HOPS	6  /* pointers that lead to a member */

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

/* How a member is come to from the value of an argument, or a result, that is a pointer. */
struct ktr__fbt_load {
	uint32_t offset[KTR__FBT_HOPS]; /* [bytes] from what a pointer points to, to the next; then to the member */
	uint8_t n; /* of these, 1 at least */
	uint8_t n_bytes; /* of the member, 8 at most; 0: its place is the value */
	uint8_t shift, n_bits; /* of a bit-field; n_bits 0: it is none */
	uint8_t is_signed; /* a bit-field */
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
	uint8_t n_text; /* [bytes] of an array of characters that are read; 0: it is none */
	uint8_t is_whole; /* these are all of it */
	const struct ktr__fbt_names *names; /* of an enum */
	const struct ktr__fbt_load *load; /* of a member; NULL: it is none */
};

/* A member whose pointer cannot be read is text that says so. So is any number beside it in such an event. */
static inline bool ktr__fbt_is_number(const struct ktr__fbt_value *value)
{
	return value->load && value->type != KTR_ARG_STR && value->type != KTR_ARG_F64;
}

/* Which call sites there are: bits. */
#define KTR__FBT_SITE_SCOPE  1u
#define KTR__FBT_SITE_ENTRY  2u /* the entry by itself */
#define KTR__FBT_SITE_RETURN 4u

/* Those of events in which a member could not be read, of functions that have numbers among their members. */
struct ktr__fbt_unread {
	struct ktr_site begin, end, entered, returned;
};

/* What of a function is to be recorded. */
struct ktr__fbt_wish {
	bool args; /* its arguments and its result, as far as there is room besides members */
	unsigned n;
	const char *member[2 * KTR__FBT_VALUES]; /* "req->len", as paths.h has them */
};

struct ktr__fbt_typed {
	struct ktr__fbt_function self; /* the function of a record of its calls: none of its probes is on */
	struct ktr__fbt_function *function;
	struct ktr_provider_probe *entry; /* while it is on; else ktr__fbt_none. Atomic, as on, made and left */
	uint32_t on;
	uint32_t made; /* sites */
	uint32_t n, n_results;
	struct ktr__fbt_value value[KTR__FBT_VALUES], result[KTR__FBT_VALUES];
	struct ktr_site begin, end, entered, returned;
	struct ktr__fbt_unread *unread; /* NULL: nothing needs them */
	char *name[KTR__FBT_VALUES], *type[KTR__FBT_VALUES]; /* of arguments, as all texts owned */
	char *result_type; /* NULL: it is not recorded */
	char *names, *result_names;  /* ",s,n", ",result" */
	/* attributes of a scope: "s:\"%s\", n:%jd"; what is left out says so; "": there are none. "result:%jd" */
	char *format, *result_format;
	char *unread_format, *unread_result_format; /* numbers among members being text */
	struct ktr__fbt_typed *older; /* what there was before; NULL: nothing */
};

/* The types of the last object that was asked about; the caller's, zero at first. */
struct ktr__fbt_types {
	const struct ktr__fbt_module *module; /* NULL: none was */
	struct ktr__types *image; /* NULL: there is none */
};

void ktr__fbt_types_free(struct ktr__fbt_types *types);

/*
 * What is known of a function, as one wishes it: one that is there already, where it is the same, or a new one,
 * which becomes the first of them. 0; -ENOENT: its types are not known; -ENOMEM.
 */
int ktr__fbt_typed_make(struct ktr__fbt_types *types, const struct ktr__fbt_object *object, uint32_t number,
			const struct ktr__fbt_wish *wish, struct ktr__fbt_typed **out);

/* The types of a function. NULL: they are not known. */
const struct ktr__types_function *ktr__fbt_typed_function(struct ktr__fbt_types *types,
							  const struct ktr__fbt_object *object, uint32_t number);

#endif
