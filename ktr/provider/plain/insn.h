/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instructions of x86-64 in 64-bit mode: how long one is, where it goes on, and whether it does the same at another
 * place. What is not known is refused, never guessed.
 */
#ifndef KTR_PLAIN_INSN_H
#define KTR_PLAIN_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KTR__INSN_MAX 15 /* [bytes] */

enum ktr__insn_flow {
	KTR__INSN_NEXT,	   /* behind it */
	KTR__INSN_CALL,	   /* to rel, and comes back */
	KTR__INSN_CALL_AT, /* to where a register or memory says */
	KTR__INSN_JUMP,	   /* to rel */
	KTR__INSN_JUMP_AT,
	KTR__INSN_BRANCH, /* to rel, or behind it */
	KTR__INSN_RETURN,
	KTR__INSN_STOP,	  /* it traps */
	KTR__INSN_SYSTEM, /* into the kernel */
};

struct ktr__insn {
	uint8_t n_bytes;
	uint8_t flow;	 /* enum ktr__insn_flow */
	uint8_t map;	 /* 1: of one byte; 2: 0f; 3: 0f 38; 4: 0f 3a; 5: of vectors (VEX, EVEX) */
	uint8_t opcode;	 /* in its map */
	uint8_t rex;	 /* the prefix; 0: none */
	uint8_t modrm;	 /* where has_modrm is */
	uint8_t sib;	 /* where has_sib is */
	uint8_t rip_at;	 /* where four bytes are that are counted from its end: an operand's address; 0: none */
	bool has_modrm;
	bool has_sib;
	bool is_short; /* of its operands: prefix 66 */
	int32_t displacement; /* in memory operands */
	int32_t rel;	 /* of a flow that has one, from its end */
	int32_t value;	 /* immediate, of one or four bytes */
};

/* n: bytes that are there. False: it is not known. */
bool ktr__insn_read(const uint8_t *at, size_t n, struct ktr__insn *insn);

/*
 * Does it do the same at another place, within rel32 of what it speaks of, and is what it does to the stack pointer
 * known: so many bytes less?
 */
bool ktr__insn_moves(const struct ktr__insn *insn, uint32_t *pushes);

/*
 * Does it read where a function returns to, which has so many bytes of stack between that and its stack pointer?
 * by_rbp: rbp is the frame's. pop may, where there are none.
 */
bool ktr__insn_asks(const struct ktr__insn *insn, uint32_t depth, bool by_rbp);

/* mov %rsp, %rbp; and what it gives back of the stack (pop, add $N, %rsp). */
bool ktr__insn_frames(const struct ktr__insn *insn);
uint32_t ktr__insn_pops(const struct ktr__insn *insn);

/* A nop, of however many bytes; int3, too, which stands between functions. */
bool ktr__insn_is_filling(const struct ktr__insn *insn);

/* endbr64 */
bool ktr__insn_is_endbr(const uint8_t *at);

#endif
