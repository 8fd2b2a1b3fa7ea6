/* SPDX-License-Identifier: BSD-2-Clause */
/* CRC32C (Castagnoli), as iSCSI, ext4 and SSE4.2 compute it. In both libraries. */
#ifndef WRITER_CRC32C_H
#define WRITER_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of n bytes after those that gave crc; begin with 0. Any thread, at any time. */
uint32_t ktr__crc32c(uint32_t crc, const void *bytes, size_t n);

/* The same without the CPU's instruction; for tests, which compare the two. */
uint32_t ktr__crc32c_portable(uint32_t crc, const void *bytes, size_t n);

#endif
