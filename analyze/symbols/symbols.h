/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for addresses of traced processes: "main+0x3a".
 */
#ifndef ANALYZE_SYMBOLS_H
#define ANALYZE_SYMBOLS_H

#include "analyze/read/tables.h"
#include "analyze/symbols/debug_lines.h"

struct ktr__symbols;

enum ktr__symbols_kind {
	KTR__SYMBOLS_POINTER = 1,
	KTR__SYMBOLS_RETURN = 2, /* of a stack: belongs to the function that the call stands in */
};

/* Over the modules of finished tables (borrowed). Owned; NULL without memory. */
struct ktr__symbols *ktr__symbols_new(const struct ktr__tables *tables);

/* Where names of code are that is in no file; before the first address is asked for. Borrows where->folder. */
struct ktr__process_code_where;
void ktr__symbols_code(struct ktr__symbols *symbols, const struct ktr__process_code_where *where);

/* Keeps those of all processes in the folder, as a file of its own. How many names, or -errno. */
int64_t ktr__symbols_keep(struct ktr__symbols *symbols);

/* Others over the same, for another thread. Owned; NULL without memory. */
struct ktr__symbols *ktr__symbols_like(const struct ktr__symbols *symbols);
void ktr__symbols_free(struct ktr__symbols *symbols);

/*
 * An address in a process, by its row: "function+0x12" (demangled), "module.so:0x1200+0x34" where the function has
 * no symbol, "module.so+0x1234" where nothing is known of it, "[jit]+0x12" for code that is in no file and has no name, NULL where no module is. Any bytes; valid until
 * the next call.
 */
const char *ktr__symbols_at(struct ktr__symbols *symbols, uint32_t proc, uint64_t address,
			    enum ktr__symbols_kind kind);

/*
 * The member of a variable that lies at an address, where `offset` bytes before it the variable begins: "[7].lock",
 * by debug information. 1, or 0: it is not known, or the variable itself.
 */
int ktr__symbols_member(struct ktr__symbols *symbols, uint32_t proc, uint64_t address, uint64_t offset, char *text,
			size_t size);

/* From here on lines are looked for; without, ktr__symbols_lines() has none. */
void ktr__symbols_want_lines(struct ktr__symbols *symbols);

/*
 * What an address in a process is in, by debug information, as ktr__debug_lines_at() has it, with functions
 * demangled: *line is borrowed as long as the symbols. 0: nothing is known, or nothing is wanted.
 */
unsigned ktr__symbols_lines(struct ktr__symbols *symbols, uint32_t proc, uint64_t address,
			    const struct ktr__debug_line **line);

/* The object of an address in a process: of the tables. NULL: in none. */
const struct ktr__module_entry *ktr__symbols_module(const struct ktr__symbols *symbols, uint32_t proc,
						    uint64_t address);

#endif
