/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast one thread packs ring entries, seals and writes packets, and walks them again.
 *
 *	pack [FILE]	default: /tmp/bench_pack.out, removed afterwards
 *
 * Rows: the events (CTR0, CTR2 of two ints, CTR6 of six u64, a 16-byte string, and those in turn).
 * Columns: bytes per event, and million events per second, best of RUNS: packing alone, packing and
 * checksum, both and write(2), walking all packets. The entries are those of a 64 KiB batch, over
 * and over, as a drain finds them: in its cache.
 */
#include "writer/format/codec.h"
#include "writer/format/packet.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define N_BATCH  1024u
#define N_BYTES  (180u << 10) /* of a packet, about */
#define N_EVENTS 20000000u
#define RUNS     5

enum {
	PACK,
	SEAL,
	WRITE,
	WALK,
	WAYS
};

static struct ktr__program programs[8];
static uint32_t words[4] = { 0, 1234, 1235, 1236 };
static struct ktr_entry batch[N_BATCH];
static uint8_t packet[(384u << 10) + KTR_PACK_SLACK];
static const char *path = "/tmp/bench_pack.out";

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void make_programs(void)
{
	const uint8_t two[2] = { KTR_ARG_I32, KTR_ARG_I32 };
	const uint8_t six[6] = { KTR_ARG_U64, KTR_ARG_U64, KTR_ARG_U64,
				 KTR_ARG_U64, KTR_ARG_U64, KTR_ARG_U64 };
	const uint8_t str[1] = { KTR_ARG_STR };

	ktr__program_make(&programs[1], 0, NULL);
	ktr__program_make(&programs[2], 2, two);
	ktr__program_make(&programs[3], 6, six);
	ktr__program_make(&programs[4], 1, str);
}

/* Fills the batch with events of sites [from, to]. */
static uint32_t make_batch(uint32_t from, uint32_t to)
{
	uint32_t site = from, i;

	for (i = 0; i + 1 < N_BATCH; i++) {
		batch[i] = (struct ktr_entry){ 26 * i, site, 1 + i / 64 % 3, { i, i * 7, 3, 4, 5, 6 } };
		if (site == 4) {
			batch[i].arg[0] = 16;
			memset(&batch[i].arg[1], 'x', 16);
		}
		site = site == to ? from : site + 1;
	}
	return i;
}

static void begin(struct ktr__pack *pack)
{
	memset(pack, 0, sizeof(*pack));
	pack->at = packet + KTR_PACKET_EVENTS;
	pack->limit = packet + sizeof(packet) - KTR_PACK_SLACK;
	pack->limit_ticks = KTR_TIME_TICKS;
	pack->clock = (struct ktr_trace_clock){ 0, 0, (1ull << 62) / 13 * 10, 63, 0 };
	pack->programs = programs;
	pack->n_programs = 8;
	pack->words = words;
	pack->n_words = 4;
}

static uint64_t walk(const struct ktr_packet_header *head)
{
	struct ktr_event event;
	struct ktr__found found;
	struct ktr__walk at;
	uint64_t sum = 0;

	ktr__walk_begin(&at, packet, head, programs, 8);
	while (ktr__walk_next(&at, &event, &found) > 0)
		sum += event.arg[0] + event.time_ns + found.site;
	return sum;
}

/* One run of N_EVENTS: million events per second. */
static double run(uint32_t n_slots, int way, double *bytes)
{
	int fd = way == WRITE ? open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	struct ktr_packet_header head = { 0 };
	struct ktr__pack pack;
	uint64_t total = 0, events = 0, sum = 0;
	double start, seconds = 0;

	while (events < N_EVENTS) {
		start = now();
		begin(&pack);
		while (pack.at < packet + N_BYTES)
			ktr__pack_run(&pack, batch, n_slots);
		head.n_events = pack.n_events;
		head.time_begin = pack.first_ns;
		head.time_end = pack.time_ns;
		if (way == SEAL || way == WRITE)
			ktr__packet_seal(packet, (size_t)(pack.at - packet), &head);
		if (way == WRITE && write(fd, packet, (size_t)(pack.at - packet)) < 0)
			perror(path);
		if (way == WALK) {
			ktr__packet_seal(packet, (size_t)(pack.at - packet), &head);
			start = now();
			sum += walk(&head);
		}
		seconds += now() - start;
		events += pack.n_events;
		total += (uint64_t)(pack.at - packet);
	}
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	*bytes = (double)total / (double)events;
	return (sum == 1 ? 0 : (double)events / seconds) * 1e-6;
}

static void row(const char *name, uint32_t from, uint32_t to)
{
	double best[WAYS] = { 0 }, bytes = 0;
	uint32_t n_slots = make_batch(from, to);

	for (int k = 0; k < RUNS; k++)
		for (int way = 0; way < WAYS; way++) {
			double rate = run(n_slots, way, &bytes);

			best[way] = rate > best[way] ? rate : best[way];
		}
	printf("%-8s %8.1f %8.1f %8.1f %8.1f %8.1f\n", name, bytes, best[PACK], best[SEAL],
	       best[WRITE], best[WALK]);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		path = argv[1];
	make_programs();
	printf("%-8s %8s %8s %8s %8s %8s   [million events/s]\n", "event", "bytes", "pack", "+crc",
	       "+write", "walk");
	row("ctr0", 1, 1);
	row("ctr2", 2, 2);
	row("ctr6", 3, 3);
	row("str16", 4, 4);
	row("mix", 1, 4);
	return 0;
}
