/* SPDX-License-Identifier: BSD-2-Clause */
/* The executable and the shared objects that have functions to be probed. */
#ifndef KTR_FBT_OBJECT_H
#define KTR_FBT_OBJECT_H

#include "ktr/provider/fbt/function.h"

#include "ktr/record/record.h" /* KTR__LIBRARY: its functions are no probes */
#include <ktr/fbt.h>
#include <ktr/session.h>

struct ktr__fbt_object {
	struct ktr__fbt_object *next;
	struct ktr__fbt_module *module; /* NULL: it is gone. Atomic */
	uintptr_t base;
	uint32_t first; /* number of its first function; those of an object follow each other */
	uint32_t n;
	uint8_t build_id[KTR_BUILD_ID_MAX]; /* or what stands for it: ktr/record/module.h */
	uint8_t build_id_bytes;
	const char *name; /* without folders */
	char path[];
};

/*
 * Takes in what a module lists, and prepares its functions for being switched. Those that the compiler has not left
 * room for are left out. 0, *object NULL if there is none; or -errno.
 */
int ktr__fbt_object_new(struct ktr__fbt_module *module, struct ktr__fbt_object **object);

/* It goes: the object, or NULL if it has none. */
struct ktr__fbt_object *ktr__fbt_object_leave(struct ktr__fbt_module *module);

struct ktr__fbt_object *ktr__fbt_objects(void); /* the list, at its end the first */
struct ktr__fbt_object *ktr__fbt_object_of(uint32_t number); /* that has a function */

/* A function's address in its file. */
uint64_t ktr__fbt_object_address(const struct ktr__fbt_object *object, uint32_t number);

/* Where probes of all modules lead from now on, those that come later too: a trampoline. */
void ktr__fbt_objects_lead(uintptr_t trampoline);

static inline bool ktr__fbt_object_gone(const struct ktr__fbt_object *object)
{
	return !__atomic_load_n(&object->module, __ATOMIC_ACQUIRE);
}

/*
 * Calls back for each function with its name: of several the one that others are most likely to know; where no
 * symbol tells, 0x and its address in the file. Names of C++ are as people write them, if the program has its
 * library's demangler. Names that two functions have are followed by @ and that address.
 */
typedef void ktr__fbt_named(void *context, struct ktr__fbt_object *object, uint32_t number, const char *name);
void ktr__fbt_object_names(struct ktr__fbt_object *object, ktr__fbt_named *call, void *context);

/* Called by modules. 0 or -errno. */
int ktr__fbt_attach(struct ktr__fbt_module *module);
int ktr__fbt_detach(struct ktr__fbt_module *module);

#endif
