/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that is traced, with a writer, and does nothing until its standard input ends. Its one call site. */
#include <ktr.h>

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char c;

	(void)argv;
	if (argc > 5)
		CTR1(KTR_GEN, "never %d", argc);
	fprintf(stderr, "ready\n");
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	puts("done");
	return 0;
}
