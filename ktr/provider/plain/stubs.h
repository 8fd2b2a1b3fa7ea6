/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Near an object, memory for what its functions are led to: 64 bytes for each of them, and before all of them the
 * object's trampoline. It is never given back, for somebody may be on the way through it at any time; an object
 * that comes again to the same place has it again.
 *
 *	 0	mov %r11, -128(%rsp)	as deep as a function's own, by the rules, and the trampoline keeps it
 *		mov $number, %r11d
 *		jmp *trampoline(%rip)
 *	32	the first instruction, at another place
 *	 +	jmp			behind it in the function
 *	56	[bytes] that the instruction takes of the stack, 4; 60: where the jump begins
 *
 * Nothing is called from there, so no frame is one of them. The last two say where the frame is, for who is
 * stopped within and looks (a debugger, a handler that prints who called): nobody is told yet.
 */
#ifndef KTR_PLAIN_STUBS_H
#define KTR_PLAIN_STUBS_H

#include "ktr/provider/fbt/object.h"
#include "ktr/provider/plain/judge.h"

struct ktr__plain_stubs {
	struct ktr__plain_stubs *next;
	struct ktr__fbt_module module; /* first of what is mapped */
	uint8_t *code;
	uint32_t n;
	bool is_ready; /* has been written */
	uintptr_t base, end; /* of the object */
	const struct ktr__fbt_object *object; /* NULL: nobody's yet */
};

/* NULL: there is no memory in reach. */
struct ktr__plain_stubs *ktr__plain_stubs_near(const struct ktr__object *object, uint32_t n);

/*
 * Writes them, for functions whose first has this number, and makes them ready to be run; those that do not reach
 * are told why. 0 or -errno.
 */
int ktr__plain_stubs_write(struct ktr__plain_stubs *stubs, uint32_t first, struct ktr__plain_function *functions);

static inline uint8_t *ktr__plain_stub_at(const struct ktr__plain_stubs *stubs, uint32_t i)
{
	return stubs->code + 64ul * i;
}

/* Where a function goes on when its probes have been passed. */
uint8_t *ktr__plain_stub_body(const struct ktr__plain_stubs *stubs, uint32_t i,
			      const struct ktr__plain_function *function);

#endif
