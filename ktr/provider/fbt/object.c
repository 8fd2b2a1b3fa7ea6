/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/fbt/object.h"

#include "ktr/provider/arcs/arcs.h"
#include "ktr/provider/fbt/excluded.h"
#include "ktr/provider/fbt/fire.h"
#include "ktr/provider/fbt/patch.h"
#include "ktr/provider/fbt/symbols.h"
#include "ktr/provider/modules/modules.h"

#include <ctype.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- taking one in ---- */

struct object_search {
	struct ktr__object found;
	char path[PATH_MAX]; /* libktr's own is cut earlier, and names are looked up in the file */
};

/* The program itself has no name there. */
static bool object_find(const void *address, struct object_search *search)
{
	char name[sizeof(search->path)];
	Dl_info info;
	ssize_t n;

	if (!ktr__object_find(address, &search->found))
		return false;
	if (search->found.executable) {
		n = readlink("/proc/self/exe", name, sizeof(name) - 1);
		name[n < 0 ? 0 : n] = '\0';
		snprintf(search->path, sizeof(search->path), "%s", n < 0 ? program_invocation_name : name);
	} else {
		ktr__modules_path(dladdr(address, &info) ? info.dli_fname : search->found.path, search->path);
	}
	return true;
}

static struct ktr__fbt_object *object_list; /* atomic; only grows */
/* Of who adds one, takes one out, or leads them elsewhere; nothing is called in it. */
static pthread_mutex_t object_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool object_filtered; /* a filter is on */

struct ktr__fbt_object *ktr__fbt_objects(void)
{
	return __atomic_load_n(&object_list, __ATOMIC_ACQUIRE);
}

struct ktr__fbt_object *ktr__fbt_object_of(uint32_t number)
{
	struct ktr__fbt_object *at = ktr__fbt_objects();

	while (at && number - at->first >= at->n)
		at = at->next;
	return at;
}

/* Where the bytes to be changed are. Entries of functions that the linker has thrown away are zero. */
static uint32_t object_patches(const struct ktr__fbt_module *module, uint8_t **patch, uint8_t *away)
{
	const uint8_t *last = NULL;
	uint32_t n = 0;

	for (void *const *at = module->begin; at != module->end; at++) {
		uint8_t *found = *at && *at != last ? ktr__fbt_patch_find(*at, &away[n]) : NULL;

		last = *at;
		if (found)
			patch[n++] = found;
	}
	return n;
}

/*
 * One that was unloaded, and is loaded again, has its numbers again, and the names that they have. Another build at
 * the same path is not it, and nor is what cannot be told from one. Under the mutex.
 */
static bool object_same(const struct ktr__fbt_object *at, const struct object_search *search,
			const struct ktr__fbt_kind *kind, uint32_t n)
{
	const struct ktr__object *found = &search->found;

	return at->n == n && at->kind == kind && ktr__fbt_object_gone(at) && found->build_id_bytes &&
	       at->build_id_bytes == found->build_id_bytes &&
	       memcmp(at->build_id, found->build_id, found->build_id_bytes) == 0 &&
	       strcmp(at->path, search->path) == 0;
}

static struct ktr__fbt_object *object_make(const struct object_search *search, const struct ktr__fbt_kind *kind,
					   uint32_t n)
{
	struct ktr__fbt_object *object = object_list;
	const char *slash;

	while (object && !object_same(object, search, kind, n))
		object = object->next;
	if (object)
		return object;
	object = calloc(1, sizeof(*object) + strlen(search->path) + 1);
	if (!object)
		return NULL;
	object->n = n;
	object->kind = kind;
	object->first = ktr__fbt_function_new(n);
	object->build_id_bytes = search->found.build_id_bytes;
	memcpy(object->build_id, search->found.build_id, sizeof(object->build_id));
	strcpy(object->path, search->path);
	slash = strrchr(object->path, '/');
	object->name = slash ? slash + 1 : object->path;
	if (!object->first) {
		free(object);
		return NULL;
	}
	object->next = object_list;
	__atomic_store_n(&object_list, object, __ATOMIC_RELEASE);
	return object;
}

