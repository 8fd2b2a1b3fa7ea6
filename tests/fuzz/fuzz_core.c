/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the core of a program that had a session. Beyond surviving, the same must hold of its
 * events as of a session's.
 */
#include <ktr/reader.h>

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
	char text[512];
	int what;

	if (ktr_reader_open(path, &options, &reader, NULL))
		return;
	while ((what = ktr_reader_next(reader, &event)) > 0) {
		if (what != KTR_READ_EVENT)
			continue;
		if ((reverse ? event.time_ns > last : event.time_ns < last) ||
		    event.cpu >= ktr_reader_info(reader)->n_cpus ||
		    event.site->id >= ktr_reader_n_sites(reader) ||
		    event.thread->id >= ktr_reader_n_threads(reader))
			abort();
		ktr_event_text(&event, text, sizeof(text));
		last = event.time_ns;
	}
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
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fuzz_walk(path, size & 1);
	return 0;
}
