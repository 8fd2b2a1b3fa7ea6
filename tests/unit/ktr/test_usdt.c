/* SPDX-License-Identifier: BSD-2-Clause */
/* What a file says of its static probes: whatever that is, no more than there is of it is read. */
#include "tests/unit/suite.h"

#if defined(__x86_64__)
/* These are in the agent alone. */
#include "ktr/provider/usdt/args.c"
#include "ktr/provider/usdt/notes.c"
#include "ktr/provider/usdt/parts.c"

#include <stdio.h>
#include <sys/mman.h>

static struct ktr__usdt_arg first;

static uint64_t no_symbol(void *context, const char *name, size_t n)
{
	(void)context;
	return n == 5 && memcmp(name, "known", 5) == 0 ? 0x1000 : 0;
}

/* The text lies before a page that is not there. */
static unsigned arguments(const char *text)
{
	size_t n = strlen(text) + 1, page = (size_t)sysconf(_SC_PAGESIZE);
	char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ktr__usdt_arg arg[6];
	unsigned n_args;

	CU_ASSERT_FATAL(two != MAP_FAILED && mprotect(two + page, page, PROT_NONE) == 0);
	memset(arg, 0xff, sizeof(arg));
	memcpy(two + page - n, text, n);
	n_args = ktr__usdt_args_parse(two + page - n, arg, 6, no_symbol, NULL);
	first = arg[0];
	munmap(two, 2 * page);
	return n_args;
}

static void texts_end_where_they_end(void)
{
	static const char *const cut[] = {
		"8@4(", "8@(%rax", "8@4(%rax,", "8@4(%rax,%rbx", "8@4(%rax,%rbx,", "8@4(%rax,%rbx,8",
		"-", "8", "8f", "8@", "8@$", "8@$-", "8@%", "8@%xmm", "8@+", "8@-", "8@nowhere",
		"8@known+"
	};

	for (unsigned i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		CU_ASSERT_EQUAL(arguments(cut[i]), 1);
		CU_ASSERT_EQUAL(first.where, KTR__USDT_UNKNOWN);
	}
	CU_ASSERT_EQUAL(arguments(""), 0);
	CU_ASSERT_EQUAL(arguments("8@4( 8@%rax"), 2);
	CU_ASSERT_EQUAL(arguments("1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1"), 6);
}

static void arguments_are_as_the_assembler_has_them(void)
{
	static const char *const wrong[] = {
		"8@%xmm16", "8@%xmm 3", "8@%xmm-0", "8@%xmm99(%rax)", "8@(%rax,%rbx,3)",
		"8@(%rax,%rbx,256)", "3@%rax", "16@%rax", "1f@%xmm0", "2f@%xmm0",
		"-9223372036854775808@%rax", "+8@%rax", "8@%nix", "8@$ 5", "8@5"
	};
	ucontext_t at;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		arguments(wrong[i]);
		CU_ASSERT_EQUAL(first.where, KTR__USDT_UNKNOWN);
		memset(&at, 0, sizeof(at));
		CU_ASSERT_EQUAL(ktr__usdt_arg_value(&first, &at), 0);
	}
	arguments("-4@-16(%rbp,%r9,8)");
	CU_ASSERT_EQUAL(first.where, KTR__USDT_MEMORY);
	CU_ASSERT(first.base == REG_RBP && first.index == REG_R9 && first.scale == 8);
	CU_ASSERT(first.value == -16 && first.n_bytes == 4 && first.is_signed);
	arguments("1@%ah");
	CU_ASSERT(first.where == KTR__USDT_REGISTER && first.base == REG_RAX && first.shift == 8);
	arguments("8@8+known-4(%rip)");
	CU_ASSERT(first.where == KTR__USDT_MEMORY && first.base == -1 && first.value == 0x1004);
	arguments("4f@%xmm15");
	CU_ASSERT(first.where == KTR__USDT_VECTOR && first.base == 15 && first.is_float);
	/* An address wraps round. */
	arguments("8@9223372036854775807+9223372036854775807(%rax)");
	CU_ASSERT(first.where == KTR__USDT_MEMORY && first.value == -2);
}

/* ---- files ---- */

static void called(void *context, const struct ktr__usdt_note *note)
{
	(void)note;
	++*(int *)context;
}

