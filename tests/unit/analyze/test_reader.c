/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader against traces and sessions whose content is known: the same walk from both, in both
 * directions, from any time on, with losses where they are.
 */
#include "writer/rotate.h"
#include "tests/unit/made.h"
#include "tests/unit/suite.h"

#include "analyze/read/packets.h"
#include "analyze/read/reader.h"
#include "analyze/rewrite/trace_writer.h"
#include "writer/drain.h"
#include "writer/format/packet.h"

#include <inttypes.h>
#include <stdarg.h>

/* Two CPUs and a keep ring, strings, all times different. */
static void reader_fill(struct made *made)
{
	uint32_t got = made_site(made, KTR_NET, "src/net.c", 42, "got %d of %s", "n,peer->name", 2,
				 KTR_ARG_I32, KTR_ARG_STR);
	uint32_t tick = made_site(made, KTR_SCHED | KTR_GEN, "sched.c", 7, "tick", "", 0);
	uint32_t sizes = made_site(made, 1ull << 40, "a/b.h", 9, "%hhd %hu %zu %p %.1f",
				   "a,b,c,d,e", 5, KTR_ARG_I8, KTR_ARG_U16, KTR_ARG_U64,
				   KTR_ARG_PTR, KTR_ARG_F64);
	uint32_t one = made_thread(made, 101, 100, "one"), two = made_thread(made, 102, 100, "two");
	static const char long_text[] =
		"a text that needs more than one continuation entry, since one "
		"holds fifty-six bytes only";

	made_event(made, 0, 1000, got, one, (uint64_t)-3, "abc");
	made_event(made, 1, 1500, tick, two);
	made_event(made, 2, 1700, tick, one);
	made_event(made, 0, 2000, sizes, one, (uint64_t)-1, (uint64_t)65535, UINT64_MAX,
		   (uint64_t)0x1000, 0x4004000000000000u);
	made_event(made, 1, 2100, got, two, (uint64_t)7, NULL);
	made_event(made, 1, 2200, got, two, (uint64_t)8, long_text);
	made_event(made, 0, 2300 | KTR_TIME_APPROX, tick, 0);
	made_event(made, 1, 2400, got, two, (uint64_t)9, "");
}

static const char reader_expected[] =
	"1000 #0 cpu0 one/101/100 net net.c:42 [n] got -3 of abc\n"
	"1500 #0 cpu1 two/102/100 gen|sched sched.c:7 [] tick\n"
	"1700 #0 cpu0k one/101/100 gen|sched sched.c:7 [] tick\n"
	"2000 #1 cpu0 one/101/100 0x10000000000 b.h:9 [a] -1 65535 18446744073709551615 0x1000 2.5\n"
	"2100 #1 cpu1 two/102/100 net net.c:42 [n] got 7 of (null)\n"
	"2200 #2 cpu1 two/102/100 net net.c:42 [n] got 8 of a text that needs more than one continuation "
	"entry, since one holds fifty-six bytes only\n"
	"2300 #2 cpu0~ ?/0/0 gen|sched sched.c:7 [] tick\n"
	"2400 #3 cpu1 two/102/100 net net.c:42 [n] got 9 of \n";

/* Walks a source and compares; takes nothing. */
static void reader_expect(const char *path, const struct ktr_reader_options *options,
			  const char *expected)
{
	char *got = made_walk(path, options);

	CU_ASSERT_PTR_NOT_NULL_FATAL(got);
	CU_ASSERT_STRING_EQUAL(got, expected);
	CU_ASSERT(made_counts(path, options, got));
	if (strcmp(got, expected) != 0)
		fprintf(stderr, "\n%s instead of\n%s", got, expected);
	free(got);
}

static void a_trace_and_its_session_say_the_same(void)
{
	struct made made;

	made_open(&made);
	reader_fill(&made);
	made_trace(&made);
	reader_expect(made.session, NULL, reader_expected);
	reader_expect(made.trace, NULL, reader_expected);
	made_close(&made);
}

