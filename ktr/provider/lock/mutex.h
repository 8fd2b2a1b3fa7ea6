/* SPDX-License-Identifier: BSD-2-Clause */
/* What waiting on a condition does to a mutex. */
#ifndef KTR_LOCK_MUTEX_H
#define KTR_LOCK_MUTEX_H

#include <pthread.h>

void ktr__mutex_got(const pthread_mutex_t *mutex, const void *caller);
void ktr__mutex_leaves(const pthread_mutex_t *mutex, const void *caller);

int ktr__mutex_code(int code); /* pthread's code as C11 has it */

#endif
