/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * With KTR_USDT defined every CTR point is a user-space statically defined tracepoint, too: gdb, perf and bpftrace
 * find it in the file, attach to it while the program runs, and see its arguments.
 *
 *	cc -DKTR_USDT ...
 *	gdb -p PID -ex 'info probes stap'
 *	bpftrace -p PID -e 'usdt:./prog:rx:hello_c_8 { @[arg0] = count(); }'
 *
 * The provider is the class ("net", "rx"), the name the place: file and line, hello.c:8 as hello_c_8. Arguments
 * are those of the macro as 64-bit words, signed or not; strings are their addresses, doubles their bits.
 *
 * What a point is: five bytes of nop, and in the section .note.stapsdt a note of version 3 (the layout is that of
 * https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation) with the nop's address, the address of a
 * semaphore in section .probes, and where the arguments are. Who attaches counts the semaphore up, which opens the
 * point as its class's bit in the mask does; neither switches the other. sys/sdt.h is not needed.
 */
#ifndef KTR_USDT_H
#define KTR_USDT_H

#if defined(__aarch64__)
#define KTR__USDT_NOP "nop\n\t"
#else
#define KTR__USDT_NOP ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n\t"
#endif

#ifdef __FILE_NAME__
#define KTR__USDT_FILE __FILE_NAME__
#else
#define KTR__USDT_FILE __FILE__
#endif

#define KTR__USDT_TEXT2(x) #x
#define KTR__USDT_TEXT(x)  KTR__USDT_TEXT2(x)

/*
 * A point's semaphore: perf wants it in the section .probes. In C++ a static of an inline function lies in a group
 * of its own, which g++ does not let into one section with others, and may be another library's, whose address no
 * operand takes in position-independent code: there it is a member of a hidden type that belongs to the point.
 */
#ifdef __cplusplus
extern "C++" {
template <class T> struct __attribute__((visibility("hidden"))) ktr__usdt_point {
	static volatile unsigned short semaphore;
};
template <class T> volatile unsigned short ktr__usdt_point<T>::semaphore = 0;
}
#define KTR__USDT_POINT	    struct ktr__usdt_here { int line; }
#define KTR__USDT_SEMAPHORE ktr__usdt_point<struct ktr__usdt_here>::semaphore
#else
#define KTR__USDT_POINT	    static volatile unsigned short ktr__semaphore __attribute__((section(".probes"))) = 0
#define KTR__USDT_SEMAPHORE ktr__semaphore
#endif

/* X(mask, name): FreeBSD's classes. */
#define KTR__USDT_CLASS(mask, name)                                                              \
	".ifeq \\m-" #mask "\n\t.asciz \"" name "\"\n\t.set ktr_n,1\n\t.endif\n\t"

/*
 * ktr_usdt_class: the provider. An application class is known by its macro's text, "(&ktr_class_rx)": what lies
 * after the twelfth character up to the parenthesis. ktr_usdt_place: a file's name, up to a bar, of letters that
 * tools take. clang's assembler goes through nothing but words: there the class is its symbol, if it has one, and
 * a file's name stays as it is.
 */
