/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/profil/gmon_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GMON_FULL 0xffffu

/* As the C library has them, in native byte order. */
struct gmon_header {
	char magic[4];
	uint32_t version;
	char spare[12];
};

struct __attribute__((packed)) gmon_histogram {
	uint8_t tag; /* 0 */
	uint64_t low, high;
	uint32_t n_counters, hz;
	char dimension[15], letter;
};

_Static_assert(sizeof(struct gmon_header) == 20 && sizeof(struct gmon_histogram) == 41, "as gprof has them");

/* The part of each counter that is above what `times` histograms before this one have had room for. */
static bool gmon_write_one(const struct ktr__gmon_file *gmon, size_t n, uint64_t times, FILE *to)
{
	bool more = false;

	for (size_t i = 0; i < n; i++) {
		uint64_t had = times * GMON_FULL, left = gmon->counter[i] > had ? gmon->counter[i] - had : 0;
		uint16_t part = (uint16_t)(left < GMON_FULL ? left : GMON_FULL);

		more |= left > GMON_FULL;
		fwrite(&part, sizeof(part), 1, to);
	}
	return more;
}

static void gmon_write(const struct ktr__gmon_file *gmon, FILE *to)
{
	struct gmon_header header = { "gmon", 1, "" };
	struct gmon_histogram histogram = { 0, gmon->low, gmon->high, (uint32_t)((gmon->high - gmon->low) / 2),
					    gmon->hz, "seconds", 's' };
	bool more = true;

	fwrite(&header, sizeof(header), 1, to);
	for (uint64_t times = 0; more && !ferror(to); times++) {
		fwrite(&histogram, sizeof(histogram), 1, to);
		more = gmon_write_one(gmon, histogram.n_counters, times, to);
	}
}

int ktr__gmon_file_write(const struct ktr__gmon_file *gmon)
{
	const char *prefix = secure_getenv("GMON_OUT_PREFIX");
	char path[PATH_MAX];
	int n, code;
	FILE *to;

	n = prefix && *prefix ? snprintf(path, sizeof(path), "%s.%d", prefix, (int)getpid())
			      : snprintf(path, sizeof(path), "gmon.out");
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	to = fopen(path, "we");
	if (!to)
		return -errno;
	gmon_write(gmon, to);
	code = ferror(to) ? -EIO : 0;
	if (fclose(to) && !code)
		code = -errno;
	return code;
}
