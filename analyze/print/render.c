/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints events as printf would have where they were recorded.
 *
 * printf itself cannot do it: arguments come as 64-bit words with a type known at run time,
 * strings without NUL, and any format may have been recorded. So integers, characters, strings
 * and pointers are formatted here, which is also several times faster; only floating point goes
 * through snprintf, one conversion at a time, with a format made of checked parts.
 *
 * What each conversion prints is decided in render_plan.c. Stacks, which no conversion prints,
 * follow the text.
 */
#include "analyze/print/render.h"

#include "analyze/print/render_plan.h"
#include "analyze/read/tables.h"
#include "analyze/symbols/symbols.h"
#include "conf/kit/copy.h"
#include "conf/kit/decimal.h"
#include "conf/kit/utf8.h"

#include <stdio.h>
#include <string.h>

/* Where the text goes: at <= end; the byte at end is the NUL's. */
struct render_out {
	char *at;
	char *end;
	size_t missing;               /* [bytes] that did not fit */
	struct ktr__symbols *symbols; /* names for addresses, or NULL */
};

static inline void render_put(struct render_out *out, const char *bytes, size_t n)
{
	size_t room = (size_t)(out->end - out->at);

	if (__builtin_expect(n > room, 0)) {
		out->missing += n - room;
		n = room;
	}
	ktr__copy(out->at, bytes, n);
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

/* Digits are made from the last to the first; returns the first. */
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
static inline int64_t render_signed(const struct ktr__render_step *step, uint64_t word)
{
	return (int64_t)(word << step->shift) >> step->shift;
}

static inline uint64_t render_unsigned(const struct ktr__render_step *step, uint64_t word)
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

static struct render_field render_field(const struct ktr__render_step *step,
					const struct ktr_event *event)
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
static void render_number(struct render_out *out, const struct render_field *field,
			  const char *prefix, const char *digits, size_t n_digits)
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
	return negative                      ? "-"
	       : (flags & KTR__FORMAT_PLUS)  ? "+"
	       : (flags & KTR__FORMAT_SPACE) ? " "
					     : "";
}

static void render_integer(struct render_out *out, const struct ktr__render_step *step,
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
		first = ktr__decimal(end, number);
		break;
	default:
		value = render_signed(step, word);
		number = value < 0 ? -(uint64_t)value : (uint64_t)value;
		first = ktr__decimal(end, number);
		prefix = render_sign(value < 0, field.flags);
	}
	if (field.precision == 0 && number == 0)
		first = alternative && step->conv == 'o' ? end - 1 : end;
	render_number(out, &field, prefix, first, (size_t)(end - first));
}

/* The name of an address, or NULL. */
static const char *render_symbol(const struct render_out *out, const struct ktr_event *event,
				 uint64_t address, enum ktr__symbols_kind kind)
{
	if (!out->symbols)
		return NULL;
	return ktr__symbols_at(out->symbols, ktr__tables_proc(event->thread), address, kind);
}

/* As glibc prints pointers, and after it what it points to. */
static void render_pointer(struct render_out *out, const struct ktr__render_step *step,
			   const struct ktr_event *event)
{
	struct render_field field = render_field(step, event);
	uint64_t word = event->arg[step->arg];
	char digits[16], *end = digits + sizeof(digits), *first;
	const char *name;

	if (word) {
		first = render_base2(end, word, 4, 0);
		/* A sign, which means nothing here, is printed all the same. */
		render_number(out, &field,
			      (field.flags & KTR__FORMAT_PLUS)    ? "+0x"
			      : (field.flags & KTR__FORMAT_SPACE) ? " 0x"
								  : "0x",
			      first, (size_t)(end - first));
		name = render_symbol(out, event, word, KTR__SYMBOLS_POINTER);
		if (name) {
			render_put(out, " (", 2);
			render_put(out, name, strlen(name));
			render_put(out, ")", 1);
		}
		return;
	}
	field.flags &= ~KTR__FORMAT_ZERO;
	field.precision = -1;
	render_number(out, &field, "", "(nil)", 5);
}

