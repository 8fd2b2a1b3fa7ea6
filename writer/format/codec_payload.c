/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What packing does per call site, and for the events that are not numbers alone: those with strings
 * or stacks, whose arguments are taken one at a time, and those of an unknown site.
 *
 * The words of strings and stacks say how much of the payload is theirs. Both come from a ring that anybody may
 * have written to: what is not there is missing, and the argument counts as cut.
 */
#include "writer/format/codec.h"

#include "ktr/session/payload_take.h"
#include "ktr/session/session_map.h"

#include <errno.h>
#include <string.h>

#define likely(x)   __builtin_expect(!!(x), 1)

int ktr__program_make(struct ktr__program *program, unsigned n_args, const uint8_t *type)
{
	static const uint8_t widths[KTR_ARG_TYPES] = {
#define CODEC_WIDTH(name, text, width) [KTR_ARG_##name] = width,
		KTR_ARG_LIST(CODEC_WIDTH)
#undef CODEC_WIDTH
	};
	struct ktr__program p = { .text = KTR__PROGRAM_TEXT };

	memset(program, 0, sizeof(*program));
	if (n_args > KTR_ARGS_MAX)
		return -EINVAL;
	for (unsigned i = 0; i < KTR_ARGS_MAX; i++) {
		p.off[i] = p.fixed;
		if (i >= n_args)
			continue;
		if (type[i] == KTR_ARG_NONE || type[i] >= KTR_ARG_TYPES)
			return -EINVAL;
		p.type[i] = type[i];
		p.fixed = (uint8_t)(p.fixed + widths[type[i]]);
		if (type[i] == KTR_ARG_STR || type[i] == KTR_ARG_STACK)
			p.payload |= (uint8_t)(1u << i);
	}
	if (p.payload && !(p.payload & (p.payload - 1)) && p.type[__builtin_ctz(p.payload)] == KTR_ARG_STR)
		p.text = p.off[__builtin_ctz(p.payload)];
	p.n_args = (uint8_t)n_args;
	p.ready = KTR__PROGRAM_READY;
	*program = p;
	return 0;
}

/* [bytes] that argument i, a number, takes in a packet. */
static inline unsigned codec_payload_width(const struct ktr__program *program, unsigned i)
{
	unsigned next = i + 1 < KTR_ARGS_MAX ? program->off[i + 1] : program->fixed;

	return next - program->off[i];
}

/* Copies n bytes by words of 8; at and from have room for the last. Not 0: there is a NUL among them. */
static inline uint64_t codec_payload_copy(uint8_t *at, const char *from, uint32_t n)
{
	uint64_t zeros = 0, word;
	uint32_t i;

	for (i = 0; i + 8 <= n; i += 8) {
		memcpy(&word, from + i, sizeof(word));
		memcpy(at + i, &word, sizeof(word));
		zeros |= ktr__zero_bytes(word);
	}
	if (i < n) {
		memcpy(&word, from + i, sizeof(word));
		memcpy(at + i, &word, sizeof(word));
		zeros |= ktr__zero_bytes(word | UINT64_MAX << 8 * (n - i));
	}
	return zeros;
}

/*
 * The arguments of an event whose strings are whole, have no NUL, and lie in the words that it has no arguments
 * for. Returns their end; NULL: it is another one.
 */
static inline uint8_t *codec_payload_short(const struct ktr__program *program, const char *literals,
					   const struct ktr_entry *entry, uint8_t *at)
{
	const char *from = (const char *)&entry->arg[program->n_args], *end = (const char *)(entry + 1);
	uint64_t zeros = 0;
	size_t literal = 0;

	for (unsigned i = 0; i < program->n_args; i++) {
		uint64_t word = entry->arg[i];

		if (!(program->payload >> i & 1)) {
			memcpy(at, &word, sizeof(word));
			at += codec_payload_width(program, i);
		} else if (program->literal >> i & 1) {
			at = (uint8_t *)stpcpy((char *)at, ktr__literal(literals, &literal)) + 1;
		} else {
			if (program->type[i] != KTR_ARG_STR || word > (uint64_t)(end - from))
				return NULL;
			zeros |= codec_payload_copy(at, from, (uint32_t)word);
			from += (word + 7) & ~7ull;
			at += word;
			*at++ = 0;
		}
	}
	return zeros ? NULL : at;
}

/* A string or a stack at `at`. Returns its end; *cut: not all of it is there. */
static uint8_t *codec_payload_put(uint8_t *at, int stack, uint64_t word, struct ktr__payload_at *payload,
				unsigned *cut)
{
	uint32_t want = (uint32_t)(word & KTR_PAYLOAD_LENGTH), n;
	uint8_t *nul;
	uint16_t frames;

	*cut = (word & KTR_PAYLOAD_CUT) != 0;
	if (stack) {
		n = ktr__payload_take(payload, at + sizeof(frames), want);
		frames = (uint16_t)(n / 8);
		memcpy(at, &frames, sizeof(frames));
		*cut |= n < want || n % 8;
		return at + sizeof(frames) + frames * (size_t)8;
	}
	n = ktr__payload_take(payload, at, want);
	nul = memchr(at, 0, n);
	*cut |= nul || n < want;
	if (!nul)
		nul = at + n;
	*nul = 0;
	return nul + 1;
}

uint8_t *ktr__put_odd(const struct ktr__program *program, const char *literals, const struct ktr_entry *entry,
		      uint32_t left, uint8_t *at, uint8_t *id_at)
{
	size_t literal = 0;
	struct ktr__payload_at payload;
	uint32_t n_conts = 0;
	unsigned cuts = 0, nulls = 0, cut;
	uint8_t *end;

	if (!program) {
		/* Site 0: its number and its words as they are. */
		memcpy(at, &entry->site, sizeof(entry->site));
		at += sizeof(entry->site);
		memcpy(at, entry->arg, sizeof(entry->arg));
		return at + sizeof(entry->arg);
	}
	end = codec_payload_short(program, literals, entry, at);
	if (likely(end))
		return end;
	while (n_conts < left && n_conts < KTR_SLOTS_MAX - 1 && (entry[1 + n_conts].timestamp & KTR_CONT_MARK))
		n_conts++;
	payload = ktr__payload_at(entry, program->n_args, n_conts);
	for (unsigned i = 0; i < program->n_args; i++) {
		int stack = program->type[i] == KTR_ARG_STACK;
		uint64_t word = entry->arg[i];

		if (!(program->payload >> i & 1)) {
			memcpy(at, &word, sizeof(word));
			at += codec_payload_width(program, i);
			continue;
		}
		if (program->literal >> i & 1) {
			const char *text = ktr__literal(literals, &literal);

			at = (uint8_t *)stpcpy((char *)at, text) + 1;
			continue;
		}
		if (word & KTR_PAYLOAD_NULL) {
			nulls |= 1u << i;
			word = 0;
			/* What printf prints; the bit tells it from a string of these letters. */
			if (!stack) {
				memcpy(at, "(null)", 7);
				at += 7;
				continue;
			}
		}
		at = codec_payload_put(at, stack, word, &payload, &cut);
		cuts |= cut << i;
	}
	if (cuts | nulls) {
		*id_at |= KTR_EVENT_ODD;
		*at++ = (uint8_t)cuts;
		*at++ = (uint8_t)nulls;
	}
	return at;
}
