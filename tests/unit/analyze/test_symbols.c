/* SPDX-License-Identifier: BSD-2-Clause */
/* Names for addresses: in this very program, in files that are missing, others, or broken. */
#include "tests/unit/made.h"
#include "tests/unit/suite.h"

#include "analyze/print/render.h"
#include "analyze/read/reader.h"
#include "analyze/read/tables.h"
#include "analyze/symbols/symbols.h"
#include "analyze/print/sink_json.h"
#include "analyze/symbols/symtab.h"

#include <link.h>
#include <sys/mman.h>

#ifndef KTR_HAVE_LIBDW
#define KTR_HAVE_LIBDW 0
#endif

#define SYMBOLS_PROC 3

/* What is looked for: a function and a variable of known size. */
extern int symbols_known_table[16];
int symbols_known_table[16];

__attribute__((noinline)) int symbols_known_function(int n);
int symbols_known_function(int n)
{
	for (unsigned i = 0; i < 16; i++)
		symbols_known_table[i] += n;
	return symbols_known_table[n & 15];
}

/* As the C library has its older functions; in a program both names are local. */
static __attribute__((noinline, used)) int ___symbols_versioned(int n)
{
	return symbols_known_table[n & 15];
}
__asm__(".symver ___symbols_versioned, symbols_versioned@OLD_1");

/* The program that runs, as the recorder would describe it. */
static int symbols_visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct ktr__module_entry *module = data;

	(void)size;
	module->base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		const char *note = (const char *)info->dlpi_addr + phdr->p_vaddr;
		ElfW(Nhdr) head;

		if (phdr->p_type == PT_LOAD)
			module->end = info->dlpi_addr + phdr->p_vaddr + phdr->p_memsz;
		if (phdr->p_type != PT_NOTE)
			continue;
		for (const char *end = note + phdr->p_memsz; note < end;
		     note += ((head.n_namesz + 3u) & ~3u) + ((head.n_descsz + 3u) & ~3u)) {
			memcpy(&head, note, sizeof(head));
			note += sizeof(head);
			if (head.n_type != NT_GNU_BUILD_ID || head.n_descsz > KTR_BUILD_ID_MAX)
				continue;
			module->n_build_id = (uint8_t)head.n_descsz;
			memcpy(module->build_id, note + 4, head.n_descsz);
		}
	}
	return 1;
}

static struct ktr__module_entry symbols_self(void)
{
	static char path[512];
	struct ktr__module_entry module = { .proc = SYMBOLS_PROC, .path = path };
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	CU_ASSERT_FATAL(n > 0);
	path[n] = '\0';
	dl_iterate_phdr(symbols_visit, &module);
	CU_ASSERT_FATAL(module.n_build_id > 0);
	return module;
}

/* One question to symbols over one module. */
static void symbols_ask(const struct ktr__module_entry *module, uint64_t address,
			enum ktr__symbols_kind kind, const char *expected)
{
	struct ktr__symbols *symbols;
	struct ktr__tables tables;
	const char *got;

	CU_ASSERT_FATAL(ktr__tables_init(&tables) == 0);
	CU_ASSERT_FATAL(ktr__tables_module(&tables, 1, module) == 0);
	symbols = ktr__symbols_new(&tables);
	CU_ASSERT_PTR_NOT_NULL_FATAL(symbols);
	for (int again = 0; again < 2; again++) {
		got = ktr__symbols_at(symbols, SYMBOLS_PROC, address, kind);
		if (expected) {
			CU_ASSERT_PTR_NOT_NULL_FATAL(got);
			CU_ASSERT_STRING_EQUAL(got, expected);
		} else {
			CU_ASSERT_PTR_NULL(got);
		}
	}
	CU_ASSERT_PTR_NULL(ktr__symbols_at(symbols, SYMBOLS_PROC + 1, address, kind));
	ktr__symbols_free(symbols);
	ktr__tables_free(&tables);
}

#if KTR_HAVE_LIBDW

static void functions_and_variables_have_names(void)
{
	struct ktr__module_entry self = symbols_self();
	uint64_t function = (uintptr_t)symbols_known_function;

	CU_ASSERT(symbols_known_function(1) == 1);
	symbols_ask(&self, function, KTR__SYMBOLS_POINTER, "symbols_known_function+0x0");
	symbols_ask(&self, function + 3, KTR__SYMBOLS_POINTER, "symbols_known_function+0x3");
	symbols_ask(&self, (uintptr_t)&symbols_known_table[3], KTR__SYMBOLS_POINTER,
		    "symbols_known_table+0xc");
	symbols_ask(&self, self.end, KTR__SYMBOLS_POINTER, NULL);
	symbols_ask(&self, self.base - 1, KTR__SYMBOLS_POINTER, NULL);
	symbols_ask(&self, 0, KTR__SYMBOLS_RETURN, NULL);
	symbols_ask(&self, UINT64_MAX, KTR__SYMBOLS_POINTER, NULL);
}

