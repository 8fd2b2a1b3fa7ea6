/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Merges the rings by time, an event at a time: what is printed for people to read is never much. Of each
 * ring that has something one batch lies in memory. Formats are taken apart by ktr/session/format.c, and each
 * conversion is printed by snprintf(3) with a format made here, of the C type that it says: a recorded
 * word never decides what is read from memory. The printer of the tools is faster and knows symbols; this
 * one is small.
 */
#include "writer/verbose.h"

#include "ktr/session/payload_take.h"

#include "ktr/session/format.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERBOSE_LINES 4096 /* of a round */
#define VERBOSE_LINE  1024 /* [bytes] with newline; longer ones are cut */

struct verbose_ring {
	struct ktr__ring_cursor cursor;
	struct ktr_entry *slot; /* owned: KTR__RING_BUFFER_MIN of them, or NULL */
	uint32_t at, n;
};

struct ktr__verbose {
	uint32_t n_rings;
	struct ktr_site_row site; /* the last one printed */
	uint32_t site_id;
	char file[256];
	char format[512];
	uint8_t in_literals; /* bit i: argument i is in literals */
	char literals[KTR_LITERALS_MAX];
	char line[VERBOSE_LINE + 1];
	size_t length;
	struct verbose_ring ring[];
};

struct ktr__verbose *ktr__verbose_open(const struct ktr__ring_source *source)
{
	uint32_t n = ktr__header_n_ring_rows(source->header);
	struct ktr__verbose *verbose = calloc(1, sizeof(*verbose) + n * sizeof(verbose->ring[0]));

	if (!verbose)
		return NULL;
	verbose->n_rings = n;
	for (uint32_t i = 0; i < n; i++) {
		verbose->ring[i].cursor.ring = i;
		ktr__ring_to_head(source, &verbose->ring[i].cursor);
	}
	return verbose;
}

void ktr__verbose_close(struct ktr__verbose *verbose)
{
	for (uint32_t i = 0; verbose && i < verbose->n_rings; i++)
		free(verbose->ring[i].slot);
	free(verbose);
}

/* Appends as printf does, as far as there is room; bytes that are not text become '?'. */
__attribute__((format(printf, 2, 3))) static void verbose_put(struct ktr__verbose *verbose, const char *format, ...)
{
	char *from = verbose->line + verbose->length;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(from, VERBOSE_LINE - verbose->length, format, args);
	va_end(args);
	if (n > 0)
		verbose->length += strlen(from);
	for (; *from; from++)
		if (((unsigned char)*from < ' ' && *from != '\t') || *from == 0x7f)
			*from = '?';
}

/* A word as the C type of that length modifier has it. */
static uint64_t verbose_word(uint64_t word, unsigned size, bool is_signed)
{
	unsigned shift = size == KTR__FORMAT_HH ? 56 : size == KTR__FORMAT_H ? 48 :
			 size == KTR__FORMAT_INT ? 32 : 0;

	return is_signed ? (uint64_t)((int64_t)(word << shift) >> shift) : word << shift >> shift;
}

static void verbose_padded(struct ktr__verbose *verbose, const struct ktr__format_item *item, int width,
			   int precision,
			const char *text)
{
	verbose_put(verbose, item->flags & KTR__FORMAT_MINUS ? "%-*.*s" : "%*.*s", width, precision, text);
}

/* Is argument i in the payload? */
static bool verbose_in_payload(const struct ktr__verbose *verbose, const struct ktr_entry *entry, unsigned i)
{
	return (verbose->site.type[i] == KTR_ARG_STR || verbose->site.type[i] == KTR_ARG_STACK) &&
	       !(verbose->in_literals >> i & 1) && !(entry->arg[i] & KTR_PAYLOAD_NULL);
}

/* Copies up to `size` bytes of an argument's payload. Returns how many. */
static uint32_t verbose_bytes(const struct ktr__verbose *verbose, const struct ktr_entry *entry, uint32_t n_conts,
			      unsigned arg, void *to, uint32_t size)
{
	struct ktr__payload_at payload = ktr__payload_at(entry, verbose->site.n_args, n_conts);
	uint32_t n;

	for (unsigned i = 0; i < arg; i++)
		if (verbose_in_payload(verbose, entry, i))
			ktr__payload_take(&payload, NULL, (uint32_t)(entry->arg[i] & KTR_PAYLOAD_LENGTH));
	if (!verbose_in_payload(verbose, entry, arg))
		return 0;
	n = (uint32_t)(entry->arg[arg] & KTR_PAYLOAD_LENGTH);
	return ktr__payload_take(&payload, to, n < size ? n : size);
}

