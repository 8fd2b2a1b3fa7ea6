/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a ring is closed, where several change that at once: who stops the rings or lets them go on, who leaves
 * CPUs out, who changes a ring's size. What does so is compiled into this file with its injection points open, and
 * each lets somebody else, who runs the library's own, come in between. In the end the ring is as the last of them
 * wanted it.
 */
static void inject(int place);

#define KTR_INJECT(place)    inject(place)
#define ktr__mask_publish    gate__mask_publish
#define ktr__session_mask_set	     gate__mask_set
#define ktr__session_mask_change     gate__mask_change
#define ktr__session_classes gate__session_classes
#define ktr__ring_gate	     gate__ring_gate
#define ktr__rings_gate	     gate__rings_gate
#define ktr__cpumask_set     gate__cpumask_set
#define ktr__ring_resize     gate__ring_resize
#define ktr__resize	     gate__resize
#include "ktr/control/mask.c"
#include "writer/resize.c"
#undef ktr__mask_publish
#undef ktr__ring_gate
#undef ktr__rings_gate
#undef ktr__cpumask_set

void ktr__mask_publish(struct ktr__session_rw *session);
void ktr__rings_gate(struct ktr__session_rw *session);
void ktr__ring_gate(struct ktr__session_rw *session, uint32_t index);
int ktr__cpumask_set(struct ktr__session_rw *session, const uint64_t *bits, struct ktr_error *err);

#include "ktr/control/mask.h"
#include "ktr/control/rings.h"
#include "ktr/control/session_join.h"
#include "ktr/record/freeze.h"
#include "ktr/load/resize.h"
#include "ktr/record/rseq.h"
#include "ktr/session/ring_area.h"
#include "ktr/session/session_again.h"
#include "ktr/session/session_rw.h"
#include "tests/unit/suite.h"

#include <stdlib.h>

#if KTR_ARCH_HAS_RSEQ
#define GATE_TRY    7 /* ktr__ring_gate() has seen what is wanted */
#define GATE_RESIZE 8 /* ktr__ring_resize() is about to commit */

static char dir[64];
static struct ktr__session_rw session;
static uint32_t cpu;
static uint64_t no_cpus[KTR_CPU_MAX / 64], all_cpus[KTR_CPU_MAX / 64];

/* What somebody else does. */
static void freeze(void)
{
	ktr__freeze_set(&session, true);
}

static void thaw(void)
{
	ktr__freeze_set(&session, false);
}

static void twice(void)
{
	ktr__freeze_set(&session, false);
	ktr__freeze_set(&session, true);
}

static void leave_out(void)
{
	CU_ASSERT_EQUAL(ktr__cpumask_set(&session, no_cpus, NULL), 0);
}

static void take_in(void)
{
	CU_ASSERT_EQUAL(ktr__cpumask_set(&session, all_cpus, NULL), 0);
}

/* The rings stop, and this one has had its share. */
static void fill(void)
{
	__atomic_store_n(&session.control->frozen, KTR_FROZEN_SOON, __ATOMIC_SEQ_CST);
	session.rings[cpu].stop = KTR_RING_EXACT | KTR_RING_FULL;
	ktr__ring_gate(&session, cpu);
}

static void nothing(void)
{
}

static struct {
	int place;
	void (*what)(void);
} other;

static void inject(int place)
{
	if (place != other.place || !other.what)
		return;
	other.place = 0;
	other.what();
}

