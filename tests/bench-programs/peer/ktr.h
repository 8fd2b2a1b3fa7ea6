/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands in for ktr's header where a program is to be measured with the least that its points could cost
 * (tests/bench/peer.h): what they say goes into a ring of the thread, strings that the program has made are copied,
 * constants are pointers. Only the macros that the patches use. There is no gate: everything is recorded.
 */
#ifndef PEER_KTR_H
#define PEER_KTR_H

#include "../../bench/peer.h"

#define KTR_CLASS_DEFINE(name, text) int peer_class_##name
#define KTR_CLASS_DECLARE(name)	     extern int peer_class_##name
#define KTR_CLASS(name)		     0

#define PEER_POINTER(text) ((uint64_t)(uintptr_t)(text))

#define CTR2(class, format, a, b)                                                                \
	_Generic((b), char *: peer_word_string, const char *: peer_word_string, default: peer_2)(\
		__LINE__, (uint64_t)(a), (b))
#define KTR_COUNTER0(class, group, ident, value)                                                 \
	peer_3(__LINE__, PEER_POINTER(group), PEER_POINTER(ident), (uint64_t)(value))
#define KTR_STATE0(class, group, ident, state) peer_word_string(__LINE__, PEER_POINTER(state), ident)

static inline void peer_scope_end(const uint32_t *id)
{
	peer_2(*id, PEER_POINTER(id), 0);
}

#define KTR_SCOPE(class, name, f1, v1, f2, v2)                                                   \
	__attribute__((cleanup(peer_scope_end), unused)) const uint32_t peer_scope = __LINE__;   \
	peer_3(peer_scope, PEER_POINTER(&peer_scope), (uint64_t)(v1), (uint64_t)(v2))

#endif
