/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Splits the text of arguments as a compiler would, and takes off what says nothing of a value but its type. One
 * grammar for the names in a trace's metadata and in the readers; ktr/record/trigger.c finds arguments by them.
 *
 * Whether "(x) - y" is a cast cannot be told without knowing x. In front of what may be a binary operator x has to
 * look like a type; in front of a name, a number or a bracket it is taken for one, for nothing else may stand there
 * but a call of a function in brackets.
 */
#include "writer/format/arg_name.h"

#include <stdbool.h>
#include <string.h>

/* Casts and brackets around each other that are taken off: each costs a look at the rest, and any text comes. */
#define ARG_LAYERS 16

static bool arg_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool arg_is_one_of(char c, const char *set)
{
	return c && strchr(set, c) != NULL;
}

/* Behind one character, one text in quotes, or what the bracket at p encloses. p is before end. */
static const char *arg_step(const char *p, const char *end)
{
	int depth = 0;

	do {
		char c = *p++;

		if (c == '"' || c == '\'') {
			while (p < end && *p != c)
				p += *p == '\\' && end - p > 1 ? 2 : 1;
			p += p < end;
		}
		depth += arg_is_one_of(c, "([{") - arg_is_one_of(c, ")]}");
	} while (depth > 0 && p < end);
	return p;
}

static void arg_trim(const char **from, const char **to)
{
	while (*from < *to && arg_is_one_of(**from, " \t"))
		++*from;
	while (*to > *from && arg_is_one_of((*to)[-1], " \t"))
		--*to;
}

/* Is [from, to) a type, whatever stands after it? */
static bool arg_is_type(const char *from, const char *to)
{
	static const char words[] = " void char short int long float double signed unsigned bool _Bool struct union"
				    " enum const volatile ";
	char word[12] = " ";
	size_t n = 1;

	if (to - from > 2 && (to[-1] == '*' || (to[-2] == '_' && to[-1] == 't')))
		return true;
	for (; from < to && arg_is_word(*from) && n < sizeof(word) - 2; n++)
		word[n] = *from++;
	word[n] = ' ';
	return n > 1 && strstr(words, word);
}

/* Is [from, to) in brackets a cast, where next stands after them? */
static bool arg_is_cast(const char *from, const char *to, char next)
{
	arg_trim(&from, &to);
	if (arg_is_one_of(next, "*&+-"))
		return arg_is_type(from, to);
	for (const char *p = from; p < to; p++)
		if (!arg_is_word(*p) && !arg_is_one_of(*p, " \t*:<>&,"))
			return false;
	return from < to && (arg_is_word(next) || arg_is_one_of(next, "(\"'~!"));
}

/* The bracket of "static_cast<int>(n)" or "uint8_t(n)" in [from, to), if there is one and it ends at to. */
static const char *arg_cast_by_name(const char *from, const char *to)
{
	const char *p = from;
	int depth = 0;

	while (p < to && arg_is_word(*p))
		p++;
	if (p < to && *p == '<' && p - from > 5 && memcmp(p - 5, "_cast", 5) == 0) {
		do
			depth += (*p == '<') - (*p == '>');
		while (++p < to && depth > 0);
	} else if (!arg_is_type(from, p)) {
		return NULL;
	}
	return p < to && *p == '(' && arg_step(p, to) == to && to[-1] == ')' ? p : NULL;
}

const char *ktr__arg_name(const char *text, const char *end, const char **from, const char **to)
{
	const char *p = text;

	while (p < end && *p != ',')
		p = arg_step(p, end);
	*from = text;
	*to = p;
	for (unsigned layer = 0; layer < ARG_LAYERS; layer++) {
		const char *after, *next, *open;

		arg_trim(from, to);
		open = *from < *to && **from == '(' ? *from : arg_cast_by_name(*from, *to);
		if (!open)
			break;
		after = arg_step(open, *to);
		if (after == *to && after[-1] == ')') {
			*from = open + 1;
			--*to;
			continue;
		}
		for (next = after; next < *to && arg_is_one_of(*next, " \t");)
			next++;
		if (next == *to || !arg_is_cast(open + 1, after - 1, *next))
			break;
		*from = next;
	}
	return p + (p < end);
}