/*
 * The lines of a walk whose time, the number they begin with, lies in [from, to), in either order.
 */
static char *reader_pick(const char *lines, uint64_t from, uint64_t to, int reverse)
{
	size_t room = strlen(lines) + 1;
	char *picked = calloc(2, room), *at = reverse ? picked + room - 1 : picked;

	for (const char *line = lines; *line; line = strchr(line, '\n') + 1) {
		size_t n = (size_t)(strchr(line, '\n') + 1 - line);
		uint64_t time = strtoull(line, NULL, 10);

		if (time < from || time >= to)
			continue;
		if (reverse)
			at -= n;
		memcpy(at, line, n);
		if (!reverse)
			at += n;
	}
	if (!reverse)
		*at = '\0';
	else
		memmove(picked, at, strlen(at) + 1);
	return picked;
}

static void any_window_in_either_direction(void)
{
	static const uint64_t times[] = { 0,    999,  1000, 1001, 1600, 2000,
					  2100, 2101, 2300, 2400, 2401, 9999 };
	const char *paths[2];
	struct made made;

	made_open(&made);
	reader_fill(&made);
	made_trace(&made);
	paths[0] = made.session;
	paths[1] = made.trace;
	for (unsigned i = 0; i < 2 * 2 * 12 * 12; i++) {
		struct ktr_reader_options options = {
			.size = sizeof(options),
			.from_ns = times[i / 4 % 12],
			.to_ns = times[i / 4 / 12],
			.reverse = i / 2 % 2,
		};
		char *expected = reader_pick(reader_expected, options.from_ns,
					     options.to_ns ? options.to_ns : UINT64_MAX,
					     options.reverse);

		reader_expect(paths[i % 2], &options, expected);
		free(expected);
	}
	made_close(&made);
}

static void seeking_again_and_again(void)
{
	struct ktr_reader *reader;
	struct ktr_event event;
	struct made made;

	made_open(&made);
	reader_fill(&made);
	made_trace(&made);
	for (int i = 0; i < 4; i++) {
		struct ktr_reader_options options = { .size = sizeof(options), .reverse = i / 2 };

		CU_ASSERT_FATAL(ktr_reader_open(i % 2 ? made.trace : made.session, &options,
						&reader, NULL) == 0);
		for (uint64_t time = 2500; time >= 900; time -= 100) {
			CU_ASSERT(ktr_reader_seek(reader, time) == 0);
			if (ktr_reader_next(reader, &event) != KTR_READ_EVENT) {
				CU_ASSERT(options.reverse ? time <= 1000 : time > 2400);
				continue;
			}
			CU_ASSERT(options.reverse == (event.time_ns < time));
			CU_ASSERT(event.time_ns + 500 >= time && time + 500 >= event.time_ns);
		}
		ktr_reader_close(reader);
	}
	made_close(&made);
}

