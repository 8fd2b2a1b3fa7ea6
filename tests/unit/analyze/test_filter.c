/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters over a trace and a session made by hand: each expression, and the events it lets pass. The same
 * in both directions and from both kinds of source.
 */
#include "tests/unit/suite.h"

#include "tests/unit/made.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct made made;

/* Event n of the trace, counted from 0, is at (n + 1) ms. */
enum { NET_A, NET_B, LOCK, LOAD, NULL_TEXT, BIG, KEPT, N_EVENTS };

static unsigned n_events = N_EVENTS; /* of the trace */

static uint64_t real_bits(double real)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	return bits;
}

static void make(void)
{
	uint32_t net, lock, load, big, one, two;

	made_open(&made);
	net = made_site(&made, KTR_NET, "/src/net/tcp.c", 42, "got %d of %s", "n,p->name", 2, KTR_ARG_I32,
			KTR_ARG_STR);
	lock = made_site(&made, KTR_LOCK, "/src/lock.c", 7, "lock %u", "depth", 1, KTR_ARG_U32);
	load = made_site(&made, KTR_SCHED, "/src/sched.c", 9, "load %g", "load", 1, KTR_ARG_F64);
	big = made_site(&made, KTR_GEN, "/src/gen.c", 11, "big %lu", "n", 1, KTR_ARG_U64);
	one = made_thread(&made, 101, 100, "worker one");
	two = made_thread(&made, 102, 100, "two");
	made_event(&made, 0, 1000000, net, one, (uint64_t)-3, "abc.tmp");
	made_event(&made, 1, 2000000, net, two, (uint64_t)12, "other");
	made_event(&made, 0, 3000000, lock, one, (uint64_t)7);
	made_event(&made, 0, 4000000, load, two, real_bits(0.75));
	made_event(&made, 1, 5000000, net, one, (uint64_t)0, NULL);
	made_event(&made, 0, 6000000, big, two, ~0ull);
	made_event(&made, 2, 7000000, lock, two, (uint64_t)1);
	made_session(&made);
	made_trace(&made);
}

/* The events that pass, as a set of bits; -1: no expression. */
static struct ktr_error last;

static int passed(const char *path, const char *filter, int reverse)
{
	struct ktr_reader_options options = { .size = sizeof(options), .reverse = reverse };
	struct ktr_reader *reader;
	struct ktr_event event;
	int found = 0, what;

	ktr_error_clear(&last);
	CU_ASSERT_FATAL(ktr_reader_open(path, &options, &reader, NULL) == 0);
	if (ktr_reader_filter(reader, filter, &last)) {
		ktr_reader_close(reader);
		return -1;
	}
	while ((what = ktr_reader_next(reader, &event)) > 0)
		if (what == KTR_READ_EVENT)
			found |= 1 << (event.time_ns / 1000000 - 1);
	CU_ASSERT(what == 0);
	CU_ASSERT(__builtin_popcount((unsigned)found) + ktr_reader_n_filtered(reader) == n_events);
	ktr_reader_close(reader);
	return found;
}

static void check(const char *filter, int expected)
{
	for (int i = 0; i < 4; i++) {
		int found = passed(i & 1 ? made.trace : made.session, filter, i & 2);

		if (found != expected)
			printf("\n  %s: %x, not %x: %s\n", filter, (unsigned)found, (unsigned)expected, last.text);
		CU_ASSERT(found == expected);
	}
}

#define E(event) (1 << (event))
#define ALL	 ((1 << N_EVENTS) - 1)

