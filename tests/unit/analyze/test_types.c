/* SPDX-License-Identifier: BSD-2-Clause */
/* Images of types that are whole, damaged or without end; names of C++ and Rust. */
#include "tests/unit/suite.h"

#include "analyze/symbols/demangle.h"
#include "ktr/provider/types/places.h"
#include "ktr/provider/types/type_text.h"
#include "ktr/provider/types/types.h"
#include "analyze/types/types_build.h"
#include "writer/format/crc32c.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef KTR_HAVE_DEMANGLE
#define KTR_HAVE_DEMANGLE 0
#endif

/* int ns::next(struct list *l), at 0x1000, with another name, and ~list() after it. */
static void *types_image(size_t *n)
{
	struct ktr__types_build b;
	struct ktr__types_type integer = { .kind = KTR__TYPES_BASE, .size = 4, .encoding = KTR__TYPES_SIGNED };
	struct ktr__types_type list = { .kind = KTR__TYPES_STRUCT,
				       .size = 16 }, pointer = { .kind = KTR__TYPES_POINTER };
	struct ktr__types_function f = { .address = 0x1000, .size = 16, .n_args = 1, .language = KTR__TYPES_C };
	struct ktr__types_member m = { 0 };
	void *bytes;
	int is_new;

	ktr__types_build_begin(&b);
	b.head.machine = EM_X86_64;
	integer.name = ktr__types_build_text(&b, "int");
	list.name = ktr__types_build_text(&b, "list");
	pointer.size = 8;
	pointer.target = ktr__types_build_type(&b, &list, 42, &is_new);
	CU_ASSERT(is_new && ktr__types_build_type(&b, &list, 42, &is_new) == pointer.target && !is_new);
	m.name = ktr__types_build_text(&b, "l");
	m.type = ktr__types_build_type(&b, &pointer, 0, NULL);
	CU_ASSERT(ktr__types_build_type(&b, &pointer, 0, NULL) == m.type);
	ktr__types_build_member(&b, &m);
	f.name = ktr__types_build_text(&b, "ns::next");
	f.result = ktr__types_build_type(&b, &integer, 0, NULL);
	ktr__types_build_function(&b, &f);
	f.name = ktr__types_build_text(&b, "another");
	f.flags = KTR__TYPES_ALIAS;
	ktr__types_build_function(&b, &f);
	f = (struct ktr__types_function){ .address = 0x800, .size = 4, .name = f.name,
					 .flags = KTR__TYPES_UNTYPED };
	ktr__types_build_function(&b, &f);
	CU_ASSERT_FATAL(ktr__types_build_end(&b, &bytes, n) == 0);
	ktr__types_build_free(&b);
	return bytes;
}

static int types_loads(const void *bytes, size_t n, int sum)
{
	char *copy = malloc(n + 1);
	struct ktr__types_head head;
	struct ktr__types *types;
	int rc;

	CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
	memcpy(copy, bytes, n);
	if (sum && n >= sizeof(head)) {
		memcpy(&head, copy, sizeof(head));
		head.crc = 0;
		memcpy(copy, &head, sizeof(head));
		head.crc = ktr__crc32c(0, copy, n);
		memcpy(copy, &head, sizeof(head));
	}
	rc = ktr__types_load(copy, n, &types);
	CU_ASSERT((rc == 0) == (types != NULL));
	ktr__types_free(types);
	return rc;
}

static void an_image_is_whole_or_refused(void)
{
	size_t n;
	char *bytes = types_image(&n);

	CU_ASSERT(types_loads(bytes, n, 0) == 0);
	for (size_t cut = 0; cut < n; cut++)
		CU_ASSERT(types_loads(bytes, cut, 0) == -EINVAL && types_loads(bytes, cut, 1) == -EINVAL);
	for (size_t i = 0; i < n; i++) {
		bytes[i] ^= 0x10;
		CU_ASSERT(types_loads(bytes, n, 0) == -EINVAL);
		bytes[i] ^= 0x10;
	}
	free(bytes);
}

/* With a checksum that is right, as somebody would make it: each number that leads out of its array. */
static void numbers_out_of_range_are_refused(void)
{
	size_t n;
	char *bytes = types_image(&n);
	struct ktr__types_function *f = (void *)(bytes + sizeof(struct ktr__types_head));
	uint32_t *number[] = { &f->name, &f->linkage, &f->symbol, &f->file, &f->result, &f->first, &f->n_args };

	for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
		uint32_t old = *number[i];

		*number[i] = UINT32_MAX;
		CU_ASSERT(types_loads(bytes, n, 1) == -EINVAL);
		*number[i] = old;
	}
	f->address = UINT64_MAX;
	CU_ASSERT(types_loads(bytes, n, 1) == -EINVAL);
	free(bytes);
}

