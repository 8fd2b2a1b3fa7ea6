/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The expression language by itself: a small table of fields whose values the tests choose. Each
 * expression is evaluated twice, with everything loaded at run time and with everything known when the
 * program is emitted; both must agree.
 */
#include "tests/unit/suite.h"

#include "conf/eval/expr_eval.h"
#include "conf/eval/glob.h"
#include "conf/expr/expr.h"
#include "conf/expr/expr_caret.h"
#include "conf/expr/expr_emit.h"
#include "conf/expr/expr_parse.h"
#include "conf/names.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	F_N,
	F_CLASS,
	F_CLASS_NAME,
	F_SITE,
	F_ID,
	F_FILE,
	F_LINE,
	F_FUNC,
	F_FORMAT,
	F_X,
	F_FIELDS
};

static const struct ktr__expr_field fields[F_FIELDS] = {
	[F_N] = { "n", "", KTR__EXPR_T_NUMBER, 0, 0, 0, 0, 0 },
	[F_CLASS] = { "class", "", KTR__EXPR_T_SET, F_CLASS_NAME, 0, 0, 0, 0 },
	[F_CLASS_NAME] = { "class_name", "", KTR__EXPR_T_TEXT, 0, 0, 0, 0, 0 },
	[F_SITE] = { "site", "", KTR__EXPR_T_PLACE, F_FUNC, F_FILE, F_LINE, F_ID, 0 },
	[F_ID] = { "id", "", KTR__EXPR_T_NUMBER, 0, 0, 0, 0, 0 },
	[F_FILE] = { "file", "", KTR__EXPR_T_PATH, 0, 0, 0, 0, 0 },
	[F_LINE] = { "line", "", KTR__EXPR_T_NUMBER, 0, 0, 0, 0, 0 },
	[F_FUNC] = { "func", "", KTR__EXPR_T_TEXT, F_FORMAT, 0, 0, 0, 0 },
	[F_FORMAT] = { "format", "", KTR__EXPR_T_TEXT, 0, 0, 0, 0, 0 },
	[F_X] = { "x", "", KTR__EXPR_T_NUMBER, 0, 0, 0, 0, 0 },
};

#define INT(n)                                                                                     \
	{                                                                                          \
		.bits = (uint64_t)(n), .kind = KTR__EXPR_INT                                       \
	}
#define BIG(n)                                                                                     \
	{                                                                                          \
		.bits = (n), .kind = KTR__EXPR_BIG                                                 \
	}
#define TEXT(t)                                                                                    \
	{                                                                                          \
		.text = (t), .length = sizeof(t) - 1, .kind = KTR__EXPR_TEXT                       \
	}

static struct ktr__expr_value field_values[F_FIELDS] = {
	[F_N] = INT(7),
	[F_CLASS] = INT(6), /* net and lock */
	[F_CLASS_NAME] = TEXT("net|lock"),
	[F_ID] = INT(42),
	[F_FILE] = TEXT("/src/net/tcp.c"),
	[F_LINE] = INT(100),
	[F_FUNC] = TEXT("tcp_input"),
	[F_FORMAT] = TEXT("got %d bytes"),
	[F_X] = BIG(1ull << 63),
};

/* arg0 is -5, arg1 a string, arg2 1.5, arg3 2^64 - 1; "p->len" is 12, "nan" is one. */
static void value_of(const struct ktr__expr_node *node, struct ktr__expr_value *value)
{
	static const struct ktr__expr_value args[4] = {
		INT(-5), TEXT("hello"), { .kind = KTR__EXPR_REAL }, BIG(~0ull)
	};
	const double real = 1.5, nan_value = nan("");

	if (node->kind == KTR__EXPR_N_FIELD) {
		*value = field_values[node->field];
	} else if (node->kind == KTR__EXPR_N_ARG && node->field < 4) {
		*value = args[node->field];
		if (node->field == 2)
			memcpy(&value->bits, &real, 8);
	} else if (node->kind == KTR__EXPR_N_NAMED && strcmp(node->value.text, "p->len") == 0) {
		*value = (struct ktr__expr_value)INT(12);
	} else if (node->kind == KTR__EXPR_N_NAMED && strcmp(node->value.text, "nan") == 0) {
		value->kind = KTR__EXPR_REAL;
		memcpy(&value->bits, &nan_value, 8);
	} else {
		value->kind = KTR__EXPR_NONE;
	}
}

