/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A binary's debugging information, through libdwfl, which also finds what was split off; the functions out of it
 * (dwarf_functions.c), its types (dwarf_types.c), and at last its symbols (elf_symbols.c), for what is known by
 * name alone.
 */
#include "analyze/types/dwarf_read.h"

#ifndef KTR_HAVE_LIBDW
#define KTR_HAVE_LIBDW 0
#endif

#if KTR_HAVE_LIBDW

#include "analyze/symbols/elf_file.h"
#include "analyze/types/dwarf_die.h"
#include "analyze/types/dwarf_functions.h"
#include "analyze/types/dwarf_types.h"
#include "analyze/types/elf_symbols.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct dwarf_read {
	const char *path;
	struct ktr__elf_file file;
	Dwfl *dwfl;
	Dwfl_Module *module;
	Dwarf *alt; /* the file that dwz(1) moved common types to; owned */
	int alt_fd;
	struct ktr__types_build build;
	struct ktr__dwarf_types types;
};

static int dwarf_read_fail(const char *path, int code, struct ktr_error *err)
{
	switch (-code) {
	case ENOEXEC:
		return ktr_error_at(err, path, 0, 0, ENOEXEC,
				    "is no 64-bit ELF program or library, or not a whole one");
	case EINVAL:
		return ktr_error_at(err, path, 0, 0, EINVAL, "is no regular file");
	case EFBIG:
		return ktr_error_at(err, path, 0, 0, EFBIG, "is too large");
	default:
		return ktr_error_at(err, path, 0, 0, -code, "cannot be read: %s", strerror(-code));
	}
}

/* ---- the file ---- */

/* 0 or -errno with err filled. */
static int dwarf_read_open(struct dwarf_read *r, struct ktr_error *err)
{
	static const Dwfl_Callbacks callbacks = {
		.find_debuginfo = ktr__elf_find_debug,
		.section_address = dwfl_offline_section_address,
	};
	GElf_Addr bias;
	int rc = ktr__elf_file_read(r->path, &r->file);

	if (rc)
		return dwarf_read_fail(r->path, rc, err);
	r->dwfl = dwfl_begin(&callbacks);
	if (!r->dwfl)
		return dwarf_read_fail(r->path, -ENOMEM, err);
	dwfl_report_begin(r->dwfl);
	r->module = dwfl_report_offline_memory(r->dwfl, r->path, r->path, r->file.bytes, r->file.n_bytes);
	if (dwfl_report_end(r->dwfl, NULL, NULL) || !r->module || !dwfl_module_getelf(r->module, &bias))
		return ktr_error_at(err, r->path, 0, 0, ENOEXEC, "is damaged: %s", dwfl_errmsg(-1));
	return 0;
}

static void dwarf_read_close(struct dwarf_read *r)
{
	ktr__dwarf_types_free(&r->types);
	ktr__types_build_free(&r->build);
	if (r->dwfl)
		dwfl_end(r->dwfl);
	if (r->alt)
		dwarf_end(r->alt);
	if (r->alt_fd >= 0)
		close(r->alt_fd);
	ktr__elf_file_close(&r->file);
}

static uint16_t dwarf_read_id(struct dwarf_read *r, uint8_t id[KTR__TYPES_ID_MAX])
{
	const unsigned char *bits;
	GElf_Addr where;
	int n = dwfl_module_build_id(r->module, &bits, &where);
	uint64_t instead[2];

	if (n <= 0) {
		ktr__elf_file_id(&r->file.st, instead);
		memcpy(id, instead, sizeof(instead));
		return sizeof(instead);
	}
	n = n > KTR__TYPES_ID_MAX ? KTR__TYPES_ID_MAX : n;
	memcpy(id, bits, (size_t)n);
	return (uint16_t)n;
}

/* A descriptor of a file by its name, as seen from beside the program; or -1. */
static int dwarf_read_beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	char full[PATH_MAX];
	struct stat st;
	int n = name[0] == '/' || !slash ? snprintf(full, sizeof(full), "%s", name)
					 : snprintf(full, sizeof(full), "%.*s/%s", (int)(slash - path), path, name);

	return n > 0 && (size_t)n < sizeof(full) ? ktr__elf_open(full, &st) : -1;
}

/* Is it the file with this build-id? */
static int dwarf_read_is(Dwarf *dwarf, const void *id, ssize_t n)
{
	const void *own;

	return dwelf_elf_gnu_build_id(dwarf_getelf(dwarf), &own) == n && memcmp(own, id, (size_t)n) == 0;
}

/* dwz(1) moves what several binaries share to another file, found by its build-id, or by the name that it has. */
static void dwarf_read_alt(struct dwarf_read *r, Dwarf *dwarf)
{
	char path[KTR__ELF_DEBUG_PATH];
	struct stat st;
	const char *name;
	const void *id;
	ssize_t n = dwarf_getalt(dwarf) ? 0 : dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);

	if (n < 2 || n > KTR__ELF_ID_MAX)
		return;
	ktr__elf_debug_path(id, (size_t)n, ".debug", path);
	r->alt_fd = ktr__elf_open(path, &st);
	if (r->alt_fd < 0)
		r->alt_fd = dwarf_read_beside(r->path, name);
	r->alt = r->alt_fd < 0 ? NULL : dwarf_begin(r->alt_fd, DWARF_C_READ);
	if (r->alt && dwarf_read_is(r->alt, id, n))
		dwarf_setalt(dwarf, r->alt);
	else
		r->build.head.flags |= KTR__TYPES_PARTIAL;
}

/* ---- its units ---- */

