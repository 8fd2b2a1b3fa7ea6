/* SPDX-License-Identifier: BSD-2-Clause */
/* Feeds files to a fuzzer's entry, without libFuzzer: what was found once is tried by every make check. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	static uint8_t data[1 << 20];

	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");
		size_t size;

		if (!file) {
			perror(argv[i]);
			return 1;
		}
		size = fread(data, 1, sizeof(data), file);
		fclose(file);
		LLVMFuzzerTestOneInput(data, size);
	}
	printf("%d inputs\n", argc - 1);
	return 0;
}
