/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects in another process's memory: what they export, and how much thread-local data they have. */
#ifndef TOOLS_INJECT_ELF_H
#define TOOLS_INJECT_ELF_H

#include <stddef.h>
#include <stdint.h>

struct inject_elf {
	int fd; /* of inject_memory_open() */
	uint64_t base;
	uint64_t symbols, strings, versions, hash; /* 0: it has none */
	uint64_t tls;                              /* [bytes] with what they are aligned to */
	int has_loader;                            /* PT_INTERP */
};

/* 1, or 0: there is no ELF object of this machine there. */
int inject_elf_open(int fd, uint64_t base, struct inject_elf *elf);

/* The address of a function or of data; 0: it exports none of that name. Of several versions the default one. */
uint64_t inject_elf_symbol(const struct inject_elf *elf, const char *name);

#endif
