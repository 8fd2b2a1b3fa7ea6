/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace as earlier writers left it: in the form of KTR_TRACE_OLDEST. Made out of one of today by what changes,
 * the headers of packets, what the metadata says of them, and the number of the form.
 */
#ifndef TESTS_OLDEST_H
#define TESTS_OLDEST_H

#include "trace_look.h"

#include "writer/format/metadata.h"

static inline int oldest_store(const char *trace, const char *name, const void *bytes, size_t n)
{
	char path[300];
	int fd, failed;

	snprintf(path, sizeof(path), "%s/%s", trace, name);
	fd = open(path, O_WRONLY | O_TRUNC);
	failed = fd < 0 || write(fd, bytes, n) != (ssize_t)n;
	close(fd);
	return failed;
}

/* 0, or 1: it has no such stream, or is damaged. */
static inline int oldest_stream(const char *trace, const char *name)
{
	size_t n = 0, at = 0, to = 0;
	uint8_t *bytes = (uint8_t *)look_file(trace, name, &n), *old = calloc(1, 2 * n + 1);
	struct ktr_packet_header head;
	int failed = !bytes || !old;

	while (!failed && at < n) {
		int64_t length = ktr__packet_look(bytes + at, n - at, &head);
		size_t events = length > 0 ? (size_t)head.content_bits / 8 - KTR_PACKET_EVENTS : 0;

		failed = length <= 0;
		if (failed)
			break;
		memcpy(old + to + KTR_PACKET_OLD_EVENTS, bytes + at + KTR_PACKET_EVENTS, events);
		head.flags = (head.flags & ~KTR_PACKET_VERSION) | KTR_TRACE_OLDEST;
		ktr__packet_seal(old + to, KTR_PACKET_OLD_EVENTS + events, &head);
		to += KTR_PACKET_OLD_EVENTS + events;
		at += (size_t)length;
	}
	failed = failed || oldest_store(trace, name, old, to);
	free(bytes);
	free(old);
	return failed;
}

/* The first line tells the number. 0 or 1. */
static inline int oldest_info(const char *trace)
{
	size_t n = 0;
	char *text = look_file(trace, "ktr/info.jsonl", &n);
	char *major = text ? strstr(text, "\"major\":2,") : NULL, *end = text ? strchr(text, '\n') : NULL;
	int failed = !major || !end || major > end;

	if (!failed) {
		major[strlen("\"major\":")] = '1';
		ktr__line_seal(text, (size_t)(end - text) - KTR_LINE_TAIL);
		failed = oldest_store(trace, "ktr/info.jsonl", text, n);
	}
	free(text);
	return failed;
}

/* The head, made as it would have been, in place of the one that is there. 0 or 1. */
static inline int oldest_metadata(const char *trace)
{
	static const char first_event[] = "event {\n	id = 0;", seal[] = "/* ktr crc32c ";
	struct ktr__metadata_head head = { "host", "made", "made 1", "made", 4711, { 0 }, 0, KTR_TRACE_OLDEST };
	struct ktr__emit emit = { 0 };
	size_t n = 0;
	char *text = look_file(trace, "metadata", &n), *events = text ? strstr(text, first_event) : NULL;
	char *end = events ? strstr(events, seal) : NULL, *head_end;
	int failed = !end;

	if (!failed) {
		ktr__metadata_begin(&emit, &head);
		failed = emit.failed;
	}
	if (!failed) {
		head_end = memmem(emit.text, emit.n, first_event, sizeof(first_event) - 1);
		emit.n = (size_t)(head_end - emit.text);
		ktr__emit_bytes(&emit, events, (size_t)(end - events));
		ktr__metadata_end(&emit, 0, 0);
		end += KTR_METADATA_TAIL;
		ktr__emit_bytes(&emit, end, (size_t)(text + n - end));
		failed = emit.failed || oldest_store(trace, "metadata", emit.text, emit.n);
	}
	ktr__emit_free(&emit);
	free(text);
	return failed;
}

/* The whole trace, whose one stream that is. 0 or 1. */
static inline int oldest_trace(const char *trace, const char *stream)
{
	return oldest_stream(trace, stream) || oldest_info(trace) || oldest_metadata(trace);
}

#endif
