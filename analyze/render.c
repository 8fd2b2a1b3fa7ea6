/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints events as printf would have where they were recorded.
 *
 * printf itself cannot do it: arguments come as 64-bit words with a type known at run time, strings
 * without NUL, and any format may have been recorded. So integers, characters, strings and pointers are
 * formatted here, which is also several times faster; only floating point goes through snprintf, one
 * conversion at a time, with a format made of checked parts.
 *
 * Where a conversion and its argument do not fit, the argument's type decides and not the conversion: a
 * double prints as a double, a string as a string. A conversion without an argument, and one that printf
 * does not know, prints as it stands. Stacks, which no conversion prints, follow the text.
 */
#include "analyze/render.h"
#include "ktr/format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum render_op {
	RENDER_TEXT,
	RENDER_DECIMAL,  /* without flags, width and precision */
	RENDER_UNSIGNED, /* likewise */
	RENDER_HEX,	 /* likewise */
	RENDER_STRING,	 /* likewise */
	RENDER_INTEGER,  /* with any of them */
	RENDER_POINTER,
	RENDER_CHAR,
	RENDER_DOUBLE,
	RENDER_PADDED, /* string with width or precision */
};

struct render_step {
	const char *text; /* in the format */
	uint32_t length;
	uint8_t op;
	uint8_t arg;
	uint8_t shift; /* 64 - bits of the C type the conversion prints */
	uint8_t flags; /* KTR__FORMAT_* */
	uint8_t width_arg;
	uint8_t precision_arg;
	char conv;
	int32_t width;
	int32_t precision;
};

struct ktr__render {
	unsigned n_steps;
	struct render_step step[];
};

/* Where the text goes: at <= end; the byte at end is the NUL's. */
struct render_out {
	char *at;
	char *end;
	size_t missing; /* [bytes] that did not fit */
};

static inline void render_put(struct render_out *out, const char *bytes, size_t n)
{
	size_t room = (size_t)(out->end - out->at);

	if (__builtin_expect(n > room, 0)) {
		out->missing += n - room;
		n = room;
	}
	memcpy(out->at, bytes, n);
	out->at += n;
}

static void render_fill(struct render_out *out, char byte, size_t n)
{
	size_t room = (size_t)(out->end - out->at);

	if (n > room) {
		out->missing += n - room;
		n = room;
	}
	memset(out->at, byte, n);
	out->at += n;
}

/* Digits are made from the last to the first; each call returns the first. */
static inline char *render_decimal(char *end, uint64_t number)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	while (number >= 100) {
		end -= 2;
		memcpy(end, pairs + number % 100 * 2, 2);
		number /= 100;
	}
	if (number >= 10) {
		end -= 2;
		memcpy(end, pairs + number * 2, 2);
	} else {
		*--end = (char)('0' + number);
	}
	return end;
}

static inline char *render_base2(char *end, uint64_t number, unsigned shift, int upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	do {
		*--end = digits[number & ((1u << shift) - 1)];
		number >>= shift;
	} while (number);
	return end;
}

/* The word as the C type that the conversion prints. */
static inline int64_t render_signed(const struct render_step *step, uint64_t word)
{
	return (int64_t)(word << step->shift) >> step->shift;
}

static inline uint64_t render_unsigned(const struct render_step *step, uint64_t word)
{
	return word << step->shift >> step->shift;
}

/* Width and precision of one event: constants, or int arguments. A negative width aligns left. */
struct render_field {
	size_t width;
	int precision; /* -1: none */
	unsigned flags;
};

static int render_int_arg(const struct ktr_event *event, uint8_t arg, int32_t constant)
{
	int value = arg == KTR__FORMAT_NONE ? constant : (int)(uint32_t)event->arg[arg];

	return value > 9999 ? 9999 : value < -9999 ? -9999 : value;
}

static struct render_field render_field(const struct render_step *step, const struct ktr_event *event)
{
	int width = render_int_arg(event, step->width_arg, step->width);
	int precision = render_int_arg(event, step->precision_arg, step->precision);
	struct render_field field = { 0, precision < 0 ? -1 : precision, step->flags };

	if (width < 0 && step->width_arg != KTR__FORMAT_NONE) {
		field.flags |= KTR__FORMAT_MINUS;
		width = -width;
	}
	field.width = width < 0 ? 0 : (size_t)width;
	return field;
}