static uintptr_t object_trampoline(const struct ktr__fbt_object *object)
{
	if (object->kind)
		return object->kind->trampoline[object_filtered];
	if (object->counted)
		return object_filtered ? (uintptr_t)ktr__arcs_trampoline_filtered : (uintptr_t)ktr__arcs_trampoline;
	return object_filtered ? (uintptr_t)ktr__fbt_trampoline_filtered : (uintptr_t)ktr__fbt_trampoline;
}

static void object_is_there(struct ktr__fbt_object *object, struct ktr__fbt_module *module)
{
	module->trampoline = object_trampoline(object);
	__atomic_store_n(&object->module, module, __ATOMIC_RELEASE);
}

/* The functions have their places before anybody looks at them. */
static struct ktr__fbt_object *object_enter(struct ktr__fbt_module *module,
					    const struct object_search *search, uint8_t *const *patch,
					    const uint8_t *away, uint32_t n)
{
	struct ktr__fbt_object *object;

	pthread_mutex_lock(&object_mutex);
	object = object_make(search, NULL, n);
	for (uint32_t i = 0; object && i < n; i++) {
		struct ktr__fbt_function *function = ktr__fbt_function(object->first + i);

		function->body = patch[i] + 2;
		function->away = away[i];
		function->has_room = 0;
		function->wanted = 0;
	}
	if (object) {
		object->base = search->found.base;
		object->end = search->found.end;
		object_is_there(object, module);
	}
	pthread_mutex_unlock(&object_mutex);
	return object;
}

struct ktr__fbt_object *ktr__fbt_object_plain(struct ktr__fbt_module *module, const struct ktr__object *found,
					      const struct ktr__fbt_kind *kind, void *context, uint32_t n)
{
	struct object_search search = { .found = *found };
	struct ktr__fbt_object *object;

	snprintf(search.path, sizeof(search.path), "%s", found->path);
	pthread_mutex_lock(&object_mutex);
	object = found->build_id_bytes ? object_make(&search, kind, n) : NULL;
	for (uint32_t i = 0; object && i < n; i++)
		ktr__fbt_function(object->first + i)->wanted = 0;
	if (object) {
		object->context = context;
		object->base = found->base;
		object->end = found->end;
		object_is_there(object, module);
	}
	pthread_mutex_unlock(&object_mutex);
	return object;
}

int ktr__fbt_object_new(struct ktr__fbt_module *module, struct ktr__fbt_object **object)
{
	size_t n_listed = (size_t)(module->end - module->begin);
	struct object_search search = { .path = "" };
	uint8_t **patch, *away;
	int code = -ENOMEM;
	uint32_t n;

	*object = NULL;
	if (!n_listed)
		return 0;
	if (!object_find(module, &search))
		return -ENOENT;
	patch = calloc(n_listed, sizeof(uint8_t *));
	away = calloc(n_listed + 1, 1);
	if (patch && away) {
		n = object_patches(module, patch, away);
		code = n ? ktr__fbt_patch_prepare(patch, away, n) : 0;
		if (n && !code && !(*object = object_enter(module, &search, patch, away, n)))
			code = -ENOMEM;
	}
	free(patch);
	free(away);
	return code;
}

struct ktr__fbt_object *ktr__fbt_object_leave(struct ktr__fbt_module *module)
{
	struct ktr__fbt_object *at;

	pthread_mutex_lock(&object_mutex);
	at = ktr__fbt_objects();
	while (at && at->module != module)
		at = at->next;
	if (at)
		__atomic_store_n(&at->module, NULL, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&object_mutex);
	return at;
}

