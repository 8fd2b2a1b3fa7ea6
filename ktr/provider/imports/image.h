/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the object lies that this is part of, and others of ktr's. */
#ifndef KTR_IMPORTS_IMAGE_H
#define KTR_IMPORTS_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

/* The linker's. */
extern const char ktr__image_begin[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char ktr__image_end[] __asm__("_end") __attribute__((visibility("hidden")));

/* Is it an address in it: does ktr call from there, is it a lock of ktr's? */
static inline bool ktr__image_has(uintptr_t address)
{
	return address - (uintptr_t)ktr__image_begin < (uintptr_t)ktr__image_end - (uintptr_t)ktr__image_begin;
}

#define KTR__IMAGE_OTHERS 8

/* libktr.so, libktr-writer.so and their like, where they are loaded beside it. */
struct ktr__image_range {
	uintptr_t low, high; /* atomic, each; both 0: none */
};

extern struct ktr__image_range ktr__image_other[KTR__IMAGE_OTHERS];
extern unsigned ktr__image_n_others; /* atomic */

/* Finds the others that are loaded now: asks the loader as ktr__imports_look() does. One thread at a time. */
void ktr__image_look(void);

bool ktr__image_has_other(uintptr_t address);

/* The same of all of ktr's. Safe. */
static inline bool ktr__image_is_ours(uintptr_t address)
{
	return ktr__image_has(address) ||
	       (__builtin_expect(__atomic_load_n(&ktr__image_n_others, __ATOMIC_ACQUIRE) != 0, 0) &&
		ktr__image_has_other(address));
}

#endif
