/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From an address to a name: the process's modules, the module's file, the file's symbols.
 *
 * Modules are sorted by process and address. A place may have been taken by several modules one
 * after the other (dlclose, dlopen); the rows do not tell when, so the last one counts. Files are
 * opened when the first of their addresses is asked for, and shared by all processes that had
 * them mapped: same path, same build-id. What a file's symbols may take is limited for all
 * together; beyond it, as when a file is missing or another one, addresses have the module's name.
 *
 * In front of it all stands a cache of answers, of fixed size, one place per hash: programs log
 * the same few addresses over and over.
 */
#include "analyze/symbols/symbols.h"

#include "analyze/read/tables.h"
#include "analyze/symbols/debug_member.h"
#include "analyze/symbols/demangle.h"
#include "analyze/symbols/process_code.h"
#include "analyze/symbols/symtab.h"
#include "conf/kit/array.h"
#include "conf/kit/hash.h"
#include "writer/format/ident.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLS_PLACES     16384u              /* buckets */
#define SYMBOLS_CACHE_LOG2 12                  /* answers; 1 MiB of them */
#define SYMBOLS_TEXT       ((size_t)240)       /* [bytes] longer names lose their middle */
#define SYMBOLS_MAX        ((size_t)256 << 20) /* [bytes] of symbols, of all files together */
#define SYMBOLS_LINES_MAX  ((size_t)2 << 30)   /* [bytes] of files that lines are read from, nearly */
#define SYMBOLS_FILES_MAX  4096u               /* other files have no symbols */

/*
 * Nothing is mapped below it (vm.mmap_min_addr). In an executable whose base is 0, small numbers
 * would look like pointers.
 */
#define SYMBOLS_LOWEST     0x10000u

struct symbols_file {
	const struct ktr__module_entry *module; /* the first with it: path and build-id */
	struct ktr__symtab *symtab;       /* owned; NULL: none to be had */
	struct ktr__debug_lines *debug;   /* owned; likewise, */
	int debug_asked;                  /* once asked for */
};

/* Lines of an address. */
struct symbols_place {
	struct symbols_place *chain;
	uint64_t address;
	uint32_t proc;
	unsigned n;
	struct ktr__debug_line line[];
};

struct symbols_module {
	const struct ktr__module_entry *module;
	uint32_t row;
	uint32_t file;  /* + 1; 0: not looked for yet */
	uint64_t reach; /* highest end of this process's modules up to here */
};

struct symbols_answer {
	uint64_t address;
	uint32_t proc;
	uint32_t kind;           /* 0: empty */
	char text[SYMBOLS_TEXT]; /* "": in no module */
};

struct ktr__symbols {
	const struct ktr__tables *tables; /* borrowed */
	struct symbols_module *module; /* owned */
	uint32_t n_modules;
	struct symbols_file *file; /* owned */
	uint32_t n_files, file_room;
	size_t n_bytes;                /* of all symbols */
	struct symbols_answer *answer; /* owned; NULL until something is asked for */
	struct ktr__process_code code;
	struct symbols_place **place; /* owned; NULL: lines are not wanted */
	size_t lines_bytes; /* of files that they are read from */
	struct ktr__arena arena;      /* of places */
};

