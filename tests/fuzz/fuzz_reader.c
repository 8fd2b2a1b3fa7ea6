/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a session file, as a stream of a trace, as the sidecars of one, or as its metadata; the
 * first byte chooses. Checksums are put right, or hardly any input would get past them. Some traces
 * are repaired, after which there must be nothing left to repair.
 *
 * Beyond surviving, what fuzz_event.h checks holds.
 *
 *	clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Iinclude -I. tests/fuzz/fuzz_reader.c \
 *		$(find analyze conf ktr/session writer/format -name '*.c') -ljansson -lm -o fuzz_reader
 *	./fuzz_reader tests/corpus/reader
 */
#include "tests/fuzz/fuzz_event.h"

#include "analyze/rewrite/fsck.h"
#include "writer/format/packet.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char fuzz_dir[64];

static const char fuzz_info[] =
	"{\"kind\":\"trace\",\"major\":1,\"uuid\":\"000102030405060708090a0b0c0d0e0f\",\"clock\":\"tsc\"\n"
	"{\"kind\":\"end\",\"ns\":1\n";

static const char fuzz_sites[] =
	"{\"site\":1,\"mask\":\"0x1\",\"file\":\"a.c\",\"line\":1,\"format\":\"%d %s\",\"names\":\"n,s\","
	"\"types\":[\"I32\",\"STR\"],\"how\":[0,1]\n"
	"{\"site\":2,\"mask\":\"0x2\",\"file\":\"b.c\",\"line\":2,\"format\":\"tick\",\"names\":\"\",\"types\":[],"
	"\"how\":[]\n"
	"{\"site\":3,\"mask\":\"0x4\",\"file\":\"c.c\",\"line\":3,\"format\":\"stack %f %hhd\",\"names\":\"s,x,c\","
	"\"types\":[\"STACK\",\"F64\",\"I8\"],\"how\":[4,0,0]\n";

static const char fuzz_threads[] =
	"{\"thread\":1,\"word\":101,\"tid\":101,\"pid\":7,\"proc\":1,\"name\":\"t\"\n";

static const char *const fuzz_rest[] = {
	"trace/ktr/procs.jsonl",   "trace/ktr/classes.jsonl", "trace/ktr/modules.jsonl",
	"trace/ktr/anchors.jsonl", "trace/ktr/losses.jsonl",
};

static void fuzz_write(const char *name, const void *bytes, size_t n)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", fuzz_dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	close(fd);
}

/* Writes lines, each with its checksum. */
static void fuzz_lines(const char *name, const char *bytes, size_t n)
{
	char *text = malloc(20 * n + 64), *to = text;

	for (const char *at = bytes, *end = bytes + n; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((stop ? stop : end) - at);

		memcpy(to, at, length);
		to += length;
		to += sprintf(to, ",\"crc\":\"%08x\"}\n", ktr__crc32c(0, at, length));
		at += length + 1;
	}
	fuzz_write(name, text, (size_t)(to - text));
	free(text);
}

/* Puts the checksums right of what looks like packets, one behind the other. */
static void fuzz_stream(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(size + 1);
	struct ktr_packet_header head;
	size_t at = 0;

	memcpy(bytes, data, size);
	while (at + KTR_PACKET_EVENTS <= size) {
		int64_t n = ktr__packet_peek(bytes + at, size - at, &head);

		if (n <= 0 || (uint64_t)n > size - at)
			break;
		memset(bytes + at + offsetof(struct ktr_packet_header, crc), 0, 4);
		head.crc = ktr__crc32c(0, bytes + at, (size_t)n);
		memcpy(bytes + at + offsetof(struct ktr_packet_header, crc), &head.crc, 4);
		at += (size_t)n;
	}
	fuzz_write("trace/cpu_0", bytes, size);
	free(bytes);
}

