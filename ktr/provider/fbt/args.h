/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A second provider, fbt_args: fbt_args:MODULE:FUNCTION:args says whether events of a function's entry and return
 * have its arguments and its result. Being one, that is asked for as everything else is: by SPEC, from outside, at
 * start and from C; and says of each function why it cannot be. It has no events of its own.
 */
#ifndef KTR_FBT_ARGS_H
#define KTR_FBT_ARGS_H

#include "ktr/provider/fbt/typed.h"

void ktr__fbt_args_begin(void);

struct ktr__fbt_member;

/* What is recorded of a function's calls besides that they were. */
struct ktr__fbt_details {
	struct ktr_provider_probe *args; /* NULL: not offered */
	bool args_on;
	struct ktr__fbt_typed *typed; /* all that there have been, the last first */
	const struct ktr__fbt_typed *described; /* the one of arguments alone; NULL: its types are not known */
	struct ktr__fbt_member *members; /* that have been asked for, members.h; the first last */
};

/* A function's, made where need be. NULL: there is no memory. */
struct ktr__fbt_details *ktr__fbt_details(struct ktr__fbt_function *function);

/*
 * This thread offers, with these types, which what is on at once has need of, too; NULL: it does not any more. What
 * they were before.
 */
struct ktr__fbt_types *ktr__fbt_args_offers(struct ktr__fbt_types *types);

/* Has a function record what is on of its details. 0, or -errno and why; then it records what it did. */
int ktr__fbt_args_take(uint32_t number, struct ktr_error *why);

/* What functions are asked for, and the types that are found for them meanwhile. */
struct ktr__fbt_asked {
	const char *spec; /* NULL: debug.ktr.probes */
	struct ktr__fbt_types types;
};

/*
 * Is a function's probe asked for, by its whole name? One that was once is again when its object comes back: the
 * session knows whether it is on. which: KTR__FBT_ENTRY and so on.
 */
bool ktr__fbt_is_asked(const struct ktr__fbt_asked *asked, struct ktr__fbt_function *function, int which,
		       const char *full);

/* A function's name as part of a probe's, which has no colons: those of C++ become a dot. */
void ktr__fbt_part(char part[KTR_PROVIDER_PART_MAX + 1], const char *name);

/* The operation of both providers: the first offers what both have. */
void ktr__fbt_provide(struct ktr_provider *provider, const char *spec);

/* Offers a function's, if it is asked for. part: its name as part of a probe's. */
void ktr__fbt_args_offer(struct ktr__fbt_asked *asked, const struct ktr__fbt_object *object, uint32_t number,
			 const char *name, const char *part);
void ktr__fbt_args_leave(struct ktr__fbt_function *function); /* its module goes */

/*
 * Who is called at a function's entry, wherever that probe is kept. Under the registry's lock; so is looking again,
 * after what is wanted of a function has changed.
 */
void ktr__fbt_args_put(struct ktr__fbt_function *function, int end, struct ktr_provider_probe *probe);
void ktr__fbt_args_look(struct ktr__fbt_function *function, const char *module);

#endif
