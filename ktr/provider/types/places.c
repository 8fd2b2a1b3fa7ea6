/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The classes of the ABI, for each eight bytes of a value, then registers in their order. Structs are classified by
 * their members, which are counted: a damaged image may have any number of them.
 */
#include "ktr/provider/types/places.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum places_class { PLACES_NO, PLACES_INTEGER, PLACES_SSE, PLACES_SSE_UP, PLACES_X87, PLACES_X87_UP,
		   PLACES_MEMORY };

#define PLACES_WORDS 2    /* of eight bytes, that a value in registers has */
#define PLACES_STEPS 4096 /* members and elements that are looked at */

struct places_value {
	const struct ktr__types *types;
	enum places_class word[PLACES_WORDS];
	int indirect; /* C++ passes its address */
	unsigned steps;
};

static enum places_class places_merge(enum places_class a, enum places_class b)
{
	if (a == b || b == PLACES_NO)
		return a;
	if (a == PLACES_NO)
		return b;
	if (a == PLACES_MEMORY || b == PLACES_MEMORY)
		return PLACES_MEMORY;
	if (a == PLACES_INTEGER || b == PLACES_INTEGER)
		return PLACES_INTEGER;
	return a >= PLACES_X87 || b >= PLACES_X87 ? PLACES_MEMORY : PLACES_SSE;
}

static void places_put(struct places_value *v, uint64_t word, enum places_class class)
{
	if (word < PLACES_WORDS)
		v->word[word] = places_merge(v->word[word], class);
	else
		v->word[0] = PLACES_MEMORY;
}

static void places_type(struct places_value *v, uint32_t type, uint64_t at, unsigned depth);

static void places_base(struct places_value *v, const struct ktr__types_type *t, uint64_t at)
{
	const char *name = ktr__types_text(v->types, t->name);
	int is_x87 = t->size == 16 && strcmp(name, "long double") == 0;

	switch (t->encoding) {
	case KTR__TYPES_FLOAT:
	case KTR__TYPES_DECIMAL:
		places_put(v, at / 8, is_x87 ? PLACES_X87 : PLACES_SSE);
		if (t->size > 8)
			places_put(v, at / 8 + 1, is_x87 ? PLACES_X87_UP : PLACES_SSE_UP);
		return;
	case KTR__TYPES_COMPLEX:
		for (uint64_t i = 0; i < t->size; i += t->size / 2)
			places_put(v, (at + i) / 8, t->size > 16 ? PLACES_MEMORY : PLACES_SSE);
		return;
	default:
		for (uint64_t i = 0; i < t->size && i < 8 * (PLACES_WORDS + 1); i += 8)
			places_put(v, (at + i) / 8, PLACES_INTEGER);
	}
}

/* [bytes] What the address of a member has to be a multiple of. */
static uint64_t places_align(const struct ktr__types *types, uint32_t type)
{
	const struct ktr__types_type *t = ktr__types_bare(types, type);

	if (t->kind == KTR__TYPES_BASE && t->encoding == KTR__TYPES_COMPLEX)
		return t->size / 2;
	if (t->kind == KTR__TYPES_MEMBER_POINTER)
		return 8;
	return t->kind == KTR__TYPES_BASE || t->kind == KTR__TYPES_ENUM ||
		t->kind == KTR__TYPES_POINTER ? t->size : 1;
}

static void places_struct(struct places_value *v, const struct ktr__types_type *t, uint64_t at, unsigned depth)
{
	if (t->flags & KTR__TYPES_BY_REFERENCE)
		v->indirect = 1;
	if (t->size > 16)
		places_put(v, PLACES_WORDS, PLACES_MEMORY);
	for (uint32_t i = 0; i < t->n_members && v->word[0] != PLACES_MEMORY; i++) {
		const struct ktr__types_member *m = &v->types->member[t->first + i];
		uint64_t align = places_align(v->types, m->type);

		if (m->bits) {
			/* Only a bit-field's own bits count. Those without a name are padding. */
			if (m->name)
				places_put(v, (at + m->value / 8) / 8, PLACES_INTEGER);
			continue;
		}
		if (align && (at + m->value / 8) % align)
			places_put(v, PLACES_WORDS, PLACES_MEMORY);
		else
			places_type(v, m->type, at + m->value / 8, depth + 1);
	}
}

