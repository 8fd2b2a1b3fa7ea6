/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions made by hand, drained: every event is in the trace once or counted as lost at its
 * place, and what describes it is there.
 */
#include "drained.h"

static void everything_is_written(void)
{
	struct ktr__drain_stats stats;
	struct look look;
	uint32_t site, text, thread;

	made_open(&made);
	site = number_site();
	text = made_site(&made, KTR_INIT, "init.c", 7, "%s and %s", "a,b", 2, KTR_ARG_STR,
			 KTR_ARG_STR);
	thread = made_thread(&made, 4712, 4711, "worker");
	for (uint64_t i = 0; i < 300; i++)
		made_event(&made, 0, 1000 + i, site, thread, i);
	for (uint64_t i = 0; i < 20; i++)
		made_event(&made, 2, 1000 + 10 * i, text, thread, "hello, and more than an entry has room for",
			   i % 3 ? "world" : NULL);
	begin(KTR__DRAIN_START);
	stats = end();
	CU_ASSERT_EQUAL(stats.events, 320);
	CU_ASSERT_EQUAL(stats.lost, 0);
	look = look_stream(&made, made.trace, "cpu_0");
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT_EQUAL(look.n_events, 300);
	CU_ASSERT_EQUAL(look.n_packets, 2); /* of 300 * 18 bytes: a page each */
	CU_ASSERT_EQUAL(look.sum, 299 * 300 / 2);
	CU_ASSERT_EQUAL(look.next_slot, 300);
	look = look_stream(&made, made.trace, "cpu_0.keep");
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT_EQUAL(look.n_events, 20);
	CU_ASSERT_EQUAL(look.next_slot, 40);
	CU_ASSERT_EQUAL(look.next_index, 20);
	CU_ASSERT_EQUAL(look_stream(&made, made.trace, "cpu_1").n_packets, 0);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/sites.jsonl", "\"site\":"), 2);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/threads.jsonl", "\"word\":4712,\"tid\":4712"),
			1);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/losses.jsonl", ""), 0);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/info.jsonl", "\"kind\":\"end\""), 1);
	made_close(&made);
}

static void losses_are_exact(void)
{
	struct ktr__drain_stats stats;
	struct look look;
	uint32_t site, thread;
	uint64_t produced = 0;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	burst(site, thread, 0, 2000);
	produced = 2000;
	begin(KTR__DRAIN_START);
	CU_ASSERT_EQUAL(again(), 0);
	look = look_stream(&made, made.trace, "cpu_1");
	/* The loss is before the first event: an empty packet says so first. */
	CU_ASSERT_EQUAL(look.n_packets, 4);
	CU_ASSERT_EQUAL(look.n_empty, 1);
	CU_ASSERT_EQUAL(look.n_events + look.discarded, 2000);
	CU_ASSERT_EQUAL(look.n_events, 512 - KTR_SLOTS_MAX);
	for (unsigned i = 0; i < 50; i++) {
		burst(site, thread, produced, 37 * i);
		produced += 37 * i;
		CU_ASSERT_EQUAL(again(), 0);
	}
	stats = end();
	look = look_stream(&made, made.trace, "cpu_1");
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT_EQUAL(look.n_events + look.discarded, produced);
	CU_ASSERT_EQUAL(look.n_events, stats.events);
	CU_ASSERT_EQUAL(look.discarded, stats.lost);
	CU_ASSERT_EQUAL(look.next_index, produced);
	CU_ASSERT_EQUAL(look.first_arg, produced - 1);
	CU_ASSERT(look_lines(made.trace, "ktr/losses.jsonl", "\"stream\":\"cpu_1\",\"cpu\":1") >
		  10);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/losses.jsonl", "\"from_ns\":0,"), 1);
	made_close(&made);
}

static void losses_with_strings(void)
{
	struct look look;
	uint32_t site, thread;
	uint64_t produced = 0;
	char text[200];

	made_open(&made);
	site = made_site(&made, KTR_NET, "net.c", 42, "%d %s", "n,s", 2, KTR_ARG_I64, KTR_ARG_STR);
	thread = made_thread(&made, 4712, 4711, "worker");
	begin(KTR__DRAIN_START);
	for (unsigned i = 0; i < 100; i++) {
		for (unsigned k = 0; k < 17 * (i % 13); k++) {
			memset(text, 'x', sizeof(text));
			text[produced % 199] = 0;
			made_event(&made, 0, 1000 + produced, site, thread, produced, text);
			produced++;
		}
		CU_ASSERT_EQUAL(again(), 0);
	}
	end();
	look = look_stream(&made, made.trace, "cpu_0");
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT(look.discarded > 0);
	CU_ASSERT_EQUAL(look.n_events + look.discarded, produced);
	CU_ASSERT_EQUAL(look.first_arg, produced - 1);
	made_close(&made);
}

