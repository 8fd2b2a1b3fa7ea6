/* SPDX-License-Identifier: BSD-2-Clause */
/* See csv_line.h. */
#include "visualize/export/csv_line.h"

#include "analyze/print/render.h"
#include "conf/kit/copy.h"
#include "conf/kit/decimal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SHORT 16u /* [bytes] of a text that is copied by fewer words */

enum line_op {
	LINE_NONE, /* text alone */
	LINE_SIGNED,
	LINE_UNSIGNED,
	LINE_AGAIN, /* a number as it was printed before */
	LINE_HEX,
	LINE_STRING, /* as printf would print it */
	LINE_BYTES   /* of a string those that were recorded */
};

/* ---- making one ---- */

/* A line while it is made. Its texts stand behind its steps. */
struct line_maker {
	struct ktr__csv_line *line;
	char *at;	  /* where the next text goes, or goes on */
	unsigned printed; /* numbers that were printed whole, a bit each */
};

static struct ktr__csv_step *line_step(struct line_maker *maker, enum line_op op, unsigned arg)
{
	struct ktr__csv_step *step = &maker->line->step[maker->line->n_steps++];

	maker->at += KTR__CSV_PIECE;
	*step = (struct ktr__csv_step){ .op = (uint8_t)op, .arg = (uint8_t)arg, .text = maker->at };
	return step;
}

/* What the last step has after its value. */
static void line_text(struct line_maker *maker, const char *text, size_t n, int is_quoted)
{
	struct ktr__csv_step *step = &maker->line->step[maker->line->n_steps - 1];

	for (size_t i = 0; i < n; i++) {
		*maker->at++ = text[i];
		if (is_quoted && text[i] == '"')
			*maker->at++ = '"';
	}
	step->length = (uint32_t)(maker->at - step->text);
}

static int line_is_odd(const struct ktr__render *render)
{
	for (unsigned i = 0; i < render->n_steps; i++)
		if (render->step[i].op == KTR__RENDER_TEXT &&
		    ktr__utf8_any(render->step[i].text, render->step[i].length, ktr__csv_odd_word))
			return 1;
	return 0;
}

static int line_is_unsigned(enum ktr_arg_type type)
{
	return type == KTR_ARG_U8 || type == KTR_ARG_U16 || type == KTR_ARG_U32 || type == KTR_ARG_U64;
}

/* Does the conversion print all of the number, as a field shows it? */
static int line_is_whole(const struct ktr__render_step *step, enum ktr_arg_type type)
{
	int is_narrow = type != KTR_ARG_I64 && type != KTR_ARG_U64;

	if (step->op == KTR__RENDER_DECIMAL ? type < KTR_ARG_I8 || type > KTR_ARG_I64 : !line_is_unsigned(type))
		return 0;
	return step->shift == 0 || (step->shift == 32 && is_narrow);
}

static void line_number(struct line_maker *maker, const struct ktr__render_step *step,
			const struct ktr_reader_site *site)
{
	enum line_op op = step->op == KTR__RENDER_HEX	      ? LINE_HEX
			  : step->op == KTR__RENDER_DECIMAL ? LINE_SIGNED
							      : LINE_UNSIGNED;
	struct ktr__csv_step *to = line_step(maker, op, step->arg);

	to->shift = step->shift;
	to->is_upper = step->conv == 'X';
	if (op != LINE_HEX && line_is_whole(step, site->arg[step->arg].type))
		maker->printed |= 1u << step->arg;
	else
		maker->printed &= ~(1u << step->arg);
}

/* As the site's own steps print it, between quotes if something in it is odd. */
static void line_message(struct line_maker *maker, const struct ktr_reader_site *site)
{
	int is_odd = line_is_odd(site->render);

	line_text(maker, "\"", (size_t)is_odd, 0);
	for (unsigned i = 0; i < site->render->n_steps; i++) {
		const struct ktr__render_step *step = &site->render->step[i];

		if (step->op == KTR__RENDER_TEXT)
			line_text(maker, step->text, step->length, is_odd);
		else if (step->op == KTR__RENDER_STRING)
			line_step(maker, LINE_STRING, step->arg);
		else
			line_number(maker, step, site);
	}
	line_text(maker, "\"", (size_t)is_odd, 0);
}

static void line_arg(struct line_maker *maker, enum ktr_arg_type type, unsigned i)
{
	if (type == KTR_ARG_STR) {
		line_step(maker, LINE_BYTES, i);
		maker->line->field[maker->line->n_fields++] = (uint8_t)i;
	} else if (type == KTR_ARG_PTR) {
		line_text(maker, "0x", 2, 0);
		line_step(maker, LINE_HEX, i);
	} else if (maker->printed >> i & 1) {
		line_step(maker, LINE_AGAIN, i);
	} else {
		line_step(maker, line_is_unsigned(type) ? LINE_UNSIGNED : LINE_SIGNED, i);
	}
}

static void line_args(struct line_maker *maker, const struct ktr_reader_site *site)
{
	for (unsigned i = 0; i < KTR_ARGS_MAX; i++) {
		line_text(maker, ",", i != 0, 0);
		if (i < site->n_args)
			line_arg(maker, site->arg[i].type, i);
	}
	line_text(maker, "\r\n", 2, 0);
}

