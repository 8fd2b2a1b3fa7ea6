/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets of one stream file.
 *
 * Packets lie end to end and tell their own lengths, so the way forward is from one to the next.
 * A search begins anywhere: it reads a window and has writer/format/packet.h find the first packet in it
 * whose checksum is right. Bisection does that at halved offsets until what is left is short, and
 * goes on packet by packet. The way back reads a window that ends where the last packet began,
 * and remembers the packets in it.
 *
 * A window of twice the longest packet always holds a whole one unless the file is damaged there;
 * a shorter one is tried first, because few packets are as long as they may be. What a search has
 * read is given back when it ends: there may be hundreds of streams.
 */
#include "analyze/read/packets.h"

#include "analyze/read/lines.h"
#include "writer/format/packet.h"

#include <ktr/session.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

unsigned ktr__stream_kind(const char *suffix)
{
	static const char names[KTR_RING_KINDS][8] = { "", KTR_STREAM_KEEP, KTR_STREAM_KERNEL };
	unsigned kind = 0;

	while (kind < KTR_RING_KINDS && strcmp(suffix, names[kind]) != 0)
		kind++;
	return kind;
}

#define PACKETS_READ  ((size_t)64 * 1024)          /* [bytes] read at a time on the way forward */
#define PACKETS_SHORT ((size_t)256 * 1024)         /* [bytes] the window that is tried first */
#define PACKETS_LONG  ((size_t)2 * KTR_PACKET_MAX) /* [bytes] the window that suffices */
#define PACKETS_STEP  ((uint64_t)1 << 20)          /* [bytes] walked through header by header */
#define PACKETS_SMALL KTR_TRACE_PAGE /* [bytes] such packets, as writers make them, are read many at a time */
#define PACKETS_AGAIN 3
#define PACKETS_NONE  UINT64_MAX

int ktr__packets_open(struct ktr__packets *packets, int dir_fd, const char *name)
{
	memset(packets, 0, sizeof(*packets));
	packets->fd = ktr__lines_open(dir_fd, name);
	if (packets->fd < 0)
		return packets->fd;
	packets->n_bytes = (uint64_t)lseek(packets->fd, 0, SEEK_END);
	return 0;
}

void ktr__packets_close(struct ktr__packets *packets)
{
	if (packets->fd >= 0)
		close(packets->fd);
	packets->fd = -1;
	free(packets->buffer);
	packets->buffer = NULL;
	packets->room = packets->n = 0;
}

/* Gives back a buffer that a search has made large. */
static void packets_trim(struct ktr__packets *packets)
{
	if (packets->room <= PACKETS_READ)
		return;
	free(packets->buffer);
	packets->buffer = NULL;
	packets->room = packets->n = 0;
}

static int packets_grow(struct ktr__packets *packets, size_t n)
{
	uint8_t *grown;

	if (n <= packets->room)
		return 0;
	grown = realloc(packets->buffer, n + KTR__PACKETS_SLACK);
	if (!grown)
		return -ENOMEM;
	packets->buffer = grown;
	packets->room = n;
	return 0;
}

/*
 * Has [offset, offset + n) in the buffer, less where the file is shorter; what of it is there
 * already is kept. Returns the number of bytes at *bytes, or -errno.
 */
static int64_t packets_fetch(struct ktr__packets *packets, uint64_t offset, size_t n,
			     const uint8_t **bytes)
{
	uint64_t left = offset < packets->n_bytes ? packets->n_bytes - offset : 0;
	size_t have = 0;
	int rc;

	if (n > left)
		n = (size_t)left;
	if (offset >= packets->from && offset - packets->from <= packets->n)
		have = packets->n - (size_t)(offset - packets->from);
	if (have >= n) {
		*bytes = packets->buffer ? packets->buffer + (offset - packets->from) : NULL;
		return (int64_t)n;
	}
	rc = packets_grow(packets, n);
	if (rc)
		return rc;
	if (have)
		memmove(packets->buffer, packets->buffer + (offset - packets->from), have);
	packets->from = offset;
	packets->n = have;
	while (packets->n < n) {
		ssize_t got = pread(packets->fd, packets->buffer + packets->n, n - packets->n,
				    (off_t)(offset + packets->n));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0) {
			packets->n_bytes = offset + packets->n; /* cut while we read */
			break;
		}
		packets->n += (size_t)got;
	}
	*bytes = packets->buffer;
	return (int64_t)packets->n;
}

