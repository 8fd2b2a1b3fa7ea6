/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words are little-endian, as those of the machines that ktr records on.
 *
 *	GNU	"gmon", version 1 (4 bytes), 12 of 0; then records, each after its tag of a byte:
 *		0  histogram: low (8), high (8), counters (4), rate (4), "seconds" (15), 's' (1); counters of 2
 *		1  arc: from (8), to (8), count (4)
 *	BSD	low (8), high (8), bytes of counters and of this header (4), version 0x51879 (4), rate (4), bits of
 *		a counter (4), 8 of 0; counters of 2; arcs of from (8), to (8), count (8) until the end
 */
#include "visualize/export/gmon_write.h"

#include <stdlib.h>
#include <string.h>

#define WRITE_TICKS_MAX 4611686018427387904ull /* 2^62: what claims more is no time */
#define WRITE_HISTOGRAMS 16 /* records of one file; the rate is lower where that would be too few */
#define WRITE_FULL	  0xffffu
#define WRITE_COUNT_MAX	  0xffffffffu /* of BSD's 64 bits gprof reads so many, too */
#define WRITE_BSD_HEAD	  40
#define WRITE_BSD_VERSION 0x51879
#define WRITE_BITS	  16

static void write_word(FILE *to, uint64_t word, unsigned n_bytes)
{
	for (unsigned i = 0; i < n_bytes; i++)
		putc((int)(word >> 8 * i & 0xff), to);
}

struct write_bins {
	uint64_t low, high;
	uint64_t *tick; /* owned */
	size_t n;
	uint64_t most;
};

/* The ticks of each counter at a rate, of times in the order of addresses. */
static void write_fill(struct write_bins *bins, const struct ktr__gmon *gmon, uint64_t rate_hz)
{
	int64_t left_ns = 0;

	memset(bins->tick, 0, bins->n * sizeof(*bins->tick));
	bins->most = 0;
	for (size_t i = 0; i < gmon->n_times; i++) {
		uint64_t *tick = &bins->tick[(gmon->time[i].at - bins->low) / KTR__GMON_BIN];
		double ns = (double)gmon->time[i].ns + (double)left_ns, n = ns * (double)rate_hz / 1e9 + 0.5;
		uint64_t whole = n < 1 ? 0 : n < WRITE_TICKS_MAX ? (uint64_t)n : WRITE_TICKS_MAX;

		left_ns = (int64_t)(ns - (double)whole * 1e9 / (double)rate_hz);
		*tick += whole;
		bins->most = *tick > bins->most ? *tick : bins->most;
	}
}

/* At a rate so low that no counter has more ticks. Returns the rate. */
static uint32_t write_rate(struct write_bins *bins, const struct ktr__gmon *gmon, uint64_t most)
{
	uint32_t rate_hz = gmon->rate_hz;

	if (bins->n)
		write_fill(bins, gmon, rate_hz);
	while (bins->most > most && rate_hz > 1) {
		double lower = (double)rate_hz * (double)most / (double)bins->most;

		rate_hz = lower < 1 ? 1 : lower < rate_hz ? (uint32_t)lower : rate_hz - 1;
		write_fill(bins, gmon, rate_hz);
	}
	return rate_hz;
}

static int write_bins_init(struct write_bins *bins, const struct ktr__gmon *gmon)
{
	bins->low = gmon->low & ~(uint64_t)(KTR__GMON_BIN - 1);
	bins->high = (gmon->high + KTR__GMON_BIN - 1) & ~(uint64_t)(KTR__GMON_BIN - 1);
	bins->n = (bins->high - bins->low) / KTR__GMON_BIN;
	bins->tick = bins->n ? calloc(bins->n, sizeof(*bins->tick)) : NULL;
	return bins->n && !bins->tick ? -1 : 0;
}

/* What of each counter has room in one histogram, which is taken off. */
static void write_counters(struct write_bins *bins, FILE *to)
{
	for (size_t i = 0; i < bins->n; i++) {
		uint64_t n = bins->tick[i] < WRITE_FULL ? bins->tick[i] : WRITE_FULL;

		write_word(to, n, 2);
		bins->tick[i] -= n;
	}
	bins->most -= bins->most < WRITE_FULL ? bins->most : WRITE_FULL;
}

static void write_arcs(const struct ktr__gmon *gmon, enum ktr__gmon_form form, FILE *to)
{
	for (size_t i = 0; i < gmon->n_arcs; i++)
		for (uint64_t left = gmon->arc[i].n, n; left; left -= n) {
			n = left < WRITE_COUNT_MAX ? left : WRITE_COUNT_MAX;
			if (form == KTR__GMON_GNU)
				putc(1, to);
			write_word(to, gmon->arc[i].from, 8);
			write_word(to, gmon->arc[i].to, 8);
			write_word(to, n, form == KTR__GMON_GNU ? 4 : 8);
		}
}

static uint32_t write_gnu(struct write_bins *bins, const struct ktr__gmon *gmon, FILE *to)
{
	static const char dimension[15] = "seconds";
	uint32_t rate_hz = write_rate(bins, gmon, (uint64_t)WRITE_FULL * WRITE_HISTOGRAMS);

	fwrite("gmon", 1, 4, to);
	write_word(to, 1, 4);
	write_word(to, 0, 8);
	write_word(to, 0, 4);
	/* Without any gprof does not go on, so there is one of nothing. */
	for (int i = 0; bins->n && i < WRITE_HISTOGRAMS && (!i || bins->most); i++) {
		putc(0, to);
		write_word(to, bins->low, 8);
		write_word(to, bins->high, 8);
		write_word(to, bins->n, 4);
		write_word(to, rate_hz, 4);
		fwrite(dimension, 1, sizeof(dimension), to);
		putc('s', to);
		write_counters(bins, to);
	}
	write_arcs(gmon, KTR__GMON_GNU, to);
	return rate_hz;
}

static uint32_t write_bsd(struct write_bins *bins, const struct ktr__gmon *gmon, FILE *to)
{
	uint32_t rate_hz = write_rate(bins, gmon, WRITE_FULL);

	write_word(to, bins->low, 8);
	write_word(to, bins->high, 8);
	write_word(to, 2 * (uint64_t)bins->n + WRITE_BSD_HEAD, 4);
	write_word(to, WRITE_BSD_VERSION, 4);
	write_word(to, rate_hz, 4);
	write_word(to, WRITE_BITS, 4);
	write_word(to, 0, 8);
	write_counters(bins, to);
	write_arcs(gmon, KTR__GMON_BSD, to);
	return rate_hz;
}

uint32_t ktr__gmon_write(const struct ktr__gmon *gmon, enum ktr__gmon_form form, FILE *to)
{
	struct write_bins bins = { 0 };
	uint32_t rate_hz;

	if (write_bins_init(&bins, gmon))
		return 0;
	rate_hz = form == KTR__GMON_BSD ? write_bsd(&bins, gmon, to) : write_gnu(&bins, gmon, to);
	free(bins.tick);
	return rate_hz;
}
