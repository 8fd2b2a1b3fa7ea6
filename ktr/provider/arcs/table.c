/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread's first call makes its table, of a row; one that is half full is left as it is, and a table four times
 * as large goes on: what counts is the sum. A table of a thread that has ended is taken over by a new thread of
 * the process. Handlers of signals may come at any place and do the same: a place is taken by one
 * compare-and-swap, and what two have made is used by one of them, or each has its own.
 *
 * A child has its parent's tables, which it must not write to. The gate is wiped when it is born (Linux 4.14), so
 * its first call comes here, and it begins with tables of its own.
 *
 * This file is compiled for general registers, but for what asks the kernel: then vectors are kept.
 */
#include "ktr/provider/arcs/table.h"

#include "ktr/provider/arcs/arcs.h"
#include "ktr/provider/fbt/ask.h"
#include "ktr/provider/fbt/fire.h"
#include "ktr/provider/fbt/usual.h"
#include "ktr/provider/view/view.h"
#include "ktr/record/own.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#define TABLE_AT(type, field, offset) KTR__LAYOUT(offsetof(struct type, field) == (offset), "arcs.h")
TABLE_AT(ktr__arcs_self, slots, ARCS_SLOTS);
TABLE_AT(ktr__arcs_self, mask, ARCS_MASK);
TABLE_AT(ktr__arcs_self, epoch, ARCS_EPOCH);
TABLE_AT(ktr_arc, from, ARC_FROM);
TABLE_AT(ktr_arc, to, ARC_TO);
TABLE_AT(ktr_arc, n, ARC_N);
TABLE_AT(ktr__fbt_function, wanted, FUNCTION_WANTED);
KTR__LAYOUT(sizeof(struct ktr_arc) == 1 << ARC_SHIFT && KTR__FBT_COUNTED == 8, "arcs.h");

#define TABLE_NEST   3	  /* handlers within each other; more is a function that this file calls */
#define TABLE_GROWS  4u
#define TABLE_PAGE   4096 /* [bytes] */
#define TABLE_MADE   4096u /* tables that can be taken over; of more threads each has its own */
#define TABLE_LOOKS  32u  /* of these, for one that was left */
#define TABLE_NOBODY UINT32_MAX /* a larger one has taken its place */

static struct ktr_arc table_none[ARCS_BUCKET]; /* of threads that have none */
__thread struct ktr__arcs_self ktr__arcs_self = { .slots = table_none };
uint32_t ktr__arcs_gate[TABLE_PAGE / sizeof(uint32_t)] __attribute__((aligned(TABLE_PAGE)));

static uint32_t table_epoch; /* the last one that there was; atomic */
static const uint32_t table_row_bytes[] = { sizeof(struct ktr_probe_row), sizeof(struct ktr_probe_counts) };
static bool table_is_open; /* there is a session, and its head is present; atomic */
static struct ktr__view table_view = { .first = KTR_REGION_probe, .n = 2, .row_bytes = table_row_bytes };

/* The process's tables. */
static struct table_made {
	uint32_t row;
	uint32_t n_rows;
	uint32_t owner; /* thread; 0: not there yet. Atomic */
} table_made[TABLE_MADE];
static uint32_t table_n_made, table_looked; /* atomic */
static uint32_t table_first; /* row of probe_count: those before it are others'. Atomic */

static struct ktr_probe_head *table_head(void)
{
	return (struct ktr_probe_head *)(void *)ktr__view_at(&table_view, probe, struct ktr_probe_row);
}

static struct ktr_arcs *table_at(uint32_t row)
{
	return ktr__view_at(&table_view, probe_count, struct ktr_arcs) + row;
}

/* ---- the session ---- */

