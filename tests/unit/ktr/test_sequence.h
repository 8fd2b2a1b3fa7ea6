/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's part for the tests of restartable sequences, so that it can be played at a chosen
 * instruction, and where the kernel knows nothing of such sequences (emulators). The sequences run
 * on a struct rseq of this file's own; the handler of a trap does to it what the kernel does when
 * it preempts a thread: abort if the program counter is between start and commit, and clear
 * rseq_cs in any case. Then it lets another event be recorded on the CPU, moves the thread to
 * another CPU, or changes the ring's geometry.
 *
 * A breakpoint takes the place of one instruction after the other. On x86-64 the trap flag tells where these
 * are, in one run of each sequence alone: a hypervisor may intercept each of its traps, which makes them dear, and
 * leaves breakpoints to the guest. AArch64 has nothing like it for programs, and needs nothing, for its
 * instructions are of one size.
 *
 * The library's own record of its session, and the thread's own state, are put aside meanwhile: what
 * runs is what programs run. finish() puts them back.
 *
 * Include this once.
 */
#ifndef TESTS_TEST_SEQUENCE_H
#define TESTS_TEST_SEQUENCE_H

#include "tests/unit/suite.h"

#include "ktr/arch/arch.h"
#include "ktr/session/cpu.h"

#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if KTR_ARCH_HAS_RSEQ

#define SLOTS    64u
#define FIRST    62u /* [slots] head at the start: events of more than two slots wrap */
#define CONTS    5u  /* continuations before it */
#define N_CPUS   2u
#define SITE     3u
#define STRIDE   8u
#define GEOM     0x1234u
#define GEOM_NEW 0x5678u
#define OP       0x100u /* identities of events: site, thread, and in each word */
#define OTHER    0x200u
#define OTHER_N  2u
#define CPU_NONE UINT32_MAX
#define READY	 7u /* the number of changes so far */
#define MASK	 1u /* the class of all events */

/* linux/rseq.h */
struct sequence_area {
	uint32_t cpu_id_start;
	uint32_t cpu_id;
	uint64_t rseq_cs;
	uint32_t flags;
	uint32_t node_id;
	uint64_t reserved;
};

struct sequence_cs {
	uint32_t version;
	uint32_t flags;
	uint64_t start;
	uint64_t post_commit_bytes;
	uint64_t abort;
};

/* arch/record_*.S */
extern const struct sequence_cs ktr__record_cs __attribute__((visibility("hidden")));

static struct ktr__rec library_rec;
static struct ktr__hot library_hot;
static struct ktr__self library_self;
static int put_aside;

static struct ktr_control control;
static uint8_t site_ctl[OP + 1];
#if KTR_ARCH_HAS_RECORD
static struct ktr_site site = { .mask = MASK, .id = OP, .ready = READY, .n_args = 6 };
static struct ktr_site site_0 = { .mask = MASK, .id = OP, .ready = READY };
#endif
static struct sequence_area area __attribute__((aligned(32)));
static struct ktr_ring rings[2 * N_CPUS];
static struct ktr__ring_view view[2 * N_CPUS];
static const struct ktr__ring_view *views[2 * N_CPUS];
static struct ktr_entry memory[2 * N_CPUS][SLOTS];
static uint64_t counts[N_CPUS * STRIDE];
static struct ktr_entry op_staged[3], other_staged[OTHER_N];
static struct ktr__image op_image, other_image;
static uint64_t op_time, started;

enum interruption {
	PREEMPTED,
	MIGRATED,
	CHANGED
};

/* A sequence, and the one that comes in between. */
struct op {
	int (*run)(void);
	int (*other)(void);
	unsigned n_slots;
	unsigned n_args;
	const struct sequence_cs *cs; /* NULL: what it leaves behind where it ends early */
	void (*ready)(void);	      /* something to be done before */
};

static struct {
	enum interruption kind;
	int (*other)(void);
	int other_said;
	const struct sequence_cs *cs; /* of the sequence that is run */
	uintptr_t commit;             /* its last instruction */
	int again;                    /* a second interruption, before the commit */
#if defined(__x86_64__)
	uintptr_t from; /* where it is interrupted: */
	unsigned at;	/* after so many times that it came there */
	uintptr_t over; /* a breakpoint that is to be set again when its instruction has been done */
	uint8_t *code;	/* where the breakpoint is, and what was there */
	uint8_t was;
#else
	uint32_t *code;
	uint32_t was;
#endif
	unsigned n_fired;
	unsigned n_aborted;
} plan;

static void stage(struct ktr_entry *staged, unsigned n, uint32_t id)
{
	uint64_t *words = (uint64_t *)(void *)staged;

	for (unsigned i = 0; i < n * 8; i++)
		words[i] = (uint64_t)id << 32 | i;
	staged->site = id;
	staged->thread = id;
}

