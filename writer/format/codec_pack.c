/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ring entries to packed events; ktr/trace_file.h describes the bytes, codec.c reads them.
 *
 * Most events carry numbers only. Their program holds, for each of six arguments, its offset among
 * the packed numbers; unused arguments have the offset of the end. Packing is then six 8-byte
 * stores in order, each covering what the one before it spilled: no branch depends on the site. Strings and
 * stacks are put by codec_payload.c.
 *
 * The usual event is of a known site with a small number and of the thread of the one before, which is in the same
 * packet; it is later than the moment the clock's map begins with, and less than 4 seconds later than that one.
 * codec_pack_usual() takes as many of those as there are, any other goes through codec_pack_unusual(). Nothing is
 * counted or moved on before it is known that an event ends within the limit: one that does not has only spilled
 * bytes where nothing is.
 *
 * Numbers are stored by memcpy in the machine's order: sessions and traces are little-endian, and
 * so are the machines this builds for.
 *
 * Invariant: a store begins before pack->limit + KTR_PACK_SLACK - 64.
 */
#include "writer/format/codec.h"

#include <stddef.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "sessions and traces are little-endian");
_Static_assert(KTR_PACK_EVENT_MAX + 64 <= KTR_PACK_SLACK, "an event that does not fit lies in the buffer");

/* What a site is that is described and has numbers alone: its ready and payload. */
#define CODEC_PACK_NUMBERS KTR__PROGRAM_READY

_Static_assert(offsetof(struct ktr__program, payload) == offsetof(struct ktr__program, ready) + 1,
	       "both are looked at at once");

#define CODEC_PACK_HEADER 10 /* [bytes] of a usual event: id, time, thread */

static inline void codec_pack_64(uint8_t *p, uint64_t x)
{
	memcpy(p, &x, sizeof(x));
}

static inline void codec_pack_32(uint8_t *p, uint32_t x)
{
	memcpy(p, &x, sizeof(x));
}

static inline void codec_pack_16(uint8_t *p, uint16_t x)
{
	memcpy(p, &x, sizeof(x));
}

static inline uint16_t codec_pack_shape(const struct ktr__program *program)
{
	uint16_t x;

	memcpy(&x, &program->ready, sizeof(x));
	return x;
}

/*
 * ktr_trace_ns() without a shift of 128 bits: the same map with mult and shift scaled up, so that the
 * product's upper half is the answer when the ticks are shifted first. last is the latest moment for
 * which that fits into 64 bits, or the given limit; n_usual ticks from first on need no look at either.
 */
struct codec_pack_clock {
	uint64_t first; /* [ticks] */
	uint64_t last;
	uint64_t n_usual;
	uint64_t base_ns;
	uint64_t mult;
	unsigned up;
};

static struct codec_pack_clock codec_pack_clock(const struct ktr_trace_clock *clock, uint64_t limit_ticks)
{
	struct codec_pack_clock c = { clock->base_ticks, limit_ticks, 0, clock->base_ns, clock->mult, 0 };
	unsigned more = clock->mult ? (unsigned)__builtin_clzll(clock->mult) : 0;
	uint64_t most;

	if (more > 63 - clock->shift)
		more = 63 - clock->shift;
	c.mult <<= more;
	c.up = 64 - clock->shift - more;
	most = c.up < 64 ? UINT64_MAX >> c.up : 0;
	if (c.last > KTR_TIME_TICKS)
		c.last = KTR_TIME_TICKS;
	if (c.last > c.first && c.last - c.first > most)
		c.last = c.first + most;
	if (c.last >= c.first)
		c.n_usual = c.last - c.first + 1;
	return c;
}

static inline uint64_t codec_pack_ns(const struct codec_pack_clock *c, uint64_t delta, unsigned up)
{
	return c->base_ns + (uint64_t)((unsigned __int128)(delta << up) * c->mult >> 64);
}

/*
 * May the event be packed now? Sets pack->why when not. A site or thread that is not known yet is
 * asked for before it is given up; a CPU is that of the packet's first event.
 */
static int codec_pack_may(struct ktr__pack *pack, const struct ktr_entry *entry, int unknown)
{
	if ((entry->thread ^ pack->cpu_bits) & pack->cpu_mask) {
		pack->why = KTR_PACK_CPU;
		if (pack->n_events)
			return 0;
		pack->cpu_bits = entry->thread & pack->cpu_mask;
		pack->why = KTR_PACK_DONE;
	}
	if (unknown && !pack->take_unknown) {
		pack->why = KTR_PACK_UNKNOWN;
		return 0;
	}
	pack->take_unknown = 0;
	return 1;
}