/* Of "(null)" all is printed or nothing, as by glibc. */
static void verbose_string(struct ktr__verbose *verbose, const struct ktr__format_item *item, const int *field,
			const struct ktr_entry *entry, uint32_t n_conts)
{
	uint64_t word = entry->arg[item->arg];
	bool is_null = (word & KTR_PAYLOAD_NULL) != 0;
	char text[KTR_STRING_MAX + 1];
	size_t at = 0;

	if (verbose->in_literals >> item->arg & 1) {
		for (unsigned i = 0; i < item->arg; i++)
			if (verbose->in_literals >> i & 1)
				ktr__literal(verbose->literals, &at);
		verbose_padded(verbose, item, field[0], field[1], ktr__literal(verbose->literals, &at));
		return;
	}
	text[verbose_bytes(verbose, entry, n_conts, item->arg, text, KTR_STRING_MAX)] = '\0';
	verbose_padded(verbose, item, field[0], is_null && field[1] < 6 && field[1] >= 0 ? 0 : field[1],
		    is_null ? "(null)" : text);
	if (word & KTR_PAYLOAD_CUT)
		verbose_put(verbose, "...");
}

/* Stacks, which no conversion prints, come after the text: frames, innermost first. */
static void verbose_stack(struct ktr__verbose *verbose, const struct ktr_entry *entry, uint32_t n_conts,
			  unsigned arg)
{
	uint64_t frame[KTR_STACK_MAX];
	uint32_t n = verbose_bytes(verbose, entry, n_conts, arg, frame, sizeof(frame)) / sizeof(uint64_t);

	for (uint32_t i = 0; i < n; i++)
		verbose_put(verbose, " %#llx", (unsigned long long)frame[i]);
	if (entry->arg[arg] & KTR_PAYLOAD_CUT)
		verbose_put(verbose, " ...");
}