/* The image that is to become n staged slots. */
static struct ktr__image *image_of(struct ktr__image *image, const struct ktr_entry *staged, unsigned n)
{
	image->meta = staged->site | (uint64_t)staged->thread << 32;
	memcpy(image->arg, staged->arg, sizeof(image->arg));
	image->n_slots = n;
	for (unsigned i = 1; i < n; i++)
		image->cont[i - 1] = (const char *)&staged[i] + KTR_ENTRY_BYTES - KTR_CONT_BYTES;
	return image;
}

static void start(void)
{
	char *here;

#if defined(__x86_64__)
	__asm__("movq %%fs:0, %0" : "=r"(here));
#else
	here = __builtin_thread_pointer();
#endif
	memset(rings, 0, sizeof(rings));
	memset(memory, 0xee, sizeof(memory));
	memset(counts, 0, sizeof(counts));
	memset(&area, 0, sizeof(area));
	for (unsigned i = 0; i < 2 * N_CPUS; i++) {
		rings[i].geom = GEOM + i;
		rings[i].head = FIRST << 1;
		rings[i].cont[0] = CONTS;
		rings[i].cont[1] = 99; /* what an event that was never committed left behind */
		view[i] = (struct ktr__ring_view){ GEOM + i, (char *)memory[i], (SLOTS - 1) * 64, 0 };
		views[i] = &view[i];
	}
	stage(op_staged, 3, OP);
	stage(other_staged, OTHER_N, OTHER);
	memset(&control, 0, sizeof(control));
	control.record = control.gate = MASK;
	control.generation = READY;
	site_ctl[0] = KTR_SITE_OFF;
	if (!put_aside) {
		put_aside = 1;
		ktr__cpu_look(); /* as the library does when it begins: this suite may be the only one */
		library_rec = ktr__rec;
		library_hot = ktr__hot;
		library_self = ktr__self;
	}
	ktr__rec.rings = rings;
	ktr__rec.views = views;
	ktr__rec.n_rings = N_CPUS;
	ktr__rec.rseq_offset = (char *)&area - here;
	ktr__rec.control = &control;
	ktr__rec.site_ctl = site_ctl;
	ktr__rec.clock = KTR_ARCH_CLOCK;
	ktr__rec.path = KTR_PATH_RSEQ;
	ktr__rec.broken = 0;
	ktr__hot.rings = rings;
	ktr__hot.views = views;
	ktr__hot.n_rings = N_CPUS;
	ktr__hot.rseq_offset = ktr__rec.rseq_offset;
	ktr__hot.control = &control;
	memset(&ktr__self, 0, sizeof(ktr__self));
	ktr__self.armed = (uint64_t)OP << 32;
	/* What comes out of the sequences into C is counted there and goes no further. */
	ktr__self.in_vfork = 1;
	started = op_time = ktr__ticks();
}

static void finish(void)
{
	ktr__rec = library_rec;
	ktr__hot = library_hot;
	ktr__self = library_self;
	put_aside = 0;
}

static int inside(uintptr_t pc)
{
	return pc - plan.cs->start < plan.cs->post_commit_bytes;
}

static void interrupt(uintptr_t *pc)
{
	if (area.rseq_cs == (uintptr_t)plan.cs && inside(*pc)) {
		*pc = plan.cs->abort;
		plan.n_aborted++;
	}
	plan.n_fired++;
	area.rseq_cs = 0;
	if (plan.kind == CHANGED)
		rings[0].geom = GEOM_NEW;
	else
		plan.other_said = plan.other();
	if (plan.kind == MIGRATED)
		area.cpu_id = 1;
	area.rseq_cs = 0; /* the other one has a struct rseq of its own */
}

/* Not inlined anywhere: a sequence has one descriptor in each place that it is compiled into. */
static int call(const struct op *op)
{
	int (*volatile function)(void) = op->run;

	return function();
}

/* On no CPU, a sequence leaves early, and leaves its descriptor behind, if it has not said which it is. */
static void describe(const struct op *op)
{
	plan.cs = op->cs;
	if (plan.cs)
		return;
	start();
	area.cpu_id = CPU_NONE;
	CU_ASSERT_EQUAL_FATAL(call(op), KTR_WRITE_COLD);
	plan.cs = (const struct sequence_cs *)(uintptr_t)area.rseq_cs;
	CU_ASSERT_PTR_NOT_NULL_FATAL(plan.cs);
}

#if defined(__x86_64__)
#define TRAP_FLAG  0x100u
#define BREAKPOINT 0xccu /* int3 */
#define STEPS	   4096	 /* of one event, at most */

/* Where each step is, by the trap flag, and how often it has been there before. */
static struct step {
	uintptr_t pc;
	unsigned n_before;
} step[STEPS];
static unsigned n_steps;
static volatile int looking; /* 2: what is to be looked at is over */

static void set_breakpoint(uintptr_t at)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	if (mprotect((void *)(at & ~(page - 1)), page, PROT_READ | PROT_WRITE | PROT_EXEC))
		return; /* nothing is interrupted then, which every() does not let pass */
	plan.code = (uint8_t *)at;
	plan.was = *plan.code;
	*(volatile uint8_t *)plan.code = BREAKPOINT;
}

