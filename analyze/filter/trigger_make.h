/* SPDX-License-Identifier: BSD-2-Clause */
/* Triggers from their text: what debug.ktr.trigger takes; see ktr/session/trigger_fields.h. */
#ifndef ANALYZE_TRIGGER_MAKE_H
#define ANALYZE_TRIGGER_MAKE_H

#include <ktr/conf.h>

#include <stddef.h>

/*
 * Compiles an expression into the text for debug.ktr.trigger. classes names those of the session that it
 * is for; NULL: none is known but FreeBSD's, other names are left to the program. An empty text stays
 * empty. 0, or -errno with err filled, whose column is a byte of the text; -ENOSPC: it is too long.
 */
int ktr__trigger_make(const char *text, ktr_names_fn *classes, void *context, char *made, size_t size,
		      struct ktr_error *err);

#endif
