/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks that are made here, frame by frame, are found frame by frame, also where much of them was found before. */
#include "tests/unit/suite.h"

#if defined(__x86_64__)
/* In the agent alone. */
#include "ktr/provider/profile/tail.c"
#include "ktr/provider/profile/unwind.c"

#include <stdlib.h>

#define FUNCTIONS 64u
#define BYTES	  16u /* of each function */
#define BASE	  0x10000000ul
#define WORDS	  4096u
#define DEEPEST	  100u

/* ---- the one object there is ---- */

static struct ktr__cfi_row rows[FUNCTIONS + 1];
static struct ktr__map_object object = { .begin = BASE, .end = BASE + FUNCTIONS * BYTES, .base = BASE };
static uint64_t turn;

const struct ktr__map_object *ktr__maps_at(uint64_t address)
{
	return address >= object.begin && address < object.end ? &object : NULL;
}

uint64_t ktr__maps_turn(void)
{
	return turn;
}

/* Code that no object has, and a word that looks like an address of such. */
#define ENGINE 0x20000000ul
#define NO_CODE 0xe653b1ul

bool ktr__code_has(uint64_t pc)
{
	return pc >= ENGINE && pc < ENGINE + 4096;
}

static uint32_t any(uint32_t n)
{
	static uint64_t state = 7;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) % n;
}

/* Function 0 begins a thread; of the others each has a kind of frame. */
static void functions_make(void)
{
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		uint32_t kind = i % 4;

		rows[i] = (struct ktr__cfi_row){ .at = i * BYTES, .kind = KTR__CFI_RSP };
		rows[i].cfa = kind == 2 ? 16 : 8 * (int32_t)(2 + i % 7);
		rows[i].rbp = kind == 0 ? KTR__CFI_SAME : -16;
		if (kind >= 2)
			rows[i].kind = kind == 2 ? KTR__CFI_RBP : KTR__CFI_AT_RSP;
		if (kind == 3) /* *(rsp) + 8 */
			rows[i].cfa = 0, rows[i].extra = 8;
	}
	rows[0] = (struct ktr__cfi_row){ .kind = KTR__CFI_END };
	object.cfi = (struct ktr__cfi){ .row = rows, .n = FUNCTIONS };
}

/* ---- a stack ---- */

static _Alignas(16) uint64_t word[WORDS];
static struct ktr__here frame[DEEPEST]; /* the outermost first */
static unsigned n_frames;

static uint64_t *at(uint64_t address)
{
	return (uint64_t *)(uintptr_t)address; // NOLINT
}

/* A thread begins; or its outermost function has a caller that is no address. */
static void stack_begin(void)
{
	uint64_t top = (uintptr_t)&word[WORDS];

	n_frames = 1;
	frame[0] = (struct ktr__here){ BASE + 5, top - 64, any(100) };
	if (any(2)) {
		frame[0].pc = BASE + 4 * BYTES + 5;
		frame[0].sp = top - (uint64_t)rows[4].cfa;
		*at(top - 8) = 0;
	}
}

static void stack_call(void)
{
	const struct ktr__here *caller = &frame[n_frames - 1];
	uint32_t function = 1 + any(FUNCTIONS - 1);
	const struct ktr__cfi_row *row = &rows[function];
	uint64_t cfa = caller->sp;
	struct ktr__here here = { 0, cfa - (uint64_t)row->cfa, caller->bp };

	here.pc = BASE + (uint64_t)function * BYTES + 1 + any(BYTES - 1);
	*at(cfa - 8) = caller->pc;
	if (row->rbp)
		*at(cfa - 16) = caller->bp;
	if (row->kind == KTR__CFI_RSP && row->rbp)
		here.bp = any(3);
	if (row->kind == KTR__CFI_RBP) {
		here.bp = cfa - 16;
		here.sp = cfa - 16 - 8ul * any(4);
	}
	if (row->kind == KTR__CFI_AT_RSP) {
		here.bp = any(3);
		here.sp = cfa - 24 - 8ul * any(4);
		*at(here.sp) = cfa - 8;
	}
	frame[n_frames++] = here;
}

static bool stack_is_found(void)
{
	const struct ktr__here here = frame[n_frames - 1];
	struct ktr__frames found;
	bool strange;

	ktr__unwind_from(&found, &here, (uintptr_t)&word[WORDS], &strange);
	if (found.word != n_frames * 8ull || strange)
		return false;
	for (unsigned i = 0; i < n_frames; i++)
		if (found.pcs[i] != frame[n_frames - 1 - i].pc)
			return false;
	return true;
}

