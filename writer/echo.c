/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Merges the rings by time, an event at a time: what is printed for people to read is never much. Of each
 * ring that has something one batch lies in memory. Formats are taken apart by ktr/session/format.c, and each
 * conversion is printed by snprintf(3) with a format made here, of the C type that it says: a recorded
 * word never decides what is read from memory. The printer of the tools is faster and knows symbols; this
 * one is small.
 */
#include "writer/echo.h"

#include "ktr/session/format.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ECHO_LINES 4096 /* of a round */
#define ECHO_LINE  1024 /* [bytes] with newline; longer ones are cut */

struct echo_ring {
	struct ktr__ring_cursor cursor;
	struct ktr_entry *slot; /* owned: KTR__RING_BUFFER_MIN of them, or NULL */
	uint32_t at, n;
};

struct ktr__echo {
	uint32_t n_rings;
	struct ktr_site_row site; /* the last one printed */
	uint32_t site_id;
	char file[256];
	char format[512];
	char line[ECHO_LINE + 1];
	size_t length;
	struct echo_ring ring[];
};

struct ktr__echo *ktr__echo_open(const struct ktr__ring_source *source)
{
	uint32_t n = ktr__header_n_ring_rows(source->header);
	struct ktr__echo *echo = calloc(1, sizeof(*echo) + n * sizeof(echo->ring[0]));

	if (!echo)
		return NULL;
	echo->n_rings = n;
	for (uint32_t i = 0; i < n; i++) {
		echo->ring[i].cursor.ring = i;
		ktr__ring_to_head(source, &echo->ring[i].cursor);
	}
	return echo;
}

void ktr__echo_close(struct ktr__echo *echo)
{
	for (uint32_t i = 0; echo && i < echo->n_rings; i++)
		free(echo->ring[i].slot);
	free(echo);
}

/* Appends as printf does, as far as there is room; bytes that are not text become '?'. */
__attribute__((format(printf, 2, 3))) static void echo_put(struct ktr__echo *echo, const char *format, ...)
{
	char *from = echo->line + echo->length;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(from, ECHO_LINE - echo->length, format, args);
	va_end(args);
	if (n > 0)
		echo->length += strlen(from);
	for (; *from; from++)
		if (((unsigned char)*from < ' ' && *from != '\t') || *from == 0x7f)
			*from = '?';
}

/* A word as the C type of that length modifier has it. */
static uint64_t echo_word(uint64_t word, unsigned size, bool is_signed)
{
	unsigned shift = size == KTR__FORMAT_HH ? 56 : size == KTR__FORMAT_H ? 48 :
			 size == KTR__FORMAT_INT ? 32 : 0;

	return is_signed ? (uint64_t)((int64_t)(word << shift) >> shift) : word << shift >> shift;
}

/* Where the payload of argument `arg` begins among the continuations. */
static uint32_t echo_payload(const struct ktr__echo *echo, const struct ktr_entry *entry, unsigned arg)
{
	uint32_t at = 0;

	for (unsigned i = 0; i < arg; i++)
		if ((echo->site.type[i] == KTR_ARG_STR || echo->site.type[i] == KTR_ARG_STACK) &&
		    !(entry->arg[i] & KTR_PAYLOAD_NULL))
			at += (uint32_t)(entry->arg[i] & KTR_PAYLOAD_LENGTH);
	return at;
}

static void echo_padded(struct ktr__echo *echo, const struct ktr__format_item *item, int width, int precision,
			const char *text)
{
	echo_put(echo, item->flags & KTR__FORMAT_MINUS ? "%-*.*s" : "%*.*s", width, precision, text);
}

/* Copies up to `size` bytes of an argument's payload, of which 56 lie in each continuation. Returns how many. */
static uint32_t echo_bytes(const struct ktr__echo *echo, const struct ktr_entry *entry, uint32_t n_conts,
			   unsigned arg, char *to, uint32_t size)
{
	uint32_t at = echo_payload(echo, entry, arg), n = (uint32_t)(entry->arg[arg] & KTR_PAYLOAD_LENGTH), i;

	for (i = 0; i < n && i < size && at + i < n_conts * KTR_CONT_BYTES; i++)
		to[i] = ((const char *)&entry[1 + (at + i) / KTR_CONT_BYTES])[offsetof(struct ktr_cont, data) +
									      (at + i) % KTR_CONT_BYTES];
	return i;
}

