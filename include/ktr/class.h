/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event classes: what a mask is made of.
 *
 * The lower half of the 64-bit mask holds FreeBSD's classes at FreeBSD's bits (sys/sys/ktr_class.h).
 * The upper half belongs to application classes: a program names them, and each session binds a name
 * to a bit the first time it meets it, so that two libraries in one program never collide.
 */
#ifndef KTR_CLASS_H
#define KTR_CLASS_H

#include <stdint.h>

/* X(name, bit, help). The one list of FreeBSD's classes; every tool prints and parses from it. */
#define KTR_CLASS_LIST(X)                                                                        \
	X(GEN, 0, "general")                                                                     \
	X(NET, 1, "network")                                                                     \
	X(DEV, 2, "device driver, placeholder")                                                  \
	X(LOCK, 3, "locks: mutexes, read-write locks, condition variables")                      \
	X(SMP, 4, "multiprocessor")                                                              \
	X(SUBSYS, 5, "subsystem, placeholder")                                                   \
	X(PMAP, 6, "page tables")                                                                \
	X(MALLOC, 7, "memory allocation")                                                        \
	X(TRAP, 8, "traps")                                                                      \
	X(INTR, 9, "interrupts")                                                                 \
	X(SIG, 10, "signals")                                                                    \
	X(SPARE2, 11, "spare")                                                                   \
	X(PROC, 12, "process and thread life")                                                   \
	X(SYSC, 13, "system calls")                                                              \
	X(INIT, 14, "initialisation")                                                            \
	X(SPARE3, 15, "spare")                                                                   \
	X(SPARE4, 16, "spare")                                                                   \
	X(EVH, 17, "event handlers")                                                             \
	X(VFS, 18, "files")                                                                      \
	X(VOP, 19, "file operations")                                                            \
	X(VM, 20, "virtual memory")                                                              \
	X(INET, 21, "IPv4")                                                                      \
	X(RUNQ, 22, "run queues")                                                                \
	X(SPARE5, 23, "spare")                                                                   \
	X(UMA, 24, "zone allocator")                                                             \
	X(CALLOUT, 25, "timers")                                                                 \
	X(GEOM, 26, "block input and output")                                                    \
	X(BUSDMA, 27, "direct memory access")                                                    \
	X(INET6, 28, "IPv6")                                                                     \
	X(SCHED, 29, "scheduling, thread states")                                                \
	X(BUF, 30, "buffers")                                                                    \
	X(PTRACE, 31, "process tracing")

/* Plain numbers rather than an enum: they are used in #if and need 64 bits. */
#define KTR_GEN        0x00000001ull
#define KTR_NET        0x00000002ull
#define KTR_DEV        0x00000004ull
#define KTR_LOCK       0x00000008ull
#define KTR_SMP        0x00000010ull
#define KTR_SUBSYS     0x00000020ull
#define KTR_PMAP       0x00000040ull
#define KTR_MALLOC     0x00000080ull
#define KTR_TRAP       0x00000100ull
#define KTR_INTR       0x00000200ull
#define KTR_SIG        0x00000400ull
#define KTR_SPARE2     0x00000800ull
#define KTR_PROC       0x00001000ull
#define KTR_SYSC       0x00002000ull
#define KTR_INIT       0x00004000ull
#define KTR_SPARE3     0x00008000ull
#define KTR_SPARE4     0x00010000ull
#define KTR_EVH        0x00020000ull
#define KTR_VFS        0x00040000ull
#define KTR_VOP        0x00080000ull
#define KTR_VM         0x00100000ull
#define KTR_INET       0x00200000ull
#define KTR_RUNQ       0x00400000ull
#define KTR_SPARE5     0x00800000ull
#define KTR_CONTENTION KTR_SPARE5 /* its older name */
#define KTR_UMA        0x01000000ull
#define KTR_CALLOUT    0x02000000ull
#define KTR_GEOM       0x04000000ull
#define KTR_BUSDMA     0x08000000ull
#define KTR_INET6      0x10000000ull
#define KTR_SCHED      0x20000000ull
#define KTR_BUF        0x40000000ull
#define KTR_PTRACE     0x80000000ull
#define KTR_ALL        0xffffffffffffffffull

/* Bits 32 to 63 are bound to application classes, first come first served, per session. */
#define KTR_CLASS_APP_FIRST 32
#define KTR_CLASS_MAX       64
#define KTR_CLASS_NAME_MAX  32 /* bytes, with the NUL */

/*
 * An application class: defined in one line at file scope, used as the first argument of any CTR
 * macro. The same name in two files or two libraries is the same class.
 *
 *	KTR_CLASS_DEFINE(rx, "packets received");
 *	...
 *	CTR2(KTR_CLASS(rx), "got %d bytes from %s", n, peer);
 *
 * KTR_CLASS_DECLARE(rx) in a header shares one between files. Until a session has bound it (or
 * when all 32 are taken, which is counted and reported) its mask is 0 and its events are off.
 */
struct ktr_class {
	uint64_t mask; /* written by the library when it binds the name, read by the gate */
	const char *name;
	const char *help;
};

#if defined(KTR_OFF) && defined(__cplusplus)
#define KTR_CLASS(class_name) (static_cast<struct ktr_class *>(nullptr))
#elif defined(KTR_OFF)
#define KTR_CLASS(class_name) ((struct ktr_class *)0)
#else
#define KTR_CLASS(class_name) (&ktr_class_##class_name)
#endif

#endif