/* What is left of the last one, and other calls from there. */
static void stack_change(void)
{
	if (!any(50))
		stack_begin();
	else if (any(4))
		n_frames -= any(any(10) ? 4 : n_frames) % n_frames;
	for (unsigned n = any(any(10) ? 4 : DEEPEST); n && n_frames < DEEPEST; n--)
		stack_call();
}

static void all_are_found(void)
{
	unsigned n_wrong = 0;

	functions_make();
	stack_begin();
	for (unsigned i = 0; i < 200000; i++) {
		stack_change();
		turn += !any(1000);
		n_wrong += !stack_is_found();
	}
	CU_ASSERT_EQUAL(n_wrong, 0);
}

/* The innermost frames as they were, and another caller somewhere. */
static void another_caller_is_seen(void)
{
	unsigned n_wrong = 0;

	functions_make();
	for (unsigned i = 0; i < 20000; i++) {
		unsigned changed;

		stack_begin();
		while (n_frames < 20)
			stack_call();
		n_wrong += !stack_is_found();
		/* Its return address is elsewhere in the same function. */
		changed = 1 + any(18);
		frame[changed].pc ^= frame[changed].pc % BYTES > 1 ? 1 : 0;
		*at(frame[changed].sp - 8) = frame[changed].pc;
		n_wrong += !stack_is_found();
	}
	CU_ASSERT_EQUAL(n_wrong, 0);
}

/* Who is interrupted amid a walk, and walks the same stack, has no use of it, and does no harm. */
static void one_amid_another_does_without(void)
{
	struct ktr__tail *taken;

	functions_make();
	stack_begin();
	while (n_frames < 30)
		stack_call();
	CU_ASSERT(stack_is_found());
	taken = ktr__tail_take((uintptr_t)&word[WORDS] & ~7ull, turn);
	CU_ASSERT_PTR_NOT_NULL_FATAL(taken);
	CU_ASSERT_PTR_NULL(ktr__tail_take((uintptr_t)&word[WORDS] & ~7ull, turn));
	CU_ASSERT(stack_is_found());
	ktr__tail_give(taken);
	CU_ASSERT(stack_is_found());
}

/* Four frames with frame pointers, the innermost first; the last is of the object's function 0. */
static void engine_make(const uint64_t pcs[4], struct ktr__here *here)
{
	*here = (struct ktr__here){ pcs[0], (uintptr_t)&word[WORDS - 40], (uintptr_t)&word[WORDS - 40] };
	for (unsigned i = 1; i < 4; i++) {
		uint64_t *below = &word[WORDS - 40 + 8 * (i - 1)];

		below[0] = (uintptr_t)&below[8];
		below[1] = pcs[i];
	}
}

/* What leads on from there is no frame: the address it has is not told. */
static void frame_pointers_lead_from_code_to_code(void)
{
	static const struct {
		uint64_t pcs[4];
		uint64_t word;
	} cases[] = {
		{ { ENGINE + 5, ENGINE + 50, ENGINE + 500, BASE + 5 }, 4 * 8 },
		{ { ENGINE + 5, ENGINE + 50, NO_CODE, BASE + 5 }, 2 * 8 | KTR_PAYLOAD_CUT },
		{ { ENGINE + 5, NO_CODE, ENGINE + 50, BASE + 5 }, 8 | KTR_PAYLOAD_CUT },
		{ { NO_CODE, ENGINE + 5, ENGINE + 50, BASE + 5 }, 4 * 8 }, /* it runs there, so it is code by now */
	};
	struct ktr__frames frames;
	struct ktr__here here;
	bool strange;

	functions_make();
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned n = (unsigned)(cases[i].word % KTR_PAYLOAD_CUT) / 8;

		engine_make(cases[i].pcs, &here);
		ktr__unwind_copy(&frames, &here, &word[WORDS - 40], 40 * sizeof(word[0]), &strange);
		CU_ASSERT(strange);
		CU_ASSERT_EQUAL(frames.word, cases[i].word);
		CU_ASSERT_EQUAL(frames.pcs[0], cases[i].pcs[0] + 1);
		for (unsigned k = 1; k < n; k++)
			CU_ASSERT_EQUAL(frames.pcs[k], cases[i].pcs[k]);
	}
}

SUITE(unwind, TEST(frame_pointers_lead_from_code_to_code), TEST(all_are_found), TEST(another_caller_is_seen),
      TEST(one_amid_another_does_without));
#endif