static void versions_are_left_out(void)
{
	struct ktr__module_entry self = symbols_self();

	symbols_ask(&self, (uintptr_t)___symbols_versioned + 1, KTR__SYMBOLS_POINTER, "symbols_versioned+0x1");
}

/* A call may be the last thing in its function: the return address is the next function's. */
static void a_return_address_belongs_to_the_call(void)
{
	struct ktr__module_entry self = symbols_self();
	struct ktr__symtab *symtab;
	uint64_t own = (uintptr_t)symbols_known_function - self.base, offset, size = 0;
	char expected[64];

	CU_ASSERT_FATAL(ktr__symtab_open(self.path, self.build_id, self.n_build_id, SIZE_MAX,
					 &symtab) == 0);
	while (ktr__symtab_find(symtab, own + size, &offset) && offset == size)
		size++;
	ktr__symtab_close(symtab);
	CU_ASSERT(size > 8);
	snprintf(expected, sizeof(expected), "symbols_known_function+0x%llx",
		 (unsigned long long)size);
	symbols_ask(&self, (uintptr_t)symbols_known_function + size, KTR__SYMBOLS_RETURN, expected);
}

static void too_many_symbols_are_left_out(void)
{
	struct ktr__module_entry self = symbols_self();
	struct ktr__symtab *symtab;

	CU_ASSERT(ktr__symtab_open(self.path, self.build_id, self.n_build_id, 4096, &symtab) ==
		  -EFBIG);
	CU_ASSERT_PTR_NULL(symtab);
}

static int symbols_copy(const char *from, const char *to, const char **bytes, size_t *n)
{
	int fd = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct stat st;
	void *map;

	if (fd < 0 || out < 0 || fstat(fd, &st))
		return -1;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED || write(out, map, (size_t)st.st_size) != st.st_size)
		return -1;
	*bytes = map;
	*n = (size_t)st.st_size;
	return out;
}

/* Asks a damaged file everything; any answer is right that comes back. */
static void symbols_survive(const char *path, const struct ktr__module_entry *self)
{
	struct ktr__symtab *symtab;
	uint64_t offset;

	if (ktr__symtab_open(path, self->build_id, self->n_build_id, SIZE_MAX, &symtab)) {
		CU_ASSERT_PTR_NULL(symtab);
		return;
	}
	for (unsigned bit = 0; bit < 64; bit++) {
		const char *name = ktr__symtab_find(symtab, 1ull << bit, &offset);

		CU_ASSERT(!name || strlen(name) < ktr__symtab_bytes(symtab));
	}
	ktr__symtab_close(symtab);
}

/* The headers at the beginning, and the sections' headers at the end, are what can mislead most. */
static void damaged_files_do_no_harm(void)
{
	struct ktr__module_entry self = symbols_self();
	char path[] = "/tmp/ktr-test-symbols-XXXXXX";
	uint64_t random = 0x123456789abcdef;
	const char *bytes = NULL;
	ElfW(Ehdr) head;
	size_t n = 0;
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
	fd = symbols_copy(self.path, path, &bytes, &n);
	CU_ASSERT_FATAL(fd >= 0);
	memcpy(&head, bytes, sizeof(head));
	for (unsigned round = 0; round < 60; round++) {
		uint64_t at = image_random(&random) % 1024;
		char byte;

		if (round & 1 && head.e_shoff < n)
			at = head.e_shoff + image_random(&random) % (n - head.e_shoff);
		byte = (char)(bytes[at] ^ (char)(1u << (random & 7)));
		CU_ASSERT(pwrite(fd, &byte, 1, (off_t)at) == 1);
		symbols_survive(path, &self);
		CU_ASSERT(pwrite(fd, bytes + at, 1, (off_t)at) == 1);
	}
	for (size_t length = n; length; length /= 2) {
		CU_ASSERT(ftruncate(fd, (off_t)length - 1) == 0);
		symbols_survive(path, &self);
	}
	munmap((void *)(uintptr_t)bytes, n);
	close(fd);
	unlink(path);
}

SUITE(symbols_of_files, TEST(functions_and_variables_have_names), TEST(versions_are_left_out),
      TEST(a_return_address_belongs_to_the_call), TEST(too_many_symbols_are_left_out),
      TEST(damaged_files_do_no_harm));

#endif

