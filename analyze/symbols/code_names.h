/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of code that is in no file, as what made it at run time has left them: perf's maps, /tmp/perf-PID.map,
 * lines of "START SIZE NAME" in hexadecimal digits, and jitdump, jit-PID.dump. Where code took the place of older
 * code, the later one counts.
 */
#ifndef ANALYZE_CODE_NAMES_H
#define ANALYZE_CODE_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory has none. One thread at a time. */
struct ktr__code_names {
	struct ktr__code_name *row; /* owned */
	char *text;		    /* owned */
	uint32_t n, room, n_text, text_room;
	int sorted;
};

/* What is at such an address, of so many bytes. Any name, without a NUL. 0 or -errno: -EFBIG, -ENOMEM. */
int ktr__code_names_add(struct ktr__code_names *names, uint64_t address, uint64_t size, const char *name, size_t n);

/*
 * Adds those of a file, of either form; a last line or record that is not whole is left out. Only regular files of
 * our own, or of root, count, and for root anybody's; since_s: only what was written at or after that
 * (CLOCK_REALTIME). 0, or -errno: -ENOENT, -EPERM, -ESTALE, -EFBIG.
 */
int ktr__code_names_read(struct ktr__code_names *names, const char *path, int64_t since_s);

/* The name that an address has; NULL: none. *n: its bytes, *offset: how far behind its beginning. */
const char *ktr__code_names_find(struct ktr__code_names *names, uint64_t address, size_t *n, uint64_t *offset);

/* Row i of names->n, in whatever order; its name: *n bytes. */
const char *ktr__code_names_row(const struct ktr__code_names *names, uint32_t i, uint64_t *address, uint64_t *size,
				size_t *n);
void ktr__code_names_free(struct ktr__code_names *names);

#endif
