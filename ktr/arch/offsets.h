/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where assembly finds the fields it uses, in bytes. Of numbers only, so that .S files may include it;
 * ktr/record/record.h holds each of them against its structure.
 */
#ifndef KTR_ARCH_OFFSETS_H
#define KTR_ARCH_OFFSETS_H

/* struct ktr__rec */
#define REC_RINGS	8
#define REC_VIEWS	16
#define REC_N_RINGS	32

/* struct ktr__hot */
#define HOT_CONTROL	0
#define HOT_RSEQ_OFFSET 8
#define HOT_VIEWS	16
#define HOT_RINGS	24
#define HOT_N_RINGS	32

/* struct ktr__ring_view */
#define VIEW_GEOM 0
#define VIEW_BASE 8
#define VIEW_MASK 16

/* struct ktr__place */
#define PLACE_RING 0
#define PLACE_GEOM 8
#define PLACE_BASE 16
#define PLACE_MASK 24

/* struct ktr__self */
#define SELF_ARMED    0
#define SELF_IN_VFORK 8
#define SELF_OWN      16
#define SELF_NEST     24
#define SELF_HERE_CPU 28
#define SELF_HERE     32
#define SELF_FRAME    64
#define SELF_LEVEL    96
#define SELF_NOWHERE  0x7fffffff /* in here_cpu: no CPU, and none of what the kernel says where there is none */

/* struct ktr__level */
#define LEVEL_CPU   32

/* struct ktr_ring; the header of ring n is at n << RING_SHIFT */
#define RING_GEOM  0
#define RING_HEAD  8
#define RING_CONT  16
#define RING_LAST  32
#define RING_SHIFT 8

/* struct ktr_control */
#define CONTROL_CLOCK	   48
#define CONTROL_GENERATION 56

/* struct ktr_site */
#define SITE_ID	       8
#define SITE_READY     12
#define SITE_N_ARGS    16
#define SITE_TEXT_AT   18
#define TEXT_AT_ANY    7 /* KTR_TEXT_AT_ANY */
#define TEXT_AT_BOTH   8 /* KTR_TEXT_AT_BOTH */
#define TEXT_AT_STACK  9 /* KTR_TEXT_AT_STACK */
#define TEXT_AT_FIRST  10 /* KTR_TEXT_AT_FIRST */
#define STRING_MAX     512 /* KTR_STRING_MAX */
#define CONT_BYTES     56 /* KTR_CONT_BYTES */

/* struct ktr__frames */
#define STACK_WORD 0
#define STACK_PCS  8

/* struct ktr__image */
#define IMAGE_META    0
#define IMAGE_N_SLOTS 56
#define IMAGE_CONT    64

/* struct rseq (linux/rseq.h) and its descriptor */
#define RSEQ_CPU 4
#define RSEQ_CS	 8

/* struct ktr_entry, and what its words are made of */
#define TIME_APPROX_BIT 62
#define THREAD_BITS	19

#endif
