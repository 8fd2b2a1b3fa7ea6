/* SPDX-License-Identifier: BSD-2-Clause */
/* See ring_area.h. */
#include "ktr/session/ring_area.h"

#include <errno.h>
#include <fcntl.h>

uint64_t ktr__ring_bytes(unsigned log2)
{
	uint64_t bytes = (uint64_t)KTR_ENTRY_BYTES << log2;

	return (bytes + KTR_SESSION_ALIGN - 1) & ~(uint64_t)(KTR_SESSION_ALIGN - 1);
}

uint64_t ktr__ring_area(const struct ktr_header *header, uint32_t index, uint64_t *bytes)
{
	uint64_t main_bytes = ktr__ring_bytes(header->ring_log2_max);
	uint64_t keep_bytes = ktr__ring_bytes(header->keep_log2_max);
	uint64_t at = header->region[KTR_REGION_data].offset;

	if (index < header->n_rings) {
		*bytes = main_bytes;
		return at + 2 * main_bytes * index;
	}
	*bytes = keep_bytes;
	return at + 2 * main_bytes * header->n_rings + 2 * keep_bytes * (index - header->n_rings);
}

bool ktr__ring_size_valid(uint32_t log2, uint64_t bytes)
{
	return log2 >= KTR_RING_LOG2_MIN && log2 < 40 && ktr__ring_bytes(log2) <= bytes;
}

bool ktr__ring_geom_valid(const struct ktr_header *header, uint32_t index, uint64_t geom)
{
	uint64_t bytes, area = ktr__ring_area(header, index, &bytes);
	uint64_t offset = KTR_GEOM_OFFSET(geom);

	return ktr__ring_size_valid(KTR_GEOM_LOG2(geom), bytes) && (offset == area || offset == area + bytes);
}

int ktr__byte_lock(int fd, uint64_t at, int type)
{
	struct flock lock = { .l_type = (short)type, .l_whence = SEEK_SET, .l_start = (off_t)at, .l_len = 1 };

	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return 0;
	return errno == EAGAIN ? -EBUSY : -errno;
}
