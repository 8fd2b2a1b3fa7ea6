/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A window of the file that moves on. A header is believed when its numbers can be; behind damage only one that
 * has more to show, so that data of programs is not taken for one.
 */
#include "writer/ktrace/in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* [bytes] Two records of the greatest length, so that there is always room to read on. */
#define IN_BYTES (2 * (KTR__KTRACE_LEN_MAX + 64))

int ktr__ktrace_in_init(struct ktr__ktrace_in *in, int fd, const char *path)
{
	memset(in, 0, sizeof(*in));
	in->fd = fd;
	in->path = path;
	in->buffer = malloc(IN_BYTES);
	return in->buffer ? 0 : -ENOMEM;
}

void ktr__ktrace_in_free(struct ktr__ktrace_in *in)
{
	free(in->buffer);
}

/* Reads until n bytes are there, or no more come. Are they? -errno. */
static int in_have(struct ktr__ktrace_in *in, size_t n)
{
	ssize_t got;

	if (in->end - in->at >= n)
		return 1;
	if (in->ended)
		return 0;
	memmove(in->buffer, in->buffer + in->at, in->end - in->at);
	in->end -= in->at;
	in->at = 0;
	while (in->end < n) {
		got = read(in->fd, in->buffer + in->end, IN_BYTES - in->end);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0) {
			in->ended = !in->follow;
			return 0;
		}
		in->end += got > 0 ? (size_t)got : 0;
	}
	return 1;
}

static void in_pass(struct ktr__ktrace_in *in, size_t n)
{
	in->at += n;
	in->offset += n;
}

static size_t in_header_bytes(uint16_t type)
{
	return type & KTR__KTRACE_VERSIONED ? sizeof(struct ktr__ktrace_header) : KTR__KTRACE_HEADER_0;
}

/* Takes a header apart. NULL, or what about it cannot be. */
static const char *in_header(const char *at, struct ktr__ktrace_record *record)
{
	struct ktr__ktrace_header *header = &record->header;
	int64_t fractions = 1000000000;

	memcpy(header, at, KTR__KTRACE_HEADER_0);
	record->dropped = (header->type & KTR__KTRACE_DROP) != 0;
	if (header->type & KTR__KTRACE_VERSIONED) {
		memcpy(header, at, sizeof(*header));
		if (header->version != KTR__KTRACE_VERSION)
			return "is of no version that is known";
	} else {
		header->version = 0;
		header->cpu = -1;
		fractions = 1000000;
	}
	header->type &= (uint16_t) ~(KTR__KTRACE_DROP | KTR__KTRACE_VERSIONED);
	if (!header->type)
		return "has no type";
	if (header->len < 0 || header->len > KTR__KTRACE_LEN_MAX)
		return "has a length that none has";
	if (header->fraction < 0 || header->fraction >= fractions)
		return "has a time that cannot be";
	if (!memchr(header->comm, 0, sizeof(header->comm)))
		return "has a name without an end";
	return NULL;
}

/* Are the numbers those of a process, and is a name zero behind its end? Of what has no type that is known, too. */
static int in_is_likely(const struct ktr__ktrace_header *header)
{
	size_t n = strlen(header->comm);

	for (size_t i = n; i < sizeof(header->comm); i++)
		if (header->comm[i])
			return 0;
	return n > 0 && header->pid > 0 && header->sec > 0;
}

/* Is it beyond doubt? */
static int in_is_sure(const struct ktr__ktrace_header *header)
{
	return in_is_likely(header) && header->type <= KTR__KTRACE_STRUCT_ARRAY && header->tid > 0;
}

