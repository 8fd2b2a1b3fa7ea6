/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiles a trigger for programs that may not have started yet: nothing is known of their call sites,
 * so everything is left to be looked up where the event is recorded.
 */
#include "analyze/filter/trigger_make.h"

#include "conf/eval/expr_eval.h"
#include "conf/expr/expr.h"
#include "conf/expr/expr_emit.h"
#include "conf/expr/expr_parse.h"
#include "conf/names.h"
#include "conf/value.h"
#include "ktr/session/class_name.h"
#include "ktr/session/trigger_fields.h"

#include <ktr/session.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Names of a filter's fields that a trigger does not have: a better answer than "no such argument". */
static const char *const trigger_make_not[] = { "time",  "msg",	 "utc",	  "mono",  "index",   "keep",
						"approx", "kind", "group", "ident", "module", "process" };

/* Known only to whoever watches from outside. */
#define TRIGGER_MAKE_SPAN (KTR__TRIGGER_THREAD + 4)

static const struct ktr__expr_field trigger_make_fields[] = {
	[0] = { "", "", KTR__EXPR_T_NUMBER, 0, 0, 0, 0, 0 }, /* nobody's number */
	[KTR__TRIGGER_CLASS] = { "class", "", KTR__EXPR_T_SET, KTR__TRIGGER_CLASS_NAME, 0, 0, 0, 0 },
	[KTR__TRIGGER_CLASS_NAME] = { "class name", "", KTR__EXPR_T_TEXT, 0, 0, 0, 0, 0 },
	[KTR__TRIGGER_ID] = { "site id", "", KTR__EXPR_T_NUMBER, 0, 0, 0, 0, 0 },
	[KTR__TRIGGER_FILE] = { "file", "", KTR__EXPR_T_PATH, 0, 0, 0, 0, 0 },
	[KTR__TRIGGER_LINE] = { "line", "", KTR__EXPR_T_NUMBER, 0, 0, 0, 0, 0 },
	[KTR__TRIGGER_FUNC] = { "func", "", KTR__EXPR_T_TEXT, 0, 0, 0, 0, 0 },
	[KTR__TRIGGER_FORMAT] = { "format", "", KTR__EXPR_T_TEXT, 0, 0, 0, 0, 0 },
	[KTR__TRIGGER_CPU] = { "cpu", "", KTR__EXPR_T_NUMBER, 0, 0, 0, 0, 0 },
	[KTR__TRIGGER_PID] = { "pid", "", KTR__EXPR_T_NUMBER, 0, 0, 0, 0, 0 },
	[KTR__TRIGGER_TID] = { "tid", "", KTR__EXPR_T_NUMBER, 0, 0, 0, 0, 0 },
	[KTR__TRIGGER_THREAD] = { "thread", "", KTR__EXPR_T_TEXT, 0, 0, 0, 0, 0 },
	/* A site by a text is one by its function or its format. */
	{ "site func", "", KTR__EXPR_T_TEXT, KTR__TRIGGER_THREAD + 2, 0, 0, 0, KTR__TRIGGER_FUNC },
	{ "site format", "", KTR__EXPR_T_TEXT, 0, 0, 0, 0, KTR__TRIGGER_FORMAT },
	{ "site", "", KTR__EXPR_T_PLACE, KTR__TRIGGER_THREAD + 1, KTR__TRIGGER_FILE, KTR__TRIGGER_LINE,
	  KTR__TRIGGER_ID, 0 },
	[TRIGGER_MAKE_SPAN] = { "span", "", KTR__EXPR_T_OF, 0, 0, 0, 0, 0 },
};

#define TRIGGER_MAKE_N_FIELDS (sizeof(trigger_make_fields) / sizeof(trigger_make_fields[0]))

struct trigger_make {
	ktr_names_fn *classes;
	void *context;
};

/* FreeBSD's classes, before a session is there to ask. */
static int trigger_make_classes(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	char own[KTR_CLASS_NAME_MAX];

	(void)context;
	if (idx >= KTR_CLASS_APP_FIRST)
		return -ENOENT;
	ktr__class_name(idx, own);
	snprintf(name, size, "%s", own);
	*value = 1ull << idx;
	return 0;
}

static int trigger_make_constant(void *context, unsigned field, const char *text, uint64_t *value,
				 struct ktr_error *err)
{
	const struct trigger_make *make = context;
	int rc;

	if (field != KTR__TRIGGER_CLASS)
		return -ENOTSUP;
	if (make->classes)
		return ktr__parse_mask(text, make->classes, make->context, 0, value, err);
	rc = ktr__parse_mask(text, trigger_make_classes, NULL, 0, value, NULL);
	if (!rc)
		return 0;
	if (!strpbrk(text, "|,+- "))
		return -EAGAIN;
	return ktr_error_at(err, NULL, 0, 1, EINVAL,
			    "which classes the program has is not known yet: write class == A or class == B");
}

static int trigger_make_known(void *context, const struct ktr__expr_node *node, struct ktr__expr_value *value,
			      struct ktr__expr_op *op)
{
	const struct ktr__expr *expr = context;

	(void)value;
	if (node->kind == KTR__EXPR_N_ARG) {
		op->field = (uint16_t)(KTR__TRIGGER_ARG + node->field);
	} else if (node->kind == KTR__EXPR_N_NAMED) {
		op->field = KTR__TRIGGER_NAMED;
		op->length = (uint16_t)node->value.length;
		op->value = (uint64_t)(node->value.text - expr->texts);
	} else if (trigger_make_fields[node->field].user) {
		op->field = trigger_make_fields[node->field].user;
	}
	return 0;
}

