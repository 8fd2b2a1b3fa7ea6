/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What foreign readers call a call site and its arguments: identifiers made from source text.
 */
#ifndef WRITER_IDENT_H
#define WRITER_IDENT_H

#include <ktr/entry.h>

#define KTR_IDENT_MAX 48 /* [bytes] with the NUL; longer expressions are cut */

/*
 * Names the n_args arguments of a call site: from their source text (comma separated, as #p1 ","
 * #p2 leaves it), or, where the format is one of KTRGRAPH's, attributes by their own names. Each
 * name is a C identifier, none is a word of TSDL, and all are different; what gives none is called
 * argN. Any text is taken.
 */
void ktr__ident_args(const char *names, const char *format, unsigned n_args,
		     char ident[KTR_ARGS_MAX][KTR_IDENT_MAX]);

/* The last component of a path. */
const char *ktr__ident_base(const char *path);

#endif