/* prefix, zeros and digits, in a field: what all integer conversions end in. */
static void render_number(struct render_out *out, const struct render_field *field, const char *prefix,
			  const char *digits, size_t n_digits)
{
	size_t n_prefix = strlen(prefix), zeros = 0, n;

	if (field->precision >= 0 && (size_t)field->precision > n_digits)
		zeros = (size_t)field->precision - n_digits;
	n = n_prefix + zeros + n_digits;
	if ((field->flags & (KTR__FORMAT_ZERO | KTR__FORMAT_MINUS)) == KTR__FORMAT_ZERO &&
	    field->precision < 0 && field->width > n) {
		zeros += field->width - n;
		n = field->width;
	}
	if (!(field->flags & KTR__FORMAT_MINUS) && field->width > n)
		render_fill(out, ' ', field->width - n);
	render_put(out, prefix, n_prefix);
	render_fill(out, '0', zeros);
	render_put(out, digits, n_digits);
	if ((field->flags & KTR__FORMAT_MINUS) && field->width > n)
		render_fill(out, ' ', field->width - n);
}

static const char *render_sign(int negative, unsigned flags)
{
	return negative			       ? "-"
	       : (flags & KTR__FORMAT_PLUS)  ? "+"
	       : (flags & KTR__FORMAT_SPACE) ? " "
					       : "";
}

static void render_integer(struct render_out *out, const struct render_step *step,
			   const struct ktr_event *event)
{
	struct render_field field = render_field(step, event);
	uint64_t word = event->arg[step->arg], number = render_unsigned(step, word);
	int alternative = (field.flags & KTR__FORMAT_ALT) != 0;
	char digits[64], *end = digits + sizeof(digits), *first;
	const char *prefix = "";
	int64_t value;

	switch (step->conv) {
	case 'o':
		first = render_base2(end, number, 3, 0);
		if (alternative && number && field.precision <= end - first)
			*--first = '0';
		break;
	case 'x':
	case 'X':
		first = render_base2(end, number, 4, step->conv == 'X');
		prefix = alternative && number ? (step->conv == 'X' ? "0X" : "0x") : "";
		break;
	case 'b':
	case 'B':
		first = render_base2(end, number, 1, 0);
		prefix = alternative && number ? (step->conv == 'B' ? "0B" : "0b") : "";
		break;
	case 'u':
		first = render_decimal(end, number);
		break;
	default:
		value = render_signed(step, word);
		number = value < 0 ? -(uint64_t)value : (uint64_t)value;
		first = render_decimal(end, number);
		prefix = render_sign(value < 0, field.flags);
	}
	if (field.precision == 0 && number == 0)
		first = alternative && step->conv == 'o' ? end - 1 : end;
	render_number(out, &field, prefix, first, (size_t)(end - first));
}

/* As glibc prints pointers. */
static void render_pointer(struct render_out *out, const struct render_step *step,
			   const struct ktr_event *event)
{
	struct render_field field = render_field(step, event);
	uint64_t word = event->arg[step->arg];
	char digits[16], *end = digits + sizeof(digits), *first;

	if (word) {
		first = render_base2(end, word, 4, 0);
		/* A sign, which means nothing here, is printed all the same. */
		render_number(out, &field,
			      (field.flags & KTR__FORMAT_PLUS)	  ? "+0x"
			      : (field.flags & KTR__FORMAT_SPACE) ? " 0x"
								  : "0x",
			      first, (size_t)(end - first));
		return;
	}
	field.flags &= ~KTR__FORMAT_ZERO;
	field.precision = -1;
	render_number(out, &field, "", "(nil)", 5);
}

static void render_char(struct render_out *out, const struct render_step *step,
			const struct ktr_event *event)
{
	struct render_field field = render_field(step, event);
	char byte = (char)event->arg[step->arg];

	field.flags &= ~KTR__FORMAT_ZERO;
	field.precision = -1;
	render_number(out, &field, "", &byte, 1);
}

/* The bytes of a string with what tells that they are not all there were. */
static void render_string(struct render_out *out, const struct ktr_event_bytes *str, size_t limit)
{
	if (str->is_null) {
		render_put(out, "(null)", limit < 6 ? (limit ? limit : 0) : 6);
		return;
	}
	if (str->n_bytes)
		render_put(out, str->bytes, str->n_bytes < limit ? str->n_bytes : limit);
	if (str->cut && limit > str->n_bytes)
		render_put(out, "...", 3);
}

