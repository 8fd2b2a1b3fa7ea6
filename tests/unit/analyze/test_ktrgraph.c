/* SPDX-License-Identifier: BSD-2-Clause */
/* KTRGRAPH formats, as the macros of ktr/event.h expand, and what only looks like them. */
#include "tests/unit/suite.h"

#include "analyze/read/ktrgraph.h"

#define KTR_OFF /* only the formats are wanted */
#include <ktr.h>

#include <stdlib.h>
#include <string.h>

static struct ktr__arena ktrgraph_arena;

static struct ktr_reader_site ktrgraph_site(const char *format, const char *names, unsigned n_args,
					const enum ktr_arg_type *type)
{
	struct ktr_reader_site site = { .format = format, .n_args = n_args };

	for (unsigned i = 0; i < n_args; i++)
		site.arg[i].type = type[i];
	CU_ASSERT(ktr__ktrgraph_names(&site, names, &ktrgraph_arena) == 0);
	CU_ASSERT(ktr__ktrgraph_parse(&site, &ktrgraph_arena) == 0);
	CU_ASSERT(ktr__ktrgraph_unique(&site, &ktrgraph_arena) == 0);
	return site;
}

static void states_have_a_row_and_attributes(void)
{
	static const enum ktr_arg_type type[] = { KTR_ARG_STR, KTR_ARG_STR, KTR_ARG_I32,
						  KTR_ARG_STR };
	struct ktr_reader_site site = ktrgraph_site(
		KTR__GRAPH("thread", "state:\"%s\"") "prio:%d, " KTR_ATTR_LINKED,
		"id,state,td->prio,other", 4, type);

	CU_ASSERT(site.kind == KTR_KIND_STATE);
	CU_ASSERT_STRING_EQUAL(site.group, "thread");
	CU_ASSERT_PTR_NULL(site.ident);
	CU_ASSERT(site.value_arg == 1 && site.first_attr == 2);
	CU_ASSERT_STRING_EQUAL(site.arg[0].name, "id");
	CU_ASSERT_STRING_EQUAL(site.arg[1].name, "state");
	CU_ASSERT_STRING_EQUAL(site.arg[2].name, "prio");
	CU_ASSERT_STRING_EQUAL(site.arg[3].name, "linkedto");
	ktr__arena_free(&ktrgraph_arena);
}

static void every_kind_is_known(void)
{
	static const enum ktr_arg_type str[] = { KTR_ARG_STR, KTR_ARG_STR };
	static const enum ktr_arg_type i32[] = { KTR_ARG_STR, KTR_ARG_I32 };
	static const enum ktr_arg_type u64[] = { KTR_ARG_STR, KTR_ARG_U64 };
	struct ktr_reader_site site;

	site = ktrgraph_site(KTR__GRAPH("load", "counter:%d") "none", "id,counter", 2, i32);
	CU_ASSERT(site.kind == KTR_KIND_COUNTER && site.first_attr == 2);
	site = ktrgraph_site(KTR__GRAPH("thread", "point:\"%s\"") "none", "id,point", 2, str);
	CU_ASSERT(site.kind == KTR_KIND_POINT);
	site = ktrgraph_site(KTR__GRAPH("syscall", "start:0x%jX") "none", "id,key", 2, u64);
	CU_ASSERT(site.kind == KTR_KIND_START);
	site = ktrgraph_site(KTR__GRAPH("syscall", "stop:0x%jX") "none", "id,key", 2, u64);
	CU_ASSERT(site.kind == KTR_KIND_STOP);
	CU_ASSERT_STRING_EQUAL(site.arg[1].name, "key");
	CU_ASSERT_STRING_EQUAL(ktr__ktrgraph_text(site.kind), "stop");
	site = ktrgraph_site("got %d bytes", "n", 1, i32 + 1);
	CU_ASSERT(site.kind == KTR_KIND_EVENT && site.value_arg == -1 && !site.group);
	CU_ASSERT_STRING_EQUAL(ktr__ktrgraph_text(site.kind), "event");
	ktr__arena_free(&ktrgraph_arena);
}