/* One conversion of a number, by a format of our own: %[flags]*.*[j]CONV. */
static void verbose_number(struct ktr__verbose *verbose, const struct ktr__format_item *item, const int *field,
			uint64_t word)
{
	static const char flags[] = "-+ #0'";
	bool real = verbose->site.type[item->arg] == KTR_ARG_F64;
	char format[16] = "%", *to = format + 1, conv = item->conv;
	double number;

	if (conv == 'p' && !word) {
		verbose_padded(verbose, item, field[0], -1, "(nil)");
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
	word = strchr("sp", item->conv) ? word : verbose_word(word, item->size, strchr("di", conv) != NULL);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (real)
		verbose_put(verbose, format, field[0], field[1], number);
	else if (conv == 'c')
		verbose_put(verbose, format, field[0], (int)(unsigned char)word);
	else
		verbose_put(verbose, format, field[0], field[1], word);
#pragma GCC diagnostic pop
}

static int verbose_int(const struct ktr__verbose *verbose, const struct ktr_entry *entry, uint8_t arg, int constant)
{
	int n = arg < verbose->site.n_args ? (int)(uint32_t)entry->arg[arg] : constant;

	return n > VERBOSE_LINE ? VERBOSE_LINE : n < -VERBOSE_LINE ? -VERBOSE_LINE : n;
}

static void verbose_text(struct ktr__verbose *verbose, const struct ktr_entry *entry, uint32_t n_conts)
{
	struct ktr__format at = KTR__FORMAT(verbose->format);
	struct ktr__format_item item;

	while (ktr__format_next(&at, &item)) {
		int field[2] = { verbose_int(verbose, entry, item.width_arg, item.width < 0 ? 0 : item.width),
				 verbose_int(verbose, entry, item.precision_arg, item.precision) };

		if (item.kind != KTR__FORMAT_CONV || item.arg >= verbose->site.n_args)
			verbose_put(verbose, "%.*s", (int)item.length, item.start);
		else if (verbose->site.type[item.arg] == KTR_ARG_STR)
			verbose_string(verbose, &item, field, entry, n_conts);
		else
			verbose_number(verbose, &item, field, entry->arg[item.arg]);
	}
	for (unsigned i = 0; i < verbose->site.n_args; i++)
		if (verbose->site.type[i] == KTR_ARG_STACK)
			verbose_stack(verbose, entry, n_conts, i);
}

/* The site's row, format and file, unless it was the last one's too. */
static void verbose_site(struct ktr__verbose *verbose, const struct ktr__session_map *map, uint32_t id)
{
	const char *base;

	if (id == verbose->site_id)
		return;
	verbose->site_id = id;
	if (ktr__map_site(map, id, &verbose->site))
		memset(&verbose->site, 0, sizeof(verbose->site));
	if (verbose->site.n_args > KTR_ARGS_MAX)
		verbose->site.n_args = KTR_ARGS_MAX;
	verbose->in_literals = ktr__map_literals(map, &verbose->site, verbose->literals);
	ktr__map_string(map, verbose->site.format, verbose->format, sizeof(verbose->format));
	ktr__map_string(map, verbose->site.file, verbose->file, sizeof(verbose->file));
	base = strrchr(verbose->file, '/');
	if (base)
		memmove(verbose->file, base + 1, strlen(base));
}

static void verbose_event(struct ktr__verbose *verbose, const struct ktr__session_map *map,
			  const struct verbose_ring *ring,
		       uint32_t n_conts, unsigned level)
{
	const struct ktr_entry *entry = &ring->slot[ring->at];

	verbose_site(verbose, map, entry->site);
	verbose->length = 0;
	verbose_put(verbose, "cpu%u ", map->header.path == KTR_PATH_THREAD ?
					 entry->thread >> KTR_THREAD_BITS :
					 ring->cursor.ring % map->header.n_rings);
	if (level > 1)
		verbose_put(verbose, "%s.%u\t", verbose->file, verbose->site.line);
	verbose_text(verbose, entry, n_conts);
}

/* Has the ring an event to print? Reads on if need be; what was lost is a line. */
static bool verbose_fill(struct ktr__verbose *verbose, const struct ktr__ring_source *source,
			 struct verbose_ring *ring,
		      uint64_t *lost)
{
	struct ktr__ring_batch batch;

	(void)verbose;
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
static struct verbose_ring *verbose_oldest(struct ktr__verbose *verbose, const struct ktr__ring_source *source,
				     uint64_t *lost)
{
	struct verbose_ring *oldest = NULL;
	uint64_t time = UINT64_MAX, ticks;

	for (uint32_t i = 0; i < verbose->n_rings; i++) {
		struct verbose_ring *ring = &verbose->ring[i];

		if (!verbose_fill(verbose, source, ring, lost))
			continue;
		ticks = ring->slot[ring->at].timestamp & KTR_TIME_TICKS;
		if (ticks < time) {
			time = ticks;
			oldest = ring;
		}
	}
	return oldest;
}

int ktr__verbose_round(struct ktr__verbose *verbose, const struct ktr__session_map *map, const void *base,
		    unsigned level, void (*print)(void *context, const char *line, size_t n_bytes),
		    void *context)
{
	const struct ktr__ring_source source = { .header = &map->header, .base = base, .fd = map->fd };
	struct verbose_ring *ring;
	uint64_t lost = 0;
	uint32_t n_conts;

	for (int i = 0; i < VERBOSE_LINES; i++) {
		ring = verbose_oldest(verbose, &source, &lost);
		if (lost) {
			verbose->length = 0;
			verbose_put(verbose, "(%" PRIu64 " events were overwritten before they were printed)\n", lost);
			verbose->line[verbose->length - 1] = '\n';
			print(context, verbose->line, verbose->length);
			lost = 0;
		}
		if (!ring)
			return 0;
		n_conts = ktr__slot_n_conts(&ring->slot[ring->at], ring->n - ring->at - 1);
		verbose_event(verbose, map, ring, n_conts, level);
		verbose->line[verbose->length++] = '\n';
		print(context, verbose->line, verbose->length);
		ring->at += 1 + n_conts;
	}
	return 1;
}
