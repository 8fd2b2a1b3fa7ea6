/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both sides of an event that proves itself: event_emit() makes it through the CTR macros,
 * event_check() makes the same words again from the two that name it and compares.
 */
#include "tests/stress/event.h"

#include "ktr/session/clock.h"

#include <ktr.h>

#include <string.h>

#define EVENT_TEXT      4096 /* bytes of letters that strings are cut from */
#define EVENT_SHORT_MAX 50   /* lengths of short strings: 0 to 49, both sides of the fast path's limit */
#define EVENT_LONG_MAX  257
#define EVENT_ALL_MAX	501  /* with the digits of id and seq before it as long as a string can be */
#define EVENT_ID_DIGITS 4
#define EVENT_SEQ_DIGITS 8
#define EVENT_FRAMES    128

/* splitmix64, public domain: https://prng.di.unimi.it/splitmix64.c */
static uint64_t event_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static uint64_t event_hash(uint64_t id, uint64_t seq)
{
	return event_mix(id << 48 ^ seq);
}

static char event_text[EVENT_TEXT];

__attribute__((constructor(101))) static void event_fill_text(void)
{
	for (unsigned i = 0; i < EVENT_TEXT; i++)
		event_text[i] = (char)('a' + event_mix(i) % 26);
}

/* String number n of an event: where in the text it begins, and how long it is. */
static unsigned event_string(uint64_t hash, unsigned n, unsigned lengths, unsigned *length)
{
	uint64_t word = event_mix(hash + n);

	*length = (unsigned)(word >> 32) % lengths;
	return (unsigned)(word & 0xffff) % (EVENT_TEXT - EVENT_ALL_MAX);
}

static int event_kind(unsigned id, uint64_t hash)
{
	static const uint8_t kinds[32] = {
		EVENT_PLAIN, EVENT_PLAIN, EVENT_PLAIN, EVENT_PLAIN, EVENT_PLAIN, EVENT_PLAIN, EVENT_PLAIN,
		EVENT_PLAIN, EVENT_PLAIN, EVENT_PLAIN, EVENT_THREE, EVENT_THREE, EVENT_THREE, EVENT_THREE,
		EVENT_SHORT, EVENT_SHORT, EVENT_SHORT, EVENT_SHORT, EVENT_FIRST, EVENT_FIRST, EVENT_FIRST,
		EVENT_ALONE, EVENT_ALONE, EVENT_ALONE, EVENT_BOTH,  EVENT_BOTH,  EVENT_LONG,  EVENT_LONG,
		EVENT_PREC,  EVENT_PREC,  EVENT_STACK, EVENT_STACK,
	};

	if (id & 1)
		return hash & 16 ? EVENT_KEPT : EVENT_KEPT_SHORT;
	return kinds[hash & 31];
}

static unsigned event_frames(uint64_t hash)
{
	/* Few frames mostly; the longest event there is now and then. */
	return hash & 0xf0 ? 3 + (unsigned)(hash >> 8) % 10 : EVENT_FRAMES;
}

static void event_emit_string(unsigned id, uint64_t seq, uint64_t hash, int kind)
{
	char first[EVENT_LONG_MAX], second[EVENT_LONG_MAX];
	unsigned n, at = event_string(hash, 0, kind == EVENT_LONG ? EVENT_LONG_MAX : EVENT_SHORT_MAX, &n);

	memcpy(first, event_text + at, n);
	first[n] = 0;
	if (kind == EVENT_KEPT_SHORT) {
		CTR3(KTR_INIT, "event kept short %ju %ju %s", (uintmax_t)id, (uintmax_t)seq, first);
	} else if (kind == EVENT_SHORT) {
		CTR3(KTR_GEN, "event short %ju %ju %s", (uintmax_t)id, (uintmax_t)seq, first);
	} else {
		at = event_string(hash, 1, EVENT_LONG_MAX, &n);
		memcpy(second, event_text + at, n);
		second[n] = 0;
		CTR4(KTR_GEN, "event long %ju %s %ju %s", (uintmax_t)id, first, (uintmax_t)seq,
		     second);
	}
}

static unsigned event_put_digits(char *to, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = "0123456789abcdef"[value >> 4 * (n - 1 - i) & 15];
	return n;
}