static int gate_make(void)
{
	struct ktr__session_plan plan = { .dir = dir, .name = "gate", .path = KTR_PATH_RSEQ, .clock = KTR_ARCH_CLOCK };
	bool joined;
	ptrdiff_t offset;

	if (!ktr__rseq_look(&offset))
		return 0;
	cpu = (uint32_t)sched_getcpu();
	memset(all_cpus, 0xff, sizeof(all_cpus));
	memset(no_cpus, 0xff, sizeof(no_cpus));
	no_cpus[cpu / 64] &= ~(1ull << cpu % 64);
	strcpy(dir, "/tmp/ktr-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	memset(&session, 0, sizeof(session));
	CU_ASSERT_FATAL(ktr__session_create(&plan, &session, &joined, NULL) == 0);
	CU_ASSERT_FATAL(ktr__rings_open(&session, KTR_RING_LOG2_MIN, NULL) == 0);
	return 1;
}

static void gate_drop(void)
{
	unlink(session.path);
	ktr__session_detach(&session);
	rmdir(dir);
}

static int closed(void)
{
	return !!(session.rings[cpu].geom & KTR_GEOM_CLOSED);
}

/* How it is, what comes in between, how it is then. */
static const struct {
	void (*before)(void);
	void (*between)(void);
	int closed;
} gates[] = {
	{ nothing, nothing, 0 }, { nothing, freeze, 1 }, { freeze, thaw, 0 },	 { freeze, twice, 1 },
	{ freeze, nothing, 1 },	 { fill, thaw, 0 },	 { nothing, fill, 1 },	 { fill, nothing, 1 },
	{ nothing, leave_out, 1 }, { leave_out, take_in, 0 }, { leave_out, thaw, 1 }, { freeze, take_in, 1 },
};
#define GATES (sizeof(gates) / sizeof(gates[0]))

static void gate_reset(unsigned i)
{
	other.place = 0;
	take_in();
	thaw();
	CU_ASSERT_EQUAL(closed(), 0);
	gates[i].before();
}

/* Somebody changes what is wanted while a ring changes its size. */
static void a_resize_keeps_what_others_want(void)
{
	if (!gate_make())
		return;
	for (unsigned i = 0; i < GATES; i++) {
		unsigned log2 = KTR_RING_LOG2_MIN + (i + 1) % 2;

		gate_reset(i);
		other.place = GATE_RESIZE;
		other.what = gates[i].between;
		CU_ASSERT_EQUAL(gate__ring_resize(&session, cpu, log2), 0);
		CU_ASSERT_EQUAL(other.place, 0);
		CU_ASSERT_EQUAL(KTR_GEOM_LOG2(session.rings[cpu].geom), log2);
		if (closed() != gates[i].closed)
			printf("case %u: ", i);
		CU_ASSERT_EQUAL(closed(), gates[i].closed);
	}
	gate_drop();
}

/* The same while somebody else closes and opens the rings. */
static void the_last_of_several_wins(void)
{
	if (!gate_make())
		return;
	for (unsigned i = 0; i < GATES; i++) {
		gate_reset(i);
		other.place = GATE_TRY;
		other.what = gates[i].between;
		gate__ring_gate(&session, cpu);
		CU_ASSERT_EQUAL(other.place, 0);
		if (closed() != gates[i].closed)
			printf("case %u: ", i);
		CU_ASSERT_EQUAL(closed(), gates[i].closed);
	}
	gate_drop();
}

/* Which CPUs record does not change while a size does: the one who asks is told. */
static void cpus_wait_for_a_resize(void)
{
	struct ktr_error err = KTR_ERROR_NONE;
	int lock;

	if (!gate_make())
		return;
	lock = ktr__session_lock(&session, KTR__LOCK_RESIZE);
	CU_ASSERT_FATAL(lock >= 0);
	CU_ASSERT_EQUAL(ktr__cpumask_set(&session, no_cpus, &err), -EBUSY);
	CU_ASSERT(session.control->cpumask[cpu / 64] == ~0ull && !closed() && !session.control->cpus_part);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "somebody else is changing the rings"));
	close(lock);
	leave_out();
	CU_ASSERT(closed());
	gate_drop();
}

/* Of bytes [from, from + n) of the session none has memory, or all have. */
static int gate_has(int fd, uint64_t from, uint64_t n)
{
	off_t data = lseek(fd, (off_t)from, SEEK_DATA), hole = lseek(fd, (off_t)from, SEEK_HOLE);

	if (data < 0 || data >= (off_t)(from + n))
		return 0;
	return data == (off_t)from && hole >= (off_t)(from + n) ? 1 : -1;
}

/* A ring's old area keeps its memory while somebody reads there, and no longer. */
static void an_area_that_is_read_stays(void)
{
	uint64_t offset, second, bytes, unused;
	unsigned log2;
	int fd;

	if (!gate_make())
		return;
	offset = KTR_GEOM_OFFSET(session.rings[cpu].geom);
	log2 = KTR_GEOM_LOG2(session.rings[cpu].geom);
	bytes = (uint64_t)KTR_ENTRY_BYTES << log2;
	second = ktr__ring_area(&session.header, cpu, &unused) + unused;
	fd = ktr__session_open_again(&session);
	CU_ASSERT_EQUAL(ktr__byte_lock(fd, offset, F_RDLCK), 0);
	CU_ASSERT_EQUAL(ktr__rings_resize(&session, log2 + 1, ktr__ring_resize, NULL), 0);
	CU_ASSERT_EQUAL(gate_has(fd, offset, bytes), 1);
	CU_ASSERT_EQUAL(gate_has(fd, second, 2 * bytes), 1);
	/* It goes back there: what was read is in use again. */
	CU_ASSERT_EQUAL(ktr__rings_resize(&session, log2, ktr__ring_resize, NULL), 0);
	CU_ASSERT_EQUAL(gate_has(fd, offset, bytes), 1);
	CU_ASSERT_EQUAL(gate_has(fd, second, 2 * bytes), 0);
	CU_ASSERT_EQUAL(ktr__rings_resize(&session, log2 + 1, ktr__ring_resize, NULL), 0);
	CU_ASSERT_EQUAL(gate_has(fd, offset, bytes), 1);
	CU_ASSERT_EQUAL(ktr__byte_lock(fd, offset, F_UNLCK), 0);
	CU_ASSERT_EQUAL(ktr__rings_resize(&session, log2 + 1, ktr__ring_resize, NULL), 0);
	CU_ASSERT_EQUAL(gate_has(fd, offset, bytes), 0);
	CU_ASSERT_EQUAL(gate_has(fd, second, 2 * bytes), 1);
	close(fd);
	gate_drop();
}

SUITE(gate, TEST(a_resize_keeps_what_others_want), TEST(the_last_of_several_wins), TEST(cpus_wait_for_a_resize),
      TEST(an_area_that_is_read_stays));
#else
static void inject(int place)
{
	(void)place;
}
#endif
