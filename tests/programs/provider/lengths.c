/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads instructions, a line each: bytes as objdump(1) has them, a word, rip where an operand is counted from its
 * end, else -, and what it says of it. Says of which the decoder has another length, which it would move though
 * the stack pointer is not known behind them, and how many it did not know.
 */
#include "ktr/provider/plain/insn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Does it change the stack pointer, by its text? */
static bool lengths_moves_stack(const char *text)
{
	static const char *const words[] = { "pop", "leave", "enter", "call", "ret", "iret", "pushf" };
	const char *comma = strrchr(text, ',');

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strncmp(text, words[i], strlen(words[i])) == 0)
			return strncmp(text, "popcnt", 6) != 0;
	return comma && strncmp(comma, ",%rsp", 5) == 0 && strncmp(text, "cmp", 3) != 0 &&
	       strncmp(text, "test", 4) != 0;
}

int main(void)
{
	unsigned long n_all = 0, n_unknown = 0, n_wrong = 0;
	char line[256], word[32], text[128];

	while (fgets(line, sizeof(line), stdin)) {
		uint8_t bytes[32];
		struct ktr__insn insn;
		size_t n = 0;
		uint32_t pushes;
		char *at = line, *end;

		while (n < sizeof(bytes) - 16) {
			unsigned long byte = strtoul(at, &end, 16);

			if (end != at + 2 && end != at + 3)
				break;
			bytes[n++] = (uint8_t)byte;
			at = end;
		}
		if (!n || sscanf(at, "%31s %127[^\n]", word, text) != 2)
			continue;
		memset(bytes + n, 0x90, 16); /* what follows is no part of it */
		n_all++;
		if (!ktr__insn_read(bytes, n + 15, &insn)) {
			n_unknown++;
			printf("unknown %s", line);
		} else if (insn.n_bytes != n || !insn.rip_at != (strcmp(word, "rip") != 0)) {
			n_wrong++;
			printf("wrong, %u bytes: %s", insn.n_bytes, line);
		} else if (ktr__insn_moves(&insn, &pushes) && !pushes && lengths_moves_stack(text)) {
			n_wrong++;
			printf("moves the stack: %s", line);
		}
		if (ktr__insn_read(bytes, n - 1, &insn) && insn.n_bytes >= n) {
			n_wrong++;
			printf("beyond its end: %s", line);
		}
	}
	printf("%lu instructions, %lu unknown, %lu wrong\n", n_all, n_unknown, n_wrong);
	return n_wrong != 0 || !n_all;
}
