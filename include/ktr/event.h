/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * States, counters, points and spans on top of CTR: FreeBSD's KTR_EVENT family (sys/ktr.h) with its
 * formats, so that schedgraph and every tool of ours know a row by group and id.
 *
 *	KTR_STATE1(KTR_SCHED, "worker", name, "waiting", "shard:%d", shard);
 *	KTR_COUNTER0(KTR_GEN, "queue", "files", depth);
 *	KTR_START0(KTR_VFS, "file", path, key); ... KTR_STOP0(KTR_VFS, "file", path, key);
 *	KTR_SCOPE(KTR_LOCK, "flush", "shard:%d", shard);
 *
 * egroup, attribute names and, for KTR_SCOPE, the name are string constants; an attribute's name
 * contains its colon and format. ident and a state's or point's text are strings copied into the ring.
 * Counters are ints, keys are converted to uintmax_t. A counter's id must not also be a state's.
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

#define KTR_COUNTER0(m, egroup, ident, counter)							\
	KTR__EVENT0(m, egroup, ident, "counter:%d", "counter", (int)(counter))
#define KTR_COUNTER1(m, egroup, ident, counter, a0, v0)						\
	KTR__EVENT1(m, egroup, ident, "counter:%d", "counter", (int)(counter), a0, v0)
#define KTR_COUNTER2(m, egroup, ident, counter, a0, v0, a1, v1)					\
	KTR__EVENT2(m, egroup, ident, "counter:%d", "counter", (int)(counter), a0, v0, a1, v1)
#define KTR_COUNTER3(m, egroup, ident, counter, a0, v0, a1, v1, a2, v2)				\
	KTR__EVENT3(m, egroup, ident, "counter:%d", "counter", (int)(counter), a0, v0, a1, v1, a2, v2)
#define KTR_COUNTER4(m, egroup, ident, counter, a0, v0, a1, v1, a2, v2, a3, v3)			\
	KTR__EVENT4(m, egroup, ident, "counter:%d", "counter", (int)(counter), a0, v0, a1, v1, a2, v2, a3, v3)

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

#define KTR_START0(m, egroup, ident, key)							\
	KTR__EVENT0(m, egroup, ident, "start:0x%jX", "key", (uintmax_t)(key))
#define KTR_START1(m, egroup, ident, key, a0, v0)						\
	KTR__EVENT1(m, egroup, ident, "start:0x%jX", "key", (uintmax_t)(key), a0, v0)
#define KTR_START2(m, egroup, ident, key, a0, v0, a1, v1)					\
	KTR__EVENT2(m, egroup, ident, "start:0x%jX", "key", (uintmax_t)(key), a0, v0, a1, v1)
#define KTR_START3(m, egroup, ident, key, a0, v0, a1, v1, a2, v2)				\
	KTR__EVENT3(m, egroup, ident, "start:0x%jX", "key", (uintmax_t)(key), a0, v0, a1, v1, a2, v2)
#define KTR_START4(m, egroup, ident, key, a0, v0, a1, v1, a2, v2, a3, v3)			\
	KTR__EVENT4(m, egroup, ident, "start:0x%jX", "key", (uintmax_t)(key), a0, v0, a1, v1, a2, v2, a3, v3)

#define KTR_STOP0(m, egroup, ident, key)							\
	KTR__EVENT0(m, egroup, ident, "stop:0x%jX", "key", (uintmax_t)(key))
#define KTR_STOP1(m, egroup, ident, key, a0, v0)						\
	KTR__EVENT1(m, egroup, ident, "stop:0x%jX", "key", (uintmax_t)(key), a0, v0)
#define KTR_STOP2(m, egroup, ident, key, a0, v0, a1, v1)					\
	KTR__EVENT2(m, egroup, ident, "stop:0x%jX", "key", (uintmax_t)(key), a0, v0, a1, v1)
#define KTR_STOP3(m, egroup, ident, key, a0, v0, a1, v1, a2, v2)				\
	KTR__EVENT3(m, egroup, ident, "stop:0x%jX", "key", (uintmax_t)(key), a0, v0, a1, v1, a2, v2)
