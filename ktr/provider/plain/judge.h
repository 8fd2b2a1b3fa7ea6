/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions of an object can be probed though they were not built for it, how, and why the others cannot.
 *
 * A function is led away by changing bytes of its first instruction alone, and by one store, so that no thread can
 * be within what changes, or see half of it:
 *
 *	KTR__PLAIN_LONG	 e9 rel32, over an instruction of five bytes or more; all five in one aligned word of eight
 *	KTR__PLAIN_SHORT eb rel8, over one of two or more, both in one such word; it leads to an e9 rel32 written
 *			 beforehand into what is between two functions, which nobody runs
 *
 * On Intel and AMD a jump whose bytes cross a line of the cache (AMD: 32 bytes) was seen in parts by other CPUs,
 * one within a word never was.
 */
#ifndef KTR_PLAIN_JUDGE_H
#define KTR_PLAIN_JUDGE_H

#include "ktr/provider/plain/frames.h"

/* Why not: X(NAME, text), as `ktr probe list -v` has it. */
#define KTR__PLAIN_WHY_LIST(X)                                                                         \
	X(NONE, "")                                                                                    \
	X(PART, "excluded: a part of another function")                                                \
	X(ENTRY, "excluded: the program begins there, nobody calls it")                                \
	X(REBUILT, "") /* its own module offers it, by the same name */                                \
	X(JUMP, "excluded: it begins with a jump, a call or a return, which cannot be moved")          \
	X(UNKNOWN, "excluded: it begins with an instruction that cannot be moved")                     \
	X(BYTE, "excluded: its first instruction is of one byte")                                      \
	X(WORD, "excluded: its first instruction crosses a word of eight bytes")                       \
	X(ROOM, "excluded: there is no room for a jump near its first instruction")                    \
	X(LOOP, "excluded: its first instruction is also where a loop goes back to")                   \
	X(INTO, "excluded: something jumps into its first instruction")                                \
	X(FAR, "excluded: its first instruction speaks of what is too far from a copy of it")          \
	X(TEXT, "excluded: no memory may become executable (PR_SET_MDWE, SELinux)")

enum ktr__plain_why {
#define KTR__PLAIN_WHY_ENUM(name, text) KTR__PLAIN_WHY_##name,
	KTR__PLAIN_WHY_LIST(KTR__PLAIN_WHY_ENUM)
#undef KTR__PLAIN_WHY_ENUM
};

#define KTR__PLAIN_NOT	 0
#define KTR__PLAIN_LONG	 1
#define KTR__PLAIN_SHORT 2

struct ktr__plain_function {
	uintptr_t at;
	uintptr_t gap;	    /* of a short one: where its long jump is to be */
	uint8_t form;
	uint8_t why;	    /* enum ktr__plain_why, where form is KTR__PLAIN_NOT */
	uint8_t n_first;    /* [bytes] its first instruction; 0: not known */
	uint8_t rip_at;	    /* within it: struct ktr__insn */
	uint8_t before[8];  /* its first bytes, as many of them as are changed */
	uint32_t pushes;    /* [bytes] that it takes of the stack */
	bool is_endbr;	    /* it does nothing, and needs no copy */
	bool is_called;	    /* directly, in the same object */
	bool is_jumped_to;  /* from another function */
	bool asks;	    /* it reads where it returns to: no return is offered */
	bool is_on;
};

/*
 * One for each frame, in their order. The text is read, so within the loader's walk. NULL: there is no memory. The
 * caller's, by free(3).
 */
struct ktr__plain_function *ktr__plain_judge(const struct ktr__plain_frames *frames);

#endif
