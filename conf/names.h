/* SPDX-License-Identifier: BSD-2-Clause */
/* Masks and choices by name; what parsers and printers return is said in value.h. */
#ifndef CONF_NAMES_H
#define CONF_NAMES_H

#include <ktr/conf.h>
#include <ktr/error.h>

#include <stddef.h>
#include <stdint.h>

/* Do `length` bytes of word spell name, whatever the case? Returns 1 or 0. */
int ktr__same_word(const char *word, size_t length, const char *name);

/*
 * A mask of named bits. current is what a text beginning with '+' or '-' starts from; without a
 * list of names (NULL) only numbers are read and printed.
 */
int ktr__parse_mask(const char *text, ktr_names_fn *names, void *context, uint64_t current,
		    uint64_t *mask, struct ktr_error *err);
int ktr__print_mask(uint64_t mask, ktr_names_fn *names, void *context, unsigned flags, char *buffer,
		    size_t size);

/* One name of a list, or the number of one. */
int ktr__parse_choice(const char *text, ktr_names_fn *names, void *context, uint64_t *number,
		      struct ktr_error *err);
int ktr__print_choice(uint64_t number, ktr_names_fn *names, void *context, unsigned flags,
		      char *buffer, size_t size);

#endif
