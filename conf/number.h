/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as text; what parsers and printers return is said in value.h. */
#ifndef CONF_NUMBER_H
#define CONF_NUMBER_H

#include <ktr/conf.h>
#include <ktr/error.h>

#include <stddef.h>
#include <stdint.h>

/*
 * Fills err for a text that stops making sense at `at`, which is within it: "TEXT what". code is EINVAL or ERANGE.
 * Returns -code.
 */
int ktr__bad_value(const char *text, const char *at, int code, const char *what,
		   struct ktr_error *err);

/* Returns the length [bytes] of a text without the blanks at its end. */
size_t ktr__word_length(const char *word);

/* Returns a hexadecimal digit's value, or 16 for what is none. */
unsigned ktr__hex_digit(char c);

/* Takes a magnitude at *at: 0x, 0 or decimal. *at moves to what follows it. Returns 0, -EINVAL or -ERANGE. */
int ktr__parse_digits(const char **at, uint64_t *number);

int ktr__parse_bool(const char *text, uint64_t *number, struct ktr_error *err);
int ktr__parse_int(const char *text, int64_t *number, struct ktr_error *err);
int ktr__parse_uint(const char *text, uint64_t *number, struct ktr_error *err);
int ktr__parse_size(const char *text, uint64_t *number, struct ktr_error *err);
int ktr__parse_duration(const char *text, uint64_t *ns, struct ktr_error *err);

/* flags: KTR_PRINT_* */
int ktr__print_int(int64_t number, unsigned flags, char *buffer, size_t size);
int ktr__print_uint(uint64_t number, unsigned flags, char *buffer, size_t size);
int ktr__print_size(uint64_t number, unsigned flags, char *buffer, size_t size);
int ktr__print_duration(uint64_t ns, unsigned flags, char *buffer, size_t size);

#endif
