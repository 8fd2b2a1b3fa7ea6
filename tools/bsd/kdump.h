/* SPDX-License-Identifier: BSD-2-Clause */
/* What the lines of kdump are printed with. */
#ifndef TOOLS_KDUMP_H
#define TOOLS_KDUMP_H

#include <stdint.h>
#include <stdio.h>

enum kdump_times { KDUMP_ABSOLUTE = 1, KDUMP_ELAPSED = 2, KDUMP_RELATIVE = 4 };

struct kdump_format {
	FILE *out;
	int decimal;	 /* -d */
	int plain;	 /* -n: numbers, no names */
	int resolve;	 /* -r */
	int call_number; /* -S */
	int abi, cpu, threads; /* -A, -c, -H */
	int no_data;	 /* -s */
	uint64_t max_data; /* -m; 0: all */
	unsigned times;	 /* enum kdump_times */
	int width;	 /* of the screen, of dumps */
};

#endif
