/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packed events back to what they were; ktr/trace_file.h describes the bytes, codec_pack.c writes them.
 *
 * Most events carry numbers only. Their program holds, for each of six arguments, its offset among
 * the packed numbers; unused arguments have the offset of the end. Unpacking is six 8-byte loads,
 * masked by type: no branch depends on the site. Strings and stacks take a path of their own, one
 * argument at a time.
 *
 * Numbers are loaded by memcpy in the machine's order: sessions and traces are little-endian, and
 * so are the machines this builds for.
 *
 * Invariant: a load lies within [walk->at, walk->end) or in a local copy of it.
 */
#include "writer/format/codec.h"

#include "writer/format/load.h"
#include "writer/format/nul.h"
#include "writer/format/packet.h"

#include <errno.h>
#include <string.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "sessions and traces are little-endian");

/* [bytes] Longest header, word and numbers, and what the last 8-byte load may read beyond. */
#define CODEC_FAST_BYTES 80
#define CODEC_PASS_BYTES 96 /* [bytes] a header, all numbers, and 16 bytes of a string */

/* How a packed number becomes a word: (bits & mask ^ sign) - sign. */
struct codec_type {
	uint64_t mask;
	uint64_t sign;
	uint8_t width;
};

#define CODEC_U(w)                                                                                 \
	{                                                                                          \
		(w) == 8 ? UINT64_MAX : (1ull << (8 * ((w)&7))) - 1, 0, w                          \
	}
#define CODEC_I(w)                                                                                 \
	{                                                                                          \
		(w) == 8 ? UINT64_MAX : (1ull << (8 * ((w)&7))) - 1, 1ull << (8 * (w)-1), w        \
	}

static const struct codec_type codec_types[KTR_ARG_TYPES] = {
	[KTR_ARG_NONE] = { 0, 0, 0 },  [KTR_ARG_I8] = CODEC_I(1),  [KTR_ARG_U8] = CODEC_U(1),
	[KTR_ARG_I16] = CODEC_I(2),    [KTR_ARG_U16] = CODEC_U(2), [KTR_ARG_I32] = CODEC_I(4),
	[KTR_ARG_U32] = CODEC_U(4),    [KTR_ARG_I64] = CODEC_I(8), [KTR_ARG_U64] = CODEC_U(8),
	[KTR_ARG_F64] = CODEC_U(8),    [KTR_ARG_PTR] = CODEC_U(8), [KTR_ARG_STR] = { 0, 0, 0 },
	[KTR_ARG_STACK] = { 0, 0, 0 },
};

#define CODEC_WIDTH(name, text, width) +(width)
_Static_assert(0 KTR_ARG_LIST(CODEC_WIDTH) == 46, "the table above has the widths of KTR_ARG_LIST");
#undef CODEC_WIDTH

void ktr__walk_begin(struct ktr__walk *walk, const uint8_t *packet,
		     const struct ktr_packet_header *head, const struct ktr__program *programs,
		     uint32_t n_programs)
{
	walk->at = packet + ktr__packet_events(head->flags);
	walk->end = packet + head->content_bits / 8;
	walk->time_ns = head->time_begin;
	walk->programs = programs;
	walk->n_programs = n_programs;
	walk->n_left = head->n_events;
}

/* One string or stack at `at`. Returns its end or NULL. */
static inline const uint8_t *codec_get_payload(const uint8_t *at, const uint8_t *end, unsigned type,
					struct ktr_event_bytes *out)
{
	const uint8_t *nul;
	size_t n;

	if (likely(type == KTR_ARG_STR)) {
		nul = ktr__nul(at, end);
		if (!nul)
			return NULL;
		*out = (struct ktr_event_bytes){ .bytes = (const char *)at, .n_bytes = (uint32_t)(nul - at) };
		return nul + 1;
	}
	if (end - at < 2)
		return NULL;
	n = ktr__load16(at) * (size_t)8;
	if ((size_t)(end - at - 2) < n)
		return NULL;
	*out = (struct ktr_event_bytes){ .bytes = (const char *)at + 2, .n_bytes = (uint32_t)n };
	return at + 2 + n;
}

/* The two bytes of an odd event. Returns the end or NULL. */
static const uint8_t *codec_get_odd(const uint8_t *at, const uint8_t *end,
				    const struct ktr__program *program, struct ktr_event *event)
{
	if (end - at < 2 || ((at[0] | at[1]) & ~program->payload) || !(at[0] | at[1]))
		return NULL;
	for (unsigned i = 0; i < program->n_args; i++) {
		event->str[i].cut = at[0] >> i & 1;
		event->str[i].is_null = at[1] >> i & 1;
		if (event->str[i].is_null)
			event->arg[i] = event->str[i].n_bytes = 0;
	}
	return at + 2;
}