static uint64_t event_digits(const char *from, unsigned n)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < n; i++)
		value = value << 4 | (uint64_t)(from[i] <= '9' ? from[i] - '0' : from[i] - 'a' + 10) % 16;
	return value;
}

/* How many letters a string of these kinds has, after its digits. */
static unsigned event_letters(int kind, unsigned n)
{
	if (kind == EVENT_BOTH)
		return 17 - (n ? EVENT_SEQ_DIGITS : EVENT_ID_DIGITS);
	return EVENT_ALL_MAX;
}

static void event_put_letters(char *to, uint64_t hash, int kind, unsigned n)
{
	unsigned length, at = event_string(hash, n, event_letters(kind, n), &length);

	memcpy(to, event_text + at, length);
	to[length] = 0;
}

/* Those whose strings are written from their place. */
static void event_emit_direct(unsigned id, uint64_t seq, uint64_t hash, int kind)
{
	char first[EVENT_ALL_MAX + EVENT_ID_DIGITS + EVENT_SEQ_DIGITS], second[17];
	unsigned n = 0;

	if (kind == EVENT_ALONE || kind == EVENT_BOTH)
		n = event_put_digits(first, id, EVENT_ID_DIGITS);
	if (kind == EVENT_ALONE)
		n += event_put_digits(first + n, seq, EVENT_SEQ_DIGITS);
	event_put_letters(first + n, hash, kind, 0);
	if (kind == EVENT_ALONE) {
		CTR1(KTR_GEN, "event alone %s", first);
	} else if (kind == EVENT_FIRST) {
		CTR2(KTR_GEN, "event first %s %jx", first, (uintmax_t)((uint64_t)id << 48 | seq));
	} else {
		n = event_put_digits(second, seq, EVENT_SEQ_DIGITS);
		event_put_letters(second + n, hash, kind, 1);
		CTR2(KTR_GEN, "event both %s %s", first, second);
	}
}

static void event_emit_stack(unsigned id, uint64_t seq, uint64_t hash)
{
	struct ktr_stack stack;

	stack.depth = event_frames(hash);
	stack.pcs[0] = id;
	stack.pcs[1] = seq;
	for (unsigned i = 2; i < stack.depth; i++)
		stack.pcs[i] = hash + i;
	CTRSTACK(KTR_GEN, &stack, 0);
}

static void event_emit_one(unsigned id, uint64_t seq)
{
	uint64_t hash = event_hash(id, seq);
	int kind = event_kind(id, hash);
	unsigned n, at;

	switch (kind) {
	case EVENT_PLAIN:
		CTR6(KTR_GEN, "event plain %ju %ju %jx %jx %jx %jx", (uintmax_t)id, (uintmax_t)seq,
		     (uintmax_t)hash, (uintmax_t)~hash, (uintmax_t)(hash + 1), (uintmax_t)(hash * 3));
		break;
	case EVENT_THREE:
		CTR3(KTR_GEN, "event three %ju %ju %jx", (uintmax_t)id, (uintmax_t)seq,
		     (uintmax_t)hash);
		break;
	case EVENT_KEPT:
		CTR3(KTR_INIT, "event kept %ju %ju %jx", (uintmax_t)id, (uintmax_t)seq,
		     (uintmax_t)hash);
		break;
	case EVENT_PREC:
		at = event_string(hash, 0, EVENT_SHORT_MAX, &n);
		CTR4(KTR_GEN, "event prec %ju %ju %.*s", (uintmax_t)id, (uintmax_t)seq, (int)n,
		     event_text + at);
		break;
	case EVENT_STACK:
		event_emit_stack(id, seq, hash);
		break;
	case EVENT_ALONE:
	case EVENT_FIRST:
	case EVENT_BOTH:
		event_emit_direct(id, seq, hash, kind);
		break;
	default:
		event_emit_string(id, seq, hash, kind);
	}
}

uint32_t event_clock = KTR_CLOCK_MONOTONIC;

void event_emit(struct event_stream *stream, unsigned id)
{
	uint64_t seq = __atomic_load_n(&stream->next, __ATOMIC_RELAXED);

	__atomic_store_n(&stream->before[seq & 1], ktr__clock_now(event_clock), __ATOMIC_RELAXED);
	__atomic_store_n(&stream->next, seq + 1, __ATOMIC_RELEASE);
	event_emit_one(id, seq);
	__atomic_store_n(&stream->done, seq + 1, __ATOMIC_RELEASE);
}