static void what_the_source_says_of_itself(void)
{
	const struct ktr_reader_info *info;
	const struct ktr_reader_site *site;
	struct ktr_reader *reader;
	struct made made;

	made_open(&made);
	reader_fill(&made);
	made_trace(&made);
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_FATAL(
			ktr_reader_open(i ? made.trace : made.session, NULL, &reader, NULL) == 0);
		info = ktr_reader_info(reader);
		CU_ASSERT(info->kind == (i ? KTR_SOURCE_TRACE : KTR_SOURCE_DEAD));
		CU_ASSERT_STRING_EQUAL(info->name, "made");
		CU_ASSERT_STRING_EQUAL(info->host, "here");
		CU_ASSERT_STRING_EQUAL(info->clock, "monotonic");
		CU_ASSERT(info->uuid[1] == 7 && info->uuid[15] == 105);
		CU_ASSERT(info->utc_offset_ns == 1000000000000000000);
		CU_ASSERT(info->first_ns == 1000 && info->last_ns == 2400);
		CU_ASSERT(info->n_cpus == 2 && info->n_lost == 0);
		site = ktr_reader_site(reader, 3);
		CU_ASSERT_PTR_NOT_NULL_FATAL(site);
		CU_ASSERT_STRING_EQUAL(site->file, "a/b.h");
		CU_ASSERT_STRING_EQUAL(site->func, "function");
		CU_ASSERT_STRING_EQUAL(site->module, "/bin/made");
		CU_ASSERT(site->n_args == 5 && site->arg[4].type == KTR_ARG_F64 &&
			  site->in_str == 0);
		CU_ASSERT(ktr_reader_site(reader, 1)->in_str == 2);
		CU_ASSERT_STRING_EQUAL(ktr_reader_thread(reader, 2)->name, "two");
		CU_ASSERT_PTR_NULL(ktr_reader_site(reader, ktr_reader_n_sites(reader)));
		CU_ASSERT_PTR_NULL(ktr_reader_thread(reader, ktr_reader_n_threads(reader)));
		CU_ASSERT_STRING_EQUAL(ktr_reader_class_name(reader, 29), "sched");
		CU_ASSERT_PTR_NULL(ktr_reader_class_name(reader, 40));
		ktr_reader_close(reader);
	}
	made_close(&made);
}

/*
 * 2000 events into a ring of 512: what a session has lost, and what a trace that was drained in
 * time.
 */
static void losses_stand_where_events_are_missing(void)
{
	struct ktr_reader_options reverse = { .size = sizeof(reverse), .reverse = 1 };
	struct made made;
	uint32_t tick;
	char *got;

	made_open(&made);
	tick = made_site(&made, KTR_GEN, "t.c", 1, "%u", "n", 1, KTR_ARG_U32);
	for (uint64_t i = 0; i < 2000; i++) {
		made_event(&made, 0, 1000 + i, tick, 0, i);
		if (i == 99 || i == 399 || i == 1499)
			made_drain(&made);
	}
	made_trace(&made);
	got = made_walk(made.session, NULL);
	CU_ASSERT(strncmp(got, "lost 1552 cpu0 0-2552\n2552 #1552 cpu0 ", 38) == 0);
	free(got);
	got = made_walk(made.trace, NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "\n1399 #399 cpu0 ?/0/0 gen t.c:1 [n] 399\n"
					   "lost 652 cpu0 1399-2052\n2052 #1052 cpu0 "));
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "\n2499 #1499 cpu0 ?/0/0 gen t.c:1 [n] 1499\n"
					   "lost 52 cpu0 2499-2552\n2552 #1552 cpu0 "));
	CU_ASSERT(made_counts(made.trace, NULL, got));
	free(got);
	got = made_walk(made.trace, &reverse);
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "\n2052 #1052 cpu0 ?/0/0 gen t.c:1 [n] 1052\n"
					   "lost 652 cpu0 1399-2052\n1399 #399 cpu0 "));
	free(got);
	got = made_walk(made.session, &reverse);
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "\n2552 #1552 cpu0 ?/0/0 gen t.c:1 [n] 1552\n"
					   "lost 1552 cpu0 0-2552\n"));
	free(got);
	made_close(&made);
}

/* Does the walk tell of as many lost events as the source? */
static int reader_lost_all(struct ktr_reader *reader)
{
	struct ktr_event event;
	uint64_t lost = 0;
	int what;

	while ((what = ktr_reader_next(reader, &event)) > 0)
		if (what == KTR_READ_LOSS)
			lost += ktr_reader_loss(reader)->n_events;
	return lost && lost == ktr_reader_info(reader)->n_lost;
}

