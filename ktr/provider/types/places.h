/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the arguments of a function are when it begins, and its result when it ends, by the rules of the System V
 * ABI for x86-64 (section 3.2.3), of the Itanium C++ ABI for classes, and by what the debugging information says
 * of versions that the compiler changed.
 */
#ifndef KTR_PLACES_H
#define KTR_PLACES_H

#include "ktr/provider/types/types.h"

enum ktr__place_kind {
	KTR__PLACE_NONE,     /* nothing is passed: void, an empty class, or known to the compiler */
	KTR__PLACE_REGISTER, /* in one register or two */
	KTR__PLACE_X87,      /* a result in st(0), of a complex number in st(0) and st(1) */
	KTR__PLACE_MEMORY,   /* on the stack, at an offset from what rsp is when the function begins */
	KTR__PLACE_INDIRECT, /* by its address, which is in the register or on the stack; a result's is in rax */
	KTR__PLACE_UNKNOWN,  /* not known */
};

/* DWARF's numbers of registers: rax 0, rdx 1, rcx 2, rbx 3, rsi 4, rdi 5, ... r8 8 to r15, xmm0 17 to xmm15. */
#define KTR__PLACE_XMM0 17u

struct ktr__types_place {
	uint8_t kind;   /* enum ktr__place_kind */
	uint8_t n;      /* registers */
	uint8_t reg[2]; /* DWARF's numbers; the first has the lower eight bytes */
	uint32_t offset; /* [bytes] on the stack: of it, or of its address for KTR__PLACE_INDIRECT with n = 0 */
};

/*
 * Of a function's result, and of its arguments: arg has function->n_args. A result that is KTR__PLACE_INDIRECT
 * has its address passed in rdi, before all arguments.
 */
void ktr__places(const struct ktr__types *types, const struct ktr__types_function *function,
		 struct ktr__types_place *result, struct ktr__types_place *arg);

/* The name of a register; "?" for one that has none here. */
const char *ktr__place_register(unsigned reg);

/* "rdi", "rdi:rsi", "[rsp+8]", "*rdi", "st0", "" for nothing, "?" for what is not known. */
#define KTR__PLACE_TEXT 40
const char *ktr__place_text(const struct ktr__types_place *place, char text[KTR__PLACE_TEXT]);

/* "INTEGER", "SSE", "INTEGER:SSE", "X87", "MEMORY", "INDIRECT", "NONE", "UNKNOWN". */
const char *ktr__place_class(const struct ktr__types_place *place, char text[KTR__PLACE_TEXT]);

#endif