static void render_char(struct render_out *out, const struct ktr__render_step *step,
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

static void render_padded(struct render_out *out, const struct ktr__render_step *step,
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

static void render_double(struct render_out *out, const struct ktr__render_step *step,
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
static void render_stack(struct render_out *out, const struct ktr_event *event,
			 const struct ktr_event_bytes *stack)
{
	const char *between = out->symbols ? ": " : " ";

	for (uint32_t at = 0; at + 8 <= stack->n_bytes; at += 8) {
		char digits[20], *first;
		const char *name;
		uint64_t pc;

		memcpy(&pc, stack->bytes + at, sizeof(pc));
		name = render_symbol(out, event, pc, KTR__SYMBOLS_RETURN);
		first = render_base2(digits + sizeof(digits), pc, 4, 0);
		first -= 2;
		memcpy(first, "0x", 2);
		render_put(out, between, strlen(between));
		render_put(out, name ? name : first,
			   name ? strlen(name) : (size_t)(digits + sizeof(digits) - first));
		between = out->symbols ? " < " : " ";
	}
	if (stack->cut) {
		render_put(out, between, strlen(between));
		render_put(out, "...", 3);
	}
}

/* Is the group to be said before the id? An id that names its group says it all. */
static inline int render_row_has_name(const struct ktr__render_step *step, const struct ktr_event_bytes *id)
{
	return id->is_null || id->n_bytes < step->length || memcmp(id->bytes, step->text, step->length) != 0;
}

static char *render_row_name(char *at, const struct ktr__render_step *step, const struct ktr_event_bytes *id)
{
	if (!render_row_has_name(step, id))
		return at;
	memcpy(at, step->text, step->length);
	at[step->length] = ' ';
	return at + step->length + 1;
}

/* The row of a state and its kin. */
static void render_row(struct render_out *out, const struct ktr__render_step *step, const struct ktr_event *event)
{
	const struct ktr_event_bytes *id = &event->str[step->arg];

	if (render_row_has_name(step, id)) {
		render_put(out, step->text, step->length);
		render_put(out, " ", 1);
	}
	render_string(out, id, SIZE_MAX);
}

static void render_step(struct render_out *out, const struct ktr__render_step *step,
			const struct ktr_event *event)
{
	char digits[24], *end = digits + sizeof(digits), *first;
	int64_t value;

	switch (step->op) {
	case KTR__RENDER_TEXT:
		render_put(out, step->text, step->length);
		return;
	case KTR__RENDER_DECIMAL:
		value = render_signed(step, event->arg[step->arg]);
		first = ktr__decimal(end, value < 0 ? -(uint64_t)value : (uint64_t)value);
		if (value < 0)
			*--first = '-';
		break;
	case KTR__RENDER_UNSIGNED:
		first = ktr__decimal(end, render_unsigned(step, event->arg[step->arg]));
		break;
	case KTR__RENDER_HEX:
		first = render_base2(end, render_unsigned(step, event->arg[step->arg]), 4,
				     step->conv == 'X');
		break;
	case KTR__RENDER_STRING:
		render_string(out, &event->str[step->arg], SIZE_MAX);
		return;
	case KTR__RENDER_INTEGER:
		render_integer(out, step, event);
		return;
	case KTR__RENDER_POINTER:
		render_pointer(out, step, event);
		return;
	case KTR__RENDER_CHAR:
		render_char(out, step, event);
		return;
	case KTR__RENDER_DOUBLE:
		render_double(out, step, event);
		return;
	case KTR__RENDER_ROW:
		render_row(out, step, event);
		return;
	default:
		render_padded(out, step, event);
		return;
	}
	render_put(out, first, (size_t)(end - first));
}

/*
 * [bytes] that the strings take which a conversion may print, as often as there are steps. plain, where it is not
 * NULL, is cleared if they are anything but printable ASCII.
 */
static inline size_t render_strings(const struct ktr_event *event, unsigned n_steps, int *plain)
{
	size_t n = 0;

	for (unsigned left = event->site->in_str; left; left &= left - 1) {
		const struct ktr_event_bytes *str = &event->str[__builtin_ctz(left)];

		n += str->n_bytes;
		if (plain)
			*plain &= ktr__utf8_is_plain(str->bytes, str->n_bytes);
	}
	return n * n_steps;
}

/* Simple steps, where there is room for all they can take: straight to where it goes. The end. */
static char *render_simple(char *at, const struct ktr__render_step *step, unsigned n, const struct ktr_event *event)
{
	for (const struct ktr__render_step *end = step + n; step < end; step++) {
		uint64_t word = event->arg[step->arg < KTR_ARGS_MAX ? step->arg : 0], number;
		const struct ktr_event_bytes *str;
		char digits[16], *first;

		switch (step->op) {
		case KTR__RENDER_TEXT:
			memcpy(at, step->text, KTR__RENDER_PIECE);
			if (step->length > KTR__RENDER_PIECE)
				memcpy(at + KTR__RENDER_PIECE, step->text + KTR__RENDER_PIECE,
				       step->length - KTR__RENDER_PIECE);
			at += step->length;
			break;
		case KTR__RENDER_DECIMAL:
			number = (uint64_t)render_signed(step, word);
			if ((int64_t)number < 0) {
				*at++ = '-';
				number = -number;
			}
			at = ktr__decimal_put(at, number);
			break;
		case KTR__RENDER_UNSIGNED:
			at = ktr__decimal_put(at, render_unsigned(step, word));
			break;
		case KTR__RENDER_HEX:
			number = render_unsigned(step, word);
			first = render_base2(digits + sizeof(digits), number, 4, step->conv == 'X');
			ktr__copy(at, first, (size_t)(digits + sizeof(digits) - first));
			at += digits + sizeof(digits) - first;
			break;
		case KTR__RENDER_ROW:
			at = render_row_name(at, step, &event->str[step->arg]);
			__attribute__((fallthrough));
		default:
			str = &event->str[step->arg];
			if (str->is_null) {
				memcpy(at, "(null)", 6);
				at += 6;
				break;
			}
			if (str->n_bytes)
				ktr__copy(at, str->bytes, str->n_bytes);
			at += str->n_bytes;
			if (str->cut) {
				memcpy(at, "...", 3);
				at += 3;
			}
		}
	}
	return at;
}

/* The same as by render_step() where it can be. Was it? plain, where it is not NULL: is it printable ASCII? */
static inline int render_at_once(const struct ktr__render *render, int said, const struct ktr_event *event,
				 char *text, size_t n_bytes, size_t *n, int *plain)
{
	const struct ktr__render_step *step = render->step + (said ? render->n_steps : 0);
	unsigned n_steps = said ? render->n_said : render->n_steps;
	char *end;

	if (plain)
		*plain = render->is_plain;
	if (!render->is_simple || n_bytes <= render->n_simple ||
	    n_bytes - render->n_simple <= render_strings(event, n_steps, plain))
		return 0;
	end = render_simple(text, step, n_steps, event);
	*end = '\0';
	*n = (size_t)(end - text);
	return 1;
}

size_t ktr__render_line(const struct ktr_event *event, struct ktr__symbols *symbols, int said, char *text,
			size_t n_bytes, int *plain)
{
	const struct ktr__render *render = event->site->render;
	size_t n;

	if (render && render_at_once(render, said && render->n_said, event, text, n_bytes, &n, plain))
		return n;
	*plain = 0;
	return said ? ktr__render_said(event, symbols, text, n_bytes) :
		      ktr__render_event(event, symbols, text, n_bytes);
}

size_t ktr_event_text(const struct ktr_event *event, char *text, size_t n_bytes)
{
	return ktr__render_event(event, NULL, text, n_bytes);
}

size_t ktr__render_said(const struct ktr_event *event, struct ktr__symbols *symbols, char *text, size_t n_bytes)
{
	const struct ktr__render *render = event->site->render;
	char none[1], *begin = n_bytes ? text : none;
	struct render_out out = { begin, begin + (n_bytes ? n_bytes - 1 : 0), 0, symbols };
	size_t n;

	if (!render || !render->n_said)
		return ktr__render_event(event, symbols, text, n_bytes);
	if (render_at_once(render, 1, event, text, n_bytes, &n, NULL))
		return n;
	for (unsigned i = 0; i < render->n_said; i++)
		render_step(&out, &render->step[render->n_steps + i], event);
	*out.at = '\0';
	return (size_t)(out.at - begin) + out.missing;
}

size_t ktr__render_attributes(const struct ktr_event *event, char *text, size_t n_bytes)
{
	const struct ktr__render *render = event->site->render;
	char none[1], *begin = n_bytes ? text : none;
	struct render_out out = { begin, begin + (n_bytes ? n_bytes - 1 : 0), 0, NULL };
	unsigned n = render ? render->n_steps + render->n_said : 0;

	for (unsigned i = n - (render ? render->n_attributes : 0); i < n; i++) {
		char *from = out.at;

		render_step(&out, &render->step[i], event);
		for (; render->step[i].op == KTR__RENDER_TEXT && from < out.at; from++)
			*from = *from == ':' ? '=' : *from;
	}
	*out.at = '\0';
	return (size_t)(out.at - begin) + out.missing;
}

size_t ktr__render_said_format(const struct ktr_reader_site *site, char *text, size_t n_bytes)
{
	const struct ktr__render *render = site->render;
	char none[1], *begin = n_bytes ? text : none;
	struct render_out out = { begin, begin + (n_bytes ? n_bytes - 1 : 0), 0, NULL };

	if (!render || !render->n_said)
		render_put(&out, site->format, strlen(site->format));
	for (unsigned i = 0; render && i < render->n_said; i++) {
		const struct ktr__render_step *step = &render->step[render->n_steps + i];

		render_put(&out, step->text, step->length);
		if (step->op == KTR__RENDER_ROW)
			render_put(&out, " %s", 3);
	}
	*out.at = '\0';
	return (size_t)(out.at - begin) + out.missing;
}

size_t ktr__render_event(const struct ktr_event *event, struct ktr__symbols *symbols, char *text,
			 size_t n_bytes)
{
	char none[1];
	char *begin = n_bytes ? text : none;
	struct render_out out = { begin, begin + (n_bytes ? n_bytes - 1 : 0), 0, symbols };
	const struct ktr_reader_site *site = event->site;
	size_t n;

	if (site->render && render_at_once(site->render, 0, event, text, n_bytes, &n, NULL))
		return n;
	if (site->render) {
		for (unsigned i = 0; i < site->render->n_steps; i++)
			render_step(&out, &site->render->step[i], event);
	} else {
		struct ktr__format at = KTR__FORMAT(site->format);
		struct ktr__format_item item;
		struct ktr__render_step step;

		while (ktr__format_next(&at, &item)) {
			ktr__render_plan(site, &item, &step);
			render_step(&out, &step, event);
		}
	}
	for (unsigned i = 0; i < site->n_args; i++)
		if (site->arg[i].type == KTR_ARG_STACK)
			render_stack(&out, event, &event->str[i]);
	*out.at = '\0';
	return (size_t)(out.at - begin) + out.missing;
}
