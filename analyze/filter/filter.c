/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a filter out of an expression, and applies it.
 *
 * Making it emits a program for every call site. Then names are looked after: a function, a file, a site
 * or an argument that no call site has is a mistake, and is told with the nearest one there is.
 */
#include "analyze/filter/filter.h"

#include "analyze/filter/filter_chain.h"
#include "analyze/filter/filter_fields.h"
#include "analyze/filter/filter_spans.h"
#include "analyze/read/ktrgraph.h"
#include "analyze/read/tables.h"
#include "conf/eval/expr_eval.h"
#include "conf/expr/expr.h"
#include "conf/expr/expr_emit.h"
#include "conf/expr/expr_parse.h"
#include "conf/kit/array.h"
#include "conf/nearest.h"
#include "conf/value.h"
#include "writer/format/codec.h"
#include "writer/format/ident.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* [bytes] An event's text is looked at up to here. */
#define FILTER_TEXT_BYTES 8192

/* Index of argument i among the words of a struct ktr_event. */
#define FILTER_WORD(i) (offsetof(struct ktr_event, arg) / sizeof(uint64_t) + (i))
#define FILTER_N_WORDS FILTER_WORD(KTR_ARGS_MAX)

_Static_assert(offsetof(struct ktr_event, arg) % sizeof(uint64_t) == 0, "arguments are words of an event");
_Static_assert(offsetof(struct ktr_event, time_ns) == 0, "so is the time: word 0");

/* The CPU is the lower half of a word; everything here is little-endian. */
#define FILTER_CPU_WORD (offsetof(struct ktr_event, cpu) / sizeof(uint64_t))
_Static_assert(offsetof(struct ktr_event, cpu) % sizeof(uint64_t) == 0, "the lower half");

/* A LOAD of an argument is numbered above the fields. */
#define FILTER_ARG KTR__FILTER_N_FIELDS

struct filter_site {
	const struct ktr__expr_op *op; /* owned; `yes` of one that loads is 1 + the chain it begins, or 0 */
	struct ktr__filter_chain *chain; /* owned, or NULL */
	uint32_t n_ops;
	uint8_t always;
	uint8_t made;
};

struct ktr__filter {
	struct ktr__expr *expr;
	const struct ktr__tables *tables;
	const struct ktr_reader_info *info;
	uint32_t n_sites;	  /* room */
	struct filter_site *site; /* by id; those that come later are made when they are met */
	uint32_t n_sieve;	  /* bytes of sieve */
	uint8_t *sieve;		  /* owned, of the sites there were at first; NULL: nothing is gained by one */
	struct ktr__filter_spans *spans; /* owned; NULL: nothing is asked of spans */
	const struct ktr_event *event; /* being looked at */
	char text[FILTER_TEXT_BYTES];  /* of it */
};

/* What emission asks of: one site. */
struct filter_known {
	const struct ktr__filter *filter;
	const struct ktr_reader_site *site;
};

static const struct ktr_reader_site *filter_site_of(const struct ktr__tables *tables, uint32_t id)
{
	return id ? tables->site[id] : &tables->unknown;
}

/* Argument i of a site: loaded. 1: it has no value here. */
static int filter_known_arg(const struct ktr_reader_site *site, unsigned i, struct ktr__expr_value *value,
			    struct ktr__expr_op *op)
{
	if (i >= site->n_args)
		return 1;
	op->field = (uint16_t)FILTER_WORD(i);
	switch (site->arg[i].type) {
	case KTR_ARG_I8:
	case KTR_ARG_I16:
	case KTR_ARG_I32:
	case KTR_ARG_I64:
		op->code = KTR__EXPR_WORD;
		return 0;
	case KTR_ARG_U8:
	case KTR_ARG_U16:
	case KTR_ARG_U32:
	case KTR_ARG_U64:
	case KTR_ARG_PTR:
		op->code = KTR__EXPR_WORD;
		op->what = KTR__EXPR_UNSIGNED;
		return 0;
	case KTR_ARG_STR:
		value->kind = KTR__EXPR_TEXT;
		op->field = (uint16_t)(FILTER_ARG + i);
		return 0;
	case KTR_ARG_F64:
		op->field = (uint16_t)(FILTER_ARG + i);
		return 0;
	default: /* a stack is no value */
		return 1;
	}
}

