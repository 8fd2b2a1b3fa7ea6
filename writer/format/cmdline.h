/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WRITER_CMDLINE_H
#define WRITER_CMDLINE_H

#include "ktr/session/session_map.h"

#include <stddef.h>

/*
 * The command line of a process, a string of the session, as a shell takes it: words with a blank between them, in
 * quotes where they need them. Cut where it does not fit; ends in NUL.
 */
void ktr__map_cmdline(const struct ktr__session_map *map, uint32_t offset, char *text, size_t size);

/* The same of the string: each argument ends in KTR_CMDLINE_END; one without any is shown as it is. */
void ktr__cmdline_quote(const char *raw, char *text, size_t size);

#endif
