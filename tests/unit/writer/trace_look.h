/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tests of the writer look at: the packets of a stream, counted and checked against the rules
 * that readers of CTF have, and the lines of sidecars.
 */
#ifndef TESTS_TRACE_LOOK_H
#define TESTS_TRACE_LOOK_H

#include "tests/unit/made.h"
#include "tests/unit/suite.h"

#include "writer/format/codec.h"
#include "writer/format/packet.h"

struct look {
	unsigned n_packets;
	unsigned n_empty;    /* packets without events */
	unsigned n_wrong;    /* broken rules, and bytes that are no packet */
	uint64_t n_events;
	uint64_t discarded;  /* of the last packet */
	uint64_t next_slot;  /* of the last packet */
	uint64_t next_index; /* running number behind the last event */
	uint64_t sum;	     /* of all first arguments */
	uint64_t first_arg;  /* of the last event */
	uint32_t cpus;	     /* bit set of the packets' CPUs */
};

/* A whole file, to be freed; NULL when it is not there. */
static inline char *look_file(const char *trace, const char *name, size_t *n)
{
	char path[300], *bytes = NULL;
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", trace, name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		return NULL;
	bytes = malloc((size_t)st.st_size + 1);
	*n = (size_t)st.st_size;
	if (bytes && read(fd, bytes, *n) != (ssize_t)*n) {
		free(bytes);
		bytes = NULL;
	}
	if (bytes)
		bytes[*n] = 0;
	close(fd);
	return bytes;
}

static inline void look_packet(struct look *look, const struct made *made, const uint8_t *bytes,
			       const struct ktr_packet_header *head)
{
	struct ktr__program programs[IMAGE_ROWS] = { { 0 } };
	struct ktr_event event = { 0 };
	struct ktr__found found;
	struct ktr__walk walk;
	uint64_t last = 0;
	int rc;

	for (unsigned i = 1; i < made->image.control->n_sites && i < IMAGE_ROWS; i++) {
		const struct ktr_site_row *row =
			(struct ktr_site_row *)image_region(&made->image, KTR_REGION_site) + i;

		ktr__program_make(&programs[i], row->n_args, row->type);
	}
	ktr__walk_begin(&walk, bytes, head, programs, IMAGE_ROWS);
	while ((rc = ktr__walk_next(&walk, &event, &found)) > 0) {
		look->n_wrong += event.time_ns < head->time_begin || event.time_ns > head->time_end;
		last = event.time_ns;
		look->n_events++;
		look->sum += event.arg[0];
		look->first_arg = event.arg[0];
	}
	look->n_wrong += rc != 0 || (head->n_events && last != head->time_end);
}

/*
 * A write that is cut short at a page leaves whole packets: none crosses one, nor would the header of the next.
 * What is behind the content fills a page.
 */
static inline int look_crosses(size_t at, size_t length, const struct ktr_packet_header *head)
{
	size_t left = KTR_TRACE_PAGE - (at + length) % KTR_TRACE_PAGE;

	return at % KTR_TRACE_PAGE + length > KTR_TRACE_PAGE || left < ktr__packet_events(head->flags) ||
	       (head->packet_bits != head->content_bits && left != KTR_TRACE_PAGE);
}

/*
 * Walks a stream and checks reference rules: order, numbering, slots that follow each other or a
 * loss.
 */
static inline struct look look_stream(const struct made *made, const char *trace, const char *name)
{
	struct ktr_packet_header head, before = { 0 };
	struct look look = { 0 };
	size_t n = 0, at = 0;
	uint8_t *bytes = (uint8_t *)look_file(trace, name, &n);

	while (bytes && at < n) {
		int64_t length = ktr__packet_look(bytes + at, n - at, &head);

		if (length <= 0) {
			look.n_wrong++;
			break;
		}
		look.n_wrong += head.seq != look.n_packets || head.time_begin < before.time_end ||
				head.discarded < before.discarded || head.first_slot < before.next_slot ||
				look_crosses(at, (size_t)length, &head);
		if (look.n_packets)
			look.n_wrong += (head.first_slot != before.next_slot ||
					 head.first_event != look.next_index) !=
					(head.discarded != before.discarded);
		look_packet(&look, made, bytes + at, &head);
		look.n_packets++;
		look.n_empty += !head.n_events;
		look.discarded = head.discarded;
		look.next_slot = head.next_slot;
		look.next_index = head.first_event + head.n_events;
		look.cpus |= 1u << head.cpu;
		before = head;
		at += (size_t)length;
	}
	free(bytes);
	return look;
}

/* Lines of a text file that hold `part`, each with a right checksum; -1 when one is damaged. */
static inline int look_lines(const char *trace, const char *name, const char *part)
{
	size_t n = 0;
	char *text = look_file(trace, name, &n), *line = text;
	int found = 0;

	for (char *end; line && (end = strchr(line, '\n')); line = end + 1) {
		if (ktr__line_check(line, (size_t)(end - line))) {
			found = -1;
			break;
		}
		*end = 0;
		found += strstr(line, part) != NULL;
	}
	if (found >= 0 && line && *line)
		found = -1;
	free(text);
	return found;
}

#endif