#ifdef __clang__
#define KTR__USDT_SKIP		   "10"
#if defined(__PIC__) /* nor takes it the address of a symbol of another file: all are "app" */
#define KTR__USDT_CLASS_TEXT(text) "ktr_class_app"
#define KTR__USDT_CLASS_IN(m)
#else
#define KTR__USDT_CLASS_TEXT(text) "%c[cls]"
#define KTR__USDT_CLASS_IN(m)	   , [cls] "i"(KTR__USDT_CLASS_OF(m))
#endif
#define KTR__USDT_PLACE		   ".ascii \"" KTR__USDT_FILE "\"\n\t"
#else
#define KTR__USDT_SKIP		   "12"
#define KTR__USDT_CLASS_TEXT(text) "\"" text "\""
#define KTR__USDT_PLACE		   "ktr_usdt_place \"" KTR__USDT_FILE "|\"\n\t"
#define KTR__USDT_CLASS_IN(m)
#endif
#define KTR__USDT_NOT(char) ".ifc \\c," char "\n\t.set ktr_o,1\n\t.endif\n\t"
#define KTR__USDT_MACROS                                                                         \
	".ifndef ktr_usdt_known\n\t.set ktr_usdt_known,1\n\t"                                    \
	".macro ktr_usdt_class m,app,text\n\t.set ktr_n,0\n\t.set ktr_s,0\n\t"                 \
	".if \\app\n\t.irpc c,\\text\n\t.set ktr_n,ktr_n+1\n\t"                                  \
	".if (ktr_n-" KTR__USDT_SKIP ">0)\n\t.if (ktr_s==0)\n\t"                              \
	".ifc \\c,)\n\t.set ktr_s,1\n\t.else\n\t.ascii \"\\c\"\n\t.endif\n\t.endif\n\t.endif\n\t.endr\n\t.byte 0\n\t" \
	".else\n\t"                                                                              \
	KTR__USDT_CLASS(0x1, "gen") KTR__USDT_CLASS(0x2, "net") KTR__USDT_CLASS(0x4, "dev")      \
	KTR__USDT_CLASS(0x8, "lock") KTR__USDT_CLASS(0x10, "smp") KTR__USDT_CLASS(0x20, "subsys") \
	KTR__USDT_CLASS(0x40, "pmap") KTR__USDT_CLASS(0x80, "malloc") KTR__USDT_CLASS(0x100, "trap") \
	KTR__USDT_CLASS(0x200, "intr") KTR__USDT_CLASS(0x400, "sig") KTR__USDT_CLASS(0x800, "spare2") \
	KTR__USDT_CLASS(0x1000, "proc") KTR__USDT_CLASS(0x2000, "sysc") KTR__USDT_CLASS(0x4000, "init") \
	KTR__USDT_CLASS(0x8000, "spare3") KTR__USDT_CLASS(0x10000, "spare4")                     \
	KTR__USDT_CLASS(0x20000, "evh") KTR__USDT_CLASS(0x40000, "vfs") KTR__USDT_CLASS(0x80000, "vop") \
	KTR__USDT_CLASS(0x100000, "vm") KTR__USDT_CLASS(0x200000, "inet") KTR__USDT_CLASS(0x400000, "runq") \
	KTR__USDT_CLASS(0x800000, "spare5") KTR__USDT_CLASS(0x1000000, "uma")                    \
	KTR__USDT_CLASS(0x2000000, "callout") KTR__USDT_CLASS(0x4000000, "geom")                 \
	KTR__USDT_CLASS(0x8000000, "busdma") KTR__USDT_CLASS(0x10000000, "inet6")                \
	KTR__USDT_CLASS(0x20000000, "sched") KTR__USDT_CLASS(0x40000000, "buf")                  \
	KTR__USDT_CLASS(0x80000000, "ptrace")                                                    \
	".ifeq ktr_n\n\t.asciz \"ktr\"\n\t.endif\n\t.endif\n\t.endm\n\t"                         \
	".macro ktr_usdt_place text\n\t.set ktr_n,0\n\t.set ktr_s,0\n\t"                       \
	".irpc c,\\text\n\t.set ktr_n,ktr_n+1\n\t"                                             \
	".if (ktr_s==0)\n\t.set ktr_o,0\n\t"               \
	".ifc \\c,|\n\t.set ktr_s,1\n\t.else\n\t"                                              \
	KTR__USDT_NOT(".") KTR__USDT_NOT("-") KTR__USDT_NOT("/") KTR__USDT_NOT("+")              \
	".if ktr_o\n\t.byte 95\n\t.else\n\t.ascii \"\\c\"\n\t.endif\n\t.endif\n\t.endif\n\t.endr\n\t.endm\n\t" \
	".endif\n\t"

/* What goes into the note is a constant: C++ folds what stands in an operand only if it optimises. */
#ifdef __cplusplus
#define KTR__USDT_CONSTANTS(m)                                                                   \
	constexpr bool ktr__is_app = KTR__IS_CLASS(m);                                           \
	constexpr uint64_t ktr__mask = KTR__STATIC_MASK(m);                                      \
	constexpr const struct ktr_class *ktr__cls = KTR__STATIC_CLASS(m);                       \
	(void)ktr__cls
#define KTR__USDT_IS_APP(m)   ktr__is_app
#define KTR__USDT_MASK(m)     ktr__mask
#define KTR__USDT_CLASS_OF(m) ktr__cls
#else
#define KTR__USDT_CONSTANTS(m) (void)0
#define KTR__USDT_IS_APP(m)                                                                      \
	__extension__ _Generic((m), struct ktr_class *: 1, const struct ktr_class *: 1, default: 0)
#define KTR__USDT_MASK(m)      KTR__STATIC_MASK(m)
#define KTR__USDT_CLASS_OF(m)  KTR__STATIC_CLASS(m)
#endif