static int symbols_order(const void *a, const void *b)
{
	const struct symbols_module *x = a, *y = b;

	if (x->module->proc != y->module->proc)
		return x->module->proc < y->module->proc ? -1 : 1;
	if (x->module->base != y->module->base)
		return x->module->base < y->module->base ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

struct ktr__symbols *ktr__symbols_new(const struct ktr__tables *tables)
{
	struct ktr__symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return NULL;
	symbols->tables = tables;
	symbols->module = calloc((size_t)tables->n_modules + 1, sizeof(*symbols->module));
	if (!symbols->module) {
		free(symbols);
		return NULL;
	}
	for (uint32_t row = 0; row < tables->n_modules; row++)
		if (tables->module[row])
			symbols->module[symbols->n_modules++] = (struct symbols_module){
				tables->module[row], row, 0, 0
			};
	qsort(symbols->module, symbols->n_modules, sizeof(*symbols->module), symbols_order);
	for (uint32_t i = 0; i < symbols->n_modules; i++) {
		struct symbols_module *module = &symbols->module[i];

		module->reach = module->module->end;
		if (i && module[-1].module->proc == module->module->proc &&
		    module[-1].reach > module->reach)
			module->reach = module[-1].reach;
	}
	return symbols;
}

struct ktr__symbols *ktr__symbols_like(const struct ktr__symbols *symbols)
{
	struct ktr__symbols *like = ktr__symbols_new(symbols->tables);

	if (like)
		like->code.where = symbols->code.where;
	return like;
}

void ktr__symbols_code(struct ktr__symbols *symbols, const struct ktr__process_code_where *where)
{
	symbols->code.where = *where;
}

int64_t ktr__symbols_keep(struct ktr__symbols *symbols)
{
	return ktr__process_code_keep(&symbols->code, symbols->tables);
}

void ktr__symbols_free(struct ktr__symbols *symbols)
{
	if (!symbols)
		return;
	for (uint32_t i = 0; i < symbols->n_files; i++) {
		ktr__symtab_close(symbols->file[i].symtab);
		ktr__debug_lines_close(symbols->file[i].debug);
	}
	ktr__arena_free(&symbols->arena);
	free(symbols->place);
	ktr__process_code_free(&symbols->code);
	free(symbols->file);
	free(symbols->module);
	free(symbols->answer);
	free(symbols);
}

/* The module of an address: among those that hold it, the one that was added last. */
static struct symbols_module *symbols_module(const struct ktr__symbols *symbols, uint32_t proc,
					     uint64_t address)
{
	struct symbols_module *best = NULL;
	uint32_t from = 0, to = symbols->n_modules;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;
		const struct ktr__module_entry *module = symbols->module[middle].module;

		if (module->proc < proc || (module->proc == proc && module->base <= address))
			from = middle + 1;
		else
			to = middle;
	}
	for (; from; from--) {
		struct symbols_module *module = &symbols->module[from - 1];

		if (module->module->proc != proc || module->reach <= address)
			break;
		if (address < module->module->end && (!best || module->row > best->row))
			best = module;
	}
	return best;
}

const struct ktr__module_entry *ktr__symbols_module(const struct ktr__symbols *symbols, uint32_t proc,
						    uint64_t address)
{
	const struct symbols_module *module =
		address < SYMBOLS_LOWEST ? NULL : symbols_module(symbols, proc, address);

	return module ? module->module : NULL;
}

static int symbols_same(const struct ktr__module_entry *a, const struct ktr__module_entry *b)
{
	return a->n_build_id == b->n_build_id &&
	       memcmp(a->build_id, b->build_id, a->n_build_id) == 0 &&
	       strcmp(a->path, b->path) == 0;
}

/* The file of a module, opened now if it was not before; 0: none, else its number + 1. */
static uint32_t symbols_open(struct ktr__symbols *symbols, const struct ktr__module_entry *module)
{
	struct symbols_file *file;

	for (uint32_t i = 0; i < symbols->n_files; i++)
		if (symbols_same(symbols->file[i].module, module))
			return i + 1;
	if (symbols->n_files == SYMBOLS_FILES_MAX)
		return 0;
	if (ktr__array_grow(&symbols->file, &symbols->file_room, symbols->n_files, sizeof(*file)))
		return 0;
	file = &symbols->file[symbols->n_files];
	file->module = module;
	if (ktr__symtab_open(module->path, module->build_id, module->n_build_id,
			     SYMBOLS_MAX - symbols->n_bytes, &file->symtab) == 0)
		symbols->n_bytes += ktr__symtab_bytes(file->symtab);
	return ++symbols->n_files;
}