int event_kind_of(const char *format)
{
	static const char *const formats[] = {
#define EVENT__FORMAT(name, format) format,
		EVENT_KIND_LIST(EVENT__FORMAT)
#undef EVENT__FORMAT
	};

	for (int kind = 0; kind < EVENT_KINDS; kind++)
		if (strcmp(format, formats[kind]) == 0)
			return kind;
	return -1;
}

/* Takes a string that an argument word speaks of off the payload; NULL or what is wrong. */
static const char *event_check_string(const char **at, const char *end, uint64_t word, unsigned from,
				      unsigned length)
{
	if (word != length)
		return "the length of a string is wrong";
	if ((size_t)(end - *at) < length)
		return "continuations are missing";
	if (memcmp(*at, event_text + from, length) != 0)
		return "a string's letters are wrong";
	*at += (length + 7) / 8 * 8;
	return NULL;
}

static const char *event_check_strings(const struct ktr_entry *entry, int kind, uint64_t hash,
				       const char **at, const char *end)
{
	unsigned n, from = event_string(hash, 0, kind == EVENT_LONG ? EVENT_LONG_MAX : EVENT_SHORT_MAX, &n);
	const char *wrong;

	if (kind == EVENT_PREC && entry->arg[2] != n)
		return "a precision is wrong";
	if (kind != EVENT_LONG)
		return event_check_string(at, end, entry->arg[kind == EVENT_PREC ? 3 : 2], from, n);
	wrong = event_check_string(at, end, entry->arg[1], from, n);
	if (wrong)
		return wrong;
	from = event_string(hash, 1, EVENT_LONG_MAX, &n);
	return event_check_string(at, end, entry->arg[3], from, n);
}

/* A string that is digits and then letters. */
static const char *event_check_digits(const char **at, const char *end, uint64_t word, unsigned n_digits,
				      uint64_t hash, int kind, unsigned n)
{
	unsigned length, from = event_string(hash, n, event_letters(kind, n), &length);
	const char *letters = *at + n_digits, *wrong;

	if (word != n_digits + length)
		return "the length of a string is wrong";
	wrong = event_check_string(&letters, end, length, from, length);
	*at += (word + 7) / 8 * 8;
	return wrong;
}

static const char *event_check_direct(const struct ktr_entry *entry, int kind, uint64_t hash, const char **at,
				      const char *end)
{
	const char *wrong;

	if (kind == EVENT_FIRST)
		return event_check_digits(at, end, entry->arg[0], 0, hash, kind, 0);
	if (kind == EVENT_ALONE)
		return event_check_digits(at, end, entry->arg[0], EVENT_ID_DIGITS + EVENT_SEQ_DIGITS, hash,
					  kind, 0);
	wrong = event_check_digits(at, end, entry->arg[0], EVENT_ID_DIGITS, hash, kind, 0);
	return wrong ? wrong : event_check_digits(at, end, entry->arg[1], EVENT_SEQ_DIGITS, hash, kind, 1);
}

static const char *event_check_stack(const struct ktr_entry *entry, const char *payload, size_t bytes,
				     uint64_t *id, uint64_t *seq, const char **at)
{
	uint64_t pcs[EVENT_FRAMES], hash, n = entry->arg[0] & KTR_PAYLOAD_LENGTH;

	if (entry->arg[0] != n || n % 8 || n > sizeof(pcs) || n < 16 || n > bytes)
		return "the length of a stack is wrong";
	memcpy(pcs, payload, n);
	*id = pcs[0];
	*seq = pcs[1];
	hash = event_hash(*id, *seq);
	if (n / 8 != event_frames(hash))
		return "the depth of a stack is wrong";
	for (unsigned i = 2; i < n / 8; i++)
		if (pcs[i] != hash + i)
			return "a frame is wrong";
	*at = payload + n;
	return NULL;
}

static const char *event_check_words(const struct ktr_entry *entry, int kind, uint64_t hash)
{
	if ((kind == EVENT_PLAIN || kind == EVENT_THREE || kind == EVENT_KEPT) && entry->arg[2] != hash)
		return "the arguments do not agree";
	if (kind == EVENT_PLAIN && (entry->arg[3] != ~hash || entry->arg[4] != hash + 1 ||
				    entry->arg[5] != hash * 3))
		return "the arguments do not agree";
	return NULL;
}

