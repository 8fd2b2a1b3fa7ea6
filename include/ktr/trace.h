/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The gate and the CTR macros.
 *
 *	CTR2(KTR_NET, "got %d bytes from %s", n, peer);
 *
 * Two gates, as in FreeBSD. KTR_COMPILE (define it before the first include, default KTR_ALL) decides
 * which classes are compiled in at all: others leave no code, no string, no evaluated argument. The
 * run-time gate is two loads (where the session's mask is, the mask), a test and a branch that is predicted not
 * taken; arguments are evaluated, once, only after it.
 *
 * Formats are printf's and checked by the compiler (KTR_NO_FORMAT_CHECK switches that off). A string
 * that %s prints is copied, at most KTR_STRING_MAX bytes, or as many as a precision says; a literal is known with
 * the call site, and costs an event nothing. A pointer
 * printed with %p or %x is never followed. Each argument is recorded in its own type.
 *
 * All macros may be used from any thread and from signal handlers. They keep errno, take no lock and
 * never block; the first event of a thread, and the first on a CPU, take a slow path with a few system
 * calls. What cannot be recorded is counted.
 */
#ifndef KTR_TRACE_H
#define KTR_TRACE_H

#include <ktr/site.h>

#include <stddef.h>
#include <stdint.h>

#ifndef KTR_COMPILE
#define KTR_COMPILE KTR_ALL
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Calls into libktr.so load the address that the loader has found: without a stop in the procedure linkage table,
 * which is a line of code more for an event to wait for. Where libktr.a is linked in, the linker makes usual calls
 * of them.
 */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define KTR__NOPLT __attribute__((noplt))
#endif
#endif
#ifndef KTR__NOPLT
#define KTR__NOPLT
#endif

/*
 * Records one event with n arguments. Called after the gate by the macros; may be called by any other
 * provider with a registered site. Async-signal-safe.
 */
KTR__NOPLT void ktr__record0(struct ktr_site *site);
KTR__NOPLT void ktr__record1(struct ktr_site *site, uint64_t a0);
KTR__NOPLT void ktr__record2(struct ktr_site *site, uint64_t a0, uint64_t a1);
KTR__NOPLT void ktr__record3(struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2);
KTR__NOPLT void ktr__record4(struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3);
KTR__NOPLT void ktr__record5(struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
			     uint64_t a4);
KTR__NOPLT void ktr__record6(struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
			     uint64_t a4, uint64_t a5);

/*
 * The seventh argument of a call goes through the stack on x86-64, unless it is a double: there the bits
 * of the sixth value travel as one. Four accesses to memory less, where the event makes thirty-five.
 */
#if defined(__x86_64__) && defined(__SSE2__)
KTR__NOPLT void ktr__record6v(struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
			      uint64_t a4, double a5);

static inline double ktr__vector(uint64_t bits)
{
	double value;

	__builtin_memcpy(&value, &bits, sizeof(value));
	return value;
}
#define KTR__CALL6(site, a0, a1, a2, a3, a4, a5) ktr__record6v(site, a0, a1, a2, a3, a4, ktr__vector(a5))
#else
#define KTR__CALL6 ktr__record6
#endif

/*
 * Records a stack: pcs[0..depth) as given, or the caller's own, walked by frame pointers within the
 * thread's stack, when pcs is NULL. depth 0 means as many as there are, at most KTR_STACK_MAX.
 */
KTR__NOPLT void ktr__record_stack(struct ktr_site *site, const uint64_t *pcs, unsigned depth);

/* Attaches a module to the library and the library to its session; done before main(). Idempotent. */
void ktr__module_attach(struct ktr_module *module);
void ktr__module_detach(struct ktr_module *module);

/* Binds an application class to its bit; done before main(). Idempotent. */
void ktr__class_attach(struct ktr_class *cls);

/* Never called: carries the format check. */
#ifndef KTR_NO_FORMAT_CHECK
__attribute__((format(printf, 1, 2)))
#endif
static inline void
ktr__check_format(const char *format, ...)
{
	(void)format;
}

#ifndef KTR_OFF
extern struct ktr_site *__start_ktr_sites[] __attribute__((weak, visibility("hidden")));
extern struct ktr_site *__stop_ktr_sites[] __attribute__((weak, visibility("hidden")));

extern struct ktr_module ktr__module_entry __attribute__((weak, visibility("hidden")));
__attribute__((weak, visibility("hidden"))) struct ktr_module ktr__module_entry = {
	&ktr__module_entry.zero, 0, KTR_ABI, KTR__SITE_BYTES,
	__start_ktr_sites, __stop_ktr_sites, NULL, 0
};

/*
 * A file that only includes this must not need the library: its constructor asks whether it is there. What a
 * point or a class refers to brings it.
 */
static void ktr__module_attach_if(struct ktr_module *module) __attribute__((unused, weakref("ktr__module_attach")));
static void ktr__module_detach_if(struct ktr_module *module) __attribute__((unused, weakref("ktr__module_detach")));

#ifndef KTR_NO_AUTOSTART
__attribute__((constructor(102))) static void ktr__module_start(void)
{
	if (ktr__module_attach_if)
		ktr__module_attach_if(&ktr__module_entry);
}
#endif

/* The library's own files go when everything else has gone. */
#ifndef KTR__LIBRARY
__attribute__((destructor(101))) static void ktr__module_stop(void)
{
	if (ktr__module_detach_if)
		ktr__module_detach_if(&ktr__module_entry);
}
#endif
#endif

#ifdef __cplusplus
}
#endif