static void functions_are_found(void)
{
	struct ktr__types_place result, arg;
	struct ktr__types *types;
	const struct ktr__types_function *f;
	char text[KTR__PLACE_TEXT], *whole = NULL;
	size_t n, n_whole;
	void *bytes = types_image(&n);
	FILE *to;

	CU_ASSERT_FATAL(ktr__types_load(bytes, n, &types) == 0);
	f = ktr__types_at(types, 0x100f);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_STRING_EQUAL(ktr__types_text(types, f->name), "ns::next");
	CU_ASSERT(ktr__types_matches(types, f, "next") && ktr__types_matches(types, f, "ns::*"));
	CU_ASSERT(!ktr__types_matches(types, f, "ns"));
	CU_ASSERT_PTR_NULL(ktr__types_at(types, 0x1010));
	CU_ASSERT_PTR_NULL(ktr__types_at(types, 0x7ff));
	CU_ASSERT_PTR_NOT_NULL(ktr__types_at(types, 0x803));
	ktr__places(types, f, &result, &arg);
	CU_ASSERT_STRING_EQUAL(ktr__place_text(&arg, text), "rdi");
	CU_ASSERT_STRING_EQUAL(ktr__place_text(&result, text), "rax");
	to = open_memstream(&whole, &n_whole);
	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	ktr__type_prototype(to, types, f);
	fclose(to);
	CU_ASSERT_STRING_EQUAL(whole, "int ns::next(struct list *l)");
	free(whole);
	ktr__types_free(types);
}

static void the_last_part_of_a_name(void)
{
	CU_ASSERT_STRING_EQUAL(ktr__types_last("a::b<c::d>::e"), "e");
	CU_ASSERT_STRING_EQUAL(ktr__types_last("plain"), "plain");
	CU_ASSERT_STRING_EQUAL(ktr__types_last("a::b<c::d>"), "b<c::d>");
	CU_ASSERT_STRING_EQUAL(ktr__types_last("a::operator<"), "operator<");
	CU_ASSERT_STRING_EQUAL(ktr__types_last("(anonymous namespace)::f"), "f");
}

#if KTR_HAVE_DEMANGLE

static void types_demangles(const char *name, const char *expected, const char *whole)
{
	char text[KTR__DEMANGLE_MAX];

	CU_ASSERT_STRING_EQUAL(ktr__demangle(name, KTR__DEMANGLE_NAME, text), expected);
	CU_ASSERT_STRING_EQUAL(ktr__demangle(name, KTR__DEMANGLE_WHOLE, text), whole);
}

static void names_are_demangled(void)
{
	types_demangles("_ZN3foo3barEiPc", "foo::bar", "foo::bar(int, char*)");
	types_demangles("_ZNK3foo3barEv.isra.0", "foo::bar", "foo::bar() const [clone .isra.0]");
	types_demangles("_ZN4demo6parser5token17h0123456789abcdefE", "demo::parser::token", "demo::parser::token");
	types_demangles("_RNvNtC4demo6parser4next", "demo::parser::next", "demo::parser::next");
	types_demangles("_Rubbish", "_Rubbish", "_Rubbish");
	types_demangles("main", "main", "main");
	types_demangles("", "", "");
}

/* Each argument is the one before seven times over: 7^7 of the first, and more. */
static void a_name_that_explodes_is_cut(void)
{
	char name[512] = "_RINvC1a1fTllE", text[KTR__DEMANGLE_MAX];
	unsigned before = 8;
	const char *got;

	/* References count from behind _R, in base 62, one less than they are. */
	for (unsigned i = 0; i < 8 && before <= 62; i++) {
		static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
		unsigned at = (unsigned)strlen(name) - 2;
		char reference = digits[before - 1];

		snprintf(name + strlen(name), sizeof(name) - strlen(name), "TB%c_B%c_B%c_B%c_B%c_B%c_B%c_E",
			 reference,
			 reference, reference, reference, reference, reference, reference);
		before = at;
	}
	strcat(name, "E");
	got = ktr__demangle(name, KTR__DEMANGLE_NAME, text);
	CU_ASSERT_PTR_EQUAL_FATAL(got, text);
	CU_ASSERT(strlen(got) == KTR__DEMANGLE_MAX - 1);
	CU_ASSERT_STRING_EQUAL(got + KTR__DEMANGLE_MAX - 4, "...");
	CU_ASSERT(strncmp(got, "a::f::<(i32, i32), ((i32, i32), ", 32) == 0);
}

SUITE(types, TEST(an_image_is_whole_or_refused), TEST(numbers_out_of_range_are_refused), TEST(functions_are_found),
      TEST(the_last_part_of_a_name), TEST(names_are_demangled), TEST(a_name_that_explodes_is_cut));

#else

SUITE(types, TEST(an_image_is_whole_or_refused), TEST(numbers_out_of_range_are_refused), TEST(functions_are_found),
      TEST(the_last_part_of_a_name));

#endif
