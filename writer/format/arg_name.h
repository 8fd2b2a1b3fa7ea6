/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of a call site's arguments, out of the source text that the macros leave: "n, (int)f(a, b), \",\"".
 */
#ifndef WRITER_ARG_NAME_H
#define WRITER_ARG_NAME_H

/*
 * Takes the argument that begins at text apart: its name is [*from, *to), and the answer is where the next one
 * begins; at the end of all, end. A name is the argument's text without blanks, brackets and casts around it,
 * those of C++ by name included: "(int)n", "((unsigned char)(n))", "static_cast<int>(n)" and "uint8_t(n)" are n,
 * "a + b" is what it is. It may be empty. Any text is taken, and nothing at or after end is looked at.
 */
const char *ktr__arg_name(const char *text, const char *end, const char **from, const char **to);

#endif