static int64_t packets_load_now(struct ktr__packets *packets, uint64_t offset, const uint8_t **bytes,
				struct ktr_packet_header *head)
{
	int64_t n = packets_fetch(packets, offset, KTR_PACKET_OLD_EVENTS, bytes), length;

	memset(head, 0, sizeof(*head));
	if (n >= 0 && n < (int64_t)KTR_PACKET_EVENTS)
		return 0;
	if (n < 0)
		return n;
	length = ktr__packet_peek(*bytes, (size_t)n, head);
	if (!length)
		packets->n = 0; /* it may be another one the next time */
	if (length <= 0)
		return length;
	/* Read on past the packet: the next ones are wanted too. */
	if (length > (int64_t)(packets->n - (offset - packets->from)))
		n = packets_fetch(packets, offset,
				  length > (int64_t)PACKETS_READ ? (size_t)length : PACKETS_READ,
				  bytes);
	else
		n = packets_fetch(packets, offset, (size_t)length, bytes);
	return n < 0 ? n : ktr__packet_look(*bytes, (size_t)n, head);
}

int64_t ktr__packets_load(struct ktr__packets *packets, uint64_t offset, const uint8_t **bytes,
			  struct ktr_packet_header *head)
{
	const struct timespec pause = { 0, 1000000 };
	int64_t n = packets_load_now(packets, offset, bytes, head);

	for (unsigned i = 0; n == -EBADMSG && i < packets->patience; i++) {
		if (i)
			nanosleep(&pause, NULL);
		packets->n = 0;
		n = packets_load_now(packets, offset, bytes, head);
	}
	if (n == -EBADMSG)
		packets->patience /= 2;
	return n;
}

/* The first place in n bytes that looks like a packet's header, or n less what is too short to be one. */
static size_t packets_candidate(const uint8_t *bytes, size_t n)
{
	const uint32_t magic = KTR_PACKET_MAGIC;
	struct ktr_packet_header head;
	size_t at = 0;

	if (n < KTR_PACKET_EVENTS)
		return n;
	while (at + KTR_PACKET_EVENTS <= n) {
		const uint8_t *found = memmem(bytes + at, n - at, &magic, sizeof(magic));

		if (!found)
			break;
		at = (size_t)(found - bytes);
		/* 0: whether it is one is not to be seen here, after which the window ends. */
		if (at + KTR_PACKET_EVENTS <= n && ktr__packet_peek(found, n - at, &head) >= 0)
			return at;
		at++;
	}
	return n - KTR_PACKET_EVENTS + 1;
}

int64_t ktr__packets_find(struct ktr__packets *packets, uint64_t offset)
{
	struct ktr_packet_header head;
	const uint8_t *bytes;

	while (offset + KTR_PACKET_EVENTS <= packets->n_bytes) {
		int64_t n = packets_fetch(packets, offset, PACKETS_SHORT, &bytes), length;
		size_t at;

		if (n < 0)
			return n;
		at = packets_candidate(bytes, (size_t)n);
		offset += at;
		if (at + KTR_PACKET_EVENTS > (size_t)n)
			continue;
		length = ktr__packets_load(packets, offset, &bytes, &head);
		if (length > 0)
			return (int64_t)offset;
		if (length < 0 && length != -EBADMSG && length != -ENOTSUP)
			return length;
		offset++;
	}
	return (int64_t)packets->n_bytes;
}

