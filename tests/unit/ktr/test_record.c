/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The macros and the recorder, from the call to what the reader library finds in the session of this
 * very process. Each test clears the rings, traces, and looks at what came out.
 */
#include "tests/unit/ktr/test_record.h"

#include <ktr/ctl.h>
#include <ktr/reader.h>

#include "ktr/record/own.h"
#include "ktr/record/ring.h"

#include <limits.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

KTR_CLASS_DEFINE(record_test, "the recorder's own tests");

static char record_dir[] = "/tmp/ktr-test-XXXXXX";

static void record_clean(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/ktr-%u", record_dir, (unsigned)geteuid());
	unlink(ktr_session_path());
	rmdir(path);
	rmdir(record_dir);
}

int record_begin(const char *mask)
{
	struct ktr_options options = { .size = sizeof(options), .session = "unit", .mask = mask };
	static int started;
	struct ktr_error err = KTR_ERROR_NONE;

	if (!started) {
		if (!mkdtemp(record_dir) || setenv("KTR_DIR", record_dir, 1))
			return -1;
		atexit(record_clean);
		started = 1;
	}
	if (ktr_open(&options, &err)) {
		printf("%s\n", err.text);
		return -1;
	}
	ktr_start();
	return ktr_set("debug.ktr.clear", "1", NULL);
}

char *record_texts(char *lines, size_t size)
{
	struct ktr_reader *reader;
	struct ktr_event event;
	size_t at = 0;
	int what;

	lines[0] = 0;
	if (ktr_reader_open(ktr_session_path(), NULL, &reader, NULL))
		return lines;
	while ((what = ktr_reader_next(reader, &event)) > 0) {
		if (what != KTR_READ_EVENT || strcmp(event.site->class_name, "record_test") != 0)
			continue;
		at += ktr_event_text(&event, lines + at, size - at);
		if (at + 2 > size)
			break;
		lines[at++] = '\n';
		lines[at] = 0;
	}
	ktr_reader_close(reader);
	return lines;
}

static void arguments_arrive_in_their_types(void)
{
	char lines[4096];
	struct {
		unsigned three : 3;
		int five : 5;
	} bits = { 5, -7 };

	BEGIN();
	CTR0(KTR_CLASS(record_test), "none");
	CTR6(KTR_CLASS(record_test), "%d %u %ld %llu %hhd %hu", INT_MIN, UINT_MAX, LONG_MIN, ULLONG_MAX,
	     (signed char)-1, (unsigned short)65535);
	CTR3(KTR_CLASS(record_test), "%.3f %g %c", 2.5f, -1e300, 'x');
	CTR2(KTR_CLASS(record_test), "%u %d", bits.three, bits.five);
	CTR(KTR_CLASS(record_test), "%d of %d", 1, 2);
	EXPECT("none\n"
	       "-2147483648 4294967295 -9223372036854775808 18446744073709551615 -1 65535\n"
	       "2.500 -1e+300 x\n"
	       "5 -7\n"
	       "1 of 2\n");
}

static void a_pointer_is_not_followed(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *nowhere = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char lines[256], expected[256];

	BEGIN();
	CU_ASSERT_FATAL(nowhere != MAP_FAILED);
	CTR1(KTR_CLASS(record_test), "%p", (void *)nowhere);
	CTR2(KTR_CLASS(record_test), "%p %lx", nowhere, (unsigned long)nowhere);
	snprintf(expected, sizeof(expected), "%p\n%p %lx\n", (void *)nowhere, (void *)nowhere,
		 (unsigned long)nowhere);
	EXPECT(expected);
	munmap(nowhere, page);
}

static int record_calls;

static int record_call(void)
{
	return ++record_calls;
}

static void arguments_are_evaluated_once_and_only_when_on(void)
{
	char lines[256];

	BEGIN();
	record_calls = 0;
	CTR1(KTR_CLASS(record_test), "%d", record_call());
	CTR1(KTR_NET, "%d", record_call());
	CU_ASSERT_EQUAL(record_calls, 1);
	EXPECT("1\n");
}