static void table_begin(void)
{
	uint32_t epoch = __atomic_add_fetch(&table_epoch, 1, __ATOMIC_RELAXED);

	/* Those of before, a parent's say, are nobody's to take. */
	for (uint32_t i = 0; i < TABLE_MADE; i++)
		__atomic_store_n(&table_made[i].owner, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&table_n_made, 0, __ATOMIC_RELAXED);
	if (table_view.open && ktr__view_is_present(&table_view, table_head()))
		__atomic_store_n(&table_first, __atomic_load_n(&table_head()->n_counts, __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
	__atomic_store_n(&ktr__arcs_gate[0], epoch, __ATOMIC_RELEASE);
}

bool ktr__arcs_follow(void)
{
	bool changed, open = ktr__view_follow(&table_view, &changed) &&
			     ktr__view_present(&table_view, table_head(), sizeof(struct ktr_probe_head));

	if (changed || !table_epoch) {
		madvise(ktr__arcs_gate, sizeof(uint32_t) * (TABLE_PAGE / sizeof(uint32_t)), MADV_WIPEONFORK);
		table_begin();
	}
	__atomic_store_n(&table_is_open, open, __ATOMIC_RELEASE);
	return open;
}

void ktr__arcs_forked(void)
{
	if (!table_epoch)
		return;
	ktr__arcs_follow();
	table_begin();
}

uint64_t ktr__arcs_ino(void)
{
	return table_view.ino;
}

uint32_t ktr__arcs_epoch(void)
{
	return __atomic_load_n(&table_epoch, __ATOMIC_RELAXED);
}

/* Threads go on meanwhile: no call of these functions is among what they count. */
static uint32_t table_mark(struct ktr_arcs *arcs, uint64_t begin, uint64_t end, uint32_t row)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < sizeof(arcs->arc) / sizeof(arcs->arc[0]); i++) {
		uint64_t to = __atomic_load_n(&arcs->arc[i].to, __ATOMIC_ACQUIRE);

		if (to < begin || to >= end)
			continue;
		__atomic_store_n(&arcs->arc[i].to, (to & ((1ull << KTR_ARC_MODULE) - 1)) |
				 (uint64_t)row << KTR_ARC_MODULE, __ATOMIC_RELEASE);
		n++;
	}
	return n;
}

uint32_t ktr__arcs_mark(uint64_t begin, uint64_t end, uint32_t was, uint32_t row)
{
	uint32_t pid = (uint32_t)getpid(), n_rows = table_view.header.region[KTR_REGION_probe_count].n_rows, n = 0;
	uint64_t above = (uint64_t)was << KTR_ARC_MODULE;
	uint32_t n_made = 0;

	if (table_view.open && ktr__view_is_present(&table_view, table_head()))
		n_made = __atomic_load_n(&table_head()->n_counts, __ATOMIC_ACQUIRE);
	for (uint32_t i = __atomic_load_n(&table_first, __ATOMIC_RELAXED); i < n_made && i < n_rows; i++) {
		struct ktr_arcs *arcs = table_at(i);

		/* What is another process's may have no memory here. */
		if (i && ktr__view_is_present(&table_view, arcs) &&
		    __atomic_load_n(&arcs->state, __ATOMIC_ACQUIRE) == KTR_ROW_READY && arcs->pid == pid &&
		    arcs->first == KTR_ARCS_FIRST)
			n += table_mark(arcs, begin | above, end | above, row);
	}
	return n;
}

/* ---- a table for a thread ---- */