#define KTR_STOP4(m, egroup, ident, key, a0, v0, a1, v1, a2, v2, a3, v3)			\
	KTR__EVENT4(m, egroup, ident, "stop:0x%jX", "key", (uintmax_t)(key), a0, v0, a1, v1, a2, v2, a3, v3)

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
		ktr__record1(scope->stop, (uint64_t)(uintptr_t)scope);
#else
	(void)scope;
#endif
}

#define KTR__SCOPE_FORMAT(name, verb) "KTRGRAPH group:\"scope\", id:\"" name "\", " verb ":0x%jX, attributes: "

#define KTR__SCOPE_OPEN(m, name, var)								\
	KTR__SITE(ktr__stop, m, KTR__SCOPE_FORMAT(name, "stop") "none", "key", 1, KTR_ARG_U64);	\
	var.mask = KTR__MASK(m);								\
	var.stop = &ktr__stop

#define KTR__SCOPE0(var, m, name)								\
	struct ktr_scope var __attribute__((cleanup(ktr__scope_end), unused)) = { 0, 0 };	\
	KTR__IF_ON(m) {										\
		KTR__SCOPE_OPEN(m, name, var);							\
		KTR__CTR1(m, KTR__SCOPE_FORMAT(name, "start") "none", "key",			\
			  (uintmax_t)(uintptr_t)&var);						\
	}
#define KTR__SCOPE1(var, m, name, a0, v0)							\
	struct ktr_scope var __attribute__((cleanup(ktr__scope_end), unused)) = { 0, 0 };	\
	KTR__IF_ON(m) {										\
		KTR__SCOPE_OPEN(m, name, var);							\
		KTR__CTR2(m, KTR__SCOPE_FORMAT(name, "start") a0, "key" "," #v0,		\
			  (uintmax_t)(uintptr_t)&var, v0);					\
	}
#define KTR__SCOPE2(var, m, name, a0, v0, a1, v1)						\
	struct ktr_scope var __attribute__((cleanup(ktr__scope_end), unused)) = { 0, 0 };	\
	KTR__IF_ON(m) {										\
		KTR__SCOPE_OPEN(m, name, var);							\
		KTR__CTR3(m, KTR__SCOPE_FORMAT(name, "start") a0 ", " a1, "key" "," #v0 "," #v1,	\
			  (uintmax_t)(uintptr_t)&var, v0, v1);					\
	}
#define KTR__SCOPE3(var, m, name, a0, v0, a1, v1, a2, v2)					\
	struct ktr_scope var __attribute__((cleanup(ktr__scope_end), unused)) = { 0, 0 };	\
	KTR__IF_ON(m) {										\
		KTR__SCOPE_OPEN(m, name, var);							\
		KTR__CTR4(m, KTR__SCOPE_FORMAT(name, "start") a0 ", " a1 ", " a2,			\
			  "key" "," #v0 "," #v1 "," #v2,					\
			  (uintmax_t)(uintptr_t)&var, v0, v1, v2);				\
	}
#define KTR__SCOPE4(var, m, name, a0, v0, a1, v1, a2, v2, a3, v3)				\
	struct ktr_scope var __attribute__((cleanup(ktr__scope_end), unused)) = { 0, 0 };	\
	KTR__IF_ON(m) {										\
		KTR__SCOPE_OPEN(m, name, var);							\
		KTR__CTR5(m, KTR__SCOPE_FORMAT(name, "start") a0 ", " a1 ", " a2 ", " a3,		\
			  "key" "," #v0 "," #v1 "," #v2 "," #v3,				\
			  (uintmax_t)(uintptr_t)&var, v0, v1, v2, v3);				\
	}

#define KTR__JOIN2(a, b) a##b
#define KTR__JOIN(a, b)	 KTR__JOIN2(a, b)
#define KTR__PICK_SCOPE(name, a0, v0, a1, v1, a2, v2, a3, v3, macro, ...) macro
#define KTR_SCOPE(m, ...)									\
	KTR__PICK_SCOPE(__VA_ARGS__, KTR__SCOPE4, KTR_ODD, KTR__SCOPE3, KTR_ODD, KTR__SCOPE2,	\
			KTR_ODD, KTR__SCOPE1, KTR_ODD, KTR__SCOPE0, KTR_ODD)			\
	(KTR__JOIN(ktr__scope_, __LINE__), m, __VA_ARGS__)

#endif
