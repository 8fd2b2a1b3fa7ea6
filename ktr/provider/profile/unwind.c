/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each step asks the table of the object that an address lies in (cfi.h). Code that is in none, as a JIT's, is
 * taken to have frame pointers, as long as they lead to code (code.h). That is the order because frame pointers,
 * where code has them, miss the caller of a function that has not set up its own yet, or has none because it is
 * small: of samples, more than half (gcc 12, -O2 -fno-omit-frame-pointer).
 *
 * Only memory between the stack pointer (of what was interrupted, its red zone too) and the end of the stack is
 * read. A handler's frame leads to what it has interrupted, which may be on another stack. Where a stack ends: the
 * thread's own is known if we have seen it begin, the main thread's lies below its environment, a signal stack is
 * in the context; of others, as those of coroutines, it is asked of the kernel how far they can be read.
 *
 * Or all of it is a copy, of what is not below the stack pointer: then that is read alone. A register that the
 * table has below it has been taken off the stack already.
 */
#include "ktr/provider/profile/unwind.h"

#include "ktr/provider/profile/code.h"
#include "ktr/provider/profile/maps.h"
#include "ktr/provider/profile/tail.h"
#include "ktr/record/own.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define UNWIND_PAGE    4096ul
#define UNWIND_PAGES   64 /* of a stack that nobody knows, that are asked for */
/* [bytes] below rsp that belong to a function, and no handler writes to (x86-64 ABI, 3.2.2) */
#define UNWIND_RED     128
#define UNWIND_MAIN    (64ul << 20) /* [bytes] nothing else lies so near below the main thread's environment */
#define UNWIND_SIGNALS 4            /* handlers within each other */

struct unwind {
	uint64_t pc, sp, bp;
	uint64_t end;              /* [sp, end) can be read */
	bool is_exact;             /* pc is where it was interrupted, not where a call returns to */
	bool by_pointer;           /* the last step was by the frame pointer, so it is one */
	bool follows;              /* the last step was by registers, and words between sp and end, alone */
	bool by_bp;                /* bp was one of those */
	uint64_t bp_at, zero_at;   /* that it has read bp from, and a 0 that is where a caller would be; 0: none */
	const ucontext_t *context; /* of the handler that we are in */
	const char *copy;          /* where what is at `low` lies; NULL: there */
	uint64_t low;              /* of a copy: less is not in it */
	const struct ktr__stack_range *own;
	const struct ktr__map_object *object; /* that the frame before lies in; NULL: in none */
};

static uintptr_t unwind_main; /* where the main thread's stack ends */

/* The kernel puts the program's name above it. The environment, below that, may have been moved. */
__attribute__((constructor(101))) static void unwind_note_main(void)
{
	unwind_main = getauxval(AT_EXECFN);
	if (!unwind_main)
		unwind_main = (uintptr_t)environ;
}

uint64_t ktr__unwind_main(uint64_t sp)
{
	return sp < unwind_main && unwind_main - sp < UNWIND_MAIN ? unwind_main : 0;
}

/* ---- where stacks end ---- */

/* One byte of each page: the kernel says how many of them it could read, and faults for nobody. */
static uint64_t unwind_ask(uint64_t sp)
{
	uint64_t page = sp & -UNWIND_PAGE;
	struct iovec local, remote[UNWIND_PAGES];
	char bytes[UNWIND_PAGES];
	long n;

	if (ktr__own.sealed)
		return page + UNWIND_PAGE;
	for (unsigned i = 0; i < UNWIND_PAGES; i++)
		remote[i] = (struct iovec){ (void *)(uintptr_t)(page + i * UNWIND_PAGE), 1 }; // NOLINT
	local = (struct iovec){ bytes, sizeof(bytes) };
	n = syscall(SYS_process_vm_readv, getpid(), &local, 1, remote, UNWIND_PAGES, 0);
	return page + (n > 0 ? (uint64_t)n : 1) * UNWIND_PAGE;
}

static void unwind_stack(struct unwind *u)
{
	const stack_t *signal_stack = &u->context->uc_stack;
	uint64_t low = (uintptr_t)signal_stack->ss_sp;

	if (u->copy)
		return; /* its end is that of all */

	if (u->sp >= u->own->low && u->sp < u->own->high)
		u->end = u->own->high;
	else if (ktr__unwind_main(u->sp))
		u->end = unwind_main;
	else if (!(signal_stack->ss_flags & SS_DISABLE) && u->sp >= low && u->sp < low + signal_stack->ss_size)
		u->end = low + signal_stack->ss_size;
	else
		u->end = unwind_ask(u->sp);
	u->end &= ~7ull;
}

