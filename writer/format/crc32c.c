/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CRC32C: the checksum that x86-64 (SSE4.2) and arm64 (CRC32 extension) have an instruction for.
 *
 * The instruction takes 8 bytes in 1 cycle but answers after 3, so one chain uses a third of it.
 * Long runs are cut into triples of equal parts that advance side by side. A CRC is linear: the
 * checksum of A followed by B is that of A followed by as many zeros, plus that of B; advancing
 * over CRC_PART zeros is a linear map of 32 bits, kept as four tables of 256 words. Without the
 * instruction a table is asked byte by byte (Sarwate, 1988).
 *
 * All tables are made at first use, under pthread_once.
 */
#include "writer/format/crc32c.h"

#include "writer/format/load.h"

#include <pthread.h>
#include <string.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#endif

#define CRC_POLYNOMIAL 0x82f63b78u /* Castagnoli's, bits reversed (RFC 3720, section 12.1) */
/* [bytes] Of a triple's parts: the longest of which a packet of a page has one, after its checksum, too. */
#define CRC_PART 1352

static uint32_t crc_table[256];
static uint32_t crc_skip[4][256]; /* advances over CRC_PART zeros, by byte of the checksum */
static int crc_hardware;
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static int crc_has_instruction(void)
{
#if defined(__x86_64__)
	unsigned a, b, c = 0, d;

	/* Not __builtin_cpu_supports(): it brings four KiB of libgcc along. */
	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_SSE4_2;
#elif defined(__aarch64__)
	return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#else
	return 0;
#endif
}

static uint32_t crc_zeros(uint32_t crc, unsigned n)
{
	while (n--)
		crc = crc_table[crc & 0xff] ^ crc >> 8;
	return crc;
}

static void crc_make(void)
{
	uint32_t bit[32];

	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? CRC_POLYNOMIAL : 0);
		crc_table[i] = crc;
	}
	for (int i = 0; i < 32; i++)
		bit[i] = crc_zeros(1u << i, CRC_PART);
	for (uint32_t i = 0; i < 4 * 256; i++) {
		uint32_t map = 0;

		for (int k = 0; k < 8; k++)
			if (i >> k & 1)
				map ^= bit[i / 256 * 8 + (unsigned)k];
		crc_skip[i / 256][i % 256] = map;
	}
	crc_hardware = crc_has_instruction();
}

#if defined(__x86_64__)
#define CRC_TARGET __attribute__((target("sse4.2")))
static inline CRC_TARGET uint64_t crc_step(uint64_t crc, uint64_t x)
{
	return __builtin_ia32_crc32di(crc, x);
}

static inline CRC_TARGET uint32_t crc_step_byte(uint32_t crc, uint8_t x)
{
	return __builtin_ia32_crc32qi(crc, x);
}
#elif defined(__aarch64__)
/* The assembler is told, not the compiler: gcc and clang spell the target attribute differently. */
#define CRC_TARGET
static inline CRC_TARGET uint64_t crc_step(uint64_t crc, uint64_t x)
{
	uint32_t next = (uint32_t)crc;

	__asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(next) : "r"(x));
	return next;
}

static inline CRC_TARGET uint32_t crc_step_byte(uint32_t crc, uint8_t x)
{
	__asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"((uint32_t)x));
	return crc;
}
#endif

static uint32_t crc_slow(uint32_t crc, const uint8_t *at, size_t n)
{
	while (n--)
		crc = crc_table[(crc ^ *at++) & 0xff] ^ crc >> 8;
	return crc;
}

#ifdef CRC_TARGET
static uint32_t crc_skip_part(uint32_t crc)
{
	return crc_skip[0][crc & 0xff] ^ crc_skip[1][crc >> 8 & 0xff] ^
	       crc_skip[2][crc >> 16 & 0xff] ^ crc_skip[3][crc >> 24];
}

static CRC_TARGET uint32_t crc_fast(uint32_t crc, const uint8_t *at, size_t n)
{
	uint64_t a = crc;

	for (; n >= 3 * CRC_PART; at += 3 * CRC_PART, n -= 3 * CRC_PART) {
		uint64_t b = 0, c = 0;

		for (unsigned i = 0; i < CRC_PART; i += 8) {
			a = crc_step(a, ktr__load64(at + i));
			b = crc_step(b, ktr__load64(at + CRC_PART + i));
			c = crc_step(c, ktr__load64(at + 2 * CRC_PART + i));
		}
		a = crc_skip_part(crc_skip_part((uint32_t)a) ^ (uint32_t)b) ^ c;
	}
	for (; n >= 8; at += 8, n -= 8)
		a = crc_step(a, ktr__load64(at));
	for (; n; at++, n--)
		a = crc_step_byte((uint32_t)a, *at);
	return (uint32_t)a;
}
#else
#define crc_fast crc_slow
#endif

uint32_t ktr__crc32c_portable(uint32_t crc, const void *bytes, size_t n)
{
	pthread_once(&crc_once, crc_make);
	return ~crc_slow(~crc, bytes, n);
}

uint32_t ktr__crc32c(uint32_t crc, const void *bytes, size_t n)
{
	pthread_once(&crc_once, crc_make);
	return ~(crc_hardware ? crc_fast(~crc, bytes, n) : crc_slow(~crc, bytes, n));
}
