/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any text as arguments of a static probe, any bytes as a section of notes in a file that is otherwise whole, and,
 * where they begin as one does, as such a file. All arguments that are told of are taken, from registers that lead
 * nowhere.
 */
#if defined(__x86_64__)
/* These are in the agent alone. */
#include "ktr/provider/usdt/args.c"
#include "ktr/provider/usdt/notes.c"

#include <stdio.h>
#include <sys/mman.h>

#define FUZZ_ARGS 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t fuzz_symbol(void *context, const char *name, size_t n)
{
	if (!n || memchr(name, 0, n))
		abort();
	return context ? ktr__usdt_notes_symbol(context, name, n) : *name == 'x' ? 0 : 4096 + n;
}

static void fuzz_args(const char *text, void *context)
{
	struct ktr__usdt_arg arg[FUZZ_ARGS];
	ucontext_t at;
	unsigned n = ktr__usdt_args_parse(text, arg, FUZZ_ARGS, fuzz_symbol, context);

	memset(&at, 0x41, sizeof(at));
	at.uc_mcontext.fpregs = NULL;
	for (unsigned i = 0; i < n; i++) {
		if (arg[i].where > KTR__USDT_MEMORY || !arg[i].n_bytes || !strchr("\1\2\4\10", arg[i].n_bytes) ||
		    arg[i].base > REG_RIP || arg[i].index > REG_RIP)
			abort();
		ktr__usdt_arg_value(&arg[i], &at);
	}
}

static void fuzz_note(void *context, const struct ktr__usdt_note *note)
{
	static volatile size_t n;

	(void)context;
	n = strlen(note->provider) + strlen(note->name);
	fuzz_args(note->args, (void *)(uintptr_t)note);
}

/* Sections: none, the names, the notes, symbols and their strings, which are the input's last 64 bytes. */
static size_t fuzz_file(uint8_t *to, const uint8_t *data, size_t size)
{
	static const char names[] = "\0.note.stapsdt\0.shstrtab";
	Elf64_Ehdr head = { .e_ident = ELFMAG, .e_machine = EM_X86_64, .e_shoff = sizeof(head),
			    .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 5, .e_shstrndx = 1 };
	Elf64_Shdr section[5] = { { 0 } };
	size_t at = sizeof(head) + sizeof(section), n_last = size < 64 ? size : 64;

	head.e_ident[EI_CLASS] = ELFCLASS64;
	section[1] =
		(Elf64_Shdr){ .sh_name = 15, .sh_type = SHT_STRTAB, .sh_offset = at, .sh_size = sizeof(names) };
	memcpy(to + at, names, sizeof(names));
	at += sizeof(names);
	section[2] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_NOTE, .sh_offset = at, .sh_size = size };
	memcpy(to + at, data, size);
	section[3] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_link = 4, .sh_offset = at + size - n_last,
				   .sh_size = n_last };
	section[4] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = at + size - n_last, .sh_size = n_last };
	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), section, sizeof(section));
	return at + size;
}

static void fuzz_notes(const uint8_t *data, size_t size)
{
	struct ktr__object loaded = { .base = 0 };
	static int fd = -1;
	char path[32];

	if (fd < 0)
		fd = memfd_create("fuzz_usdt", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ktr__usdt_notes(path, &loaded, fuzz_note, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(size + 1024);

	if (!bytes)
		return 0;
	if (size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0) {
		fuzz_notes(data, size);
	} else if (size && *data & 1) {
		char *text = malloc(size); /* no longer than it is */

		memcpy(text, data + 1, size - 1);
		text[size - 1] = '\0';
		fuzz_args(text, NULL);
		free(text);
	} else if (size) {
		fuzz_notes(bytes, fuzz_file(bytes, data + 1, size - 1));
	}
	free(bytes);
	return 0;
}
#else
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)data;
	(void)size;
	return 0;
}
#endif