/* Of "(null)" all is printed or nothing, as by glibc. */
static void echo_string(struct ktr__echo *echo, const struct ktr__format_item *item, const int *field,
			const struct ktr_entry *entry, uint32_t n_conts)
{
	uint64_t word = entry->arg[item->arg];
	bool is_null = (word & KTR_PAYLOAD_NULL) != 0;
	char text[KTR_STRING_MAX + 1];

	text[echo_bytes(echo, entry, n_conts, item->arg, text, KTR_STRING_MAX)] = '\0';
	echo_padded(echo, item, field[0], is_null && field[1] < 6 && field[1] >= 0 ? 0 : field[1],
		    is_null ? "(null)" : text);
	if (word & KTR_PAYLOAD_CUT)
		echo_put(echo, "...");
}

/* Stacks, which no conversion prints, come behind the text: frames, innermost first. */
static void echo_stack(struct ktr__echo *echo, const struct ktr_entry *entry, uint32_t n_conts, unsigned arg)
{
	uint64_t frame[KTR_STACK_MAX];
	uint32_t n = echo_bytes(echo, entry, n_conts, arg, (char *)frame, sizeof(frame)) / sizeof(uint64_t);

	for (uint32_t i = 0; i < n; i++)
		echo_put(echo, " %#llx", (unsigned long long)frame[i]);
	if (entry->arg[arg] & KTR_PAYLOAD_CUT)
		echo_put(echo, " ...");
}

/* One conversion of a number, by a format of our own: %[flags]*.*[j]CONV. */
static void echo_number(struct ktr__echo *echo, const struct ktr__format_item *item, const int *field,
			uint64_t word)
{
	static const char flags[] = "-+ #0'";
	bool real = echo->site.type[item->arg] == KTR_ARG_F64;
	char format[16] = "%", *to = format + 1, conv = item->conv;
	double number;

	if (conv == 'p' && !word) {
		echo_padded(echo, item, field[0], -1, "(nil)");
		return;
	}
	for (unsigned bit = 0; bit < sizeof(flags) - 1; bit++)
		if (item->flags & 1u << bit)
			*to++ = flags[bit];
	if (strchr("sp", conv)) {
		*to++ = '#';
		conv = 'x';
	}
	if (strchr("aAeEfFgG", conv) ? !real : (real || !strchr("diouxXc", conv)))
		conv = real ? 'g' : 'd';
	strcpy(to, real ? "*.*" : conv == 'c' ? "*c" : "*.*j");
	to += strlen(to);
	if (conv != 'c')
		*to++ = conv;
	*to = '\0';
	memcpy(&number, &word, sizeof(number));
	word = strchr("sp", item->conv) ? word : echo_word(word, item->size, strchr("di", conv) != NULL);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (real)
		echo_put(echo, format, field[0], field[1], number);
	else if (conv == 'c')
		echo_put(echo, format, field[0], (int)(unsigned char)word);
	else
		echo_put(echo, format, field[0], field[1], word);
#pragma GCC diagnostic pop
}

static int echo_int(const struct ktr__echo *echo, const struct ktr_entry *entry, uint8_t arg, int constant)
{
	int n = arg < echo->site.n_args ? (int)(uint32_t)entry->arg[arg] : constant;

	return n > ECHO_LINE ? ECHO_LINE : n < -ECHO_LINE ? -ECHO_LINE : n;
}

static void echo_text(struct ktr__echo *echo, const struct ktr_entry *entry, uint32_t n_conts)
{
	struct ktr__format at = KTR__FORMAT(echo->format);
	struct ktr__format_item item;

	while (ktr__format_next(&at, &item)) {
		int field[2] = { echo_int(echo, entry, item.width_arg, item.width < 0 ? 0 : item.width),
				 echo_int(echo, entry, item.precision_arg, item.precision) };

		if (item.kind != KTR__FORMAT_CONV || item.arg >= echo->site.n_args)
			echo_put(echo, "%.*s", (int)item.length, item.start);
		else if (echo->site.type[item.arg] == KTR_ARG_STR)
			echo_string(echo, &item, field, entry, n_conts);
		else
			echo_number(echo, &item, field, entry->arg[item.arg]);
	}
	for (unsigned i = 0; i < echo->site.n_args; i++)
		if (echo->site.type[i] == KTR_ARG_STACK)
			echo_stack(echo, entry, n_conts, i);
}

