/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cuts an expression into words. Texts are unescaped into the expression's pool, which has room for them
 * from the start: none grows by that.
 */
#include "conf/expr/expr_lex.h"

#include "conf/eval/expr_eval.h"
#include "conf/expr/expr.h"
#include "conf/number.h"
#include "conf/value.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* [bytes] The longest number, with its unit. */
#define EXPR_LEX_NUMBER_BYTES 64

int ktr__expr_wrong(struct ktr__expr_lex *lex, unsigned column, const char *format, ...)
{
	char text[KTR_ERROR_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return ktr_error_at(lex->err, NULL, 0, column, EINVAL, "%s", text);
}

static int expr_lex_is_letter(char c)
{
	return (ktr__lower(c) >= 'a' && ktr__lower(c) <= 'z') || c == '_' ||
	       (unsigned char)c >= 0x80;
}

/* Ends a text that was put into the pool from `begin` on. */
static void expr_lex_close(struct ktr__expr_lex *lex, size_t begin)
{
	struct ktr__expr *expr = lex->expr;

	lex->value = ktr__expr_text(expr->texts + begin, expr->n_texts - begin);
	expr->texts[expr->n_texts++] = '\0';
}

static void expr_lex_put(struct ktr__expr_lex *lex, char c)
{
	lex->expr->texts[lex->expr->n_texts++] = c;
}

/* The byte after a backslash at *at, which moves to the escape's last letter. */
static char expr_lex_escape(const char **at)
{
	static const char letters[] = "ntr0", bytes[] = "\n\t\r";
	const char *p = *at, *found = strchr(letters, *p);

	if (*p == 'x' && ktr__hex_digit(p[1]) < 16 && ktr__hex_digit(p[2]) < 16) {
		*at = p + 2;
		return (char)(ktr__hex_digit(p[1]) * 16 + ktr__hex_digit(p[2]));
	}
	return found && *found ? bytes[found - letters] : *p;
}

/* "..." or '...' */
static int expr_lex_quoted(struct ktr__expr_lex *lex)
{
	size_t begin = lex->expr->n_texts;
	char quote = *lex->at++;

	for (; *lex->at != quote; lex->at++) {
		char c = *lex->at;

		if (!c)
			return ktr__expr_wrong(lex, lex->column,
					       "this text has no end: a %c is missing", quote);
		if (c == '\\' && lex->at[1]) {
			lex->at++;
			c = expr_lex_escape(&lex->at);
		}
		expr_lex_put(lex, c);
	}
	lex->at++;
	lex->token = KTR__EXPR_TOK_TEXT;
	expr_lex_close(lex, begin);
	return 0;
}

/* /.../ or /.../i: only the slash needs a backslash of ours, the rest is regcomp(3)'s. */
static int expr_lex_regex(struct ktr__expr_lex *lex)
{
	size_t begin = lex->expr->n_texts;

	for (lex->at++; *lex->at != '/'; lex->at++) {
		if (!*lex->at)
			return ktr__expr_wrong(
				lex, lex->column,
				"this regular expression has no end: a / is missing");
		if (lex->at[0] == '\\' && lex->at[1] == '/')
			lex->at++;
		else if (lex->at[0] == '\\' && lex->at[1])
			expr_lex_put(lex, *lex->at++);
		expr_lex_put(lex, *lex->at);
	}
	lex->at++;
	lex->no_case = *lex->at == 'i';
	lex->at += lex->no_case;
	lex->token = KTR__EXPR_TOK_REGEX;
	expr_lex_close(lex, begin);
	return 0;
}

/* A bare word: up to what could not belong to a name. "net|lock" is one, "net||x" is "net". */
static void expr_lex_word(struct ktr__expr_lex *lex)
{
	size_t begin = lex->expr->n_texts;

	for (; *lex->at && !strchr(" \t\r\n\"'()&,!<>=", *lex->at); lex->at++) {
		if (lex->at[0] == '|' && (lex->at[1] == '|' || !expr_lex_is_letter(lex->at[1])))
			break;
		expr_lex_put(lex, *lex->at);
	}
	lex->token = KTR__EXPR_TOK_TEXT;
	lex->bare = 1;
	expr_lex_close(lex, begin);
}

static int expr_lex_real(struct ktr__expr_lex *lex, const char *text)
{
	locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	double real;
	char *end;

	if (!c_locale)
		return ktr_error_at(lex->err, NULL, 0, lex->column, ENOMEM, "no memory");
	real = strtod_l(text, &end, c_locale);
	freelocale(c_locale);
	if (*end)
		return ktr__expr_wrong(lex, lex->column, "\"%s\" is not a number", text);
	lex->value.kind = KTR__EXPR_REAL;
	memcpy(&lex->value.bits, &real, sizeof(real));
	return 0;
}

/* How far a number reaches: "1.5ms", "0x1f", "1e-3", "64K", but "1" of "1..5". */
static size_t expr_lex_number_length(const char *p, int *real)
{
	size_t n = 0;

	*real = 0;
	if (p[0] == '0' && ktr__lower(p[1]) == 'x') {
		for (n = 2; ktr__hex_digit(p[n]) < 16;)
			n++;
		return n;
	}
	while (ktr__is_digit(p[n]))
		n++;
	if (p[n] == '.' && ktr__is_digit(p[n + 1])) {
		*real = 1;
		for (n++; ktr__is_digit(p[n]);)
			n++;
	}
	if (ktr__lower(p[n]) == 'e') {
		size_t sign = p[n + 1] == '+' || p[n + 1] == '-';

		if (ktr__is_digit(p[n + 1 + sign])) {
			*real = 1;
			for (n += 1 + sign; ktr__is_digit(p[n]);)
				n++;
			return n;
		}
	}
	if (expr_lex_is_letter(p[n]))
		*real = 0;
	while (expr_lex_is_letter(p[n]))
		n++;
	return n;
}

/* Integers as in C, decimal fractions, durations in nanoseconds, sizes by powers of 1024. */
static int expr_lex_number(struct ktr__expr_lex *lex)
{
	char text[EXPR_LEX_NUMBER_BYTES];
	int real, rc;
	size_t n = expr_lex_number_length(lex->at, &real);

	if (n >= sizeof(text))
		return ktr__expr_wrong(lex, lex->column, "this number is too long");
	memcpy(text, lex->at, n);
	text[n] = '\0';
	lex->at += n;
	lex->token = KTR__EXPR_TOK_NUMBER;
	if (real)
		return expr_lex_real(lex, text);
	/* 1M is a size, 1m a minute, though neither parser minds the case. */
	rc = strpbrk(text, "KMGTPE") ? -EINVAL : ktr__parse_duration(text, &lex->value.bits, NULL);
	if (rc == -EINVAL)
		rc = ktr__parse_size(text, &lex->value.bits, NULL);
	if (rc)
		return ktr__expr_wrong(lex, lex->column,
				       rc == -ERANGE
					       ? "\"%s\" does not fit in 64 bits"
					       : "\"%s\" is not a number; units are ns, us, ms, s, "
						 "min, h, d and K, M, G, T",
				       text);
	lex->value = ktr__expr_unsigned(lex->value.bits);
	return 0;
}

/* A name: "depth", and as arguments are called, "p->len", "a.b", "ns::x". */
static void expr_lex_name(struct ktr__expr_lex *lex)
{
	static const struct {
		char word[6];
		enum ktr__expr_token token;
	} words[] = { { "and", KTR__EXPR_TOK_AND },
		      { "or", KTR__EXPR_TOK_OR },
		      { "not", KTR__EXPR_TOK_NOT },
		      { "in", KTR__EXPR_TOK_IN } };
	const char *p = lex->at;
	size_t begin = lex->expr->n_texts, n;

	for (;;) {
		while (expr_lex_is_letter(*p) || ktr__is_digit(*p))
			p++;
		n = *p == '.' ? 1 : strncmp(p, "->", 2) == 0 || strncmp(p, "::", 2) == 0 ? 2 : 0;
		if (!n || !expr_lex_is_letter(p[n]))
			break;
		p += n;
	}
	n = (size_t)(p - lex->at);
	lex->token = KTR__EXPR_TOK_NAME;
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].word) == n && memcmp(lex->at, words[i].word, n) == 0)
			lex->token = words[i].token;
	for (; lex->at < p; lex->at++)
		expr_lex_put(lex, *lex->at);
	expr_lex_close(lex, begin);
}