static void places_array(struct places_value *v, const struct ktr__types_type *t, uint64_t at, unsigned depth)
{
	uint64_t size = v->types->type[t->target].size;

	if (t->flags & KTR__TYPES_VECTOR) {
		places_put(v, at / 8, PLACES_SSE);
		if (t->size > 8)
			places_put(v, at / 8 + 1, PLACES_SSE_UP);
		return;
	}
	if (t->size > 16)
		places_put(v, PLACES_WORDS, PLACES_MEMORY);
	for (uint64_t i = 0; size && i < t->count && i * size < t->size && v->word[0] != PLACES_MEMORY; i++)
		places_type(v, t->target, at + i * size, depth + 1);
}

static void places_type(struct places_value *v, uint32_t type, uint64_t at, unsigned depth)
{
	const struct ktr__types_type *t = ktr__types_bare(v->types, type);

	if (depth > KTR__TYPES_DEPTH || ++v->steps > PLACES_STEPS) {
		v->word[0] = PLACES_MEMORY;
		return;
	}
	switch (t->kind) {
	case KTR__TYPES_BASE:
		places_base(v, t, at);
		return;
	case KTR__TYPES_POINTER:
	case KTR__TYPES_REFERENCE:
	case KTR__TYPES_RVALUE:
	case KTR__TYPES_ENUM:
		places_put(v, at / 8, PLACES_INTEGER);
		return;
	case KTR__TYPES_MEMBER_POINTER:
		places_put(v, at / 8, PLACES_INTEGER);
		if (t->size > 8)
			places_put(v, at / 8 + 1, PLACES_INTEGER);
		return;
	case KTR__TYPES_ARRAY:
		places_array(v, t, at, depth);
		return;
	case KTR__TYPES_STRUCT:
	case KTR__TYPES_CLASS:
	case KTR__TYPES_UNION:
		places_struct(v, t, at, depth);
		return;
	default:
		return;
	}
}

/* A vector of 32 or 64 bytes is in one register, ymm or zmm, which xmm is the lower part of. */
static int places_is_wide(const struct ktr__types_type *t)
{
	return t->kind == KTR__TYPES_ARRAY && (t->flags & KTR__TYPES_VECTOR) && (t->size == 32 || t->size == 64);
}

/* The second half of the ABI's rule: what is left over of larger values goes to memory. */
static void places_classify(struct places_value *v, uint32_t type)
{
	places_type(v, type, 0, 0);
	if (v->word[0] == PLACES_MEMORY || v->word[1] == PLACES_MEMORY ||
	    (v->word[1] == PLACES_X87_UP && v->word[0] != PLACES_X87))
		v->word[0] = v->word[1] = PLACES_MEMORY;
	if (v->word[1] == PLACES_SSE_UP && v->word[0] != PLACES_SSE)
		v->word[1] = PLACES_SSE;
}

/* ---- registers ---- */

struct places_next {
	unsigned n_integer, n_sse;
	uint32_t stack; /* [bytes] */
};

static const uint8_t places_args[] = { 5, 4, 1, 2, 8, 9 }; /* rdi rsi rdx rcx r8 r9 */

#define PLACES_INTEGERS sizeof(places_args)
#define PLACES_SSES     8u

static void places_on_stack(struct places_next *next, struct ktr__types_place *place,
			    const struct ktr__types_type *t)
{
	uint64_t size = t->size ? t->size : 8;
	int wide = (t->kind == KTR__TYPES_BASE && size == 16) || (places_is_wide(t));

	/* Values that need it are at a multiple of their own size. */
	if (wide)
		next->stack = (next->stack + (uint32_t)size - 1) / (uint32_t)size * (uint32_t)size;
	place->kind = KTR__PLACE_MEMORY;
	place->offset = 8 + next->stack;
	next->stack += (uint32_t)((size + 7) / 8 * 8);
}

static void places_address(struct places_next *next, struct ktr__types_place *place)
{
	place->kind = KTR__PLACE_INDIRECT;
	if (next->n_integer < PLACES_INTEGERS) {
		place->n = 1;
		place->reg[0] = places_args[next->n_integer++];
		return;
	}
	place->offset = 8 + next->stack;
	next->stack += 8;
}