/* With KTR_NO_AUTOSTART a program calls this once in each executable or shared object. */
#ifdef KTR_OFF
#define ktr_start() ((void)0)
#else
#define ktr_start() ktr__module_attach(&ktr__module_entry)
#endif

/* The run-time gate. */
#define KTR__GATE() (__atomic_load_n(__atomic_load_n(&ktr__module_entry.gate, __ATOMIC_RELAXED), __ATOMIC_RELAXED))

#include <ktr/arg.h>

/*
 * Lists a site in its module. gcc has the assembler do it: a section attribute would keep the site and
 * its strings where the code around is compiled out, and g++ refuses to mix sites of inline functions
 * and templates, which live in COMDAT groups, with others ("?" puts the entry into the group of the
 * function around it). clang knows neither trouble, but refuses the operand. "R" and retain keep the
 * list under -z start-stop-gc. A function inlined twice lists its sites twice; registration minds.
 */
#if defined(__has_attribute)
#if __has_attribute(retain)
#define KTR__RETAIN    , retain
#define KTR__RETAIN_AS "R"
#endif
#endif
#ifndef KTR__RETAIN
#define KTR__RETAIN
#define KTR__RETAIN_AS ""
#endif

/* A symbol's address: gcc's "i" does not take one in position-independent code for AArch64. */
#if defined(__aarch64__)
#define KTR__ADDRESS "S"
#else
#define KTR__ADDRESS "i"
#endif

#if !defined(__clang__)
#define KTR__LIST(site)                                                                          \
	__asm__ volatile(".pushsection ktr_sites,\"aw?" KTR__RETAIN_AS "\",@progbits\n\t"        \
			 ".balign 8\n\t"                                                         \
			 ".quad %c0\n\t"                                                         \
			 ".popsection"                                                           \
			 :                                                                       \
			 : KTR__ADDRESS(&site))
#else
#define KTR__LIST(site)                                                                          \
	static struct ktr_site *ktr__listed                                                      \
		__attribute__((section("ktr_sites"), used KTR__RETAIN)) = &site
#endif

