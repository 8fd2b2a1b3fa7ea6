/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Repairs one stream.
 *
 * One pass finds the whole packets, one after the other, and what is none; it tells what is wrong and
 * whether cutting the end is all it takes, which is what a crash leaves. Otherwise the whole packets
 * are written anew, without what lay between them, and with counts of lost events that include what
 * is missing: foreign readers know of it by nothing else. Where the first packets are gone an empty one
 * stands in front, since those readers count from packet to packet.
 *
 * A packet whose checksum is right but whose content is not (an event of a call site that nothing
 * describes, a time that goes back) would stop a foreign reader: it counts as damaged.
 */
#include "analyze/rewrite/fsck_stream.h"

#include "analyze/read/packets.h"
#include "analyze/read/tables.h"
#include "analyze/rewrite/fsck.h"
#include "analyze/rewrite/fsck_file.h"
#include "writer/format/packet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct fsck_stream {
	struct ktr__fsck *fsck;
	const char *name;
	const struct ktr__tables *tables;
	int complete;
	struct ktr__packets file;
	/* As of the last whole packet. */
	struct ktr_packet_header head;
	int has_head;
	uint64_t discarded; /* [events] that its count should be */
	uint64_t end;       /* [bytes] after it */
	/* What is wrong. */
	int is_broken; /* more than the end */
	uint64_t n_missing;
	struct ktr__mend *mend; /* second pass: what is written anew */
};

/* Does every event of the packet make sense, in the order of time? */
static int fsck_stream_decodes(const struct fsck_stream *s, const uint8_t *bytes,
			       const struct ktr_packet_header *head)
{
	struct ktr__found found;
	struct ktr_event event;
	struct ktr__walk walk;
	uint64_t n = 0, last_ns = head->time_begin;
	int rc;

	ktr__walk_begin(&walk, bytes, head, s->tables->program, s->tables->n_sites);
	while ((rc = ktr__walk_next(&walk, &event, &found)) > 0) {
		if (event.time_ns < last_ns || event.time_ns > head->time_end)
			return 0;
		last_ns = event.time_ns;
		n++;
	}
	return !rc && n == head->n_events;
}

static int fsck_stream_suits(const struct fsck_stream *s, const uint8_t *bytes,
			     const struct ktr_packet_header *head)
{
	return head->cpu < KTR_CPU_MAX && head->time_begin <= head->time_end &&
	       (!s->has_head || head->time_begin >= s->head.time_end) &&
	       fsck_stream_decodes(s, bytes, head);
}

/* How many events are missing before the packet, and not counted. */
static uint64_t fsck_stream_missing(const struct fsck_stream *s,
				    const struct ktr_packet_header *head)
{
	uint64_t from = s->has_head ? s->head.first_event + s->head.n_events : 0;
	uint64_t told = s->has_head && head->discarded > s->head.discarded
				? head->discarded - s->head.discarded
				: 0;
	uint64_t missing = head->first_event > from ? head->first_event - from : 0;

	if (!s->has_head) {
		told = head->discarded;
		if (!s->complete || !head->seq)
			return 0;
	} else if (head->seq == s->head.seq + 1 && head->discarded >= s->head.discarded) {
		return 0;
	}
	return missing > told ? missing - told : 0;
}

/* An empty packet in front of the first one there is. */
static void fsck_stream_front(struct fsck_stream *s, const struct ktr_packet_header *next)
{
	uint8_t packet[KTR_PACKET_OLD_EVENTS];
	struct ktr_packet_header head = *next;

	head.flags |= KTR_PACKET_FILLER;
	head.next_slot = head.first_slot;
	head.time_end = head.time_begin;
	head.seq--;
	head.discarded = head.n_events = 0;
	head.first_event = s->complete ? 0 : next->first_event;
	ktr__packet_seal(packet, ktr__packet_events(head.flags), &head);
	ktr__mend_put(s->mend, packet, ktr__packet_events(head.flags));
}

