/* SPDX-License-Identifier: BSD-2-Clause */
/* What objects a process has mapped. */
#ifndef TOOLS_INJECT_MAPS_H
#define TOOLS_INJECT_MAPS_H

#include <stdint.h>
#include <sys/types.h>

#define INJECT_MAPS_OBJECTS 512 /* more are left aside */

struct inject_object {
	uint64_t base, end; /* from its file's first byte to the end of its last part */
	uint64_t text, text_end;
	char name[64]; /* without folders */
};

struct inject_maps {
	unsigned n;
	struct inject_object object[INJECT_MAPS_OBJECTS];
};

/* proc: "/proc". 0 or -errno. */
int inject_maps_read(const char *proc, pid_t pid, struct inject_maps *maps);

/* The first whose name begins so, and then with ".", "-" or nothing; NULL: none. */
const struct inject_object *inject_maps_find(const struct inject_maps *maps, const char *stem);

#endif