/*
 * Looks at the header at an offset, not at the checksum. Small packets come many at a time, of others
 * the header alone is read. Returns the length that it tells, -EBADMSG, or -errno.
 */
static int64_t packets_peek(struct ktr__packets *packets, uint64_t offset, int small,
			    struct ktr_packet_header *head)
{
	uint8_t header[KTR_PACKET_OLD_EVENTS];
	const uint8_t *bytes = header;
	int64_t n, length;

	if (small)
		n = packets_fetch(packets, offset, PACKETS_READ, &bytes);
	else
		n = pread(packets->fd, header, sizeof(header), (off_t)offset);
	if (n < 0)
		return small ? n : -errno;
	length = ktr__packet_peek(bytes, (size_t)n, head);
	if (length <= 0 || (uint64_t)length > packets->n_bytes - offset)
		return -EBADMSG;
	return length;
}

/*
 * From the packet boundary at offset on, header by header, to the first packet that ends at or after
 * time_ns; *before is the offset of the one in front of it. Where there is no header, the one before
 * is looked at again: if it is damaged, its length may be, too.
 */
static int64_t packets_step(struct ktr__packets *packets, uint64_t offset, uint64_t time_ns,
			    uint64_t *before)
{
	struct ktr_packet_header head;
	int64_t length = 0, next;
	const uint8_t *bytes;

	while (offset < packets->n_bytes) {
		length = packets_peek(packets, offset, length <= PACKETS_SMALL, &head);
		if (length == -EBADMSG) {
			int trusted = *before == PACKETS_NONE ||
				      ktr__packets_load(packets, *before, &bytes, &head) > 0;

			next = ktr__packets_find(packets, trusted ? offset : *before + 1);
			if (next < 0)
				return next;
			offset = (uint64_t)next;
			continue;
		}
		if (length < 0)
			return length;
		if (head.time_end >= time_ns)
			break;
		*before = offset;
		offset += (uint64_t)length;
	}
	return (int64_t)(offset < packets->n_bytes ? offset : packets->n_bytes);
}

/*
 * Halves the file until what is left is short: returns a packet boundary that the packet wanted does
 * not lie before, and in *before the offset of the packet that ends there (PACKETS_NONE: none).
 */
static int64_t packets_bisect(struct ktr__packets *packets, uint64_t time_ns, uint64_t *before)
{
	uint64_t low = 0, high = packets->n_bytes;
	struct ktr_packet_header head;
	const uint8_t *bytes;

	while (high - low > PACKETS_STEP) {
		uint64_t middle = low + (high - low) / 2;
		int64_t at = ktr__packets_find(packets, middle), length = 0;

		if (at < 0)
			return at;
		if ((uint64_t)at < high)
			length = ktr__packets_load(packets, (uint64_t)at, &bytes, &head);
		if (length < 0)
			return length;
		if (length == 0 || head.time_end >= time_ns) {
			high = middle;
			continue;
		}
		*before = (uint64_t)at;
		low = (uint64_t)(at + length);
		if (low > high)
			break;
	}
	return (int64_t)low;
}

int64_t ktr__packets_seek(struct ktr__packets *packets, uint64_t time_ns,
			  struct ktr_packet_header *before)
{
	uint64_t in_front = PACKETS_NONE;
	const uint8_t *bytes;
	int64_t at = packets_bisect(packets, time_ns, &in_front), length;

	memset(before, 0, sizeof(*before));
	if (at >= 0)
		at = packets_step(packets, (uint64_t)at, time_ns, &in_front);
	if (at >= 0 && in_front != PACKETS_NONE) {
		length = ktr__packets_load(packets, in_front, &bytes, before);
		if (length <= 0 || in_front + (uint64_t)length != (uint64_t)at)
			memset(before, 0, sizeof(*before));
	}
	packets_trim(packets);
	return at;
}