/* The arguments of an event with strings or stacks. Returns their end or NULL. */
static __attribute__((noinline)) const uint8_t *codec_get_args(const uint8_t *at,
							       const uint8_t *end,
							       const struct ktr__program *program,
							       unsigned odd,
							       struct ktr_event *event)
{
	unsigned n_args = program->n_args, payload = program->payload;

	memset(event->arg, 0, sizeof(event->arg));
	for (unsigned i = 0; i < n_args; i++) {
		const struct codec_type *type = &codec_types[program->type[i]];
		uint64_t word = 0;

		if (payload >> i & 1) {
			at = codec_get_payload(at, end, program->type[i], &event->str[i]);
			if (!at)
				return NULL;
			event->arg[i] = event->str[i].n_bytes;
			continue;
		}
		/* One load and a mask: a copy of so many bytes is stores of each, which the load waits for. */
		if (likely(end - at >= 8))
			word = ktr__load64(at) & type->mask;
		else if (end - at < type->width)
			return NULL;
		else
			memcpy(&word, at, type->width);
		event->arg[i] = (word ^ type->sign) - type->sign;
		at += type->width;
	}
	return odd ? codec_get_odd(at, end, program, event) : at;
}

/* The six words of an unknown site. p has CODEC_FAST_BYTES. */
static void codec_get_unknown(const uint8_t *p, struct ktr_event *event, struct ktr__found *found)
{
	found->unknown = ktr__load32(p);
	memcpy(event->arg, p + 4, sizeof(event->arg));
}

#define CODEC_UNKNOWN_BYTES (4 + 8 * KTR_ARGS_MAX)

/* A time of which 32 bits are at p: the next after another one. */
static inline uint64_t codec_get_time(const uint8_t *p, uint64_t last)
{
	uint64_t time = (last & ~0xffffffffull) | ktr__load32(p);

	return time + ((uint64_t)(time < last) << 32);
}

/* An event's header at p: its length, and the id and time it tells. */
static inline unsigned codec_get_header(const uint8_t *p, uint64_t last, uint32_t *id, uint64_t *ns)
{
	*id = ktr__load16(p);
	if (unlikely(*id == KTR_EVENT_ID_EXTENDED)) {
		*id = ktr__load32(p + 2);
		*ns = ktr__load64(p + 6);
		return 14;
	}
	*ns = codec_get_time(p + 2, last);
	return 6;
}

/* Where a string or stack at `at` ends; NULL: not within the packet. */
static inline const uint8_t *codec_skip_payload(const uint8_t *at, const uint8_t *end, unsigned type)
{
	size_t n;

	if (likely(type == KTR_ARG_STR)) {
		at = ktr__nul(at, end);
		return at ? at + 1 : NULL;
	}
	n = end - at < 2 ? SIZE_MAX : 2 + ktr__load16(at) * (size_t)8;
	return (size_t)(end - at) < n ? NULL : at + n;
}

/*
 * Where an event with strings or stacks ends, its arguments beginning at `at`; NULL: not within the packet.
 * Offsets among the numbers tell how many bytes of them lie between two strings.
 */
static const uint8_t *codec_skip_args(const uint8_t *at, const uint8_t *end, const struct ktr__program *program)
{
	unsigned before = 0;
	size_t n;

	for (unsigned left = program->payload; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		n = program->off[i] - before;
		before = program->off[i];
		if ((size_t)(end - at) < n)
			return NULL;
		at = codec_skip_payload(at + n, end, program->type[i]);
		if (!at)
			return NULL;
	}
	n = program->fixed - before;
	return (size_t)(end - at) < n ? NULL : at + n;
}

/*
 * The same of a walk that passes over events, of which CODEC_PASS_BYTES are there: most have numbers alone, or one
 * string, a short one.
 */
static inline const uint8_t *codec_pass_args(const uint8_t *at, const uint8_t *end,
					     const struct ktr__program *program)
{
	if (likely(program->text != KTR__PROGRAM_TEXT)) {
		const uint8_t *nul = ktr__nul(at + program->text, end);
		unsigned after = program->fixed - program->text;

		return !nul || end - nul <= (ptrdiff_t)after ? NULL : nul + 1 + after;
	}
	return program->payload ? codec_skip_args(at, end, program) : at + program->fixed;
}

/*
 * codec_get_args() where only numbers are wanted: they lie as far behind their offsets as the strings and stacks
 * before them are long.
 */
static const uint8_t *codec_get_some(const uint8_t *begin, const uint8_t *end,
					    const struct ktr__program *program, unsigned wanted,
					    struct ktr_event *event)
{
	unsigned payload = program->payload, before = 0;
	const uint8_t *at = begin;