static void fuzz_walk(const char *name, int reverse, uint64_t from_ns)
{
	struct ktr_reader_options options = { .size = sizeof(options),
					      .reverse = reverse,
					      .from_ns = from_ns };
	uint64_t last = reverse ? UINT64_MAX : from_ns;
	char path[128];
	struct ktr_reader *reader;
	struct ktr_event event;
	uint64_t n = 0, counted = 0;
	int what, again;

	snprintf(path, sizeof(path), "%s/%s", fuzz_dir, name);
	if (ktr_reader_open(path, &options, &reader, NULL))
		return;
	while ((what = ktr_reader_next(reader, &event)) > 0) {
		if (what != KTR_READ_EVENT)
			continue;
		fuzz_event(reader, &event, reverse, &last);
		n++;
	}
	ktr_reader_close(reader);
	/* The metadata is not in order, so that no packet is believed unseen: the count is the walk's. */
	if (ktr_reader_open(path, &options, &reader, NULL))
		return;
	while ((again = ktr_reader_count(reader, &counted)) > 0)
		;
	fuzz_check(again != what || counted != n);
	ktr_reader_close(reader);
}

static void fuzz_start(void)
{
	char path[128];

	snprintf(fuzz_dir, sizeof(fuzz_dir), "/dev/shm/fuzz_reader.%d", (int)getpid());
	mkdir(fuzz_dir, 0700);
	snprintf(path, sizeof(path), "%s/trace", fuzz_dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/trace/ktr", fuzz_dir);
	mkdir(path, 0700);
}

/* Ends pieces of metadata, which are apart by NUL bytes. */
static void fuzz_metadata(const uint8_t *data, size_t size)
{
	char *text = malloc(size + (size + 1) * KTR_METADATA_TAIL), *to = text;

	for (size_t from = 0; from < size;) {
		const uint8_t *end = memchr(data + from, 0, size - from);
		size_t n = end ? (size_t)(end - data) - from : size - from;

		memcpy(to, data + from, n);
		ktr__metadata_seal(to, n);
		to += n + KTR_METADATA_TAIL;
		from += n + 1;
	}
	fuzz_write("trace/metadata", text, (size_t)(to - text));
	free(text);
}

/* A trace in which nothing is wrong, but for its streams. */
static void fuzz_trace(void)
{
	fuzz_lines("trace/ktr/info.jsonl", fuzz_info, strlen(fuzz_info));
	fuzz_lines("trace/ktr/sites.jsonl", fuzz_sites, strlen(fuzz_sites));
	fuzz_lines("trace/ktr/threads.jsonl", fuzz_threads, strlen(fuzz_threads));
	for (unsigned i = 0; i < sizeof(fuzz_rest) / sizeof(fuzz_rest[0]); i++)
		fuzz_write(fuzz_rest[i], "", 0);
	fuzz_write("trace/metadata", "", 0);
}

static void fuzz_repair(void)
{
	struct ktr__fsck fsck = { .keep_nothing = 1 };
	char path[128];

	snprintf(path, sizeof(path), "%s/trace", fuzz_dir);
	fsck.path = path;
	if (ktr__fsck(&fsck, NULL))
		return;
	fsck.n_found = 0;
	fuzz_check(ktr__fsck(&fsck, NULL) || fsck.n_found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!fuzz_dir[0])
		fuzz_start();
	if (!size)
		return 0;
	if (data[0] % 5)
		fuzz_trace();
	switch (data[0] % 5) {
	case 0:
		fuzz_write("fuzz.ktr", data + 1, size - 1);
		fuzz_walk("fuzz.ktr", data[0] & 4, 0);
		return 0;
	case 1:
		fuzz_stream(data + 1, size - 1);
		break;
	case 2:
		fuzz_lines("trace/ktr/sites.jsonl", (const char *)data + 1, size - 1);
		fuzz_lines("trace/ktr/threads.jsonl", (const char *)data + 1, size - 1);
		break;
	case 3:
		fuzz_lines("trace/ktr/info.jsonl", (const char *)data + 1, size - 1);
		for (unsigned i = 0; i < sizeof(fuzz_rest) / sizeof(fuzz_rest[0]); i++)
			fuzz_lines(fuzz_rest[i], (const char *)data + 1, size - 1);
		break;
	default:
		fuzz_lines("trace/ktr/info.jsonl", "", 0);
		fuzz_lines("trace/ktr/sites.jsonl", "", 0);
		fuzz_metadata(data + 1, size - 1);
	}
	fuzz_walk("trace", data[0] & 16, data[0] & 32 ? 1500 : 0);
	if (data[0] & 64)
		fuzz_repair();
	if (data[0] & 128)
		fuzz_walk("trace", 0, 0);
	return 0;
}
