/* SPDX-License-Identifier: BSD-2-Clause */
/* A process begins to record into its session: when it starts, and as the child of another. */
#include "ktr/record/begin.h"

#include "ktr/control/session_join.h"
#include "ktr/record/own.h"
#include "ktr/record/proc.h"
#include "ktr/record/ring.h"
#include "ktr/session/cpu.h"

#include <sys/mman.h>

static const struct ktr__self *begin_forking; /* the thread in fork(3), between our handlers */

void ktr__begin_forking(const struct ktr__self *self)
{
	__atomic_store_n(&begin_forking, self, __ATOMIC_RELAXED);
}

/* What the usual event needs; control is set last, the cold path looks at it first. */
static void begin_hot(void)
{
	ktr__hot.rseq_offset = ktr__rec.rseq_offset;
	ktr__hot.views = ktr__rec.views;
	ktr__hot.rings = ktr__rec.rings;
	ktr__hot.n_rings = ktr__rec.n_rings;
	__atomic_store_n(&ktr__hot.control, ktr__rec.control, __ATOMIC_RELEASE);
}

/* The private view of the session; path is set last, everything else looks at it first. */
int ktr__begin(void)
{
	uint32_t n_rings = ktr__own.header.n_rings;
	struct ktr__rec *rec = &ktr__rec;
	int code;

	ktr__cpu_look();
	rec->n_rings = n_rings;
	code = ktr__ring_views();
	if (code)
		return code;
	rec->map = ktr__own.map;
	rec->rings = ktr__own.rings;
	rec->control = ktr__own.control;
	rec->site_ctl = ktr__region_rows(&ktr__own, site_ctl, uint8_t);
	rec->count_stride = ktr__own.header.region[KTR_REGION_site].n_rows;
	rec->clock = ktr__own.header.clock;
	/* Linux 4.14; without it a child that no handler is told of records as its parent. */
	madvise(&ktr__hot, sizeof(ktr__hot), MADV_WIPEONFORK);
	begin_hot();
	__atomic_store_n(&rec->path, ktr__own.header.path, __ATOMIC_RELEASE);
	return 0;
}

/*
 * The thread that called fork has become another. Events of it that a handler interrupted, and then forked in, go
 * on here in their parent's rings: those stay in their levels until the levels are used anew (ring.c). rseq_cs may
 * still be ours (Linux 6.19), so here must be of no CPU.
 */
void ktr__begin_forked(struct ktr__self *self)
{
	self->forks++;
	self->armed = 0;
	self->own = 0;
	self->row = 0;
	self->no_ring = 0;
	self->here_cpu = UINT32_MAX;
	self->here.geom = 0;
	self->forked = self->nest < KTR_LEVELS ? self->nest : 0;
	for (int i = 0; i < KTR_LEVELS; i++)
		self->level[0][i].at.geom = self->level[1][i].at.geom = 0;
	for (uint32_t i = self->forked; i < KTR_LEVELS; i++)
		self->level[0][i].at.ring = self->level[1][i].at.ring = NULL;
}

/*
 * The child is a process of its own in the same session: another row, another thread; it populates
 * rings for itself, and on the thread path it must leave its parent's rings alone. The writer stays
 * with the parent.
 */
void ktr__begin_child(int fd)
{
	ktr__ring_forget();
	ktr__own.records = false;
	/* Who has no file of its own, for want of rights, is held by that which it inherits until it has a row. */
	ktr__proc_fork_child(&ktr__own);
	ktr__session_reopen(&ktr__own, fd);
	begin_hot();
}

/*
 * As the handler of fork.c, in the middle of an event and perhaps of a handler of a signal, where no lock may be
 * taken and no thread started: this process goes without a writer. Of several events at once the first one does
 * it; the others are dropped. An event between the birth of a child and our handler is, too, and one of a child
 * that debug.ktr.follow_fork does not leave in its parent's session, or whose parent is in a sandbox.
 */
bool ktr__begin_adopt(void)
{
	uint32_t no = 0;

	if (__atomic_load_n(&begin_forking, __ATOMIC_RELAXED) == &ktr__self || ktr__own.sealed ||
	    __atomic_load_n(&ktr__own.control->follow_fork, __ATOMIC_RELAXED) ||
	    !__atomic_compare_exchange_n(&ktr__hot.adopting, &no, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		ktr__count_drop(&ktr__own.control->drop_closed);
		return false;
	}
	ktr__own_orphan = true;
	ktr__own_asked = false;
	begin_forking = NULL;
	ktr__begin_forked(&ktr__self);
	ktr__begin_child(ktr__session_again(&ktr__own));
	return true;
}
