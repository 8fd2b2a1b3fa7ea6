/* SPDX-License-Identifier: BSD-2-Clause */
/* What viewers draw: tracks, slices that nest, flows, and what is missing an end. */
#include "picture.h"
#include "tests/unit/suite.h"

#include "visualize/model/keymap.h"
#include "visualize/model/slices.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct picture picture;
static struct ktr__slices slices;
static struct ktr_sink sink;
static char said[8192]; /* what the slices told, a word each */
static unsigned n_kept;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	size_t used = strlen(said);
	va_list ap;

	va_start(ap, format);
	vsnprintf(said + used, sizeof(said) - used, format, ap);
	va_end(ap);
}

static double ms(uint64_t ns)
{
	return (double)(ns - PICTURE_BEGIN_NS) / 1e6;
}

static int see_track(void *context, const struct ktr__slice_track *track)
{
	(void)context;
	say("T%u:%s/%s/%u ", track->id, track->group, track->name, track->lane);
	return 0;
}

static int see_begin(void *context, const struct ktr__slice_track *track, uint64_t ns,
		     const struct ktr_event *event, uint64_t flow, void **kept)
{
	(void)context;
	(void)event;
	(void)flow;
	*kept = malloc(1);
	n_kept++;
	say("B%u@%g ", track->id, ms(ns));
	return 0;
}

static int see_end(void *context, const struct ktr__slice_track *track, uint64_t from_ns,
		   uint64_t ns, enum ktr__slice_end how, void *kept)
{
	(void)context;
	free(kept);
	n_kept--;
	say("%c%u@%g-%g ", "ERO"[how], track -> id, ms(from_ns), ms(ns));
	return 0;
}

static int see_mark(void *context, const struct ktr__slice_track *track, uint64_t ns,
		    const struct ktr_event *event)
{
	(void)context;
	(void)event;
	say("M%u@%g ", track->id, ms(ns));
	return 0;
}

static int see_count(void *context, const struct ktr__slice_track *track, uint64_t ns,
		     const struct ktr_event *event)
{
	(void)context;
	say("C%u@%g=%g ", track->id, ms(ns), (double)(int64_t)event->arg[event->site->value_arg]);
	return 0;
}

static int see_flow(void *context, uint64_t flow, const struct ktr__slice_track *from,
		    uint64_t from_ns, const struct ktr__slice_track *to, uint64_t ns)
{
	(void)context;
	CU_ASSERT_NOT_EQUAL(flow, 0);
	CU_ASSERT_NOT_EQUAL(from->tid, to->tid);
	say("F%u@%g-%g ", to->id, ms(from_ns), ms(ns));
	return 0;
}

static const struct ktr__slices_to everything = { see_track, see_begin, see_end,
						  see_mark,  see_count, see_flow };

static int feed(struct ktr_sink *unused, const struct ktr_event *event)
{
	(void)unused;
	return ktr__slices_event(&slices, event);
}

static int feed_loss(struct ktr_sink *unused, const struct ktr_loss *loss)
{
	(void)unused;
	return ktr__slices_loss(&slices, loss);
}

static void begin(void)
{
	sink = (struct ktr_sink){ feed, feed_loss, NULL };
	picture.sink = &sink;
	picture_open(&picture, 100);
	said[0] = '\0';
	n_kept = 0;
	CU_ASSERT_EQUAL_FATAL(ktr__slices_init(&slices, &picture.info, &everything, NULL), 0);
}

/* Ends the walk; what was told is exactly this, and every kept thing was given back. */
static void told(const char *want)
{
	CU_ASSERT_EQUAL(picture.result, 0);
	CU_ASSERT_EQUAL(ktr__slices_end(&slices), 0);
	CU_ASSERT_STRING_EQUAL(said, want);
	if (strcmp(said, want) != 0)
		printf("\ntold %s\nwant %s\n", said, want);
	CU_ASSERT_EQUAL(n_kept, 0);
	ktr__slices_free(&slices);
	picture_close(&picture);
}

static void states_follow_each_other(void)
{
	begin();
	picture_state(&picture, 10, 1, "worker", "a", "busy");
	picture_state(&picture, 20, 1, "worker", "a", "idle");
	picture_counter(&picture, 30, 1, "queue", "q", -5);
	told("T1:/worker 1 (101)/0 T2:worker/a/0 B2@10 E2@10-20 B2@20 T3:queue/q/0 C3@30=-5 O2@20-30 ");
}

/* Spans that overlap have a track each, whatever order they end in. */
static void spans_that_overlap(void)
{
	begin();
	picture_start(&picture, 10, 1, "req", "a", 7);
	picture_start(&picture, 20, 1, "req", "a", 8);
	picture_stop(&picture, 30, 1, "req", "a", 7);
	picture_start(&picture, 40, 1, "req", "a", 9);
	picture_stop(&picture, 50, 1, "req", "a", 8);
	picture_stop(&picture, 60, 1, "req", "a", 1234);
	told("T1:/worker 1 (101)/0 T2:req/a/0 B2@10 T3:req/a/1 B3@20 E2@10-30 B2@40 E3@20-50 O2@40-60 ");
}

