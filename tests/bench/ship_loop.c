/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What shipping cannot do without: walks a trace with all arguments decoded, and packs the blocks that were
 * shipped, by the same codec in frames of the same size. Prints the CPU seconds of both.
 *
 *	ship_loop TRACE BODY...		bodies as a server got them
 */
#include <ktr/reader.h>

#include <lz4.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEAD 25 /* [bytes] of a frame: a checksum, the method, and how long it is, packed and not */
#define MOST (1 << 20) /* [bytes] in a frame */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double walk(const char *path, uint64_t *n)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_reader *reader;
	struct ktr_event event;
	double before = now();
	int what;

	memset(&event, 0, sizeof(event));
	if (ktr_reader_open(path, NULL, &reader, &err))
		exit(1);
	while ((what = ktr_reader_next(reader, &event)) > 0)
		*n += what == KTR_READ_EVENT;
	ktr_reader_close(reader);
	return now() - before;
}

/* Packs one body's frames again, from and to memory that was used before. */
static double pack(const char *path, uint64_t *n_plain, uint64_t *n_packed)
{
	static char in[LZ4_COMPRESSBOUND(MOST)], plain[MOST], out[LZ4_COMPRESSBOUND(MOST)];
	FILE *file = fopen(path, "rb");
	unsigned char head[HEAD];
	double took = 0, before;
	uint32_t packed, whole;

	memset(out, 1, sizeof(out));
	while (file && fread(head, 1, HEAD, file) == HEAD) {
		memcpy(&packed, head + 17, 4);
		memcpy(&whole, head + 21, 4);
		packed -= HEAD - 16;
		if (packed > sizeof(in) || whole > MOST || fread(in, 1, packed, file) != packed ||
		    LZ4_decompress_safe(in, plain, (int)packed, (int)whole) != (int)whole)
			exit(1);
		before = now();
		*n_packed += (uint64_t)LZ4_compress_default(plain, out, (int)whole, LZ4_compressBound((int)whole));
		took += now() - before;
		*n_plain += whole;
	}
	if (file)
		fclose(file);
	return took;
}

int main(int argc, char **argv)
{
	uint64_t n_events = 0, n_plain = 0, n_packed = 0;
	double walked, packed = 0;

	if (argc < 2)
		return 2;
	walked = walk(argv[1], &n_events);
	for (int i = 2; i < argc; i++)
		packed += pack(argv[i], &n_plain, &n_packed);
	printf("%.3f %.3f %llu %llu %llu\n", walked, packed, (unsigned long long)n_events, (unsigned long long)n_plain,
	       (unsigned long long)n_packed);
	return n_events && n_plain ? 0 : 1;
}
