/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks changed by several at once: what is left is what was asked for, all words of it agree, and no change of one
 * undoes that of another. What publishes them is compiled into this file with its injection points open, and each
 * lets somebody else, who runs the library's own, come in between.
 */
static void inject(int place);

#define KTR_INJECT(place)     inject(place)
#define ktr__mask_publish     inject__mask_publish
#define ktr__session_mask_set	      inject__mask_set
#define ktr__session_mask_change      inject__mask_change
#define ktr__session_classes  inject__session_classes
#define ktr__ring_gate	      inject__ring_gate
#define ktr__rings_gate	      inject__rings_gate
#define ktr__cpumask_set      inject__cpumask_set
#include "ktr/control/mask.c"
#undef ktr__mask_publish
#undef ktr__session_mask_set
#undef ktr__session_mask_change

void ktr__mask_publish(struct ktr__session_rw *session);
int ktr__session_mask_set(struct ktr__session_rw *session, uint64_t mask, struct ktr_error *err);
int ktr__session_mask_change(struct ktr__session_rw *session, uint64_t set, uint64_t clear, struct ktr_error *err);

#include "tests/unit/suite.h"

#include "ktr/arch/arch.h"
#include "ktr/control/mask.h"
#include "ktr/control/session_join.h"
#include "ktr/session/session_rw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MASK_PROCESSES 4
#define MASK_PLACES    6 /* of the words; the seventh is tests/unit/ktr/test_gate.c's */

static char dir[64];
static struct ktr__session_rw session;

static void session_make(void)
{
	struct ktr__session_plan plan = { .dir = dir, .name = "mask", .path = KTR_PATH_THREAD,
					  .clock = KTR_ARCH_CLOCK };
	struct ktr_error err = KTR_ERROR_NONE;
	bool joined;

	strcpy(dir, "/tmp/ktr-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	memset(&session, 0, sizeof(session));
	CU_ASSERT_FATAL(ktr__session_create(&plan, &session, &joined, &err) == 0);
}

static void session_drop(void)
{
	unlink(session.path);
	ktr__session_detach(&session);
	rmdir(dir);
}

static int agrees(void)
{
	const struct ktr_control *c = session.control;
	uint64_t gate = c->frozen == KTR_FROZEN_YES ? 0 : c->asked | c->count | c->site_masks;

	return c->gate == gate && c->record == (c->asked & ~c->count) &&
	       c->special == (c->frozen ? ~0ull : c->keep | c->count | (c->site_masks & ~c->record));
}

static void words(void)
{
	struct ktr_control *c;

	session_make();
	c = session.control;
	CU_ASSERT(ktr__session_mask_set(&session, 0xf0, NULL) == 0 && agrees() && c->gate == 0xf0);
	CU_ASSERT(ktr__session_mask_change(&session, 0x3, 0x30, NULL) == 0 && agrees() && c->gate == 0xc3);
	CU_ASSERT(ktr__session_mask_change(&session, 0x3, 0x3, NULL) == 0 && agrees() && c->gate == 0xc0);
	c->count = 0x140;
	ktr__mask_publish(&session);
	CU_ASSERT(agrees() && c->gate == 0x1c0 && c->record == 0x80 && c->asked == 0xc0);
	c->frozen = KTR_FROZEN_YES;
	ktr__mask_publish(&session);
	CU_ASSERT(agrees() && c->gate == 0);
	c->frozen = KTR_FROZEN_NO;
	ktr__mask_publish(&session);
	CU_ASSERT(agrees() && c->gate == 0x1c0);
	session_drop();
}

static struct {
	int place; /* where somebody comes in between; 0: nowhere */
	int what;  /* 0: another mask, 1: other classes counted, 2: all frozen, 3: a class more */
	int times; /* how often yet */
} other;

static void inject(int place)
{
	if (place != other.place || !other.times)
		return;
	other.times--;
	switch (other.what) {
	case 0:
		ktr__session_mask_set(&session, 0xc00, NULL);
		break;
	case 1:
		session.control->count = 0x30;
		ktr__mask_publish(&session);
		break;
	case 2:
		session.control->frozen = KTR_FROZEN_YES;
		ktr__mask_publish(&session);
		break;
	default:
		ktr__session_mask_change(&session, 0x8000, 0, NULL);
	}
}

static void in_between(void)
{
	session_make();
	for (int place = 1; place <= MASK_PLACES; place++)
		for (int what = 0; what < 4; what++)
			for (int times = 1; times <= 3; times++) {
				struct ktr_control *c = session.control;

				c->count = 0;
				c->frozen = KTR_FROZEN_NO;
				ktr__session_mask_set(&session, 1, NULL);
				other.place = place;
				other.what = what;
				other.times = times;
				CU_ASSERT_EQUAL(inject__mask_set(&session, 0xf0, NULL), 0);
				CU_ASSERT(other.times < times);
				other.place = 0;
				CU_ASSERT(agrees());
				CU_ASSERT(c->asked == (what == 0 ? 0xc00u : what == 3 ? 0x80f0u : 0xf0u));
				CU_ASSERT(c->count == (what == 1 ? 0x30u : 0));
			}
	session_drop();
}

/* Each switches a class of its own on and off: the last change of each holds. */
static void no_change_is_lost(void)
{
	pid_t pid[MASK_PROCESSES];

	session_make();
	CU_ASSERT(ktr__session_mask_set(&session, 1, NULL) == 0);
	for (unsigned i = 0; i < MASK_PROCESSES; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			for (unsigned k = 0; k < 20000; k++)
				ktr__session_mask_change(&session, (k & 1) * 0x10ull << i,
							 (~k & 1) * 0x10ull << i, NULL);
			_exit(0);
		}
	}
	for (unsigned i = 0; i < MASK_PROCESSES; i++)
		CU_ASSERT(pid[i] > 0 && waitpid(pid[i], NULL, 0) == pid[i]);
	CU_ASSERT(session.control->asked == 0xf1 && agrees());
	session_drop();
}

SUITE(mask, TEST(words), TEST(in_between), TEST(no_change_is_lost));
