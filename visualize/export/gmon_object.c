/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modules of processes become objects: those of one path and build-id are one. A file that is not there, or is
 * another one by now, has addresses all the same, those between its module's ends.
 */
#include "visualize/export/gmon_object.h"

#include "conf/kit/array.h"
#include "visualize/export/gmon_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* [bytes] Of files that are read, all together: those of a large program with debugging information. */
#define OBJECT_COPIES_MAX ((uint64_t)1 << 31)

void ktr__gmon_objects_init(struct ktr__gmon_objects *objects, const struct ktr__tables *tables,
			    struct ktr__symbols *symbols)
{
	*objects = (struct ktr__gmon_objects){ .tables = tables, .symbols = symbols,
	      .copies_left = OBJECT_COPIES_MAX };
}

void ktr__gmon_objects_free(struct ktr__gmon_objects *objects)
{
	for (uint32_t i = 0; i < objects->n; i++)
		ktr__gmon_symbols_free(objects->object[i].symbols);
	free(objects->object);
}

#define OBJECT_TEXT_MAX ((uint64_t)1 << 30) /* [bytes] what has more is damaged; its histogram would be as large */

static int object_same(const struct ktr__module_entry *a, const struct ktr__module_entry *b)
{
	return a->n_build_id == b->n_build_id && memcmp(a->build_id, b->build_id, a->n_build_id) == 0 &&
	       strcmp(a->path, b->path) == 0;
}

static void object_open(struct ktr__gmon_objects *objects, struct ktr__gmon_object *object)
{
	const struct ktr__module_entry *module = object->module;
	struct ktr__gmon_text text;
	int rc = ktr__gmon_symbols_open(module->path, module->build_id, module->n_build_id, objects->copies_left,
					&object->symbols, &text);

	object->high = module->end - module->base;
	objects->n_unread += rc == -EFBIG;
	if (!rc) {
		objects->copies_left -= text.n_bytes;
		object->is_program = text.is_program;
		object->low = text.low;
		object->high = text.high;
		object->outside = text.entry;
		if (text.entry < text.low || text.entry >= text.high)
			object->outside = ktr__gmon_symbols_lowest(object->symbols);
	}
	if (object->high - object->low > OBJECT_TEXT_MAX)
		object->high = object->low;
}

static uint32_t object_of(struct ktr__gmon_objects *objects, const struct ktr__module_entry *module)
{
	unsigned place = (unsigned)((uintptr_t)module / sizeof(*module)) % 64;
	uint32_t i = 0;

	if (!strchr(module->path, '/'))
		return KTR__GMON_NO_OBJECT;
	if (objects->known[place].module == module)
		return objects->known[place].i;
	while (i < objects->n && !object_same(objects->object[i].module, module))
		i++;
	if (i == objects->n) {
		if (ktr__array_grow(&objects->object, &objects->room, i, sizeof(*objects->object)))
			return KTR__GMON_NO_MEMORY;
		objects->object[i] = (struct ktr__gmon_object){ .module = module };
		object_open(objects, &objects->object[objects->n++]);
	}
	objects->known[place].module = module;
	objects->known[place].i = i;
	return i;
}

uint32_t ktr__gmon_at(struct ktr__gmon_objects *objects, uint32_t proc, uint64_t address, uint64_t *own)
{
	const struct ktr__module_entry *module = ktr__symbols_module(objects->symbols, proc, address);
	uint32_t i = module ? object_of(objects, module) : KTR__GMON_NO_OBJECT;

	if (i >= objects->n)
		return i;
	*own = address - module->base;
	return *own >= objects->object[i].low && *own < objects->object[i].high ? i : KTR__GMON_NO_OBJECT;
}

uint32_t ktr__gmon_in(struct ktr__gmon_objects *objects, uint32_t proc, uint32_t row, uint64_t address,
		      uint64_t *own)
{
	const struct ktr__tables *tables = objects->tables;
	const struct ktr__module_entry *module = row < tables->n_modules ? tables->module[row] : NULL;
	uint32_t i;

	if (!module || module->proc != proc || address < module->base || address >= module->end)
		return KTR__GMON_NO_OBJECT;
	i = object_of(objects, module);
	if (i >= objects->n)
		return i;
	*own = address - module->base;
	return *own >= objects->object[i].low && *own < objects->object[i].high ? i : KTR__GMON_NO_OBJECT;
}

static const char *object_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *ktr__gmon_name(const struct ktr__gmon_object *object)
{
	return object_base(object->module->path);
}

/* "0x1234", "+0x1234", and behind a name "@0x1234". */
static int object_address(const char *name, uint64_t *own)
{
	const char *at = strrchr(name, '@');
	char *end;

	at = at ? at + 1 : name + (*name == '+');
	if (strncmp(at, "0x", 2) != 0)
		return 0;
	*own = strtoull(at, &end, 16);
	return *end == '\0';
}

static int object_has(const struct ktr__gmon_object *object, const char *name, uint64_t *own)
{
	if (!object_address(name, own) &&
	    (!object->symbols || !ktr__gmon_symbols_find(object->symbols, name, own)))
		return 0;
	return *own >= object->low && *own < object->high;
}

/* Its own modules go before those of others: what a process has inherited is told of in its parent's. */
uint32_t ktr__gmon_named(struct ktr__gmon_objects *objects, uint32_t proc, const char *module, const char *name,
			 uint64_t *own)
{
	const struct ktr__tables *tables = objects->tables;
	uint32_t found = KTR__GMON_NO_OBJECT;
	uint64_t address;

	for (uint32_t row = 0; row < tables->n_modules; row++) {
		const struct ktr__module_entry *at = tables->module[row];
		uint32_t i;

		if (!at || (at->proc != proc && found != KTR__GMON_NO_OBJECT) ||
		    strcmp(object_base(at->path), module) != 0)
			continue;
		i = object_of(objects, at);
		if (i == KTR__GMON_NO_MEMORY)
			return i;
		if (i >= objects->n || !object_has(&objects->object[i], name, &address))
			continue;
		found = i;
		*own = address;
		if (at->proc == proc)
			break;
	}
	return found;
}

uint64_t ktr__gmon_begin(const struct ktr__gmon_object *object, uint64_t own)
{
	uint64_t begin = object->symbols ? ktr__gmon_symbols_begin(object->symbols, own) : 0;

	return begin ? begin : own;
}

/* The first row of the source's that tells of an object. */
static uint32_t object_row(const struct ktr__gmon_objects *objects, uint32_t i)
{
	const struct ktr__tables *tables = objects->tables;
	uint32_t row = 0;

	while (row < tables->n_modules &&
	       (!tables->module[row] || !object_same(objects->object[i].module, tables->module[row])))
		row++;
	return row;
}

uint32_t ktr__gmon_rather(const struct ktr__gmon_objects *objects, uint32_t a, uint32_t b)
{
	if (a >= objects->n || b >= objects->n)
		return a < objects->n ? a : b;
	if (objects->object[a].is_program != objects->object[b].is_program)
		return objects->object[a].is_program ? a : b;
	return object_row(objects, a) < object_row(objects, b) ? a : b;
}