static void another_binary_is_not_used(void)
{
	struct ktr__module_entry self = symbols_self();
	uint64_t own = (uintptr_t)symbols_known_function - self.base;
	struct ktr__symtab *symtab;
	char expected[600];

	self.build_id[self.n_build_id - 1] ^= 1;
	CU_ASSERT(ktr__symtab_open(self.path, self.build_id, self.n_build_id, SIZE_MAX, &symtab) ==
		  (KTR_HAVE_LIBDW ? -ESTALE : -ENOTSUP));
	CU_ASSERT_PTR_NULL(symtab);
	snprintf(expected, sizeof(expected), "%s+0x%llx", strrchr(self.path, '/') + 1,
		 (unsigned long long)own);
	symbols_ask(&self, self.base + own, KTR__SYMBOLS_POINTER, expected);
}

/* Neither is what cannot be one: no file, a device, a directory, a path that is not absolute. */
static void missing_files_leave_the_modules_name(void)
{
	struct ktr__module_entry module = { .proc = SYMBOLS_PROC, .base = 0x10000000, .end = 0x10010000 };
	static const char *const paths[] = { "/nowhere/libgone.so.1", "/dev/null", "/tmp/.",
					     "libgone.so.1", "" };
	static const char *const names[] = { "libgone.so.1+0x1234", "null+0x1234", ".+0x1234",
					     "libgone.so.1+0x1234", "?+0x1234" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		module.path = paths[i];
		symbols_ask(&module, 0x10001234, KTR__SYMBOLS_POINTER, names[i]);
	}
	module.base = 0;
	symbols_ask(&module, 0x1f, KTR__SYMBOLS_POINTER, NULL);
}

/* In the middle: their ends tell them apart. */
static void long_names_are_cut(void)
{
	struct ktr__module_entry module = { .proc = SYMBOLS_PROC, .base = 1ull << 63, .end = UINT64_MAX };
	char path[400], expected[240], *to;

	memset(path, 'n', sizeof(path) - 1);
	strcpy(path + sizeof(path) - sizeof("its end"), "its end");
	module.path = path;
	memset(expected, 'n', sizeof(expected));
	to = expected + sizeof(expected) - sizeof("its end+0x7ffffffffffffffe");
	strcpy(to, "its end+0x7ffffffffffffffe");
	memcpy(expected + 109, "...", 3);
	symbols_ask(&module, UINT64_MAX - 1, KTR__SYMBOLS_POINTER, expected);
}

/* Part of a module's place was taken by another one later; around it the first still counts. */
static void the_last_module_at_a_place_counts(void)
{
	struct ktr__module_entry big = { .proc = 1, .base = 0x100000, .end = 0x200000, .path = "big" };
	struct ktr__module_entry small = {
		.proc = 1, .base = 0x140000, .end = 0x150000, .path = "small"
	};
	struct ktr__symbols *symbols;
	struct ktr__tables tables;

	CU_ASSERT_FATAL(ktr__tables_init(&tables) == 0);
	CU_ASSERT(ktr__tables_module(&tables, 1, &big) == 0);
	CU_ASSERT(ktr__tables_module(&tables, 2, &small) == 0);
	CU_ASSERT(ktr__tables_module(&tables, 0, &small) == -EINVAL);
	CU_ASSERT(ktr__tables_module(&tables, KTR__MODULES_MAX, &small) == -EINVAL);
	small.end = small.base;
	CU_ASSERT(ktr__tables_module(&tables, 3, &small) == -EINVAL);
	symbols = ktr__symbols_new(&tables);
	CU_ASSERT_PTR_NOT_NULL_FATAL(symbols);
	CU_ASSERT_STRING_EQUAL(ktr__symbols_at(symbols, 1, 0x140010, KTR__SYMBOLS_POINTER),
			       "small+0x10");
	CU_ASSERT_STRING_EQUAL(ktr__symbols_at(symbols, 1, 0x150000, KTR__SYMBOLS_POINTER),
			       "big+0x50000");
	CU_ASSERT_STRING_EQUAL(ktr__symbols_at(symbols, 1, 0x150000, KTR__SYMBOLS_RETURN),
			       "small+0x10000");
	CU_ASSERT_PTR_NULL(ktr__symbols_at(symbols, 1, 0x200000, KTR__SYMBOLS_POINTER));
	ktr__symbols_free(symbols);
	ktr__tables_free(&tables);
}

/* ---- through a session and a trace ---- */