static int class_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	static const char *const names[] = { "gen", "net", "lock", "sched" };

	(void)context;
	if (idx >= 4)
		return -ENOENT;
	snprintf(name, size, "%s", names[idx]);
	*value = 1u << idx;
	return 0;
}

static int constant(void *context, unsigned field, const char *text, uint64_t *value,
		    struct ktr_error *err)
{
	(void)context;
	if (field != F_CLASS)
		return -ENOTSUP;
	return ktr__parse_mask(text, class_names, NULL, 0, value, err);
}

static const struct ktr__expr_language language = { fields, F_FIELDS, 6, constant, NULL };

static int known_all(void *context, const struct ktr__expr_node *node,
		     struct ktr__expr_value *value, struct ktr__expr_op *op)
{
	(void)context;
	(void)op;
	value_of(node, value);
	return 1;
}

/* Numbers the nodes as they are asked for; the loader finds them again. */
static const struct ktr__expr_node *asked[256];
static unsigned n_asked;
static uint64_t words[256];
static int load_unknown;

static int known_none(void *context, const struct ktr__expr_node *node,
		      struct ktr__expr_value *value, struct ktr__expr_op *op)
{
	struct ktr__expr_value real = { .kind = KTR__EXPR_NONE };

	(void)context;
	(void)value;
	value_of(node, &real);
	op->field = (uint16_t)n_asked;
	if (real.kind == KTR__EXPR_INT || real.kind == KTR__EXPR_BIG) {
		op->code = KTR__EXPR_WORD;
		op->what = real.kind == KTR__EXPR_BIG ? KTR__EXPR_UNSIGNED : 0;
		words[n_asked] = real.bits;
	}
	asked[n_asked++] = node;
	return 0;
}

static void load(void *context, const struct ktr__expr_op *op, const char *name,
		 struct ktr__expr_value *value)
{
	(void)context;
	(void)name;
	if (load_unknown)
		value->kind = KTR__EXPR_UNKNOWN;
	else
		value_of(asked[op->field], value);
}

static int run(const struct ktr__expr *expr, const struct ktr__expr_emitted *emitted)
{
	struct ktr__expr_program program = { emitted->op, emitted->n_ops, emitted->n_texts,
					     emitted->texts, 0 };
	struct ktr__expr_user user = { load, ktr__expr_regex, (void *)(uintptr_t)expr, words, 256 };

	return emitted->n_ops ? ktr__expr_run(&program, &user) : emitted->always;
}

/* -1: not an expression, with the error in last_error. */
static struct ktr_error last_error;

static int holds(const char *text)
{
	struct ktr__expr_emitted emitted;
	struct ktr__expr *expr;
	int now, later;

	ktr_error_clear(&last_error);
	if (ktr__expr_parse(text, &language, &expr, &last_error))
		return -1;
	CU_ASSERT_FATAL(ktr__expr_emit(expr, expr->root, known_all, NULL, &emitted, NULL) == 0);
	CU_ASSERT(emitted.n_ops == 0);
	now = run(expr, &emitted);
	n_asked = 0;
	CU_ASSERT_FATAL(ktr__expr_emit(expr, expr->root, known_none, NULL, &emitted, NULL) == 0);
	later = run(expr, &emitted);
	if (now != later)
		printf("\n  %s: %d when emitted, %d when run\n", text, now, later);
	CU_ASSERT(now == later);
	ktr__expr_free(expr);
	return now;
}

static void check(const char *const *texts, unsigned n, int expected)
{
	for (unsigned i = 0; i < n; i++) {
		int found = holds(texts[i]);

		if (found != expected)
			printf("\n  %s: %d, not %d: %s\n", texts[i], found, expected,
			       last_error.text);
		CU_ASSERT(found == expected);
	}
}

