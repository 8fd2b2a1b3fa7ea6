/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session that is written from outside stays until it is written: the program that leaves it last would remove
 * it, and with it what the writer has not taken yet, or could not write.
 */
#ifndef WRITER_KEEP_H
#define WRITER_KEEP_H

#include "ktr/session/session_map.h"

#include <stdbool.h>

/* Stores a word of the control page of the session that map is of, and path. True: it is there. */
bool ktr__keep_put(const struct ktr__session_map *map, const char *path, size_t field, uint32_t value);

/* Asks that a clean exit leaves the session, unless that is so anyway. True: it was us, who have to end it. */
bool ktr__keep_begin(const struct ktr__session_map *map, const char *path);

/*
 * All of it is written: what ktr__keep_begin(), or a writer that could not write all, has asked for is over, and
 * the session goes if nobody is left in it. any: so does one that who left it last was not allowed to remove.
 */
void ktr__keep_end(const struct ktr__session_map *map, const char *path, bool any);

#endif
