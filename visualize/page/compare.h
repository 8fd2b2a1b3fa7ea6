/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two pages (visualize/page/page.h) in one file, which shows them above each other, aligned, and what differs
 * between their numbers. Each is in it as a whole, packed (visualize/page/blob.h).
 */
#ifndef VISUALIZE_COMPARE_H
#define VISUALIZE_COMPARE_H

#include <ktr/error.h>

#include <stdio.h>

/* One of them: as ktr__page_print() left it, and what it is called. Both are borrowed. */
struct ktr__compare_side {
	FILE *page;
	const char *name;
};

/* Writes the file. 0 or -errno with err filled. */
int ktr__compare_write(const char *path, const struct ktr__compare_side side[2], const char *command,
		       struct ktr_error *err);

#endif