/*
 * Its message begins with text, and not like a formula; it is simple, and printable ASCII if its strings are; no
 * number is a double.
 */
static int line_can(const struct ktr_reader_site *site)
{
	const struct ktr__render *render = site->render;

	if (!render || !render->is_plain || !render->n_steps || render->step[0].op != KTR__RENDER_TEXT ||
	    !ktr__csv_begins_well(render->step[0].text, render->step[0].length) ||
	    render->n_simple >= KTR__CSV_FIELD)
		return 0;
	for (unsigned i = 0; i < site->n_args; i++)
		if (site->arg[i].type == KTR_ARG_F64 || site->arg[i].type == KTR_ARG_STACK)
			return 0;
	return 1;
}

int ktr__csv_line_new(struct ktr__csv_line **out, const struct ktr_reader_site *site, const char *place,
		      const char *names)
{
	const struct ktr__render *render = site->render;
	struct line_maker maker = { 0 };
	size_t n_steps, n_bytes;

	*out = NULL;
	if (!line_can(site))
		return 0;
	n_steps = 1 + render->n_steps + KTR_ARGS_MAX;
	n_bytes = strlen(place) + strlen(names) + 2 * render->n_simple + (n_steps + 1) * (KTR__CSV_PIECE + 4);
	maker.line = calloc(1, sizeof(*maker.line) + n_steps * sizeof(maker.line->step[0]) + n_bytes);
	if (!maker.line)
		return -ENOMEM;
	maker.at = (char *)&maker.line->step[n_steps];
	line_step(&maker, LINE_NONE, 0);
	line_text(&maker, place, strlen(place), 0);
	line_message(&maker, site);
	line_text(&maker, names, strlen(names), 0);
	line_args(&maker, site);
	maker.line->n_strings = (KTR__CSV_FIELD - 1 - (uint32_t)render->n_simple) / render->n_steps;
	*out = maker.line;
	return 0;
}

/* ---- printing one ---- */

static inline char *line_put_hex(char *at, uint64_t number, int is_upper)
{
	const char *digits = is_upper ? "0123456789ABCDEF" : "0123456789abcdef";
	unsigned n = (67 - (unsigned)__builtin_clzll(number | 1)) / 4;

	for (unsigned i = n; i-- > 0; number >>= 4)
		at[i] = digits[number & 15];
	return at + n;
}

static inline char *line_put_signed(char *at, int64_t number)
{
	*at = '-';
	return ktr__decimal_put(at + (number < 0), number < 0 ? -(uint64_t)number : (uint64_t)number);
}

static inline char *line_put_string(char *at, const struct ktr_event_bytes *str)
{
	if (str->is_null) {
		memcpy(at, "(null)", 6);
		return at + 6;
	}
	ktr__copy(at, str->bytes, str->n_bytes);
	at += str->n_bytes;
	if (str->cut) {
		memcpy(at, "...", 3);
		at += 3;
	}
	return at;
}

static inline char *line_put_text(char *at, const struct ktr__csv_step *step)
{
	memcpy(at, step->text, LINE_SHORT);
	if (step->length > LINE_SHORT)
		memcpy(at + LINE_SHORT, step->text + LINE_SHORT, KTR__CSV_PIECE - LINE_SHORT);
	if (step->length > KTR__CSV_PIECE)
		memcpy(at + KTR__CSV_PIECE, step->text + KTR__CSV_PIECE, step->length - KTR__CSV_PIECE);
	return at + step->length;
}

char *ktr__csv_line_put(const struct ktr__csv_line *line, const struct ktr_event *event, char *at)
{
	const char *printed[KTR_ARGS_MAX], *from; /* numbers: where the last printing of them is, and ends */
	unsigned n_printed[KTR_ARGS_MAX];
	const struct ktr__csv_step *end = line->step + line->n_steps;

	for (const struct ktr__csv_step *step = line->step; step < end; step++) {
		unsigned i = step->arg;

		switch (step->op) {
		case LINE_NONE:
			break;
		case LINE_SIGNED:
			from = at;
			at = line_put_signed(at, (int64_t)(event->arg[i] << step->shift) >> step->shift);
			printed[i] = from;
			n_printed[i] = (unsigned)(at - from);
			break;
		case LINE_UNSIGNED:
			from = at;
			at = ktr__decimal_put(at, event->arg[i] << step->shift >> step->shift);
			printed[i] = from;
			n_printed[i] = (unsigned)(at - from);
			break;
		case LINE_AGAIN:
			memmove(at, printed[i], KTR__DECIMAL_MAX + 4);
			at += n_printed[i];
			break;
		case LINE_HEX:
			at = line_put_hex(at, event->arg[i] << step->shift >> step->shift, step->is_upper);
			break;
		case LINE_STRING:
			at = line_put_string(at, &event->str[i]);
			break;
		default:
			ktr__copy(at, event->str[i].bytes, event->str[i].n_bytes);
			at += event->str[i].n_bytes;
		}
		at = line_put_text(at, step);
	}
	return at;
}
