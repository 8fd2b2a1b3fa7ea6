/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * States, counters, points and spans on top of CTR: FreeBSD's KTR_EVENT family (sys/ktr.h) with its
 * formats, so that schedgraph and every tool of ours know a row by group and id.
 *
 *	KTR_STATE1(KTR_SCHED, "worker", name, "waiting", "shard:%d", shard);
 *	KTR_COUNTER0(KTR_GEN, "queue", "files", depth);
 *	KTR_START0(KTR_VFS, "file", path, key); ... KTR_STOP0(KTR_VFS, "file", path, key);
 *	KTR_SCOPE(KTR_LOCK, "flush", "shard:%d", shard);
 *	KTR_FLOW(KTR_GEN, "job", number);
 *	KTR_LOCK_NAME(&shard->lock, shard->name);
 *
 * egroup, attribute names and, for KTR_SCOPE, the name are string constants; an attribute's name
 * contains its colon and format. ident and a state's or point's text are strings: literals are the site's, others
 * are copied into the ring.
 * Counters are integers of up to 64 bits or doubles, keys are converted to uintmax_t. A counter's id must
 * not also be a state's.
 */
#ifndef KTR_EVENT_H
#define KTR_EVENT_H

#include <ktr/trace.h>

/* The attribute whose value is the id of another row. */
#define KTR_ATTR_LINKED "linkedto:\"%s\""

#define KTR__GRAPH(egroup, etype) "KTRGRAPH group:\"" egroup "\", id:\"%s\", " etype ", attributes: "

#define KTR__EVENT0(m, egroup, ident, etype, names, edat)					\
	KTR__CTR2(m, KTR__GRAPH(egroup, etype) "none",						\
		  "id," names, ident, edat)
