/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each object's file is read once, into memory (elf_file.c), by the path that the process has it by, if the file
 * there is still the one that is mapped (its inode), else by ways that /proc has: its root directory, its program,
 * its mappings. Where a file is gone, as after an update, libdwfl takes the image from the process's memory, which
 * has what unwinding needs and the names that the dynamic linker has.
 *
 * A stack is unwound by libdwfl, by .eh_frame or .debug_frame, on the copy alone: what lies elsewhere may have
 * changed since the thread goes on. Where the code has neither, libdwfl goes by frame pointers; in a build without
 * it all is done by these.
 */
#include "analyze/live/live.h"

#include "analyze/symbols/demangle.h"
#include "analyze/symbols/elf_file.h"
#include "analyze/symbols/symtab.h"
#include "ktr/provider/syscall/tracee_proc.h"

#include <ktr/session.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifndef KTR_HAVE_LIBDW
#define KTR_HAVE_LIBDW 0
#endif

#if KTR_HAVE_LIBDW
#include <elfutils/libdwfl.h>
#endif

#define LIVE_SYMBOLS ((size_t)256 << 20) /* [bytes] of one object's symbols */

/* What belongs to an object, by its row in maps. */
struct live_file {
	struct ktr__elf_file copy;
	char *path;		    /* owned; NULL: its file could not be read */
	struct ktr__symtab *symtab; /* owned */
	int is_asked;		    /* for symbols */
};

struct ktr__live {
	pid_t pid;
	struct ktr__live_maps maps;
	struct live_file *file; /* owned */
#if KTR_HAVE_LIBDW
	Dwfl *dwfl;
	int is_attached;
	const struct ktr__live_thread *thread; /* that is being unwound */
#endif
};

uint64_t ktr__live_pc(const struct user_regs_struct *regs)
{
#if defined(__x86_64__)
	return regs->rip;
#else
	return regs->pc;
#endif
}

uint64_t ktr__live_sp(const struct user_regs_struct *regs)
{
#if defined(__x86_64__)
	return regs->rsp;
#else
	return regs->sp;
#endif
}

uint64_t ktr__live_fp(const struct user_regs_struct *regs)
{
#if defined(__x86_64__)
	return regs->rbp;
#else
	return regs->regs[29];
#endif
}

const struct ktr__live_maps *ktr__live_maps(const struct ktr__live *live)
{
	return &live->maps;
}

/* A word of the copy. 1 or 0. */
static int live_word(const struct ktr__live_thread *thread, uint64_t at, uint64_t *word)
{
	if (at < thread->base || at - thread->base > thread->n_bytes ||
	    thread->n_bytes - (at - thread->base) < sizeof(*word))
		return 0;
	memcpy(word, (const char *)thread->bytes + (at - thread->base), sizeof(*word));
	return 1;
}

static const char *live_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#if KTR_HAVE_LIBDW

/* ---- files ---- */

static int live_is_file(const char *path, uint64_t inode)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == inode;
}

/* The path by which we have the object's own file. 1 or 0. */
static int live_path(const struct ktr__live *live, const struct ktr__live_object *object, char path[PATH_MAX])
{
	int pid = (int)ktr__tracee_living(live->pid);

	if (!object->inode)
		return 0;
	snprintf(path, PATH_MAX, "%s", object->path);
	if (live_is_file(path, object->inode))
		return 1;
	if (snprintf(path, PATH_MAX, "/proc/%d/root%s", pid, object->path) < PATH_MAX &&
	    live_is_file(path, object->inode))
		return 1;
	snprintf(path, PATH_MAX, "/proc/%d/exe", pid);
	if (live_is_file(path, object->inode))
		return 1;
	snprintf(path, PATH_MAX, "/proc/%d/map_files/%lx-%lx", pid, (unsigned long)object->start,
		 (unsigned long)object->first_end);
	return live_is_file(path, object->inode);
}

/* For Dwfl_Callbacks.find_elf: *user is the live process, name is the object's row. */
static int live_find_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, char **file_name,
			 Elf **elf)
{
	struct ktr__live *live = *user;
	uint32_t row = (uint32_t)strtoul(name, NULL, 10);
	struct live_file *file = &live->file[row];
	char path[PATH_MAX], image[32];

	*elf = NULL;
	if (live_path(live, &live->maps.object[row], path) && ktr__elf_file_read(path, &file->copy) == 0) {
		*elf = elf_memory(file->copy.bytes, file->copy.n_bytes);
		file->path = strdup(path);
		*file_name = strdup(path);
	}
	if (*elf)
		return -1;
	snprintf(image, sizeof(image), "[vdso: %d]", (int)ktr__tracee_living(live->pid));
	return dwfl_linux_proc_find_elf(module, user, image, base, file_name, elf);
}