/* Up to the longest there are: each page of the file takes as many as fit, and none is lost on the way. */
static void events_of_all_lengths(void)
{
	uint32_t one, six, thread;
	uint64_t produced = 0, full = 0;
	struct look look;
	char text[600];
	size_t n = 0;

	made_open(&made);
	one = made_site(&made, KTR_NET, "net.c", 42, "%d %s", "n,s", 2, KTR_ARG_I64, KTR_ARG_STR);
	six = made_site(&made, KTR_NET, "net.c", 43, "%d %s %s %s %s %s", "n,a,b,c,d,e", 6, KTR_ARG_I64,
			KTR_ARG_STR, KTR_ARG_STR, KTR_ARG_STR, KTR_ARG_STR, KTR_ARG_STR);
	thread = made_thread(&made, 4712, 4711, "worker");
	begin(KTR__DRAIN_START);
	for (unsigned i = 0; i < 600; i++) {
		memset(text, 'x', sizeof(text));
		text[i * 7919 % 512] = 0;
		for (unsigned k = 0; k < 1 + i % 5; k++, produced++)
			if (i % 7)
				made_event(&made, 0, 1000 + produced, one, thread, produced, text);
			else
				made_event(&made, 0, 1000 + produced, six, thread, produced, text, text, text,
					   text, text);
		full += i % 7 == 0;
		CU_ASSERT_EQUAL(again(), 0);
	}
	end();
	look = look_stream(&made, made.trace, "cpu_0");
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT_EQUAL(look.n_events, produced);
	CU_ASSERT_EQUAL(look.discarded, 0);
	CU_ASSERT_EQUAL(look.sum, produced * (produced - 1) / 2);
	CU_ASSERT(look.n_empty > 10); /* pages filled because of what follows */
	free(look_file(made.trace, "cpu_0", &n));
	CU_ASSERT(n > 100 * KTR_TRACE_PAGE && full > 80);
	made_close(&made);
}

/* Of pages that packets fill: the bytes that are no events, in per mille of those that are. */
static unsigned pages_cost(const char *name)
{
	uint64_t filled = 0, events = 0;
	struct ktr_packet_header head;
	size_t n = 0, at = 0;
	uint8_t *bytes = (uint8_t *)look_file(made.trace, name, &n);

	for (int64_t length; bytes && at < n; at += (size_t)length) {
		length = ktr__packet_look(bytes + at, n - at, &head);
		if (length <= 0)
			break;
		if (length == KTR_TRACE_PAGE) {
			filled += KTR_TRACE_PAGE;
			events += head.content_bits / 8 - ktr__packet_events(head.flags);
		}
	}
	free(bytes);
	CU_ASSERT(at == n && filled >= 2 * KTR_TRACE_PAGE);
	return events ? (unsigned)((filled - events) * 1000 / events) : 1000;
}

/* That no packet crosses a page is paid for with each page: its header, and what no event fits into. */
static void a_page_costs_at_most_three_per_cent(void)
{
	static const char text[] = "sixteen letters.";
	uint32_t site[4], thread;

	made_open(&made);
	site[0] = made_site(&made, KTR_NET, "net.c", 1, "nothing", "", 0);
	site[1] = made_site(&made, KTR_NET, "net.c", 2, "%d %d", "a,b", 2, KTR_ARG_I32, KTR_ARG_I32);
	site[2] = made_site(&made, KTR_NET, "net.c", 3, "%lu %lu %lu %lu %lu %lu", "a,b,c,d,e,f", 6, KTR_ARG_U64,
			    KTR_ARG_U64, KTR_ARG_U64, KTR_ARG_U64, KTR_ARG_U64, KTR_ARG_U64);
	site[3] = made_site(&made, KTR_NET, "net.c", 4, "%s", "s", 1, KTR_ARG_STR);
	thread = made_thread(&made, 4712, 4711, "worker");
	begin(KTR__DRAIN_START);
	for (unsigned ring = 0; ring < 4; ring++) {
		uint64_t round = ring == 3 ? 220 : 450;

		for (uint64_t i = 0; i < 20 * round; i++) {
			uint64_t ticks = 1000 + i;

			if (ring == 3)
				made_event(&made, ring, ticks, site[ring], thread, text);
			else
				made_event(&made, ring, ticks, site[ring], thread, i, i, i, i, i, i);
			if (i % round == round - 1)
				CU_ASSERT_EQUAL(again(), 0);
		}
	}
	end();
	/* Rounds end packets within pages; of those that are full the header and the rest are all there is. */
	CU_ASSERT(pages_cost("cpu_0") <= 30);
	CU_ASSERT(pages_cost("cpu_1") <= 30);
	CU_ASSERT(pages_cost("cpu_0.keep") <= 30);
	CU_ASSERT(pages_cost("cpu_1.keep") <= 30);
	made_close(&made);
}

