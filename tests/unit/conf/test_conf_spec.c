/* SPDX-License-Identifier: BSD-2-Clause */
/* SPECs that fit nothing, and what they may have meant. */
#include "test_conf.h"

#include "conf/eval/spec.h"

/* The SPEC as the probe has it; "" where it is far. */
static const char *mended(const char *spec, const char *probe)
{
	static char text[256];

	text[0] = '\0';
	if (ktr__spec_apart(spec, strlen(spec), probe) != KTR__SPEC_FAR)
		ktr__spec_mend(spec, strlen(spec), probe, text, sizeof(text));
	return text;
}

static void parts(void)
{
	const char *probe = "fbt:app:parse_line:entry";

	CU_ASSERT_STRING_EQUAL(mended("fbt::parse_lin:", probe), "fbt::parse_line:");
	CU_ASSERT_STRING_EQUAL(mended("fbt::parse_lnie", probe), "fbt::parse_line");
	CU_ASSERT_STRING_EQUAL(mended("fbt:::netry", probe), "fbt:::entry");
	CU_ASSERT_STRING_EQUAL(mended("fbbt:*:Parse_Line:entry", probe), "fbt:*:parse_line:entry");
	CU_ASSERT_STRING_EQUAL(mended("fbt:appp:parse_*:", probe), "fbt:app:parse_*:");
	CU_ASSERT_STRING_EQUAL(mended("fbt::parse:", probe), "fbt::parse_line:");
	CU_ASSERT_STRING_EQUAL(mended("fbt:lib:parse_line:", probe), "");
	CU_ASSERT_STRING_EQUAL(mended("fbt:a:parse_line:", probe), "");
	CU_ASSERT_STRING_EQUAL(mended("::pa:", probe), "");
	CU_ASSERT_STRING_EQUAL(mended("ktr::tihs:a.c:12", "ktr:app:this:a.c:12"), "ktr::this:a.c:12");
}

static void stars(void)
{
	CU_ASSERT_STRING_EQUAL(mended("fbt::pasre_*:", "fbt:app:parse_line:entry"), "fbt::parse_line:");
	CU_ASSERT_STRING_EQUAL(mended("fbt::*_lien:", "fbt:app:parse_line:entry"), "fbt::parse_line:");
	CU_ASSERT_STRING_EQUAL(mended("fbt::p?rse_lne:", "fbt:app:parse_line:entry"), "fbt::parse_line:");
	CU_ASSERT_STRING_EQUAL(mended("fbt::prase:", "fbt:app:parse(char*, int):entry"), "fbt::parse(char*, int):");
}

static void nearer(void)
{
	const char *spec = "fbt::parse_linr:";
	size_t n = strlen(spec);

	CU_ASSERT_EQUAL(ktr__spec_apart(spec, n, "fbt:app:parse_linr:entry"), 0);
	CU_ASSERT_EQUAL(ktr__spec_apart(spec, n, "fbt:app:parse_line:entry"), 1);
	CU_ASSERT_EQUAL(ktr__spec_apart(spec, n, "fbt:app:parse_fine:entry"), 2);
	CU_ASSERT_EQUAL(ktr__spec_apart(spec, n, "fbt:app:PARSE_LINR:entry"), 1);
}

/* Long and short ones, and a buffer that is too small. */
static void bounds(void)
{
	char spec[600] = "fbt::", probe[600] = "fbt:app:", small[8];

	memset(spec + 5, 'a', 300);
	memset(probe + 8, 'b', 300);
	CU_ASSERT_EQUAL(ktr__spec_apart(spec, strlen(spec), probe), KTR__SPEC_FAR);
	CU_ASSERT_EQUAL(ktr__spec_apart("fbt::x", 6, "fbt:app:y:"), KTR__SPEC_FAR);
	CU_ASSERT_EQUAL(ktr__spec_apart("fbt::x", 6, "fbt"), KTR__SPEC_FAR);
	CU_ASSERT_EQUAL(ktr__spec_apart("", 0, ""), 0);
	CU_ASSERT_EQUAL(ktr__spec_apart(":::", 3, "a:b:c:d"), 0);
	ktr__spec_mend("fbt::parse_lin:", 15, "fbt:app:parse_line:entry", small, sizeof(small));
	CU_ASSERT_STRING_EQUAL(small, "fbt::pa");
}

SUITE(conf_spec, TEST(parts), TEST(stars), TEST(nearer), TEST(bounds));
