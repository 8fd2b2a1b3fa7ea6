/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rings of the thread path have one owner, however many threads and processes see at once that the one before
 * has gone. What takes them is compiled into this file with its injection points open, and each lets somebody else
 * take, or give back, a ring in between.
 */
static void inject(int place);

#define KTR_INJECT(place)   inject(place)
#define ktr__ring_views	    own__ring_views
#define ktr__ring_forget    own__ring_forget
#define ktr__ring_ready	    own__ring_ready
#define ktr__ring_prepare   own__ring_prepare
#define ktr__ring_level	    own__ring_level
#define ktr__ring_release   own__ring_release
#include "ktr/record/ring.c"

#include "ktr/control/session_join.h"
#include "ktr/record/own.h"
#include "ktr/record/ring.h"
#include "tests/unit/suite.h"

#include <pthread.h>
#include <sys/wait.h>

#define DEAD_THREAD 0xffffffu /* no thread has this number */
#define OUR_ROW	    1u
#define DEAD_ROW    2u
#define OTHER_ROW   3u

static char own_dir[64];
static struct ktr__session_rw own_before;
static struct ktr__rec own_rec_before;
static uint32_t own_tid, other_tid;

/* Another thread, there as long as the pipe is open. */
static int own_pipe[2];

static void *own_thread(void *unused)
{
	char byte;

	(void)unused;
	__atomic_store_n(&other_tid, (uint32_t)gettid(), __ATOMIC_RELEASE);
	return read(own_pipe[0], &byte, 1) < 0 ? unused : NULL;
}

static void own_row(uint32_t row, pid_t pid)
{
	struct ktr_proc_row *rows = ktr__region_rows(&ktr__own, proc, struct ktr_proc_row);

	rows[row].pid = (uint32_t)pid;
	rows[row].pid_ns = 1;
	rows[row].state = KTR_ROW_READY;
}

/* A session of its own in place of the library's: our row, that of a process which has gone, that of another. */
static void own_make(void)
{
	struct ktr__session_plan plan = { .dir = own_dir, .name = "own", .path = KTR_PATH_THREAD, .clock = KTR_ARCH_CLOCK };
	struct ktr__session_rw session;
	bool joined;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	strcpy(own_dir, "/tmp/ktr-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(own_dir));
	memset(&session, 0, sizeof(session));
	CU_ASSERT_FATAL(ktr__session_create(&plan, &session, &joined, NULL) == 0);
	own_before = ktr__own;
	own_rec_before = ktr__rec;
	ktr__own = session;
	ktr__rec.rings = session.rings;
	ktr__rec.n_rings = 3;
	ktr__rec.proc = OUR_ROW;
	own_row(OUR_ROW, getpid());
	own_row(DEAD_ROW, pid);
	own_row(OTHER_ROW, getppid());
	own_tid = (uint32_t)gettid();
}

static void own_drop(void)
{
	struct ktr__session_rw session = ktr__own;

	ktr__own = own_before;
	ktr__rec = own_rec_before;
	unlink(session.path);
	ktr__session_detach(&session);
	rmdir(own_dir);
}

/* Ring 0 is a dead one's, the others ours: nobody else may have one. */
static void own_rings(uint32_t row, uint32_t tid)
{
	for (uint32_t i = 0; i < ktr__rec.n_rings; i++) {
		struct ktr_ring *ring = &ktr__own.rings[i];

		ring->owner = i ? own_tid : tid;
		ring->owned = (uint64_t)(i ? OUR_ROW : row) << KTR_OWNED_ROW | ring->owner;
	}
}

static void own_release(void)
{
	struct ktr__self self = { 0 };

	self.level[0][0].at.ring = &ktr__own.rings[0];
	ktr__ring_release(&self);
}

static struct {
	int place;
	int what;
	int got; /* by the other */
} own_other;

enum { THREAD, PROCESS, REUSED, GIVES_BACK, HOWS };

static void inject(int place)
{
	if (place != own_other.place)
		return;
	own_other.place = 0;
	switch (own_other.what) {
	case THREAD: /* another thread of ours */
		own_other.got = ring_take(other_tid);
		break;
	case PROCESS: /* another process */
		ktr__rec.proc = OTHER_ROW;
		own_other.got = ring_take(other_tid);
		ktr__rec.proc = OUR_ROW;
		break;
	case REUSED: /* another thread, which gives it back, to a new one with the number of the dead one */
		own_other.got = ring_take(other_tid);
		if (own_other.got == 0) {
			own_release();
			own_other.got = ring_take(DEAD_THREAD);
		}
		break;
	default: /* the same, and it is free in the end */
		own_other.got = ring_take(other_tid);
		if (own_other.got == 0)
			own_release();
		own_other.got = -1;
	}
}

static void a_ring_goes_to_one(void)
{
	pthread_t thread;

	own_make();
	CU_ASSERT_FATAL(pipe(own_pipe) == 0 && pthread_create(&thread, NULL, own_thread, NULL) == 0);
	while (!__atomic_load_n(&other_tid, __ATOMIC_ACQUIRE))
		;
	for (int i = 0; i < 2 * 2 * HOWS; i++) {
		int got;

		own_rings(i & 1 ? OUR_ROW : DEAD_ROW, DEAD_THREAD);
		own_other.place = 1 + (i >> 1 & 1);
		own_other.what = i >> 2;
		own_other.got = -1;
		got = ring_take(own_tid);
		CU_ASSERT_EQUAL(own_other.place, 0);
		if ((got == 0) + (own_other.got == 0) != 1 && own_other.what != GIVES_BACK)
			printf("case %d: ", i);
		CU_ASSERT((got == 0) + (own_other.got == 0) == 1 || own_other.what == GIVES_BACK);
		CU_ASSERT(got <= 0 && own_other.got <= 0);
		if (got == 0) {
			CU_ASSERT_EQUAL(ktr__own.rings[0].owned & (((uint64_t)1 << KTR_OWNED_CHANGE) - 1),
					(uint64_t)OUR_ROW << KTR_OWNED_ROW | own_tid);
			CU_ASSERT_EQUAL(ktr__own.rings[0].owner, own_tid);
		}
		/* Given back, it can be had again. */
		own_release();
		CU_ASSERT_EQUAL(ring_take(own_tid), 0);
	}
	close(own_pipe[1]);
	pthread_join(thread, NULL);
	close(own_pipe[0]);
	own_drop();
}

/* Whoever lives keeps what it has; so does one of whom nothing is known, and one of another version. */
static void the_living_keep_theirs(void)
{
	own_make();
	own_rings(OUR_ROW, own_tid);
	CU_ASSERT_EQUAL(ring_take(own_tid), -1);
	own_rings(OTHER_ROW, DEAD_THREAD);
	CU_ASSERT_EQUAL(ring_take(own_tid), -1);
	own_rings(KTR_OWNED_ROWS - 1, DEAD_THREAD);
	CU_ASSERT_EQUAL(ring_take(own_tid), -1);
	own_rings(0, 0);
	ktr__own.rings[0].owner = DEAD_THREAD;
	ktr__own.rings[0].owner_start = DEAD_ROW;
	CU_ASSERT_EQUAL(ring_take(own_tid), -1);
	ktr__own.rings[0].owner = 0;
	CU_ASSERT_EQUAL(ring_take(own_tid), 0);
	own_drop();
}

SUITE(own, TEST(a_ring_goes_to_one), TEST(the_living_keep_theirs));