static void from_oldest_and_from_head(void)
{
	struct look look;
	uint32_t site, thread;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	burst(site, thread, 0, 2000);
	begin(KTR__DRAIN_OLDEST);
	burst(site, thread, 2000, 100);
	CU_ASSERT_EQUAL(again(), 0);
	end();
	look = look_stream(&made, made.trace, "cpu_1");
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT_EQUAL(look.n_events, 512 - KTR_SLOTS_MAX);
	CU_ASSERT_EQUAL(look.discarded, 0);
	CU_ASSERT_EQUAL(look.next_index, 2100);
	begin(KTR__DRAIN_HEAD);
	burst(site, thread, 2100, 100);
	CU_ASSERT_EQUAL(again(), 0);
	end();
	look = look_stream(&made, made.trace, "cpu_1");
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT_EQUAL(look.n_events, 100);
	CU_ASSERT_EQUAL(look.discarded, 0);
	CU_ASSERT_EQUAL(look.next_index, 2200);
	made_close(&made);
}

static void thread_rings_keep_the_cpu(void)
{
	struct look look;
	uint32_t site, thread;

	made_open(&made);
	made.image.header->path = KTR_PATH_THREAD;
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	for (uint64_t i = 0; i < 100; i++)
		made_event(&made, 0, 1000 + i, site,
			   thread | (uint32_t)(i < 50 ? 3 : 5) << KTR_THREAD_BITS, i);
	begin(KTR__DRAIN_START);
	end();
	look = look_stream(&made, made.trace, "ring_0");
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT_EQUAL(look.n_packets, 2);
	CU_ASSERT_EQUAL(look.cpus, 1 << 3 | 1 << 5);
	CU_ASSERT_EQUAL(look.n_events, 100);
	made_close(&made);
}

/*
 * A row that its process has not finished is taken when it is; until then events keep their words.
 */
static void late_descriptions(void)
{
	struct ktr_thread_row *row;
	struct look look;
	uint32_t site, thread;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	row = (struct ktr_thread_row *)image_region(&made.image, KTR_REGION_thread) + thread;
	row->state = KTR_ROW_FILLING;
	burst(site, thread, 0, 10);
	begin(KTR__DRAIN_START);
	CU_ASSERT_EQUAL(again(), 0);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/threads.jsonl", ""), 0);
	row->state = KTR_ROW_READY;
	burst(site, thread, 10, 10);
	CU_ASSERT_EQUAL(again(), 0);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/threads.jsonl", "\"name\":\"worker\""), 1);
	memcpy(row->name, "renamed", 8);
	row->state = KTR_ROW_GONE;
	row->exit_ns = 5000;
	made_session(&made);
	end();
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/threads.jsonl", ""), 2);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/threads.jsonl",
				   "\"renamed\",\"start_ns\":600,\"exit_ns\":5000"),
			1);
	look = look_stream(&made, made.trace, "cpu_1");
	CU_ASSERT_EQUAL(look.n_events, 20);
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	made_close(&made);
}

static void reused_tids_have_words_of_their_own(void)
{
	uint32_t site, first, second;

	made_open(&made);
	site = number_site();
	first = made_thread(&made, 99, 1, "first");
	second = made_thread(&made, 99, 1, "second");
	burst(site, first, 0, 1);
	burst(site, second, 1, 1);
	begin(KTR__DRAIN_START);
	end();
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/threads.jsonl", "\"word\":99,"), 1);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/threads.jsonl", "\"word\":8388707,\"tid\":99,"),
			1);
	made_close(&made);
}