/* Those that had been found, but not told, when the walk began anew. */
static void losses_are_told_once_by_each_walk(void)
{
	struct ktr_reader_options options = { .size = sizeof(options) };
	struct made made;
	uint32_t tick;

	made_open(&made);
	tick = made_site(&made, KTR_GEN, "t.c", 1, "%u", "n", 1, KTR_ARG_U32);
	for (uint64_t i = 0; i < 3000; i++) {
		made_event(&made, 0, 1000 + i, tick, 0, i);
		made_event(&made, 1, 1000 + i, tick, 0, i);
	}
	made_drain(&made);
	made_trace(&made);
	for (options.reverse = 0; options.reverse < 2; options.reverse++)
		for (int live = 0; live < 2; live++) {
			struct ktr_reader *reader;

			CU_ASSERT_FATAL(ktr_reader_open(live ? made.session : made.trace, &options, &reader,
							NULL) == 0);
			CU_ASSERT(ktr_reader_window(reader, 0, 0) == 0);
			CU_ASSERT(reader_lost_all(reader));
			CU_ASSERT(ktr_reader_window(reader, 0, 0) == 0);
			CU_ASSERT(ktr_reader_seek(reader, options.reverse ? UINT64_MAX : 0) == 0);
			CU_ASSERT(reader_lost_all(reader));
			ktr_reader_close(reader);
		}
	made_close(&made);
}

/* With a filter, too, which passes over all events around them. */
static void losses_come_in_their_place(void)
{
	struct ktr_reader_options options = { .size = sizeof(options) };
	uint32_t often, seldom;
	struct made made;

	made_open(&made);
	often = made_site(&made, KTR_GEN, "t.c", 1, "%u", "n", 1, KTR_ARG_U32);
	seldom = made_site(&made, KTR_GEN, "t.c", 2, "%u", "n", 1, KTR_ARG_U32);
	for (uint64_t i = 0; i < 2000; i++) {
		made_event(&made, 0, 1000 + i, often, 0, i);
		if (i % 10 == 0)
			made_event(&made, 1, 1000 + i, seldom, 0, i);
		if (i == 99 || i == 399 || i == 1499)
			made_drain(&made);
	}
	made_trace(&made);
	for (options.reverse = 0; options.reverse < 2; options.reverse++) {
		struct ktr_reader *reader;
		struct ktr_event event;
		uint64_t last = 0, n_losses = 0;
		int what;

		CU_ASSERT_FATAL(ktr_reader_open(made.trace, &options, &reader, NULL) == 0);
		CU_ASSERT_FATAL(ktr_reader_filter(reader, "line == 2", NULL) == 0);
		while ((what = ktr_reader_next(reader, &event)) > 0) {
			const struct ktr_loss *loss = ktr_reader_loss(reader);

			if (what == KTR_READ_EVENT)
				last = event.time_ns;
			if (what != KTR_READ_LOSS)
				continue;
			n_losses++;
			CU_ASSERT(last == (options.reverse ? (loss->to_ns + 9) / 10 * 10 :
							     loss->from_ns / 10 * 10));
		}
		CU_ASSERT(n_losses == 2);
		ktr_reader_close(reader);
	}
	made_close(&made);
}

/* A trace made of another one, whose second CPU has lost something before it has events. */
static void reader_merge(const struct made *made, const char *path, const struct ktr_loss *loss)
{
	const struct ktr__trace_head head = { .name = "made",
					      .host = "here",
					      .cmdline = "",
					      .clock_name = "monotonic",
					      .clock = { .mult = 1 } };
	const struct ktr__trace_writer_place place = { .shift_ns = 0 };
	struct ktr__trace_writer *writer;
	struct ktr_reader *reader;
	struct ktr_event event;
	int told = 0;

	CU_ASSERT_FATAL(ktr_reader_open(made->trace, NULL, &reader, NULL) == 0);
	CU_ASSERT_FATAL(ktr__trace_writer_open(&writer, path, &head, 2, NULL) == 0);
	CU_ASSERT(ktr__trace_writer_source(writer, reader, place, NULL) == 0);
	CU_ASSERT(ktr__trace_writer_begin(writer, NULL) == 0);
	while (ktr_reader_next(reader, &event) == KTR_READ_EVENT) {
		if (event.time_ns > loss->to_ns && !told++)
			CU_ASSERT(ktr__trace_writer_loss(writer, 0, loss) == 0);
		CU_ASSERT(ktr__trace_writer_event(writer, 0, &event) == 0);
	}
	CU_ASSERT(ktr__trace_writer_close(writer, 0, NULL, NULL) == 0);
	ktr_reader_close(reader);
}

