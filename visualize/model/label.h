/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of any bytes, made fit to be shown. Everything a trace says is written by somebody else: it
 * must neither move a terminal's cursor nor become a command of gnuplot or a shell.
 *
 * Calls here allocate nothing and write NUL-terminated text.
 */
#ifndef VISUALIZE_LABEL_H
#define VISUALIZE_LABEL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* [bytes] Room for every name that is shown. */
#define KTR__LABEL_BYTES 400

/*
 * Copies n bytes so that they are harmless: well-formed UTF-8 stays, everything else (control
 * characters, C1, bidirectional and invisible ones, broken sequences) becomes \xNN. What joins emoji or
 * letters stays between those that it joins. What does not fit is left out at the end, never within a
 * character. Returns the length.
 */
size_t ktr__label_clean(char *to, size_t size, const char *bytes, size_t n);

/* [columns] A clean text takes on a terminal: wide characters 2, combining ones 0. */
unsigned ktr__label_columns(const char *text);

/*
 * Copies a clean text into at most so many columns; where it does not fit "…" ("~" with ascii) stands for its
 * middle, because names of one kind differ at their ends. With ascii, bytes above 127 become \xNN. What joins
 * emoji is left out: terminals differ in the columns that such have. Returns the columns it takes.
 */
unsigned ktr__label_fit(char *to, size_t size, const char *text, unsigned columns, int ascii);

/*
 * The same for names that are shown together: those that differ are not cut to the same. Where their ends do not
 * tell them apart, what they begin with makes room for the part that does, or for a number at least. O(n log n).
 */
struct ktr__label_name {
	const char *text;            /* clean; borrowed */
	unsigned columns;            /* that it has at most */
	unsigned used;               /* [columns] of fit */
	unsigned at;                 /* the function's own */
	char fit[KTR__LABEL_BYTES];
};
void ktr__label_fit_names(struct ktr__label_name *name, unsigned n, int ascii);

/* Reads one character of n bytes; returns the bytes it has, or 0 where there is none. */
unsigned ktr__label_char(const char *text, size_t n, uint32_t *code);

/* Does a character stand on the one before it? */
int ktr__label_is_mark(uint32_t code);

/* Is it one without a glyph, which belongs to those beside it? */
int ktr__label_is_joint(uint32_t code);

/*
 * Copies a clean text so that it is laid out from left to right, whatever letters it begins with, and what follows
 * letters that go from right to left is not drawn into them. Such a text gets marks of direction, any other none.
 */
void ktr__label_ltr(char *to, size_t size, const char *text);

#define KTR__LABEL_LTR 0x200eu /* that mark */

/* Writes a clean text as a string of gnuplot. */
void ktr__label_gnuplot(FILE *to, const char *text);

/* Appends a word of a command line to the text in buffer, quoted for sh(1) where it has to be. */
void ktr__label_word(char *buffer, size_t size, const char *word);

/* Writes a field of CSV: in quotes where RFC 4180 wants them. */
void ktr__label_csv(FILE *to, const char *bytes, size_t n);

/* A short text by value: ktr__label_count(n).text is there until the whole expression has been evaluated. */
struct ktr__label_text {
	char text[32];
};

/* 1,234,567 */
struct ktr__label_text ktr__label_count(uint64_t count);

/* Three digits and a unit: "1.23 ms", "97 ns", "2 h 05 min". */
struct ktr__label_text ktr__label_duration(uint64_t ns);

#endif