#define CHECK(expected, ...)                                                                       \
	do {                                                                                       \
		static const char *const texts[] = { __VA_ARGS__ };                                \
		check(texts, sizeof(texts) / sizeof(texts[0]), expected);                          \
	} while (0)

static void compares_numbers(void)
{
	CHECK(1, "n == 7", "n = 7", "n != 8", "n < 8", "n <= 7", "n > -1", "n >= 7", "7 == n",
	      "8 > n", "0 < n", "arg0 == -5", "arg0 < 0", "arg0 < x", "x > arg0",
	      "arg3 == 18446744073709551615", "arg3 > 0", "arg3 > -1", "x == 0x8000000000000000",
	      "arg3 > x", "n", "n == 0x7", "n == 07", "arg2 == 1.5", "arg2 > 1", "arg2 < n",
	      "n < 7.5", "arg2 < 1e3", "x > 1e18", "true", "not false", "nan != nan",
	      "not (nan < 1)");
	CHECK(0, "n == 8", "n < 7", "n > 7", "not n", "arg0 > x", "x < -1", "nan == nan", "nan < 1",
	      "false");
}

static void reads_units(void)
{
	CHECK(1, "1us == 1000", "1.5ms == 1500000ns", "2s == 2000000000", "1min == 60s",
	      "64K == 65536", "1M == 1024 * 1024", "2h > 1h");
	CHECK(-1, "1.0000000001s == n", "3furlongs == n", "99999999999999999999 == n", "0x == n");
}

static void computes(void)
{
	CHECK(1, "-9223372036854775808 < 0", "-9223372036854775808 == -9223372036854775807 - 1",
	      "n + 1 == 8", "n - 8 == -1", "n * 3 == 21", "n / 2 == 3", "n % 4 == 3",
	      "-7 / 2 == -3", "-7 % 2 == -1", "n & 4", "(n | 8) == 15", "n ^ 7 == 0", "1 << 3 == 8",
	      "-8 >> 1 == -4", "~0 == -1", "-n == -7", "- -n == 7", "2 + 3 * 4 == 14",
	      "(2 + 3) * 4 == 20", "1 | 6 & 4 == 5", "arg2 * 2 == 3", "arg2 / 0 > 1e300",
	      "n & 1 and n & 2", "10 - 3 - 2 == 5", "1 + n << 1 == 16");
	/* Overflow wraps; unsigned from 2^63 on; shifts beyond the width shift everything out. */
	CHECK(1, "9223372036854775807 + 1 == -9223372036854775807 - 1", "x + x == 0", "x - 1 > 0",
	      "arg3 + 1 == 0", "arg3 * 2 == 18446744073709551614", "x / 2 == 1 << 62",
	      "arg3 % 10 == 5", "1 << 64 == 0", "n >> 100 == 0", "-1 >> 100 == -1", "x >> 63 == 1",
	      "1 << -1 == 0", "(-9223372036854775807 - 1) / -1 == -9223372036854775807 - 1",
	      "(-9223372036854775807 - 1) % -1 == 0");
}

/* What has no value makes neither a condition nor its negation true. */
static void has_no_value(void)
{
	CHECK(0, "n / 0 == 0", "n / 0 != 0", "not (n / 0 == 0)", "n % (n - 7) == 1", "nothing == 1",
	      "nothing != 1", "not nothing", "nothing + 1 == 1", "arg5 == 0", "not (arg5 == 0)",
	      "arg1 == 1", "arg1 != 1", "arg0 == \"x\"", "arg2 % 2 == 1", "arg2 & 1",
	      "nothing ~ \"*\"", "nothing !~ \"x\"", "nothing in (1, 2)", "nothing not in (1, 2)");
	CHECK(1, "nothing == 1 or n == 7", "not (nothing == 1 and n == 8)", "not nothing or true");
}