/* A record that begins `from` bytes on, whole: 1; 0: there is none; -errno. */
static int in_try(struct ktr__ktrace_in *in, size_t from)
{
	struct ktr__ktrace_record record;
	size_t n = KTR__KTRACE_HEADER_0;
	uint16_t type;
	int rc = in_have(in, from + n);

	if (rc <= 0)
		return rc;
	memcpy(&type, in->buffer + in->at + from + offsetof(struct ktr__ktrace_header, type), sizeof(type));
	n = in_header_bytes(type);
	rc = in_have(in, from + n);
	if (rc <= 0 || in_header(in->buffer + in->at + from, &record) || !in_is_sure(&record.header))
		return rc < 0 ? rc : 0;
	return in_have(in, from + n + (size_t)record.header.len);
}

/*
 * Does the record here, of n bytes, hide another, which is one beyond doubt? Only where none follows it: 1, 0,
 * -errno.
 */
static int in_hides(struct ktr__ktrace_in *in, size_t n, int is_whole)
{
	int rc = is_whole ? in_have(in, n + sizeof(struct ktr__ktrace_header)) : 0;
	struct ktr__ktrace_record next;
	size_t there = in->end - in->at;

	if (rc < 0 || (is_whole && there == n))
		return rc;
	if (there >= n + KTR__KTRACE_HEADER_0 && !in_header(in->buffer + in->at + n, &next) &&
	    in_is_likely(&next.header))
		return 0;
	rc = 0;
	for (size_t from = 1; !rc && from < n && from < there; from++)
		rc = in_try(in, from);
	return rc;
}

/* Damage: to the next record. 1; 0: no more comes; -errno. */
static int in_skip(struct ktr__ktrace_in *in)
{
	int rc;

	for (;;) {
		in_pass(in, 1);
		rc = in_have(in, KTR__KTRACE_HEADER_0);
		if (rc <= 0)
			return rc;
		rc = in_try(in, 0);
		if (rc)
			return rc;
	}
}

/*
 * What is here: 1, a whole record, or, if *wrong is set, none; 0: it has not come yet; -errno. *n: its header's
 * bytes.
 */
static int in_here(struct ktr__ktrace_in *in, struct ktr__ktrace_record *record, size_t *n, const char **wrong)
{
	int rc = in_have(in, KTR__KTRACE_HEADER_0), hides;
	uint16_t type;

	if (rc <= 0)
		return rc;
	memcpy(&type, in->buffer + in->at + offsetof(struct ktr__ktrace_header, type), sizeof(type));
	*n = in_header_bytes(type);
	rc = in_have(in, *n);
	if (rc <= 0)
		return rc;
	*wrong = in_header(in->buffer + in->at, record);
	if (*wrong)
		return 1;
	rc = in_have(in, *n + (size_t)record->header.len);
	if (rc < 0 || (rc == 0 && in->follow))
		return rc;
	hides = in_hides(in, *n + (size_t)record->header.len, rc);
	if (hides <= 0)
		return hides < 0 ? hides : rc;
	*wrong = "has a length that leads past others";
	return 1;
}

int ktr__ktrace_in_next(struct ktr__ktrace_in *in, struct ktr__ktrace_record *record)
{
	const char *wrong;
	size_t n = 0;
	int rc;

	for (;;) {
		rc = in_here(in, record, &n, &wrong);
		if (rc <= 0)
			return rc;
		if (!wrong)
			break;
		ktr_error_at_offset(&in->error, in->path, in->offset, EINVAL,
				    "what is here %s: no record of ktrace", wrong);
		rc = in_skip(in);
		if (rc <= 0)
			return rc;
	}
	record->offset = in->offset;
	/* To where any type may lie: the header has been copied, and there are its bytes to move into. */
	record->data = memmove(in->buffer + (in->at + n) / 16 * 16, in->buffer + in->at + n,
			       (size_t)record->header.len);
	in_pass(in, n + (size_t)record->header.len);
	return 1;
}

void ktr__ktrace_in_end(struct ktr__ktrace_in *in)
{
	if (in->end != in->at)
		ktr_error_at_offset(&in->error, in->path, in->offset, EINVAL,
				    "the last record is cut: %zu bytes of it are there", in->end - in->at);
}