static void scopes_have_a_constant_id(void)
{
	static const enum ktr_arg_type type[] = { KTR_ARG_U64, KTR_ARG_I32 };
	struct ktr_reader_site site = ktrgraph_site(
		KTR__SCOPE_FORMAT("50%% done, and \"more", "start") "shard:%d", "key,i", 2, type);

	CU_ASSERT(site.kind == KTR_KIND_START && site.value_arg == 0 && site.first_attr == 1);
	CU_ASSERT_STRING_EQUAL(site.group, "scope");
	CU_ASSERT_STRING_EQUAL(site.ident, "50% done, and \"more");
	CU_ASSERT_STRING_EQUAL(site.arg[0].name, "key");
	CU_ASSERT_STRING_EQUAL(site.arg[1].name, "shard");
	ktr__arena_free(&ktrgraph_arena);
}

static void what_breaks_the_grammar_is_a_plain_event(void)
{
	static const enum ktr_arg_type i32[] = { KTR_ARG_I32, KTR_ARG_I32 };
	static const enum ktr_arg_type str[] = { KTR_ARG_STR, KTR_ARG_STR };
	static const char *const formats[] = {
		"KTRGRAPH",
		"KTRGRAPH group:\"a",
		"KTRGRAPH group:\"a\", id:\"%s",
		"KTRGRAPH group:\"a\", id:\"%s\", state",
		"KTRGRAPH group:\"a\", id:\"%s\", state:\"%s\"",
		"KTRGRAPH group:\"a\", id:\"%s\", mood:\"%s\", attributes: none",
		"KTRGRAPH group:\"a\", id:\"%s\", state:\"fixed\", attributes: none",
		"KTRGRAPH group:\"a\", id:\"%s%s\", state:\"%s\", attributes: none",
		"KTRGRAPH group:\"a\", id:\"x%s\", state:\"%s\", attributes: none",
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		CU_ASSERT(ktrgraph_site(formats[i], "a,b", 2, str).kind == KTR_KIND_EVENT);
	/* The text is right, the values are not strings. */
	CU_ASSERT(ktrgraph_site(KTR__GRAPH("g", "state:\"%s\"") "none", "a,b", 2, i32).kind ==
		  KTR_KIND_EVENT);
	CU_ASSERT(ktrgraph_site(KTR__GRAPH("g", "start:0x%jX") "none", "a,b", 2, str).kind ==
		  KTR_KIND_EVENT);
	CU_ASSERT(ktrgraph_site(KTR__GRAPH("g", "state:\"%s\"") "none", "a", 1, str).kind ==
		  KTR_KIND_EVENT);
	ktr__arena_free(&ktrgraph_arena);
}

static void names_are_split_as_a_compiler_would(void)
{
	static const enum ktr_arg_type type[6] = { KTR_ARG_I32, KTR_ARG_I32, KTR_ARG_I32,
						   KTR_ARG_I32, KTR_ARG_I32, KTR_ARG_I32 };
	struct ktr_reader_site site = ktrgraph_site("%d", " f(a, b) ,x[i, 2],s ? \",\" : '\\'',n,n", 6,
						type);

	CU_ASSERT_STRING_EQUAL(site.arg[0].name, "f(a, b)");
	CU_ASSERT_STRING_EQUAL(site.arg[1].name, "x[i, 2]");
	CU_ASSERT_STRING_EQUAL(site.arg[2].name, "s ? \",\" : '\\''");
	CU_ASSERT_STRING_EQUAL(site.arg[3].name, "n");
	CU_ASSERT_STRING_EQUAL(site.arg[4].name, "n_2");
	CU_ASSERT_STRING_EQUAL(site.arg[5].name, "arg5");
	site = ktrgraph_site("%d", "(((", 3, type);
	CU_ASSERT_STRING_EQUAL(site.arg[0].name, "(((");
	CU_ASSERT_STRING_EQUAL(site.arg[1].name, "arg1");
	ktr__arena_free(&ktrgraph_arena);
}

static void casts_are_no_part_of_a_name(void)
{
	static const enum ktr_arg_type type[1] = { KTR_ARG_I32 };
	static const struct {
		const char *text, *name;
	} known[] = {
		{ "(int)n", "n" },
		{ "(int) n", "n" },
		{ "( unsigned char ) n", "n" },
		{ "(int)(long)n", "n" },
		{ "(int)(n)", "n" },
		{ "((int)n)", "n" },
		{ "(n)", "n" },
		{ "(u32)n", "n" },
		{ "(u32)(n)", "n" },
		{ "(void *)p", "p" },
		{ "(const struct peer *)p->next", "p->next" },
		{ "(char *)\"a, b\"", "\"a, b\"" },
		{ "(uintptr_t)&object", "&object" },
		{ "(int)-1", "-1" },
		{ "(struct peer *)*p", "*p" },
		{ "(unsigned)~0", "~0" },
		{ "(unsigned)(a + b)", "a + b" },
		{ "static_cast<int>(n)", "n" },
		{ "static_cast<unsigned long>( n )", "n" },
		{ "reinterpret_cast<std::vector<std::vector<peer>> *>(p)", "p" },
		{ "const_cast<char *>(static_cast<const char *>(p))", "p" },
		{ "(long long)static_cast<int>(n)", "n" },
		{ "(std::size_t)n", "n" },
		{ "size_t(n)", "n" },
		{ "int(n)", "n" },
		/* What is none. */
		{ "n", "n" },
		{ "a + b", "a + b" },
		{ "(a) + b", "(a) + b" },
		{ "(a) - b", "(a) - b" },
		{ "(a) * (b)", "(a) * (b)" },
		{ "(a + b) * c", "(a + b) * c" },
		{ "(a < b) & c", "(a < b) & c" },
		{ "(a) ? b : c", "(a) ? b : c" },
		{ "(p)->next", "(p)->next" },
		{ "(a)[n]", "(a)[n]" },
		{ "(a + b)(c)", "(a + b)(c)" },
		{ "f(n)", "f(n)" },
		{ "f((int)n)", "f((int)n)" },
		{ "f<int>(n)", "f<int>(n)" },
		{ "static_cast<int>(a) + b", "static_cast<int>(a) + b" },
		{ "sizeof(int)", "sizeof(int)" },
		{ "print(n)", "print(n)" },
		{ "(int)", "int" },
		{ "()", "arg0" },
		{ "((n)", "(n" },
		{ "(\")\")n", "(\")\")n" },
		{ "static_cast<int>(n", "static_cast<int>(n" },
		{ "_cast<", "_cast<" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct ktr_reader_site site = ktrgraph_site("%d", known[i].text, 1, type);

		if (strcmp(site.arg[0].name, known[i].name) != 0)
			printf("\n  %s: %s\n", known[i].text, site.arg[0].name);
		CU_ASSERT_STRING_EQUAL(site.arg[0].name, known[i].name);
	}
	ktr__arena_free(&ktrgraph_arena);
}

/* Pieces of the grammar in random order: no reading beyond the end, and values stay arguments. */
static void random_formats_do_no_harm(void)
{
	static const char *const pieces[] = { "KTRGRAPH group:\"",
					      "g",
					      "\", id:\"",
					      "%s",
					      "\", ",
					      "state:",
					      "\"%s\"",
					      "start:0x%jX",
					      ", attributes: ",
					      "none",
					      "a:%d",
					      ", ",
					      "\"",
					      "%",
					      "%%",
					      "counter:%d" };
	enum ktr_arg_type type[6];
	char format[512];

	srandom(3);
	for (int round = 0; round < 20000; round++) {
		struct ktr_reader_site site;
		unsigned n_args = (unsigned)random() % 7;

		format[0] = '\0';
		for (int n = (int)(random() % 20); n > 0; n--)
			strcat(format,
			       pieces[(size_t)random() % (sizeof(pieces) / sizeof(pieces[0]))]);
		for (unsigned i = 0; i < 6; i++)
			type[i] = random() % 2 ? KTR_ARG_STR : KTR_ARG_U64;
		site = ktrgraph_site(format, format, n_args, type);
		CU_ASSERT((site.kind == KTR_KIND_EVENT) == (site.value_arg < 0));
		CU_ASSERT(site.value_arg < (int)n_args);
		CU_ASSERT(site.kind == KTR_KIND_EVENT || site.ident ||
			  site.arg[0].type == KTR_ARG_STR);
		ktr__arena_free(&ktrgraph_arena);
	}
}

SUITE(kind, TEST(states_have_a_row_and_attributes), TEST(every_kind_is_known),
      TEST(scopes_have_a_constant_id), TEST(what_breaks_the_grammar_is_a_plain_event),
      TEST(names_are_split_as_a_compiler_would), TEST(casts_are_no_part_of_a_name),
      TEST(random_formats_do_no_harm));