static void joins_conditions(void)
{
	CHECK(1, "n == 7 and line == 100", "n == 1 or line == 100", "n == 7 && !(line == 1)",
	      "not n == 8", "n == 8 or n == 9 or n == 7", "n == 8 and n == 9 or n == 7",
	      "n == 7 or n == 8 and n == 9", "not (n == 8 or n == 9)", "not (n == 7 and n == 9)",
	      "not not n == 7", "(n == 8 or line == 100) and (n == 7 or line == 1)",
	      "n==7&&line==100||false", "n in (1, 7, 9)", "n in (1..3, 5..8)", "n not in (1, 2)",
	      "n in (7)", "not n in (8)");
	CHECK(0, "n == 7 and line == 101", "not (n == 7 or n == 9)", "n in (1..6)",
	      "n not in (1, 7)", "(n == 8 or line == 100) and (n == 8 or line == 1)");
}

static void compares_texts(void)
{
	CHECK(1, "func == tcp_input", "func == \"tcp_input\"", "func != 'tcp_output'",
	      "func == \"got %d bytes\"", "arg1 == \"hello\"", "arg1 < \"help\"", "arg1 > \"hell\"",
	      "\"hello\" == arg1", "func ~ tcp_*", "func ~ \"*_in?ut\"",
	      "func =~ /^tcp_(in|out)put$/", "func =~ /INPUT/i", "func !~ /udp/",
	      "arg1 ~ \"h[a-f]l*\"", "arg1 ~ \"[!a]*\"", "func in (udp_input, tcp_input)",
	      "func not in (udp_input, icmp)", "arg1 == \"\\x68ello\"", "arg1 =~ /h.*o/",
	      "format == \"got %d bytes\"");
	CHECK(1, "file == tcp.c", "file == net/tcp.c", "file == /src/net/tcp.c", "file ~ \"tcp.*\"",
	      "file ~ net/*", "file =~ /^tcp/", "file != udp.c");
	CHECK(0, "func == tcp", "func ~ tcp", "func =~ /^input/", "file == cp.c", "file == udp.c",
	      "file != tcp.c", "file ~ src", "arg1 == \"Hello\"", "func !~ tcp*",
	      "arg1 == \"hell\"", "arg1 == \"hello2\"");
}

static void compares_sets_and_places(void)
{
	CHECK(1, "class == net", "class == lock", "class == net|gen", "class == KTR_NET",
	      "class != sched", "class in (sched, lock)", "class == 4", "class == \"all,-gen\"",
	      "class ~ \"*lock\"", "site == 42", "site == tcp.c:100", "site == net/tcp.c:100",
	      "site == tcp_input", "site != tcp.c:99", "site == \"got %d bytes\"", "site ~ tcp_*",
	      "site != 43", "not site == udp.c:100", "site in (41, tcp.c:100)",
	      "class == net||false", "class == net and n");
	CHECK(0, "class == sched", "class != net", "site == 43", "site == tcp.c:101",
	      "site == udp.c:100", "site != tcp_input", "site == tcp.c");
}

static void names_arguments(void)
{
	CHECK(1, "p->len == 12", "arg(\"p->len\") > 11", "p->len - n == 5", "arg(\"nan\") != 1");
}

