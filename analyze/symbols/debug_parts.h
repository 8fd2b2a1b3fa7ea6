/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files that read an object's debug information share. */
#ifndef ANALYZE_DEBUG_PARTS_H
#define ANALYZE_DEBUG_PARTS_H

#include "analyze/symbols/debug_lines.h"
#include "analyze/symbols/elf_file.h"
#include "conf/kit/arena.h"

#ifndef KTR_HAVE_LIBDW
#define KTR_HAVE_LIBDW 0
#endif

#if KTR_HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

struct ktr__debug_lines {
	struct ktr__elf_file file;
	Dwfl *dwfl;
	Dwfl_Module *module; /* of dwfl */
	GElf_Addr bias;	     /* between libdwfl's addresses and the object's own */
	struct ktr__arena arena; /* of names that are put together */
	struct debug_range *range; /* owned; in the order of addresses, once it was asked for */
	size_t n_ranges;
	int has_ranges;
	struct debug_variable *variable; /* owned; likewise */
	size_t n_variables, variable_room;
	int has_variables;
};

#endif

#endif
