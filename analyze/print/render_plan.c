/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides, once per call site, how each conversion of its format prints.
 *
 * Where a conversion and its argument do not fit, the argument's type decides and not the
 * conversion: a double prints as a double, a string as a string. A conversion without an
 * argument, and one that printf does not know, prints as it stands.
 */
#include "analyze/print/render_plan.h"

#include "analyze/print/render.h"
#include "conf/kit/utf8.h"

#include <errno.h>
#include <string.h>

static uint8_t render_plan_shift(uint8_t size)
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
static void render_plan_integer(struct ktr__render_step *step, int is_signed)
{
	int plain = !step->flags && step->width < 0 && step->precision < 0 &&
		    step->width_arg == KTR__FORMAT_NONE && step->precision_arg == KTR__FORMAT_NONE;

	switch (step->conv) {
	case 'c':
	case 'C':
		step->op = KTR__RENDER_CHAR;
		return;
	case 'p':
		step->op = KTR__RENDER_POINTER;
		return;
	case 'x':
	case 'X':
		step->op = plain ? KTR__RENDER_HEX : KTR__RENDER_INTEGER;
		return;
	case 'o':
	case 'b':
	case 'B':
		step->op = KTR__RENDER_INTEGER;
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
		step->op = KTR__RENDER_INTEGER;
	else
		step->op = step->conv == 'u' ? KTR__RENDER_UNSIGNED : KTR__RENDER_DECIMAL;
}

static void render_plan_string(struct ktr__render_step *step)
{
	if (step->conv != 's') {
		step->width = step->precision = KTR__FORMAT_UNSET;
		step->width_arg = step->precision_arg = KTR__FORMAT_NONE;
	}
	step->op = step->width < 0 && step->precision < 0 && step->width_arg == KTR__FORMAT_NONE &&
				   step->precision_arg == KTR__FORMAT_NONE
			   ? KTR__RENDER_STRING
			   : KTR__RENDER_PADDED;
}

/* Decides by the argument's type how a conversion prints. */
static void render_plan_type(struct ktr__render_step *step, enum ktr_arg_type type)
{
	switch (type) {
	case KTR_ARG_STR:
		render_plan_string(step);
		break;
	case KTR_ARG_F64:
		if (!strchr("aAeEfFgG", step->conv))
			step->conv = 'g';
		step->op = KTR__RENDER_DOUBLE;
		break;
	case KTR_ARG_PTR:
		if (!strchr("diouxXc", step->conv))
			step->conv = 'p';
		render_plan_integer(step, 0);
		break;
	case KTR_ARG_NONE:
	case KTR_ARG_STACK:
	case KTR_ARG_TYPES:
		step->op = KTR__RENDER_TEXT;
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
static int render_plan_has_number(const struct ktr_reader_site *site, uint8_t arg)
{
	return arg == KTR__FORMAT_NONE ||
	       (arg < site->n_args && site->arg[arg].type != KTR_ARG_STR &&
		site->arg[arg].type != KTR_ARG_STACK && site->arg[arg].type != KTR_ARG_F64);
}

void ktr__render_plan(const struct ktr_reader_site *site, const struct ktr__format_item *item,
		      struct ktr__render_step *step)
{
	*step = (struct ktr__render_step){
		.text = item->start,
		.length = item->length,
		.op = KTR__RENDER_TEXT,
		.arg = item->arg,
		.shift = render_plan_shift(item->size),
		.flags = item->flags,
		.width_arg = item->width_arg,
		.precision_arg = item->precision_arg,
		.conv = item->conv,
		.width = item->width,
		.precision = item->precision,
	};
	if (item->kind != KTR__FORMAT_CONV || item->arg >= site->n_args ||
	    !render_plan_has_number(site, item->width_arg) ||
	    !render_plan_has_number(site, item->precision_arg))
		return;
	render_plan_type(step, site->arg[item->arg].type);
}

static struct ktr__render_step render_plan_text(const char *text)
{
	return (struct ktr__render_step){ .op = KTR__RENDER_TEXT, .text = text, .length = (uint32_t)strlen(text) };
}

/* Attributes, after "attributes: " in the steps of the format as it stands; "none" is not said. How many steps. */
static unsigned render_plan_attributes(const struct ktr__render *render, unsigned at, struct ktr__render_step *to)
{
	static const char word[] = "attributes: ";
	const char *text;
	unsigned n = 0;

	for (; at < render->n_steps; at++) {
		const struct ktr__render_step *step = &render->step[at];

		to[n] = *step;
		if (n++)
			continue;
		text = step->op == KTR__RENDER_TEXT ? memmem(step->text, step->length, word, strlen(word)) : NULL;
		if (!text || (size_t)(step->text + step->length - text) < sizeof(word))
			return 0;
		text += strlen(word);
		to[0].length = (uint32_t)(step->text + step->length - text);
		to[0].text = text;
		if (to[0].length == 4 && memcmp(text, "none", 4) == 0)
			return 0;
		to[1] = to[0];
		to[0] = render_plan_text(", ");
		n = 2;
	}
	return n;
}

/*
 * States and their kin as people say them: "worker 3: waiting, shard:7", "queue files = 12", "file a.c starts, key
 * 0x7", "worker 3: point woken". The key of a scope is an address, which says nothing. How many steps, at most 5
 * more than the format has.
 */
static unsigned render_plan_said(const struct ktr_reader_site *site, struct ktr__render *render,
				 struct ktr__render_step *to)
{
	static const char *const words[] = { [KTR_KIND_STATE] = ": ",	   [KTR_KIND_COUNTER] = " = ",
					     [KTR_KIND_POINT] = ": point ", [KTR_KIND_START] = " starts",
					     [KTR_KIND_STOP] = " ends" };
	int has_key = site->kind == KTR_KIND_START || site->kind == KTR_KIND_STOP;
	unsigned n = 0, value = 0, attributes;

	while (value < render->n_steps && (render->step[value].op == KTR__RENDER_TEXT ||
					   render->step[value].arg != site->value_arg))
		value++;
	if (site->kind == KTR_KIND_EVENT || value == render->n_steps)
		return 0;
	if (site->ident)
		to[n++] = render_plan_text(site->ident);
	else
		to[n++] = (struct ktr__render_step){ .op = KTR__RENDER_ROW,
						     .text = site->group,
						     .length = (uint32_t)strlen(site->group) };
	to[n++] = render_plan_text(words[site->kind]);
	if (has_key && !site->ident)
		to[n++] = render_plan_text(", key 0x");
	if (!has_key || !site->ident)
		to[n++] = render->step[value];
	attributes = render_plan_attributes(render, value + 1, to + n);
	render->n_attributes = attributes ? attributes - 1 : 0;
	return n + attributes;
}

/* Texts move to where there is something after them. 0 or -ENOMEM. */
static int render_plan_pad(struct ktr__render *render, struct ktr__arena *arena)
{
	for (unsigned i = 0; i < render->n_steps + render->n_said; i++) {
		struct ktr__render_step *step = &render->step[i];
		char *text = step->op == KTR__RENDER_TEXT
				     ? ktr__arena_alloc(arena, step->length + (size_t)KTR__RENDER_PIECE)
				     : NULL;

		if (step->op != KTR__RENDER_TEXT)
			continue;
		if (!text)
			return -ENOMEM;
		memcpy(text, step->text, step->length);
		memset(text + step->length, 0, KTR__RENDER_PIECE);
		step->text = text;
	}
	return 0;
}

/* [bytes] that a number may take; of a string, "(null)" and "...". */
#define RENDER_PLAN_MOST 24u

/* Can these be printed without a look at the room for each? Adds up what they take. */
static int render_plan_is_simple(const struct ktr_reader_site *site, const struct ktr__render_step *step,
				 unsigned n, size_t *n_bytes)
{
	int is_simple = 1;

	*n_bytes = KTR__RENDER_PIECE;
	for (unsigned i = 0; i < n; i++) {
		is_simple &= step[i].op <= KTR__RENDER_STRING || step[i].op == KTR__RENDER_ROW;
		*n_bytes += step[i].op != KTR__RENDER_TEXT ? RENDER_PLAN_MOST : 0;
		*n_bytes += step[i].op == KTR__RENDER_TEXT || step[i].op == KTR__RENDER_ROW ? step[i].length : 0;
	}
	for (unsigned i = 0; i < site->n_args; i++)
		is_simple &= site->arg[i].type != KTR_ARG_STACK;
	return is_simple;
}

static void render_plan_simple(const struct ktr_reader_site *site, struct ktr__render *render)
{
	unsigned n = render->n_steps + render->n_said;
	size_t n_said = 0;

	render->is_simple = render_plan_is_simple(site, render->step, render->n_steps, &render->n_simple) &&
			    render_plan_is_simple(site, render->step + render->n_steps, render->n_said, &n_said);
	if (n_said > render->n_simple)
		render->n_simple = n_said;
	render->is_plain = render->is_simple;
	for (const struct ktr__render_step *step = render->step; step < render->step + n; step++)
		if (step->op == KTR__RENDER_TEXT || step->op == KTR__RENDER_ROW)
			render->is_plain &= ktr__utf8_is_plain(step->text, step->length);
}

int ktr__render_prepare(struct ktr_reader_site *site, struct ktr__arena *arena)
{
	struct ktr__format at = KTR__FORMAT(site->format);
	struct ktr__format_item item;
	struct ktr__render *render;
	unsigned n = 0;

	while (ktr__format_next(&at, &item))
		n++;
	render = ktr__arena_alloc(arena, sizeof(*render) + (2 * n + 6) * sizeof(render->step[0]));
	if (!render)
		return -ENOMEM;
	at = (struct ktr__format)KTR__FORMAT(site->format);
	while (render->n_steps < n && ktr__format_next(&at, &item))
		ktr__render_plan(site, &item, &render->step[render->n_steps++]);
	render->n_said = render_plan_said(site, render, render->step + render->n_steps);
	render_plan_simple(site, render);
	if (render_plan_pad(render, arena))
		return -ENOMEM;
	site->render = render;
	return 0;
}
