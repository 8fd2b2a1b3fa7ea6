/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of this process that can be probed, by number. Numbers are never used again. */
#ifndef KTR_FBT_FUNCTION_H
#define KTR_FBT_FUNCTION_H

/* ktr starts when a program's module attaches or a provider registers, never because this library is linked in. */
#define KTR_NO_AUTOSTART

#include <ktr/provider.h>

#include <stdbool.h>
#include <stdint.h>

#define KTR__FBT_ENTRY	0 /* which of a function's two probes */
#define KTR__FBT_RETURN 1
#define KTR__FBT_ASKED_ARGS	2 /* and what more can be asked for */
#define KTR__FBT_ASKED_CALLER	3
#define KTR__FBT_ASKED_MEMBER	4 /* any */
#define KTR__FBT_CALLER 4u /* bits of a function's wanted, besides those of its probes: filter.h */
#define KTR__FBT_COUNTED 8u /* its calls are counted: ktr/provider/arcs/ */
#define KTR__FBT_ROOM	14 /* [bytes] before each function: -fpatchable-function-entry=16,14 */

/* A function whose entry and return are both asked for is a scope: it begins and ends. */
struct ktr__fbt_scope {
	struct ktr_site begin;
	struct ktr_site end;
	struct ktr_site *late; /* of a beginning that is told of later; NULL: not needed yet. Atomic; never freed */
};

struct ktr__fbt_typed;
struct ktr__fbt_details;

struct ktr__fbt_function {
	uint8_t *body; /* where it goes on when its probes have been passed: behind the two bytes that change */
	struct ktr_provider_probe *probe[2]; /* ktr__fbt_none: not offered. Atomic, as scope */
	const char *name; /* as it is shown; owned; set when it is first offered */
	struct ktr__fbt_scope *scope; /* made when first needed, never freed; NULL: none */
	uint32_t wanted; /* bit for each probe that is enabled; changed under the registry's lock, atomic */
	uint8_t away; /* the second byte: how far back the room before the function is; 0: there is none */
	uint8_t has_room; /* what is written there has been */
	uint8_t excluded; /* KTR__FBT_OUT_*. Atomic */
	uint8_t asked; /* 1 << KTR__FBT_ENTRY... of what anybody has asked for. Atomic; never taken back */
	struct ktr__fbt_typed *typed; /* what is known of its arguments; NULL: nothing. Atomic; never freed */
	struct ktr__fbt_details *details; /* args.h; NULL: nothing of it is asked for. Never freed */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct ktr__fbt_function) == 64, "a line of the cache each");

#define KTR__FBT_OUT_RECORDER 1u /* the recorder calls it: excluded.h */
#define KTR__FBT_OUT_RETURN   2u /* its return is not to be led anywhere: likewise */
#define KTR__FBT_OUT_KIND     4u /* its kind says why: struct ktr__fbt_kind */

static inline bool ktr__fbt_is_excluded(const struct ktr__fbt_function *function)
{
	return __atomic_load_n(&function->excluded, __ATOMIC_RELAXED) & ~KTR__FBT_OUT_RETURN;
}

static inline bool ktr__fbt_returns(const struct ktr__fbt_function *function)
{
	return !__atomic_load_n(&function->excluded, __ATOMIC_RELAXED);
}

/* Is never on. */
extern struct ktr_provider_probe ktr__fbt_none;

/* The number of the first of n new ones; 0: there is no memory. One caller at a time. */
uint32_t ktr__fbt_function_new(uint32_t n);

/*
 * One bit more is wanted of a function, or one less, which is patched as long as any is. Under the registry's lock.
 * 0, or -errno and why. What is excluded can be counted: that calls nothing.
 */
int ktr__fbt_want(uint32_t number, uint32_t bit, struct ktr_error *why);
void ktr__fbt_unwant(uint32_t number, uint32_t bit);

#define KTR__FBT_BLOCK	4096u /* functions */
#define KTR__FBT_BLOCKS 1024u /* four million of them */
extern struct ktr__fbt_function *ktr__fbt_block[KTR__FBT_BLOCKS]; /* atomic; one that is there stays where it is */

/* Async-signal-safe. Of a number that was given. */
static inline struct ktr__fbt_function *ktr__fbt_function(uint32_t number)
{
	struct ktr__fbt_function *const *block = &ktr__fbt_block[number / KTR__FBT_BLOCK];

	return __atomic_load_n(block, __ATOMIC_RELAXED) + number % KTR__FBT_BLOCK;
}

#endif