	for (;;) {
		unsigned next = payload ? (unsigned)__builtin_ctz(payload) : KTR_ARGS_MAX;

		for (; wanted & ((1u << next) - 1); wanted &= wanted - 1) {
			unsigned i = (unsigned)__builtin_ctz(wanted);
			const struct codec_type *type = &codec_types[program->type[i]];
			const uint8_t *from = at + (program->off[i] - before);

			if (unlikely(end - at < 8 * KTR_ARGS_MAX))
				return codec_get_args(begin, end, program, 0, event);
			event->arg[i] = ((ktr__load64(from) & type->mask) ^ type->sign) - type->sign;
		}
		if (!payload)
			break;
		if ((size_t)(end - at) < (size_t)(program->off[next] - before))
			return NULL;
		at += program->off[next] - before;
		before = program->off[next];
		at = codec_skip_payload(at, end, program->type[next]);
		if (!at)
			return NULL;
		payload &= payload - 1;
	}
	return (size_t)(end - at) < (size_t)(program->fixed - before) ? NULL : at + (program->fixed - before);
}

/* Fills in the wanted numbers, and tells where the event ends. Mostly no string is before them. */
static inline const uint8_t *codec_sieve_args(const uint8_t *at, const uint8_t *end,
					      const struct ktr__program *program, unsigned wanted,
					      struct ktr_event *event)
{
	unsigned payload = program->payload;

	if (unlikely(wanted >= (payload & -payload) && payload) || unlikely(end - at < 8 * KTR_ARGS_MAX))
		return codec_get_some(at, end, program, wanted, event);
	for (; wanted; wanted &= wanted - 1) {
		unsigned i = (unsigned)__builtin_ctz(wanted);
		const struct codec_type *type = &codec_types[program->type[i]];

		event->arg[i] = ((ktr__load64(at + program->off[i]) & type->mask) ^ type->sign) - type->sign;
	}
	return codec_pass_args(at, end, program);
}

/* What is not numbers alone. The end, or NULL: the bytes make no sense. */
static const uint8_t *codec_get_rest(const struct ktr__walk *walk, const uint8_t *p, unsigned used,
				     uint32_t id, struct ktr_event *event, struct ktr__found *found)
{
	const uint8_t *at = walk->at + used;

	if (walk->end < at)
		return NULL;
	if (id >> 1 && !(id & 1)) {
		const struct ktr__program *program = &walk->programs[id >> 1];

		int roomy = walk->end - at >= CODEC_PASS_BYTES;

		if (program->ready == KTR__PROGRAM_SKIP_ARGS && roomy)
			return codec_pass_args(at, walk->end, program);
		if (program->ready == KTR__PROGRAM_SKIP_ARGS)
			return codec_skip_args(at, walk->end, program);
		if (program->ready == KTR__PROGRAM_SOME_ARGS && roomy)
			return codec_sieve_args(at, walk->end, program, program->wanted, event);
		if (program->ready == KTR__PROGRAM_SOME_ARGS)
			return codec_get_some(at, walk->end, program, program->wanted, event);
	}
	if (id >> 1)
		return codec_get_args(at, walk->end, &walk->programs[id >> 1], id & 1, event);
	if ((id & 1) || walk->end - at < CODEC_UNKNOWN_BYTES)
		return NULL;
	codec_get_unknown(p + used, event, found);
	return at + CODEC_UNKNOWN_BYTES;
}

int ktr__walk_next(struct ktr__walk *walk, struct ktr_event *event, struct ktr__found *found)
{
	const struct ktr__program *program;
	const uint8_t *p = walk->at, *end;
	uint8_t tail[CODEC_FAST_BYTES];
	size_t left = (size_t)(walk->end - p);
	uint32_t id, word;
	uint64_t ns;
	unsigned used;

	if (!walk->n_left)
		return left ? -EBADMSG : 0;
	if (unlikely(left < CODEC_FAST_BYTES)) {
		memset(tail, 0, sizeof(tail));
		memcpy(tail, p, left);
		p = tail;
	}
	used = codec_get_header(p, walk->time_ns, &id, &ns);
	word = ktr__load32(p + used);
	used += 4;
	if (unlikely(left < used || ns < walk->time_ns))
		return -EBADMSG;
	found->site = id >> 1;
	found->word = word & ~KTR_WORD_APPROX;
	event->time_ns = ns;
	event->approx = (word & KTR_WORD_APPROX) != 0;
	if (unlikely(found->site >= walk->n_programs))
		return id >> 1 ? -ENOENT : -EBADMSG;
	program = &walk->programs[found->site];
	if (program->payload || program->ready != KTR__PROGRAM_READY) {
		if (found->site && !program->ready)
			return -ENOENT;
		end = codec_get_rest(walk, p, used, id, event, found);
		if (!end)
			return -EBADMSG;
	} else {
		for (unsigned k = 0; k < KTR_ARGS_MAX; k++) {
			const struct codec_type *type = &codec_types[program->type[k]];
			uint64_t bits = ktr__load64(p + used + program->off[k]) & type->mask;

			event->arg[k] = (bits ^ type->sign) - type->sign;
		}
		used += program->fixed;
		if (unlikely(left < used || (id & 1)))
			return -EBADMSG;
		end = walk->at + used;
	}
	walk->at = end;
	walk->time_ns = ns;
	walk->n_left--;
	return 1;
}