static unsigned filter_arg_named(const struct ktr_reader_site *site, const char *name)
{
	unsigned i = 0;

	while (i < site->n_args && strcmp(site->arg[i].name, name) != 0)
		i++;
	return i;
}

static int filter_known(void *context, const struct ktr__expr_node *node, struct ktr__expr_value *value,
			struct ktr__expr_op *op)
{
	const struct filter_known *known = context;
	const struct ktr_reader_site *site = known->site;

	if (node->kind == KTR__EXPR_N_ARG)
		return filter_known_arg(site, node->field, value, op);
	if (node->kind == KTR__EXPR_N_NAMED)
		return filter_known_arg(site, filter_arg_named(site, node->value.text), value, op);
	if (node->field == KTR__FILTER_SPAN) {
		op->length = (uint16_t)node->value.length;
		op->value = (uint64_t)(node->value.text - known->filter->expr->texts);
		return 0;
	}
	if (node->field == KTR__FILTER_MONO || node->field == KTR__FILTER_CPU) {
		op->code = KTR__EXPR_WORD;
		op->what = KTR__EXPR_UNSIGNED;
		op->field = node->field == KTR__FILTER_MONO ? 0 : FILTER_CPU_WORD;
		op->length = node->field == KTR__FILTER_MONO ? 0 : 32;
		return 0;
	}
	return ktr__filter_value(node->field, known->filter->info, site, NULL, value);
}

/* ---- programs ---- */

/* Prepares the chains among a site's ops. Those for which there is no memory are the evaluator's. */
static void filter_make_chains(struct filter_site *site, struct ktr__expr_op *op, uint32_t n_ops)
{
	struct ktr__filter_chain chain;
	uint32_t n = 0, room = 0;

	for (uint32_t at = 0; at < n_ops; at++) {
		if (op[at].code > KTR__EXPR_NUMBER)
			continue;
		op[at].yes = 0;
		if ((at && op[at - 1].code < KTR__EXPR_COMPARE) || !ktr__filter_chain_make(&chain, op, n_ops, at) ||
		    ktr__array_grow(&site->chain, &room, n, sizeof(chain)))
			continue;
		site->chain[n++] = chain;
		op[at].yes = (uint8_t)n;
	}
}

static int filter_emit_site(struct ktr__filter *filter, uint32_t id, struct ktr_error *err)
{
	struct filter_known known = { filter, filter_site_of(filter->tables, id) };
	struct filter_site *site = &filter->site[id];
	struct ktr__expr_emitted emitted;
	struct ktr__expr_op *op;
	int rc;

	if (!known.site)
		return 0;
	site->made = 1;
	rc = ktr__expr_emit(filter->expr, filter->expr->root, filter_known, &known, &emitted, err);
	if (rc)
		return rc;
	site->always = (uint8_t)emitted.always;
	if (!emitted.n_ops)
		return 0;
	op = malloc(emitted.n_ops * sizeof(*op));
	if (!op)
		return ktr_error_set(err, ENOMEM, "no memory");
	memcpy(op, emitted.op, emitted.n_ops * sizeof(*op));
	filter_make_chains(site, op, emitted.n_ops);
	site->op = op;
	site->n_ops = emitted.n_ops;
	return 0;
}

/* A site that was not there when the filter was made. Where there is no memory, its events pass. */
static const struct filter_site *filter_late_site(struct ktr__filter *filter, uint32_t id)
{
	static const struct filter_site lets_pass = { .always = 1 };

	if (ktr__array_grow(&filter->site, &filter->n_sites, id, sizeof(*filter->site)))
		return &lets_pass;
	return filter_emit_site(filter, id, NULL) ? &lets_pass : &filter->site[id];
}

