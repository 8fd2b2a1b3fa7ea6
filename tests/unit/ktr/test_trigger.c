/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Triggers from their text to the program that a session takes, and what a session does with texts that
 * are none. tests/cli/control/freeze.sh shows them at work.
 */
#include "tests/unit/suite.h"

#include "analyze/filter/trigger_make.h"
#include "ktr/session/trigger_fields.h"

#include <ktr/ctl.h>
#include <ktr/session.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct ktr_error err;

static int make(const char *text, char *made, size_t size)
{
	ktr_error_clear(&err);
	return ktr__trigger_make(text, NULL, NULL, made, size, &err);
}

static void compiles(void)
{
	static const char *const texts[] = {
		"class == net",
		"class == net|lock and arg0 > 5",
		"class == mine",
		"class != mine or class == net",
		"site == queue.c:80 and depth > 900",
		"site == main or site ~ io_*",
		"file ~ src/*.c and line in (10..20)",
		"arg(\"p->len\") == -1 and p->name == \"x y\"",
		"load > 0.5 and cpu == 1 and tid in (1, 2)",
		"true",
	};
	char made[KTR_KNOB_STRING_BYTES];

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		int rc = make(texts[i], made, sizeof(made));

		if (rc)
			printf("\n  %s: %s\n", texts[i], err.text);
		CU_ASSERT(rc == 0 && made[0] == KTR__TRIGGER_MARK);
		/* The source stands at the end. */
		CU_ASSERT(strlen(made) > strlen(texts[i]) &&
			  strcmp(made + strlen(made) - strlen(texts[i]), texts[i]) == 0);
	}
	CU_ASSERT(make(" ", made, sizeof(made)) == 0 && !made[0]);
}

static void refuses(void)
{
	static const struct {
		const char *text;
		unsigned column;
		const char *word;
	} wrong[] = {
		{ "class == net and", 17, "missing" },
		{ "msg ~ \"*x*\"", 1, "only filters" },
		{ "arg0 == 1 and time > 1s", 15, "only filters" },
		{ "func =~ /x/", 9, "regular" },
		{ "class == mine|net", 10, "class == A" },
		{ "false", 1, "never" },
		{ "n == \"a\\x00b\"", 1, "NUL" },
	};
	char made[KTR_KNOB_STRING_BYTES], longer[1000];

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CU_ASSERT(make(wrong[i].text, made, sizeof(made)) < 0);
		if (err.column != wrong[i].column || !strstr(err.text, wrong[i].word))
			printf("\n  %s: %u: %s\n", wrong[i].text, err.column, err.text);
		CU_ASSERT(err.column == wrong[i].column && strstr(err.text, wrong[i].word) != NULL);
	}
	strcpy(longer, "arg0 == 0");
	for (int i = 1; i < 40; i++)
		sprintf(longer + strlen(longer), " or arg0 == %d", i);
	CU_ASSERT(make(longer, made, sizeof(made)) == -ENOSPC);
	/* Exactly what fits, and one byte less than that. */
	CU_ASSERT(make("class == net", made, sizeof(made)) == 0);
	CU_ASSERT(make("class == net", longer, strlen(made) + 1) == -ENOSPC ||
		  strcmp(longer, made) == 0);
	CU_ASSERT(make("class == net", longer, strlen(made)) == -ENOSPC);
}

/* The process's own session: what is no program leaves no trigger, and the old one is gone. */
static void sets(void)
{
	static const char *const wrong[] = { "class == net", "=", "=zz", "=1 0", "=1 5 0 0:abc", "=ff 0 :x",
					     "=1 ffff 0 0:x" };
	char made[KTR_KNOB_STRING_BYTES], text[KTR_KNOB_STRING_BYTES];

	if (!ktr_session_name()[0])
		return; /* no session can be had here */
	CU_ASSERT_FATAL(make("func == nobody and arg0 > 1", made, sizeof(made)) == 0);
	CU_ASSERT(ktr_set("debug.ktr.trigger", made, NULL) == 0);
	CU_ASSERT(ktr_get("debug.ktr.trigger", text, sizeof(text), NULL) == 0);
	CU_ASSERT(strstr(text, "func == nobody and arg0 > 1") != NULL);
	CU_ASSERT(ktr_get("debug.ktr.trigger_sites", text, sizeof(text), NULL) == 0);
	CU_ASSERT_STRING_EQUAL(text, "0");
	CU_ASSERT_FATAL(make("func == sets or class == proc", made, sizeof(made)) == 0);
	CU_ASSERT(ktr_set("debug.ktr.trigger", made, NULL) == 0);
	CU_ASSERT(ktr_get("debug.ktr.trigger_sites", text, sizeof(text), NULL) == 0);
	CU_ASSERT(strcmp(text, "0") != 0);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ktr_error_clear(&err);
		if (strcmp(wrong[i], "=") == 0)
			continue; /* an empty program: no trigger, and no text */
		CU_ASSERT(ktr_set("debug.ktr.trigger", wrong[i], &err) == -EINVAL);
		CU_ASSERT(strstr(err.text, "ktr sysctl") != NULL);
		CU_ASSERT(ktr_get("debug.ktr.trigger_sites", text, sizeof(text), NULL) == 0);
		CU_ASSERT_STRING_EQUAL(text, "0");
	}
	CU_ASSERT(ktr_set("debug.ktr.trigger", "", NULL) == 0);
}

SUITE(trigger, TEST(compiles), TEST(refuses), TEST(sets));