/* An event's header; id_at is where its id can be made odd. */
static uint8_t *codec_pack_header(uint8_t *at, uint32_t site, uint64_t ns, uint64_t last, uint32_t word,
				  uint8_t **id_at)
{
	*id_at = at;
	if (site > KTR_EVENT_SITE_COMPACT || (ns - last) >> 32) {
		codec_pack_16(at, KTR_EVENT_ID_EXTENDED);
		codec_pack_32(at + 2, 2 * site);
		codec_pack_64(at + 6, ns);
		*id_at = at + 2;
		at += 14;
	} else {
		codec_pack_16(at, (uint16_t)(2 * site));
		codec_pack_32(at + 2, (uint32_t)ns);
		at += 6;
	}
	codec_pack_32(at, word);
	return at + 4;
}

/* The arguments of an event that has nothing but numbers. Where n_args is 2 at most the others are nothing. */
static inline void codec_pack_numbers(const struct ktr__program *program, const struct ktr_entry *entry,
				      uint8_t *at)
{
	codec_pack_64(at, entry->arg[0]);
	codec_pack_64(at + program->off[1], entry->arg[1]);
	if (program->n_args > 2) {
		codec_pack_64(at + program->off[2], entry->arg[2]);
		codec_pack_64(at + program->off[3], entry->arg[3]);
		codec_pack_64(at + program->off[4], entry->arg[4]);
		codec_pack_64(at + program->off[5], entry->arg[5]);
	}
}

/*
 * The arguments of an event whose only string lies whole, without a NUL, in the words that it has no arguments for.
 * Returns their end; NULL: it is another one. What ktr__put_odd() does for any, without looking at each argument.
 * Not inline: it has registers of its own then, where the loop that calls it has none left.
 */
static __attribute__((noinline)) uint8_t *codec_pack_text(const struct ktr__program *program,
							  const struct ktr_entry *entry, uint8_t *at)
{
	const unsigned which = (unsigned)__builtin_ctz(program->payload), n_args = program->n_args;
	const uint64_t *from = &entry->arg[n_args], length = entry->arg[which];
	uint64_t zeros = 0, left = length;
	uint8_t *to = at + program->text;

	if (length > 8u * (KTR_ARGS_MAX - n_args))
		return NULL;
	for (unsigned i = 0; i < which; i++)
		codec_pack_64(at + program->off[i], entry->arg[i]);
	for (; left >= 8; left -= 8, to += 8) {
		codec_pack_64(to, *from);
		zeros |= ktr__zero_bytes(*from++);
	}
	if (left) {
		codec_pack_64(to, *from);
		zeros |= ktr__zero_bytes(*from | UINT64_MAX << 8 * left);
		to += left;
	}
	*to++ = 0;
	to -= program->text;
	for (unsigned i = which + 1; i < n_args; i++)
		codec_pack_64(to + program->off[i], entry->arg[i]);
	return zeros ? NULL : to + program->fixed;
}

/* Where a run of events goes: moved on. */
struct codec_pack_at {
	uint8_t *at;
	const uint8_t *limit;
	uint64_t time_ns; /* of the event before */
};

#ifdef __SSE2__
/* Bit i: byte i of the 16 is a NUL. */
static inline uint64_t codec_pack_nuls(__m128i bytes)
{
	return (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()));
}

/*
 * As many events as there are of the site and thread of the first, usual ones of one or two arguments with a string
 * as codec_pack_text() takes it. Returns the first that is not, or does not fit.
 *
 * Where what each of the six words is does not change no branch depends on it: all that may be the string's are
 * stored, and what comes behind it over those that are not. The first two numbers are stored as if both were there.
 */
static __attribute__((noinline)) const struct ktr_entry *
codec_pack_texts(const struct codec_pack_clock *clock, const struct ktr__program *program,
		 const struct ktr_entry *e, const struct ktr_entry *stop, ptrdiff_t ahead, uint32_t word,
		 struct codec_pack_at *packed)
{
	const struct codec_pack_clock c = *clock;
	const uint32_t site = e->site, thread = e->thread;
	const unsigned n_args = program->n_args, which = program->payload >> 1, numbers = 8 * n_args;
	const unsigned most = 8 * KTR_ARGS_MAX - numbers, text = program->text;
	const unsigned behind = 1 + program->off[1], fixed = 1 + program->fixed;
	const uint64_t head = (uint64_t)word << 48 | 2 * site;
	const uint8_t *const limit = packed->limit;
	uint8_t *at = packed->at;
	uint64_t last = packed->time_ns;

