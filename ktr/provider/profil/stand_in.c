/* SPDX-License-Identifier: BSD-2-Clause */
/* The shared library stands in front of the C library's pthread_create(3) and thrd_create(3). */
#include "ktr/provider/profil/create.h"

#include <dlfcn.h>
#include <stdint.h>

/* Whose call it would be without us. Several threads may ask at once, and get the same. */
static void *stand_in_find(void **known, const char *name)
{
	void *real = __atomic_load_n(known, __ATOMIC_ACQUIRE);

	if (!real) {
		/* Without a version: one of somebody else's, who stands before the C library, may have none. */
		real = dlsym(RTLD_NEXT, name);
		__atomic_store_n(known, real, __ATOMIC_RELEASE);
	}
	return real;
}

__attribute__((visibility("default"))) ktr__create_pthread ktr__new_pthread_create;
__attribute__((visibility("default"))) ktr__create_pthread ktr__old_pthread_create
	__attribute__((alias("ktr__new_pthread_create")));

int ktr__new_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *argument)
{
	static void *known;
	void *real = stand_in_find(&known, "pthread_create");

	return ktr__create_pthread_by((ktr__create_pthread *)(uintptr_t)real, thread, attr, start,
	      argument); // NOLINT
}

__attribute__((visibility("default"))) ktr__create_thrd ktr__new_thrd_create;
__attribute__((visibility("default"))) ktr__create_thrd ktr__old_thrd_create
	__attribute__((alias("ktr__new_thrd_create")));

int ktr__new_thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
	static void *known;
	void *real = stand_in_find(&known, "thrd_create");

	return ktr__create_thrd_by((ktr__create_thrd *)(uintptr_t)real, thread, start, argument); // NOLINT
}

__asm__(".symver ktr__new_pthread_create, pthread_create@@GLIBC_2.34");
__asm__(".symver ktr__old_pthread_create, pthread_create@GLIBC_2.2.5");
__asm__(".symver ktr__new_thrd_create, thrd_create@@GLIBC_2.34");
__asm__(".symver ktr__old_thrd_create, thrd_create@GLIBC_2.28");
