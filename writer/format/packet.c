/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packet headers and checksums, both directions; ktr/trace_file.h describes the bytes.
 *
 * Checksums are compared as written, digit by digit: an upper-case digit is damage too.
 */
#include "writer/format/packet.h"

#include <errno.h>
#include <string.h>

#define PACKET_CRC_AT offsetof(struct ktr_packet_header, crc)

/* Whatever the version, they are there. */
_Static_assert(offsetof(struct ktr_packet_start, crc) == PACKET_CRC_AT, "where the checksum is");
_Static_assert(offsetof(struct ktr_packet_start, flags) == offsetof(struct ktr_packet_header, flags),
	       "where the version is");

static uint32_t packet_crc(const uint8_t *packet, size_t n_bytes)
{
	static const uint8_t zeros[4];
	uint32_t crc = ktr__crc32c(0, packet, PACKET_CRC_AT);

	crc = ktr__crc32c(crc, zeros, sizeof(zeros));
	return ktr__crc32c(crc, packet + PACKET_CRC_AT + 4, n_bytes - PACKET_CRC_AT - 4);
}

/* A header as it lies in the file, of any format but the oldest. */
static void packet_get(const uint8_t *bytes, struct ktr_packet_header *head)
{
	struct ktr_packet_start start;

	memcpy(&start, bytes, sizeof(start));
	*head = (struct ktr_packet_header){
		.magic = start.magic,
		.stream_id = start.events_id & 0xff,
		.first_slot = start.first_slot,
		.next_slot = start.first_slot + start.n_slots,
		.crc = start.crc,
		.flags = start.flags,
		.time_begin = start.time_begin,
		.time_end = start.time_end,
		.content_bits = start.content_bits,
		.packet_bits = start.packet_bits,
		.seq = start.seq,
		.discarded = start.discarded,
		.first_event = start.first_event,
		.n_events = start.events_id >> 8,
		.ring = start.ring,
		.cpu = start.cpu,
	};
}

static void packet_put(uint8_t *bytes, const struct ktr_packet_header *head)
{
	uint64_t n_slots = head->next_slot - head->first_slot;
	const struct ktr_packet_start start = {
		.magic = head->magic,
		.events_id = head->n_events << 8,
		.first_slot = head->first_slot,
		.first_event = head->first_event,
		.crc = head->crc,
		.flags = (uint16_t)head->flags,
		.ring = (uint16_t)head->ring,
		.cpu = head->cpu,
		.content_bits = (uint32_t)head->content_bits,
		.packet_bits = (uint32_t)head->packet_bits,
		.n_slots = n_slots < UINT32_MAX ? (uint32_t)n_slots : UINT32_MAX,
		.time_begin = head->time_begin,
		.time_end = head->time_end,
		.seq = head->seq,
		.discarded = head->discarded,
	};

	memcpy(bytes, &start, sizeof(start));
}

/* Do the fields agree with each other? Of later versions, too: sizes stay where they are. */
static int packet_plausible(const struct ktr_packet_header *head)
{
	return head->packet_bits % 8 == 0 && head->content_bits % 8 == 0 &&
	       head->packet_bits <= 8ull * KTR_PACKET_MAX &&
	       head->content_bits <= head->packet_bits &&
	       head->content_bits >= 8ull * ktr__packet_events(head->flags) &&
	       head->time_begin <= head->time_end && head->first_slot <= head->next_slot &&
	       head->stream_id == 0;
}

static int64_t packet_fail(struct ktr_packet_header *head, int64_t rc)
{
	memset(head, 0, sizeof(*head));
	return rc;
}

/* What held the place of packets that were being written. */
static int64_t packet_unwritten(const uint8_t *bytes, struct ktr_packet_header *head)
{
	int whole = packet_crc(bytes, KTR_PACKET_OLD_EVENTS) == head->crc;

	packet_fail(head, 0);
	head->flags = whole ? KTR_PACKET_UNWRITTEN : 0;
	return whole ? 0 : -EBADMSG;
}

int64_t ktr__packet_peek(const uint8_t *bytes, size_t n_bytes, struct ktr_packet_header *head)
{
	const uint32_t magic = KTR_PACKET_MAGIC;
	uint8_t version;

	memset(head, 0, sizeof(*head));
	if (memcmp(bytes, &magic, n_bytes < 4 ? n_bytes : 4) != 0)
		/* Nothing but zeros: the file has its length and nothing more yet. */
		return n_bytes < KTR_PACKET_EVENTS || memcmp(bytes, head, KTR_PACKET_EVENTS) != 0 ? -EBADMSG : 0;
	if (n_bytes < KTR_PACKET_EVENTS)
		return 0;
	version = bytes[offsetof(struct ktr_packet_header, flags)];
	if (n_bytes < ktr__packet_events(version))
		return 0;
	if (version == KTR_TRACE_OLDEST)
		memcpy(head, bytes, KTR_PACKET_OLD_EVENTS);
	else
		packet_get(bytes, head);
	if (!packet_plausible(head))
		return packet_fail(head, -EBADMSG);
	if (version < KTR_TRACE_OLDEST || version > KTR_TRACE_MAJOR)
		return -ENOTSUP;
	if (version == KTR_TRACE_OLDEST && head->flags & KTR_PACKET_UNWRITTEN)
		return packet_unwritten(bytes, head);
	return (int64_t)(head->packet_bits / 8);
}