/* The column, and a word that the sentence must have. */
static void says_where(void)
{
	static const struct {
		const char *text;
		unsigned column;
		const char *word;
	} wrong[] = {
		{ "", 1, "empty" },
		{ "   ", 1, "empty" },
		{ "n ==", 5, "missing" },
		{ "n == 7 and", 11, "missing" },
		{ "(n == 7", 1, "missing" },
		{ "n == 7)", 7, "closes nothing" },
		{ "n == 7 line == 1", 8, "\"or\"" },
		{ "n == \"x\"", 6, "text" },
		{ "func == 5 + func", 9, "text" },
		{ "class == nt", 10, "net" },
		{ "class == net|lok", 14, "lock" },
		{ "class < net", 7, "only compared" },
		{ "func =~ /(/", 9, "regular" },
		{ "func =~ /x", 9, "no end" },
		{ "func == \"x", 9, "no end" },
		{ "n ~ \"x\"", 3, "texts" },
		{ "func", 1, "alone" },
		{ "func + 1 == 2", 1, "text" },
		{ "(n == 7) + 1", 10, "condition" },
		{ "n == 7 == 1", 8, "condition" },
		{ "n in 5", 6, "list" },
		{ "n in (5", 8, "comma" },
		{ "n in (5 6)", 9, "comma" },
		{ "n @ 5", 3, "nothing" },
		{ "n not 5", 3, "missing" },
		{ "arg(5) == 1", 5, "quotes" },
		{ "n == * 5", 6, "missing" },
		{ "3 == class", 6, "left" },
	};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		int found = holds(wrong[i].text);

		if (found != -1 || last_error.column != wrong[i].column ||
		    !strstr(last_error.text, wrong[i].word))
			printf("\n  '%s': %d at %u: %s\n", wrong[i].text, found, last_error.column,
			       last_error.text);
		CU_ASSERT(found == -1);
		CU_ASSERT(last_error.column == wrong[i].column);
		CU_ASSERT(strstr(last_error.text, wrong[i].word) != NULL);
	}
}

static void draws_carets(void)
{
	struct ktr_error err = { .column = 10, .code = EINVAL };
	char buffer[512], longer[400];

	CU_ASSERT_STRING_EQUAL(ktr__expr_caret("class == nt", &err, buffer, sizeof(buffer)),
			       "  class == nt\n           ^\n");
	err.column = 8;
	CU_ASSERT_STRING_EQUAL(
		ktr__expr_caret("\xc3\xa4\xc3\xb6\xc3\xbc x", &err, buffer, sizeof(buffer)),
		"  \xc3\xa4\xc3\xb6\xc3\xbc x\n      ^\n");
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	err.column = 300;
	ktr__expr_caret(longer, &err, buffer, sizeof(buffer));
	CU_ASSERT(strlen(buffer) < 200 && strchr(buffer, '^') != NULL);
	err.column = 0;
	CU_ASSERT_STRING_EQUAL(ktr__expr_caret("x", &err, buffer, sizeof(buffer)), "");
}

static void bounds_what_it_takes(void)
{
	static char text[40000];
	struct ktr__expr_emitted emitted;
	struct ktr__expr *expr;
	int n = 0;

	memset(text, '(', 2000);
	text[2000] = '\0';
	CU_ASSERT(holds(text) == -1 && strstr(last_error.text, "deep"));
	memset(text, '-', 2000);
	CU_ASSERT(holds(text) == -1);
	for (int i = 0; i < 3000; i++)
		n += sprintf(text + n, "n==%d||", i);
	sprintf(text + n, "n");
	CU_ASSERT(holds(text) == -1 && strstr(last_error.text, "too long"));
	/* More steps than a program has: five for each of these, but none where all is known. */
	n = 0;
	for (int i = 0; i < 60; i++)
		n += sprintf(text + n, "%sx * n == %d", i ? " or " : "", i);
	CU_ASSERT_FATAL(ktr__expr_parse(text, &language, &expr, NULL) == 0);
	CU_ASSERT(ktr__expr_emit(expr, expr->root, known_all, NULL, &emitted, NULL) == 0);
	n_asked = 0;
	CU_ASSERT(ktr__expr_emit(expr, expr->root, known_none, NULL, &emitted, NULL) == -E2BIG);
	ktr__expr_free(expr);
	/* More values at once than the stack holds. */
	ktr_error_clear(&last_error);
	CU_ASSERT_FATAL(
		ktr__expr_parse("n+(n+(n+(n+(n+(n+(n+(n+n)))))))", &language, &expr, NULL) == 0);
	n_asked = 0;
	CU_ASSERT(ktr__expr_emit(expr, expr->root, known_none, NULL, &emitted, &last_error) ==
		  -E2BIG);
	CU_ASSERT(strstr(last_error.text, "too long") != NULL);
	ktr__expr_free(expr);
}