/* The site's row, format and file, unless it was the last one's too. */
static void echo_site(struct ktr__echo *echo, const struct ktr__session_map *map, uint32_t id)
{
	const char *base;

	if (id == echo->site_id)
		return;
	echo->site_id = id;
	if (ktr__map_site(map, id, &echo->site))
		memset(&echo->site, 0, sizeof(echo->site));
	if (echo->site.n_args > KTR_ARGS_MAX)
		echo->site.n_args = KTR_ARGS_MAX;
	ktr__map_string(map, echo->site.format, echo->format, sizeof(echo->format));
	ktr__map_string(map, echo->site.file, echo->file, sizeof(echo->file));
	base = strrchr(echo->file, '/');
	if (base)
		memmove(echo->file, base + 1, strlen(base));
}

static void echo_event(struct ktr__echo *echo, const struct ktr__session_map *map, const struct echo_ring *ring,
		       uint32_t n_conts, unsigned level)
{
	const struct ktr_entry *entry = &ring->slot[ring->at];

	echo_site(echo, map, entry->site);
	echo->length = 0;
	echo_put(echo, "cpu%u ", map->header.path == KTR_PATH_THREAD ?
					 entry->thread >> KTR_THREAD_BITS :
					 ring->cursor.ring % map->header.n_rings);
	if (level > 1)
		echo_put(echo, "%s.%u\t", echo->file, echo->site.line);
	echo_text(echo, entry, n_conts);
}

/* Has the ring an event to print? Reads on if need be; what was lost is a line. */
static bool echo_fill(struct ktr__echo *echo, const struct ktr__ring_source *source, struct echo_ring *ring,
		      uint64_t *lost)
{
	struct ktr__ring_batch batch;

	(void)echo;
	if (ring->at < ring->n)
		return true;
	if (ktr__ring_head(source, ring->cursor.ring, NULL) == ring->cursor.next)
		return false;
	if (!ring->slot)
		ring->slot = malloc(KTR__RING_BUFFER_MIN * sizeof(*ring->slot));
	if (!ring->slot || ktr__ring_read(source, &ring->cursor, UINT64_MAX, ring->slot, KTR__RING_BUFFER_MIN,
					  &batch) <= 0)
		return false;
	if (batch.n && batch.entry != ring->slot)
		memmove(ring->slot, batch.entry, batch.n * sizeof(*ring->slot));
	ring->at = 0;
	ring->n = batch.n;
	*lost += batch.lost;
	return batch.n != 0;
}

/* The ring whose next event is the oldest; NULL: there is none. */
static struct echo_ring *echo_oldest(struct ktr__echo *echo, const struct ktr__ring_source *source,
				     uint64_t *lost)
{
	struct echo_ring *oldest = NULL;
	uint64_t time = UINT64_MAX, ticks;

	for (uint32_t i = 0; i < echo->n_rings; i++) {
		struct echo_ring *ring = &echo->ring[i];

		if (!echo_fill(echo, source, ring, lost))
			continue;
		ticks = ring->slot[ring->at].timestamp & KTR_TIME_TICKS;
		if (ticks < time) {
			time = ticks;
			oldest = ring;
		}
	}
	return oldest;
}

int ktr__echo_round(struct ktr__echo *echo, const struct ktr__session_map *map, const void *base,
		    unsigned level, void (*print)(void *context, const char *line, size_t n_bytes),
		    void *context)
{
	const struct ktr__ring_source source = { &map->header, base, map->fd, 0 };
	struct echo_ring *ring;
	uint64_t lost = 0;
	uint32_t n_conts;

	for (int i = 0; i < ECHO_LINES; i++) {
		ring = echo_oldest(echo, &source, &lost);
		if (lost) {
			echo->length = 0;
			echo_put(echo, "(%" PRIu64 " events were overwritten before they were printed)\n", lost);
			echo->line[echo->length - 1] = '\n';
			print(context, echo->line, echo->length);
			lost = 0;
		}
		if (!ring)
			return 0;
		n_conts = ktr__slot_n_conts(&ring->slot[ring->at], ring->n - ring->at - 1);
		echo_event(echo, map, ring, n_conts, level);
		echo->line[echo->length++] = '\n';
		print(context, echo->line, echo->length);
		ring->at += 1 + n_conts;
	}
	return 1;
}