static void span_that_changes_threads(void)
{
	begin();
	picture_start(&picture, 10, 1, "req", "a", 7);
	picture_stop(&picture, 30, 2, "req", "a", 7);
	told("T1:/worker 1 (101)/0 T2:req/a/0 B2@10 T3:/worker 2 (102)/0 E2@10-30 F3@10-30 ");
}

/* A key that is open already means that its STOP was lost, if anything was. */
static void stop_that_was_lost(void)
{
	begin();
	picture_start(&picture, 10, 1, "req", "a", 7);
	picture_loss(&picture, 0, 10, 40, 5);
	picture_start(&picture, 50, 1, "req", "a", 7);
	picture_stop(&picture, 60, 1, "req", "a", 7);
	told("T1:/worker 1 (101)/0 T2:req/a/0 B2@10 R2@10-50 B2@50 E2@50-60 ");
}

static void points_and_events_are_marks(void)
{
	begin();
	picture_event(&picture, 10, 1, 0);
	picture_point(&picture, 20, 1, "req", "a");
	told("T1:/worker 1 (101)/0 M1@10 T2:req/a/0 M2@20 ");
}

/* Two processes of one pid: each has its own rows, and another number for viewers. */
static void processes_of_one_pid(void)
{
	begin();
	picture_thread(&picture, 2)->process_key = 101;
	picture_state(&picture, 1, 1, "worker", "w", "busy");
	picture_state(&picture, 2, 2, "worker", "w", "idle");
	picture_state(&picture, 3, 1, "worker", "w", "idle");
	CU_ASSERT_EQUAL_FATAL(slices.n_tracks, 4);
	CU_ASSERT(slices.track[0]->pid == 100 && slices.track[1]->pid == 100);
	CU_ASSERT(slices.track[2]->pid > KTR__PIDS_MAX && slices.track[3]->pid == slices.track[2]->pid);
	told("T1:/worker 1 (101)/0 T2:worker/w/0 B2@1 T3:/worker 2 (102)/0 T4:worker/w/0 B4@2 "
	     "E2@1-3 B2@3 O2@3-3 O4@2-3 ");
}

static void pids_are_given_once(void)
{
	struct ktr__pids pids = { 0 };

	CU_ASSERT_EQUAL(ktr__pids_of(&pids, 1, 100), 100);
	CU_ASSERT_EQUAL(ktr__pids_of(&pids, 2, 100), KTR__PIDS_MAX + 2);
	CU_ASSERT_EQUAL(ktr__pids_of(&pids, 3, 100), KTR__PIDS_MAX + 3);
	CU_ASSERT_EQUAL(ktr__pids_of(&pids, 1, 100), 100);
	CU_ASSERT_EQUAL(ktr__pids_of(&pids, 2, 100), KTR__PIDS_MAX + 2);
	CU_ASSERT_EQUAL(ktr__pids_of(&pids, 4, 0), 0);
	ktr__pids_free(&pids);
}

/* A map finds what was put in, through its growing, and nothing else. */
static void keys_are_found(void)
{
	struct ktr__keymap map = { 0 };
	char text[16];

	for (uint32_t i = 1; i <= 5000; i++) {
		uint32_t *at = ktr__keymap_at(&map, ktr__hash_word(0, i));

		CU_ASSERT_PTR_NOT_NULL_FATAL(at);
		CU_ASSERT_EQUAL(*at, 0);
		*at = i;
	}
	for (uint32_t i = 1; i <= 5000; i++)
		CU_ASSERT_EQUAL(*ktr__keymap_at(&map, ktr__hash_word(0, i)), i);
	ktr__keymap_clear(&map);
	CU_ASSERT_EQUAL(*ktr__keymap_at(&map, ktr__hash_word(0, 1)), 0);
	ktr__keymap_free(&map);
	/* Length and place count, not only the bytes. */
	memset(text, 0, sizeof(text));
	CU_ASSERT_NOT_EQUAL(ktr__hash_bytes(0, text, 3), ktr__hash_bytes(0, text, 4));
	CU_ASSERT_NOT_EQUAL(ktr__hash_bytes(0, "ab", 2), ktr__hash_bytes(0, "ba", 2));
	CU_ASSERT_NOT_EQUAL(ktr__hash_bytes(0, "ab", 2), ktr__hash_bytes(1, "ab", 2));
}

SUITE(slices, TEST(states_follow_each_other), TEST(spans_that_overlap),
      TEST(span_that_changes_threads), TEST(stop_that_was_lost), TEST(points_and_events_are_marks),
      TEST(processes_of_one_pid), TEST(pids_are_given_once), TEST(keys_are_found));
