/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values as text: one parser and one printer per kind, each pair inverse to the other.
 *
 * Parsers take a NUL-terminated text with blanks allowed around it and return 0, -EINVAL (not of
 * this kind) or -ERANGE (does not fit); the error's column is the byte, from 1, at which the text
 * stops making sense. Nothing is stored on failure unless said otherwise. Printers write a
 * NUL-terminated text and return 0, or -ENOSPC when it does not fit; they print a form that the
 * parser reads back to the same value. None allocates; the locale has no say.
 */
#ifndef CONF_VALUE_H
#define CONF_VALUE_H

#include <stddef.h>
#include <stdint.h>
#include <ktr/conf.h>
#include <ktr/error.h>

/* [bytes] How much of a word is quoted in an error text. */
#define KTR__SHOWN_BYTES 40

static inline int ktr__is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline char ktr__lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline const char *ktr__skip_blanks(const char *p)
{
	while (ktr__is_blank(*p))
		p++;
	return p;
}

static inline int ktr__is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* For "%.*s": the length of a word in an error text. */
static inline int ktr__shown(size_t length)
{
	return length > KTR__SHOWN_BYTES ? KTR__SHOWN_BYTES : (int)length;
}

/*
 * The error of a name that is not in a list, with the nearest one that is: code at a column of the text,
 * or 0. kind is what is named. names may be NULL.
 */
int ktr__unknown_word(const char *kind, const char *word, size_t length, unsigned column, int code,
		 ktr_names_fn *names, void *context, struct ktr_error *err);

/* "TEXT what": the error of a text that stops making sense at `at`, which is within it. */
int ktr__bad_value(const char *text, const char *at, int code, const char *what,
		   struct ktr_error *err);

/* [bytes] of a text without the blanks at its end. */
size_t ktr__word_length(const char *word);

/* A hexadecimal digit's value, or 16. */
unsigned ktr__hex_digit(char c);

/* Does `length` bytes of word spell name, whatever the case? */
int ktr__same_word(const char *word, size_t length, const char *name);

/* A magnitude at *at: 0x, 0 or decimal. *at moves behind it. 0, -EINVAL or -ERANGE. */
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

/* Writes at most size bytes with NUL; on failure buffer holds no complete string. */
int ktr__parse_string(const char *text, char *buffer, size_t size, struct ktr_error *err);
int ktr__print_string(const char *string, char *buffer, size_t size);

/* CPU n is bit n % 64 of bits[n / 64]; on failure the set is undefined. n_bits up to 8192. */
int ktr__parse_cpus(const char *text, uint64_t *bits, unsigned n_bits, struct ktr_error *err);
int ktr__print_cpus(const uint64_t *bits, unsigned n_bits, char *buffer, size_t size);

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
