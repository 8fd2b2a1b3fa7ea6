/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent stands in front of the C library's pthread_create(3): so that threads which live for a moment are
 * profiled, too. While nothing is profiled a call goes through a load and a jump. Otherwise the thread begins in
 * begin(), which leaves no frame: it jumps to the program's function. Programs that ran already are led to us while
 * somebody wants to know of threads (ktr/provider/imports).
 *
 * Threads of our own begin with a mark. Those that other objects make past us are not seen here, but by the scan,
 * once a second.
 */
#include "ktr/provider/profile/create.h"

#include "ktr/provider/imports/image.h"
#include "ktr/provider/imports/imports.h"
#include "ktr/provider/profile/profile.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

typedef void *create_start(void *);
typedef int create_call(pthread_t *, const pthread_attr_t *, create_start *, void *);

void (*ktr__create_begins)(void);
void (*ktr__create_asks)(void);
__thread bool ktr__create_is_own;

struct create_begin {
	create_start *start;
	void *argument;
};

void ktr__profile_own_thread(void)
{
	ktr__create_is_own = true;
}

static create_call *create_real; /* atomic */

static void *create_begin(void *context)
{
	struct create_begin *given = context, begin = *given;
	void (*begins)(void) = __atomic_load_n(&ktr__create_begins, __ATOMIC_ACQUIRE);
	void (*asks)(void) = __atomic_load_n(&ktr__create_asks, __ATOMIC_ACQUIRE);

	free(given);
	if (asks)
		asks();
	if (begins)
		begins();
	return begin.start(begin.argument);
}

static void *create_begin_own(void *context)
{
	struct create_begin *given = context, begin = *given;

	ktr__create_is_own = true;
	free(given);
	return begin.start(begin.argument);
}

static create_call *create_find(void)
{
	create_call *real = __atomic_load_n(&create_real, __ATOMIC_ACQUIRE);
	void *found;

	if (real)
		return real;
	/* Without a version: one of somebody else's, who stands before the C library, may have none. */
	found = dlsym(RTLD_NEXT, "pthread_create");
	real = (create_call *)(uintptr_t)found; // NOLINT
	__atomic_store_n(&create_real, real, __ATOMIC_RELEASE);
	return real;
}

__attribute__((visibility("default"))) create_call ktr__new_pthread_create;
__attribute__((visibility("default"))) create_call ktr__old_pthread_create
	__attribute__((alias("ktr__new_pthread_create")));

int ktr__new_pthread_create(pthread_t *thread, const pthread_attr_t *attr, create_start *start, void *argument)
{
	create_call *real = create_find();
	bool is_own = ktr__image_is_ours((uintptr_t)__builtin_return_address(0));
	struct create_begin *begin;
	int code;

	if (!real)
		return ENOSYS;
	if ((!is_own && !__atomic_load_n(&ktr__create_begins, __ATOMIC_RELAXED) &&
	     !__atomic_load_n(&ktr__create_asks, __ATOMIC_RELAXED)) ||
	    !(begin = malloc(sizeof(*begin))))
		return real(thread, attr, start, argument);
	begin->start = start;
	begin->argument = argument;
	code = real(thread, attr, is_own ? create_begin_own : create_begin, begin);
	if (code)
		free(begin);
	return code;
}

/* ---- who is led to it ---- */

static bool create_is_called;
static unsigned create_n_wanted; /* by one thread at a time */
static struct ktr__import create_import = { (const void *)ktr__new_pthread_create,
					    (void *const *)(void *)&create_real, "pthread_create" };
static struct ktr__imports create_imports = {
	.import = &create_import, .n = 1, .spares_owner = true, .may_be_none = true
};

void ktr__create_begin(void)
{
	const void *found = dlsym(RTLD_DEFAULT, "pthread_create");

	create_is_called = found == (const void *)ktr__new_pthread_create;
	if (found == (const void *)create_find())
		create_imports.n_first = ktr__imports_n_began();
}

bool ktr__create_is_called(void)
{
	return create_is_called;
}

void ktr__create_lead(void)
{
	if (!create_n_wanted++ && !create_is_called && create_real)
		ktr__imports_lead(&create_imports, NULL);
}

void ktr__create_look(void)
{
	ktr__imports_look(&create_imports);
}

void ktr__create_restore(void)
{
	if (!--create_n_wanted)
		ktr__imports_restore(&create_imports);
}

__asm__(".symver ktr__new_pthread_create, pthread_create@@GLIBC_2.34");
__asm__(".symver ktr__old_pthread_create, pthread_create@GLIBC_2.2.5");