static void losses_before_a_streams_events_come_in_their_place(void)
{
	const struct ktr_loss loss = { .cpu = 1, .n_events = 7, .from_ns = 1500, .to_ns = 2500 };
	struct ktr_reader_options reverse = { .size = sizeof(reverse), .reverse = 1 };
	struct ktr_reader *reader;
	struct ktr_event event;
	struct made made;
	char path[128], *got;
	uint32_t tick;

	made_open(&made);
	tick = made_site(&made, KTR_GEN, "t.c", 1, "tick", "", 0);
	for (uint64_t i = 1; i <= 3; i++)
		made_event(&made, 0, 1000 * i, tick, 0);
	made_event(&made, 1, 2600, tick, 0);
	made_trace(&made);
	snprintf(path, sizeof(path), "%s/merged", made.dir);
	reader_merge(&made, path, &loss);
	got = made_walk(path, NULL);
	CU_ASSERT_STRING_EQUAL(got, "1000 #0 cpu0 ?/0/0 gen t.c:1 [] tick\nlost 7 cpu1 1500-2500\n"
				    "2000 #1 cpu0 ?/0/0 gen t.c:1 [] tick\n2600 #7 cpu1 ?/0/0 gen t.c:1 [] tick\n"
				    "3000 #2 cpu0 ?/0/0 gen t.c:1 [] tick\n");
	CU_ASSERT(made_counts(path, NULL, got));
	free(got);
	got = made_walk(path, &reverse);
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "\n2600 #7 cpu1 ?/0/0 gen t.c:1 [] tick\nlost 7 cpu1 1500-2500\n2000 #1 "));
	free(got);
	CU_ASSERT_FATAL(ktr_reader_open(path, NULL, &reader, NULL) == 0);
	CU_ASSERT(ktr_reader_window(reader, 0, 1400) == 0);
	CU_ASSERT(ktr_reader_next(reader, &event) == KTR_READ_EVENT && event.time_ns == 1000);
	CU_ASSERT(ktr_reader_next(reader, &event) == KTR_READ_END); /* it is behind the window */
	ktr_reader_close(reader);
	made_close(&made);
}

