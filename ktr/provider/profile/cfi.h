/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How to get from an instruction's frame to that of its caller, as a table: what compilers say in .eh_frame (DWARF
 * 4, 6.4, and the LSB's addition of it), worked out beforehand, so that a handler of a signal only looks it up.
 *
 * A row holds from its address to that of the next row. Of registers it knows rsp and rbp, which nearly all code
 * goes by; the return address is below the CFA.
 */
#ifndef KTR_CFI_H
#define KTR_CFI_H

#include <stddef.h>
#include <stdint.h>

enum ktr__cfi_kind {
	KTR__CFI_NONE,	 /* nothing is known: no function, or one that goes by other registers */
	KTR__CFI_RSP,	 /* the CFA is rsp + cfa */
	KTR__CFI_RBP,	 /* rbp + cfa */
	/* rsp + 8, and 8 more from byte `extra` of each 16 on: entries of a procedure linkage table */
	KTR__CFI_PLT,
	KTR__CFI_AT_RSP, /* what is at rsp + cfa, + extra */
	KTR__CFI_AT_RBP, /* what is at rbp + cfa, + extra: a stack that was aligned */
	KTR__CFI_SIGNAL, /* where a handler of a signal returns to: the registers are in a ucontext_t at rsp */
	KTR__CFI_END	 /* nobody has called it: a thread begins here */
};

/* struct ktr__cfi_row.rbp */
#define KTR__CFI_SAME	0 /* the caller's is the same */
#define KTR__CFI_AT_IT	1 /* the caller's is where rbp points to */

struct ktr__cfi_row {
	uint32_t at; /* [bytes] after the object's base */
	int32_t cfa;
	int16_t rbp; /* the caller's is at the CFA + rbp, or KTR__CFI_* */
	uint8_t kind; /* enum ktr__cfi_kind */
	int8_t extra;
};

_Static_assert(sizeof(struct ktr__cfi_row) == 12, "some hundred thousand of them");

struct ktr__cfi {
	struct ktr__cfi_row *row; /* owned, a mapping; sorted */
	uint32_t n;
	size_t room_bytes;
	/* owned, a mapping: how many rows begin before each part of KTR__CFI_PART bytes, from the first row on */
	uint32_t *before;
	uint32_t n_parts; /* before[n_parts] is there, too. 0: there is no room for it */
};

#define KTR__CFI_PART 64u /* [bytes] most of them have no row, or one to three */

struct dl_phdr_info;

/*
 * Makes the table of an object, of max_bytes at most, while the loader holds it. 0, or -errno and an empty table:
 * -ENOENT where it has no .eh_frame_hdr that could be searched, -EFBIG, -ENOMEM.
 */
int ktr__cfi_make(struct ktr__cfi *cfi, const struct dl_phdr_info *info, size_t max_bytes);
void ktr__cfi_free(struct ktr__cfi *cfi);

/* Of rows that will not change: has them found by their parts, where that takes max_bytes at most. */
void ktr__cfi_part(struct ktr__cfi *cfi, size_t max_bytes);

/* [bytes] all that it has mapped */
size_t ktr__cfi_bytes(const struct ktr__cfi *cfi);

/* The row that holds at an address after the object's base; NULL: none. Async-signal-safe. */
const struct ktr__cfi_row *ktr__cfi_at(const struct ktr__cfi *cfi, uint32_t at);

#endif
