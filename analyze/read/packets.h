/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One stream file of a trace as a sequence of packets that can be found from either side, by
 * time, and after damage. Reads by pread through one buffer; holds no more than one packet and
 * what was read with it. The file's length is fixed when it is opened, whatever is appended
 * afterwards.
 */
#ifndef ANALYZE_PACKETS_H
#define ANALYZE_PACKETS_H

#include <ktr/trace_file.h>

#include <stddef.h>
#include <stdint.h>

#define KTR__PACKETS_BACK 64 /* packets remembered by a search backwards */
#define KTR__PACKETS_SLACK 96 /* [bytes] that may be read behind a packet: they mean nothing */

struct ktr__packets {
	int fd;
	uint64_t n_bytes; /* of the file */
	uint8_t *buffer;  /* owned: holds the file's bytes [from, from + n) */
	size_t room;
	uint64_t from;
	size_t n;
	uint64_t back[KTR__PACKETS_BACK]; /* offsets of packets that follow each other ... */
	unsigned n_back;
	uint64_t back_end; /* ... up to here */
	unsigned patience; /* 0 unless set: KTR__PACKETS_PATIENCE where somebody is writing the file */
};

/*
 * Looks at a packet that seems damaged, a millisecond apart, before it is: pages of the header that completes an
 * append do not change at once. Half as many after each that was.
 */
#define KTR__PACKETS_PATIENCE 64

/* Opens name in the directory: a regular file, no link. 0 or -errno. */
int ktr__packets_open(struct ktr__packets *packets, int dir_fd, const char *name);

/*
 * Takes the file to end where packets are being written, or were when their writer was killed. For
 * traces that have no end yet.
 */
void ktr__packets_unwritten(struct ktr__packets *packets);
void ktr__packets_close(struct ktr__packets *packets);

/* What follows the number in a stream's name: "", ".keep" or ".kernel". KTR_RING_*, KTR_RING_KINDS if none. */
unsigned ktr__stream_kind(const char *suffix);

/*
 * Reads the packet at an offset and checks it. Returns its length with *bytes pointing at it
 * (valid until the next call), 0 when the file ends before the packet does, -EBADMSG or -ENOTSUP
 * as of ktr__packet_look(), -ENOMEM, or -errno of pread(2).
 */
int64_t ktr__packets_load(struct ktr__packets *packets, uint64_t offset, const uint8_t **bytes,
			  struct ktr_packet_header *head);

/*
 * The offset of the first good packet at or after an offset, n_bytes when there is none, or
 * -errno.
 */
int64_t ktr__packets_find(struct ktr__packets *packets, uint64_t offset);

/*
 * The offset of the first good packet that ends at or after time_ns, n_bytes when there is none, or
 * -errno. *before is the header of the packet in front of it, all zero at the beginning.
 */
int64_t ktr__packets_seek(struct ktr__packets *packets, uint64_t time_ns,
			  struct ktr_packet_header *before);

/*
 * The offset of the last good packet that ends at or before an offset, -ENOENT when there is
 * none, or another -errno.
 */
int64_t ktr__packets_before(struct ktr__packets *packets, uint64_t offset);

#endif
