/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows are looked through from the last one, so that the first that lies over an object's beginning or end is the
 * one by which its addresses are read. The process is known by its number and namespace: this may be in another
 * library than the recorder, which knows its row.
 */
#include "ktr/provider/modules/modules.h"

#define KTR_NO_AUTOSTART
#include "ktr/record/own.h"
#include "ktr/session/kernel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint64_t modules_ino; /* the session that memory was made present of, */
static uint32_t modules_last; /* and the process's row there, when it was last looked for */

static uint32_t modules_n(const struct ktr__session_rw *own, enum ktr_region_id region, const uint32_t *cursor)
{
	uint32_t n = __atomic_load_n(cursor, __ATOMIC_ACQUIRE), room = own->header.region[region].n_rows;

	return n < room ? n : room;
}

static bool modules_is_us(const struct ktr__session_rw *own, uint32_t i, uint32_t pid, uint64_t pid_ns)
{
	const struct ktr_proc_row *row = ktr__session_ready(own, KTR_REGION_proc, i);

	return row && row->pid == pid && row->pid_ns == pid_ns;
}

/* What has become another program by exec(2) has a row for each: the last one. */
static uint32_t modules_proc(const struct ktr__session_rw *own)
{
	uint32_t i = modules_n(own, KTR_REGION_proc, &own->control->n_procs), pid = (uint32_t)getpid();
	uint64_t pid_ns = ktr__proc_own_ns();

	if (modules_last && modules_is_us(own, modules_last, pid, pid_ns))
		return modules_last;
	for (modules_last = 0; i-- > 1 && !modules_last;)
		if (modules_is_us(own, i, pid, pid_ns))
			modules_last = i;
	return modules_last;
}

static bool modules_holds(const struct ktr_module_row *row, uint64_t address)
{
	return row->base <= address && address < row->end;
}

static bool modules_same(const struct ktr_module_row *row, const struct ktr__object *object)
{
	return row->base == object->base && row->end == object->end &&
	       row->build_id_bytes == object->build_id_bytes &&
	       memcmp(row->build_id, object->build_id, object->build_id_bytes) == 0;
}

static uint32_t modules_find(const struct ktr__session_rw *own, uint32_t proc, const struct ktr__object *object)
{
	for (uint32_t i = modules_n(own, KTR_REGION_module, &own->control->n_modules); i-- > 1;) {
		const struct ktr_module_row *row = ktr__session_ready(own, KTR_REGION_module, i);

		if (row && row->proc == proc &&
		    (modules_holds(row, object->base) || modules_holds(row, object->end - 1)))
			return modules_same(row, object) ? i : 0;
	}
	return 0;
}

void ktr__modules_path(const char *path, char whole[PATH_MAX])
{
	const char *from = path[0] == '.' && path[1] == '/' ? path + 2 : path;
	size_t n = 0;

	if (path[0] != '/' && strchr(path, '/') && getcwd(whole, PATH_MAX) && whole[0] == '/') {
		n = strlen(whole);
		if (n > 1 && n < PATH_MAX - 1)
			whole[n++] = '/';
	}
	snprintf(whole + n, PATH_MAX - n, "%s", n ? from : path);
}

/* Of an object that is mapped, as the kernel has it. */
static bool modules_mapped(const struct ktr__object *object, char path[PATH_MAX])
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 256];
	uint64_t low, high;
	bool found = false;
	int at;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		at = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &low, &high, &at) != 2 || line[at] != '/' ||
		    low < object->base || low >= object->end)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(path, PATH_MAX, "%s", line + at);
		found = access(path, F_OK) == 0;
	}
	if (maps)
		fclose(maps);
	return found;
}

static uint32_t modules_make(const struct ktr__session_rw *own, uint32_t proc, const struct ktr__object *object)
{
	uint32_t index = ktr__session_row(own, &own->control->n_modules, KTR_REGION_module);
	struct ktr_module_row *row = index ? ktr__session_at(own, KTR_REGION_module, index) : NULL;
	char path[PATH_MAX];

	if (!row)
		return 0;
	row->proc = proc;
	row->base = object->base;
	row->end = object->end;
	/* The folder that it is in may be another one by now. */
	if (object->path[0] == '/' || !modules_mapped(object, path))
		ktr__modules_path(object->path, path);
	row->path = ktr__session_put(own, path, strlen(path));
	row->build_id_bytes = object->build_id_bytes;
	memcpy(row->build_id, object->build_id, sizeof(row->build_id));
	__atomic_store_n(&row->state, KTR_ROW_READY, __ATOMIC_RELEASE);
	return index;
}

/* Rows that are made as the session begins have paths as the loader has them, which may be relative. */
static void modules_mend(const struct ktr__session_rw *own, uint32_t index, const struct ktr__object *object)
{
	struct ktr_module_row *row = ktr__session_at(own, KTR_REGION_module, index);
	char path[PATH_MAX];
	size_t n;

	if (object->path[0] == '/' || !strchr(object->path, '/') ||
	    *ktr__session_bytes(own, row->path, &n) == '/' || !modules_mapped(object, path))
		return;
	__atomic_store_n(&row->path, ktr__session_put(own, path, strlen(path)), __ATOMIC_RELEASE);
}

static void modules_found(void *context, const struct ktr__object *object)
{
	(void)context;
	ktr__modules_row(object);
}

void ktr__modules_all(void)
{
	ktr__object_walk(modules_found, NULL);
}

uint32_t ktr__modules_row(const struct ktr__object *object)
{
	const struct ktr__session_rw *own = ktr__own_session();
	int saved = errno;
	uint32_t proc, row;

	if (!own->map || own->sealed || object->base >= object->end)
		return 0;
	if (modules_ino != own->ino) {
		ktr__table_forget();
		modules_last = 0;
	}
	modules_ino = own->ino;
	proc = modules_proc(own);
	row = proc ? modules_find(own, proc, object) : 0;
	if (row)
		modules_mend(own, row, object);
	else if (proc)
		row = modules_make(own, proc, object);
	errno = saved;
	return row;
}
