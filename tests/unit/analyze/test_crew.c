/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that print a walk together: everything in its place, however many they are and whatever fails. */
#include "tests/unit/suite.h"

#include "analyze/print/crew.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 20000u

/* What is printed: a line for each thing, which tells what came before it. */
struct lines {
	struct ktr_sink sink;
	struct ktr__out *out;
	uint64_t n_events, last_ns;
	uint64_t fails_at; /* an event whose line cannot be printed */
	/* Of the one that writes. */
	char *text;
	size_t n, limit; /* more than `limit` bytes cannot be written */
	int n_hired, n_left, hires;
};

static int lines_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct lines *lines = (struct lines *)(void *)sink;

	if (event->index == lines->fails_at)
		return -EILSEQ;
	if (ktr__out_line(lines->out))
		return -lines->out->error;
	ktr__out_number(lines->out, event->index, 0, ' ');
	ktr__out_char(lines->out, ' ');
	ktr__out_number(lines->out, lines->n_events++, 0, ' ');
	ktr__out_char(lines->out, ' ');
	ktr__out_number(lines->out, event->time_ns - lines->last_ns, 0, ' ');
	ktr__out_char(lines->out, ' ');
	lines->last_ns = event->time_ns;
	for (size_t at = 0; event->site->in_str && at < event->str[0].n_bytes; at += KTR__OUT_LINE / 2) {
		size_t left = event->str[0].n_bytes - at;

		left = left < KTR__OUT_LINE / 2 ? left : KTR__OUT_LINE / 2;
		if (ktr__out_line(lines->out))
			return -lines->out->error;
		ktr__out_bytes(lines->out, event->str[0].bytes + at, left);
	}
	ktr__out_text(lines->out, event->site->in_str && event->str[0].is_null ? "(null)\n" : "\n");
	return 0;
}

static int lines_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct lines *lines = (struct lines *)(void *)sink;
	int rc = ktr__out_line(lines->out);

	ktr__out_text(lines->out, "lost ");
	ktr__out_number(lines->out, loss->n_events, 0, ' ');
	ktr__out_char(lines->out, '\n');
	return rc;
}

static int lines_note(struct ktr_sink *sink, const struct ktr_note *note)
{
	struct lines *lines = (struct lines *)(void *)sink;
	int rc = ktr__out_line(lines->out);

	ktr__out_text(lines->out, note->text);
	ktr__out_char(lines->out, '\n');
	return rc;
}

static struct ktr_sink *lines_hire(void *of, struct ktr__out *out)
{
	struct lines *boss = of, *lines = boss->n_hired < boss->hires ? calloc(1, sizeof(*lines)) : NULL;

	if (!lines)
		return NULL;
	boss->n_hired++;
	lines->sink = (struct ktr_sink){ lines_event, lines_loss, lines_note };
	lines->out = out;
	lines->fails_at = boss->fails_at;
	/* Left in front, so that who leaves is counted. */
	lines->text = (char *)boss;
	return &lines->sink;
}

static void lines_begin(struct ktr_sink *sink, uint64_t n_events, uint64_t last_ns)
{
	struct lines *lines = (struct lines *)(void *)sink;

	lines->n_events = n_events;
	lines->last_ns = last_ns;
}

static void lines_leave(struct ktr_sink *sink)
{
	struct lines *lines = (struct lines *)(void *)sink;

	((struct lines *)(void *)lines->text)->n_left++;
	free(lines);
}

static int lines_write(void *of, const char *bytes, size_t n)
{
	struct lines *boss = of;

	if (boss->n + n > boss->limit)
		return -ENOSPC;
	boss->text = realloc(boss->text, boss->n + n);
	CU_ASSERT_PTR_NOT_NULL_FATAL(boss->text);
	memcpy(boss->text + boss->n, bytes, n);
	boss->n += n;
	return 0;
}

static const struct ktr__crew_trade lines_trade = { lines_hire, lines_begin, lines_leave, lines_write, 0 };

/* Feeds a sink with events whose strings are of all lengths, with losses and notes between. */
static int feed(struct ktr_sink *sink, unsigned n_events)
{
	static char bytes[300000]; /* more than a block has room for */
	/* What events refer to stays, their strings do not. */
	static const struct ktr_reader_site site = { .in_str = 1, .n_args = 1 }, plain = { .in_str = 0 };
	struct ktr_note note = { .text = "noted" };
	int rc = 0;

	memset(bytes, 'x', sizeof(bytes));
	for (unsigned i = 0; i < n_events && !rc; i++) {
		struct ktr_event event = { .time_ns = 1000 + (uint64_t)i * i, .index = i };
		struct ktr_loss loss = { .n_events = i };

		event.site = i % 3 ? &site : &plain;
		event.str[0].bytes = i % 3 ? bytes : NULL;
		event.str[0].n_bytes = i % 3 == 0 ? 0 : i % 4096 == 1 ? sizeof(bytes) : i % 200;
		event.str[0].is_null = i % 7 == 0 && i % 3;
		memcpy(bytes, &i, sizeof(i)); /* what lay there may be gone with the next event */
		for (char *c = bytes; c < bytes + sizeof(i); c++)
			*c = (char)('a' + (*c & 15));
		if (i % 1000 == 999)
			rc = sink->loss(sink, &loss);
		if (!rc && i % 1500 == 0)
			rc = sink->note(sink, &note);
		if (!rc)
			rc = sink->event(sink, &event);
	}
	return rc;
}

