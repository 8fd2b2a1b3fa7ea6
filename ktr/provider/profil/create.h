/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that tell the profiler of themselves when they begin. */
#ifndef KTR_PROFIL_CREATE_H
#define KTR_PROFIL_CREATE_H

#include <pthread.h>
#include <threads.h>

typedef int ktr__create_pthread(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
      void *argument);
typedef int ktr__create_thrd(thrd_t *thread, thrd_start_t start, void *argument);

/* Make such a thread by a function that makes threads, and return what that does. */
int ktr__create_pthread_by(ktr__create_pthread *real, pthread_t *thread, const pthread_attr_t *attr,
			   void *(*start)(void *), void *argument);
int ktr__create_thrd_by(ktr__create_thrd *real, thrd_t *thread, thrd_start_t start, void *argument);

#endif