static void places_arg(const struct ktr__types *types, struct places_next *next, uint32_t type,
		       struct ktr__types_place *place)
{
	const struct ktr__types_type *t = ktr__types_bare(types, type);
	struct places_value v = { .types = types };
	struct places_next now = *next;

	if (t->kind == KTR__TYPES_UNKNOWN || ((t->flags & KTR__TYPES_DECLARED) && t->kind != KTR__TYPES_ENUM)) {
		place->kind = KTR__PLACE_UNKNOWN;
		return;
	}
	places_classify(&v, type);
	if (v.indirect) {
		places_address(next, place);
		return;
	}
	if (places_is_wide(t))
		v.word[0] = PLACES_SSE;
	if (v.word[0] == PLACES_NO && v.word[1] == PLACES_NO)
		return;
	for (unsigned i = 0; i < PLACES_WORDS; i++) {
		int integer = v.word[i] == PLACES_INTEGER;

		if (v.word[i] == PLACES_NO || v.word[i] == PLACES_SSE_UP || (i && places_is_wide(t)))
			continue;
		if (v.word[i] >= PLACES_X87 ||
		    (integer ? now.n_integer >= PLACES_INTEGERS : now.n_sse >= PLACES_SSES)) {
			memset(place, 0, sizeof(*place));
			places_on_stack(next, place, t);
			return;
		}
		place->reg[place->n++] =
			integer ? places_args[now.n_integer++] : (uint8_t)(KTR__PLACE_XMM0 + now.n_sse++);
	}
	place->kind = KTR__PLACE_REGISTER;
	*next = now;
}

static void places_result(const struct ktr__types *types, uint32_t type, struct ktr__types_place *place)
{
	static const uint8_t integer[] = { 0, 1 }; /* rax rdx */
	const struct ktr__types_type *t = ktr__types_bare(types, type);
	struct places_value v = { .types = types };
	unsigned n_integer = 0, n_sse = 0;

	if (t->kind == KTR__TYPES_UNKNOWN || ((t->flags & KTR__TYPES_DECLARED) && t->kind != KTR__TYPES_ENUM)) {
		place->kind = KTR__PLACE_UNKNOWN;
		return;
	}
	places_classify(&v, type);
	if (places_is_wide(t))
		v.word[0] = PLACES_SSE, v.word[1] = PLACES_SSE_UP;
	if (t->kind == KTR__TYPES_BASE && t->encoding == KTR__TYPES_COMPLEX && t->size == 32) {
		place->kind = KTR__PLACE_X87;
		place->n = 2;
		return;
	}
	if (v.indirect || v.word[0] == PLACES_MEMORY) {
		place->kind = KTR__PLACE_INDIRECT;
		place->n = 1;
		return;
	}
	if (v.word[0] == PLACES_X87) {
		place->kind = KTR__PLACE_X87;
		place->n = 1;
		return;
	}
	for (unsigned i = 0; i < PLACES_WORDS; i++)
		if (v.word[i] == PLACES_INTEGER)
			place->reg[place->n++] = integer[n_integer++];
		else if (v.word[i] == PLACES_SSE)
			place->reg[place->n++] = (uint8_t)(KTR__PLACE_XMM0 + n_sse++);
	place->kind = place->n ? KTR__PLACE_REGISTER : KTR__PLACE_NONE;
}

/* ---- what the debugging information says ---- */

/*
 * A compiler may leave out arguments of a function that no other file calls, and then the others are elsewhere.
 * Where one is said to be in another register, or the symbol's name says that the function was changed, only what
 * is said counts. So it is with Rust, whose own rules are not fixed.
 */
static void places_said(const struct ktr__types *types, const struct ktr__types_function *f,
			struct ktr__types_place *arg)
{
	const struct ktr__types_member *m = &types->member[f->first];
	int changed = (f->flags & KTR__TYPES_CLONE) != 0 || f->language >= KTR__TYPES_RUST;