static void table_use(struct ktr__arcs_self *self, struct ktr_arc *slots, uint32_t n_rows, uint32_t n_used)
{
	/* Of a smaller one the smaller mask is there first, of a larger one the table. */
	if (n_rows < self->n_rows) {
		self->mask = 0;
		self->n_rows = 0;
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self->slots = slots;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self->n_used = n_used;
	self->n_rows = n_rows;
	self->n_least = n_rows > self->n_least ? n_rows : self->n_least;
	self->mask = n_rows ? (n_rows * KTR_ARCS_ROW - 1) & ~(uint64_t)(ARCS_BUCKET - 1) : 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static uint32_t table_tid(void)
{
	return (uint32_t)ktr__fbt_ask(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static uint32_t table_n_used(const struct ktr_arc *slots, uint32_t n_rows)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_rows * KTR_ARCS_ROW; i++)
		n += __atomic_load_n(&slots[i].from, __ATOMIC_RELAXED) != 0;
	return n;
}

/* One of a thread that has ended. */
static bool table_take(struct ktr__arcs_self *self, uint32_t pid, uint32_t tid)
{
	uint32_t n = __atomic_load_n(&table_n_made, __ATOMIC_ACQUIRE), from, owner;

	n = n < TABLE_MADE ? n : TABLE_MADE;
	from = __atomic_fetch_add(&table_looked, TABLE_LOOKS, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < n && i < TABLE_LOOKS; i++) {
		struct table_made *made = &table_made[(from + i) % n];

		owner = __atomic_load_n(&made->owner, __ATOMIC_ACQUIRE);
		if (!owner || owner == TABLE_NOBODY || made->n_rows < self->n_least ||
		    ktr__fbt_ask(SYS_tgkill, (long)pid, (long)owner, 0, 0, 0, 0) != -ESRCH ||
		    !__atomic_compare_exchange_n(&made->owner, &owner, tid, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		table_use(self, (struct ktr_arc *)(void *)table_at(made->row), made->n_rows,
			  table_n_used((struct ktr_arc *)(void *)table_at(made->row), made->n_rows));
		return true;
	}
	return false;
}

static void table_remember(uint32_t row, uint32_t n_rows, uint32_t tid)
{
	uint32_t i = __atomic_fetch_add(&table_n_made, 1, __ATOMIC_ACQ_REL);

	if (i >= TABLE_MADE) {
		__atomic_store_n(&table_n_made, TABLE_MADE, __ATOMIC_RELAXED);
		return;
	}
	table_made[i].row = row;
	table_made[i].n_rows = n_rows;
	__atomic_store_n(&table_made[i].owner, tid, __ATOMIC_RELEASE);
}

/* It has a larger one. */
static void table_forget(const struct ktr_arc *slots)
{
	uint32_t n = __atomic_load_n(&table_n_made, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n && i < TABLE_MADE; i++)
		if (__atomic_load_n(&table_made[i].owner, __ATOMIC_ACQUIRE) &&
		    (const struct ktr_arc *)(const void *)table_at(table_made[i].row) == slots)
			__atomic_store_n(&table_made[i].owner, TABLE_NOBODY, __ATOMIC_RELAXED);
}

static struct ktr_arcs *table_make(uint32_t row, uint32_t n_rows, uint32_t pid)
{
	struct ktr_arcs *made = table_at(row);
	struct timespec now = { 0, 0 };

	ktr__fbt_ask(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0, 0);
	for (uint32_t i = 0; i < n_rows; i++) {
		made[i].pid = pid;
		made[i].n_rows = i ? 0 : n_rows;
		made[i].made_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
		made[i].taken = 1;
		made[i].first = KTR_ARCS_FIRST;
		__atomic_store_n(&made[i].state, KTR_ROW_READY, __ATOMIC_RELEASE);
	}
	return made;
}

/* A larger one, or the first. */
static void table_grow(void *context)
{
	struct ktr__arcs_self *self = context;
	uint32_t n_rows = self->n_rows ? TABLE_GROWS * self->n_rows : self->n_least ? self->n_least : 1, row;
	struct ktr_arc *before = self->slots;

	/* A child of vfork(2) is its parent's thread in all this, though not by what the kernel says. */
	if (!self->tid) {
		self->pid = (uint32_t)ktr__fbt_ask(SYS_getpid, 0, 0, 0, 0, 0, 0);
		self->tid = table_tid();
	}
	if (!self->n_rows && table_take(self, self->pid, self->tid))
		return;
	row = n_rows <= KTR_ARCS_ROWS ?
		      ktr__view_next(&table_view, &table_head()->n_counts, KTR_REGION_probe_count, n_rows) :
		      0;
	if (!row || !ktr__view_present(&table_view, table_at(row), n_rows * sizeof(struct ktr_arcs))) {
		self->is_last = true;
		return;
	}
	table_use(self, (struct ktr_arc *)(void *)table_make(row, n_rows, self->pid), n_rows, 0);
	table_remember(row, n_rows, self->tid);
	table_forget(before);
}

/* ---- counting ---- */

static bool table_is_full(const struct ktr__arcs_self *self)
{
	uint32_t n = self->n_rows * KTR_ARCS_ROW;

	return self->n_used >= (self->is_last ? n - n / 8 : n / 2);
}

/* The place of a call, taken if need be. NULL: there is none left. */
static struct ktr_arc *table_find(struct ktr__arcs_self *self, uint64_t from, uint64_t to)
{
	uint64_t n = (uint64_t)self->n_rows * KTR_ARCS_ROW, at = (from + to) & self->mask;
	struct ktr_arc *slots = self->slots;

	for (uint64_t i = 0; i < n; i++, at = at + 1 == n ? 0 : at + 1) {
		uint64_t there = __atomic_load_n(&slots[at].from, __ATOMIC_RELAXED);

		if (there == from && __atomic_load_n(&slots[at].to, __ATOMIC_RELAXED) == to)
			return &slots[at];
		if (there)
			continue;
		if (table_is_full(self))
			return NULL;
		if (__atomic_compare_exchange_n(&slots[at].from, &there, from, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED)) {
			__atomic_store_n(&slots[at].to, to, __ATOMIC_RELEASE);
			self->n_used++;
			return &slots[at];
		}
	}
	return NULL;
}

/* Nobody has told this child that it is one. */
static uint32_t table_adopt(void)
{
	table_begin();
	return __atomic_load_n(&ktr__arcs_gate[0], __ATOMIC_RELAXED);
}

static struct ktr_arc *table_place(struct ktr__arcs_self *self, uint64_t from, uint64_t to)
{
	uint32_t epoch = __atomic_load_n(&ktr__arcs_gate[0], __ATOMIC_ACQUIRE);
	struct ktr_arc *place;

	epoch = epoch ? epoch : table_adopt();
	if (self->epoch != epoch) {
		table_use(self, table_none, 0, 0);
		self->is_last = false;
		self->tid = 0;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		self->epoch = epoch;
	}
	place = table_find(self, from, to);
	/* In a sandbox, ktr_sandbox(3), nobody asks the kernel for anything. */
	if (place || self->is_last || !__atomic_load_n(&table_is_open, __ATOMIC_ACQUIRE) ||
	    ktr__own_session()->sealed)
		return place;
	if (ktr__fbt_wide_mask)
		ktr__fbt_wide(table_grow, self, ktr__fbt_wide_mask);
	else
		table_grow(self);
	return table_find(self, from, to);
}

void ktr__arcs_count(const struct ktr__fbt_function *function, uint64_t from, const void *frame)
{
	struct ktr__arcs_self *self = &ktr__arcs_self;
	uint64_t to = (uint64_t)(uintptr_t)function->body;
	/* What siglongjmp(3) has left is not there any more: what nests is below. */
	uint32_t depth = self->depth && (uintptr_t)frame < self->frame ? self->depth : 0;
	struct ktr_arc *place = NULL;

	if (depth < TABLE_NEST) {
		if (!depth)
			self->frame = (uintptr_t)frame;
		self->depth = depth + 1;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		place = table_place(self, from, to);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		self->depth = depth;
	}
	if (place)
		__asm__ volatile("incq %0" : "+m"(place->n) : : "cc");
	else if (__atomic_load_n(&table_is_open, __ATOMIC_ACQUIRE))
		__atomic_fetch_add(&table_head()->uncounted, 1, __ATOMIC_RELAXED);
}
