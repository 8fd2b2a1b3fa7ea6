/* SPDX-License-Identifier: BSD-2-Clause */
/* What waiting on a condition does to a mutex; what other locks need of mutexes. */
#ifndef KTR_LOCK_MUTEX_H
#define KTR_LOCK_MUTEX_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* tried: it would not have waited. */
void ktr__mutex_got(const pthread_mutex_t *mutex, uint32_t tried, const void *caller);

/* It is about to be given back. false: it will not be, as it is another thread's: nothing was told. */
bool ktr__mutex_leaves(const pthread_mutex_t *mutex, const void *caller);

/* The number of the calling thread, which nobody is asked for. */
uint32_t ktr__mutex_self(void);

/* Before anything is traced: learns how this C library takes a mutex. */
void ktr__mutex_begin(void);

int ktr__mutex_code(int code); /* pthread's code as C11 has it */

#endif
