/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the core of a program that had a session. Beyond surviving, what fuzz_event.h checks holds.
 */
#include "tests/fuzz/fuzz_event.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_walk(const char *path, int reverse)
{
	struct ktr_reader_options options = { .size = sizeof(options), .reverse = reverse };
	uint64_t last = reverse ? UINT64_MAX : 0;
	struct ktr_reader *reader;
	struct ktr_event event;
	int what;

	if (ktr_reader_open(path, &options, &reader, NULL))
		return;
	while ((what = ktr_reader_next(reader, &event)) > 0)
		if (what == KTR_READ_EVENT)
			fuzz_event(reader, &event, reverse, &last);
	ktr_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char path[32];

	if (fd < 0) {
		fd = memfd_create("fuzz_core", MFD_CLOEXEC);
		/* Where a file is looked for that is not in the core, there is none. */
		setenv("KTR_DIR", "/nonexistent", 1);
	}
	fuzz_check(fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fuzz_walk(path, size & 1);
	return 0;
}
