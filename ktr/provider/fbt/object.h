/* SPDX-License-Identifier: BSD-2-Clause */
/* The executable and the shared objects that have functions to be probed. */
#ifndef KTR_FBT_OBJECT_H
#define KTR_FBT_OBJECT_H

#include "ktr/provider/fbt/function.h"

#include "ktr/record/module.h"
#include "ktr/record/record.h" /* KTR__LIBRARY: its functions are no probes */
#include <ktr/fbt.h>
#include <ktr/session.h>

struct ktr__fbt_object;

/*
 * How functions are switched that were not built for it: ktr/provider/plain/. Under the registry's lock. Which of
 * an object's functions is told by its place among them.
 */
struct ktr__fbt_kind {
	uintptr_t trampoline[2]; /* without, with a filter */
	uint64_t (*address)(const struct ktr__fbt_object *object, uint32_t i); /* where it is loaded */
	int (*lead)(const struct ktr__fbt_object *object, uint32_t i); /* 0 or -errno */
	void (*let_go)(const struct ktr__fbt_object *object, uint32_t i);
	/* NULL: it can be probed; "": it is not even offered. name: of a symbol, NULL: none has it */
	const char *(*why_not)(const struct ktr__fbt_object *object, uint32_t i, const char *name);
	bool (*may_return)(const struct ktr__fbt_object *object, uint32_t i); /* its return can be probed, too */
};

/* What ktr/provider/arcs/ has counted of it. */
struct ktr__arcs_past {
	bool is_counted; /* anything may have been, since it was loaded */
	uint32_t row; /* of its module, by which its calls are known since it was unloaded; 0: they are not */
	uint32_t epoch; /* of the tables that this is of */
	uintptr_t base; /* where it lay */
};

struct ktr__fbt_object {
	struct ktr__fbt_object *next;
	struct ktr__fbt_module *module; /* NULL: it is gone. Atomic */
	const struct ktr__fbt_kind *kind; /* NULL: the compiler has left room in its functions */
	void *context; /* the kind's own */
	uintptr_t base, end;
	uint32_t first; /* number of its first function; those of an object follow each other */
	uint32_t n;
	uint8_t build_id[KTR_BUILD_ID_MAX]; /* or what stands for it: ktr/record/module.h */
	uint8_t build_id_bytes;
	bool counted; /* calls of its functions are, ktr/provider/arcs/; under the mutex */
	bool arcs_asked; /* that has been asked for. Under the registry's lock, as what follows */
	struct ktr_provider_probe *arcs; /* NULL: not offered */
	struct ktr__arcs_past past;
	const char *name; /* without folders */
	char path[];
};

/*
 * Takes in what a module lists, and prepares its functions for being switched. Those that the compiler has not left
 * room for are left out. 0, *object NULL if there is none; or -errno.
 */
int ktr__fbt_object_new(struct ktr__fbt_module *module, struct ktr__fbt_object **object);

/*
 * The same for one whose functions were not built for it: n of them, whose bodies whoever calls sets before anybody
 * is told. build-id and base are those of found, which has to have one. NULL: there is no memory, or no build-id.
 */
struct ktr__fbt_object *ktr__fbt_object_plain(struct ktr__fbt_module *module, const struct ktr__object *found,
					      const struct ktr__fbt_kind *kind, void *context, uint32_t n);

/* It goes: the object, or NULL if it has none. */
struct ktr__fbt_object *ktr__fbt_object_leave(struct ktr__fbt_module *module);

struct ktr__fbt_object *ktr__fbt_objects(void); /* the list, at its end the first */
struct ktr__fbt_object *ktr__fbt_object_of(uint32_t number); /* that has a function */

/* A function's address in its file. */
uint64_t ktr__fbt_object_address(const struct ktr__fbt_object *object, uint32_t number);

/* Calls of an object's functions are counted from now on, or not any more: it leads elsewhere. */
void ktr__fbt_object_count(struct ktr__fbt_object *object, bool counted);

/* Where probes of all modules lead from now on, those that come later too: is a filter on? */
void ktr__fbt_objects_lead(bool filtered);

static inline bool ktr__fbt_object_gone(const struct ktr__fbt_object *object)
{
	return !__atomic_load_n(&object->module, __ATOMIC_ACQUIRE);
}

/*
 * Calls back for each function with its name: of several the one that others are most likely to know; where no
 * symbol tells, 0x and its address in the file, or + and that where it was not built to be probed. Names of C++
 * are as people write them, if the program has its library's demangler. Names that two functions have are followed
 * by @ and that address.
 */
typedef void ktr__fbt_named(void *context, struct ktr__fbt_object *object, uint32_t number, const char *name);
void ktr__fbt_object_names(struct ktr__fbt_object *object, ktr__fbt_named *call, void *context);

/* Called by modules. 0 or -errno. */
int ktr__fbt_attach(struct ktr__fbt_module *module);
int ktr__fbt_detach(struct ktr__fbt_module *module);

#endif