static const void *unwind_place(const struct unwind *u, uint64_t at)
{
	return u->copy ? u->copy + (at - u->low) : (const char *)(uintptr_t)at; // NOLINT
}

static bool unwind_read(const struct unwind *u, uint64_t at, uint64_t *word)
{
	/* What an epilogue has taken off the stack is still there, and the rows say so. */
	uint64_t low = u->is_exact ? u->sp - UNWIND_RED : u->sp;

	if (at & 7 || at < low || u->end < 8 || at > u->end - 8)
		return false;
	if (u->copy && at < u->low)
		return false;
	*word = *(const uint64_t *)unwind_place(u, at);
	return true;
}

/* ---- steps ---- */

enum unwind_step {
	UNWIND_ON,
	UNWIND_END, /* the outermost frame */
	UNWIND_CUT
};

/* To the caller, whose frame ends at cfa. */
static enum unwind_step unwind_to(struct unwind *u, uint64_t cfa, uint64_t bp_at)
{
	uint64_t pc;

	if (u->copy && bp_at < u->low)
		bp_at = 0;
	if (cfa <= u->sp || !unwind_read(u, cfa - 8, &pc) || (bp_at && !unwind_read(u, bp_at, &u->bp)))
		return UNWIND_CUT;
	u->pc = pc;
	u->sp = cfa;
	u->bp_at = bp_at;
	u->zero_at = pc ? 0 : cfa - 8;
	u->is_exact = u->by_pointer = u->follows = u->by_bp = false;
	return pc ? UNWIND_ON : UNWIND_END;
}

static enum unwind_step unwind_signal(struct unwind *u)
{
	const ucontext_t *context;
	uint64_t last;

	if (!unwind_read(u, u->sp + offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP]), &last) ||
	    !unwind_read(u, u->sp, &last))
		return UNWIND_CUT;
	context = unwind_place(u, u->sp);
	u->context = context;
	u->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
	u->bp = (uint64_t)context->uc_mcontext.gregs[REG_RBP];
	u->sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
	u->is_exact = true;
	unwind_stack(u);
	return UNWIND_ON;
}

/* Each frame of code with frame pointers has its caller's, then the return address. */
static enum unwind_step unwind_pointer(struct unwind *u)
{
	uint64_t bp = u->bp, next;
	enum unwind_step step;

	if (!bp)
		return u->by_pointer ? UNWIND_END : UNWIND_CUT;
	if (!unwind_read(u, bp, &next) || bp + 16 <= u->sp)
		return UNWIND_CUT;
	step = unwind_to(u, bp + 16, 0);
	u->bp = next;
	u->by_pointer = true;
	/* It leads to code, or was no frame. */
	return step != UNWIND_ON || ktr__maps_at(u->pc - 1) || ktr__code_has(u->pc - 1) ? step : UNWIND_CUT;
}

static enum unwind_step unwind_row(struct unwind *u, const struct ktr__cfi_row *row)
{
	uint64_t cfa = row->kind == KTR__CFI_RBP || row->kind == KTR__CFI_AT_RBP ? u->bp : u->sp, bp_at;
	bool is_at = row->kind == KTR__CFI_AT_RSP || row->kind == KTR__CFI_AT_RBP;
	enum unwind_step step;

	cfa += (uint64_t)(int64_t)row->cfa;
	if (row->kind == KTR__CFI_PLT)
		cfa = u->sp + ((u->pc & 15) >= (uint64_t)row->extra ? 16 : 8);
	if (is_at) {
		if (!unwind_read(u, cfa, &cfa))
			return UNWIND_CUT;
		cfa += (uint64_t)row->extra;
	}
	bp_at = row->rbp == KTR__CFI_AT_IT  ? u->bp
		: row->rbp == KTR__CFI_SAME ? 0
					    : cfa + (uint64_t)(int64_t)row->rbp;
	step = unwind_to(u, cfa, bp_at);
	u->follows = !is_at;
	u->by_bp = row->kind == KTR__CFI_RBP || row->rbp == KTR__CFI_AT_IT;
	return step;
}

/* Most callers lie where who is called does. */
static const struct ktr__map_object *unwind_object(struct unwind *u, uint64_t pc)
{
	if (!u->object || pc < u->object->begin || pc >= u->object->end)
		u->object = ktr__maps_at(pc);
	return u->object;
}

