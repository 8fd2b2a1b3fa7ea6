/* SPDX-License-Identifier: BSD-2-Clause */
/* The handler of SIGTRAP, before the program's own. */
#ifndef KTR_USDT_TRAP_H
#define KTR_USDT_TRAP_H

#include <stdbool.h>
#include <stdint.h>

#define KTR__USDT_TRAP_BIT (1ull << (5 - 1)) /* SIGTRAP in a set of the kernel's */

#define KTR__USDT_RESTORER 0x04000000 /* SA_RESTORER: the kernel wants it, the C library names it not */

/* An action as rt_sigaction(2) takes it. */
struct ktr__usdt_action {
	uint64_t handler;
	uint64_t flags;
	uint64_t restorer;
	uint64_t mask;
};

/*
 * Installs it, if it is not there or the program has put its own in its place, which is then called for what is
 * not ours. It stays. 0 or -errno.
 */
int ktr__usdt_trap_install(void);

/* The program's own action: what it was, and what it is from now on; either may be NULL. Async-signal-safe. */
void ktr__usdt_trap_action(const struct ktr__usdt_action *now, struct ktr__usdt_action *before);

/* Where handlers of this program return to. */
uint64_t ktr__usdt_trap_restorer(void);

/* Does the calling thread think that it blocks SIGTRAP? */
extern __thread bool ktr__usdt_trap_blocked;
/* It does not any more: what came meanwhile comes now. Has anything? */
bool ktr__usdt_trap_unblocked(void);

#endif
