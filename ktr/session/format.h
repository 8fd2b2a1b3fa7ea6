/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printf formats taken apart: once when a call site registers, to know which arguments are strings
 * to be copied, and by everybody who renders an event.
 *
 *	struct ktr__format at = KTR__FORMAT(format);
 *	struct ktr__format_item item;
 *
 *	while (ktr__format_next(&at, &item))
 *		switch (item.kind) ...
 *
 * Grammar: printf(3) with positions (%2$d), and the two conversions that only FreeBSD's kernel
 * knows, %b and %D. A format is untrusted input. All calls are async-signal-safe and allocate
 * nothing.
 */
#ifndef KTR_FORMAT_H
#define KTR_FORMAT_H

#include <ktr/site.h>

#include <stdint.h>

enum ktr__format_kind {
	KTR__FORMAT_TEXT = 1, /* start, length: literal text; "%%" gives the text "%" */
	KTR__FORMAT_CONV,     /* one argument, as printf prints it */
	KTR__FORMAT_OPAQUE    /* unknown, kernel only, %n or %m: prints as it stands */
};

enum ktr__format_size { /* length modifiers */
	KTR__FORMAT_INT, KTR__FORMAT_HH, KTR__FORMAT_H, KTR__FORMAT_L, KTR__FORMAT_LL,
	KTR__FORMAT_J, KTR__FORMAT_Z, KTR__FORMAT_T, KTR__FORMAT_LONG_DOUBLE
};

#define KTR__FORMAT_MINUS 1u /* flags */
#define KTR__FORMAT_PLUS  2u
#define KTR__FORMAT_SPACE 4u
#define KTR__FORMAT_ALT	  8u
#define KTR__FORMAT_ZERO  16u
#define KTR__FORMAT_GROUP 32u

#define KTR__FORMAT_NONE 0xffu /* instead of an argument index */
#define KTR__FORMAT_UNSET (-1) /* no width, no precision, or one that is an argument */

struct ktr__format_item {
	uint8_t kind;
	uint8_t flags;
	uint8_t size;	       /* enum ktr__format_size */
	char conv;	       /* conversion character: 'd', 's', ... */
	uint8_t arg;	       /* index of the argument it prints, from 0, or KTR__FORMAT_NONE */
	uint8_t width_arg;     /* "*": index of the argument that is the width, or NONE */
	uint8_t precision_arg; /* ".*" */
	uint8_t n_args;	       /* arguments eaten, those of "*" not counted; %b and %D eat 2 */
	int32_t width;	       /* clipped to 9999; UNSET */
	int32_t precision;     /* clipped to 9999; UNSET; "%.s" has 0 */
	const char *start;     /* in the format: the text, or the conversion from its '%' on */
	uint32_t length;       /* [bytes] of either */
};

struct ktr__format {
	const char *next;
	uint32_t arg; /* the next argument in order */
};

#define KTR__FORMAT(format) { format, 0 }

/* Fetches the next item. 1, or 0 at the end. Indices may be beyond the arguments that there are. */
int ktr__format_next(struct ktr__format *at, struct ktr__format_item *item);

/*
 * Fills how[] and limit[] (KTR_ARGS_MAX each) for a call site with n_args arguments of these types:
 * which words are strings to be copied, up to where. limit is 0 except for KTR_HOW_COPY_MAX. Of
 * KTR_HOW_COPY_PREC the argument before is an integer; negative, it means no limit, as in printf.
 */
void ktr__format_how(const char *format, unsigned n_args, const uint8_t *type, uint8_t *how,
		     uint8_t *limit);

#endif