static void fields(void)
{
	make();
	check("class == net", E(NET_A) | E(NET_B) | E(NULL_TEXT));
	check("class == net|lock", E(NET_A) | E(NET_B) | E(NULL_TEXT) | E(LOCK) | E(KEPT));
	check("class != net", ALL & ~(E(NET_A) | E(NET_B) | E(NULL_TEXT)));
	check("class in (sched, gen)", E(LOAD) | E(BIG));
	check("class == 0x8 or class == all", ALL);
	check("site == tcp.c:42", E(NET_A) | E(NET_B) | E(NULL_TEXT));
	check("site == net/tcp.c:42 and cpu == 0", E(NET_A));
	check("site == \"lock %u\"", E(LOCK) | E(KEPT));
	check("site == 1", E(NET_A) | E(NET_B) | E(NULL_TEXT));
	check("file ~ \"*.c\" and line < 10", E(LOCK) | E(LOAD) | E(KEPT));
	check("file == lock.c", E(LOCK) | E(KEPT));
	check("format =~ /of %s$/", E(NET_A) | E(NET_B) | E(NULL_TEXT));
	check("cpu == 1", E(NET_B) | E(NULL_TEXT));
	check("cpu + 1 == 2", E(NET_B) | E(NULL_TEXT));
	check("tid == 101", E(NET_A) | E(LOCK) | E(NULL_TEXT));
	check("pid == 100", ALL);
	check("thread == \"worker one\"", E(NET_A) | E(LOCK) | E(NULL_TEXT));
	check("thread ~ worker*", E(NET_A) | E(LOCK) | E(NULL_TEXT));
	check("thread == two and class == net", E(NET_B));
	check("msg == \"lock 7\"", E(LOCK));
	check("msg ~ \"*tmp\" or msg =~ /LOAD/i", E(NET_A) | E(LOAD));
	check("kind == event", ALL);
	check("keep", E(KEPT));
	check("time < 2ms", E(NET_A) | E(NET_B));
	check("time >= 1ms and time < 4ms", E(NET_B) | E(LOCK) | E(LOAD));
	check("mono in (3ms, 5ms..6ms)", E(LOCK) | E(NULL_TEXT) | E(BIG));
	check("index == 0 and not keep", E(NET_A) | E(NET_B));
	made_close(&made);
}

static void arguments(void)
{
	make();
	check("n == -3", E(NET_A));
	check("n > 0", E(NET_B) | E(BIG));
	check("n == 18446744073709551615", E(BIG));
	check("n < 1", E(NET_A) | E(NULL_TEXT));
	check("not n < 1", E(NET_B) | E(BIG));
	check("arg0 == 7 or arg0 == 12", E(NET_B) | E(LOCK));
	check("load > 0.5", E(LOAD));
	check("load == 0.75 and arg0 < 1", E(LOAD));
	check("p->name == \"other\"", E(NET_B));
	check("p->name ~ \"*.tmp\"", E(NET_A));
	check("arg(\"p->name\") =~ /^o/", E(NET_B));
	check("p->name == \"(null)\"", E(NULL_TEXT));
	check("p->name != \"other\"", E(NET_A) | E(NULL_TEXT));
	check("arg1 == \"other\"", E(NET_B));
	check("depth % 2 == 1 and depth & 4", E(LOCK));
	check("n * 4 == 48", E(NET_B));
	check("arg0 == arg0", ALL);
	check("arg0 == format", 0);
	check("true", ALL);
	check("n / 0 == 1 or not (n / 0 == 1)", 0);
	made_close(&made);
}