static void clear_breakpoint(void)
{
	if (plan.code)
		*(volatile uint8_t *)plan.code = plan.was;
	plan.code = NULL;
}

static void looked(uintptr_t pc)
{
	if (inside(pc))
		plan.commit = pc;
	if (n_steps == STEPS || looking == 2)
		return;
	step[n_steps] = (struct step){ pc, 0 };
	for (unsigned i = 0; i < n_steps; i++)
		step[n_steps].n_before += step[i].pc == pc;
	n_steps++;
}

static void trapped(int signo, siginfo_t *info, void *context)
{
	ucontext_t *user = context;
	greg_t *reg = user->uc_mcontext.gregs;
	uintptr_t pc = (uintptr_t)reg[REG_RIP];

	(void)signo, (void)info;
	if (looking) {
		looked(pc);
		return;
	}
	if (plan.over) { /* the instruction with the breakpoint has been done */
		set_breakpoint(plan.over);
		plan.over = 0;
		reg[REG_EFL] &= ~(greg_t)TRAP_FLAG;
		return;
	}
	pc = (uintptr_t)plan.code;
	clear_breakpoint();
	if (plan.at) {
		plan.at--;
		plan.over = pc;
	} else {
		interrupt(&pc);
		if (plan.n_fired <= (unsigned)plan.again)
			plan.over = pc == plan.commit ? pc : 0;
		if (plan.n_fired <= (unsigned)plan.again && !plan.over)
			set_breakpoint(plan.commit);
	}
	reg[REG_RIP] = (greg_t)pc;
	if (plan.over)
		reg[REG_EFL] |= (greg_t)TRAP_FLAG;
}

/* The same instructions where it is looked at and where it is interrupted. */
static int run(const struct op *op)
{
	int said;

	plan.n_fired = plan.n_aborted = 0;
	plan.over = 0;
	if (!looking)
		set_breakpoint(plan.from);
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | (looking ? TRAP_FLAG : 0));
	said = call(op);
	looking *= 2;
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(uint64_t)TRAP_FLAG);
	clear_breakpoint();
	return said;
}

static void look(const struct op *op)
{
	start();
	if (op->ready)
		op->ready();
	n_steps = 0;
	looking = 1;
	CU_ASSERT_EQUAL_FATAL(run(op), KTR_WRITE_DONE);
	looking = 0;
	CU_ASSERT_FATAL(n_steps > 0 && n_steps < STEPS);
}

/* Before the k-th step; 0: there is none. */
static int place(unsigned k)
{
	if (k >= n_steps)
		return 0;
	plan.from = step[k].pc;
	plan.at = step[k].n_before;
	return 1;
}
#else
#define BREAKPOINT 0xd4200000u /* brk #0 */

static uintptr_t restart; /* where an aborted sequence begins anew */

static void patch(uintptr_t at, uint32_t word)
{
	uint32_t *code = (uint32_t *)at;

	__atomic_store_n(code, word, __ATOMIC_RELAXED);
	__builtin___clear_cache((char *)code, (char *)(code + 1));
}

static void set_breakpoint(uintptr_t at)
{
	plan.code = (uint32_t *)at;
	plan.was = *plan.code;
	patch(at, BREAKPOINT);
}

static void trapped(int signo, siginfo_t *info, void *context)
{
	ucontext_t *user = context;
	uintptr_t pc = (uintptr_t)user->uc_mcontext.pc;

	(void)signo, (void)info;
	CU_ASSERT_EQUAL_FATAL(pc, (uintptr_t)plan.code);
	patch(pc, plan.was);
	interrupt(&pc);
	user->uc_mcontext.pc = pc;
	if (plan.n_fired <= (unsigned)plan.again)
		set_breakpoint(plan.commit);
}

static int run(const struct op *op)
{
	int said;

	plan.n_fired = plan.n_aborted = 0;
	set_breakpoint((uintptr_t)plan.code);
	said = call(op);
	patch((uintptr_t)plan.code, plan.was);
	return said;
}

static void look(const struct op *op)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uint32_t branch = *(const uint32_t *)(uintptr_t)plan.cs->abort;

	(void)op;
	CU_ASSERT_EQUAL_FATAL(branch >> 26, 5); /* b */
	restart = plan.cs->abort + (uintptr_t)((int64_t)(int32_t)(branch << 6) >> 4);
	plan.commit = plan.cs->start + plan.cs->post_commit_bytes - 4;
	CU_ASSERT_EQUAL_FATAL(mprotect((void *)(restart & ~(page - 1)), 2 * page,
				       PROT_READ | PROT_WRITE | PROT_EXEC),
			      0);
}

/* Before the k-th instruction from the restart on; 0: that is behind the sequence. */
static int place(unsigned k)
{
	plan.code = (uint32_t *)(restart + 4 * (uintptr_t)k);
	return (uintptr_t)plan.code <= plan.commit + 4;
}
#endif

#endif
#endif