static const struct ktr__live_object *live_module_object(const struct ktr__live *live, Dwfl_Module *module,
							 uint32_t *row)
{
	const char *name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

	*row = (uint32_t)strtoul(name, NULL, 10);
	return &live->maps.object[*row];
}

static int live_report(struct ktr__live *live)
{
	static const Dwfl_Callbacks callbacks = { .find_elf = live_find_elf,
						  .find_debuginfo = ktr__elf_find_debug };

	elf_version(EV_CURRENT);
	live->dwfl = dwfl_begin(&callbacks);
	if (!live->dwfl)
		return -ENOMEM;
	dwfl_report_begin(live->dwfl);
	for (uint32_t i = 0; i < live->maps.n_objects; i++) {
		const struct ktr__live_object *object = &live->maps.object[i];
		Dwfl_Module *module;
		char name[16];
		void **user;

		snprintf(name, sizeof(name), "%u", i);
		module = object->is_code ? dwfl_report_module(live->dwfl, name, object->start, object->end) : NULL;
		if (module && dwfl_module_info(module, &user, NULL, NULL, NULL, NULL, NULL, NULL))
			*user = live;
	}
	return dwfl_report_end(live->dwfl, NULL, NULL) ? -ENOMEM : 0;
}

static int live_warm_one(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, void *context)
{
	Dwarf_Addr bias;

	(void)user, (void)name, (void)base, (void)context;
	if (!dwfl_module_eh_cfi(module, &bias))
		dwfl_module_dwarf_cfi(module, &bias);
	return DWARF_CB_OK;
}

void ktr__live_warm(struct ktr__live *live)
{
	dwfl_getmodules(live->dwfl, live_warm_one, NULL, 0);
}

/* ---- frames ---- */

static bool live_memory(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *word, void *context)
{
	const struct ktr__live *live = context;
	uint64_t got;

	(void)dwfl;
	if (!live_word(live->thread, at, &got))
		return false;
	*word = got;
	return true;
}

static bool live_get_thread(Dwfl *dwfl, pid_t tid, void *context, void **thread)
{
	struct ktr__live *live = context;

	(void)dwfl;
	*thread = live;
	return tid == live->thread->tid;
}

static pid_t live_next_thread(Dwfl *dwfl, void *context, void **thread)
{
	struct ktr__live *live = context;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = live;
	return live->thread->tid;
}

/* In the order of DWARF's numbers. */
static bool live_registers(Dwfl_Thread *thread, void *context)
{
	const struct ktr__live *live = context;
	const struct user_regs_struct *regs = &live->thread->regs;
#if defined(__x86_64__)
	const Dwarf_Word words[] = { regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi, regs->rdi,
				     regs->rbp, regs->rsp, regs->r8,  regs->r9,  regs->r10, regs->r11,
				     regs->r12, regs->r13, regs->r14, regs->r15, regs->rip };
#else
	Dwarf_Word words[32];

	for (unsigned i = 0; i < 31; i++)
		words[i] = regs->regs[i];
	words[31] = regs->sp;
	dwfl_thread_state_register_pc(thread, regs->pc);
#endif
	return dwfl_thread_state_registers(thread, 0, sizeof(words) / sizeof(words[0]), words);
}

static const Dwfl_Thread_Callbacks live_callbacks = {
	.next_thread = live_next_thread,
	.get_thread = live_get_thread,
	.memory_read = live_memory,
	.set_initial_registers = live_registers,
};

struct live_walk {
	const struct ktr__live *live;
	struct ktr__live_frame *frame;
	unsigned n;
	bool is_lost; /* what would be next is no code */
};

static bool live_is_files(const struct ktr__live_maps *maps, uint64_t at)
{
	const struct ktr__live_object *object = ktr__live_maps_object(maps, at);

	return object && object->inode;
}

/*
 * Frame pointers lead anywhere where a stack has been left for another one, as Go's runtime does: into a file's
 * data, or what is zero at first and follows it. Other memory that no file has may be code by now.
 */
static bool live_is_data(const struct ktr__live_maps *maps, uint64_t pc)
{
	const struct ktr__live_region *region = ktr__live_maps_region(maps, pc);

	if (!region || region->access[2] == 'x')
		return false;
	return live_is_files(maps, pc) || (region > maps->region && region[-1].end == region->start &&
					   live_is_files(maps, region[-1].start));
}

