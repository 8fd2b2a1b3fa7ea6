/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What guards a trace against damage: packet headers and checksums, of sidecar lines and of the
 * metadata too; ktr/trace_file.h describes the bytes. In both libraries.
 *
 * Nothing here allocates or keeps state. Any bytes are taken.
 */
#ifndef WRITER_PACKET_H
#define WRITER_PACKET_H

#include <ktr/trace_file.h>
#include "writer/format/crc32c.h"

/* Where the events of a packet begin, by its version; 0 is the one that is written. */
static inline uint32_t ktr__packet_events(uint32_t flags)
{
	return (flags & KTR_PACKET_VERSION) == KTR_TRACE_OLDEST ? KTR_PACKET_OLD_EVENTS : KTR_PACKET_EVENTS;
}

/*
 * Looks at what should be a packet. Returns its length in bytes, with *head filled, or
 *	0	   n_bytes end before the packet does: a torn tail, or a damaged length; or, with
 *		   head->flags KTR_PACKET_UNWRITTEN, what holds the place of packets that are being
 *		   written, or were when their writer was killed: the stream ends here
 *	-EBADMSG   not a packet, or damaged: the checksum is wrong
 *	-ENOTSUP   a whole packet of a later major version
 * with *head zero but for that. After 0 and -EBADMSG, ktr__packet_find() tells where to go on.
 */
int64_t ktr__packet_look(const uint8_t *bytes, size_t n_bytes, struct ktr_packet_header *head);

/*
 * The same from the first KTR_PACKET_OLD_EVENTS bytes alone, or what there is of them, for bisection: no
 * checksum, and the length that the header tells may lie beyond the file's end.
 */
int64_t ktr__packet_peek(const uint8_t *bytes, size_t n_bytes, struct ktr_packet_header *head);

/* The offset, from `from` on, of the next whole and undamaged packet, or n_bytes. */
size_t ktr__packet_find(const uint8_t *bytes, size_t n_bytes, size_t from);

/*
 * Completes a packet of n_bytes, whose events lie after its first ktr__packet_events(head->flags) bytes: sets
 * the constant fields, sizes and checksum of *head and copies it in, in the form of the version in flags; 0 becomes
 * KTR_TRACE_MAJOR.
 */
void ktr__packet_seal(uint8_t *packet, size_t n_bytes, struct ktr_packet_header *head);

/* The same of a packet that is longer than its content: what is after that becomes zeros. */
void ktr__packet_seal_padded(uint8_t *packet, size_t n_content, size_t n_bytes, struct ktr_packet_header *head);

/*
 * One line of a sidecar, without its newline: 0, or -EBADMSG when it is not as it was written. A
 * line that passed is JSON as it stands, "crc" included.
 */
int ktr__line_check(const char *line, size_t n_bytes);

/*
 * Ends a sidecar line begun at `line`: writes KTR_LINE_TAIL bytes and a newline at line + n_bytes.
 */
void ktr__line_seal(char *line, size_t n_bytes);

/* Undoes the writing of raw bytes as U+EF80 to U+EFFF, in place; returns the new length. */
size_t ktr__text_raw(char *text);

/* [bytes] The comment that ends a piece of metadata, with its newline. */
#define KTR_METADATA_TAIL 26

/* Ends a piece of metadata: writes KTR_METADATA_TAIL bytes at text + n_bytes. */
void ktr__metadata_seal(char *text, size_t n_bytes);

/*
 * How many bytes of a metadata text are whole pieces with right checksums, from its beginning:
 * n_bytes when all is well; what follows is damaged, or torn.
 */
size_t ktr__metadata_check(const char *text, size_t n_bytes);

#endif
