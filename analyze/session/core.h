/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The core file of a program that crashed: which memory of the process it holds, and what was mapped
 * where. ELF as the Linux kernel and gdb write it: core(5), elf(5).
 *
 * A core is untrusted input: offsets are checked against the file's size when they are used, and what
 * is read is copied. Nothing is mapped.
 */
#ifndef ANALYZE_CORE_H
#define ANALYZE_CORE_H

#include <ktr/error.h>

#include <stddef.h>
#include <stdint.h>

/* A piece of memory that is in the file. */
struct ktr__core_part {
	uint64_t at;      /* address */
	uint64_t n_bytes; /* never beyond the end of the file */
	uint64_t offset;  /* in the file */
};

/* A mapping of a file, whether its memory is in the core or not. */
struct ktr__core_file {
	uint64_t at, end;
	const char *path;
};

struct ktr__core {
	int fd;
	uint64_t n_bytes;
	struct ktr__core_part *part; /* owned; by address, none overlaps the next */
	size_t n_parts;
	struct ktr__core_file *file; /* owned */
	size_t n_files;
	char *notes;   /* owned; what paths point into */
	uint32_t pid;  /* 0 where the core does not say */
	char name[17]; /* of the program, "" likewise; as the process wrote it */
	int cut;       /* the file ends before the memory it speaks of */
};

/*
 * Opens a core. 0, or -errno with err filled: -ENOEXEC: the file is none (err is untouched then),
 * -EPROTO: it is damaged.
 */
int ktr__core_open(struct ktr__core *core, const char *path, struct ktr_error *err);
void ktr__core_close(struct ktr__core *core);

/* How many of the n bytes from an address on are in the core, without a hole. */
uint64_t ktr__core_holds(const struct ktr__core *core, uint64_t at, uint64_t n);

/* Copies memory. 0, -EFAULT where it is not in the core, or -errno of reading. */
int ktr__core_read(const struct ktr__core *core, uint64_t at, void *bytes, size_t n);

#endif