	for (uint32_t i = 0; i < f->n_args; i++)
		if (m[i].value != KTR__TYPES_AT_UNSAID && m[i].value != KTR__TYPES_AT_NOWHERE &&
		    (arg[i].kind != KTR__PLACE_REGISTER || arg[i].n != 1 ||
		     arg[i].reg[0] != m[i].value - KTR__TYPES_AT_REGISTER) &&
		    (arg[i].kind != KTR__PLACE_INDIRECT))
			changed = 1;
	for (uint32_t i = 0; changed && i < f->n_args; i++) {
		memset(&arg[i], 0, sizeof(arg[i]));
		arg[i].kind = m[i].value == KTR__TYPES_AT_NOWHERE ? KTR__PLACE_NONE : KTR__PLACE_UNKNOWN;
		if (m[i].value == KTR__TYPES_AT_NOWHERE || m[i].value == KTR__TYPES_AT_UNSAID)
			continue;
		arg[i].kind = KTR__PLACE_REGISTER;
		arg[i].n = 1;
		arg[i].reg[0] = (uint8_t)(m[i].value - KTR__TYPES_AT_REGISTER);
	}
}

void ktr__places(const struct ktr__types *types, const struct ktr__types_function *function,
		 struct ktr__types_place *result, struct ktr__types_place *arg)
{
	struct places_next next = { 0 };

	memset(result, 0, sizeof(*result));
	if (function->n_args)
		memset(arg, 0, function->n_args * sizeof(*arg));
	if (types->head->machine != EM_X86_64 || (function->flags & KTR__TYPES_UNTYPED)) {
		result->kind = KTR__PLACE_UNKNOWN;
		for (uint32_t i = 0; i < function->n_args; i++)
			arg[i].kind = KTR__PLACE_UNKNOWN;
		return;
	}
	places_result(types, function->result, result);
	if (result->kind == KTR__PLACE_INDIRECT)
		next.n_integer = 1;
	for (uint32_t i = 0; i < function->n_args; i++)
		places_arg(types, &next, types->member[function->first + i].type, &arg[i]);
	places_said(types, function, arg);
	if (function->language >= KTR__TYPES_RUST && (result->n != 1 || result->kind != KTR__PLACE_REGISTER) &&
	    types->type[function->result].size) {
		memset(result, 0, sizeof(*result));
		result->kind = KTR__PLACE_UNKNOWN;
	}
}

/* ---- texts ---- */

const char *ktr__place_register(unsigned reg)
{
	static const char *const names[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
					     "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "?" };
	static const char *const xmm[] = { "xmm0", "xmm1", "xmm2",  "xmm3",  "xmm4",  "xmm5",  "xmm6",	"xmm7",
					   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15" };

	if (reg >= KTR__PLACE_XMM0 && reg < KTR__PLACE_XMM0 + sizeof(xmm) / sizeof(xmm[0]))
		return xmm[reg - KTR__PLACE_XMM0];
	return names[reg < KTR__PLACE_XMM0 ? reg : KTR__PLACE_XMM0 - 1];
}

const char *ktr__place_text(const struct ktr__types_place *place, char text[KTR__PLACE_TEXT])
{
	const char *first = place->n ? ktr__place_register(place->reg[0]) : NULL;

	switch (place->kind) {
	case KTR__PLACE_NONE:
		return "";
	case KTR__PLACE_REGISTER:
		snprintf(text, KTR__PLACE_TEXT, "%s%s%s", first, place->n > 1 ? ":" : "",
			 place->n > 1 ? ktr__place_register(place->reg[1]) : "");
		return text;
	case KTR__PLACE_X87:
		return place->n > 1 ? "st0:st1" : "st0";
	case KTR__PLACE_MEMORY:
		snprintf(text, KTR__PLACE_TEXT, "[rsp+%u]", (unsigned)place->offset);
		return text;
	case KTR__PLACE_INDIRECT:
		if (place->n)
			snprintf(text, KTR__PLACE_TEXT, "*%s", first);
		else
			snprintf(text, KTR__PLACE_TEXT, "*[rsp+%u]", (unsigned)place->offset);
		return text;
	default:
		return "?";
	}
}

static const char *places_class_of(unsigned reg)
{
	return reg < KTR__PLACE_XMM0 ? "INTEGER" : "SSE";
}

const char *ktr__place_class(const struct ktr__types_place *place, char text[KTR__PLACE_TEXT])
{
	static const char *const names[] = { "NONE", "", "X87", "MEMORY", "INDIRECT", "UNKNOWN" };

	if (place->kind != KTR__PLACE_REGISTER)
		return names[place->kind];
	snprintf(text, KTR__PLACE_TEXT, "%s%s%s", places_class_of(place->reg[0]), place->n > 1 ? ":" : "",
		 place->n > 1 ? places_class_of(place->reg[1]) : "");
	return text;
}