static void graph_events_keep_freebsds_formats(void)
{
	char lines[2048];

	BEGIN();
	KTR_STATE1(KTR_CLASS(record_test), "thread", "t1", "running", "prio:%d", 12);
	KTR_COUNTER1(KTR_CLASS(record_test), "load", "CPU 0", 3, "of:%d", 4);
	KTR_POINT0(KTR_CLASS(record_test), "thread", "t1", "wokeup");
	KTR_START1(KTR_CLASS(record_test), "syscall", "t1", 255, "pid:%d", 7);
	KTR_STOP0(KTR_CLASS(record_test), "syscall", "t1", 255);
	EXPECT("KTRGRAPH group:\"thread\", id:\"t1\", state:\"running\", attributes: prio:12\n"
	       "KTRGRAPH group:\"load\", id:\"CPU 0\", counter:3, attributes: of:4\n"
	       "KTRGRAPH group:\"thread\", id:\"t1\", point:\"wokeup\", attributes: none\n"
	       "KTRGRAPH group:\"syscall\", id:\"t1\", start:0xFF, attributes: pid:7\n"
	       "KTRGRAPH group:\"syscall\", id:\"t1\", stop:0xFF, attributes: none\n");
}

static void a_scope_ends_with_its_scope(void)
{
	char lines[1024], *first, *second;

	BEGIN();
	{
		KTR_SCOPE(KTR_CLASS(record_test), "outer", "n:%d", 1);
		CTR0(KTR_CLASS(record_test), "inside");
	}
	CTR0(KTR_CLASS(record_test), "outside");
	record_texts(lines, sizeof(lines));
	first = strstr(lines, "start:0x");
	second = strstr(lines, "stop:0x");
	CU_ASSERT_FATAL(first && second);
	CU_ASSERT(strtoull(first + 8, NULL, 16) == strtoull(second + 7, NULL, 16));
	CU_ASSERT(strstr(lines, "inside") > first && strstr(lines, "inside") < second);
	CU_ASSERT(strstr(lines, "outside") > second);
}

static __attribute__((noinline)) int record_deep(int n)
{
	if (n)
		return record_deep(n - 1) + 1;
	CTRSTACK(KTR_CLASS(record_test), NULL, 0);
	return 0;
}

static void a_stack_has_its_frames(void)
{
	struct ktr_reader *reader;
	struct ktr_event event;
	uint32_t bytes = 0;
	int what;

	BEGIN();
	CU_ASSERT_EQUAL(record_deep(9), 9);
	CU_ASSERT_FATAL(ktr_reader_open(ktr_session_path(), NULL, &reader, NULL) == 0);
	while ((what = ktr_reader_next(reader, &event)) > 0)
		if (what == KTR_READ_EVENT && event.site->n_args == 1 && event.site->arg[0].type == KTR_ARG_STACK)
			bytes = event.str[0].n_bytes;
	/* Without frame pointers (-O2) the chain may end at once; with them it is at least ten deep. */
	CU_ASSERT(bytes % 8 == 0);
#ifdef KTR_TEST_FRAME_POINTERS
	CU_ASSERT(bytes >= 10 * 8);
#endif
	ktr_reader_close(reader);
}

/* Saved stacks of every length about those that fit one continuation. */
static void a_saved_stack_is_whole(void)
{
	struct ktr_reader *reader;
	struct ktr_event event;
	unsigned n = 0;
	int what;

	BEGIN();
	for (unsigned depth = 1; depth <= 20; depth++) {
		struct ktr_stack stack = { .depth = depth };

		for (unsigned i = 0; i < depth; i++)
			stack.pcs[i] = depth << 16 | i;
		CTRSTACK(KTR_CLASS(record_test), &stack, 0);
	}
	CU_ASSERT_FATAL(ktr_reader_open(ktr_session_path(), NULL, &reader, NULL) == 0);
	while ((what = ktr_reader_next(reader, &event)) > 0) {
		uint64_t pcs[20];

		if (what != KTR_READ_EVENT || event.site->n_args != 1 || event.site->arg[0].type != KTR_ARG_STACK)
			continue;
		n++;
		CU_ASSERT_EQUAL_FATAL(event.str[0].n_bytes, n * 8);
		memcpy(pcs, event.str[0].bytes, n * 8);
		for (unsigned i = 0; i < n; i++)
			CU_ASSERT_EQUAL(pcs[i], n << 16 | i);
	}
	CU_ASSERT_EQUAL(n, 20);
	ktr_reader_close(reader);
}

static volatile sig_atomic_t record_handled;

static void record_handler(int sig)
{
	CTR1(KTR_CLASS(record_test), "in handler of %d", sig);
	record_handled = 1;
}

/* A thread whose first event comes from a signal handler. */
static void *record_signalled(void *unused)
{
	(void)unused;
	record_handled = 0;
	pthread_kill(pthread_self(), SIGUSR1);
	while (!record_handled)
		;
	CTR0(KTR_CLASS(record_test), "after it");
	return NULL;
}