void ktr__fbt_object_count(struct ktr__fbt_object *object, bool counted)
{
	pthread_mutex_lock(&object_mutex);
	object->counted = counted;
	if (object->module)
		__atomic_store_n(&object->module->trampoline, object_trampoline(object), __ATOMIC_RELAXED);
	pthread_mutex_unlock(&object_mutex);
}

void ktr__fbt_objects_lead(bool filtered)
{
	if (object_filtered == filtered)
		return;
	pthread_mutex_lock(&object_mutex);
	object_filtered = filtered;
	for (struct ktr__fbt_object *at = ktr__fbt_objects(); at; at = at->next)
		if (at->module)
			__atomic_store_n(&at->module->trampoline, object_trampoline(at), __ATOMIC_RELAXED);
	pthread_mutex_unlock(&object_mutex);
}

/* ---- names ---- */

struct object_name {
	uint64_t address; /* in the file */
	uint32_t number;
	uint32_t rank;
	uint8_t excluded; /* KTR__FBT_OUT_* */
	char *name;
};

#define OBJECT_ADDRESS 20 /* [bytes] of @0x and an address */

struct object_names {
	struct object_name *sorted;
	uint32_t n;
};

static int object_by_address(const void *a, const void *b)
{
	const struct object_name *one = a, *two = b;

	return (one->address > two->address) - (one->address < two->address);
}

static int object_by_name(const void *a, const void *b)
{
	const struct object_name *one = a, *two = b;

	return strcmp(one->name, two->name);
}

/* Of the C++ library, where the program has it. */
extern char *__cxa_demangle(const char *name, char *buffer, size_t *n, int *status) __attribute__((weak));

/* Behind a group of brackets. Comparisons and shifts in arguments of templates are in brackets of their own. */
static const char *object_group(const char *at)
{
	int depth = 0;

	do {
		depth += (*at && strchr("(<[{", *at)) - (*at && strchr(")>]}", *at) && at[-1] != '-');
		at += *at != '\0';
	} while (*at && depth > 0);
	return at;
}

static bool object_is_operator(const char *pretty, const char *at)
{
	return (at == pretty || at[-1] == ' ' || at[-1] == ':') && strncmp(at, "operator", 8) == 0 &&
	       !(isalnum((unsigned char)at[8]) || at[8] == '_');
}

/*
 * Where the name begins: of a function that is made of a template its result stands before, "int twice<int>(int)",
 * which nobody writes in a SPEC. One that returns a pointer to a function is left as it is.
 */
static const char *object_name(const char *pretty)
{
	static const char nobody[] = "(anonymous namespace)";
	const char *name = pretty, *at = pretty;

	while (*at) {
		if (strncmp(at, nobody, sizeof(nobody) - 1) == 0)
			at += sizeof(nobody) - 1;
		else if (strncmp(at, "decltype (", 10) == 0)
			at = object_group(at + 9);
		else if (*at == '(' || object_is_operator(pretty, at))
			break;
		else if (strchr("<[{", *at))
			at = object_group(at);
		else if (*at++ == ' ')
			name = at;
	}
	return (*at == '(' && at == name) || !*name ? pretty : name;
}

static char *object_pretty(const char *name)
{
	char *pretty = __cxa_demangle && strncmp(name, "_Z", 2) == 0 ? __cxa_demangle(name, NULL, NULL, NULL) : NULL;

	if (!pretty)
		return strdup(name);
	/* Thunks and the like are told in words. */
	if (name[2] != 'T' && name[2] != 'G')
		memmove(pretty, object_name(pretty), strlen(object_name(pretty)) + 1);
	return pretty;
}