static inline const struct filter_site *filter_site(struct ktr__filter *filter, uint32_t id)
{
	if (id < filter->n_sites && filter->site[id].made)
		return &filter->site[id];
	return filter_late_site(filter, id);
}

/* ---- events ---- */

static void filter_load_arg(const struct ktr_event *event, unsigned i, struct ktr__expr_value *value)
{
	if (event->site->arg[i].type == KTR_ARG_F64) {
		value->kind = KTR__EXPR_REAL;
		value->bits = event->arg[i];
	} else if (event->str[i].is_null) {
		*value = ktr__expr_text("(null)", 6);
	} else {
		*value = ktr__expr_text(event->str[i].bytes, event->str[i].n_bytes);
	}
}

static void filter_load(void *context, const struct ktr__expr_op *op, const char *name,
			struct ktr__expr_value *value)
{
	struct ktr__filter *filter = context;
	const struct ktr_event *event = filter->event;
	size_t n;

	if (op->what & KTR__EXPR_FROM_WORD) {
		value->bits = ((const uint64_t *)(const void *)event)[op->field] & ~0ull >> (-op->length & 63);
		value->kind = op->what & KTR__EXPR_UNSIGNED && value->bits >> 63 ? KTR__EXPR_BIG : KTR__EXPR_INT;
	} else if (op->field == KTR__FILTER_SPAN) {
		ktr__filter_spans_value(filter->spans, name, event, value);
	} else if (op->field >= FILTER_ARG) {
		filter_load_arg(event, op->field - FILTER_ARG, value);
	} else if (op->field == KTR__FILTER_MSG) {
		n = ktr_event_text(event, filter->text, sizeof(filter->text));
		*value = ktr__expr_text(filter->text, n < sizeof(filter->text) ? n : sizeof(filter->text) - 1);
	} else {
		ktr__filter_value(op->field, filter->info, event->site, event, value);
	}
}

static int filter_regex(void *context, uint64_t index, const char *text, size_t length)
{
	const struct ktr__filter *filter = context;

	return ktr__expr_regex(filter->expr, index, text, length);
}

static int filter_run(struct ktr__filter *filter, const struct filter_site *site, unsigned first,
		      const struct ktr_event *event)
{
	const struct ktr__expr_program program = { site->op, site->n_ops, (uint32_t)filter->expr->n_texts,
						   filter->expr->texts, first };
	const struct ktr__expr_user user = { filter_load, filter_regex, filter,
					     (const uint64_t *)(const void *)event, FILTER_N_WORDS };

	filter->event = event;
	return ktr__expr_run(&program, &user);
}

/*
 * Follows tests of words, and prepared chains of them, which most tests are: the program is the evaluator's from
 * the first other op on. Where that is, or a target.
 */
static inline unsigned filter_words(const struct filter_site *site, const uint64_t *words)
{
	unsigned at = 0;

	while (at < site->n_ops) {
		const struct ktr__expr_op *op = &site->op[at];

		if (op->code == KTR__EXPR_WORD) {
			uint64_t flip = op->what & KTR__EXPR_UNSIGNED ? 0 : 1ull << 63;
			uint64_t a = (words[op->field] & ~0ull >> (-op->length & 63)) ^ flip, b = op->value ^ flip;
			unsigned outcome = 1u << ((a > b) - (a < b) + 1);

			at = op->what & outcome ? op->yes : op->no;
		} else {
			const struct ktr__filter_chain *chain;
			unsigned next;

			if (op->code > KTR__EXPR_NUMBER || !op->yes)
				return at;
			chain = &site->chain[op->yes - 1];
			next = chain->is_usual ? ktr__filter_chain_usual(chain, words)
					       : ktr__filter_chain_test(chain, words);
			if (next == KTR__FILTER_CHAIN_BREAKS)
				return at;
			at = next;
		}
	}
	return at;
}