static void the_first_event_may_come_from_a_handler(void)
{
	struct sigaction action = { .sa_handler = record_handler }, before;
	char lines[256], expected[64];
	pthread_t thread;

	BEGIN();
	sigaction(SIGUSR1, &action, &before);
	CU_ASSERT_FATAL(pthread_create(&thread, NULL, record_signalled, NULL) == 0);
	pthread_join(thread, NULL);
	sigaction(SIGUSR1, &before, NULL);
	snprintf(expected, sizeof(expected), "in handler of %d\nafter it\n", SIGUSR1);
	EXPECT(expected);
}

static void errno_is_kept(void)
{
	BEGIN();
	errno = 4711;
	CTR1(KTR_CLASS(record_test), "%s", "text");
	CTR0(KTR_CLASS(record_test), "x");
	CU_ASSERT_EQUAL(errno, 4711);
}

/*
 * On the thread path an event may have to take a ring, also where its thread had one already, and may
 * have to ask whether the owners of those that are taken still live.
 */
static void errno_is_kept_where_a_ring_is_taken(void)
{
	BEGIN();
	CTR0(KTR_CLASS(record_test), "registers the thread");
	if (ktr__rec.path != KTR_PATH_THREAD)
		return;
	ktr__ring_release(&ktr__self);
	for (uint32_t i = 0; i < ktr__rec.n_rings; i++) {
		ktr__own.rings[i].owner = 0xffffff; /* no thread has that number */
		ktr__own.rings[i].owned = (uint64_t)ktr__rec.proc << KTR_OWNED_ROW | 0xffffff;
	}
	errno = 4711;
	CTR0(KTR_CLASS(record_test), "takes the ring of a dead thread");
	CU_ASSERT_EQUAL(errno, 4711);
	CU_ASSERT_EQUAL(ktr__own.rings[0].owner, (uint32_t)gettid());
	for (uint32_t i = 1; i < ktr__rec.n_rings; i++)
		ktr__own.rings[i].owned = ktr__own.rings[i].owner = 0;
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern const char ktr__record_cs[];

/*
 * From Linux 6.19 on a child of vfork(2) may find its parent's sequence armed. Whatever a peer has made of the
 * ring's geom, nothing of the child's gets there.
 */
static void a_vfork_child_takes_no_usual_way(void)
{
	struct ktr_ring *ring;
	uint64_t *armed, geom, head, dropped;
	cpu_set_t before, one;
	char *self;
	pid_t pid;

	BEGIN();
	if (ktr__rec.path != KTR_PATH_RSEQ)
		return;
	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	CU_ASSERT_EQUAL(sched_setaffinity(0, sizeof(one), &one), 0);
	CTR0(KTR_CLASS(record_test), "the parent is on this CPU");
	__asm__("movq %%fs:0, %0" : "=r"(self));
	armed = (uint64_t *)(void *)(self + ktr__rec.rseq_offset + RSEQ_CS);
	ring = &ktr__own.rings[sched_getcpu()];
	geom = ring->geom;
	dropped = ktr__own.control->drop_vfork;
	ring->geom = 0;
	head = ring->head;
	pid = vfork();
	if (!pid) {
		*(volatile uint64_t *)armed = (uintptr_t)ktr__record_cs;
		CTR1(KTR_CLASS(record_test), "in the child %d", 1);
		_exit(0);
	}
	CU_ASSERT_EQUAL(ring->head, head);
	ring->geom = geom;
	waitpid(pid, NULL, 0);
	sched_setaffinity(0, sizeof(before), &before);
	CU_ASSERT_EQUAL(ktr__own.control->drop_vfork, dropped + 1);
	CU_ASSERT_EQUAL(ktr__self.in_vfork, 0);
}
#define VFORK_TESTS TEST(a_vfork_child_takes_no_usual_way),
#else
#define VFORK_TESTS
#endif

static void stats_count_what_was_recorded(void)
{
	struct ktr_stats before = { .size = sizeof(before) }, after = before;

	BEGIN();
	CU_ASSERT_EQUAL(ktr_stats(&before), 0);
	for (int i = 0; i < 100; i++)
		CTR1(KTR_CLASS(record_test), "a string of two or three slots %s",
		     "0123456789012345678901234567890123456789012345678901234567890123456789");
	CU_ASSERT_EQUAL(ktr_stats(&after), 0);
	CU_ASSERT_EQUAL(after.n_recorded - before.n_recorded, 100);
}

/* A thread's first event is given up on its way, and begins again elsewhere with what it was called with. */
static void *record_first_string(void *at)
{
	switch ((uintptr_t)at) {
	case 0:
		CTR6(KTR_CLASS(record_test), "%s %d %d %d %d %d", "first", 1, 2, 3, 4, 5);
		break;
	case 1:
		CTR6(KTR_CLASS(record_test), "%d %s %d %d %d %d", 0, "second", 2, 3, 4, 5);
		break;
	case 2:
		CTR6(KTR_CLASS(record_test), "%d %d %s %d %d %d", 0, 1, "third", 3, 4, 5);
		break;
	case 3:
		CTR6(KTR_CLASS(record_test), "%d %d %d %s %d %d", 0, 1, 2, "fourth", 4, 5);
		break;
	case 4:
		CTR6(KTR_CLASS(record_test), "%d %d %d %d %s %d", 0, 1, 2, 3, "fifth", 5);
		break;
	case 5:
		CTR6(KTR_CLASS(record_test), "%d %d %d %d %d %s", 0, 1, 2, 3, 4, "sixth");
	}
	return NULL;
}

static void the_first_event_may_have_a_string_anywhere(void)
{
	char lines[4096];

	BEGIN();
	for (uintptr_t at = 0; at < 6; at++) {
		pthread_t thread;

		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, record_first_string, (void *)at), 0);
		pthread_join(thread, NULL);
		record_first_string((void *)at);
	}
	EXPECT("first 1 2 3 4 5\nfirst 1 2 3 4 5\n0 second 2 3 4 5\n0 second 2 3 4 5\n"
	       "0 1 third 3 4 5\n0 1 third 3 4 5\n0 1 2 fourth 4 5\n0 1 2 fourth 4 5\n"
	       "0 1 2 3 fifth 5\n0 1 2 3 fifth 5\n0 1 2 3 4 sixth\n0 1 2 3 4 sixth\n");
}