/* Files of many packets, so that bisection and the way back have something to do. */
static void a_long_trace_is_found_by_time(void)
{
	struct ktr_reader_options options = { .size = sizeof(options) };
	struct ktr_reader *reader;
	struct ktr_event event;
	char text[400];
	struct made made;
	uint64_t n = 0;
	uint32_t site;

	made_open(&made);
	site = made_site(&made, KTR_GEN, "t.c", 1, "%u %s", "n,s", 2, KTR_ARG_U32, KTR_ARG_STR);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (; n < 12000; n++) {
		made_event(&made, 0, 1000 + 10 * n, site, 0, n, text);
		if (n % 40 == 39)
			made_drain(&made);
	}
	made_trace(&made);
	CU_ASSERT_FATAL(ktr_reader_open(made.trace, &options, &reader, NULL) == 0);
	for (uint64_t want = 3; want < n; want += 377) {
		CU_ASSERT(ktr_reader_seek(reader, 1000 + 10 * want - 5) == 0);
		CU_ASSERT(ktr_reader_next(reader, &event) == KTR_READ_EVENT);
		CU_ASSERT(event.arg[0] == want && event.index == want &&
			  event.str[1].n_bytes == 399);
	}
	/* Counted: windows that begin and end within packets, and what is left of a walk. */
	for (uint64_t from = 3, to = n; from < to; from += 377, to -= 513) {
		uint64_t counted = 0;

		CU_ASSERT(ktr_reader_window(reader, 1000 + 10 * from - 5, 1000 + 10 * to) == 0);
		CU_ASSERT(ktr_reader_count(reader, &counted) == KTR_READ_END && counted == to - from);
		CU_ASSERT(ktr_reader_count(reader, &counted) == KTR_READ_END && counted == to - from);
		CU_ASSERT(ktr_reader_next(reader, &event) == KTR_READ_END);
		CU_ASSERT(ktr_reader_window(reader, 1000 + 10 * from, 1000 + 10 * to - 9) == 0);
		for (uint64_t i = 0; i < from % 50; i++)
			CU_ASSERT(ktr_reader_next(reader, &event) == KTR_READ_EVENT);
		counted = from % 50;
		CU_ASSERT(ktr_reader_count(reader, &counted) == KTR_READ_END && counted == to - from);
	}
	ktr_reader_close(reader);
	options.reverse = 1;
	CU_ASSERT_FATAL(ktr_reader_open(made.trace, &options, &reader, NULL) == 0);
	while (ktr_reader_next(reader, &event) == KTR_READ_EVENT) {
		n--;
		CU_ASSERT(event.arg[0] == n && event.index == n && event.time_ns == 1000 + 10 * n);
	}
	CU_ASSERT(n == 0);
	for (uint64_t want = 11990; want > 400; want -= 377) {
		CU_ASSERT(ktr_reader_seek(reader, 1000 + 10 * want + 5) == 0);
		CU_ASSERT(ktr_reader_next(reader, &event) == KTR_READ_EVENT);
		CU_ASSERT(event.arg[0] == want);
	}
	ktr_reader_close(reader);
	made_close(&made);
}

/* A sink that counts, and ends the walk when it is told to. */
struct reader_sink {
	struct ktr_sink sink;
	unsigned n_events, n_losses, end_at;
};

static int reader_count_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct reader_sink *s = (struct reader_sink *)(void *)sink;

	CU_ASSERT(event->site->id == 1);
	return ++s->n_events == s->end_at ? 77 : 0;
}

static int reader_count_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct reader_sink *s = (struct reader_sink *)(void *)sink;

	s->n_losses += loss->n_events;
	return 0;
}

static void one_walk_feeds_many_sinks(void)
{
	struct reader_sink a = { { reader_count_event, reader_count_loss, NULL }, 0, 0, 0 };
	struct reader_sink b = { { NULL, reader_count_loss, NULL }, 0, 0, 0 };
	struct ktr_sink *sinks[] = { &a.sink, &b.sink };
	struct ktr_reader *reader;
	struct made made;
	uint32_t tick;

	made_open(&made);
	tick = made_site(&made, KTR_GEN, "t.c", 1, "tick", "", 0);
	for (uint64_t i = 0; i < 1000; i++)
		made_event(&made, 1, 1000 + i, tick, 0);
	made_session(&made);
	CU_ASSERT_FATAL(ktr_reader_open(made.session, NULL, &reader, NULL) == 0);
	CU_ASSERT(ktr_reader_walk(reader, sinks, 2) == 0);
	CU_ASSERT(a.n_events + a.n_losses == 1000 && b.n_events == 0 && b.n_losses == a.n_losses);
	a.end_at = a.n_events + 10;
	CU_ASSERT(ktr_reader_seek(reader, 0) == 0);
	CU_ASSERT(ktr_reader_walk(reader, sinks, 2) == 77);
	CU_ASSERT(a.n_events == a.end_at);
	ktr_reader_close(reader);
	made_close(&made);
}

/* Of the first site as many as the context says. */
static unsigned reader_wants_first(const void *context, const struct ktr_reader_site *site)
{
	return site->id == 1 ? *(const unsigned *)context : 0;
}

