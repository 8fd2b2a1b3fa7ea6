/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any text as an expression, and any bytes as a program. What parses is emitted with everything known
 * and with nothing known: both give the same answer. Errors have a column within the text.
 *
 * The first byte chooses: text or program. Values of fields are made from the field's number, so that
 * they are the same at both times.
 */
#include "conf/eval/expr_eval.h"
#include "conf/expr/expr.h"
#include "conf/expr/expr_caret.h"
#include "conf/expr/expr_emit.h"
#include "conf/expr/expr_parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct ktr__expr_field fields[] = {
	{ "n", "", KTR__EXPR_T_NUMBER, 0, 0, 0, 0, 0 },
	{ "class", "", KTR__EXPR_T_SET, 2, 0, 0, 0, 0 },
	{ "name", "", KTR__EXPR_T_TEXT, 0, 0, 0, 0, 0 },
	{ "site", "", KTR__EXPR_T_PLACE, 2, 4, 5, 5, 0 },
	{ "file", "", KTR__EXPR_T_PATH, 0, 0, 0, 0, 0 },
	{ "line", "", KTR__EXPR_T_NUMBER, 0, 0, 0, 0, 0 },
};

static int constant(void *context, unsigned field, const char *text, uint64_t *value,
		    struct ktr_error *err)
{
	(void)context;
	if (field != 1)
		return -ENOTSUP;
	if (text[0] == 'x')
		return -EAGAIN;
	if (text[0] == 'y')
		return ktr_error_at(err, NULL, 0, 1, EINVAL, "no y");
	*value = strlen(text);
	return 0;
}

static const struct ktr__expr_language language = { fields, 6, 6, constant, NULL };

/* Number n of a field or an argument: every kind of value there is. */
static void value_of(unsigned n, struct ktr__expr_value *value)
{
	static const double real = -1.25;

	value->kind = n % 5;
	value->bits = n * 3 + (n % 5 == KTR__EXPR_BIG ? 1ull << 63 : 0);
	if (value->kind == KTR__EXPR_REAL)
		memcpy(&value->bits, &real, sizeof(real));
	value->text = "a/b.c";
	value->length = 5;
}

static unsigned number_of(const struct ktr__expr_node *node)
{
	return node->kind == KTR__EXPR_N_NAMED ? 20 + (unsigned)node->value.length % 10
	       : node->kind == KTR__EXPR_N_ARG ? 10 + node->field
					       : node->field;
}

static uint64_t words[32];

/* context: 1, all is known; 0, nothing is. */
static int known(void *context, const struct ktr__expr_node *node, struct ktr__expr_value *value,
		 struct ktr__expr_op *op)
{
	unsigned n = number_of(node);

	value_of(n, value);
	op->field = (uint16_t)n;
	if (value->kind == KTR__EXPR_INT || value->kind == KTR__EXPR_BIG) {
		op->code = KTR__EXPR_WORD;
		op->what = value->kind == KTR__EXPR_BIG ? KTR__EXPR_UNSIGNED : 0;
		words[n] = value->bits;
	}
	return *(int *)context;
}

static void load(void *context, const struct ktr__expr_op *op, const char *name,
		 struct ktr__expr_value *value)
{
	volatile char last;

	(void)context;
	/* Of an op that takes a word, length says something else, and there is no name. */
	if (op->length && !(op->what & KTR__EXPR_FROM_WORD)) {
		last = name[op->length - 1];
		(void)last;
	}
	value_of(op->field % 30, value);
}

static int run(const struct ktr__expr *expr, int all)
{
	static struct ktr__expr_emitted emitted;
	struct ktr__expr_program program;
	struct ktr__expr_user user = { load, ktr__expr_regex, (void *)(uintptr_t)expr, words, 32 };

	if (ktr__expr_emit(expr, expr->root, known, &all, &emitted, NULL))
		return -1;
	program = (struct ktr__expr_program){ emitted.op, emitted.n_ops, emitted.n_texts,
					      emitted.texts, 0 };
	for (unsigned i = 0; i < emitted.n_ops; i++)
		if (emitted.op[i].code >= KTR__EXPR_COMPARE &&
		    (emitted.op[i].yes <= i || emitted.op[i].no <= i))
			abort();
	return emitted.n_ops ? ktr__expr_run(&program, &user) : emitted.always;
}

static void fuzz_text(const uint8_t *data, size_t size)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char *text = malloc(size + 1), caret[512];
	struct ktr__expr *expr;
	int later;

	memcpy(text, data, size);
	text[size] = '\0';
	if (ktr__expr_parse(text, &language, &expr, &err)) {
		if (expr || !err.code || !err.text[0] || err.column > strlen(text) + 1)
			abort();
		ktr__expr_caret(text, &err, caret, sizeof(caret));
	} else {
		later = run(expr, 0);
		if (later >= 0 && later != run(expr, 1))
			abort();
		ktr__expr_free(expr);
	}
	free(text);
}

static void fuzz_program(const uint8_t *data, size_t size)
{
	size_t n_texts = size < 16 ? 0 : data[0] % 16,
	       n_ops = (size - n_texts) / sizeof(struct ktr__expr_op);
	char *texts = malloc(n_texts + 1);
	struct ktr__expr_op *op = malloc(n_ops * sizeof(*op) + 1);
	struct ktr__expr_program program = { op, (uint32_t)n_ops, (uint32_t)n_texts, texts, 0 };
	struct ktr__expr_user user = { load, NULL, NULL, words, 32 };

	memcpy(texts, data, n_texts);
	memcpy(op, data + n_texts, n_ops * sizeof(*op));
	ktr__expr_run(&program, &user);
	free(op);
	free(texts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] & 1)
		fuzz_program(data + 1, size - 1);
	else if (!memchr(data, '{', size)) /* regcomp(3) takes all there is for a{999}{999} */
		fuzz_text(data + 1, size - 1);
	return 0;
}