static void render_padded(struct render_out *out, const struct render_step *step,
			  const struct ktr_event *event)
{
	const struct ktr_event_bytes *str = &event->str[step->arg];
	struct render_field field = render_field(step, event);
	size_t limit = field.precision < 0 ? SIZE_MAX : (size_t)field.precision, n;

	if (str->is_null && limit < 6)
		limit = 0; /* glibc: all of "(null)" or nothing */
	if (str->is_null)
		n = limit ? 6 : 0;
	else
		n = str->n_bytes < limit ? str->n_bytes + (str->cut ? 3u : 0u) : limit;
	if (!(field.flags & KTR__FORMAT_MINUS) && field.width > n)
		render_fill(out, ' ', field.width - n);
	render_string(out, str, limit);
	if ((field.flags & KTR__FORMAT_MINUS) && field.width > n)
		render_fill(out, ' ', field.width - n);
}

static void render_double(struct render_out *out, const struct render_step *step,
			  const struct ktr_event *event)
{
	static const char letters[] = "-+ #0'";
	struct render_field field = render_field(step, event);
	size_t room = (size_t)(out->end - out->at);
	char format[16], *to = format;
	double number;
	int n;

	memcpy(&number, &event->arg[step->arg], sizeof(number));
	*to++ = '%';
	for (unsigned bit = 0; bit < sizeof(letters) - 1; bit++)
		if (field.flags & 1u << bit)
			*to++ = letters[bit];
	memcpy(to, "*.*", 3);
	to[3] = step->conv;
	to[4] = '\0';
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	n = snprintf(out->at, room + 1, format, (int)field.width, field.precision, number);
#pragma GCC diagnostic pop
	if (n < 0)
		return;
	if ((size_t)n > room) {
		out->missing += (size_t)n - room;
		n = (int)room;
	}
	out->at += n;
}

/* Frames of a stack, innermost first. */
static void render_stack(struct render_out *out, const struct ktr_event_bytes *stack)
{
	for (uint32_t at = 0; at + 8 <= stack->n_bytes; at += 8) {
		char digits[20], *first;
		uint64_t pc;

		memcpy(&pc, stack->bytes + at, sizeof(pc));
		first = render_base2(digits + sizeof(digits), pc, 4, 0);
		first -= 3;
		memcpy(first, " 0x", 3);
		render_put(out, first, (size_t)(digits + sizeof(digits) - first));
	}
	if (stack->cut)
		render_put(out, " ...", 4);
}

static void render_step(struct render_out *out, const struct render_step *step,
			const struct ktr_event *event)
{
	char digits[24], *end = digits + sizeof(digits), *first;
	int64_t value;

	switch (step->op) {
	case RENDER_TEXT:
		render_put(out, step->text, step->length);
		return;
	case RENDER_DECIMAL:
		value = render_signed(step, event->arg[step->arg]);
		first = render_decimal(end, value < 0 ? -(uint64_t)value : (uint64_t)value);
		if (value < 0)
			*--first = '-';
		break;
	case RENDER_UNSIGNED:
		first = render_decimal(end, render_unsigned(step, event->arg[step->arg]));
		break;
	case RENDER_HEX:
		first = render_base2(end, render_unsigned(step, event->arg[step->arg]), 4,
				     step->conv == 'X');
		break;
	case RENDER_STRING:
		render_string(out, &event->str[step->arg], SIZE_MAX);
		return;
	case RENDER_INTEGER:
		render_integer(out, step, event);
		return;
	case RENDER_POINTER:
		render_pointer(out, step, event);
		return;
	case RENDER_CHAR:
		render_char(out, step, event);
		return;
	case RENDER_DOUBLE:
		render_double(out, step, event);
		return;
	default:
		render_padded(out, step, event);
		return;
	}
	render_put(out, first, (size_t)(end - first));
}

static uint8_t render_shift(uint8_t size)
{
	switch (size) {
	case KTR__FORMAT_HH:
		return 56;
	case KTR__FORMAT_H:
		return 48;
	case KTR__FORMAT_INT:
		return 32;
	default:
		return 0;
	}
}

/* How to print a number that is neither a pointer nor floating point. */
static void render_plan_integer(struct render_step *step, int is_signed)
{
	int plain = !step->flags && step->width < 0 && step->precision < 0 &&
		    step->width_arg == KTR__FORMAT_NONE && step->precision_arg == KTR__FORMAT_NONE;

	switch (step->conv) {
	case 'c':
	case 'C':
		step->op = RENDER_CHAR;
		return;
	case 'p':
		step->op = RENDER_POINTER;
		return;
	case 'x':
	case 'X':
		step->op = plain ? RENDER_HEX : RENDER_INTEGER;
		return;
	case 'o':
	case 'b':
	case 'B':
		step->op = RENDER_INTEGER;
		return;
	case 'd':
	case 'i':
	case 'u':
		break;
	default: /* a conversion for something else: the whole word, in its own type */
		step->conv = is_signed ? 'd' : 'u';
		step->shift = 0;
	}
	if (!plain)
		step->op = RENDER_INTEGER;
	else
		step->op = step->conv == 'u' ? RENDER_UNSIGNED : RENDER_DECIMAL;
}