#define KTR__EVENT1(m, egroup, ident, etype, names, edat, a0, v0)				\
	KTR__CTR3(m, KTR__GRAPH(egroup, etype) a0,						\
		  "id," names "," #v0, ident, edat, v0)
#define KTR__EVENT2(m, egroup, ident, etype, names, edat, a0, v0, a1, v1)			\
	KTR__CTR4(m, KTR__GRAPH(egroup, etype) a0 ", " a1,					\
		  "id," names "," #v0 "," #v1, ident, edat, v0, v1)
#define KTR__EVENT3(m, egroup, ident, etype, names, edat, a0, v0, a1, v1, a2, v2)		\
	KTR__CTR5(m, KTR__GRAPH(egroup, etype) a0 ", " a1 ", " a2,				\
		  "id," names "," #v0 "," #v1 "," #v2, ident, edat, v0, v1, v2)
#define KTR__EVENT4(m, egroup, ident, etype, names, edat, a0, v0, a1, v1, a2, v2, a3, v3)	\
	KTR__CTR6(m, KTR__GRAPH(egroup, etype) a0 ", " a1 ", " a2 ", " a3,			\
		  "id," names "," #v0 "," #v1 "," #v2 "," #v3, ident, edat, v0, v1, v2, v3)
#define KTR_EVENT0(m, egroup, ident, etype, edat)						\
	KTR__EVENT0(m, egroup, ident, etype, #edat, edat)
#define KTR_EVENT1(m, egroup, ident, etype, edat, a0, v0)					\
	KTR__EVENT1(m, egroup, ident, etype, #edat, edat, a0, v0)
#define KTR_EVENT2(m, egroup, ident, etype, edat, a0, v0, a1, v1)				\
	KTR__EVENT2(m, egroup, ident, etype, #edat, edat, a0, v0, a1, v1)
#define KTR_EVENT3(m, egroup, ident, etype, edat, a0, v0, a1, v1, a2, v2)			\
	KTR__EVENT3(m, egroup, ident, etype, #edat, edat, a0, v0, a1, v1, a2, v2)
#define KTR_EVENT4(m, egroup, ident, etype, edat, a0, v0, a1, v1, a2, v2, a3, v3)		\
	KTR__EVENT4(m, egroup, ident, etype, #edat, edat, a0, v0, a1, v1, a2, v2, a3, v3)

#define KTR_STATE0(m, egroup, ident, state)							\
	KTR__EVENT0(m, egroup, ident, "state:\"%s\"", "state", state)
#define KTR_STATE1(m, egroup, ident, state, a0, v0)						\
	KTR__EVENT1(m, egroup, ident, "state:\"%s\"", "state", state, a0, v0)
#define KTR_STATE2(m, egroup, ident, state, a0, v0, a1, v1)					\
	KTR__EVENT2(m, egroup, ident, "state:\"%s\"", "state", state, a0, v0, a1, v1)
#define KTR_STATE3(m, egroup, ident, state, a0, v0, a1, v1, a2, v2)				\
	KTR__EVENT3(m, egroup, ident, "state:\"%s\"", "state", state, a0, v0, a1, v1, a2, v2)
#define KTR_STATE4(m, egroup, ident, state, a0, v0, a1, v1, a2, v2, a3, v3)			\
	KTR__EVENT4(m, egroup, ident, "state:\"%s\"", "state", state, a0, v0, a1, v1, a2, v2, a3, v3)

/*
 * A counter keeps its value: what C promotes to int is an int, as FreeBSD's are, other integers have 64 bits,
 * floating point is a double. Its conversion follows from that, chosen by the compiler.
 */
#ifndef __cplusplus
#define KTR__COUNTER(x)										\
	__extension__ _Generic((x) + 0,								\
		int: (int)(x),									\
		unsigned long: (uintmax_t)(x),							\
		unsigned long long: (uintmax_t)(x),						\
		float: (double)(x),								\
		double: (double)(x),								\
		long double: (double)(x),							\
		default: (intmax_t)(x))
#define KTR__COUNTER_FORMAT(x, egroup, attributes)						\
	__extension__ _Generic((x) + 0,								\
		int: KTR__GRAPH(egroup, "counter:%d") attributes,				\
		unsigned long: KTR__GRAPH(egroup, "counter:%ju") attributes,			\
		unsigned long long: KTR__GRAPH(egroup, "counter:%ju") attributes,		\
		float: KTR__GRAPH(egroup, "counter:%.15g") attributes,				\
		double: KTR__GRAPH(egroup, "counter:%.15g") attributes,				\
		long double: KTR__GRAPH(egroup, "counter:%.15g") attributes,			\
		default: KTR__GRAPH(egroup, "counter:%jd") attributes)
#define KTR__COUNTER_CHECK(...) ((void)0)
#else
extern "C++" {

template <class T, bool is_enum = std::is_enum<T>::value> struct KTR__SITE_HIDDEN ktr__counter_plain {
	typedef T type;
};

template <class T> struct KTR__SITE_HIDDEN ktr__counter_plain<T, true> {
	typedef typename std::underlying_type<T>::type type;
};

/* What a counter of type T is recorded as: int, intmax_t, uintmax_t or double. */
template <class T> struct KTR__SITE_HIDDEN ktr__counter_of {
	typedef typename ktr__counter_plain<T>::type plain;
	typedef typename std::conditional<sizeof(plain() + 0) == 8 && std::is_unsigned<plain>::value, uintmax_t,
					  intmax_t>::type whole;
	typedef typename std::conditional<std::is_same<decltype(plain() + 0), int>::value, int, whole>::type
		number;
	typedef typename std::conditional<std::is_floating_point<plain>::value, double, number>::type type;
};

template <class T> constexpr typename ktr__counter_of<T>::type ktr__counter(T x)
{
	return static_cast<typename ktr__counter_of<T>::type>(x);
}

/* No const char *, so that the compiler's check of formats does not follow the wrong one. */
struct KTR__SITE_HIDDEN ktr__counter_format {
	const char *text;
	constexpr operator const char *() const
	{
		return text;
	}
};

template <class T>
constexpr ktr__counter_format ktr__counter_pick(const char *plain, const char *wide, const char *positive,
						const char *real)
{
	return { std::is_same<T, int>::value	 ? plain
		 : std::is_same<T, double>::value   ? real
		 : std::is_same<T, intmax_t>::value ? wide
						    : positive };
}

/* KTR__COUNTER_CHECK looks at the rest of the format. */
template <class... T> inline void ktr__check_format(ktr__counter_format, T...)
{
}

} /* extern "C++" */

#define KTR__COUNTER(x) ktr__counter(x)
#define KTR__COUNTER_FORMAT(x, egroup, attributes)						\
	ktr__counter_pick<decltype(ktr__counter(x))>(KTR__GRAPH(egroup, "counter:%d") attributes,	\
						     KTR__GRAPH(egroup, "counter:%jd") attributes,	\
						     KTR__GRAPH(egroup, "counter:%ju") attributes,	\
						     KTR__GRAPH(egroup, "counter:%.15g") attributes)
#define KTR__COUNTER_CHECK(x, egroup, attributes, ident, ...)					\
	ktr__check_format(KTR__GRAPH(egroup, "counter:%d") attributes, ident, __VA_ARGS__)
#endif

#define KTR_COUNTER0(m, egroup, ident, counter)							\
	KTR__CTR2(m, KTR__COUNTER_FORMAT(counter, egroup, "none"), "id,counter", ident,		\
		  KTR__COUNTER(counter))
#define KTR_COUNTER1(m, egroup, ident, counter, a0, v0)						\
	do {											\
		KTR__CTR3(m, KTR__COUNTER_FORMAT(counter, egroup, a0),				\
			  "id,counter," #v0, ident,						\
			  KTR__COUNTER(counter), v0);						\
		if (0)										\
			KTR__COUNTER_CHECK(0, egroup, a0, ident, 0, v0);			\
	} while (0)
#define KTR_COUNTER2(m, egroup, ident, counter, a0, v0, a1, v1)					\
	do {											\
		KTR__CTR4(m, KTR__COUNTER_FORMAT(counter, egroup, a0 ", " a1),			\
			  "id,counter," #v0 "," #v1, ident,					\
			  KTR__COUNTER(counter), v0, v1);					\
		if (0)										\
			KTR__COUNTER_CHECK(0, egroup, a0 ", " a1, ident, 0, v0, v1);		\
	} while (0)
#define KTR_COUNTER3(m, egroup, ident, counter, a0, v0, a1, v1, a2, v2)				\
	do {											\
		KTR__CTR5(m, KTR__COUNTER_FORMAT(counter, egroup, a0 ", " a1 ", " a2),		\
			  "id,counter," #v0 "," #v1 "," #v2, ident,				\
			  KTR__COUNTER(counter), v0, v1, v2);					\
		if (0)										\
			KTR__COUNTER_CHECK(0, egroup, a0 ", " a1 ", " a2, ident, 0, v0, v1, v2);	\
	} while (0)
#define KTR_COUNTER4(m, egroup, ident, counter, a0, v0, a1, v1, a2, v2, a3, v3)			\
	do {											\
		KTR__CTR6(m, KTR__COUNTER_FORMAT(counter, egroup, a0 ", " a1 ", " a2 ", " a3),	\
			  "id,counter," #v0 "," #v1 "," #v2 "," #v3, ident,			\
			  KTR__COUNTER(counter), v0, v1, v2, v3);				\
		if (0)										\
			KTR__COUNTER_CHECK(0, egroup, a0 ", " a1 ", " a2 ", " a3, ident, 0, v0, v1, v2, v3);	\
	} while (0)

#define KTR_POINT0(m, egroup, ident, point)							\
	KTR__EVENT0(m, egroup, ident, "point:\"%s\"", "point", point)
#define KTR_POINT1(m, egroup, ident, point, a0, v0)						\
	KTR__EVENT1(m, egroup, ident, "point:\"%s\"", "point", point, a0, v0)
#define KTR_POINT2(m, egroup, ident, point, a0, v0, a1, v1)					\
	KTR__EVENT2(m, egroup, ident, "point:\"%s\"", "point", point, a0, v0, a1, v1)
#define KTR_POINT3(m, egroup, ident, point, a0, v0, a1, v1, a2, v2)				\
	KTR__EVENT3(m, egroup, ident, "point:\"%s\"", "point", point, a0, v0, a1, v1, a2, v2)
#define KTR_POINT4(m, egroup, ident, point, a0, v0, a1, v1, a2, v2, a3, v3)			\
	KTR__EVENT4(m, egroup, ident, "point:\"%s\"", "point", point, a0, v0, a1, v1, a2, v2, a3, v3)

/*
 * What is handed on, of a name (a string constant) and a key (a number or pointer): a page has an arrow from each
 * event to the next one of that name and key, where another thread records it, be it in another process.
 */
#define KTR_FLOW(m, name, key) KTR__CTR1(m, name " flow:0x%jX", "flow", KTR__CAST(uintmax_t, key))

/*
 * What a lock is called, by its address (a mutex, read-write lock, condition, semaphore, barrier, std::mutex),
 * where it has no variable of its own whose name says so: for `ktr lockstat` and `ktr timeline`. name is a string.
 * Recorded where it stands, as an event of the classes lock and init, so it does not make room for others; what is
 * initialized anew keeps the name until it gets another.
 */
#define KTR_LOCK_NAME(lock, name)								\
	KTR__CTR2(KTR_LOCK | KTR_INIT, "lock %p is called %s", "lock,name", KTR__CAST(ktr__lock_at, lock), name)
typedef const volatile void *ktr__lock_at;

#define KTR_START0(m, egroup, ident, key)							\
	KTR__EVENT0(m, egroup, ident, "start:0x%jX", "key", KTR__CAST(uintmax_t, key))
#define KTR_START1(m, egroup, ident, key, a0, v0)						\
	KTR__EVENT1(m, egroup, ident, "start:0x%jX", "key", KTR__CAST(uintmax_t, key), a0, v0)
#define KTR_START2(m, egroup, ident, key, a0, v0, a1, v1)					\
	KTR__EVENT2(m, egroup, ident, "start:0x%jX", "key", KTR__CAST(uintmax_t, key), a0, v0, a1, v1)
#define KTR_START3(m, egroup, ident, key, a0, v0, a1, v1, a2, v2)				\
	KTR__EVENT3(m, egroup, ident, "start:0x%jX", "key", KTR__CAST(uintmax_t, key), a0, v0, a1, v1, a2, v2)
#define KTR_START4(m, egroup, ident, key, a0, v0, a1, v1, a2, v2, a3, v3)			\
	KTR__EVENT4(m, egroup, ident, "start:0x%jX", "key", KTR__CAST(uintmax_t, key), a0, v0, a1, v1, a2, v2, a3, v3)

#define KTR_STOP0(m, egroup, ident, key)							\
	KTR__EVENT0(m, egroup, ident, "stop:0x%jX", "key", KTR__CAST(uintmax_t, key))
#define KTR_STOP1(m, egroup, ident, key, a0, v0)						\
	KTR__EVENT1(m, egroup, ident, "stop:0x%jX", "key", KTR__CAST(uintmax_t, key), a0, v0)
#define KTR_STOP2(m, egroup, ident, key, a0, v0, a1, v1)					\
	KTR__EVENT2(m, egroup, ident, "stop:0x%jX", "key", KTR__CAST(uintmax_t, key), a0, v0, a1, v1)
#define KTR_STOP3(m, egroup, ident, key, a0, v0, a1, v1, a2, v2)				\
	KTR__EVENT3(m, egroup, ident, "stop:0x%jX", "key", KTR__CAST(uintmax_t, key), a0, v0, a1, v1, a2, v2)
#define KTR_STOP4(m, egroup, ident, key, a0, v0, a1, v1, a2, v2, a3, v3)			\
	KTR__EVENT4(m, egroup, ident, "stop:0x%jX", "key", KTR__CAST(uintmax_t, key), a0, v0, a1, v1, a2, v2, a3, v3)

/*
 * A span that ends with the C scope it stands in, or by an exception in C++: one line at the start.
 * Up to four attribute and value pairs are recorded with its beginning. It is more than one
 * statement, so it cannot be the body of an if or loop without braces. The key is the address of the scope's
 * record: unique among the spans that are open in a process at one time.
 */
struct KTR__SITE_HIDDEN ktr_scope {
	struct ktr_site *stop; /* NULL where the beginning was not recorded */
	uint64_t mask;
};

static inline void ktr__scope_end(struct ktr_scope *scope)
{
#ifndef KTR_OFF
	if (scope->stop && (KTR__GATE() & scope->mask))
		ktr__record1(scope->stop, KTR__CAST(uint64_t, KTR__CAST(uintptr_t, scope)));
#else
	(void)scope;
#endif
}

#define KTR__SCOPE_KEY(var) KTR__CAST(uintmax_t, KTR__CAST(uintptr_t, &var))
#define KTR__SCOPE_FORMAT(name, verb) "KTRGRAPH group:\"scope\", id:\"" name "\", " verb ":0x%jX, attributes: "

#ifdef KTR_OFF
#define KTR__SCOPE_OPEN(m, name, var) (void)var
#else
#define KTR__SCOPE_OPEN(m, name, var)								\
	KTR__SITE(ktr__stop, m, KTR__SCOPE_FORMAT(name, "stop") "none", "key", 1,		\
		  (KTR_ARG_U64), (NULL));							\
	var.mask = KTR__MASK(m);								\
	var.stop = &ktr__stop
#endif

#define KTR__SCOPE0(var, m, name)								\
	struct ktr_scope var __attribute__((cleanup(ktr__scope_end), unused)) = { NULL, 0 };	\
	KTR__IF_ON(m) {										\
		KTR__SCOPE_OPEN(m, name, var);							\
		KTR__CTR1(m, KTR__SCOPE_FORMAT(name, "start") "none", "key",			\
			  KTR__SCOPE_KEY(var));						\
	}
#define KTR__SCOPE1(var, m, name, a0, v0)							\
	struct ktr_scope var __attribute__((cleanup(ktr__scope_end), unused)) = { NULL, 0 };	\
	KTR__IF_ON(m) {										\
		KTR__SCOPE_OPEN(m, name, var);							\
		KTR__CTR2(m, KTR__SCOPE_FORMAT(name, "start") a0, "key" "," #v0,		\
			  KTR__SCOPE_KEY(var), v0);					\
	}
#define KTR__SCOPE2(var, m, name, a0, v0, a1, v1)						\
	struct ktr_scope var __attribute__((cleanup(ktr__scope_end), unused)) = { NULL, 0 };	\
	KTR__IF_ON(m) {										\
		KTR__SCOPE_OPEN(m, name, var);							\
		KTR__CTR3(m, KTR__SCOPE_FORMAT(name, "start") a0 ", " a1, "key" "," #v0 "," #v1,	\
			  KTR__SCOPE_KEY(var), v0, v1);					\
	}
#define KTR__SCOPE3(var, m, name, a0, v0, a1, v1, a2, v2)					\
	struct ktr_scope var __attribute__((cleanup(ktr__scope_end), unused)) = { NULL, 0 };	\
	KTR__IF_ON(m) {										\
		KTR__SCOPE_OPEN(m, name, var);							\
		KTR__CTR4(m, KTR__SCOPE_FORMAT(name, "start") a0 ", " a1 ", " a2,			\
			  "key" "," #v0 "," #v1 "," #v2,					\
			  KTR__SCOPE_KEY(var), v0, v1, v2);				\
	}
#define KTR__SCOPE4(var, m, name, a0, v0, a1, v1, a2, v2, a3, v3)				\
	struct ktr_scope var __attribute__((cleanup(ktr__scope_end), unused)) = { NULL, 0 };	\
	KTR__IF_ON(m) {										\
		KTR__SCOPE_OPEN(m, name, var);							\
		KTR__CTR5(m, KTR__SCOPE_FORMAT(name, "start") a0 ", " a1 ", " a2 ", " a3,		\
			  "key" "," #v0 "," #v1 "," #v2 "," #v3,				\
			  KTR__SCOPE_KEY(var), v0, v1, v2, v3);				\
	}

#define KTR__JOIN2(a, b) a##b
#define KTR__JOIN(a, b)	 KTR__JOIN2(a, b)
#define KTR__PICK_SCOPE(name, a0, v0, a1, v1, a2, v2, a3, v3, macro, ...) macro
#define KTR_SCOPE(m, ...)									\
	KTR__PICK_SCOPE(__VA_ARGS__, KTR__SCOPE4, KTR_ODD, KTR__SCOPE3, KTR_ODD, KTR__SCOPE2,	\
			KTR_ODD, KTR__SCOPE1, KTR_ODD, KTR__SCOPE0, KTR_ODD)			\
	(KTR__JOIN(ktr__scope_, __LINE__), m, __VA_ARGS__)

#endif
