/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks the packet headers of each stream of a trace: one short read per packet, no checksum, no
 * event decoded. What a header claims is bounded by the file's size.
 */
#include "tools/report/trace_count.h"

#include "ktr/session/drop.h"
#include "writer/format/packet.h"

#include <ktr/reader.h>
#include <ktr/trace_file.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void trace_count_stream(int fd, uint64_t n_bytes, struct trace_count *count)
{
	struct ktr_packet_header head;
	uint8_t bytes[KTR_PACKET_OLD_EVENTS];
	uint64_t at = 0, lost = 0;
	int64_t length;
	ssize_t n;

	while (at < n_bytes) {
		n = pread(fd, bytes, sizeof(bytes), (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		length = n > 0 ? ktr__packet_peek(bytes, (size_t)n, &head) : 0;
		if (length <= 0 || (uint64_t)length > n_bytes - at)
			break;
		count->events += head.n_events;
		lost = head.discarded;
		at += (uint64_t)length;
	}
	count->lost += lost;
}

static void trace_count_dropped(const char *path, struct trace_count *count)
{
	struct ktr_reader_options alone = { .size = sizeof(alone), .alone = 1 };
	struct ktr_reader *reader;

	if (ktr_reader_open(path, &alone, &reader, NULL))
		return;
	memcpy(count->dropped, ktr_reader_info(reader)->n_dropped, sizeof(count->dropped));
	count->lost += ktr__dropped_sum(count->dropped);
	ktr_reader_close(reader);
}

static int trace_count_is_stream(const char *name)
{
	return strncmp(name, KTR_STREAM_CPU, sizeof(KTR_STREAM_CPU) - 1) == 0 ||
	       strncmp(name, KTR_STREAM_RING, sizeof(KTR_STREAM_RING) - 1) == 0;
}

int trace_count(const char *path, struct trace_count *count)
{
	struct dirent *entry;
	struct stat st;
	DIR *dir;
	int fd;

	memset(count, 0, sizeof(*count));
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)) != NULL) {
		if (!trace_count_is_stream(entry->d_name))
			continue;
		fd = openat(dirfd(dir), entry->d_name,
			    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			continue;
		if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
			trace_count_stream(fd, (uint64_t)st.st_size, count);
		close(fd);
	}
	closedir(dir);
	trace_count_dropped(path, count);
	return 0;
}