static void mistakes(void)
{
	static const struct {
		const char *text;
		unsigned column;
		const char *word;
	} wrong[] = {
		{ "class == nett", 10, "unknown class \"nett\", the nearest is \"net\"" },
		{ "site == tpc.c:42", 9, "unknown call site \"tpc.c:42\", the nearest is \"tcp.c:42\"" },
		{ "site == tcp.c:43", 9, "unknown call site" },
		{ "site == 99", 9, "unknown call site" },
		{ "file == tpc.c", 9, "nearest is \"tcp.c\"" },
		{ "file != tpc.c", 9, "nearest is \"tcp.c\"" },
		{ "file ~ x*", 8, "no call site has a file that matches \"x*\"" },
		{ "kind == stat", 9, "nearest is \"state\"" },
		{ "dpth > 3", 1, "unknown field or argument \"dpth\", the nearest is \"depth\"" },
		{ "cpus > 3", 1, "nearest is \"cpu\"" },
		{ "arg5 > 3", 1, "argument 5" },
		{ "utc > \"yesterday\"", 7, "no moment" },
		{ "cpu == \"x\"", 8, "text" },
		{ "n == 1 and", 11, "missing" },
	};

	make();
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CU_ASSERT(passed(made.trace, wrong[i].text, 0) == -1);
		if (last.column != wrong[i].column || !strstr(last.text, wrong[i].word))
			printf("\n  %s: %u: %s\n", wrong[i].text, last.column, last.text);
		CU_ASSERT(last.column == wrong[i].column);
		CU_ASSERT(strstr(last.text, wrong[i].word) != NULL);
	}
	/* A kind that this trace has none of is no mistake. */
	check("kind == counter", 0);
	made_close(&made);
}

/* A filter comes and goes in the middle of a walk; a window ends it although nothing passes. */
static void walks(void)
{
	struct ktr_reader *reader;
	struct ktr_event event;

	make();
	CU_ASSERT_FATAL(ktr_reader_open(made.trace, NULL, &reader, NULL) == 0);
	CU_ASSERT(ktr_reader_next(reader, &event) == KTR_READ_EVENT);
	CU_ASSERT(event.time_ns == 1000000);
	CU_ASSERT(ktr_reader_filter(reader, "class == lock", NULL) == 0);
	CU_ASSERT(ktr_reader_next(reader, &event) == KTR_READ_EVENT);
	CU_ASSERT(event.time_ns == 3000000);
	CU_ASSERT(ktr_reader_filter(reader, "class ==", NULL) == -EINVAL);
	CU_ASSERT(ktr_reader_next(reader, &event) == KTR_READ_EVENT);
	CU_ASSERT(event.time_ns == 7000000);
	CU_ASSERT(ktr_reader_next(reader, &event) == KTR_READ_END);
	CU_ASSERT(ktr_reader_window(reader, 2000000, 3000000) == 0);
	CU_ASSERT(ktr_reader_next(reader, &event) == KTR_READ_END);
	CU_ASSERT(ktr_reader_window(reader, 2000000, 3000001) == 0);
	CU_ASSERT(ktr_reader_next(reader, &event) == KTR_READ_EVENT);
	CU_ASSERT(event.time_ns == 3000000);
	CU_ASSERT(ktr_reader_next(reader, &event) == KTR_READ_END);
	CU_ASSERT(ktr_reader_filter(reader, NULL, NULL) == 0);
	CU_ASSERT(ktr_reader_window(reader, 6000000, 0) == 0);
	CU_ASSERT(ktr_reader_next(reader, &event) == KTR_READ_EVENT);
	CU_ASSERT(event.time_ns == 6000000);
	ktr_reader_close(reader);
	made_close(&made);
}

/*
 * How long the spans around an event take: a request of 10 ms with one of 4 ms in it, one of 2 ms on another
 * thread, one that one thread begins and another ends, a scope, a state, and one that nobody ends.
 */