/* What a value computed at run time could be is not known: which sites could match at all? */
static void tells_what_may_match(void)
{
	static const struct {
		const char *text;
		int may;
	} cases[] = { { "n == 7", 1 },
		      { "n == 7 and false", 0 },
		      { "n == 7 or true", 1 },
		      { "n + 1 == 2", 1 },
		      { "1 == 2", 0 },
		      { "not (func == a)", 1 },
		      { "n == 1 and func == a and x == 3", 1 } };

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ktr__expr_emitted emitted;
		struct ktr__expr *expr;

		CU_ASSERT_FATAL(ktr__expr_parse(cases[i].text, &language, &expr, NULL) == 0);
		n_asked = 0;
		CU_ASSERT_FATAL(
			ktr__expr_emit(expr, expr->root, known_none, NULL, &emitted, NULL) == 0);
		for (unsigned j = 0; j < emitted.n_ops; j++)
			CU_ASSERT(emitted.op[j].code != KTR__EXPR_WORD ||
				  emitted.op[j].field < 256);
		load_unknown = 1;
		/* WORD ops read values; with unknown ones only LOAD may stand in a program. */
		if (emitted.n_ops && emitted.op[0].code != KTR__EXPR_WORD)
			CU_ASSERT(run(expr, &emitted) == cases[i].may);
		load_unknown = 0;
		ktr__expr_free(expr);
	}
}

/* Programs from shared memory: any bytes end, and touch nothing that is not theirs. */
static void survives_any_program(void)
{
	struct ktr__expr_op op[KTR__EXPR_OPS_MAX];
	struct ktr__expr_program program = { op, KTR__EXPR_OPS_MAX, 5, "texts", 0 };
	struct ktr__expr_user user = { load, NULL, NULL, words, 4 };
	uint64_t state = 88172645463325252ull;

	n_asked = 0;
	load_unknown = 1;
	for (int i = 0; i < 20000; i++) {
		for (unsigned j = 0; j < KTR__EXPR_OPS_MAX; j++) {
			uint64_t w[2];

			for (int k = 0; k < 2; k++) {
				state ^= state << 13; /* Marsaglia's xorshift */
				state ^= state >> 7;
				state ^= state << 17;
				w[k] = state;
			}
			memcpy(&op[j], w, sizeof(op[j]));
			op[j].code %= KTR__EXPR_WORD + 2;
			if (j % 3)
				op[j].value %= 8;
		}
		CU_ASSERT((ktr__expr_run(&program, &user) & ~1) == 0);
	}
	load_unknown = 0;
}

static void globs(void)
{
	static const struct {
		const char *pattern, *text;
		int matches;
	} cases[] = {
		{ "", "", 1 },           { "", "a", 0 },         { "*", "", 1 },
		{ "*", "abc", 1 },       { "a*c", "abbbc", 1 },  { "a*c", "abbbd", 0 },
		{ "?", "a", 1 },         { "?", "", 0 },         { "[abc]", "b", 1 },
		{ "[a-c]", "d", 0 },     { "[!a-c]", "d", 1 },   { "[]]", "]", 1 },
		{ "[", "[", 1 },         { "[a", "[a", 1 },      { "\\*", "*", 1 },
		{ "\\*", "a", 0 },       { "a\\", "a\\", 1 },    { "**a**", "xxa", 1 },
		{ "*a*b*", "xaxbx", 1 }, { "*a*b", "xaxbx", 0 }, { "[a-]", "-", 1 },
		{ "\\?", "x", 0 },       { "[\\]]", "]", 1 },    { "ab", "a", 0 },
		{ "a*", "b", 0 },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT(ktr__glob(cases[i].pattern, strlen(cases[i].pattern), cases[i].text,
				    strlen(cases[i].text)) == cases[i].matches);
}

SUITE(expr, TEST(compares_numbers), TEST(reads_units), TEST(computes), TEST(has_no_value),
      TEST(joins_conditions), TEST(compares_texts), TEST(compares_sets_and_places),
      TEST(names_arguments), TEST(says_where), TEST(draws_carets), TEST(bounds_what_it_takes),
      TEST(tells_what_may_match), TEST(survives_any_program), TEST(globs));