/* Remembers the packets that lie whole in [from, to). 0 or -errno. */
static int packets_list(struct ktr__packets *packets, uint64_t from, uint64_t to)
{
	const uint8_t *bytes;
	int64_t n = packets_fetch(packets, from, (size_t)(to - from), &bytes);
	size_t at = 0;

	packets->n_back = 0;
	if (n < 0)
		return (int)n;
	while ((at = ktr__packet_find(bytes, (size_t)n, at)) < (size_t)n) {
		struct ktr_packet_header head;
		int64_t length = ktr__packet_peek(bytes + at, (size_t)n - at, &head);

		if (length <= 0)
			break;
		if (packets->n_back == KTR__PACKETS_BACK)
			memmove(packets->back, packets->back + 1,
				--packets->n_back * sizeof(packets->back[0]));
		packets->back[packets->n_back++] = from + at;
		at += (size_t)length;
	}
	packets->back_end = to;
	return 0;
}

int64_t ktr__packets_before(struct ktr__packets *packets, uint64_t offset)
{
	size_t window = PACKETS_SHORT;

	if (packets->n_back && packets->back_end == offset) {
		packets->back_end = packets->back[--packets->n_back];
		return (int64_t)packets->back_end;
	}
	while (offset) {
		uint64_t from = offset > window ? offset - window : 0;
		int rc = packets_list(packets, from, offset);

		if (rc)
			return rc;
		if (packets->n_back) {
			packets->back_end = packets->back[--packets->n_back];
			return (int64_t)packets->back_end;
		}
		if (window == PACKETS_LONG)
			offset = from ? from + KTR_PACKET_MAX : 0;
		window = PACKETS_LONG;
	}
	return -ENOENT;
}

static int packets_zeros(const uint8_t *bytes, size_t n)
{
	while (n && !bytes[n - 1])
		n--;
	return !n;
}

/*
 * A file has the length of what is being written before anything of it: zeros after the last whole packet. Pages
 * that are read when that has just begun are read again; what is there by halves is waited for.
 */
static void packets_unbegun(struct ktr__packets *packets)
{
	int64_t at = ktr__packets_before(packets, packets->n_bytes), n = 0;
	struct ktr_packet_header head;
	const uint8_t *bytes;

	if (at >= 0)
		n = ktr__packets_load(packets, (uint64_t)at, &bytes, &head);
	if (n < 0 || (at < 0 && at != -ENOENT))
		return;
	at = at < 0 ? 0 : at + n;
	packets->n_back = 0;
	for (int i = 0; i < PACKETS_AGAIN; i++) {
		packets->n = 0;
		ktr__packets_load(packets, (uint64_t)at, &bytes, &head);
		packets->n = 0;
		n = packets_fetch(packets, (uint64_t)at, PACKETS_LONG, &bytes);
		if (n <= 0 || !packets_zeros(bytes, n < (int64_t)KTR_PACKET_EVENTS ? (size_t)n : KTR_PACKET_EVENTS))
			return;
		if (packets_zeros(bytes, (size_t)n)) {
			packets->n_bytes = (uint64_t)at;
			return;
		}
	}
}

/* What is written at once is shorter than the longest packet. */
void ktr__packets_unwritten(struct ktr__packets *packets)
{
	const uint32_t magic = KTR_PACKET_MAGIC;
	struct ktr_packet_header head;
	const uint8_t *bytes, *at;
	uint64_t from;
	int64_t n;

	packets_unbegun(packets);
	from = packets->n_bytes > KTR_PACKET_MAX ? packets->n_bytes - KTR_PACKET_MAX : 0;
	packets->n = 0;
	n = packets_fetch(packets, from, KTR_PACKET_MAX, &bytes);
	for (at = bytes; n > 0 && (at = memmem(at, (size_t)(bytes + n - at), &magic, sizeof(magic))); at++)
		if (ktr__packet_peek(at, (size_t)(bytes + n - at), &head) == 0 &&
		    head.flags == KTR_PACKET_UNWRITTEN) {
			packets->n_bytes = from + (uint64_t)(at - bytes);
			break;
		}
	packets_trim(packets);
	packets->n = 0;
}
