/* SPDX-License-Identifier: BSD-2-Clause */
/* Words that are not in a list of names; ktr_nearest() is public. */
#ifndef CONF_NEAREST_H
#define CONF_NEAREST_H

#include <ktr/conf.h>
#include <ktr/error.h>

#include <stddef.h>

/*
 * Fills err, which may be NULL, for a word that is none of the names: the nearest one that is, and what the
 * word was to name, which is kind. names may be NULL: there are none. column is the word's in its text, from 1.
 * Returns -code.
 */
int ktr__unknown_word(const char *kind, const char *word, size_t length, unsigned column, int code,
		 ktr_names_fn *names, void *context, struct ktr_error *err);

#endif