int ktr__filter_pass(struct ktr__filter *filter, const struct ktr_event *event)
{
	const struct filter_site *site = filter_site(filter, event->site->id);
	unsigned at;

	if (!site->n_ops)
		return site->always;
	at = filter_words(site, (const uint64_t *)(const void *)event);
	return at < site->n_ops ? filter_run(filter, site, at, event) : at == KTR__EXPR_ACCEPT;
}

int ktr__filter_asks(const struct ktr__filter *filter, uint32_t id, const struct ktr_event *event)
{
	const struct filter_site *site = &filter->site[id];
	unsigned at = filter_words(site, (const uint64_t *)(const void *)event);

	return at < site->n_ops ? -1 : at == KTR__EXPR_ACCEPT;
}

/* ---- making one ---- */

/* Could the condition hold at any site? */
static int filter_holds_somewhere(const struct ktr__filter *filter, unsigned node)
{
	struct ktr__expr_emitted emitted;

	for (uint32_t id = 0; id < filter->n_sites; id++) {
		struct filter_known known = { filter, filter_site_of(filter->tables, id) };

		if (known.site &&
		    (ktr__expr_emit(filter->expr, node, filter_known, &known, &emitted, NULL) ||
		     emitted.n_ops || emitted.always))
			return 1;
	}
	return 0;
}

/* What a mistyped name may have meant: the idx-th, over the sites of a filter. */
struct filter_names {
	const struct ktr__filter *filter;
	unsigned field; /* KTR__FILTER_N_FIELDS: arguments, and the fields */
};

static const char *filter_name_of(unsigned field, const struct ktr_reader_site *site, unsigned i)
{
	struct ktr__expr_value value = { .kind = KTR__EXPR_NONE };

	switch (field) {
	case KTR__FILTER_SITE:
		return i == 0 ? site->name : i == 1 ? site->func : i == 2 ? site->ident : NULL;
	case KTR__FILTER_FILE:
		return i ? NULL : ktr__ident_base(site->file);
	case KTR__FILTER_N_FIELDS:
		return i < site->n_args ? site->arg[i].name : NULL;
	default:
		if (!i)
			ktr__filter_value(field, NULL, site, NULL, &value);
		return value.kind == KTR__EXPR_TEXT ? value.text : NULL;
	}
}

static int filter_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	const struct filter_names *names = context;
	uint32_t id = idx / KTR_ARGS_MAX;
	const struct ktr_reader_site *site;
	const char *found = NULL;

	*value = idx;
	if (names->field == KTR__FILTER_KIND) {
		found = idx <= KTR_KIND_STOP ? ktr__ktrgraph_text((enum ktr_event_kind)idx) : NULL;
	} else if (id < names->filter->n_sites) {
		site = filter_site_of(names->filter->tables, id);
		found = site ? filter_name_of(names->field, site, idx % KTR_ARGS_MAX) : NULL;
	} else if (names->field == KTR__FILTER_N_FIELDS) {
		idx -= names->filter->n_sites * KTR_ARGS_MAX;
		found = idx <= KTR__FILTER_APPROX ? ktr__filter_fields[idx].name : NULL;
	}
	if (!found)
		return names->field != KTR__FILTER_KIND && id < names->filter->n_sites ? 1 : -ENOENT;
	snprintf(name, size, "%s", found);
	return 0;
}

static int filter_unknown(const struct ktr__filter *filter, const struct ktr__expr_node *node,
			  const char *what, unsigned field, struct ktr_error *err)
{
	struct filter_names names = { filter, field };

	return ktr__unknown_word(what, node->value.text, node->value.length, node->column, EINVAL, filter_names,
			    &names, err);
}