/* What triggers cannot ask for. */
static int trigger_make_check(const struct ktr__expr *expr, struct ktr_error *err)
{
	for (unsigned i = 0; i < expr->n_nodes; i++) {
		const struct ktr__expr_node *node = &expr->node[i];

		if (node->kind == KTR__EXPR_N_TEST && node->code == KTR__EXPR_REGEX)
			return ktr_error_at(err, NULL, 0, node->column, EINVAL,
					    "a trigger has no regular expressions; a pattern in quotes does");
		if (node->kind == KTR__EXPR_N_FIELD && node->field == TRIGGER_MAKE_SPAN)
			return ktr_error_at(err, NULL, 0, node->column, EINVAL,
					    "how long a span takes is known to --trigger of ktr run and ktr record");
		for (size_t k = 0; node->kind == KTR__EXPR_N_NAMED &&
		     k < sizeof(trigger_make_not) / sizeof(char *); k++)
			if (strcmp(node->value.text, trigger_make_not[k]) == 0)
				return ktr_error_at(err, NULL, 0, node->column, EINVAL,
						    "a trigger does not know the %s of an event, only filters do",
						    trigger_make_not[k]);
	}
	return 0;
}

/* Only the texts that ops use, one after the other; ops are changed to find them there. 0 or -EINVAL. */
static int trigger_make_texts(struct ktr__expr_emitted *emitted, char *texts, size_t *n_texts)
{
	size_t n = 0;

	for (unsigned i = 0; i < emitted->n_ops; i++) {
		struct ktr__expr_op *op = &emitted->op[i];
		int has = op->code == KTR__EXPR_STRING || (op->code == KTR__EXPR_LOAD && op->length);

		if (!has)
			continue;
		if (op->length > KTR_TRIGGER_TEXTS - n || memchr(emitted->texts + op->value, 0, op->length))
			return -EINVAL;
		memcpy(texts + n, emitted->texts + op->value, op->length);
		op->value = n;
		n += op->length;
	}
	*n_texts = n;
	return 0;
}

static int trigger_make_print(struct ktr__expr_emitted *emitted, const char *source, char *made, size_t size)
{
	char texts[KTR_TRIGGER_TEXTS];
	size_t n_texts;
	FILE *to;

	if (emitted->n_ops > KTR_TRIGGER_OPS || strlen(source) >= KTR_TRIGGER_SOURCE ||
	    trigger_make_texts(emitted, texts, &n_texts))
		return -ENOSPC;
	to = fmemopen(made, size, "w");
	if (!to)
		return -ENOMEM;
	fprintf(to, "%c%x %zx", KTR__TRIGGER_MARK, emitted->n_ops, n_texts);
	for (unsigned i = 0; i < emitted->n_ops; i++) {
		uint64_t words[2];

		memcpy(words, &emitted->op[i], sizeof(words));
		fprintf(to, " %" PRIx64 " %" PRIx64, words[0], words[1]);
	}
	fprintf(to, ":%.*s", (int)n_texts, texts);
	fwrite(source, 1, strlen(source) + 1, to);
	return fclose(to) ? -ENOSPC : 0;
}

static int trigger_make_emit(const struct ktr__expr *expr, const char *text, char *made, size_t size,
			     struct ktr_error *err)
{
	struct ktr__expr_emitted emitted;
	int rc = ktr__expr_emit(expr, expr->root, trigger_make_known, (void *)(uintptr_t)expr, &emitted, err);

	if (rc)
		return rc;
	if (!emitted.n_ops && !emitted.always)
		return ktr_error_at(err, NULL, 0, 1, EINVAL, "this never holds");
	if (!emitted.n_ops) {
		/* Always: 0 == 0. */
		emitted.op[0] = (struct ktr__expr_op){ .code = KTR__EXPR_NUMBER, .what = KTR__EXPR_INT };
		emitted.op[1] = emitted.op[0];
		emitted.op[2] = (struct ktr__expr_op){ .code = KTR__EXPR_COMPARE, .what = KTR__EXPR_EQUAL,
						       .yes = KTR__EXPR_ACCEPT, .no = KTR__EXPR_REJECT };
		emitted.n_ops = 3;
	}
	rc = trigger_make_print(&emitted, text, made, size);
	return rc ? ktr_error_at(err, NULL, 0, 1, -rc, "too long for a trigger, or has a NUL in a text") : 0;
}

int ktr__trigger_make(const char *text, ktr_names_fn *classes, void *context, char *made, size_t size,
		      struct ktr_error *err)
{
	struct trigger_make make = { classes, context };
	const struct ktr__expr_language language = { trigger_make_fields, TRIGGER_MAKE_N_FIELDS, KTR_ARGS_MAX,
						     trigger_make_constant, &make };
	struct ktr__expr *expr;
	int rc;

	if (!*ktr__skip_blanks(text)) {
		*made = '\0';
		return 0;
	}
	rc = ktr__expr_parse(text, &language, &expr, err);
	if (rc)
		return rc;
	rc = trigger_make_check(expr, err);
	if (!rc)
		rc = trigger_make_emit(expr, text, made, size, err);
	ktr__expr_free(expr);
	return rc;
}