/*
 * The next event, if it is one to be passed over: its header, and where its arguments begin; NULL: ktr__walk_next()
 * is to see it.
 */
static inline const uint8_t *codec_pass_head(const struct ktr__walk *walk, const uint8_t *at, uint64_t time_ns,
					     uint64_t until_ns, uint32_t *site, uint64_t *ns)
{
	uint32_t id;
	unsigned used;

	if ((size_t)(walk->end - at) < CODEC_PASS_BYTES)
		return NULL;
	used = codec_get_header(at, time_ns, &id, ns) + 4;
	*site = id >> 1;
	if (id & 1 || *site >= walk->n_programs || *ns < time_ns || *ns > until_ns || !walk->programs[*site].ready)
		return NULL;
	return at + used;
}

static inline uint32_t codec_sieve(struct ktr__walk *walk, struct ktr__sieve *sieve, uint64_t until_ns,
				   int by_thread)
{
	const struct ktr__walk from = *walk; /* of which the compiler knows that nothing changes it */
	const uint8_t *at = from.at, *args, *end;
	uint64_t time_ns = from.time_ns, ns;
	uint32_t n = 0, n_counted = 0, word = 0, site;
	int asked;

	sieve->wanted = 0;
	for (; n < from.n_left; n++) {
		const struct ktr__program *program;
		unsigned what;

		args = codec_pass_head(&from, at, time_ns, until_ns, &site, &ns);
		what = args ? sieve->site[site] : 0;
		if (!what || (by_thread && n && word != (ktr__load32(args - 4) & ~KTR_WORD_APPROX)))
			break;
		word = ktr__load32(args - 4) & ~KTR_WORD_APPROX;
		program = &from.programs[site];
		if (what & KTR__SIEVE_ASK) {
			sieve->event->time_ns = ns;
			end = codec_sieve_args(args, from.end, program, what & KTR__SIEVE_ARGS, sieve->event);
			asked = end ? sieve->asks(sieve->context, site) : -1;
			if (asked < 0)
				break;
			if (asked && !sieve->counts) {
				sieve->wanted = 1;
				break;
			}
			n_counted += (uint32_t)asked;
		} else {
			end = codec_pass_args(args, from.end, program);
		}
		if (!end)
			break;
		at = end;
		time_ns = ns;
	}
	walk->at = at;
	walk->time_ns = time_ns;
	walk->n_left -= n;
	sieve->n_counted = n_counted;
	sieve->word = word;
	return n;
}

uint32_t ktr__walk_sieve(struct ktr__walk *walk, struct ktr__sieve *sieve, uint64_t until_ns)
{
	return sieve->by_thread ? codec_sieve(walk, sieve, until_ns, 1) : codec_sieve(walk, sieve, until_ns, 0);
}

void ktr__walk_count(struct ktr__walk *walk, const uint8_t *skip, uint64_t until_ns, uint64_t *count,
		     struct ktr__counted *counted)
{
	const struct ktr__walk from = *walk;
	const uint8_t *at = from.at, *args;
	uint64_t time_ns = from.time_ns, ns;
	uint32_t n = 0, same, site;

	for (; n < from.n_left; n += same) {
		const struct ktr__program *program;
		uint32_t word, head;

		args = codec_pass_head(&from, at, time_ns, until_ns, &site, &ns);
		if (!args || !skip[site])
			break;
		word = ktr__load32(args - 4) & ~KTR_WORD_APPROX;
		if (!n) {
			counted->word = word;
			counted->first_ns = ns;
		} else if (word != counted->word) {
			break;
		}
		program = &from.programs[site];
		args = codec_pass_args(args, from.end, program);
		if (!args)
			break;
		head = ktr__load16(at);
		at = args;
		time_ns = ns;
		/* Those of one site come in runs. */
		for (same = 1; head != KTR_EVENT_ID_EXTENDED && n + same < from.n_left; same++) {
			if (from.end - at < CODEC_PASS_BYTES || ktr__load16(at) != head)
				break;
			ns = codec_get_time(at + 2, time_ns);
			if (ns < time_ns || ns > until_ns || (ktr__load32(at + 6) & ~KTR_WORD_APPROX) != word)
				break;
			args = codec_pass_args(at + 10, from.end, program);
			if (!args)
				break;
			at = args;
			time_ns = ns;
		}
		count[site] += same;
	}
	walk->at = at;
	walk->time_ns = time_ns;
	walk->n_left -= n;
	counted->n = n;
	counted->last_ns = time_ns;
}