/* In C a site whose format or class is only known at run time does not compile; nor does it so in C++. */
#if !defined(__cplusplus)
#define KTR__CONSTANT
#elif defined(__clang__)
#define KTR__CONSTANT __attribute__((require_constant_initialization))
#elif __GNUC__ >= 10
#define KTR__CONSTANT __constinit
#else
#define KTR__CONSTANT
#endif

#ifdef KTR_OFF
/* Arguments stay checked, in code that never runs; nothing of the site is left. */
#define KTR__SITE(site, ...)                                                                     \
	struct ktr_site site;                                                                    \
	(void)site
#else
#define KTR__OPEN(...) __VA_ARGS__
#define KTR__SITE(site, m, fmt, argnames, n, types, literals)                                    \
	KTR__CONSTANT static struct ktr_site site = { KTR__STATIC_MASK(m), 0, 0, n, 0, 0, 0, __LINE__,  \
						      KTR__STATIC_CLASS(m), fmt, __FILE__, __func__,   \
						      argnames, { KTR__OPEN types }, { 0 }, { 0 },     \
						      { 0 }, { KTR__OPEN literals } };                 \
	KTR__LIST(site)
#endif

/*
 * Is class m compiled in, and switched on? A class is a number or an application class; of the latter,
 * KTR_COMPILE's upper half decides.
 */
#define KTR__ON(m)                                                                               \
	(((KTR_COMPILE) & KTR__COMPILE_MASK(m)) != 0 &&                                          \
	 __builtin_expect((KTR__GATE() & KTR__MASK(m)) != 0, 0))

#ifdef KTR_OFF
#define KTR__IF_ON(m) if (0)
#define KTR_ENABLED(m) (0)
#else
#define KTR__IF_ON(m) if (KTR__ON(m))

/*
 * Is class m recorded now? For what only events need, and is not to be made in vain:
 *
 *	if (KTR_ENABLED(KTR_NET)) {
 *		header_text(header, text, sizeof(text));
 *		CTR1(KTR_NET, "got %s", text);
 *	}
 *
 * The gate of the macros, nothing else: a constant 0 where the class is compiled out. It may have changed when
 * the event comes, and says nothing of single sites, which have rules of their own.
 */
#define KTR_ENABLED(m) KTR__ON(m)
#endif

/* A point's gate and record: see usdt.h, where there is more after them. */
#if defined(KTR_USDT) && !defined(KTR_OFF) && (defined(__x86_64__) || defined(__aarch64__))
#include <ktr/usdt.h>
#else
#define KTR__IF_POINT(m) KTR__IF_ON(m)
#define KTR__RECORD0(m, mtext, site) ktr__record0(site)
#define KTR__RECORD1(m, mtext, site, t0, b0) ktr__record1(site, b0)
#define KTR__RECORD2(m, mtext, site, t0, b0, t1, b1) ktr__record2(site, b0, b1)
#define KTR__RECORD3(m, mtext, site, t0, b0, t1, b1, t2, b2) ktr__record3(site, b0, b1, b2)
#define KTR__RECORD4(m, mtext, site, t0, b0, t1, b1, t2, b2, t3, b3)				\
	ktr__record4(site, b0, b1, b2, b3)
#define KTR__RECORD5(m, mtext, site, t0, b0, t1, b1, t2, b2, t3, b3, t4, b4)			\
	ktr__record5(site, b0, b1, b2, b3, b4)
#define KTR__RECORD6(m, mtext, site, t0, b0, t1, b1, t2, b2, t3, b3, t4, b4, t5, b5)		\
	KTR__CALL6(site, b0, b1, b2, b3, b4, b5)
#endif

/*
 * One event of n arguments: KTR__CTRn(class, format, argument names, arguments...). The site is a
 * static of its own in each expansion.
 */
