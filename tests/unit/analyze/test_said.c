/* SPDX-License-Identifier: BSD-2-Clause */
/* States, counters, points and spans as people say them, and the formats of their sites likewise. */
#include "tests/unit/suite.h"

#include "analyze/print/render.h"
#include "analyze/print/render_plan.h"
#include "analyze/read/ktrgraph.h"

#define KTR_OFF /* only the formats are wanted */
#include <ktr.h>

#include <string.h>

static struct ktr__arena said_arena;

/* An event whose id is the first argument, a string; the others are numbers, but for a text value. */
static void said_is(const char *format, const char *id, const char *text, uint64_t number, const char *said,
		    const char *said_format)
{
	struct ktr_reader_site site = { .format = format, .n_args = 3 };
	struct ktr_event event = { .site = &site, .arg = { 0, number, 7 } };
	char got[256];

	site.arg[0].type = KTR_ARG_STR;
	site.arg[1].type = text ? KTR_ARG_STR : KTR_ARG_U64;
	site.arg[2].type = KTR_ARG_I32;
	event.str[0] = (struct ktr_event_bytes){ id, (uint32_t)strlen(id), 0, 0 };
	if (text)
		event.str[1] = (struct ktr_event_bytes){ text, (uint32_t)strlen(text), 0, 0 };
	CU_ASSERT(ktr__ktrgraph_names(&site, "id,value,n", &said_arena) == 0);
	CU_ASSERT(ktr__ktrgraph_parse(&site, &said_arena) == 0);
	CU_ASSERT(ktr__render_prepare(&site, &said_arena) == 0);
	CU_ASSERT_EQUAL(ktr__render_said(&event, NULL, got, sizeof(got)), strlen(said));
	CU_ASSERT_STRING_EQUAL(got, said);
	CU_ASSERT_EQUAL(ktr__render_said_format(&site, got, sizeof(got)), strlen(said_format));
	CU_ASSERT_STRING_EQUAL(got, said_format);
	/* As it is recorded, it stays. */
	ktr__render_event(&event, NULL, got, sizeof(got));
	CU_ASSERT(strncmp(got, format, strlen("KTR")) == 0);
	ktr__arena_free(&said_arena);
}

static void each_kind_is_said(void)
{
	said_is(KTR__GRAPH("worker", "state:\"%s\"") "shard:%d", "3", "waiting", 0, "worker 3: waiting, shard:7",
		"worker %s: %s, shard:%d");
	said_is(KTR__GRAPH("queue", "counter:%ju") "of:%d", "files", NULL, 12, "queue files = 12, of:7",
		"queue %s = %ju, of:%d");
	said_is(KTR__GRAPH("worker", "point:\"%s\"") "by:%d", "3", "woken", 0, "worker 3: point woken, by:7",
		"worker %s: point %s, by:%d");
	said_is(KTR__GRAPH("file", "start:0x%jX") "pid:%d", "a.c", NULL, 255, "file a.c starts, key 0xFF, pid:7",
		"file %s starts, key 0x%jX, pid:%d");
	said_is(KTR__GRAPH("file", "stop:0x%jX") "rc:%d", "a.c", NULL, 255, "file a.c ends, key 0xFF, rc:7",
		"file %s ends, key 0x%jX, rc:%d");
}

static void an_id_that_begins_with_its_group_says_it(void)
{
	said_is(KTR__GRAPH("worker", "state:\"%s\"") "n:%d", "worker 3", "idle", 0, "worker 3: idle, n:7",
		"worker %s: %s, n:%d");
	said_is(KTR__GRAPH("worker", "state:\"%s\"") "n:%d", "work", "idle", 0, "worker work: idle, n:7",
		"worker %s: %s, n:%d");
	said_is(KTR__GRAPH("worker", "state:\"%s\"") "n:%d", "", "idle", 0, "worker : idle, n:7",
		"worker %s: %s, n:%d");
}

static void a_scope_is_its_name(void)
{
	struct ktr_reader_site site = { .format = KTR__SCOPE_FORMAT("flush", "start") "shard:%d", .n_args = 2 };
	struct ktr_event event = { .site = &site, .arg = { 0x7ffe, 7 } };
	char got[64];

	site.arg[0].type = KTR_ARG_U64;
	site.arg[1].type = KTR_ARG_I32;
	CU_ASSERT(ktr__ktrgraph_parse(&site, &said_arena) == 0);
	CU_ASSERT(ktr__render_prepare(&site, &said_arena) == 0);
	ktr__render_said(&event, NULL, got, sizeof(got));
	CU_ASSERT_STRING_EQUAL(got, "flush starts, shard:7");
	CU_ASSERT_EQUAL(ktr__render_said(&event, NULL, got, 8), strlen("flush starts, shard:7"));
	CU_ASSERT_STRING_EQUAL(got, "flush s");
	site.format = KTR__SCOPE_FORMAT("flush", "stop") "none";
	site.n_args = 1;
	CU_ASSERT(ktr__ktrgraph_parse(&site, &said_arena) == 0);
	CU_ASSERT(ktr__render_prepare(&site, &said_arena) == 0);
	ktr__render_said(&event, NULL, got, sizeof(got));
	CU_ASSERT_STRING_EQUAL(got, "flush ends");
	ktr__arena_free(&said_arena);
}

SUITE(said, TEST(each_kind_is_said), TEST(an_id_that_begins_with_its_group_says_it), TEST(a_scope_is_its_name));