/* What each kind has of arguments: its payload begins after them. */
static unsigned event_args(int kind)
{
	static const uint8_t n_args[EVENT_KINDS] = {
		[EVENT_PLAIN] = 6, [EVENT_THREE] = 3, [EVENT_SHORT] = 3, [EVENT_LONG] = 4,
		[EVENT_PREC] = 4,  [EVENT_STACK] = 1, [EVENT_KEPT] = 3,	 [EVENT_KEPT_SHORT] = 3,
		[EVENT_ALONE] = 1, [EVENT_FIRST] = 2, [EVENT_BOTH] = 2,
	};

	return n_args[kind];
}

/* The payload in one piece, of which the first n_free bytes lie in the entry; NULL or what is wrong. */
static const char *event_gather(const struct ktr_entry *entry, size_t n_free, unsigned n_conts, char *payload)
{
	memcpy(payload, (const char *)entry + sizeof(*entry) - n_free, n_free);
	for (unsigned i = 0; i < n_conts; i++) {
		const struct ktr_cont *cont = (const void *)&entry[1 + i];

		if (i && cont->mark != ((const struct ktr_cont *)(const void *)&entry[i])->mark + 1)
			return "ordinals of continuations do not count up";
		memcpy(payload + n_free + i * KTR_CONT_BYTES, cont->data, KTR_CONT_BYTES);
	}
	return NULL;
}

/* The stream that an event says it is of, and its number there; of a stack, see above. */
static void event_name(const struct ktr_entry *entry, int kind, const char *payload, uint64_t *id, uint64_t *seq)
{
	switch (kind) {
	case EVENT_ALONE:
		*id = event_digits(payload, EVENT_ID_DIGITS);
		*seq = event_digits(payload + EVENT_ID_DIGITS, EVENT_SEQ_DIGITS);
		break;
	case EVENT_FIRST:
		*id = entry->arg[1] >> 48;
		*seq = entry->arg[1] & ((1ull << 48) - 1);
		break;
	case EVENT_BOTH:
		*id = event_digits(payload, EVENT_ID_DIGITS);
		*seq = event_digits(payload + (entry->arg[0] > 8 ? 16 : 8), EVENT_SEQ_DIGITS);
		break;
	default:
		*id = entry->arg[0];
		*seq = entry->arg[kind == EVENT_LONG ? 2 : 1];
	}
}

const char *event_check(const struct ktr_entry *entry, unsigned n_conts, int kind, uint64_t *id,
			uint64_t *seq)
{
	char payload[KTR_SLOTS_MAX * KTR_ENTRY_BYTES];
	size_t n_free = 8 * (6 - event_args(kind)), used;
	const char *at = payload, *end = payload + n_free + n_conts * KTR_CONT_BYTES, *wrong;

	if (n_conts >= KTR_SLOTS_MAX)
		return "more continuations than an event can have";
	wrong = event_gather(entry, n_free, n_conts, payload);
	if (wrong)
		return wrong;
	event_name(entry, kind, payload, id, seq);
	if (kind == EVENT_STACK)
		wrong = event_check_stack(entry, payload, (size_t)(end - payload), id, seq, &at);
	if (wrong)
		return wrong;
	if (*id >= EVENT_STREAMS)
		return "there is no such stream";
	if (kind != event_kind((unsigned)*id, event_hash(*id, *seq)))
		return "the site does not belong to the arguments";
	wrong = event_check_words(entry, kind, event_hash(*id, *seq));
	if (!wrong && (kind == EVENT_SHORT || kind == EVENT_LONG || kind == EVENT_PREC ||
		       kind == EVENT_KEPT_SHORT))
		wrong = event_check_strings(entry, kind, event_hash(*id, *seq), &at, end);
	if (!wrong && (kind == EVENT_ALONE || kind == EVENT_FIRST || kind == EVENT_BOTH))
		wrong = event_check_direct(entry, kind, event_hash(*id, *seq), &at, end);
	used = (size_t)(at - payload);
	if (!wrong && n_conts != (used > n_free ? (used - n_free + KTR_CONT_BYTES - 1) / KTR_CONT_BYTES : 0))
		wrong = "there are other continuations than the payload needs";
	return wrong;
}
