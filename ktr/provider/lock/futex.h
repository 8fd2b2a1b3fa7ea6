/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscall(2), as programs call it, and the one of its calls that is a lock's: futex(2), by whose help programs make
 * locks of their own, Rust's standard library among them, and C++'s std::atomic its wait().
 */
#ifndef KTR_LOCK_FUTEX_H
#define KTR_LOCK_FUTEX_H

#include <stdbool.h>

/* What is called instead: the call as it is, or while waits are told of ktr__futex_traced(). */
long ktr__futex_syscall(long n, ...);
extern void *ktr__futex_real; /* the C library's, or of who stands before it. NULL: not found yet */

/* Finds it: asks the loader. */
void ktr__futex_resolve(void);

/* Are waits told of from now on? */
void ktr__futex_lead(bool on);

#endif
