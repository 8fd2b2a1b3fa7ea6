/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of symbols as their sources have them: C++ (the Itanium ABI) and Rust (both of its schemes), by libiberty.
 */
#ifndef ANALYZE_DEMANGLE_H
#define ANALYZE_DEMANGLE_H

#include <stddef.h>

#define KTR__DEMANGLE_MAX ((size_t)4096) /* [bytes] with its NUL; longer names are cut, and end in "..." */

enum ktr__demangle_style {
	KTR__DEMANGLE_NAME, /* ns::parser::next */
	KTR__DEMANGLE_WHOLE /* ns::parser::next(char const*, int) const, a template's with its result in front */
};

/*
 * The name of a symbol as people read it, in to, or the name itself where it is no such, or in a build without
 * libiberty. Any bytes; takes a bounded time. Any thread.
 */
const char *ktr__demangle(const char *name, enum ktr__demangle_style style, char to[KTR__DEMANGLE_MAX]);

#endif
