/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Demangling, through libiberty of GNU binutils. A name of some hundred bytes may stand for a text of any
 * length, since it can name a part of itself again and again. So the text is taken piece by piece, and the
 * demangler is left by longjmp when there is no more room. It keeps what it needs on its stack (but for the
 * letters of an identifier of Rust's that is not ASCII, which are lost then).
 *
 * libiberty takes no name of C++ longer than 1024 letters unless it is allowed to recurse without bound; such a
 * name is shown as it is.
 */
#include "analyze/symbols/demangle.h"

#ifndef KTR_HAVE_DEMANGLE
#define KTR_HAVE_DEMANGLE 0
#endif

#if KTR_HAVE_DEMANGLE

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

/* [bytes] Longer ones are shown as they are. clang's longest, with all of its templates, have some 10,000. */
#define DEMANGLE_NAME_MAX 32768

struct demangle {
	char *to;
	size_t n;
	jmp_buf full;
};

static void demangle_put(const char *text, size_t n, void *context)
{
	struct demangle *d = context;
	size_t room = KTR__DEMANGLE_MAX - 1 - d->n;

	memcpy(d->to + d->n, text, n < room ? n : room);
	d->n += n < room ? n : room;
	if (n > room)
		longjmp(d->full, 1);
}

/* 1 when it is demangled whole, 0 when it is none of these. */
static int demangle_run(struct demangle *d, const char *name, enum ktr__demangle_style style)
{
	int options = style == KTR__DEMANGLE_NAME ? DMGL_NO_OPTS : DMGL_PARAMS | DMGL_ANSI;

	if (rust_demangle_callback(name, style == KTR__DEMANGLE_WHOLE ? DMGL_NO_OPTS : options, demangle_put, d))
		return 1;
	d->n = 0;
	return cplus_demangle_v3_callback(name, options, demangle_put, d);
}

const char *ktr__demangle(const char *name, enum ktr__demangle_style style, char to[KTR__DEMANGLE_MAX])
{
	struct demangle d = { .to = to };

	/* All others are not mangled, and nothing of the like is tried on them. */
	if ((strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0) || strlen(name) > DEMANGLE_NAME_MAX)
		return name;
	if (setjmp(d.full)) {
		memcpy(to + KTR__DEMANGLE_MAX - sizeof("..."), "...", sizeof("..."));
		return to;
	}
	if (!demangle_run(&d, name, style))
		return name;
	to[d.n] = '\0';
	return to;
}

#else

const char *ktr__demangle(const char *name, enum ktr__demangle_style style, char to[KTR__DEMANGLE_MAX])
{
	(void)style, (void)to;
	return name;
}

#endif