/* A name that is compared with must be that of some site, a pattern must match one. */
static int filter_check_named(const struct ktr__filter *filter, unsigned at, struct ktr_error *err)
{
	const struct ktr__expr_node *node = &filter->expr->node[at], *test = node;
	unsigned field = node->named - 1u;
	struct ktr__expr_value value;

	if (field == KTR__FILTER_CLASS ||
	    (field != KTR__FILTER_SITE &&
	     !ktr__filter_value(field, filter->info, &filter->tables->unknown, NULL, &value)))
		return 0;
	if (filter_holds_somewhere(filter, at))
		return 0;
	for (unsigned kind = 0; field == KTR__FILTER_KIND && kind <= KTR_KIND_STOP; kind++)
		if (strcmp(ktr__ktrgraph_text((enum ktr_event_kind)kind), node->value.text) == 0)
			return 0;
	while (test->kind != KTR__EXPR_N_TEST)
		test = &filter->expr->node[test->left];
	if (test->code == KTR__EXPR_COMPARE)
		return filter_unknown(filter, node, field == KTR__FILTER_SITE ? "call site" :
					      ktr__filter_fields[field].name, field, err);
	return ktr_error_at(err, NULL, 0, node->column, EINVAL, "no call site has a %s that matches \"%.*s\"",
			    ktr__filter_fields[field].name, ktr__shown(node->value.length), node->value.text);
}

static int filter_check_arg(const struct ktr__filter *filter, const struct ktr__expr_node *node,
			    struct ktr_error *err)
{
	for (uint32_t id = 1; id < filter->n_sites; id++) {
		const struct ktr_reader_site *site = filter->tables->site[id];

		if (site && (node->kind == KTR__EXPR_N_ARG ? node->field
							   : filter_arg_named(site, node->value.text)) <
		     site->n_args)
			return 0;
	}
	if (node->kind == KTR__EXPR_N_NAMED)
		return filter_unknown(filter, node, "field or argument", KTR__FILTER_N_FIELDS, err);
	return ktr_error_at(err, NULL, 0, node->column, EINVAL, "no call site has an argument %u, counted from 0",
			    node->field);
}

static int filter_check_names(const struct ktr__filter *filter, struct ktr_error *err)
{
	int rc = 0;

	for (unsigned i = 0; i < filter->expr->n_nodes && !rc; i++) {
		const struct ktr__expr_node *node = &filter->expr->node[i];

		if (node->named)
			rc = filter_check_named(filter, i, err);
		else if (node->kind == KTR__EXPR_N_NAMED || node->kind == KTR__EXPR_N_ARG)
			rc = filter_check_arg(filter, node, err);
	}
	return rc;
}

/* A word of an event that a sieve has: the bit of an argument, 0 for what else there is; -1: it has not. */
static int filter_sieve_word(unsigned word)
{
	if (word >= FILTER_WORD(0) && word < FILTER_N_WORDS)
		return 1 << (word - FILTER_WORD(0));
	return word == 0 || word == FILTER_CPU_WORD ? 0 : -1;
}

/* What a chain needs likewise. */
static int filter_sieve_chain(const struct ktr__filter_chain *chain)
{
	int args = 0, bit;

	for (unsigned i = 0; i < chain->n_links; i++) {
		bit = chain->link[i].mask ? filter_sieve_word(chain->link[i].word) : 0;
		if (bit < 0)
			return -1;
		args |= bit;
	}
	return args;
}

/* What is to be done with a site's events; those that need the evaluator, or more than numbers, are decoded. */
static uint8_t filter_sieve_site(const struct filter_site *site)
{
	int args = 0, more;

	if (!site->made || (!site->n_ops && site->always))
		return 0;
	if (!site->n_ops)
		return KTR__SIEVE_NEVER;
	for (uint32_t at = 0; at < site->n_ops;) {
		const struct ktr__expr_op *op = &site->op[at];

		if (op->code == KTR__EXPR_WORD) {
			more = filter_sieve_word(op->field);
			at++;
		} else if (op->code <= KTR__EXPR_NUMBER && op->yes) {
			/* A value, and then a value and an operation for each link more. */
			more = filter_sieve_chain(&site->chain[op->yes - 1]);
			at += 2u * site->chain[op->yes - 1].n_links - 1;
		} else {
			return 0;
		}
		if (more < 0)
			return 0;
		args |= more;
	}
	return (uint8_t)(KTR__SIEVE_ASK | args);
}

