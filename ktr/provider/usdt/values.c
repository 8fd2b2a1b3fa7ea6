/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notes say how long an argument is and where, but neither its name nor whether it points to text. Of those that
 * Debian's programs have this is known from their documents:
 * https://docs.python.org/3.11/howto/instrumentation.html, https://www.postgresql.org/docs/15/dynamic-trace.html,
 * https://sourceware.org/gdb/onlinedocs/gdb/Set-Catchpoints.html (libstdc++).
 */
#include "ktr/provider/usdt/values.h"

#include "ktr/record/own.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define VALUES_TEXT 128 /* [bytes] of a string are recorded */

/* A letter for each kind before the name: s string, p address, t type_info; others are numbers. */
static const struct values_row {
	const char *provider, *name, *args;
} values_known[] = {
	{ "libstdcxx", "throw", "p:object t:type" },
	{ "libstdcxx", "rethrow", "p:object t:type" },
	{ "libstdcxx", "catch", "p:object t:type" },
	{ "python", "function__entry", "s:file s:function n:line" },
	{ "python", "function__return", "s:file s:function n:line" },
	{ "python", "line", "s:file s:function n:line" },
	{ "python", "gc__start", "n:generation" },
	{ "python", "gc__done", "n:collected" },
	{ "python", "import__find__load__start", "s:module" },
	{ "python", "import__find__load__done", "s:module n:found" },
	{ "python", "audit", "s:event p:arguments" },
	{ "postgresql", "query__start", "s:query" },
	{ "postgresql", "query__done", "s:query" },
	{ "postgresql", "query__parse__start", "s:query" },
	{ "postgresql", "query__parse__done", "s:query" },
	{ "postgresql", "query__rewrite__start", "s:query" },
	{ "postgresql", "query__rewrite__done", "s:query" },
	{ "postgresql", "statement__status", "s:status" },
	{ "postgresql", "transaction__start", "n:xid" },
	{ "postgresql", "transaction__commit", "n:xid" },
	{ "postgresql", "transaction__abort", "n:xid" },
};

void ktr__usdt_arguments(const char *provider, const char *name, struct ktr__usdt_arguments *known)
{
	const char *at = "";

	memset(known, 0, sizeof(*known));
	for (size_t i = 0; i < sizeof(values_known) / sizeof(values_known[0]); i++)
		if (strcmp(values_known[i].provider, provider) == 0 && strcmp(values_known[i].name, name) == 0)
			at = values_known[i].args;
	for (unsigned i = 0; i < KTR__USDT_ARGS; i++) {
		size_t n = strcspn(at, " ");

		if (!n) {
			snprintf(known->name[i], sizeof(known->name[i]), "arg%u", i);
			continue;
		}
		known->kind[i] = *at == 's' ? KTR__USDT_STRING : *at == 't' ? KTR__USDT_TYPE :
				 *at == 'p' ? KTR__USDT_ADDRESS : KTR__USDT_NUMBER;
		snprintf(known->name[i], sizeof(known->name[i]), "%.*s", (int)n - 2, at + 2);
		at += n + (at[n] == ' ');
	}
}

/* ---- how they are recorded ---- */

/* The longest of all, as a signed one if any is that; floats as such. */
static enum ktr_arg_type values_number(const struct ktr__usdt_point *points, unsigned number)
{
	static const uint8_t types[2][4] = { { KTR_ARG_U8, KTR_ARG_U16, KTR_ARG_U32, KTR_ARG_U64 },
					     { KTR_ARG_I8, KTR_ARG_I16, KTR_ARG_I32, KTR_ARG_I64 } };
	unsigned n_bytes = 1;
	bool is_signed = false;

	for (const struct ktr__usdt_point *at = points; at; at = at->next) {
		const struct ktr__usdt_arg *arg = &at->arg[number];

		if (number >= at->n_args)
			continue;
		if (arg->is_float)
			return KTR_ARG_F64;
		is_signed |= arg->is_signed;
		n_bytes = arg->n_bytes > n_bytes ? arg->n_bytes : n_bytes;
	}
	return (enum ktr_arg_type)types[is_signed][__builtin_ctz(n_bytes)];
}