	if (n_args > 2 || program->text == KTR__PROGRAM_TEXT || program->literal)
		return e;
	for (; e < stop && e->site == site && e->thread == thread; e++) {
		const uint64_t delta = e->timestamp - c.first, length = e->arg[which];
		const __m128i *words = (const __m128i *)(const void *)e->arg;
		const __m128i *from = (const __m128i *)(const void *)&e->arg[n_args];
		uint64_t nuls, ns;
		uint8_t *to;

		__builtin_prefetch((const char *)e + ahead);
		if (unlikely(delta >= c.n_usual) || unlikely(length > most))
			break;
		nuls = codec_pack_nuls(_mm_loadu_si128(words));
		nuls |= codec_pack_nuls(_mm_loadu_si128(words + 1)) << 16;
		nuls |= codec_pack_nuls(_mm_loadu_si128(words + 2)) << 32;
		ns = codec_pack_ns(&c, delta, c.up);
		ns = ns > last ? ns : last;
		if (unlikely(nuls >> numbers & ~(UINT64_MAX << length)) || unlikely((ns - last) >> 32) ||
		    unlikely(at + CODEC_PACK_HEADER + length + fixed > limit))
			break;
		codec_pack_64(at, head | (uint64_t)(uint32_t)ns << 16);
		codec_pack_16(at + 8, (uint16_t)(word >> 16));
		at += CODEC_PACK_HEADER;
		codec_pack_64(at, e->arg[0]);
		to = at + text;
		_mm_storeu_si128((__m128i *)(void *)to, _mm_loadu_si128(from));
		_mm_storeu_si128((__m128i *)(void *)(to + 16), _mm_loadu_si128(from + 1));
		codec_pack_64(to + most - 8, e->arg[KTR_ARGS_MAX - 1]);
		to[length] = 0;
		codec_pack_64(at + length + behind, e->arg[1]);
		at += length + fixed;
		last = ns;
	}
	packed->at = at;
	packed->time_ns = last;
	return e;
}
#else
static const struct ktr_entry *codec_pack_texts(const struct codec_pack_clock *clock,
						const struct ktr__program *program, const struct ktr_entry *e,
						const struct ktr_entry *stop, ptrdiff_t ahead, uint32_t word,
						struct codec_pack_at *packed)
{
	(void)clock, (void)program, (void)stop, (void)ahead, (void)word, (void)packed;
	return e;
}
#endif

/* Any event, which left slots follow. 1, or 0 when it is not packed: pack->why. */
static __attribute__((noinline)) int codec_pack_unusual(struct ktr__pack *pack,
							const struct codec_pack_clock *clock,
							const struct ktr_entry *e, uint32_t left)
{
	const struct ktr__program *program = &pack->programs[e->site < pack->n_programs ? e->site : 0];
	uint32_t row = e->thread & KTR_THREAD_INDEX, word = row < pack->n_words ? pack->words[row] : 0;
	uint32_t site = program->ready ? e->site : 0;
	uint64_t ticks = e->timestamp & KTR_TIME_TICKS, ns, last = pack->time_ns;
	uint8_t *at, *id_at;

	if (!codec_pack_may(pack, e, (row && !word) || !program->ready))
		return 0;
	ticks = ticks < clock->last ? ticks : clock->last;
	ns = codec_pack_ns(clock, ticks > clock->first ? ticks - clock->first : 0, clock->up);
	ns = ns > last ? ns : last;
	if (!pack->n_events)
		last = ns;
	word |= (uint32_t)(e->timestamp / KTR_TIME_APPROX) * KTR_WORD_APPROX;
	at = codec_pack_header(pack->at, site, ns, last, word, &id_at);
	if (site && !program->payload) {
		codec_pack_numbers(program, e, at);
		at += program->fixed;
	} else {
		at = ktr__put_odd(site ? program : NULL, site && program->literal ? pack->literals[site] : NULL, e,
				  left, at, id_at);
	}
	if (at > pack->limit) {
		pack->why = KTR_PACK_FULL;
		return 0;
	}
	if (!pack->n_events++)
		pack->first_ns = ns;
	pack->at = at;
	pack->time_ns = ns;
	return 1;
}

/* The word of the thread that an entry is of, if nothing is unusual about that; else 0. */
static uint32_t codec_pack_word(const struct ktr__pack *pack, const struct ktr_entry *e)
{
	uint32_t row = e->thread & KTR_THREAD_INDEX;

	return row < pack->n_words && !((e->thread ^ pack->cpu_bits) & pack->cpu_mask) ? pack->words[row] : 0;
}

/*
 * Packs from e on up to the first event that is not usual, or does not fit (pack->why), and returns it, or stop.
 *
 * What is the same for all is held in locals: stores of bytes into the packet could change anything else for all
 * that the compiler knows. There are few of them, so that they stay in registers. up is the clock's, a constant
 * where the caller knows it. A ring that the producer fills lies in its cache or in none: what lies `ahead` [bytes]
 * is asked for meanwhile, which took a fifth off the writer's time.
 */