/* Site 0 is whatever is not known: never left out unseen. */
static int filter_make_sieve(struct ktr__filter *filter, struct ktr_error *err)
{
	unsigned any = 0;

	filter->sieve = calloc(filter->n_sites, 1);
	if (!filter->sieve)
		return ktr_error_set(err, ENOMEM, "no memory");
	filter->n_sieve = filter->n_sites;
	for (uint32_t id = 1; id < filter->n_sites; id++)
		any |= filter->sieve[id] = filter_sieve_site(&filter->site[id]);
	if (any)
		return 0;
	free(filter->sieve);
	filter->sieve = NULL;
	return 0;
}

static int filter_make(struct ktr__filter *filter, const char *text, int later, struct ktr_error *err)
{
	const struct ktr__expr_language language = {
		.fields = ktr__filter_fields,
		.n_fields = KTR__FILTER_N_FIELDS,
		.n_args = KTR_ARGS_MAX,
		.constant = ktr__filter_constant,
		.context = (void *)(uintptr_t)filter->tables,
	};
	int rc = ktr__expr_parse(text, &language, &filter->expr, err);

	/* Where no site is known, as in an empty trace, no name is wrong. */
	if (!rc && filter->n_sites > 1)
		rc = filter_check_names(filter, err);
	if (rc && filter->expr && later)
		rc = 0;
	if (!rc)
		rc = ktr__filter_spans_new(filter->expr, filter->tables, &filter->spans);
	for (uint32_t id = 0; id < filter->n_sites && !rc; id++)
		rc = filter_emit_site(filter, id, err);
	return rc ? rc : filter_make_sieve(filter, err);
}

struct ktr__filter_spans *ktr__filter_spans(struct ktr__filter *filter)
{
	return filter->spans;
}

unsigned ktr__filter_args(const struct ktr__filter *filter, uint32_t id)
{
	const unsigned all = (1u << KTR_ARGS_MAX) - 1;
	const struct filter_site *site = &filter->site[id];
	unsigned args = 0;

	if (id >= filter->n_sites || !site->made)
		return all;
	for (uint32_t i = 0; i < site->n_ops; i++) {
		const struct ktr__expr_op *op = &site->op[i];

		/* What is loaded by itself may be made of several arguments. */
		if (op->code == KTR__EXPR_LOAD && !(op->what & KTR__EXPR_FROM_WORD))
			return all;
		if ((op->code == KTR__EXPR_LOAD || op->code == KTR__EXPR_WORD) && op->field >= FILTER_WORD(0))
			args |= 1u << (op->field - FILTER_WORD(0));
	}
	return args;
}

const uint8_t *ktr__filter_sieve(const struct ktr__filter *filter, uint32_t *n)
{
	*n = filter->n_sieve;
	return filter->sieve;
}

int ktr__filter_new(const char *text, const struct ktr__tables *tables, const struct ktr_reader_info *info,
		    int later,
		    struct ktr__filter **out, struct ktr_error *err)
{
	struct ktr__filter *filter = calloc(1, sizeof(*filter));
	int rc = -ENOMEM;

	*out = NULL;
	if (filter) {
		filter->tables = tables;
		filter->info = info;
		filter->n_sites = tables->n_sites ? tables->n_sites : 1;
		filter->site = calloc(filter->n_sites, sizeof(*filter->site));
		if (filter->site)
			rc = filter_make(filter, text, later, err);
	}
	if (rc) {
		ktr_error_set(err, -rc, "no memory");
		ktr__filter_free(filter);
		return rc;
	}
	*out = filter;
	return 0;
}

void ktr__filter_free(struct ktr__filter *filter)
{
	if (!filter)
		return;
	for (uint32_t id = 0; filter->site && id < filter->n_sites; id++) {
		free((void *)(uintptr_t)filter->site[id].op);
		free(filter->site[id].chain);
	}
	free(filter->site);
	free(filter->sieve);
	ktr__filter_spans_free(filter->spans);
	ktr__expr_free(filter->expr);
	free(filter);
}
