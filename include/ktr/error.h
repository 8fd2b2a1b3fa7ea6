/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What went wrong, where, in one sentence.
 *
 * Every call of ktr that reads input written by somebody (a loader.conf, a knob's value, a filter
 * expression, a trace) takes a caller's struct ktr_error and fills it when it fails. The pointer
 * may be NULL everywhere: the return value alone then says what happened. The first error wins:
 * whoever finds the error record already filled leaves it alone, so that a caller that goes on
 * after a failure still reports its cause and not its consequences.
 *
 *	struct ktr_error err = KTR_ERROR_NONE;
 *	char line[KTR_ERROR_LINE_BYTES];
 *
 *	if (something(..., &err) < 0)
 *		fprintf(stderr, "%s\n", ktr_error_print(&err, line, sizeof(line)));
 *
 * All calls here are safe before main() and from any thread on errors of their own; they
 * allocate nothing and do not block. None may be called from a signal handler, because they
 * format with vsnprintf(3).
 */
#ifndef KTR_ERROR_H
#define KTR_ERROR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * [bytes] Of a longer path the end is kept, which names the file; a longer text is cut. Both are
 * chosen so that an error record fits on any stack that a program's constructors may run on.
 */
#define KTR_ERROR_FILE_BYTES 256
#define KTR_ERROR_TEXT_BYTES 256

/* [bytes] Enough for everything ktr_error_print() writes. */
#define KTR_ERROR_LINE_BYTES (KTR_ERROR_FILE_BYTES + KTR_ERROR_TEXT_BYTES + 64)

/* All zero bytes mean "no error", so a record cleared by memset or calloc is ready for use. */
struct ktr_error {
	int code;                        /* errno value, positive; 0 while there is no error */
	unsigned line;                   /* from 1; 0 when the error has no line */
	unsigned column;                 /* [bytes] from 1; 0 when the error has no column */
	unsigned has_offset;             /* 1 when offset means something */
	uint64_t offset;                 /* [bytes] from the beginning of a binary file */
	char file[KTR_ERROR_FILE_BYTES]; /* path, session or other source of the input, or "" */
	char text[KTR_ERROR_TEXT_BYTES]; /* the sentence, without place and without newline */
};

/* Initialises an error record in C; in C++ write `struct ktr_error err = {}`. */
#define KTR_ERROR_NONE                                                                             \
	{                                                                                          \
		0, 0, 0, 0, 0, "", ""                                                              \
	}

/*
 * Records an error without a place. code is an errno value of either sign; the rest is as for
 * printf(3) and is copied; %m prints what code means, whatever errno is. Returns -code (EINVAL for 0),
 * also when err is NULL or filled already, so that a parser may write
 * `return ktr_error_set(err, EINVAL, "...", ...);`.
 */
int ktr_error_set(struct ktr_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with a place in a text: file may be NULL, line and column may be 0. */
int ktr_error_at(struct ktr_error *err, const char *file, unsigned line, unsigned column, int code,
		 const char *format, ...) __attribute__((format(printf, 6, 7)));

/* The same with a place in a binary file; offset in bytes from its beginning. */
int ktr_error_at_offset(struct ktr_error *err, const char *file, uint64_t offset, int code,
			const char *format, ...) __attribute__((format(printf, 5, 6)));

/*
 * Adds a place to an error that has none yet: what the record already knows is kept, of file,
 * line and column only the missing ones are filled in. Does nothing while there is no error.
 */
void ktr_error_place(struct ktr_error *err, const char *file, unsigned line, unsigned column);

/* Forgets the error, so that the record can take another. err may be NULL. */
void ktr_error_clear(struct ktr_error *err);

/*
 * Writes the error as one line without newline, "file:line:column: text" or "file: byte N: text",
 * leaving out what is not known. Control bytes that came from the input print as '?'. Returns
 * buffer, which always ends with a NUL when size is not 0. An empty record prints as "no error".
 */
const char *ktr_error_print(const struct ktr_error *err, char *buffer, size_t size);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