/* A file with n notes, and a build-id of one byte repeated, if there is to be one. */
static void made_file(const char *path, int n, int id)
{
	static const char names[] = "\0.note.stapsdt\0.shstrtab\0.note.gnu.build-id";
	static const char note[] = "\x08\0\0\0\x20\0\0\0\x03\0\0\0stapsdt\0"
				   "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0p\0n\0\0\0\0\0";
	uint32_t build[8] = { 4, 20, 3, 0x554e47 };
	Elf64_Ehdr head = { .e_ident = ELFMAG, .e_machine = EM_X86_64, .e_shoff = sizeof(head),
			    .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 4, .e_shstrndx = 1 };
	Elf64_Shdr section[4] = { { 0 } };
	uint64_t at = sizeof(head) + sizeof(section);
	FILE *file = fopen(path, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	memset(build + 4, id, 16);
	section[1] = (Elf64_Shdr){ .sh_name = 15, .sh_offset = at, .sh_size = sizeof(names) };
	section[2] = (Elf64_Shdr){ .sh_name = 1,
				   .sh_offset = at + sizeof(names),
				   .sh_size = (uint64_t)n * (sizeof(note) - 1) };
	section[3] = (Elf64_Shdr){ .sh_name = id ? 25 : 0,
				   .sh_offset = section[2].sh_offset + section[2].sh_size,
				   .sh_size = 36 };
	fwrite(&head, sizeof(head), 1, file);
	fwrite(section, sizeof(section), 1, file);
	fwrite(names, sizeof(names), 1, file);
	for (int i = 0; i < n; i++)
		fwrite(note, sizeof(note) - 1, 1, file);
	fwrite(build, sizeof(build), 1, file);
	fwrite(&id, sizeof(id), 1, file);
	fclose(file);
}

static int notes_of_file(const char *path, const struct ktr__object *loaded)
{
	int n = 0, code = ktr__usdt_notes(path, loaded, called, &n);

	return code ? code : n;
}

static void files_are_those_that_were_loaded(void)
{
	struct ktr__object loaded = { .has_build_id = true, .build_id_bytes = 20, .build_id = "1111111111111111" };
	struct ktr__object nameless = { .build_id_bytes = 16 };
	char path[] = "/tmp/test_usdt.XXXXXX";

	close(mkstemp(path));
	memset(loaded.build_id + 16, 0, 4);
	memset(loaded.build_id, '1', 16);
	loaded.build_id[16] = '1'; /* little-endian */
	made_file(path, 3, '1');
	CU_ASSERT_EQUAL(notes_of_file(path, &loaded), 3);
	CU_ASSERT_EQUAL(notes_of_file(path, &nameless), -ESTALE);
	made_file(path, 3, '2');
	CU_ASSERT_EQUAL(notes_of_file(path, &loaded), -ESTALE);
	made_file(path, 3, 0);
	CU_ASSERT_EQUAL(notes_of_file(path, &loaded), -ESTALE);
	CU_ASSERT_EQUAL(notes_of_file(path, &nameless), 3);
	/* More than anybody has, while nothing else can be loaded. */
	made_file(path, 20000, 0);
	CU_ASSERT_EQUAL(notes_of_file(path, &nameless), 16384);
	unlink(path);
}

/* Where somebody has put a FIFO nobody is waited for. */
static void no_file_is_waited_for(void)
{
	struct ktr__object loaded = { .base = 0 };
	char path[] = "/tmp/test_usdt.XXXXXX";

	close(mkstemp(path));
	unlink(path);
	CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
	CU_ASSERT_EQUAL(notes_of_file(path, &loaded), -ENOEXEC);
	unlink(path);
	CU_ASSERT_EQUAL(notes_of_file("/tmp", &loaded), -ENOEXEC);
}

/* ---- memory ---- */

static const char constant[] = "not to be written to";
static int variable = 1;

static int own_end(struct dl_phdr_info *info, size_t size, void *context)
{
	uint64_t *base_and_end = context;

	(void)size;
	base_and_end[0] = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			base_and_end[1] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	return 1;
}

static void places_are_in_what_is_loaded(void)
{
	struct ktr__usdt_parts parts;
	uint64_t own[2] = { 0, 0 }, code = (uintptr_t)own_end;

	dl_iterate_phdr(own_end, own);
	ktr__usdt_parts(own[0], own[1], &parts);
	CU_ASSERT(ktr__usdt_parts_have(&parts, code, 5, PF_X));
	CU_ASSERT(!ktr__usdt_parts_have(&parts, code, 2, PF_W));
	CU_ASSERT(ktr__usdt_parts_have(&parts, (uintptr_t)&variable, 2, PF_W));
	CU_ASSERT(!ktr__usdt_parts_have(&parts, (uintptr_t)&variable, 2, PF_X));
	CU_ASSERT(!ktr__usdt_parts_have(&parts, (uintptr_t)constant, 2, PF_W));
	CU_ASSERT(!ktr__usdt_parts_have(&parts, UINT64_MAX, 2, PF_W));
	CU_ASSERT(!ktr__usdt_parts_have(&parts, UINT64_MAX - 3, 5, PF_X));
	CU_ASSERT(!ktr__usdt_parts_have(&parts, own[1], 1, 0));
	ktr__usdt_parts(own[0] + 4096, own[1], &parts);
	CU_ASSERT(!ktr__usdt_parts_have(&parts, code, 5, PF_X));
}

SUITE(usdt, TEST(texts_end_where_they_end), TEST(arguments_are_as_the_assembler_has_them),
      TEST(files_are_those_that_were_loaded), TEST(no_file_is_waited_for), TEST(places_are_in_what_is_loaded));
#endif