static const struct ktr__symtab *symbols_symtab(struct ktr__symbols *symbols,
						struct symbols_module *module)
{
	if (!module->file)
		module->file = symbols_open(symbols, module->module);
	return module->file ? symbols->file[module->file - 1].symtab : NULL;
}

/* ---- lines ---- */

void ktr__symbols_want_lines(struct ktr__symbols *symbols)
{
	if (!symbols->place)
		symbols->place = calloc(SYMBOLS_PLACES, sizeof(struct symbols_place *));
}

/* Debug information of a module. NULL: there is none. */
static struct ktr__debug_lines *symbols_debug(struct ktr__symbols *symbols, struct symbols_module *module)
{
	struct symbols_file *file;

	if (!module->file)
		module->file = symbols_open(symbols, module->module);
	file = module->file ? &symbols->file[module->file - 1] : NULL;
	if (file && !file->debug_asked && symbols->lines_bytes < SYMBOLS_LINES_MAX) {
		file->debug_asked = 1;
		ktr__debug_lines_open(module->module->path, module->module->build_id, module->module->n_build_id,
				      &file->debug);
		symbols->lines_bytes += file->debug ? ktr__debug_lines_bytes(file->debug) : 0;
	}
	return file ? file->debug : NULL;
}

static unsigned symbols_look(struct ktr__symbols *symbols, uint32_t proc, uint64_t address,
			     struct ktr__debug_line line[KTR__DEBUG_LINES])
{
	struct symbols_module *module = symbols_module(symbols, proc, address);
	struct ktr__debug_lines *debug = module ? symbols_debug(symbols, module) : NULL;

	return debug ? ktr__debug_lines_at(debug, address - module->module->base, line) : 0;
}

int ktr__symbols_member(struct ktr__symbols *symbols, uint32_t proc, uint64_t address, uint64_t offset, char *text,
			size_t size)
{
	struct symbols_module *module = address < SYMBOLS_LOWEST ? NULL : symbols_module(symbols, proc, address);
	struct ktr__debug_lines *debug = NULL;

	if (module && module->module->path[0] == '/')
		debug = symbols_debug(symbols, module);
	return debug ? ktr__debug_member(debug, address - module->module->base - offset, offset, text, size) : 0;
}

static struct symbols_place *symbols_place(struct ktr__symbols *symbols, uint32_t proc, uint64_t address)
{
	struct ktr__debug_line line[KTR__DEBUG_LINES];
	unsigned n = symbols_look(symbols, proc, address, line);
	struct symbols_place *place = ktr__arena_alloc(&symbols->arena, sizeof(*place) + n * sizeof(line[0]));
	char text[KTR__DEMANGLE_MAX];

	if (!place)
		return NULL;
	*place = (struct symbols_place){ NULL, address, proc, n };
	for (unsigned i = 0; i < n; i++) {
		const char *name = line[i].function;

		place->line[i] = line[i];
		name = name ? ktr__demangle(name, KTR__DEMANGLE_NAME, text) : NULL;
		if (name == text)
			name = ktr__arena_copy(&symbols->arena, text, strlen(text));
		/* Without memory it keeps the name that it was linked with. */
		place->line[i].function = name ? name : line[i].function;
	}
	return place;
}

unsigned ktr__symbols_lines(struct ktr__symbols *symbols, uint32_t proc, uint64_t address,
			    const struct ktr__debug_line **line)
{
	struct symbols_place **at, *place;

	if (!symbols->place || address < SYMBOLS_LOWEST)
		return 0;
	at = &symbols->place[ktr__hash_word(ktr__hash_word(0, proc), address) % SYMBOLS_PLACES];
	for (place = *at; place && (place->address != address || place->proc != proc); place = place->chain)
		;
	if (!place) {
		place = symbols_place(symbols, proc, address);
		if (!place)
			return 0;
		place->chain = *at;
		*at = place;
	}
	*line = place->line;
	return place->n;
}

