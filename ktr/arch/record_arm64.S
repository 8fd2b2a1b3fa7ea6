/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AArch64: the usual event, from the call to its place in the ring. ktr__record0() to ktr__record6() are
 * one function with seven doors: arguments that an event does not have are zero. The pseudo-code, and
 * what makes it right, are those of record_x86_64.S:
 *
 *	ktr__recordN(site, a0 .. a5):
 *	AGAIN:	  if site.mask & control.special or site_ctl[site.plain]: goto cold
 *		  meta = site.plain
 *	START:	  if rseq.rseq_cs != &descriptor: goto arm
 *		  if rseq.cpu_id != self.here_cpu: goto moved
 *		  clock = control.clock_slots
 *	JOIN:	  if here.geom != here.ring.geom: goto disarm
 *		  head = here.ring.head					LDAR
 *		  to = here.base + (head * 32 & here.mask)
 *		  if head & clock: time = here.ring.last
 *		  else: prefetch to + AHEAD, time = ticks(), here.ring.last = time | KTR_TIME_APPROX
 *		  to = { time, self.armed | meta, a0 .. a5 }
 *	COMMIT:	  here.ring.head = head + 2				STLR
 *		  return
 *	moved:	  rseq.rseq_cs = NULL
 *	arm:	  if not self.armed: goto own
 *		  rseq.rseq_cs = &descriptor
 *		  cpu = rseq.cpu_id
 *		  if cpu >= n_rings: goto disarm
 *		  here_cpu = cpu
 *		  here = { &rings[cpu], *views[cpu] }
 *		  clock = 0
 *		  goto JOIN
 *	abort:	  goto AGAIN
 *	disarm:	  rseq.rseq_cs = NULL
 *	cold:	  ktr__record_cold(site, { a0 .. a5 })
 *
 *	own:	  if not self.own or self.nest >= KTR_LEVELS: goto cold
 *		  nest = self.nest
 *		  self.frame[nest] = stack pointer
 *		  level = &self.level[0][nest]
 *		  self.nest = nest + 1
 *		  if not level.geom or level.geom != level.ring.geom: goto leave
 *		  head = level.ring.head				LDAR
 *		  if not head & 126: goto leave		level.cpu is renewed, in C
 *		  to = level.base + (head * 32 & level.mask), prefetch to + AHEAD
 *		  to = { ticks(), level.cpu << 51 | self.row << 32 | meta, a0 .. a5 }
 *		  level.ring.head = head + 2				STLR
 *		  self.nest = nest
 *		  return
 *	leave:	  self.nest = nest; goto cold
 * A handler that comes in between the loading and the storing of nest leaves it as it was.
 *
 * Why LDAR and STLR, and nothing less, is said in arm64.h.
 *
 * Registers: x0 site and x1 to x6 a0 to a5 stay as they are, so that abort and cold find them.
 *	x7	control; then mask, meta		x12	clock, then the time
 *	x8	scratch; then &head; own: nest		x13	&descriptor; own: &head
 *	x9	the ring; own: &level, less SELF_LEVEL	x14	&self
 *	x10	geom; then base, to			x15	&rseq; own: head
 *	x11	head; own: the ring			x16	&ktr__rec
 *						x17	meta, without the thread
 */
#if defined(__aarch64__) && !defined(__ILP32__) && !KTR_TSAN
#include "ktr/arch/offsets.h"

#define AHEAD 512 /* [bytes] eight slots */

/* May be called through a pointer: bti c. */
#define DOOR(name)                                                                               \
	.globl	name;                                                                            \
	.type	name, %function;                                                                 \
	name:                                                                                    \
	hint	#34

	.text
	.p2align 6
DOOR(ktr__record0)
	mov	x1, xzr
DOOR(ktr__record1)
	mov	x2, xzr
DOOR(ktr__record2)
	mov	x3, xzr
DOOR(ktr__record3)
	mov	x4, xzr
