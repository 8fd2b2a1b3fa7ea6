/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All functions are read once from their beginnings to their ends: to see who is called or jumped to, and how each
 * one ends. What lies between two functions is free if it is nothing but filling, the first does not run on into
 * it (in hand-written code of the C library some do, through the filling before the next one), and nothing jumps
 * there.
 *
 * A piece between two functions is five bytes of it; functions in reach are all those within 127 bytes. Each
 * function, by address, gets the lowest one that is in its reach: as the reach of all is as wide, no other way
 * serves more of them.
 */
#include "ktr/provider/plain/judge.h"

#include "ktr/provider/plain/insn.h"

#include <stdlib.h>
#include <string.h>

#define JUDGE_LONG  5 /* [bytes] of a long jump */
#define JUDGE_SHORT 2
#define JUDGE_DOWN  128 /* [bytes] from behind a short jump */
#define JUDGE_UP    127

struct judge {
	const struct ktr__plain_frames *frames;
	struct ktr__plain_function *function;
	struct judge_gap {
		uintptr_t at, end; /* what is free of it; the same: nothing */
		bool is_target; /* something comes there */
	} *gap; /* behind each frame */
};

/* The frame that begins at or before an address; n: none does. */
static uint32_t judge_before(const struct ktr__plain_frames *frames, uintptr_t at)
{
	uint32_t from = 0, to = frames->n;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (frames->at[middle].start <= at)
			from = middle + 1;
		else
			to = middle;
	}
	return from ? from - 1 : frames->n;
}

/* Something goes there. */
static void judge_target(struct judge *judge, uint32_t from, const struct ktr__insn *insn, uintptr_t to)
{
	uint32_t at = judge_before(judge->frames, to);
	struct ktr__plain_function *function;

	if (at == judge->frames->n)
		return;
	function = &judge->function[at];
	if (to >= function->at + judge->frames->at[at].n_bytes)
		judge->gap[at].is_target |= to >= judge->gap[at].at && to < judge->gap[at].end;
	else if (to != function->at && to - function->at < function->n_first)
		function->why = KTR__PLAIN_WHY_INTO;
	else if (to == function->at && insn->flow == KTR__INSN_CALL)
		function->is_called = true;
	else if (to == function->at && at != from)
		function->is_jumped_to = true;
	else if (to == function->at)
		function->why = KTR__PLAIN_WHY_LOOP;
}

static bool judge_ends(uint8_t flow)
{
	return flow != KTR__INSN_NEXT && flow != KTR__INSN_BRANCH && flow != KTR__INSN_SYSTEM;
}

/* How far the stack is down, as far as that is told from one end to the other. */
struct judge_stack {
	uint32_t now, most;
	bool by_rbp;
};

/* Behind a return or a jump a function has its whole frame again. */
static bool judge_asks(struct judge_stack *stack, const struct ktr__insn *insn)
{
	bool asks = ktr__insn_asks(insn, stack->now, stack->by_rbp) || ktr__insn_asks(insn, stack->most, false);
	uint32_t pushes, pops = ktr__insn_pops(insn);

	asks = asks && (pops == 0 || !stack->now);
	if (stack->now == 8 && ktr__insn_frames(insn))
		stack->by_rbp = true;
	if (pops)
		stack->now = pops < stack->now ? stack->now - pops : 0;
	else if (ktr__insn_moves(insn, &pushes) && pushes < 1u << 30)
		stack->now += pushes;
	if (stack->now > stack->most)
		stack->most = stack->now;
	if (insn->flow == KTR__INSN_RETURN || insn->flow == KTR__INSN_JUMP || insn->flow == KTR__INSN_JUMP_AT)
		stack->now = stack->most;
	return asks;
}

static void judge_goes(struct judge *judge, uint32_t number, const struct ktr__insn *insn, uintptr_t next)
{
	if (insn->flow == KTR__INSN_CALL || insn->flow == KTR__INSN_JUMP || insn->flow == KTR__INSN_BRANCH)
		judge_target(judge, number, insn, next + (uintptr_t)(intptr_t)insn->rel);
}

/* A function from its beginning to its end. */
static void judge_read(struct judge *judge, uint32_t number)
{
	const struct ktr__plain_frame *frame = &judge->frames->at[number];
	uintptr_t at = frame->start, end = at + frame->n_bytes;
	struct judge_stack stack = { 0, 0, false };
	struct ktr__insn insn = { .flow = KTR__INSN_NEXT };

	for (; at < end && ktr__insn_read((const uint8_t *)at, end - at, &insn); at += insn.n_bytes) {
		judge_goes(judge, number, &insn, at + insn.n_bytes);
		judge->function[number].asks |= judge_asks(&stack, &insn);
	}
	if ((at < end || !judge_ends(insn.flow)) && judge->gap[number].at == end)
		judge->gap[number].is_target = true;
}

/*
 * What is between it and the next one: filling, before that maybe functions that unwinders are not told of. The
 * filling at its end is free if what stands before it does not run on.
 */
static void judge_gap(struct judge *judge, uint32_t number)
{
	const struct ktr__plain_frames *frames = judge->frames;
	uintptr_t at = frames->at[number].start + frames->at[number].n_bytes;
	uintptr_t end = number + 1 < frames->n ? frames->at[number + 1].start : at;
	struct judge_gap *gap = &judge->gap[number];
	bool runs_on = false;
	struct ktr__insn insn;

	for (uintptr_t next = at; next < end; next += insn.n_bytes) {
		if (!ktr__insn_read((const uint8_t *)next, end - next, &insn)) {
			runs_on = true;
			break;
		}
		if (ktr__insn_is_filling(&insn))
			continue;
		runs_on = !judge_ends(insn.flow);
		at = next + insn.n_bytes;
	}
	gap->at = at;
	gap->end = runs_on ? at : end;
}