/* One argument in the note: "-8@%rax". %n prints a constant's negative: signed ones are -8. */
#define KTR__USDT_ARG(i) "%c[s" #i "]@%[a" #i "]"
/* Its operands, with the comma in front: a list of none is nothing, as strict compilers want it. */
#define KTR__USDT_IN(i, type, word)                                                              \
	, [s##i] "i"((type) == KTR_ARG_I8 || (type) == KTR_ARG_I16 || (type) == KTR_ARG_I32 ||   \
				   (type) == KTR_ARG_I64 ?                                       \
			   -8 :                                                                  \
			   8),                                                                   \
		[a##i] "nor"(word)

#define KTR__USDT_NOTE(m, mtext, args, in)                                                       \
	KTR__USDT_CONSTANTS(m);                                                                  \
	__asm__ volatile(KTR__USDT_MACROS                                                        \
			 "990: " KTR__USDT_NOP                                                   \
			 ".pushsection .note.stapsdt,\"?\",\"note\"\n\t"                         \
			 ".balign 4\n\t.4byte 992f-991f, 994f-993f, 3\n\t"                       \
			 "991: .asciz \"stapsdt\"\n\t"                                           \
			 "992: .balign 4\n\t"                                                    \
			 "993: .8byte 990b\n\t.8byte _.stapsdt.base\n\t.8byte %c[sem]\n\t"       \
			 "ktr_usdt_class %c[mask],%c[app]," KTR__USDT_CLASS_TEXT(mtext) "\n\t"    \
			 KTR__USDT_PLACE                                                         \
			 ".asciz \"_" KTR__USDT_TEXT(__LINE__) "\"\n\t"                          \
			 ".asciz \"" args "\"\n\t"                                               \
			 "994: .balign 4\n\t.popsection\n\t"                                     \
			 ".ifndef _.stapsdt.base\n\t"                                            \
			 ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n\t" \
			 ".weak _.stapsdt.base\n\t.hidden _.stapsdt.base\n\t"                    \
			 "_.stapsdt.base: .space 1\n\t.size _.stapsdt.base, 1\n\t"               \
			 ".popsection\n\t.endif\n\t"                                             \
			 :                                                                       \
			 : [sem] KTR__ADDRESS(&KTR__USDT_SEMAPHORE), [mask] "i"(KTR__USDT_MASK(m)),   \
			   [app] "i"(KTR__USDT_IS_APP(m)) KTR__USDT_CLASS_IN(m) in)

/* The point's gate, and what stands for a call of ktr__recordN() after it. */
#define KTR__IF_POINT(m)                                                                         \
	KTR__USDT_POINT;                                                                        \
	if (((KTR_COMPILE) & KTR__COMPILE_MASK(m)) != 0 &&                                       \
	    __builtin_expect((KTR__GATE() & KTR__MASK(m)) != 0 || KTR__USDT_SEMAPHORE != 0, 0))

/*
 * What stands for ktr__recordN(site, ...) after the gate. Arguments are evaluated once; where the class is off,
 * and only somebody attached made the point run, nothing is recorded.
 */
#define KTR__USDT_RECORD(m, call)                                                                \
	do {                                                                                     \
		if (KTR__GATE() & KTR__MASK(m))                                                  \
			call;                                                                    \
	} while (0)

#define KTR__RECORD0(m, mtext, site)								\
	do {											\
		KTR__USDT_NOTE(m, mtext, "", );							\
		KTR__USDT_RECORD(m, ktr__record0(site));					\
	} while (0)

#define KTR__RECORD1(m, mtext, site, t0, b0)							\
	do {											\
		uint64_t ktr__w0 = (b0);							\
		KTR__USDT_NOTE(m, mtext, KTR__USDT_ARG(0), KTR__USDT_IN(0, t0, ktr__w0));	\
		KTR__USDT_RECORD(m, ktr__record1(site, ktr__w0));				\
	} while (0)

#define KTR__RECORD2(m, mtext, site, t0, b0, t1, b1)						\
	do {											\
		uint64_t ktr__w0 = (b0);							\
		uint64_t ktr__w1 = (b1);							\
		KTR__USDT_NOTE(m, mtext, KTR__USDT_ARG(0) " " KTR__USDT_ARG(1),			\
			       KTR__USDT_IN(0, t0, ktr__w0) KTR__USDT_IN(1, t1, ktr__w1));	\
		KTR__USDT_RECORD(m, ktr__record2(site, ktr__w0, ktr__w1));			\
	} while (0)

#define KTR__RECORD3(m, mtext, site, t0, b0, t1, b1, t2, b2)					\
	do {											\
		uint64_t ktr__w0 = (b0);							\
		uint64_t ktr__w1 = (b1);							\
		uint64_t ktr__w2 = (b2);							\
		KTR__USDT_NOTE(m, mtext, KTR__USDT_ARG(0) " " KTR__USDT_ARG(1) " "		\
			       KTR__USDT_ARG(2), KTR__USDT_IN(0, t0, ktr__w0)			\
			       KTR__USDT_IN(1, t1, ktr__w1) KTR__USDT_IN(2, t2, ktr__w2));	\
		KTR__USDT_RECORD(m, ktr__record3(site, ktr__w0, ktr__w1, ktr__w2));		\
	} while (0)

#define KTR__RECORD4(m, mtext, site, t0, b0, t1, b1, t2, b2, t3, b3)				\
	do {											\
		uint64_t ktr__w0 = (b0);							\
		uint64_t ktr__w1 = (b1);							\
		uint64_t ktr__w2 = (b2);							\
		uint64_t ktr__w3 = (b3);							\
		KTR__USDT_NOTE(m, mtext, KTR__USDT_ARG(0) " " KTR__USDT_ARG(1) " "		\
			       KTR__USDT_ARG(2) " " KTR__USDT_ARG(3),				\
			       KTR__USDT_IN(0, t0, ktr__w0) KTR__USDT_IN(1, t1, ktr__w1)	\
			       KTR__USDT_IN(2, t2, ktr__w2) KTR__USDT_IN(3, t3, ktr__w3));	\
		KTR__USDT_RECORD(m, ktr__record4(site, ktr__w0, ktr__w1, ktr__w2, ktr__w3));	\
	} while (0)

#define KTR__RECORD5(m, mtext, site, t0, b0, t1, b1, t2, b2, t3, b3, t4, b4)			\
	do {											\
		uint64_t ktr__w0 = (b0);							\
		uint64_t ktr__w1 = (b1);							\
		uint64_t ktr__w2 = (b2);							\
		uint64_t ktr__w3 = (b3);							\
		uint64_t ktr__w4 = (b4);							\
		KTR__USDT_NOTE(m, mtext, KTR__USDT_ARG(0) " " KTR__USDT_ARG(1) " "		\
			       KTR__USDT_ARG(2) " " KTR__USDT_ARG(3) " " KTR__USDT_ARG(4),	\
			       KTR__USDT_IN(0, t0, ktr__w0) KTR__USDT_IN(1, t1, ktr__w1)	\
			       KTR__USDT_IN(2, t2, ktr__w2) KTR__USDT_IN(3, t3, ktr__w3)	\
			       KTR__USDT_IN(4, t4, ktr__w4));					\
		KTR__USDT_RECORD(m, ktr__record5(site, ktr__w0, ktr__w1, ktr__w2, ktr__w3, ktr__w4));	\
	} while (0)

#define KTR__RECORD6(m, mtext, site, t0, b0, t1, b1, t2, b2, t3, b3, t4, b4, t5, b5)		\
	do {											\
		uint64_t ktr__w0 = (b0);							\
		uint64_t ktr__w1 = (b1);							\
		uint64_t ktr__w2 = (b2);							\
		uint64_t ktr__w3 = (b3);							\
		uint64_t ktr__w4 = (b4);							\
		uint64_t ktr__w5 = (b5);							\
		KTR__USDT_NOTE(m, mtext, KTR__USDT_ARG(0) " " KTR__USDT_ARG(1) " "		\
			       KTR__USDT_ARG(2) " " KTR__USDT_ARG(3) " " KTR__USDT_ARG(4) " "	\
			       KTR__USDT_ARG(5), KTR__USDT_IN(0, t0, ktr__w0)			\
			       KTR__USDT_IN(1, t1, ktr__w1) KTR__USDT_IN(2, t2, ktr__w2)	\
			       KTR__USDT_IN(3, t3, ktr__w3) KTR__USDT_IN(4, t4, ktr__w4)	\
			       KTR__USDT_IN(5, t5, ktr__w5));					\
		KTR__USDT_RECORD(m, KTR__CALL6(site, ktr__w0, ktr__w1, ktr__w2, ktr__w3, ktr__w4, ktr__w5));	\
	} while (0)

#endif
