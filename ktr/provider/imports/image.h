/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the object lies that this is part of. */
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

#endif
