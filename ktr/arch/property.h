/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mark of an object written in assembly, for the end of each such file: what it is fit for. A linker gives a
 * program or library the mark if all of its objects have it, also those that are empty or have data alone.
 *
 * x86-64 (System V ABI, "Program Property"): shadow stacks; what is called returns to its caller. AArch64 (ELF for
 * the Arm 64-bit Architecture, "Program Property"): landing pads (BTI) where a function may be called through a
 * pointer, and signed return addresses (PAC), for none is stored. No guarded control stack: see vfork.S. In the
 * form of one C file, whose functions have landing pads if the compiler was told so, the compiler says it.
 */
#if defined(__x86_64__) && !defined(__ILP32__)
	.section .note.gnu.property, "a", @note
	.p2align 3
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 2, 0
#elif defined(__aarch64__) && !defined(__ILP32__) && !defined(KTR_IN_C)
	.section .note.gnu.property, "a", %note
	.p2align 3
	.word	4, 16, 5
	.asciz	"GNU"
	.word	0xc0000000, 4, 3, 0
#endif
	.section .note.GNU-stack, "", %progbits