static bool values_have(const struct ktr__usdt_point *points, unsigned number)
{
	while (points && number >= points->n_args)
		points = points->next;
	return points;
}

int ktr__usdt_describe(const struct ktr__usdt_point *points, const struct ktr__usdt_arguments *known,
		       unsigned number, struct ktr_provider_arg *arg)
{
	static const char *const numbers[] = {
#define VALUES_TYPE(name, text, width) text,
		KTR_ARG_LIST(VALUES_TYPE)
#undef VALUES_TYPE
	};

	if (number >= KTR__USDT_ARGS || !values_have(points, number))
		return -ENOENT;
	arg->name = known->name[number];
	switch (known->kind[number]) {
	case KTR__USDT_ADDRESS:
		arg->type = "void *";
		arg->kind = KTR_ARG_PTR;
		break;
	case KTR__USDT_STRING:
		arg->type = "const char *";
		arg->kind = KTR_ARG_STR;
		break;
	case KTR__USDT_TYPE:
		arg->type = "std::type_info *";
		arg->kind = KTR_ARG_STR;
		break;
	default:
		arg->kind = values_number(points, number);
		arg->type = numbers[arg->kind];
	}
	return 0;
}

/* ---- what they are ---- */

/* Text where a pointer leads; the pointer itself where there is none, or nobody may be asked. */
static uint64_t values_text(uint64_t word, bool is_type, bool may_ask, char room[VALUES_TEXT + 4])
{
	uint64_t from = word;
	size_t n = 0;

	if (!word)
		return 0;
	/* The name is what follows the table of functions; a star says that names are not compared. */
	if (may_ask && (!is_type || ktr__usdt_copy(&from, word + 8, sizeof(from)) == sizeof(from)))
		n = ktr__usdt_copy(room, from, VALUES_TEXT);
	if (!n) {
		char *at = room + 2 + 16;

		*at = '\0';
		do
			*--at = "0123456789abcdef"[word & 15];
		while (word >>= 4);
		*--at = 'x';
		*--at = '0';
		return (uint64_t)(uintptr_t)at;
	}
	room[n] = '\0';
	if (n == VALUES_TEXT && !memchr(room, 0, n))
		strcpy(room + n, "...");
	return (uint64_t)(uintptr_t)(room + (is_type && *room == '*'));
}

static uint64_t values_double(uint64_t word, bool is_signed)
{
	double number = is_signed ? (double)(int64_t)word : (double)word;

	memcpy(&word, &number, sizeof(word));
	return word;
}

void ktr__usdt_fire(const struct ktr__usdt_point *point, struct ktr_provider_probe *probe, const ucontext_t *at)
{
	bool may_ask = !ktr__own_session()->sealed;
	char room[KTR__USDT_ARGS][VALUES_TEXT + 4];
	uint64_t word[KTR__USDT_ARGS] = { 0 };

	for (unsigned i = 0; i < point->n_args && i < probe->site.n_args; i++) {
		/* In a sandbox the kernel is not asked for memory. */
		if (!may_ask && point->arg[i].where == KTR__USDT_MEMORY)
			continue;
		word[i] = ktr__usdt_arg_value(&point->arg[i], at);
		/* Another of its places has a float there. */
		if (probe->site.type[i] == KTR_ARG_F64 && !point->arg[i].is_float)
			word[i] = values_double(word[i], point->arg[i].is_signed);
		if (probe->site.type[i] == KTR_ARG_STR)
			word[i] = values_text(word[i], point->kind[i] == KTR__USDT_TYPE, may_ask, room[i]);
	}
	ktr__provider_fire(probe, probe->site.n_args, word[0], word[1], word[2], word[3], word[4], word[5]);
}
