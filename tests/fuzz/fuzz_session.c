/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a session file, in the form of session_chunks.h: what processes that share it, dead or
 * hostile, may leave in its tables and rings, also while it is read.
 *
 * Beyond surviving, what fuzz_event.h checks holds.
 */
#include "tests/fuzz/fuzz_event.h"
#include "tests/fuzz/session_chunks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_BYTES_MAX (64u << 20) /* [bytes] of the file: sparse */

static int fuzz_fd = -1;
static char fuzz_path[64];

/* Puts chunks into the file, at most so many bytes of input. What is left of the input. */
static const uint8_t *fuzz_chunks(const struct ktr_header *header, const uint8_t *data,
				  const uint8_t *end, size_t most)
{
	const uint8_t *stop = (size_t)(end - data) < most ? end : data + most;
	struct session_chunk chunk;

	while (data + sizeof(chunk) < stop) {
		uint64_t at;
		size_t n;

		memcpy(&chunk, data, sizeof(chunk));
		data += sizeof(chunk);
		n = chunk.n_bytes + 1u;
		n = n < (size_t)(end - data) ? n : (size_t)(end - data);
		at = header->region[chunk.region % KTR_REGIONS].offset + 64ull * chunk.at;
		if (at < FUZZ_BYTES_MAX - n)
			fuzz_check(pwrite(fuzz_fd, data, n, (off_t)at) != (ssize_t)n);
		data += n;
	}
	return data;
}

static void fuzz_walk(unsigned how, const struct ktr_header *header, const uint8_t *data,
		      const uint8_t *end)
{
	struct ktr_reader_options options = { .size = sizeof(options),
					      .reverse = (how & FUZZ_REVERSE) != 0,
					      .follow = (how & FUZZ_FOLLOW) && !(how & FUZZ_REVERSE) };
	uint64_t last = options.reverse ? UINT64_MAX : 0;
	struct ktr_reader *reader;
	struct ktr_event event;
	unsigned waits = 0;
	int what;

	if (ktr_reader_open(fuzz_path, &options, &reader, NULL))
		return;
	if (how & FUZZ_FILTER)
		ktr_reader_filter(reader, "thread ~ 'a' or n > 3 or class == net", NULL);
	while ((what = ktr_reader_next(reader, &event)) > 0) {
		if (what == KTR_READ_WAIT) {
			data = fuzz_chunks(header, data, end, 2048);
			if (waits++ == 3 || ktr_reader_wait(reader, 0))
				break;
		}
		if (what != KTR_READ_EVENT)
			continue;
		/* Followed, what comes late comes when it comes. */
		if (options.follow)
			last = 0;
		fuzz_event(reader, &event, options.reverse, &last);
	}
	ktr_reader_close(reader);
}

static void fuzz_start(void)
{
	snprintf(fuzz_path, sizeof(fuzz_path), "/dev/shm/fuzz_session.%d", (int)getpid());
	fuzz_fd = open(fuzz_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	fuzz_check(fuzz_fd < 0);
	/* What is left of it goes with the process. */
	unlink(fuzz_path);
	snprintf(fuzz_path, sizeof(fuzz_path), "/proc/self/fd/%d", fuzz_fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;
	struct ktr_header header;
	uint64_t n_bytes;
	unsigned how;

	if (fuzz_fd < 0)
		fuzz_start();
	if (!size)
		return 0;
	how = *data++;
	image_header(&header, "fuzz");
	if (how & FUZZ_HEADER) {
		if ((size_t)(end - data) < sizeof(header))
			return 0;
		memcpy(&header, data, sizeof(header));
		data += sizeof(header);
	}
	n_bytes = header.file_bytes < FUZZ_BYTES_MAX ? header.file_bytes : FUZZ_BYTES_MAX;
	fuzz_check(ftruncate(fuzz_fd, 0) || ftruncate(fuzz_fd, (off_t)n_bytes));
	fuzz_check(pwrite(fuzz_fd, &header, sizeof(header), 0) != sizeof(header));
	data = fuzz_chunks(&header, data, end,
			   how & FUZZ_TWICE ? (size_t)(end - data) / 2 : (size_t)(end - data));
	fuzz_walk(how, &header, data, end);
	return 0;
}