int64_t ktr__packet_look(const uint8_t *bytes, size_t n_bytes, struct ktr_packet_header *head)
{
	int64_t length = ktr__packet_peek(bytes, n_bytes, head);
	int64_t foreign = length == -ENOTSUP ? -ENOTSUP : 0;

	if (foreign)
		length = (int64_t)(head->packet_bits / 8);
	if (length <= 0)
		return length;
	if ((uint64_t)length > n_bytes)
		return packet_fail(head, 0);
	if (packet_crc(bytes, (size_t)length) != head->crc)
		return packet_fail(head, -EBADMSG);
	return foreign ? packet_fail(head, foreign) : length;
}

size_t ktr__packet_find(const uint8_t *bytes, size_t n_bytes, size_t from)
{
	const uint32_t magic = KTR_PACKET_MAGIC;
	struct ktr_packet_header head;

	while (from < n_bytes) {
		const uint8_t *at = memmem(bytes + from, n_bytes - from, &magic, sizeof(magic));

		if (!at)
			break;
		from = (size_t)(at - bytes);
		if (ktr__packet_look(at, n_bytes - from, &head) > 0)
			return from;
		from++;
	}
	return n_bytes;
}

void ktr__packet_seal_padded(uint8_t *packet, size_t n_content, size_t n_bytes, struct ktr_packet_header *head)
{
	head->magic = KTR_PACKET_MAGIC;
	head->stream_id = 0;
	head->crc = 0;
	head->flags |= head->flags & KTR_PACKET_VERSION ? 0 : KTR_TRACE_MAJOR;
	head->content_bits = 8ull * n_content;
	head->packet_bits = 8ull * n_bytes;
	if ((head->flags & KTR_PACKET_VERSION) == KTR_TRACE_OLDEST)
		memcpy(packet, head, KTR_PACKET_OLD_EVENTS);
	else
		packet_put(packet, head);
	memset(packet + n_content, 0, n_bytes - n_content);
	head->crc = ktr__crc32c(0, packet, n_bytes);
	memcpy(packet + PACKET_CRC_AT, &head->crc, sizeof(head->crc));
}

void ktr__packet_seal(uint8_t *packet, size_t n_bytes, struct ktr_packet_header *head)
{
	ktr__packet_seal_padded(packet, n_bytes, n_bytes, head);
}

static void packet_hex(char *to, uint32_t crc)
{
	for (int i = 0; i < 8; i++)
		to[i] = "0123456789abcdef"[crc >> (28 - 4 * i) & 15];
}

/* The two frames of a checksum in text; both have eight digits in the middle. */
static void packet_line_tail(char *to, uint32_t crc)
{
	memcpy(to, ",\"crc\":\"00000000\"}", KTR_LINE_TAIL);
	packet_hex(to + 8, crc);
}

static void packet_metadata_tail(char *to, uint32_t crc)
{
	memcpy(to, "/* ktr crc32c 00000000 */\n", KTR_METADATA_TAIL);
	packet_hex(to + 14, crc);
}

int ktr__line_check(const char *line, size_t n_bytes)
{
	char tail[KTR_LINE_TAIL];

	if (n_bytes < KTR_LINE_TAIL + 1 || line[0] != '{')
		return -EBADMSG;
	n_bytes -= KTR_LINE_TAIL;
	packet_line_tail(tail, ktr__crc32c(0, line, n_bytes));
	return memcmp(line + n_bytes, tail, KTR_LINE_TAIL) ? -EBADMSG : 0;
}

void ktr__line_seal(char *line, size_t n_bytes)
{
	packet_line_tail(line + n_bytes, ktr__crc32c(0, line, n_bytes));
	line[n_bytes + KTR_LINE_TAIL] = '\n';
}

size_t ktr__text_raw(char *text)
{
	const unsigned char *from = (const unsigned char *)text;
	unsigned char *to = (unsigned char *)text;

	while (*from) {
		if (from[0] == 0xee && (from[1] == 0xbe || from[1] == 0xbf) && from[2]) {
			*to++ = (unsigned char)(0x80 | (from[1] & 1) << 6 | (from[2] & 0x3f));
			from += 3;
		} else {
			*to++ = *from++;
		}
	}
	*to = 0;
	return (size_t)(to - (unsigned char *)text);
}

void ktr__metadata_seal(char *text, size_t n_bytes)
{
	packet_metadata_tail(text + n_bytes, ktr__crc32c(0, text, n_bytes));
}

size_t ktr__metadata_check(const char *text, size_t n_bytes)
{
	size_t piece = 0, at = 0;
	uint32_t crc = 0; /* of the piece up to `at` */

	while (at < n_bytes) {
		const char *end = memchr(text + at, '\n', n_bytes - at);
		size_t n = end ? (size_t)(end - text) + 1 - at : n_bytes - at;
		char tail[KTR_METADATA_TAIL];

		if (n == KTR_METADATA_TAIL)
			packet_metadata_tail(tail, crc);
		if (n == KTR_METADATA_TAIL && memcmp(text + at, tail, 14) == 0) {
			if (memcmp(text + at, tail, n))
				break;
			piece = at + n;
			crc = 0;
		} else {
			crc = ktr__crc32c(crc, text + at, n);
		}
		at += n;
	}
	return piece;
}
