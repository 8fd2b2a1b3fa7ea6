/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of code that is in no file, by process: those that were kept with a trace, else those that the processes
 * have left where they ran, if that was here and not before this machine started.
 */
#ifndef ANALYZE_PROCESS_CODE_H
#define ANALYZE_PROCESS_CODE_H

#include "analyze/read/tables.h"
#include "analyze/symbols/code_names.h"
#include "writer/format/stream.h"

/* What code that nobody has named is called: the path of its row of the tables, too. */
#define KTR__CODE_NAMELESS "[jit]"

struct ktr__process_code_where {
	const char *folder; /* of the sidecars; borrowed, NULL: none */
	int is_here;	    /* it was this machine, since it started */
	int64_t utc_offset_ns;
};

struct ktr__process_code {
	struct ktr__process_code_where where;
	struct ktr__code_names **process; /* by row; owned, each too */
	uint32_t n;
	int is_kept; /* 0: not looked for; 1: the folder has them; -1: it has not */
};

/* The name of an address in a process, as ktr__code_names_find() has it. */
const char *ktr__process_code_find(struct ktr__process_code *code, const struct ktr__tables *tables, uint32_t proc,
				   uint64_t address, size_t *n, uint64_t *offset);

/* Writes all names there are of all processes into the folder. How many, or -errno. */
int64_t ktr__process_code_keep(struct ktr__process_code *code, const struct ktr__tables *tables);
void ktr__process_code_free(struct ktr__process_code *code);

#endif
