/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes printf formats apart. One grammar for registration, which decides from it which pointers
 * are followed, and for rendering, which must agree with that decision.
 *
 * A conversion is % [position$] [flags] [width] [.precision] [size] letter (printf(3)). Numbers
 * that do not fit are clipped; a conversion that breaks off or ends in an unknown letter is opaque
 * up to and with that letter, and eats no argument: what follows it prints with the arguments that
 * are left.
 */
#include "ktr/session/format.h"

#define FORMAT_NUMBER_MAX 9999

struct format_scan {
	const char *p;
	struct ktr__format_item *item;
	uint32_t *arg; /* the next argument in order */
};

static int format_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int32_t format_number(struct format_scan *s)
{
	int32_t n = 0;

	for (; format_is_digit(*s->p); s->p++)
		if (n <= FORMAT_NUMBER_MAX)
			n = n * 10 + (*s->p - '0');
	return n <= FORMAT_NUMBER_MAX ? n : FORMAT_NUMBER_MAX;
}

/* An index too large to be kept is still one, of an argument that is not there. */
static uint8_t format_index(uint32_t n)
{
	return n < KTR__FORMAT_NONE ? (uint8_t)n : KTR__FORMAT_NONE - 1;
}

static uint8_t format_take(struct format_scan *s)
{
	return format_index((*s->arg)++);
}

/* "N$" at p: the index it names, from 0. Otherwise NONE, and p stays. */
static uint8_t format_position(struct format_scan *s)
{
	const char *start = s->p;
	int32_t n = format_number(s);

	if (*s->p == '$' && n > 0) {
		s->p++;
		return format_index((uint32_t)n - 1);
	}
	s->p = start;
	return KTR__FORMAT_NONE;
}

static uint8_t format_flag(char c)
{
	switch (c) {
	case '-':
		return KTR__FORMAT_MINUS;
	case '+':
		return KTR__FORMAT_PLUS;
	case ' ':
		return KTR__FORMAT_SPACE;
	case '#':
		return KTR__FORMAT_ALT;
	case '0':
		return KTR__FORMAT_ZERO;
	case '\'':
		return KTR__FORMAT_GROUP;
	default:
		return 0;
	}
}

/* A width or a precision: a number, or "*" with the argument that is it. */
static int32_t format_amount(struct format_scan *s, uint8_t *arg)
{
	if (*s->p != '*')
		return format_number(s);
	s->p++;
	*arg = format_position(s);
	if (*arg == KTR__FORMAT_NONE)
		*arg = format_take(s);
	return KTR__FORMAT_UNSET;
}

static uint8_t format_size(struct format_scan *s)
{
	char c = *s->p;
	int twice;

	switch (c) {
	case 'h':
	case 'l':
		twice = s->p[1] == c;
		s->p += 1 + twice;
		return (uint8_t)(c == 'h' ? KTR__FORMAT_H - twice : KTR__FORMAT_L + twice);
	case 'q':
		c = KTR__FORMAT_LL;
		break;
	case 'j':
		c = KTR__FORMAT_J;
		break;
	case 'z':
	case 'Z':
		c = KTR__FORMAT_Z;
		break;
	case 't':
		c = KTR__FORMAT_T;
		break;
	case 'L':
		c = KTR__FORMAT_LONG_DOUBLE;
		break;
	default:
		return KTR__FORMAT_INT;
	}
	s->p++;
	return (uint8_t)c;
}

static int format_among(char c, const char *set)
{
	for (; *set; set++)
		if (*set == c)
			return 1;
	return 0;
}

/* What the letter means; p is after it. */
static void format_letter(struct format_scan *s, uint8_t position)
{
	struct ktr__format_item *item = s->item;
	char c = item->conv;

	item->kind = KTR__FORMAT_OPAQUE;
	if (format_among(c, "diouxXcspeEfFgGaA")) {
		item->kind = KTR__FORMAT_CONV;
		item->n_args = 1;
	} else if (c == 'b' || c == 'D') {
		item->n_args = 2;
	} else if (c == 'n' || c == 'C' || c == 'S') {
		item->n_args = 1;
	}
	if (!item->n_args)
		return;
	item->arg = position;
	if (position == KTR__FORMAT_NONE) {
		item->arg = format_take(s);
		*s->arg += item->n_args - 1u;
	}
}

/* A conversion; p is after its '%'. */
static void format_conversion(struct format_scan *s)
{
	struct ktr__format_item *item = s->item;
	uint8_t position = format_position(s), flag;

	while ((flag = format_flag(*s->p)) != 0) {
		item->flags |= flag;
		s->p++;
	}
	if (*s->p == '*' || format_is_digit(*s->p))
		item->width = format_amount(s, &item->width_arg);
	if (*s->p == '.') {
		s->p++;
		item->precision = format_amount(s, &item->precision_arg);
	}
	item->size = format_size(s);
	item->conv = *s->p;
	if (*s->p)
		s->p++;
	format_letter(s, position);
}

int ktr__format_next(struct ktr__format *at, struct ktr__format_item *item)
{
	struct format_scan s = { at->next, item, &at->arg };

	if (!*s.p)
		return 0;
	*item = (struct ktr__format_item){ .kind = KTR__FORMAT_TEXT,
					   .arg = KTR__FORMAT_NONE,
					   .width_arg = KTR__FORMAT_NONE,
					   .precision_arg = KTR__FORMAT_NONE,
					   .width = KTR__FORMAT_UNSET,
					   .precision = KTR__FORMAT_UNSET,
					   .start = s.p };
	if (*s.p != '%') {
		while (*s.p && *s.p != '%')
			s.p++;
	} else if (s.p[1] == '%') {
		item->start++;
		item->length = 1;
		at->next = s.p + 2;
		return 1;
	} else {
		s.p++;
		format_conversion(&s);
	}
	item->length = (uint32_t)(s.p - item->start);
	at->next = s.p;
	return 1;
}

/* How the string argument of a %s is copied. */
static void format_string(const struct ktr__format_item *item, uint8_t *how, uint8_t *limit)
{
	*how = KTR_HOW_COPY;
	*limit = 0;
	if (item->precision_arg != KTR__FORMAT_NONE) {
		/* The recorder looks for the length in the word before, and nowhere else. */
		*how = item->precision_arg + 1 == item->arg ? KTR_HOW_COPY_PREC : KTR_HOW_VALUE;
	} else if (item->precision >= 0 && item->precision <= UINT8_MAX) {
		*how = KTR_HOW_COPY_MAX;
		*limit = (uint8_t)item->precision;
	}
}

void ktr__format_how(const char *format, unsigned n_args, const uint8_t *type, uint8_t *how,
		     uint8_t *limit)
{
	struct ktr__format at = KTR__FORMAT(format);
	struct ktr__format_item item;

	for (unsigned i = 0; i < KTR_ARGS_MAX; i++)
		how[i] = limit[i] = 0;
	if (n_args > KTR_ARGS_MAX)
		n_args = KTR_ARGS_MAX;
	while (ktr__format_next(&at, &item)) {
		if (item.kind != KTR__FORMAT_CONV || item.conv != 's' || item.arg >= n_args ||
		    item.size != KTR__FORMAT_INT)
			continue;
		if (type[item.arg] == KTR_ARG_STR || type[item.arg] == KTR_ARG_PTR)
			format_string(&item, &how[item.arg], &limit[item.arg]);
	}
}