/* A symbol stands at the function's first instruction, which is the patch or endbr64 before it. */
static void object_symbol(void *context, const char *name, uint64_t address, unsigned binding)
{
	struct object_names *names = context;
	const struct object_name key = { .address = address };
	struct object_name *at = bsearch(&key, names->sorted, names->n, sizeof(key), object_by_address);
	uint32_t rank = binding == STB_GLOBAL ? 3 : binding == STB_WEAK ? 2 : 1;

	if (!at || !*name)
		return;
	if (binding != STB_LOCAL && ktr__fbt_excluded_name(name))
		at->excluded |= KTR__FBT_OUT_RECORDER;
	if (ktr__fbt_excluded_return(name))
		at->excluded |= KTR__FBT_OUT_RETURN;
	if (rank <= at->rank)
		return;
	free(at->name);
	at->name = object_pretty(name);
	at->rank = at->name ? rank : 0;
}

uint64_t ktr__fbt_object_address(const struct ktr__fbt_object *object, uint32_t number)
{
	const struct ktr__fbt_function *function = ktr__fbt_function(number);

	if (object->kind)
		return object->kind->address(object, number - object->first) - object->base;
	return (uint64_t)(uintptr_t)(function->body + (int8_t)function->away + KTR__FBT_ROOM) - object->base;
}

static void object_tell(struct ktr__fbt_object *object, const struct object_names *names, ktr__fbt_named *call,
			void *context)
{
	char text[KTR_PROVIDER_PART_MAX + 1];

	for (uint32_t i = 0; i < names->n; i++) {
		const struct object_name *at = &names->sorted[i];
		bool shared = (i && strcmp(at->name, at[-1].name) == 0) ||
			      (i + 1 < names->n && strcmp(at->name, at[1].name) == 0);
		int room = KTR_PROVIDER_PART_MAX - OBJECT_ADDRESS;

		/* A name without an end, of templates within each other, is told from others by its address. */
		if (shared || strlen(at->name) > KTR_PROVIDER_PART_MAX)
			snprintf(text, sizeof(text), "%.*s@%#llx", room, at->name,
				 (unsigned long long)at->address);
		else
			snprintf(text, sizeof(text), "%s", at->name);
		call(context, object, at->number, text);
	}
}

static uint8_t object_kind_excludes(const struct ktr__fbt_object *object, const struct object_name *at)
{
	uint32_t i = at->number - object->first;

	if (!object->kind)
		return 0;
	if (object->kind->why_not(object, i, at->name))
		return KTR__FBT_OUT_KIND;
	return object->kind->may_return(object, i) ? 0 : KTR__FBT_OUT_RETURN;
}

void ktr__fbt_object_names(struct ktr__fbt_object *object, ktr__fbt_named *call, void *context)
{
	struct object_names names = { calloc(object->n, sizeof(struct object_name)), object->n };
	uint32_t n = 0;
	char text[32];

	if (!names.sorted)
		return;
	for (uint32_t i = 0; i < names.n; i++)
		names.sorted[i] =
			(struct object_name){ .address = ktr__fbt_object_address(object, object->first + i),
					      .number = object->first + i };
	qsort(names.sorted, names.n, sizeof(struct object_name), object_by_address);
	ktr__fbt_symbols(object->path, object_symbol, &names);
	for (uint32_t i = 0; i < object->n; i++) {
		struct object_name at = names.sorted[i];

		if (ktr__fbt_excluded_at(at.address + object->base))
			at.excluded |= KTR__FBT_OUT_RECORDER;
		at.excluded |= object_kind_excludes(object, &at);
		if (!object->kind)
			at.excluded &= (uint8_t)~KTR__FBT_OUT_RETURN;
		__atomic_store_n(&ktr__fbt_function(at.number)->excluded, at.excluded, __ATOMIC_RELAXED);
		snprintf(text, sizeof(text), object->kind ? "+%#llx" : "%#llx", (unsigned long long)at.address);
		if (at.name || (at.name = strdup(text)))
			names.sorted[n++] = at;
	}
	names.n = n;
	qsort(names.sorted, n, sizeof(struct object_name), object_by_name);
	object_tell(object, &names, call, context);
	for (uint32_t i = 0; i < n; i++)
		free(names.sorted[i].name);
	free(names.sorted);
}