static void dropped_events_are_discarded(void)
{
	struct ktr__drain_stats stats;
	struct look look;
	uint32_t site, thread;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	burst(site, thread, 0, 10);
	begin(KTR__DRAIN_START);
	CU_ASSERT_EQUAL(again(), 0);
	image_ring(&made.image, 1)->dropped = 77;
	made_session(&made);
	stats = end();
	look = look_stream(&made, made.trace, "cpu_1");
	CU_ASSERT_EQUAL(stats.lost, 77);
	CU_ASSERT_EQUAL(look.discarded, 77);
	CU_ASSERT_EQUAL(look.n_empty, 1);
	CU_ASSERT_EQUAL(
		look_lines(made.trace, "ktr/losses.jsonl", "\"why\":\"dropped\",\"events\":77,"),
		1);
	made_close(&made);
}

/* The pause after a round in which nothing came, when nothing had for so long; peaks have faded by then. */
static uint64_t quiet_pause(uint64_t ns)
{
	uint64_t pause_ns = 0;

	for (uint32_t i = 0; i < drain->n_rows; i++)
		drain->pace[i].peak = 0;
	drain->rate_ns = 0;
	drain->moved_ns = ktr__drain_now() - ns;
	CU_ASSERT_EQUAL(ktr__drain_round(drain, 0, &pause_ns), 0);
	return pause_ns;
}

/* Main rings of 512 entries do not take a longer pause, whatever was; where there is none an idle session does. */
static void longer_pauses_of_idle_sessions(void)
{
	uint32_t site, thread;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	burst(site, thread, 0, 100);
	begin(KTR__DRAIN_START);
	CU_ASSERT_EQUAL(again(), 0);
	CU_ASSERT_EQUAL(quiet_pause(0), 50000000);
	CU_ASSERT_EQUAL(quiet_pause(3000000000), 50000000);
	for (unsigned i = 0; i < IMAGE_RINGS; i++)
		image_ring(&made.image, i)->geom = 0;
	made_session(&made);
	CU_ASSERT_EQUAL(quiet_pause(0), 50000000);
	CU_ASSERT_EQUAL(quiet_pause(3000000000), 80000000);
	end();
	made_close(&made);
}

static void ticks_become_nanoseconds(void)
{
	struct ktr_anchor a = { KTR_ROW_READY, 1000, 5000, 0 };
	struct ktr_anchor b = { KTR_ROW_READY, 1000 + 2600000000ull, 5000 + 1000000000ull, 0 };
	struct ktr_trace_clock clock = ktr__clock_map_through(&a, &b, 0);

	CU_ASSERT_EQUAL(ktr_trace_ns(&clock, 0), 5000);
	CU_ASSERT_EQUAL(ktr_trace_ns(&clock, 1000), 5000);
	CU_ASSERT_EQUAL(ktr_trace_ns(&clock, 1000 + 26), 5010 - 1); /* rounded down */
	CU_ASSERT(ktr_trace_ns(&clock, 1000 + 26000000000ull) - 5000 - 10000000000ull + 1 <= 1);
	/* A day later the error is below a nanosecond still. */
	CU_ASSERT(ktr_trace_ns(&clock, 1000 + 26 * 8640000000000ull) - 5000 - 86400000000000ull +
			  1 <=
		  1);
	clock = ktr__clock_map_through(&a, &a, 24000000);
	CU_ASSERT(ktr_trace_ns(&clock, 1000 + 24000000) - 5000 - 1000000000 + 1 <= 1);
	clock = ktr__clock_map_through(&a, &a, 0);
	CU_ASSERT_EQUAL(ktr_trace_ns(&clock, 1007), 5007);
	CU_ASSERT(clock.shift < 64 && clock.mult < 1ull << 63);
}

SUITE(drain, TEST(everything_is_written), TEST(losses_are_exact), TEST(losses_with_strings),
      TEST(events_of_all_lengths), TEST(a_page_costs_at_most_three_per_cent),
      TEST(from_oldest_and_from_head), TEST(thread_rings_keep_the_cpu), TEST(late_descriptions),
      TEST(reused_tids_have_words_of_their_own), TEST(dropped_events_are_discarded),
      TEST(longer_pauses_of_idle_sessions), TEST(ticks_become_nanoseconds));
