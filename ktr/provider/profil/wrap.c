/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For programs with the archive, whom the linker may have call these: -Wl,--wrap=pthread_create,--wrap=thrd_create.
 * With -u,__wrap_pthread_create they are there, too, where only a library behind this one makes threads, by a weak
 * name, as that of C++ does in static programs.
 */
#include "ktr/provider/profil/create.h"

ktr__create_pthread __real_pthread_create, __wrap_pthread_create;
ktr__create_thrd __real_thrd_create, __wrap_thrd_create;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *argument)
{
	return ktr__create_pthread_by(__real_pthread_create, thread, attr, start, argument);
}

int __wrap_thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
	return ktr__create_thrd_by(__real_thrd_create, thread, start, argument);
}