/*
 * Arguments that nobody wants are passed over, those that a filter looks at are not: the events are the
 * same. Then all are wanted again.
 */
static void arguments_that_nobody_wants(void)
{
	static const char *const filters[] = { NULL, "n > 0", "class == net", "b == 65535", "msg ~ \"*k\"" };
	struct made made;

	made_open(&made);
	reader_fill(&made);
	made_trace(&made);
	for (unsigned i = 0; i < 4 * 5; i++) {
		const unsigned wanted = i < 2 * 5 ? KTR__READER_ALL_ARGS : 1;
		struct ktr_reader_options options = { .size = sizeof(options), .reverse = i % 2 };
		struct ktr_reader *all, *some;
		const struct ktr_event *a, *b;
		int what;

		CU_ASSERT_FATAL(ktr_reader_open(made.trace, &options, &all, NULL) == 0);
		CU_ASSERT_FATAL(ktr_reader_open(made.trace, &options, &some, NULL) == 0);
		CU_ASSERT(ktr__reader_wants(some, reader_wants_first, &wanted) == 0);
		CU_ASSERT(ktr_reader_filter(all, filters[i / 2 % 5], NULL) == 0);
		CU_ASSERT(ktr_reader_filter(some, filters[i / 2 % 5], NULL) == 0);
		do {
			what = ktr__reader_advance(all, &a);
			CU_ASSERT_FATAL(ktr__reader_advance(some, &b) == what);
			if (what != KTR_READ_EVENT) {
				CU_ASSERT(a == NULL && b == NULL);
				continue;
			}
			CU_ASSERT(a->time_ns == b->time_ns && a->index == b->index && a->cpu == b->cpu &&
				  a->keep == b->keep && a->approx == b->approx);
			CU_ASSERT(a->site->id == b->site->id && a->thread->tid == b->thread->tid);
			if (a->site->id == 1)
				CU_ASSERT(a->arg[0] == b->arg[0]);
			if (a->site->id == 1 && wanted != 1) {
				CU_ASSERT(a->str[1].n_bytes == b->str[1].n_bytes);
				CU_ASSERT(memcmp(a->str[1].bytes ? a->str[1].bytes : "",
						 b->str[1].bytes ? b->str[1].bytes : "",
						 a->str[1].n_bytes) == 0);
			}
		} while (what != KTR_READ_END);
		CU_ASSERT(ktr_reader_n_filtered(all) == ktr_reader_n_filtered(some));
		CU_ASSERT(ktr_reader_filter(some, NULL, NULL) == 0);
		CU_ASSERT(ktr__reader_wants(some, NULL, NULL) == 0);
		CU_ASSERT(ktr_reader_seek(some, options.reverse ? 2001 : 2000) == 0);
		CU_ASSERT_FATAL(ktr__reader_advance(some, &b) == KTR_READ_EVENT);
		CU_ASSERT(b->time_ns == 2000 && b->arg[1] == 65535 && b->arg[2] == UINT64_MAX);
		ktr_reader_close(all);
		ktr_reader_close(some);
	}
	made_close(&made);
}

