/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a probed function costs, beside the peer's event of three words (peer.h) and beside a call of the same
 * function compiled without room for a probe, in the same thread, taking turns:
 *
 *	plain	no room		off	room, no probe
 *	entry	its entry is recorded		pair	entry and return, a scope
 *
 * Prints a row for each, ns of a call, least and median of the rounds, and the ratio of the least that has a limit.
 */
#include "peer.h"

#include <ktr/ctl.h>
#include <ktr/provider.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FBT_ROUNDS 200
#define FBT_CALLS  20000
#define FBT_BARE   __attribute__((patchable_function_entry(0, 0)))

enum fbt_row { FBT_PLAIN, FBT_OFF, FBT_PEER, FBT_ENTRY, FBT_PAIR, FBT_ROWS };

static const char *const fbt_name[FBT_ROWS] = { "plain", "off", "peer3", "entry", "pair" };
static double fbt_ns[FBT_ROWS][FBT_ROUNDS];

#define FBT_FUNCTION(name)                                                                       \
	__attribute__((noinline, aligned(64))) long name(long i);                                \
	__attribute__((noinline, aligned(64))) long name(long i)                                 \
	{                                                                                        \
		__asm__ volatile("" : "+r"(i));                                                  \
		return i;                                                                        \
	}
FBT_BARE long fbt_plain(long i);
FBT_FUNCTION(fbt_plain)
FBT_FUNCTION(fbt_off)
FBT_FUNCTION(fbt_entry)
FBT_FUNCTION(fbt_pair)

FBT_BARE static double fbt_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

#define FBT_LOOP(call)                                                                           \
	for (long i = 0; i < FBT_CALLS; i++) {                                                   \
		__asm__ volatile("" : "+r"(i));                                                  \
		call;                                                                            \
	}                                                                                        \
	break

FBT_BARE static double fbt_time(enum fbt_row row)
{
	double began = fbt_now();

	switch (row) {
	case FBT_PLAIN: FBT_LOOP(fbt_plain(i));
	case FBT_OFF: FBT_LOOP(fbt_off(i));
	case FBT_ENTRY: FBT_LOOP(fbt_entry(i));
	case FBT_PAIR: FBT_LOOP(fbt_pair(i));
	default: FBT_LOOP(peer_3(1, (uint64_t)i, (uint64_t)i, (uint64_t)i));
	}
	return (fbt_now() - began) / FBT_CALLS;
}

FBT_BARE static int fbt_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

FBT_BARE static void fbt_print(enum fbt_row row, enum fbt_row base, double limit)
{
	double ratio = fbt_ns[row][0] / fbt_ns[base][0];

	printf("%-6s %7.2f %7.2f", fbt_name[row], fbt_ns[row][0], fbt_ns[row][FBT_ROUNDS / 2]);
	if (limit > 0)
		printf("   %5.2f x %-5s  limit %.2f", ratio, fbt_name[base], limit);
	printf("\n");
}

FBT_BARE int main(void)
{
	static const char *const spec[] = { "fbt::fbt_entry:entry", "fbt::fbt_pair:" };
	struct ktr_error err = KTR_ERROR_NONE;

	if (peer_open(65536))
		return 1;
	for (int i = 0; i < 2; i++)
		if (ktr_provider_enable(spec[i], &err)) {
			fprintf(stderr, "fbt: %s\n", err.text);
			return 1;
		}
	for (int round = -20; round < FBT_ROUNDS; round++)
		for (enum fbt_row row = 0; row < FBT_ROWS; row++) {
			double ns = fbt_time(row);

			if (round >= 0)
				fbt_ns[row][round] = ns;
		}
	for (enum fbt_row row = 0; row < FBT_ROWS; row++)
		qsort(fbt_ns[row], FBT_ROUNDS, sizeof(double), fbt_compare);
	printf("call       min  median   [ns]\n");
	fbt_print(FBT_PLAIN, FBT_PLAIN, 0);
	fbt_print(FBT_OFF, FBT_PLAIN, 1.02);
	fbt_print(FBT_PEER, FBT_PEER, 0);
	fbt_print(FBT_ENTRY, FBT_PEER, 1.3);
	fbt_print(FBT_PAIR, FBT_PEER, 2.5);
	return 0;
}