#define KTR__CTR0(m, fmt, argnames)							\
	do {										\
		KTR__IF_POINT(m) {							\
			KTR__SITE(ktr__here, m, fmt, argnames, 0, (KTR_ARG_NONE), (NULL));	\
			KTR__RECORD0(m, #m, &ktr__here);				\
		}									\
		if (0)									\
			ktr__check_format(fmt);						\
	} while (0)

#define KTR__CTR1(m, fmt, argnames, p1)							\
	do {										\
		KTR__IF_POINT(m) {							\
			KTR__SITE(ktr__here, m, fmt, argnames, 1,			\
				  (KTR__TYPE(p1)),					\
				  (KTR__LITERAL(p1)));					\
			KTR__RECORD1(m, #m, &ktr__here, KTR__TYPE(p1), KTR__BITS(p1));	\
		}									\
		if (0)									\
			ktr__check_format(fmt, p1);					\
	} while (0)

#define KTR__CTR2(m, fmt, argnames, p1, p2)						\
	do {										\
		KTR__IF_POINT(m) {							\
			KTR__SITE(ktr__here, m, fmt, argnames, 2,			\
				  (KTR__TYPE(p1), KTR__TYPE(p2)),			\
				  (KTR__LITERAL(p1), KTR__LITERAL(p2)));		\
			KTR__RECORD2(m, #m, &ktr__here, KTR__TYPE(p1), KTR__BITS(p1),	\
				     KTR__TYPE(p2), KTR__BITS(p2));			\
		}									\
		if (0)									\
			ktr__check_format(fmt, p1, p2);					\
	} while (0)

#define KTR__CTR3(m, fmt, argnames, p1, p2, p3)						\
	do {										\
		KTR__IF_POINT(m) {							\
			KTR__SITE(ktr__here, m, fmt, argnames, 3,			\
				  (KTR__TYPE(p1), KTR__TYPE(p2), KTR__TYPE(p3)),	\
				  (KTR__LITERAL(p1), KTR__LITERAL(p2), KTR__LITERAL(p3)));	\
			KTR__RECORD3(m, #m, &ktr__here, KTR__TYPE(p1), KTR__BITS(p1),	\
				     KTR__TYPE(p2), KTR__BITS(p2),			\
				     KTR__TYPE(p3), KTR__BITS(p3));			\
		}									\
		if (0)									\
			ktr__check_format(fmt, p1, p2, p3);				\
	} while (0)

#define KTR__CTR4(m, fmt, argnames, p1, p2, p3, p4)					\
	do {										\
		KTR__IF_POINT(m) {							\
			KTR__SITE(ktr__here, m, fmt, argnames, 4,			\
				  (KTR__TYPE(p1), KTR__TYPE(p2), KTR__TYPE(p3),		\
				   KTR__TYPE(p4)),					\
				  (KTR__LITERAL(p1), KTR__LITERAL(p2), KTR__LITERAL(p3),	\
				   KTR__LITERAL(p4)));					\
			KTR__RECORD4(m, #m, &ktr__here, KTR__TYPE(p1), KTR__BITS(p1),	\
				     KTR__TYPE(p2), KTR__BITS(p2),			\
				     KTR__TYPE(p3), KTR__BITS(p3),			\
				     KTR__TYPE(p4), KTR__BITS(p4));			\
		}									\
		if (0)									\
			ktr__check_format(fmt, p1, p2, p3, p4);				\
	} while (0)

#define KTR__CTR5(m, fmt, argnames, p1, p2, p3, p4, p5)					\
	do {										\
		KTR__IF_POINT(m) {							\
			KTR__SITE(ktr__here, m, fmt, argnames, 5,			\
				  (KTR__TYPE(p1), KTR__TYPE(p2), KTR__TYPE(p3),		\
				   KTR__TYPE(p4), KTR__TYPE(p5)),			\
				  (KTR__LITERAL(p1), KTR__LITERAL(p2), KTR__LITERAL(p3),	\
				   KTR__LITERAL(p4), KTR__LITERAL(p5)));		\
			KTR__RECORD5(m, #m, &ktr__here, KTR__TYPE(p1), KTR__BITS(p1),	\
				     KTR__TYPE(p2), KTR__BITS(p2),			\
				     KTR__TYPE(p3), KTR__BITS(p3),			\
				     KTR__TYPE(p4), KTR__BITS(p4),			\
				     KTR__TYPE(p5), KTR__BITS(p5));			\
		}									\
		if (0)									\
			ktr__check_format(fmt, p1, p2, p3, p4, p5);			\
	} while (0)

#define KTR__CTR6(m, fmt, argnames, p1, p2, p3, p4, p5, p6)				\
	do {										\
		KTR__IF_POINT(m) {							\
			KTR__SITE(ktr__here, m, fmt, argnames, 6,			\
				  (KTR__TYPE(p1), KTR__TYPE(p2), KTR__TYPE(p3),		\
				   KTR__TYPE(p4), KTR__TYPE(p5), KTR__TYPE(p6)),	\
				  (KTR__LITERAL(p1), KTR__LITERAL(p2), KTR__LITERAL(p3),	\
				   KTR__LITERAL(p4), KTR__LITERAL(p5), KTR__LITERAL(p6)));	\
			KTR__RECORD6(m, #m, &ktr__here, KTR__TYPE(p1), KTR__BITS(p1),	\
				     KTR__TYPE(p2), KTR__BITS(p2),			\
				     KTR__TYPE(p3), KTR__BITS(p3),			\
				     KTR__TYPE(p4), KTR__BITS(p4),			\
				     KTR__TYPE(p5), KTR__BITS(p5),			\
				     KTR__TYPE(p6), KTR__BITS(p6));			\
		}									\
		if (0)									\
			ktr__check_format(fmt, p1, p2, p3, p4, p5, p6);			\
	} while (0)

/* FreeBSD's macros (ktr(9)): the argument's source text is its name in every tool. */
#define CTR0(m, fmt) KTR__CTR0(m, fmt, "")
#define CTR1(m, fmt, p1) KTR__CTR1(m, fmt, #p1, p1)
#define CTR2(m, fmt, p1, p2) KTR__CTR2(m, fmt, #p1 "," #p2, p1, p2)
#define CTR3(m, fmt, p1, p2, p3) KTR__CTR3(m, fmt, #p1 "," #p2 "," #p3, p1, p2, p3)
#define CTR4(m, fmt, p1, p2, p3, p4)								\
	KTR__CTR4(m, fmt, #p1 "," #p2 "," #p3 "," #p4, p1, p2, p3, p4)
#define CTR5(m, fmt, p1, p2, p3, p4, p5)							\
	KTR__CTR5(m, fmt, #p1 "," #p2 "," #p3 "," #p4 "," #p5, p1, p2, p3, p4, p5)
#define CTR6(m, fmt, p1, p2, p3, p4, p5, p6)							\
	KTR__CTR6(m, fmt, #p1 "," #p2 "," #p3 "," #p4 "," #p5 "," #p6, p1, p2, p3, p4, p5, p6)

/* CTR(m, format, ...) counts its arguments, at most six. */
#define KTR__PICK(fmt, p1, p2, p3, p4, p5, p6, macro, ...) macro
#define CTR(m, ...)                                                                              \
	KTR__PICK(__VA_ARGS__, CTR6, CTR5, CTR4, CTR3, CTR2, CTR1, CTR0, KTR_NO_CTR7)(m, __VA_ARGS__)

#define TR0(fmt) CTR0(KTR_GEN, fmt)
#define TR1(fmt, p1) CTR1(KTR_GEN, fmt, p1)
#define TR2(fmt, p1, p2) CTR2(KTR_GEN, fmt, p1, p2)
#define TR3(fmt, p1, p2, p3) CTR3(KTR_GEN, fmt, p1, p2, p3)
#define TR4(fmt, p1, p2, p3, p4) CTR4(KTR_GEN, fmt, p1, p2, p3, p4)
#define TR5(fmt, p1, p2, p3, p4, p5) CTR5(KTR_GEN, fmt, p1, p2, p3, p4, p5)
#define TR6(fmt, p1, p2, p3, p4, p5, p6) CTR6(KTR_GEN, fmt, p1, p2, p3, p4, p5, p6)
#define TR(...) CTR(KTR_GEN, __VA_ARGS__)

#define ITR0(fmt) CTR0(KTR_INIT, fmt)
#define ITR1(fmt, p1) CTR1(KTR_INIT, fmt, p1)
#define ITR2(fmt, p1, p2) CTR2(KTR_INIT, fmt, p1, p2)
#define ITR3(fmt, p1, p2, p3) CTR3(KTR_INIT, fmt, p1, p2, p3)
#define ITR4(fmt, p1, p2, p3, p4) CTR4(KTR_INIT, fmt, p1, p2, p3, p4)
#define ITR5(fmt, p1, p2, p3, p4, p5) CTR5(KTR_INIT, fmt, p1, p2, p3, p4, p5)
#define ITR6(fmt, p1, p2, p3, p4, p5, p6) CTR6(KTR_INIT, fmt, p1, p2, p3, p4, p5, p6)
#define ITR(...) CTR(KTR_INIT, __VA_ARGS__)

/*
 * An event that carries a stack: st is a struct ktr_stack saved before, or NULL for the caller's own;
 * depth is the most frames wanted, 0 for all. A fourth argument, which FreeBSD had until 12, is ignored.
 */
struct ktr_stack {
	unsigned depth;
	uint64_t pcs[KTR_STACK_MAX];
};

/*
 * Saves the caller's stack by frame pointers, innermost first. Async-signal-safe. Code compiled without
 * frame pointers (-fomit-frame-pointer, the default of -O2) is left out or ends it.
 */
#ifdef __cplusplus
extern "C"
#endif
void ktr_stack_save(struct ktr_stack *stack);

#define CTRSTACK(m, st, ...) KTR__CTRSTACK(m, st, __VA_ARGS__, 0)
#define KTR__CTRSTACK(m, st, max_depth, ...)                                                               \
	do {                                                                                     \
		KTR__IF_ON(m) {                                                                  \
			const struct ktr_stack *ktr__st = (st);                                  \
			unsigned ktr__depth = KTR__CAST(unsigned, max_depth);                    \
			KTR__SITE(ktr__here, m, "stack", "stack", 1, (KTR_ARG_STACK), (NULL));   \
			if (ktr__st && (!ktr__depth || ktr__depth > ktr__st->depth))             \
				ktr__depth = ktr__st->depth;                                     \
			ktr__record_stack(&ktr__here, ktr__st ? ktr__st->pcs : NULL, ktr__depth); \
		}                                                                                \
	} while (0)

/* Application classes, at file scope; see class.h. What ends the definition takes the semicolon. */
#define KTR_CLASS_DECLARE(class_name) extern struct ktr_class ktr_class_##class_name

#ifdef KTR_OFF
/* Nothing is left, whether static stands before it or not. */
#define KTR_CLASS_DEFINE(class_name, text)                                                       \
	inline __attribute__((unused, always_inline)) int ktr__class_off_##class_name(void)      \
	{                                                                                        \
		return 0;                                                                        \
	}                                                                                        \
	KTR__LAYOUT(1, "")
#elif defined(KTR_NO_AUTOSTART)
#define KTR_CLASS_DEFINE(class_name, text) struct ktr_class ktr_class_##class_name = { 0, #class_name, text }
#else
#define KTR_CLASS_DEFINE(class_name, text)                                                       \
	struct ktr_class ktr_class_##class_name = { 0, #class_name, text };                      \
	__attribute__((constructor(101))) static void ktr__class_start_##class_name(void)        \
	{                                                                                        \
		ktr__class_attach(&ktr_class_##class_name);                                      \
	}                                                                                        \
	KTR__LAYOUT(1, "")
#endif

#endif