static int expr_lex_sign(struct ktr__expr_lex *lex)
{
	/* The longer ones of those that begin alike stand first. */
	static const struct {
		char sign[3];
		uint8_t token, what;
	} signs[] = {
		{ "&&", KTR__EXPR_TOK_AND, 0 },
		{ "||", KTR__EXPR_TOK_OR, 0 },
		{ "==", KTR__EXPR_TOK_COMPARE, KTR__EXPR_EQUAL },
		{ "!=", KTR__EXPR_TOK_COMPARE, KTR__EXPR_OUTCOMES ^ KTR__EXPR_EQUAL },
		{ "=~", KTR__EXPR_TOK_TILDE, 0 },
		{ "!~", KTR__EXPR_TOK_UNLIKE, 0 },
		{ "<<", KTR__EXPR_TOK_ARITH, KTR__EXPR_SHL },
		{ ">>", KTR__EXPR_TOK_ARITH, KTR__EXPR_SHR },
		{ "<=", KTR__EXPR_TOK_COMPARE, KTR__EXPR_LESS | KTR__EXPR_EQUAL },
		{ ">=", KTR__EXPR_TOK_COMPARE, KTR__EXPR_GREATER | KTR__EXPR_EQUAL },
		{ "..", KTR__EXPR_TOK_RANGE, 0 },
		{ "<", KTR__EXPR_TOK_COMPARE, KTR__EXPR_LESS },
		{ ">", KTR__EXPR_TOK_COMPARE, KTR__EXPR_GREATER },
		{ "=", KTR__EXPR_TOK_COMPARE, KTR__EXPR_EQUAL },
		{ "!", KTR__EXPR_TOK_NOT, 0 },
		{ "~", KTR__EXPR_TOK_TILDE, 0 },
		{ "(", KTR__EXPR_TOK_OPEN, 0 },
		{ ")", KTR__EXPR_TOK_CLOSE, 0 },
		{ ",", KTR__EXPR_TOK_COMMA, 0 },
		{ "+", KTR__EXPR_TOK_ARITH, KTR__EXPR_ADD },
		{ "-", KTR__EXPR_TOK_ARITH, KTR__EXPR_SUB },
		{ "*", KTR__EXPR_TOK_ARITH, KTR__EXPR_MUL },
		{ "/", KTR__EXPR_TOK_ARITH, KTR__EXPR_DIV },
		{ "%", KTR__EXPR_TOK_ARITH, KTR__EXPR_MOD },
		{ "&", KTR__EXPR_TOK_ARITH, KTR__EXPR_AND },
		{ "|", KTR__EXPR_TOK_ARITH, KTR__EXPR_OR },
		{ "^", KTR__EXPR_TOK_ARITH, KTR__EXPR_XOR },
	};

	for (unsigned i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		size_t n = strlen(signs[i].sign);

		if (strncmp(lex->at, signs[i].sign, n) == 0) {
			lex->token = (enum ktr__expr_token)signs[i].token;
			lex->what = signs[i].what;
			lex->at += n;
			return 0;
		}
	}
	return ktr__expr_wrong(lex, lex->column, "'%c' means nothing here", *lex->at);
}

int ktr__expr_next(struct ktr__expr_lex *lex, enum ktr__expr_lex_mode mode)
{
	char c;

	while (*lex->at && strchr(" \t\r\n", *lex->at))
		lex->at++;
	c = *lex->at;
	lex->column = (unsigned)(lex->at - lex->source) + 1;
	lex->value = (struct ktr__expr_value){ .bits = 0 };
	lex->bare = lex->no_case = 0;
	lex->token = KTR__EXPR_TOK_END;
	if (!c)
		return 0;
	if (c == '"' || c == '\'')
		return expr_lex_quoted(lex);
	if (mode == KTR__EXPR_LEX_PATTERN && c == '/')
		return expr_lex_regex(lex);
	if (mode != KTR__EXPR_LEX_VALUE && !strchr("()&|,!<>=", c)) {
		expr_lex_word(lex);
		return 0;
	}
	if (ktr__is_digit(c))
		return expr_lex_number(lex);
	if (!expr_lex_is_letter(c))
		return expr_lex_sign(lex);
	expr_lex_name(lex);
	return 0;
}
