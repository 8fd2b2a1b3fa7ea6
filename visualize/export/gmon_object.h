/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The executables and shared objects that a trace tells of, each with its own addresses, as its file has them: what
 * gprof(1) looks up in that file.
 */
#ifndef VISUALIZE_GMON_OBJECT_H
#define VISUALIZE_GMON_OBJECT_H

#include "analyze/symbols/symbols.h"

#include <stdint.h>

struct ktr__gmon_symbols;

struct ktr__gmon_object {
	const struct ktr__module_entry *module; /* the first with this file; borrowed */
	uint64_t low, high; /* of its text */
	uint64_t outside; /* a function of it that stands for callers that are none: its entry, or the first */
	int is_program; /* 1: an executable */
	int is_counted; /* 1: its calls were counted where they were made */
	struct ktr__gmon_symbols *symbols; /* owned; NULL: the file is not there, or another one by now */
};

struct ktr__gmon_objects {
	const struct ktr__tables *tables; /* borrowed, as symbols */
	struct ktr__symbols *symbols;
	struct ktr__gmon_object *object; /* owned */
	uint32_t n, room;
	uint64_t copies_left; /* [bytes] of files that may yet be read, for each is copied */
	uint32_t n_unread; /* objects whose file would have been too much */
	struct {
		const struct ktr__module_entry *module;
		uint32_t i;
	} known[64]; /* by address of the entry */
};

#define KTR__GMON_NO_OBJECT UINT32_MAX
#define KTR__GMON_NO_MEMORY (UINT32_MAX - 1)

void ktr__gmon_objects_init(struct ktr__gmon_objects *objects, const struct ktr__tables *tables,
			    struct ktr__symbols *symbols);
void ktr__gmon_objects_free(struct ktr__gmon_objects *objects);

/*
 * The object that an address of a process lies in, and in *own the address in its file. KTR__GMON_NO_OBJECT: in
 * none that is a file.
 */
uint32_t ktr__gmon_at(struct ktr__gmon_objects *objects, uint32_t proc, uint64_t address, uint64_t *own);

/* The same for an object that was unloaded, by the row of its module: others may lie at its place by now. */
uint32_t ktr__gmon_in(struct ktr__gmon_objects *objects, uint32_t proc, uint32_t row, uint64_t address,
		      uint64_t *own);

/*
 * Where a function begins that ktr run --fbt recorded, by the name of its module, without folders, and its own:
 * "next", "ns::next(int)", "next@0x1234", "0x1234". As above; none, too, where no symbol has the name.
 */
uint32_t ktr__gmon_named(struct ktr__gmon_objects *objects, uint32_t proc, const char *module, const char *name,
			 uint64_t *own);

/* The beginning of the function that an own address lies in, or the address itself. */
uint64_t ktr__gmon_begin(const struct ktr__gmon_object *object, uint64_t own);

/* The file's name without folders; borrowed. */
const char *ktr__gmon_name(const struct ktr__gmon_object *object);

/*
 * Of two objects the one that gmon.out is to be of: the first process's executable, any executable before what is
 * none, and of others the one that the source tells of first. Either may be KTR__GMON_NO_OBJECT.
 */
uint32_t ktr__gmon_rather(const struct ktr__gmon_objects *objects, uint32_t a, uint32_t b);

#endif