static void symbols_fill(struct made *made)
{
	static const uint64_t pcs[] = { 0x7f0000001235, 0x7f0000000011, 0x123 };
	struct ktr_module_row *row = (struct ktr_module_row *)image_region(&made->image,
									   KTR_REGION_module) +
				     made->image.control->n_modules++;
	uint32_t pointer = made_site(made, KTR_GEN, "a.c", 1, "%p, %16p.", "p,q", 2, KTR_ARG_PTR,
				     KTR_ARG_PTR);
	uint32_t stack = made_site(made, KTR_GEN, "a.c", 2, "stack", "stack", 1, KTR_ARG_STACK);
	uint32_t thread = made_thread(made, 10, 10, "t");
	char text[sizeof(pcs) + 1] = "";
	struct ktr_entry *entry;

	((struct ktr_thread_row *)image_region(&made->image, KTR_REGION_thread))[thread].proc = 7;
	row->proc = 7;
	row->base = 0x7f0000000000;
	row->end = 0x7f0000010000;
	row->path = made->image.control->string_bytes;
	strcpy((char *)image_region(&made->image, KTR_REGION_string) + row->path, "/no/libx.so");
	made->image.control->string_bytes += sizeof("/no/libx.so");
	row->state = KTR_ROW_READY;
	made_event(made, 0, 1000, pointer, thread, (uint64_t)0x7f0000000abc, (uint64_t)0x123);
	/* made.h takes strings, and a stack has zero bytes: they are put in afterwards. */
	memset(text, 'x', sizeof(pcs));
	made_event(made, 0, 2000, stack, thread, text);
	entry = (void *)(made->image.bytes + KTR_GEOM_OFFSET(image_ring(&made->image, 0)->geom));
	memcpy(&entry[1].arg[1], pcs, sizeof(pcs));
}

static void symbols_text(const char *path)
{
	static const char *const expected[] = {
		"0x7f0000000abc (libx.so+0xabc),            0x123.",
		"stack: libx.so+0x1235 < libx.so+0x11 < 0x123",
	};
	struct ktr_reader *reader;
	struct ktr_event event;
	char text[256];

	CU_ASSERT_FATAL(ktr_reader_open(path, NULL, &reader, NULL) == 0);
	for (unsigned i = 0; i < 2; i++) {
		CU_ASSERT_FATAL(ktr_reader_next(reader, &event) == KTR_READ_EVENT);
		ktr__render_event(&event, ktr__reader_symbols(reader), text, sizeof(text));
		CU_ASSERT_STRING_EQUAL(text, expected[i]);
	}
	event.str[0].cut = 1;
	event.str[0].n_bytes = 8;
	ktr__render_event(&event, ktr__reader_symbols(reader), text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "stack: libx.so+0x1235 < ...");
	ktr_event_text(&event, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "stack 0x7f0000001235 ...");
	ktr_reader_close(reader);
}

static void symbols_json(const char *path)
{
	struct ktr__sink_json json = { .only_events = 1 };
	struct ktr_sink *sink = &json.sink;
	int fd = memfd_create("out", MFD_CLOEXEC);
	struct ktr_reader *reader;
	struct ktr__out out;
	char got[4096] = "";

	CU_ASSERT_FATAL(ktr_reader_open(path, NULL, &reader, NULL) == 0);
	CU_ASSERT_FATAL(ktr__out_open(&out, fd) == 0);
	json.out = &out;
	json.reader = reader;
	json.symbols = ktr__reader_symbols(reader);
	CU_ASSERT(ktr__sink_json_init(&json) == 0);
	CU_ASSERT(ktr_reader_walk(reader, &sink, 1) == 0);
	CU_ASSERT(ktr__sink_json_fini(&json) == 0);
	CU_ASSERT(ktr__out_close(&out) == 0);
	CU_ASSERT(pread(fd, got, sizeof(got) - 1, 0) > 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "\"args\":{\"p\":\"0x7f0000000abc\",\"q\":\"0x123\"}"));
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "\"args\":{\"stack\":["
					   "{\"pc\":\"0x7f0000001235\",\"sym\":\"libx.so+0x1235\"},"
					   "{\"pc\":\"0x7f0000000011\",\"sym\":\"libx.so+0x11\"},"
					   "{\"pc\":\"0x123\"}]}"));
	close(fd);
	ktr_reader_close(reader);
}

static void sessions_and_traces_tell_their_modules(void)
{
	struct made made;

	made_open(&made);
	symbols_fill(&made);
	made_trace(&made);
	symbols_text(made.session);
	symbols_text(made.trace);
	symbols_json(made.session);
	symbols_json(made.trace);
	made_close(&made);
}

SUITE(symbols, TEST(another_binary_is_not_used), TEST(missing_files_leave_the_modules_name),
      TEST(long_names_are_cut), TEST(the_last_module_at_a_place_counts),
      TEST(sessions_and_traces_tell_their_modules));
