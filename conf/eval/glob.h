/* SPDX-License-Identifier: BSD-2-Clause */
/* Patterns. */
#ifndef CONF_GLOB_H
#define CONF_GLOB_H

#include <stddef.h>

/*
 * Does a pattern match the whole text? Returns 1 or 0. '*' stands for any bytes, '?' for one, [a-z] and [!a-z]
 * for one of a set, '\' takes the next byte as it is. A bracket that is not closed stands for itself. Time is
 * at most the product of the lengths; no recursion.
 */
int ktr__glob(const char *pattern, size_t n_pattern, const char *text, size_t n_text);

#endif
