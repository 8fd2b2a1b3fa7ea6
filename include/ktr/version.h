/* SPDX-License-Identifier: BSD-2-Clause */
/* The one source of ktr's version; Makefile, .pc files and tools read it from here. */
#ifndef KTR_VERSION_H
#define KTR_VERSION_H

#define KTR_VERSION_MAJOR 0
#define KTR_VERSION_MINOR 1
#define KTR_VERSION_PATCH 0
#define KTR_VERSION_TEXT  "0.1.0"

/*
 * What macros expanded in a program and the library must agree on: struct ktr_site, struct
 * ktr_module, struct ktr_class and the ktr__record functions. A library refuses a module of
 * another ABI with one line and leaves it untraced.
 */
#define KTR_ABI 2

#endif
