/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ELF file as a copy in memory, for libdwfl to look at, and the way to what was split off it.
 */
#ifndef ANALYZE_ELF_FILE_H
#define ANALYZE_ELF_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define KTR__ELF_ID_MAX 64 /* [bytes] of a build-id; longer ones are none */

struct ktr__elf_file {
	struct stat st;
	char *bytes; /* owned; a mapping of its own */
	size_t n_bytes;
};

/* A descriptor of a regular file of bounded size, for reading, or -errno. */
int ktr__elf_open(const char *path, struct stat *st);

/*
 * Reads a 64-bit executable or shared object of this machine's byte order. 0, or -errno: -ENOEXEC for what is none
 * or ends early, -EINVAL for what is no regular file, -EFBIG for one that is too large. An empty file closes.
 */
int ktr__elf_file_read(const char *path, struct ktr__elf_file *file);
void ktr__elf_file_close(struct ktr__elf_file *file);

/* What stands for the build-id of an object that was linked without; as ktr/record/module.c has it. */
void ktr__elf_file_id(const struct stat *st, uint64_t id[2]);

/*
 * The name that the file of split off symbols with this build-id has; n from 2 to KTR__ELF_ID_MAX. suffix:
 * ".debug", or "" for the binary itself.
 */
#define KTR__ELF_DEBUG_PATH (sizeof("/usr/lib/debug/.build-id/") + 2 * KTR__ELF_ID_MAX + sizeof("/.debug"))
void ktr__elf_debug_path(const unsigned char *id, size_t n, const char *suffix, char path[KTR__ELF_DEBUG_PATH]);

/*
 * For Dwfl_Callbacks.find_debuginfo: symbols that were split off, by build-id below /usr/lib/debug, else by
 * .gnu_debuglink beside the file, in .debug beside it, or below /usr/lib/debug. Nothing goes over the network. The
 * supplementary files of dwz(1) are not looked for.
 */
struct Dwfl_Module;
int ktr__elf_find_debug(struct Dwfl_Module *module, void **user, const char *name, uint64_t base,
			const char *file_name, const char *link_file, uint32_t link_crc, char **found);

#endif
