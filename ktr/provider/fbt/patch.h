/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A function's first two bytes. While its probes are off they are one instruction that does nothing; to switch it
 * changes one byte, so there is no moment at which a thread could see half of it, wherever the bytes lie:
 *
 *	a8 XX	test $XX, %al	flags mean nothing where a function begins
 *	eb XX	jmp		to the room before the function
 */
#ifndef KTR_FBT_PATCH_H
#define KTR_FBT_PATCH_H

#include "ktr/provider/fbt/function.h"

#include <stddef.h>

/*
 * Where the two bytes of a function are, of which the compiler has listed where the room before it begins;
 * NULL: that is not -fpatchable-function-entry=16,14. *away is the second byte as it shall be.
 */
uint8_t *ktr__fbt_patch_find(const uint8_t *room, uint8_t *away);

/*
 * The compiler's two instructions of a byte each become one of two bytes, while no thread can be in the module: a
 * constructor of it runs, or nobody has called it yet. Of n functions, as few system calls as may be. 0 or -errno.
 */
int ktr__fbt_patch_prepare(uint8_t *const *patch, const uint8_t *away, size_t n);

/* Fills the room before the function, which nobody comes to while it is off. to: in its module. 0 or -errno. */
int ktr__fbt_patch_room(struct ktr__fbt_function *function, uint32_t number, const uintptr_t *to);

/* 0 or -errno. */
int ktr__fbt_patch_switch(struct ktr__fbt_function *function, bool on);

#endif