static void render_plan_string(struct render_step *step)
{
	if (step->conv != 's') {
		step->width = step->precision = KTR__FORMAT_UNSET;
		step->width_arg = step->precision_arg = KTR__FORMAT_NONE;
	}
	step->op = step->width < 0 && step->precision < 0 && step->width_arg == KTR__FORMAT_NONE &&
				   step->precision_arg == KTR__FORMAT_NONE
			   ? RENDER_STRING
			   : RENDER_PADDED;
}

/* Decides by the argument's type how a conversion prints. */
static void render_plan_conversion(struct render_step *step, enum ktr_arg_type type)
{
	switch (type) {
	case KTR_ARG_STR:
		render_plan_string(step);
		break;
	case KTR_ARG_F64:
		if (!strchr("aAeEfFgG", step->conv))
			step->conv = 'g';
		step->op = RENDER_DOUBLE;
		break;
	case KTR_ARG_PTR:
		if (!strchr("diouxXc", step->conv))
			step->conv = 'p';
		render_plan_integer(step, 0);
		break;
	case KTR_ARG_NONE:
	case KTR_ARG_STACK:
	case KTR_ARG_TYPES:
		step->op = RENDER_TEXT;
		break;
	case KTR_ARG_I8:
	case KTR_ARG_I16:
	case KTR_ARG_I32:
	case KTR_ARG_I64:
		render_plan_integer(step, 1);
		break;
	default:
		render_plan_integer(step, 0);
	}
}

/* Is there such an argument, fit for a width or precision? */
static int render_has_number(const struct ktr_reader_site *site, uint8_t arg)
{
	return arg == KTR__FORMAT_NONE ||
	       (arg < site->n_args && site->arg[arg].type != KTR_ARG_STR &&
		site->arg[arg].type != KTR_ARG_STACK && site->arg[arg].type != KTR_ARG_F64);
}

static void render_plan(const struct ktr_reader_site *site, const struct ktr__format_item *item,
			struct render_step *step)
{
	*step = (struct render_step){
		.text = item->start,
		.length = item->length,
		.op = RENDER_TEXT,
		.arg = item->arg,
		.shift = render_shift(item->size),
		.flags = item->flags,
		.width_arg = item->width_arg,
		.precision_arg = item->precision_arg,
		.conv = item->conv,
		.width = item->width,
		.precision = item->precision,
	};
	if (item->kind != KTR__FORMAT_CONV || item->arg >= site->n_args ||
	    !render_has_number(site, item->width_arg) ||
	    !render_has_number(site, item->precision_arg))
		return;
	render_plan_conversion(step, site->arg[item->arg].type);
}

int ktr__render_prepare(struct ktr_reader_site *site, struct ktr__arena *arena)
{
	struct ktr__format at = KTR__FORMAT(site->format);
	struct ktr__format_item item;
	struct ktr__render *render;
	unsigned n = 0;

	while (ktr__format_next(&at, &item))
		n++;
	render = ktr__arena_alloc(arena, sizeof(*render) + n * sizeof(render->step[0]));
	if (!render)
		return -ENOMEM;
	at = (struct ktr__format)KTR__FORMAT(site->format);
	while (render->n_steps < n && ktr__format_next(&at, &item))
		render_plan(site, &item, &render->step[render->n_steps++]);
	site->render = render;
	return 0;
}

size_t ktr_event_text(const struct ktr_event *event, char *text, size_t n_bytes)
{
	char none[1];
	char *begin = n_bytes ? text : none;
	struct render_out out = { begin, begin + (n_bytes ? n_bytes - 1 : 0), 0 };
	const struct ktr_reader_site *site = event->site;

	if (site->render) {
		for (unsigned i = 0; i < site->render->n_steps; i++)
			render_step(&out, &site->render->step[i], event);
	} else {
		struct ktr__format at = KTR__FORMAT(site->format);
		struct ktr__format_item item;
		struct render_step step;

		while (ktr__format_next(&at, &item)) {
			render_plan(site, &item, &step);
			render_step(&out, &step, event);
		}
	}
	for (unsigned i = 0; i < site->n_args; i++)
		if (site->arg[i].type == KTR_ARG_STACK)
			render_stack(&out, &event->str[i]);
	*out.at = '\0';
	return (size_t)(out.at - begin) + out.missing;
}