/*
 * Such a site has no mask that control.special could name, so it always asks everything: here, behind the
 * back of whoever would close the rings, the mask of CPUs, which the usual way leaves to those.
 */
static void a_class_given_at_run_time_asks_every_time(void)
{
	volatile uint64_t given = ktr_class_record_test.mask;
	struct ktr_control *control;
	uint64_t special, cpus[KTR_CPU_MAX / 64];
	struct ktr_stats before = { .size = sizeof(before) }, after = before;

	BEGIN();
	given = ktr_class_record_test.mask;
	control = ktr__own.control;
	special = control->special;
	memcpy(cpus, control->cpumask, sizeof(cpus));
	for (int left_out = 0; left_out < 2; left_out++) {
		CU_ASSERT_EQUAL(ktr_stats(&before), 0);
		for (int i = 0; i < 3; i++) {
			CTR1(given, "%d", i);
			CTR1(given, "%s", "a text");
			CTR2(given, "%d %s", i, "a text");
			CTRSTACK(given, NULL, 3);
			if (i == 0 && left_out) {
				/* From the second round on, when threads and rings are ready. */
				CU_ASSERT_EQUAL(ktr_stats(&before), 0);
				control->special = ~0ull;
				memset(control->cpumask, 0, sizeof(cpus));
				control->cpus_part = 1;
			}
		}
		control->cpus_part = 0;
		memcpy(control->cpumask, cpus, sizeof(cpus));
		control->special = special;
		CU_ASSERT_EQUAL(ktr_stats(&after), 0);
		CU_ASSERT_EQUAL(after.n_recorded - before.n_recorded, left_out ? 0 : 12);
	}
}

/* Of CPUs that are left out nothing is recorded, and nothing is lost: whatever an event carries. */
static void what_cpus_left_out_do_not_record_is_no_loss(void)
{
	struct ktr_stats before = { .size = sizeof(before) }, after = before;
	char text[100];
	cpu_set_t one, all;
	int here;

	BEGIN();
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	if (sysconf(_SC_NPROCESSORS_CONF) < 2)
		return;
	CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof(all), &all), 0);
	here = sched_getcpu();
	CPU_ZERO(&one);
	CPU_SET(here, &one);
	CU_ASSERT_EQUAL_FATAL(sched_setaffinity(0, sizeof(one), &one), 0);
	CTR0(KTR_CLASS(record_test), "the ring is there");
	CU_ASSERT_EQUAL(ktr_set("debug.ktr.cpumask", here ? "0" : "1", NULL), 0);
	CU_ASSERT_EQUAL(ktr_stats(&before), 0);
	CTR1(KTR_CLASS(record_test), "%s", text);
	CTR2(KTR_CLASS(record_test), "%s %s", text, text + 90);
	CTR2(KTR_CLASS(record_test), "%s %s", text + 90, text + 95);
	CTRSTACK(KTR_CLASS(record_test), NULL, 0);
	CU_ASSERT_EQUAL(ktr_stats(&after), 0);
	CU_ASSERT_EQUAL(after.n_recorded, before.n_recorded);
	CU_ASSERT_EQUAL(after.n_dropped, before.n_dropped);
	CU_ASSERT_EQUAL(ktr_set("debug.ktr.cpumask", "all", NULL), 0);
	sched_setaffinity(0, sizeof(all), &all);
}