/* ---- names ---- */

/* "name+0x12"; of a name that is too long "..." stands for its middle: what tells a template's functions apart is its end. */
static void symbols_print(char *text, const char *name, size_t n, uint64_t offset)
{
	char behind[3 + sizeof("+0x") + 16];
	int n_behind = snprintf(behind, sizeof(behind), "...+0x%" PRIx64, offset);
	size_t room = SYMBOLS_TEXT - 1 - (size_t)n_behind, end = room / 2;

	if (n <= room)
		snprintf(text, SYMBOLS_TEXT, "%.*s%s", (int)n, name, behind + 3);
	else
		snprintf(text, SYMBOLS_TEXT, "%.*s...%.*s%s", (int)(room - end), name, (int)end, name + n - end, behind + 3);
}

/* Code that is in no file: has it a name? */
static int symbols_code(struct ktr__symbols *symbols, struct symbols_answer *answer, unsigned back)
{
	uint64_t offset;
	size_t n;
	const char *name = ktr__process_code_find(&symbols->code, symbols->tables, answer->proc,
						  answer->address - back, &n, &offset);

	if (name)
		symbols_print(answer->text, name, n, offset + back);
	return name != NULL;
}

static void symbols_find(struct ktr__symbols *symbols, struct symbols_answer *answer)
{
	unsigned back = answer->kind == KTR__SYMBOLS_RETURN;
	uint64_t address = answer->address - back, own, offset;
	const struct ktr__symtab *symtab;
	struct symbols_module *module;
	char text[KTR__DEMANGLE_MAX];
	const char *name;

	_Static_assert(sizeof(text) > SYMBOLS_TEXT + 20, "a file's name, and where a function begins");
	answer->text[0] = '\0';
	module = address < SYMBOLS_LOWEST ? NULL : symbols_module(symbols, answer->proc, address);
	if ((!module || module->module->path[0] != '/') && address >= SYMBOLS_LOWEST &&
	    symbols_code(symbols, answer, back))
		return;
	if (!module)
		return;
	own = address - module->module->base;
	symtab = symbols_symtab(symbols, module);
	if (symtab && !ktr__symtab_holds(symtab, own))
		return;
	name = symtab ? ktr__symtab_find(symtab, own, &offset) : NULL;
	if (name && *name) {
		name = ktr__demangle(name, KTR__DEMANGLE_NAME, text);
	} else if (name) {
		snprintf(text, sizeof(text), "%.*s:0x%" PRIx64, (int)SYMBOLS_TEXT,
			 ktr__ident_base(module->module->path), own - offset);
		name = text;
	} else {
		name = ktr__ident_base(module->module->path);
		offset = own;
	}
	name = *name ? name : "?";
	symbols_print(answer->text, name, strlen(name), offset + back);
}

const char *ktr__symbols_at(struct ktr__symbols *symbols, uint32_t proc, uint64_t address,
			    enum ktr__symbols_kind kind)
{
	uint64_t hash = (address ^ (uint64_t)proc << 48 ^ (uint64_t)kind << 62) *
			0x9e3779b97f4a7c15ull; /* 2^64 divided by the golden ratio */
	struct symbols_answer *answer;

	if (!symbols->n_modules)
		return NULL;
	if (!symbols->answer)
		symbols->answer = calloc((size_t)1 << SYMBOLS_CACHE_LOG2, sizeof(*symbols->answer));
	if (!symbols->answer)
		return NULL;
	answer = &symbols->answer[hash >> (64 - SYMBOLS_CACHE_LOG2)];
	if (answer->kind != kind || answer->address != address || answer->proc != proc) {
		answer->kind = kind;
		answer->address = address;
		answer->proc = proc;
		symbols_find(symbols, answer);
	}
	return answer->text[0] ? answer->text : NULL;
}