static void fsck_stream_take(struct fsck_stream *s, const uint8_t *bytes,
			     const struct ktr_packet_header *head, uint64_t length)
{
	uint64_t missing = fsck_stream_missing(s, head), told = s->has_head ? s->head.discarded : 0;
	struct ktr_packet_header mended = *head;
	int is_front = !s->has_head && head->seq && !(head->flags & KTR_PACKET_FILLER);

	s->discarded += missing + (head->discarded > told ? head->discarded - told : 0);
	s->n_missing += missing;
	if (is_front || s->discarded != head->discarded)
		s->is_broken = 1;
	if (s->mend) {
		uint8_t *copy = malloc(length);

		if (!copy) {
			s->mend->rc = -ENOMEM;
			return;
		}
		if (is_front)
			fsck_stream_front(s, head);
		memcpy(copy, bytes, length);
		mended.discarded = s->discarded;
		/* What was after the content, if anything, goes. */
		length = head->content_bits / 8;
		ktr__packet_seal(copy, length, &mended);
		ktr__mend_put(s->mend, copy, length);
		free(copy);
	}
	s->head = *head;
	s->has_head = 1;
}

/* What lies in [from, to) is no whole packet. */
static int fsck_stream_bad(struct fsck_stream *s, uint64_t from, uint64_t to)
{
	int is_end = to >= s->file.n_bytes;

	if (!is_end)
		s->is_broken = 1;
	if (s->mend)
		return ktr__mend_keep(s->fsck, s->file.fd, s->name, from, to);
	ktr__fsck_found(s->fsck, s->name, "bytes %llu to %llu %s", (unsigned long long)from,
			(unsigned long long)to, is_end ? "are not a whole packet" : "are damaged");
	return 0;
}

/* From beginning to end, packet by packet. 0 or -errno. */
static int fsck_stream_pass(struct fsck_stream *s)
{
	struct ktr_packet_header head;
	const uint8_t *bytes;
	uint64_t at = 0, bad = 0;
	int rc = 0;

	s->has_head = 0;
	s->discarded = s->end = s->n_missing = 0;
	while (!rc && at < s->file.n_bytes) {
		int64_t n = ktr__packets_load(&s->file, at, &bytes, &head);

		if (n > 0 && fsck_stream_suits(s, bytes, &head)) {
			if (bad < at)
				rc = fsck_stream_bad(s, bad, at);
			/* Keeping has not touched the buffer. */
			fsck_stream_take(s, bytes, &head, (uint64_t)n);
			if (s->fsck->step)
				s->fsck->step(NULL, head.time_begin, head.n_events, (uint64_t)n);
			if (!s->mend) {
				s->fsck->n_packets++;
				s->fsck->n_events += head.n_events;
			}
			s->end = bad = at += (uint64_t)n;
			continue;
		}
		if (n < 0 && n != -EBADMSG && n != -ENOTSUP)
			return (int)n;
		n = n > 0 ? (int64_t)at + n : ktr__packets_find(&s->file, at + 1);
		if (n < 0)
			return (int)n;
		at = (uint64_t)n;
	}
	if (!rc && bad < s->file.n_bytes)
		rc = fsck_stream_bad(s, bad, s->file.n_bytes);
	return rc;
}

static int fsck_stream_mend(struct fsck_stream *s)
{
	struct ktr__fsck *fsck = s->fsck;
	struct ktr__mend mend;
	int rc;

	if (!s->end)
		return ktr__mend_move(fsck, fsck->dir_fd, s->name);
	if (!s->is_broken)
		return ktr__mend_cut(fsck, fsck->dir_fd, s->name, s->end);
	ktr__mend_begin(&mend, fsck, 0);
	s->mend = &mend;
	rc = fsck_stream_pass(s);
	if (rc && !mend.rc)
		mend.rc = rc;
	return ktr__mend_commit(&mend, fsck->dir_fd, s->name);
}

int ktr__fsck_stream(struct ktr__fsck *fsck, const char *name, const struct ktr__tables *tables,
		     int complete)
{
	struct fsck_stream s = {
		.fsck = fsck, .name = name, .tables = tables, .complete = complete
	};
	unsigned n_found = fsck->n_found;
	int rc = ktr__packets_open(&s.file, fsck->dir_fd, name);

	if (rc)
		return rc;
	rc = fsck_stream_pass(&s);
	if (!rc && s.n_missing)
		ktr__fsck_found(fsck, name, "%llu events are missing and not counted as lost",
				(unsigned long long)s.n_missing);
	else if (!rc && s.is_broken && fsck->n_found == n_found)
		ktr__fsck_found(fsck, name, "its first packets are missing");
	fsck->n_missing += s.n_missing;
	if (!rc && fsck->n_found > n_found && !fsck->only_look) {
		rc = fsck_stream_mend(&s);
		if (!rc)
			fsck->n_mended += fsck->n_found - n_found;
	}
	ktr__packets_close(&s.file);
	return rc;
}