/* Anchors in which UTC was set back by 3 s, and later drifts as clocks do; and a clock that went wrong. */
static void clocks_that_jump_are_told(void)
{
	static const struct {
		uint64_t ticks, mono_ns, utc_ns;
	} anchor[] = {
		{ 1000000000, 1000000000, 1700000000000000000 },
		{ 2000000000, 2000000000, 1700000001000200000 },
		{ 3000000000, 3000000000, 1699999999000200000 },
		{ 4000000000, 4000000000, 1700000000000400000 },
		{ 5500000000, 5000000000, 1700000001000400000 },
	};
	char path[160], line[256], *all;
	struct made made;
	FILE *file;

	made_open(&made);
	made_event(&made, 0, 1000, made_site(&made, KTR_GEN, "t.c", 1, "tick", "", 0), 0);
	made_trace(&made);
	snprintf(path, sizeof(path), "%s/ktr/anchors.jsonl", made.trace);
	file = fopen(path, "w");
	CU_ASSERT_FATAL(file != NULL);
	for (size_t i = 0; i < sizeof(anchor) / sizeof(anchor[0]); i++) {
		int n = snprintf(line, sizeof(line) - KTR_LINE_TAIL - 1,
				 "{\"ticks\":%" PRIu64 ",\"mono_ns\":%" PRIu64
				 ",\"utc_ns\":%" PRIu64,
				 anchor[i].ticks, anchor[i].mono_ns, anchor[i].utc_ns);

		ktr__line_seal(line, (size_t)n);
		fwrite(line, 1, (size_t)n + KTR_LINE_TAIL + 1, file);
	}
	fclose(file);
	all = made_walk(made.trace, NULL);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(all, "the wall clock was set back by 3.000 s between 2.000 s"));
	CU_ASSERT_PTR_NOT_NULL(strstr(all, "at 5.000 s the events' clock is 0.500 s ahead of"));
	CU_ASSERT_PTR_NULL(strstr(all, "between 3.000 s"));
	CU_ASSERT_PTR_NULL(strstr(all, "note!"));
	free(all);
	made_close(&made);
}

/* A followed trace: what has come is read, also from another directory; nothing is lost or told twice. */
static void what_comes_is_followed(void)
{
	struct ktr_reader_options options = { .size = sizeof(options), .follow = 1 };
	struct ktr_reader *reader;
	struct ktr_event event;
	uint64_t n = 0, want = 0;
	struct made made;
	uint32_t tick;
	int what;

	made_open(&made);
	tick = made_site(&made, KTR_GEN, "t.c", 1, "tick", "", 0);
	made_drain(&made);
	CU_ASSERT_FATAL(ktr_reader_open(made.trace, &options, &reader, NULL) == 0);
	for (int round = 0; round < 12; round++) {
		for (int i = 0; i < 100; i++, want++)
			made_event(&made, round % 2, 1000 + want, tick, 0);
		made_drain(&made);
		if (round % 3 == 2)
			CU_ASSERT(ktr__rotate(made.drain, ktr__drain_now()) == 0);
		/* Whatever the pauses are, 2000 looks are more than enough. */
		for (int look = 0; look < 2000 && n < want; look++) {
			CU_ASSERT_FATAL(ktr_reader_wait(reader, 10) == 0);
			while ((what = ktr_reader_next(reader, &event)) == KTR_READ_EVENT)
				CU_ASSERT(event.time_ns == 1000 + n++);
			CU_ASSERT(what == KTR_READ_WAIT);
		}
		CU_ASSERT(n == want);
	}
	CU_ASSERT(!ktr_reader_ended(reader));
	made_trace(&made);
	for (int look = 0; look < 500 && !ktr_reader_ended(reader); look++)
		CU_ASSERT(ktr_reader_wait(reader, 10) == 0);
	CU_ASSERT(ktr_reader_ended(reader));
	CU_ASSERT(ktr_reader_next(reader, &event) == KTR_READ_WAIT);
	ktr_reader_close(reader);
	made_close(&made);
}

SUITE(reader, TEST(clocks_that_jump_are_told), TEST(what_comes_is_followed),
      TEST(a_trace_and_its_session_say_the_same), TEST(any_window_in_either_direction),
      TEST(seeking_again_and_again), TEST(what_the_source_says_of_itself),
      TEST(losses_stand_where_events_are_missing), TEST(losses_are_told_once_by_each_walk),
      TEST(losses_come_in_their_place), TEST(losses_before_a_streams_events_come_in_their_place),
      TEST(a_long_trace_is_found_by_time),
      TEST(one_walk_feeds_many_sinks), TEST(arguments_that_nobody_wants));