static void judge_read_gap(struct judge *judge, uint32_t number)
{
	const struct ktr__plain_frame *frame = &judge->frames->at[number];
	uintptr_t end = judge->gap[number].at;
	struct ktr__insn insn;

	for (uintptr_t at = frame->start + frame->n_bytes; at < end; at += insn.n_bytes) {
		if (!ktr__insn_read((const uint8_t *)at, end - at, &insn))
			break;
		judge_goes(judge, judge->frames->n, &insn, at + insn.n_bytes);
	}
}

static bool judge_is_rebuilt(const struct ktr__plain_frames *frames, uintptr_t start)
{
	const uint8_t *at = (const uint8_t *)start;

	if (start - frames->begin < 2 || at[-1] != 0x90 || at[-2] != 0x90) /* of the room; they stay */
		return false;
	if (ktr__insn_is_endbr(at))
		at += 4;
	return (at[0] == 0x90 && at[1] == 0x90) || (at[0] == 0x66 && at[1] == 0x90) ||
	       ((at[0] == 0xa8 || at[0] == 0xeb) && (at[1] == 0xf0 || at[1] == 0xec));
}

/* Its first instruction by itself. */
static void judge_first(const struct ktr__plain_frames *frames, uint32_t number,
			struct ktr__plain_function *function)
{
	const struct ktr__plain_frame *frame = &frames->at[number];
	const uint8_t *at = (const uint8_t *)frame->start;
	struct ktr__insn insn;

	function->at = frame->start;
	if (frame->is_odd) {
		function->why = KTR__PLAIN_WHY_PART;
	} else if (frame->start == frames->entry) {
		function->why = KTR__PLAIN_WHY_ENTRY;
	} else if (judge_is_rebuilt(frames, frame->start)) {
		function->why = KTR__PLAIN_WHY_REBUILT;
	} else if (!ktr__insn_read(at, frame->n_bytes, &insn)) {
		function->why = KTR__PLAIN_WHY_UNKNOWN;
	} else {
		function->n_first = insn.n_bytes;
		memcpy(function->before, at, insn.n_bytes < JUDGE_LONG ? insn.n_bytes : JUDGE_LONG);
		function->rip_at = insn.rip_at;
		function->is_endbr = ktr__insn_is_endbr(at);
		if (insn.flow != KTR__INSN_NEXT)
			function->why = KTR__PLAIN_WHY_JUMP;
		else if (!ktr__insn_moves(&insn, &function->pushes))
			function->why = KTR__PLAIN_WHY_UNKNOWN;
		else if (insn.n_bytes < JUDGE_SHORT)
			function->why = KTR__PLAIN_WHY_BYTE;
	}
}

/* The lowest piece of a gap in reach; from: gaps before it are behind us. */
static uintptr_t judge_piece(struct judge *judge, uint32_t *from, uintptr_t at)
{
	uintptr_t low = at + JUDGE_SHORT - JUDGE_DOWN, high = at + JUDGE_SHORT + JUDGE_UP;

	while (*from < judge->frames->n && judge->gap[*from].end < low + JUDGE_LONG)
		++*from;
	for (uint32_t i = *from; i < judge->frames->n && judge->gap[i].at <= high; i++) {
		struct judge_gap *gap = &judge->gap[i];
		uintptr_t piece = gap->at > low ? gap->at : low;

		if (piece > high || gap->end < piece + JUDGE_LONG)
			continue;
		gap->at = piece + JUDGE_LONG;
		return piece;
	}
	return 0;
}

static void judge_form(struct judge *judge, uint32_t *from, struct ktr__plain_function *function)
{
	uint32_t in_word = function->at & 7;

	if (function->why)
		return;
	if (function->n_first >= JUDGE_LONG && in_word + JUDGE_LONG <= 8) {
		function->form = KTR__PLAIN_LONG;
	} else if (in_word + JUDGE_SHORT > 8) {
		function->why = KTR__PLAIN_WHY_WORD;
	} else {
		function->gap = judge_piece(judge, from, function->at);
		if (function->gap)
			function->form = KTR__PLAIN_SHORT;
		else
			function->why = KTR__PLAIN_WHY_ROOM;
	}
}

/* A function that is built to be probed has what is before it for itself. */
static void judge_close(struct judge *judge, uint32_t i)
{
	bool is_room = i + 1 < judge->frames->n && judge->function[i + 1].why == KTR__PLAIN_WHY_REBUILT;

	if (judge->gap[i].is_target || is_room)
		judge->gap[i].end = judge->gap[i].at;
}

struct ktr__plain_function *ktr__plain_judge(const struct ktr__plain_frames *frames)
{
	struct judge judge = { .frames = frames };
	uint32_t from = 0;

	judge.function = calloc(frames->n, sizeof(*judge.function));
	judge.gap = calloc(frames->n, sizeof(*judge.gap));
	if (judge.function && judge.gap) {
		for (uint32_t i = 0; i < frames->n; i++) {
			judge_first(frames, i, &judge.function[i]);
			judge_gap(&judge, i);
		}
		for (uint32_t i = 0; i < frames->n; i++) {
			judge_read(&judge, i);
			judge_read_gap(&judge, i);
		}
		for (uint32_t i = 0; i < frames->n; i++)
			judge_close(&judge, i);
		for (uint32_t i = 0; i < frames->n; i++)
			judge_form(&judge, &from, &judge.function[i]);
	} else {
		free(judge.function);
		judge.function = NULL;
	}
	free(judge.gap);
	return judge.function;
}