DOOR(ktr__record4)
	mov	x5, xzr
DOOR(ktr__record5)
	mov	x6, xzr
DOOR(ktr__record6)
	.cfi_startproc
.Lagain:
	adrp	x16, ktr__rec
	add	x16, x16, :lo12:ktr__rec
	ldr	x7, [x16, #REC_CONTROL]
	ldr	x8, [x7, #CONTROL_SPECIAL]
	ldr	x9, [x0, #SITE_MASK]
	tst	x8, x9
	b.ne	.Lcold
	ldr	w17, [x0, #SITE_PLAIN]
	ldr	x8, [x16, #REC_SITE_CTL]
	ldrb	w8, [x8, x17]
	cbnz	w8, .Lcold
	mrs	x15, tpidr_el0
	adrp	x14, :gottprel:ktr__self
	ldr	x14, [x14, :gottprel_lo12:ktr__self]
	add	x14, x14, x15
	ldr	x8, [x16, #REC_RSEQ_OFFSET]
	add	x15, x15, x8
	adrp	x13, ktr__record_cs
	add	x13, x13, :lo12:ktr__record_cs
.Lstart:
	ldr	x8, [x15, #RSEQ_CS]
	cmp	x8, x13
	b.ne	.Larm
	ldr	w8, [x15, #RSEQ_CPU]
	ldr	w9, [x14, #SELF_HERE_CPU]
	cmp	w8, w9
	b.ne	.Lmoved
	ldr	w12, [x7, #CONTROL_CLOCK]
.Ljoin:
	ldp	x9, x10, [x14, #SELF_HERE + PLACE_RING]
	ldr	x8, [x9, #RING_GEOM]
	cmp	x8, x10
	b.ne	.Ldisarm
	add	x8, x9, #RING_HEAD
	ldar	x11, [x8]
	ldp	x10, x7, [x14, #SELF_HERE + PLACE_BASE]
	and	x7, x7, x11, lsl #5
	add	x10, x10, x7
	ldr	x7, [x14, #SELF_ARMED]
	orr	x7, x7, x17
	tst	w11, w12
	b.ne	.Lrepeat
	prfm	pstl1keep, [x10, #AHEAD]
	mrs	x12, cntvct_el0
	orr	x13, x12, #1 << TIME_APPROX_BIT
	str	x13, [x9, #RING_LAST]
	b	.Lfill
.Lmoved:
	str	xzr, [x15, #RSEQ_CS]
.Larm:
	ldr	x8, [x14, #SELF_ARMED]
	cbz	x8, .Lown
	str	x13, [x15, #RSEQ_CS]
	ldr	w8, [x15, #RSEQ_CPU]
	ldr	w9, [x16, #REC_N_RINGS]
	cmp	w8, w9
	b.hs	.Ldisarm
	str	w8, [x14, #SELF_HERE_CPU]
	ldr	x9, [x16, #REC_VIEWS]
	ldr	x9, [x9, x8, lsl #3]
	ldr	x10, [x16, #REC_RINGS]
	add	x10, x10, x8, lsl #RING_SHIFT
	ldr	x11, [x9, #VIEW_GEOM]
	stp	x10, x11, [x14, #SELF_HERE + PLACE_RING]
	ldp	x10, x11, [x9, #VIEW_BASE]
	stp	x10, x11, [x14, #SELF_HERE + PLACE_BASE]
	mov	w12, wzr
	b	.Ljoin
.Lrepeat:
	ldr	x12, [x9, #RING_LAST]
.Lfill:
	stp	x12, x7, [x10]
	stp	x1, x2, [x10, #16]
	stp	x3, x4, [x10, #32]
	stp	x5, x6, [x10, #48]
	add	x11, x11, #2
	stlr	x11, [x8]
.Lend:
	ret

.Lown:
	ldr	w8, [x14, #SELF_OWN]
	cbz	w8, .Lcold
	ldr	w8, [x14, #SELF_NEST]
	cmp	w8, #LEVELS
	b.hs	.Lcold
	add	x9, x14, #SELF_FRAME
	mov	x10, sp
	str	x10, [x9, x8, lsl #3]
	mov	w10, #LEVEL_BYTES
	umaddl	x9, w8, w10, x14
	add	w10, w8, #1
	str	w10, [x14, #SELF_NEST]
	ldp	x11, x12, [x9, #SELF_LEVEL + PLACE_RING]
	cbz	x12, .Lleave
	ldr	x13, [x11, #RING_GEOM]
	cmp	x12, x13
	b.ne	.Lleave
	add	x13, x11, #RING_HEAD
	ldar	x15, [x13]
	tst	x15, #126
	b.eq	.Lleave
	ldr	w12, [x9, #SELF_LEVEL + LEVEL_CPU]
	ldr	w7, [x14, #SELF_ROW]
	orr	w7, w7, w12, lsl #THREAD_BITS
	orr	x7, x17, x7, lsl #32
	ldp	x10, x12, [x9, #SELF_LEVEL + PLACE_BASE]
	and	x12, x12, x15, lsl #5
	add	x10, x10, x12
	prfm	pstl1keep, [x10, #AHEAD]
	mrs	x12, cntvct_el0
	stp	x12, x7, [x10]
	stp	x1, x2, [x10, #16]
	stp	x3, x4, [x10, #32]
	stp	x5, x6, [x10, #48]
	add	x15, x15, #2
	stlr	x15, [x13]
	str	w8, [x14, #SELF_NEST]
	ret
.Lleave:
	str	w8, [x14, #SELF_NEST]
	b	.Lcold

	/* The signature before an abort handler (glibc: RSEQ_SIG), an instruction that traps. */
	.inst	0xd428bc00
.Labort:
	b	.Lagain

.Ldisarm:
	str	xzr, [x15, #RSEQ_CS]
.Lcold:
	hint	#25				/* paciasp */
	.cfi_negate_ra_state
	stp	x29, x30, [sp, #-64]!
	.cfi_def_cfa_offset 64
	.cfi_offset 29, -64
	.cfi_offset 30, -56
	mov	x29, sp
	stp	x1, x2, [sp, #16]
	stp	x3, x4, [sp, #32]
	stp	x5, x6, [sp, #48]
	add	x1, sp, #16
	bl	ktr__record_cold
	ldp	x29, x30, [sp], #64
	.cfi_restore 30
	.cfi_restore 29
	.cfi_def_cfa_offset 0
	hint	#29				/* autiasp */
	.cfi_negate_ra_state
	ret
	.cfi_endproc
	.size	ktr__record0, . - ktr__record0
	.size	ktr__record1, . - ktr__record1
	.size	ktr__record2, . - ktr__record2
	.size	ktr__record3, . - ktr__record3
	.size	ktr__record4, . - ktr__record4
	.size	ktr__record5, . - ktr__record5
	.size	ktr__record6, . - ktr__record6

/* Descriptor, and the arrays for debuggers, as in arm64.h. */
	.section __rseq_cs, "aw"
	.balign	32
	.globl	ktr__record_cs
	.hidden	ktr__record_cs
ktr__record_cs:
	.long	0, 0
	.quad	.Lstart, .Lend - .Lstart, .Labort
	.section __rseq_cs_ptr_array, "aw"
	.quad	ktr__record_cs
	.section __rseq_exit_point_array, "aw"
	.quad	.Lstart, .Lown
	.quad	.Lstart, .Ldisarm

/* ELF for the Arm 64-bit Architecture, "Program Property": BTI and PAC. */
	.section .note.gnu.property, "a", %note
	.p2align 3
	.word	4, 16, 5
	.asciz	"GNU"
	.word	0xc0000000, 4, 3, 0
#endif
	.section .note.GNU-stack, "", %progbits