static void spans(void)
{
	static const char start[] = "KTRGRAPH group:\"request\", id:\"%s\", start:0x%jX, attributes: none";
	static const char stop[] = "KTRGRAPH group:\"request\", id:\"%s\", stop:0x%jX, attributes: none";
	static const char into[] = "KTRGRAPH group:\"scope\", id:\"parse it\", start:0x%jX, attributes: none";
	static const char outof[] = "KTRGRAPH group:\"scope\", id:\"parse it\", stop:0x%jX, attributes: none";
	static const char state[] = "KTRGRAPH group:\"worker\", id:\"%s\", state:\"%s\", attributes: none";
	uint32_t begin, end, enter, leave, is, plain, one, two;

	made_open(&made);
	begin = made_site(&made, KTR_NET, "net.c", 1, start, "id,key", 2, KTR_ARG_STR, KTR_ARG_U64);
	end = made_site(&made, KTR_NET, "net.c", 2, stop, "id,key", 2, KTR_ARG_STR, KTR_ARG_U64);
	enter = made_site(&made, KTR_NET, "net.c", 3, into, "key", 1, KTR_ARG_U64);
	leave = made_site(&made, KTR_NET, "net.c", 4, outof, "key", 1, KTR_ARG_U64);
	is = made_site(&made, KTR_NET, "net.c", 5, state, "id,state", 2, KTR_ARG_STR, KTR_ARG_STR);
	plain = made_site(&made, KTR_GEN, "gen.c", 6, "here %u", "span", 1, KTR_ARG_U32);
	one = made_thread(&made, 101, 100, "one");
	two = made_thread(&made, 102, 100, "two");
	made_event(&made, 0, 1000000, begin, one, "a", (uint64_t)1);
	made_event(&made, 0, 2000000, plain, one, (uint64_t)3);
	made_event(&made, 1, 3000000, begin, two, "b", (uint64_t)2);
	made_event(&made, 1, 4000000, plain, two, (uint64_t)4);
	made_event(&made, 1, 5000000, end, two, "b", (uint64_t)2);
	made_event(&made, 0, 6000000, begin, one, "inner", (uint64_t)3);
	made_event(&made, 0, 10000000, end, one, "inner", (uint64_t)3);
	made_event(&made, 0, 11000000, end, one, "a", (uint64_t)1);
	made_event(&made, 0, 12000000, plain, one, (uint64_t)5);
	made_event(&made, 0, 13000000, begin, one, "c", (uint64_t)4);
	made_event(&made, 1, 14000000, end, two, "c", (uint64_t)4);
	made_event(&made, 0, 15000000, enter, one, (uint64_t)0x8000);
	made_event(&made, 0, 16000000, plain, one, (uint64_t)6);
	made_event(&made, 0, 17000000, leave, one, (uint64_t)0x8000);
	made_event(&made, 0, 18000000, is, one, "w", "idle");
	made_event(&made, 0, 19000000, begin, two, "open", (uint64_t)9);
	made_event(&made, 1, 24000000, is, two, "w", "busy");
	made_session(&made);
	made_trace(&made);
	n_events = 17;

#define AT(ms) (1 << ((ms) - 1))
	check("span request > 9ms", AT(1) | AT(2) | AT(6) | AT(10) | AT(11));
	check("span request > 5ms and class == gen", AT(2));
	check("span request in (1ms..2ms)", AT(3) | AT(4) | AT(5) | AT(13) | AT(14));
	check("span a == 10ms", AT(1) | AT(2) | AT(6) | AT(10) | AT(11));
	check("span \"inn*\" > 1ms", AT(6) | AT(10));
	check("span request > 9ms or span \"parse it\" < 1s",
	      AT(1) | AT(2) | AT(6) | AT(10) | AT(11) | AT(15) | AT(16) | AT(17));
	/* A state by its name; what has not ended lasted so long. */
	check("span idle > 5ms", AT(18) | AT(19) | AT(24));
	check("span open >= 5ms", AT(19) | AT(24));
	/* Outside of all there is no value, and no opposite. */
	check("not span \"parse it\" > 5ms", AT(15) | AT(16) | AT(17));
	/* An argument of that name is still one. */
	check("span > 4", AT(12) | AT(16));
	CU_ASSERT(passed(made.trace, "class == net and span reqest > 1ms", 0) == -1);
	CU_ASSERT(last.column == 23 && strstr(last.text, "unknown span \"reqest\", the nearest is \"request\""));
	CU_ASSERT(passed(made.trace, "span request", 0) != -1);
	CU_ASSERT(passed(made.trace, "span request net", 0) == -1);
	n_events = N_EVENTS;
	made_close(&made);
}

SUITE(filter, TEST(fields), TEST(arguments), TEST(mistakes), TEST(walks), TEST(spans));
