/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of debug.ktr: what a row tells as its default is what a new session has. */
#include "ktr/arch/arch.h"
#include "ktr/control/session_join.h"
#include "ktr/knob/knobs.h"
#include "tests/unit/suite.h"

#include <ktr/conf.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void defaults_are_what_a_new_session_has(void)
{
	char dir[] = "/tmp/ktr-test-XXXXXX", text[KTR_KNOB_STRING_BYTES], told[KTR_KNOB_STRING_BYTES];
	struct ktr__session_plan plan = { .name = "rows", .path = KTR_PATH_THREAD, .clock = KTR_ARCH_CLOCK };
	struct ktr__session_rw session = { .fd = -1 };
	struct ktr__knob_context context = { .session = &session };
	struct ktr_knobs table = { .rows = ktr__knob_rows, .n_rows = ktr__n_knob_rows, .context = &context };
	struct ktr_conf conf = { 0 };
	unsigned n = 0, n_wrong = 0;
	bool joined;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	plan.dir = dir;
	CU_ASSERT_EQUAL_FATAL(ktr__session_create(&plan, &session, &joined, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ktr_conf_register(&conf, &table, NULL), 0);
	for (unsigned i = 0; i < ktr__n_knob_rows; i++) {
		const struct ktr_knob *row = &ktr__knob_rows[i];

		if (!row->initial || !row->get)
			continue;
		n++;
		CU_ASSERT_EQUAL(ktr_conf_get(&conf, row->name, text, sizeof(text), NULL), 0);
		/* Another spelling of one value ("1G") is read back as the knob prints it. */
		if (ktr_conf_set(&conf, row->name, row->initial, NULL) ||
		    ktr_conf_get(&conf, row->name, told, sizeof(told), NULL))
			strcpy(told, row->initial);
		if (strcmp(text, told) != 0)
			fprintf(stderr, "%s: %s instead of %s\n", row->name, text, row->initial), n_wrong++;
	}
	CU_ASSERT_EQUAL(n_wrong, 0);
	CU_ASSERT_TRUE(n > 10);
	unlink(session.path);
	ktr__session_detach(&session);
	rmdir(dir);
}

SUITE(knob_rows, TEST(defaults_are_what_a_new_session_has));