static enum unwind_step unwind_step(struct unwind *u, unsigned *n_signals, bool *strange)
{
	uint64_t pc = u->is_exact ? u->pc : u->pc - 1;
	const struct ktr__map_object *object = unwind_object(u, pc);
	const struct ktr__cfi_row *row = object ? ktr__cfi_at(&object->cfi, (uint32_t)(pc - object->base)) : NULL;

	*strange |= !object;
	if (!row || row->kind == KTR__CFI_NONE)
		return unwind_pointer(u);
	if (row->kind == KTR__CFI_END)
		return UNWIND_END;
	if (row->kind == KTR__CFI_SIGNAL)
		return ++*n_signals > UNWIND_SIGNALS ? UNWIND_CUT : unwind_signal(u);
	return unwind_row(u, row);
}

/* Has it been there before? Then frames and *n have the rest. */
static bool unwind_known(struct ktr__frames *frames, struct unwind *u, struct ktr__tail *tail, unsigned *n)
{
	const struct ktr__tail_frame here = { u->pc, u->sp, u->bp, u->bp_at, u->by_bp };
	const uint64_t *rest;
	unsigned n_rest;

	ktr__tail_add(tail, &here, u->follows);
	rest = ktr__tail_rest(tail, &n_rest);
	if (!rest || *n + 1 + n_rest > KTR_STACK_MAX)
		return false;
	frames->pcs[(*n)++] = u->pc;
	memcpy(frames->pcs + *n, rest, n_rest * sizeof(rest[0]));
	*n += n_rest;
	ktr__tail_joins(tail);
	return true;
}

static void unwind_all(struct ktr__frames *frames, struct unwind *u, bool *strange)
{
	struct ktr__tail *tail = u->copy ? NULL : ktr__tail_take(u->end, ktr__maps_turn());
	enum unwind_step step = UNWIND_ON;
	unsigned n = 0, n_signals = 0;
	bool is_known = tail && !u->is_exact && unwind_known(frames, u, tail, &n);

	*strange = false;
	while (!is_known && step == UNWIND_ON && n < KTR_STACK_MAX) {
		frames->pcs[n++] = u->is_exact ? u->pc + 1 : u->pc;
		step = unwind_step(u, &n_signals, strange);
		if (step != UNWIND_ON || !tail)
			continue;
		if (n_signals) { /* it may have led to another stack */
			ktr__tail_give(tail);
			tail = NULL;
		} else {
			is_known = unwind_known(frames, u, tail, &n);
		}
	}
	if (is_known)
		step = UNWIND_END;
	else if (tail && step == UNWIND_END)
		ktr__tail_ends(tail, u->zero_at);
	if (tail)
		ktr__tail_give(tail);
	frames->word = n * 8ull | (step == UNWIND_END ? 0 : KTR_PAYLOAD_CUT);
	for (unsigned i = n; i < 12; i++)
		frames->pcs[i] = 0;
}

void ktr__unwind(struct ktr__frames *frames, const ucontext_t *at, const struct ktr__stack_range *own,
		 bool *strange)
{
	struct unwind u = { .pc = (uint64_t)at->uc_mcontext.gregs[REG_RIP],
			    .sp = (uint64_t)at->uc_mcontext.gregs[REG_RSP],
			    .bp = (uint64_t)at->uc_mcontext.gregs[REG_RBP],
			    .is_exact = true,
			    .context = at,
			    .own = own };

	unwind_stack(&u);
	unwind_all(frames, &u, strange);
}

void ktr__unwind_from(struct ktr__frames *frames, const struct ktr__here *here, uint64_t end, bool *strange)
{
	static const struct ktr__stack_range none;
	struct unwind u = { .pc = here->pc, .sp = here->sp, .bp = here->bp, .end = end & ~7ull, .own = &none };

	unwind_all(frames, &u, strange);
}

void ktr__unwind_copy(struct ktr__frames *frames, const struct ktr__here *at, const void *bytes, size_t n,
		      bool *strange)
{
	static const struct ktr__stack_range none;
	struct unwind u = { .pc = at->pc, .sp = at->sp, .bp = at->bp, .end = (at->sp + n) & ~7ull, .is_exact = true,
			    .copy = bytes, .low = at->sp, .own = &none };

	unwind_all(frames, &u, strange);
}