/* What one thread prints. */
static struct lines alone(unsigned n_events, uint64_t fails_at)
{
	struct lines lines = { .sink = { lines_event, lines_loss, lines_note }, .fails_at = fails_at };
	struct ktr__out out = { .fd = -1, .grows = 1 };

	out.room = 2 * KTR__OUT_LINE;
	out.buffer = malloc(out.room);
	CU_ASSERT_PTR_NOT_NULL_FATAL(out.buffer);
	lines.out = &out;
	feed(&lines.sink, n_events);
	lines.text = out.buffer;
	lines.n = out.n;
	return lines;
}

/* The same by several. The result of closing. */
static int together(struct lines *boss, unsigned n_threads, unsigned n_events)
{
	struct ktr__crew *crew;
	int fed, rc;

	CU_ASSERT_FATAL(ktr__crew_open(&crew, &lines_trade, boss, n_threads) == 0);
	fed = feed(ktr__crew_sink(crew), n_events);
	rc = ktr__crew_close(crew);
	CU_ASSERT(fed == 0 || fed == rc);
	CU_ASSERT_EQUAL(boss->n_left, boss->n_hired);
	return rc;
}

static struct lines boss_of(uint64_t fails_at, size_t limit, int hires)
{
	return (struct lines){ .fails_at = fails_at, .limit = limit, .hires = hires };
}

static void the_same_as_alone(void)
{
	static const unsigned counts[] = { 0, 1, 1023, 1024, 1025, MANY };

	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct lines one = alone(counts[i], UINT64_MAX);

		for (unsigned n_threads = 1; n_threads <= 5; n_threads++) {
			struct lines boss = boss_of(UINT64_MAX, SIZE_MAX, 8);

			CU_ASSERT_EQUAL(together(&boss, n_threads, counts[i]), 0);
			CU_ASSERT_EQUAL(boss.n, one.n);
			CU_ASSERT(boss.n == one.n && (!one.n || memcmp(boss.text, one.text, one.n) == 0));
			/* Nobody is hired for what is one block; the second event fills one. */
			CU_ASSERT_EQUAL(boss.n_hired, counts[i] > 1 ? (int)n_threads : 1);
			free(boss.text);
		}
		free(one.text);
	}
}

static void what_comes_before_an_error_is_written(void)
{
	struct lines one = alone(7000, 7000);

	for (unsigned n_threads = 1; n_threads <= 5; n_threads++) {
		struct lines boss = boss_of(7000, SIZE_MAX, 8);

		CU_ASSERT_EQUAL(together(&boss, n_threads, MANY), -EILSEQ);
		CU_ASSERT_EQUAL(boss.n, one.n);
		CU_ASSERT(boss.n == one.n && memcmp(boss.text, one.text, one.n) == 0);
		free(boss.text);
	}
	free(one.text);
}

static void nothing_is_written_after_a_failed_write(void)
{
	struct lines one = alone(MANY, UINT64_MAX);

	for (unsigned n_threads = 1; n_threads <= 5; n_threads++) {
		struct lines boss = boss_of(UINT64_MAX, one.n / 2, 8);

		CU_ASSERT_EQUAL(together(&boss, n_threads, MANY), -ENOSPC);
		CU_ASSERT(boss.n <= one.n / 2 && memcmp(boss.text, one.text, boss.n) == 0);
		free(boss.text);
	}
	free(one.text);
}

/* Without memory for the sinks of others: those that are there do it. */
static void who_cannot_be_hired_is_not_missed(void)
{
	struct lines one = alone(MANY, UINT64_MAX);

	for (int hires = 1; hires <= 3; hires++) {
		struct lines boss = boss_of(UINT64_MAX, SIZE_MAX, hires);

		CU_ASSERT_EQUAL(together(&boss, 5, MANY), 0);
		CU_ASSERT(boss.n == one.n && memcmp(boss.text, one.text, one.n) == 0);
		CU_ASSERT_EQUAL(boss.n_hired, hires);
		free(boss.text);
	}
	free(one.text);
}

static void as_many_as_are_asked_for(void)
{
	CU_ASSERT_EQUAL(ktr__crew_threads(1), 1);
	CU_ASSERT_EQUAL(ktr__crew_threads(7), 7);
	CU_ASSERT_EQUAL(ktr__crew_threads(UINT64_MAX), KTR__CREW_MOST);
	CU_ASSERT(ktr__crew_threads(0) >= 1 && ktr__crew_threads(0) <= KTR__CREW_USUAL);
}

SUITE(crew, TEST(the_same_as_alone), TEST(what_comes_before_an_error_is_written),
      TEST(nothing_is_written_after_a_failed_write), TEST(who_cannot_be_hired_is_not_missed),
      TEST(as_many_as_are_asked_for));