/* Where code is mapped: what the linker left out has addresses elsewhere. */
static void dwarf_read_code(struct dwarf_read *r, Elf *elf, struct ktr__dwarf_code *code)
{
	size_t n = 0;
	GElf_Phdr phdr;
	GElf_Ehdr head;

	if (gelf_getehdr(elf, &head))
		r->build.head.machine = head.e_machine;
	if (elf_getphdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n && code->n < KTR__DWARF_SEGMENTS; i++) {
		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_LOAD || !(phdr.p_flags & PF_X))
			continue;
		code->low[code->n] = phdr.p_vaddr;
		code->high[code->n++] = phdr.p_vaddr + phdr.p_memsz;
	}
}

enum dwarf_read_step { DWARF_READ_SCOPES, DWARF_READ_FUNCTIONS };

/* What a unit is read from: itself, or its part in another file. NULL: that was not found. */
static Dwarf_Die *dwarf_read_whole(struct dwarf_read *r, Dwarf_Die *unit, Dwarf_Die *split, uint8_t kind)
{
	if (kind != DW_UT_skeleton)
		return unit;
	if (dwarf_tag(split) > 0)
		return split;
	r->build.head.flags |= KTR__TYPES_PARTIAL;
	return NULL;
}

static void dwarf_read_units(struct dwarf_read *r, Dwarf *dwarf, enum dwarf_read_step step,
			     const struct ktr__dwarf_code *code)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t kind;
	Dwarf_Die unit, split, *whole;

	while (!r->build.error && dwarf_get_units(dwarf, cu, &cu, &version, &kind, &unit, &split) == 0) {
		whole = dwarf_read_whole(r, &unit, &split, kind);
		if (!whole)
			continue;
		r->types.language = ktr__dwarf_language(whole);
		if (step == DWARF_READ_SCOPES)
			ktr__dwarf_scopes(&r->types, whole);
		else
			ktr__dwarf_functions(&r->types, whole, code);
	}
}

static void dwarf_read_all(struct dwarf_read *r)
{
	struct ktr__dwarf_code code = { 0 };
	GElf_Addr bias, own = 0;
	Dwarf *dwarf = dwfl_module_getdwarf(r->module, &bias);
	Elf *elf = dwfl_module_getelf(r->module, &own);

	code.bias = bias - own;
	dwarf_read_code(r, elf, &code);
	if (dwarf) {
		dwarf_read_alt(r, dwarf);
		if (dwarf_getalt(dwarf))
			dwarf_read_units(r, dwarf_getalt(dwarf), DWARF_READ_SCOPES, &code);
		dwarf_read_units(r, dwarf, DWARF_READ_SCOPES, &code);
		dwarf_read_units(r, dwarf, DWARF_READ_FUNCTIONS, &code);
		ktr__dwarf_members(&r->types);
		if (r->build.head.n_functions || r->build.head.n_types > 1)
			r->build.head.flags |= KTR__TYPES_HAS_DWARF;
	}
	ktr__elf_symbols(&r->build, r->module, own);
}

int ktr__dwarf_read(const char *path, void **bytes, size_t *n_bytes, struct ktr_error *err)
{
	struct dwarf_read r = { .path = path, .alt_fd = -1 };
	int rc = dwarf_read_open(&r, err);

	*bytes = NULL;
	if (rc) {
		dwarf_read_close(&r);
		return rc;
	}
	ktr__types_build_begin(&r.build);
	r.types.build = &r.build;
	r.build.head.n_id = dwarf_read_id(&r, r.build.head.id);
	dwarf_read_all(&r);
	if (!r.build.head.n_functions && r.build.head.n_types < 2)
		rc = ktr_error_at(err, path, 0, 0, ENOEXEC, "has neither debugging information nor symbols");
	else if ((rc = ktr__types_build_end(&r.build, bytes, n_bytes)) != 0)
		dwarf_read_fail(path, rc, err);
	dwarf_read_close(&r);
	return rc;
}

/* Only what it needs of the file is read. */
int ktr__dwarf_build_id(const char *path, uint8_t id[KTR__TYPES_ID_MAX], uint16_t *n, struct ktr_error *err)
{
	const void *bits;
	struct stat st;
	uint64_t instead[2];
	int fd = ktr__elf_open(path, &st);
	ssize_t length;
	Elf *elf;

	*n = 0;
	if (fd < 0)
		return dwarf_read_fail(path, fd, err);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		length = dwelf_elf_gnu_build_id(elf, &bits);
		ktr__elf_file_id(&st, instead);
		*n = length > KTR__TYPES_ID_MAX ? KTR__TYPES_ID_MAX : (uint16_t)length;
		*n = length <= 0 ? sizeof(instead) : *n;
		memcpy(id, length <= 0 ? instead : bits, *n);
	}
	elf_end(elf);
	close(fd);
	return *n ? 0 : dwarf_read_fail(path, -ENOEXEC, err);
}

#else

#include <errno.h>

static int dwarf_read_none(const char *path, struct ktr_error *err)
{
	return ktr_error_at(err, path, 0, 0, ENOTSUP, "cannot be read: ktr was built without libdw");
}

int ktr__dwarf_read(const char *path, void **bytes, size_t *n_bytes, struct ktr_error *err)
{
	*bytes = NULL;
	*n_bytes = 0;
	return dwarf_read_none(path, err);
}

int ktr__dwarf_build_id(const char *path, uint8_t id[KTR__TYPES_ID_MAX], uint16_t *n, struct ktr_error *err)
{
	(void)id;
	*n = 0;
	return dwarf_read_none(path, err);
}

#endif