/* Anybody may write to the byte of a site, and to that of site 0, which no site has. */
static void what_kind_an_event_is_no_peer_decides(void)
{
	static const char want[] = "text of some bytes\n(null)\nstring and 7\n";
	uint8_t *peer = ktr__region_rows(&ktr__own, site_ctl, uint8_t), before;
	char lines[400];

	CU_ASSERT_EQUAL_FATAL(record_begin("record_test"), 0);
	before = peer[0];
	for (unsigned byte = 0; byte < 256; byte++) {
		CU_ASSERT_EQUAL_FATAL(ktr_set("debug.ktr.clear", "1", NULL), 0);
		peer[0] = (uint8_t)byte;
		CTR1(KTR_CLASS(record_test), "%s", byte < 256 ? "text of some bytes" : "");
		CTR1(KTR_CLASS(record_test), "%s", byte < 256 ? (const char *)NULL : "");
		CTR2(KTR_CLASS(record_test), "%s and %d", byte < 256 ? "string" : "", 7);
		CTRSTACK(KTR_CLASS(record_test), NULL, 4);
		CU_ASSERT_STRING_EQUAL_FATAL(strncmp(record_texts(lines, sizeof(lines)), want, sizeof(want) - 1) ?
						     lines : want, want);
	}
	peer[0] = before;
}

static void a_mask_that_names_nothing_is_an_error(void)
{
	struct ktr_error err = KTR_ERROR_NONE;

	BEGIN();
	CU_ASSERT(ktr_set("debug.ktr.mask", "recrd_test", &err) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "record_test"));
}

/* Also those of a program that was built when options ended behind entries. */
static void options_set_the_rotation(void)
{
	struct ktr_options options = { .size = sizeof(options), .rotate_size = "3M", .rotate_time = "2h",
				       .rotate_keep = "7" };
	static const char *const want[][2] = {
		{ "debug.ktr.alq_rotate_size", "3145728" },
		{ "debug.ktr.alq_rotate_keep", "7" },
	};
	struct ktr_error err = KTR_ERROR_NONE;
	char text[100];

	CU_ASSERT_EQUAL_FATAL(record_begin("record_test"), 0);
	CU_ASSERT_EQUAL(ktr_open(&options, &err), 0);
	options.size = offsetof(struct ktr_options, rotate_size);
	options.rotate_size = options.rotate_keep = "no number";
	CU_ASSERT_EQUAL(ktr_open(&options, &err), 0);
	for (unsigned i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(ktr_get(want[i][0], text, sizeof(text), &err), 0);
		CU_ASSERT_STRING_EQUAL(text, want[i][1]);
	}
	options.size = sizeof(options);
	CU_ASSERT_NOT_EQUAL(ktr_open(&options, &err), 0);
	options.size = 8;
	CU_ASSERT_NOT_EQUAL(ktr_open(&options, NULL), 0);
}

SUITE(record, TEST(arguments_arrive_in_their_types), TEST(a_pointer_is_not_followed),
      TEST(arguments_are_evaluated_once_and_only_when_on), TEST(graph_events_keep_freebsds_formats),
      TEST(a_scope_ends_with_its_scope), TEST(a_stack_has_its_frames), TEST(a_saved_stack_is_whole),
      TEST(the_first_event_may_come_from_a_handler),
      TEST(the_first_event_may_have_a_string_anywhere), TEST(errno_is_kept),
      TEST(errno_is_kept_where_a_ring_is_taken), VFORK_TESTS
      TEST(stats_count_what_was_recorded), TEST(a_class_given_at_run_time_asks_every_time),
      TEST(what_cpus_left_out_do_not_record_is_no_loss), TEST(what_kind_an_event_is_no_peer_decides),
      TEST(a_mask_that_names_nothing_is_an_error),
      TEST(options_set_the_rotation));
