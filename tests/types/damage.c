/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file, cut and with bits turned over, through the fuzzer of types:
 *
 *	damage FILE STEP N		each cut at a multiple of STEP, and N turned bits,
	at places that are the same each time
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	static uint8_t whole[1 << 20], bytes[1 << 20];
	unsigned long step = argc == 4 ? strtoul(argv[2], NULL, 0) : 0, n = argc == 4 ? strtoul(argv[3], NULL,
												0) : 0;
	FILE *file = argc == 4 ? fopen(argv[1], "r") : NULL;
	uint64_t random = 1;
	size_t size;

	if (!file || !step)
		return 2;
	size = fread(whole, 1, sizeof(whole), file);
	fclose(file);
	for (size_t cut = 0; cut <= size; cut += step)
		LLVMFuzzerTestOneInput(whole, cut);
	for (unsigned long i = 0; i < n; i++) {
		memcpy(bytes, whole, size);
		for (unsigned k = 0; k <= i % 8; k++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			bytes[(random >> 33) % size] ^= (uint8_t)(1u << (random >> 60 & 7));
		}
		LLVMFuzzerTestOneInput(bytes, size);
	}
	printf("%s: %zu bytes, cut at each %lu, %lu times bits turned over\n", argv[1], size, step, n);
	return 0;
}