static int live_frame(Dwfl_Frame *state, void *context)
{
	struct live_walk *walk = context;
	bool is_activation = false;
	Dwarf_Addr pc;

	if (walk->n == KTR__LIVE_FRAMES || !dwfl_frame_pc(state, &pc, &is_activation))
		return DWARF_CB_ABORT;
	/* Where a thread begins there may be a return address of 0. */
	if (walk->n && !pc)
		return DWARF_CB_ABORT;
	walk->is_lost = walk->n && live_is_data(&walk->live->maps, pc);
	if (walk->is_lost)
		return DWARF_CB_ABORT;
	walk->frame[walk->n++] = (struct ktr__live_frame){ pc, !is_activation };
	return DWARF_CB_OK;
}

unsigned ktr__live_frames(struct ktr__live *live, const struct ktr__live_thread *thread,
			  struct ktr__live_frame frame[KTR__LIVE_FRAMES], const char **why)
{
	struct live_walk walk = { live, frame, 0, false };
	int rc;

	*why = NULL;
	live->thread = thread;
	if (!live->is_attached)
		live->is_attached = dwfl_attach_state(live->dwfl, NULL, live->pid, &live_callbacks, live);
	rc = live->is_attached ? dwfl_getthread_frames(live->dwfl, thread->tid, live_frame, &walk) : -1;
	if (rc < 0)
		*why = dwfl_errmsg(-1);
	else if (walk.is_lost)
		*why = "what is beyond is no code";
	else if (walk.n == KTR__LIVE_FRAMES)
		*why = "deeper stacks are cut";
	if (!walk.n)
		frame[walk.n++] = (struct ktr__live_frame){ ktr__live_pc(&thread->regs), 0 };
	return walk.n;
}

/* ---- files' identities ---- */

/* The object's own build-id, or what stands for it where it was linked without: how many bytes. */
static size_t live_id(const struct live_file *file, Dwfl_Module *module, uint8_t to[KTR_BUILD_ID_MAX])
{
	const unsigned char *id;
	uint64_t none[2];
	GElf_Addr where;
	int n = dwfl_module_build_id(module, &id, &where);

	if (n > 0) {
		n = n > KTR_BUILD_ID_MAX ? KTR_BUILD_ID_MAX : n;
		memcpy(to, id, (size_t)n);
		return (size_t)n;
	}
	ktr__elf_file_id(&file->copy.st, none);
	memcpy(to, none, sizeof(none));
	return sizeof(none);
}

int ktr__live_image(struct ktr__live *live, uint32_t object, struct ktr__live_image *image)
{
	const struct ktr__live_object *at = &live->maps.object[object];
	Dwfl_Module *module = at->is_code ? dwfl_addrmodule(live->dwfl, at->start) : NULL;
	GElf_Addr bias = 0;

	_Static_assert(sizeof(image->id) >= KTR_BUILD_ID_MAX, "a build-id has room");
	if (!module || !dwfl_module_getelf(module, &bias) || !live->file[object].path)
		return 0;
	*image = (struct ktr__live_image){ .path = at->path, .base = bias, .end = at->end };
	image->n_id = live_id(&live->file[object], module, image->id);
	return 1;
}

/* ---- names ---- */

static void live_symtab(struct live_file *file, Dwfl_Module *module)
{
	uint8_t id[KTR_BUILD_ID_MAX];

	file->is_asked = 1;
	if (file->path)
		ktr__symtab_open(file->path, id, live_id(file, module, id), LIVE_SYMBOLS, &file->symtab);
}

static const char *live_symbol(struct ktr__live *live, Dwfl_Module *module, uint64_t address, uint64_t own,
			       uint64_t *offset)
{
	uint32_t row;
	struct live_file *file;
	const char *found;
	GElf_Off off = 0;
	GElf_Sym sym;

	live_module_object(live, module, &row);
	file = &live->file[row];
	if (!file->is_asked)
		live_symtab(file, module);
	if (file->symtab) {
		found = ktr__symtab_find(file->symtab, own, offset);
		return found && *found ? found : NULL;
	}
	found = dwfl_module_addrinfo(module, address, &off, &sym, NULL, NULL, NULL);
	*offset = off;
	return found;
}

/* The unit that an address is in, where .debug_aranges does not tell: clang and Go write none. 1 or 0. */
static int live_unit(Dwfl_Module *module, uint64_t address, Dwarf_Die *unit, Dwarf_Addr *bias)
{
	Dwarf_Die *one = NULL;

	while ((one = dwfl_module_nextcu(module, one, bias)) != NULL)
		if (dwarf_haspc(one, address - *bias) > 0) {
			*unit = *one;
			return 1;
		}
	return 0;
}

