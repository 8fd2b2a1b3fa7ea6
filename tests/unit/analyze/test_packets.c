/* SPDX-License-Identifier: BSD-2-Clause */
/* A packet that is looked at while its writer completes it. */
#include "tests/unit/made.h"
#include "tests/unit/suite.h"

#include "analyze/read/packets.h"
#include "writer/format/packet.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HALF 52 /* [bytes] of a header that ends on the next page */

struct half {
	struct made made;
	struct ktr__packets packets;
	uint8_t header[KTR_PACKET_EVENTS];
	int64_t length;
	int fd;
};

/* A stream of one packet, of whose header only the first page is there. */
static void half_open(struct half *half)
{
	static const uint8_t none[KTR_PACKET_EVENTS - HALF];
	struct ktr_packet_header head;
	const uint8_t *bytes;
	char path[128];
	uint32_t site;
	int dir_fd;

	memset(half, 0, sizeof(*half));
	made_open(&half->made);
	site = made_site(&half->made, KTR_GEN, "a.c", 1, "%d", "n", 1, KTR_ARG_I32);
	for (uint64_t i = 0; i < 10; i++)
		made_event(&half->made, 0, 1000 + i, site, 1, i);
	made_trace(&half->made);
	dir_fd = open(half->made.trace, O_RDONLY | O_DIRECTORY);
	CU_ASSERT_FATAL(ktr__packets_open(&half->packets, dir_fd, "cpu_0") == 0);
	close(dir_fd);
	half->length = ktr__packets_load(&half->packets, 0, &bytes, &head);
	CU_ASSERT_FATAL(half->length > (int64_t)KTR_PACKET_EVENTS);
	memcpy(half->header, bytes, sizeof(half->header));
	half->packets.n = 0;
	snprintf(path, sizeof(path), "%s/cpu_0", half->made.trace);
	half->fd = open(path, O_RDWR);
	CU_ASSERT_FATAL(pwrite(half->fd, none, sizeof(none), HALF) == sizeof(none));
}

static void half_close(struct half *half)
{
	close(half->fd);
	ktr__packets_close(&half->packets);
	made_close(&half->made);
}

static void *half_complete(void *context)
{
	struct half *half = context;

	usleep(3000);
	return pwrite(half->fd, half->header + HALF, sizeof(half->header) - HALF, HALF) < 0 ? context : NULL;
}

static void completed_meanwhile(void)
{
	struct ktr_packet_header head;
	const uint8_t *bytes;
	pthread_t writer;
	struct half half;

	half_open(&half);
	half.packets.patience = 1u << 20; /* however late the other thread is */
	CU_ASSERT_FATAL(pthread_create(&writer, NULL, half_complete, &half) == 0);
	CU_ASSERT_EQUAL(ktr__packets_load(&half.packets, 0, &bytes, &head), half.length);
	CU_ASSERT_EQUAL(head.n_events, 10);
	CU_ASSERT_EQUAL(half.packets.patience, 1u << 20);
	pthread_join(writer, NULL);
	half_close(&half);
}

/* What nobody writes is damaged at once; what stays as it is, in the end. */
static void never_completed(void)
{
	struct ktr_packet_header head;
	const uint8_t *bytes;
	struct half half;

	half_open(&half);
	CU_ASSERT_EQUAL(ktr__packets_load(&half.packets, 0, &bytes, &head), -EBADMSG);
	half.packets.patience = 4;
	CU_ASSERT_EQUAL(ktr__packets_load(&half.packets, 0, &bytes, &head), -EBADMSG);
	CU_ASSERT_EQUAL(half.packets.patience, 2);
	half_close(&half);
}

/* The file has the length of what is being written, and nothing of it yet: it ends before. */
static void not_begun(void)
{
	struct half half;
	uint64_t n_bytes;

	half_open(&half);
	n_bytes = half.packets.n_bytes;
	CU_ASSERT(pwrite(half.fd, half.header, sizeof(half.header), 0) == sizeof(half.header));
	for (unsigned more = 1; more < 10000; more += 3333) {
		CU_ASSERT(ftruncate(half.fd, (off_t)(n_bytes + more)) == 0);
		half.packets.n_bytes = n_bytes + more;
		ktr__packets_unwritten(&half.packets);
		CU_ASSERT_EQUAL(half.packets.n_bytes, n_bytes);
	}
	/* The first of a stream. */
	CU_ASSERT(ftruncate(half.fd, 0) == 0 && ftruncate(half.fd, 5000) == 0);
	half.packets.n_bytes = 5000;
	ktr__packets_unwritten(&half.packets);
	CU_ASSERT_EQUAL(half.packets.n_bytes, 0);
	/* What is torn stays to be told of. */
	CU_ASSERT(pwrite(half.fd, half.header, HALF, 0) == HALF);
	half.packets.n_bytes = 5000;
	ktr__packets_unwritten(&half.packets);
	CU_ASSERT_EQUAL(half.packets.n_bytes, 5000);
	half_close(&half);
}

/* Earlier writers held the place of what they were writing by a packet without events: the file ends before it. */
static void covered(void)
{
	struct ktr_packet_header cover = { 0 };
	struct half half;
	uint64_t n_bytes;

	half_open(&half);
	n_bytes = half.packets.n_bytes;
	CU_ASSERT(pwrite(half.fd, half.header, sizeof(half.header), 0) == sizeof(half.header));
	CU_ASSERT(ktr__packet_peek(half.header, sizeof(half.header), &cover) == half.length);
	cover.flags = KTR_PACKET_UNWRITTEN | KTR_TRACE_OLDEST;
	cover.next_slot = cover.first_slot;
	cover.time_end = cover.time_begin;
	cover.n_events = cover.crc = 0;
	cover.content_bits = 8 * KTR_PACKET_OLD_EVENTS;
	cover.packet_bits = 8 * 5000;
	cover.crc = ktr__crc32c(0, &cover, KTR_PACKET_OLD_EVENTS);
	for (unsigned whole = 0; whole < 2; whole++) {
		CU_ASSERT(ftruncate(half.fd, (off_t)(n_bytes + 5000)) == 0);
		CU_ASSERT(pwrite(half.fd, &cover, KTR_PACKET_OLD_EVENTS, (off_t)n_bytes) == KTR_PACKET_OLD_EVENTS);
		half.packets.n_bytes = n_bytes + 5000;
		ktr__packets_unwritten(&half.packets);
		/* One whose checksum is wrong is damage, and stays to be told of. */
		CU_ASSERT_EQUAL(half.packets.n_bytes, whole ? n_bytes + 5000 : n_bytes);
		cover.crc ^= 1;
	}
	half_close(&half);
}

SUITE(packets, TEST(completed_meanwhile), TEST(never_completed), TEST(not_begun), TEST(covered));