static inline __attribute__((always_inline)) const struct ktr_entry *
codec_pack_usual(struct ktr__pack *pack, const struct codec_pack_clock *clock, const struct ktr_entry *e,
		 const struct ktr_entry *stop, ptrdiff_t ahead, unsigned up)
{
	const struct codec_pack_clock c = *clock;
	const struct ktr__program *const programs = pack->programs;
	const uint32_t most = KTR_EVENT_SITE_COMPACT + 1;
	const uint32_t n_programs = pack->n_programs < most ? pack->n_programs : most;
	const struct ktr_entry *begin = e;
	uint32_t thread = e->thread, word = codec_pack_word(pack, e), n_conts = 0;
	uint64_t last = pack->time_ns, word_high = (uint64_t)word << 48;
	uint8_t *at = pack->at, *end;

	if (!word)
		return e;
	for (; e < stop; e++) {
		const uint64_t delta = e->timestamp - c.first; /* with more bits set than that has: too large */
		const struct ktr__program *program;
		const uint32_t site = e->site;
		uint64_t ns;

		__builtin_prefetch((const char *)e + ahead);
		if (unlikely(delta >= c.n_usual)) {
			if (!(e->timestamp & KTR_CONT_MARK))
				break;
			n_conts++;
			continue;
		}
		if (unlikely(e->thread != thread)) {
			thread = e->thread;
			word = codec_pack_word(pack, e);
			word_high = (uint64_t)word << 48;
			if (!word)
				break;
		}
		ns = codec_pack_ns(&c, delta, up);
		ns = ns > last ? ns : last;
		if (unlikely(site >= n_programs || (ns - last) >> 32))
			break;
		program = &programs[site];
		codec_pack_64(at, word_high | (uint64_t)(uint32_t)ns << 16 | 2 * site);
		codec_pack_16(at + 8, (uint16_t)(word >> 16));
		end = at + CODEC_PACK_HEADER;
		if (likely(codec_pack_shape(program) == CODEC_PACK_NUMBERS)) {
			codec_pack_numbers(program, e, end);
			end += program->fixed;
		} else if (!program->ready) {
			break;
		} else {
			struct codec_pack_at packed = { at, pack->limit, last };
			const struct ktr_entry *next = e;

			/* One alone is not worth the way to a loop of its own. */
			if (e + 1 < stop && e[1].site == site)
				next = codec_pack_texts(clock, program, e, stop, ahead, word, &packed);
			if (next != e) {
				e = next - 1;
				at = packed.at;
				last = packed.time_ns;
				continue;
			}
			end = at + CODEC_PACK_HEADER;
			if (program->text == KTR__PROGRAM_TEXT || program->literal ||
			    !(end = codec_pack_text(program, e, end)))
				end = ktr__put_odd(program, program->literal ? pack->literals[site] : NULL, e,
						   (uint32_t)(stop - e - 1), at + CODEC_PACK_HEADER, at);
		}
		if (unlikely(end > pack->limit)) {
			pack->why = KTR_PACK_FULL;
			break;
		}
		last = ns;
		at = end;
	}
	pack->n_events += (uint32_t)(e - begin) - n_conts;
	pack->n_conts += n_conts;
	pack->at = at;
	pack->time_ns = last;
	return e;
}

/* Each with registers of its own. */
static __attribute__((noinline)) const struct ktr_entry *
codec_pack_tsc(struct ktr__pack *pack, const struct codec_pack_clock *clock, const struct ktr_entry *e,
	       const struct ktr_entry *stop, ptrdiff_t ahead)
{
	return codec_pack_usual(pack, clock, e, stop, ahead, 1);
}

static __attribute__((noinline)) const struct ktr_entry *
codec_pack_any_clock(struct ktr__pack *pack, const struct codec_pack_clock *clock, const struct ktr_entry *e,
		     const struct ktr_entry *stop, ptrdiff_t ahead)
{
	return codec_pack_usual(pack, clock, e, stop, ahead, clock->up);
}

uint32_t ktr__pack_run(struct ktr__pack *pack, const struct ktr_entry *entry, uint32_t n)
{
	const struct codec_pack_clock clock = codec_pack_clock(&pack->clock, pack->limit_ticks);
	const struct ktr_entry *e = entry, *const stop = entry + n;
	const ptrdiff_t ahead = pack->ahead ? (const char *)pack->ahead - (const char *)entry : 0;

	pack->why = KTR_PACK_DONE;
	while (e < stop) {
		if (pack->n_events && clock.up == 1)
			e = codec_pack_tsc(pack, &clock, e, stop, ahead);
		else if (pack->n_events)
			e = codec_pack_any_clock(pack, &clock, e, stop, ahead);
		if (e == stop || pack->why != KTR_PACK_DONE)
			break;
		if (e->timestamp & KTR_CONT_MARK)
			pack->n_conts++;
		else if (!codec_pack_unusual(pack, &clock, e, (uint32_t)(stop - e - 1)))
			break;
		e++;
	}
	return (uint32_t)(e - entry);
}