static void live_line(Dwfl_Module *module, uint64_t address, struct ktr__live_name *name)
{
	Dwfl_Line *line = dwfl_module_getsrc(module, address);
	Dwarf_Line *other;
	Dwarf_Addr bias;
	Dwarf_Die unit;

	if (line) {
		name->file = dwfl_lineinfo(line, NULL, &name->line, NULL, NULL, NULL);
		return;
	}
	if (!live_unit(module, address, &unit, &bias))
		return;
	other = dwarf_getsrc_die(&unit, address - bias);
	name->file = other ? dwarf_linesrc(other, NULL, NULL) : NULL;
	if (other)
		dwarf_lineno(other, &name->line);
}

static void live_look_up(struct ktr__live *live, uint64_t address, uint64_t back, struct ktr__live_name *name)
{
	Dwfl_Module *module = dwfl_addrmodule(live->dwfl, address);
	char text[KTR__DEMANGLE_MAX];
	const char *symbol;
	GElf_Addr bias = 0;

	if (!module || !dwfl_module_getelf(module, &bias))
		return;
	name->object_offset = address - bias + back;
	symbol = live_symbol(live, module, address, address - bias, &name->offset);
	if (symbol)
		snprintf(name->symbol, sizeof(name->symbol), "%s", ktr__demangle(symbol, KTR__DEMANGLE_NAME, text));
	name->offset += back;
	live_line(module, address, name);
}

#else

static int live_report(struct ktr__live *live)
{
	(void)live;
	return 0;
}

void ktr__live_warm(struct ktr__live *live)
{
	(void)live;
}

/* Each frame begins with the caller's frame pointer and the return address. */
unsigned ktr__live_frames(struct ktr__live *live, const struct ktr__live_thread *thread,
			  struct ktr__live_frame frame[KTR__LIVE_FRAMES], const char **why)
{
	uint64_t fp = ktr__live_fp(&thread->regs), next, pc;
	unsigned n = 0;

	(void)live;
	frame[n++] = (struct ktr__live_frame){ ktr__live_pc(&thread->regs), 0 };
	while (n < KTR__LIVE_FRAMES && live_word(thread, fp, &next) && live_word(thread, fp + 8, &pc) && pc) {
		frame[n++] = (struct ktr__live_frame){ pc, 1 };
		if (next <= fp)
			break;
		fp = next;
	}
	*why = "by frame pointers: this build has no libdw";
	return n;
}

int ktr__live_image(struct ktr__live *live, uint32_t object, struct ktr__live_image *image)
{
	(void)live, (void)object, (void)image;
	return 0;
}

static void live_look_up(struct ktr__live *live, uint64_t address, uint64_t back, struct ktr__live_name *name)
{
	(void)live, (void)address, (void)back, (void)name;
}

#endif

void ktr__live_name(struct ktr__live *live, uint64_t address, int is_return, struct ktr__live_name *name)
{
	uint64_t back = is_return != 0, at = address - back;
	const struct ktr__live_object *object = ktr__live_maps_object(&live->maps, at);

	*name = (struct ktr__live_name){ .symbol = "" };
	if (!object)
		return;
	name->object = live_base(object->path);
	name->object_offset = address - object->start;
	live_look_up(live, at, back, name);
}

int ktr__live_open(pid_t pid, struct ktr__live **out)
{
	struct ktr__live *live = calloc(1, sizeof(*live));
	int rc = -ENOMEM;

	*out = NULL;
	if (!live)
		return rc;
	live->pid = pid;
	rc = ktr__live_maps_read(pid, &live->maps);
	if (!rc) {
		live->file = calloc(live->maps.n_objects + 1u, sizeof(*live->file));
		rc = live->file ? live_report(live) : -ENOMEM;
	}
	if (rc) {
		ktr__live_close(live);
		return rc;
	}
	*out = live;
	return 0;
}

void ktr__live_close(struct ktr__live *live)
{
	if (!live)
		return;
#if KTR_HAVE_LIBDW
	if (live->dwfl)
		dwfl_end(live->dwfl);
#endif
	for (uint32_t i = 0; live->file && i < live->maps.n_objects; i++) {
		ktr__symtab_close(live->file[i].symtab);
		ktr__elf_file_close(&live->file[i].copy);
		free(live->file[i].path);
	}
	free(live->file);
	ktr__live_maps_free(&live->maps);
	free(live);
}
