/* SPDX-License-Identifier: BSD-2-Clause */
/* The process: its row, and one for each object that it has mapped. */
#include "ktr/record/proc.h"

#include "ktr/record/module.h"
#include "ktr/record/own.h"
#include "ktr/record/sandbox.h"
#include "ktr/session/clock.h"
#include "ktr/session/kernel.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

char ktr__proc_name[16];

uint64_t ktr__proc_now_ns(void)
{
	return ktr__own.sealed ? ktr__sandbox_now_ns() : ktr__clock_now(KTR_CLOCK_MONOTONIC);
}

static uint32_t proc_cmdline(void)
{
	char text[1024];
	size_t n = ktr__kernel_text("/proc/self/cmdline", text, sizeof(text));

	for (size_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = KTR_CMDLINE_END;
	return ktr__table_string(text, n);
}

/* Where stacks and pointers of this process lead to. */
static void proc_module(void *context, const struct ktr__object *object)
{
	uint32_t index = ktr__table_row(&ktr__own.control->n_modules, KTR_REGION_module);
	struct ktr_module_row *row = ktr__region_rows(&ktr__own, module, struct ktr_module_row) + index;

	(void)context;
	if (!index)
		return;
	row->proc = ktr__rec.proc;
	row->base = object->base;
	row->end = object->end;
	row->path = ktr__table_string(object->path, strlen(object->path));
	row->build_id_bytes = object->build_id_bytes;
	memcpy(row->build_id, object->build_id, sizeof(row->build_id));
	__atomic_store_n(&row->state, KTR_ROW_READY, __ATOMIC_RELEASE);
}

void ktr__proc_module_add(const struct ktr__object *object)
{
	proc_module(NULL, object);
}

/*
 * AT_RANDOM: sixteen bytes the kernel makes anew with each exec(2). They seed the C library's own
 * secrets, so only a hash of them leaves the process.
 */
static uint64_t proc_image(void)
{
	const uint8_t *bytes = (const uint8_t *)getauxval(AT_RANDOM);
	uint64_t hash = 0x9e3779b97f4a7c15ull;

	for (int i = 0; bytes && i < 16; i++) {
		hash = (hash ^ bytes[i]) * 0xff51afd7ed558ccdull; /* MurmurHash3's finalizer */
		hash ^= hash >> 33;
	}
	return hash;
}

void ktr__proc_identify(struct ktr_proc_row *row)
{
	row->pid = (uint32_t)getpid();
	row->pid_ns = ktr__proc_own_ns();
	row->start_time = ktr__proc_start_time(0);
	row->image = proc_image();
}

static void proc_fill(void)
{
	uint32_t index = ktr__table_row(&ktr__own.control->n_procs, KTR_REGION_proc);
	struct ktr_proc_row *row = ktr__region_rows(&ktr__own, proc, struct ktr_proc_row) + index;
	char exe[512];
	ssize_t n;

	ktr__rec.proc = index;
	ktr__rec.pid = (uint32_t)getpid();
	if (!index)
		return;
	ktr__proc_identify(row);
	row->ppid = (uint32_t)getppid();
	row->uid = (uint32_t)getuid();
	row->start_ns = ktr__proc_now_ns();
	n = readlink("/proc/self/exe", exe, sizeof(exe));
	row->exe = n > 0 ? ktr__table_string(exe, (size_t)n) : 0;
	row->cmdline = proc_cmdline();
	prctl(PR_GET_NAME, ktr__proc_name);
	memcpy(row->name, ktr__proc_name, sizeof(ktr__proc_name));
	__atomic_store_n(&row->state, KTR_ROW_READY, __ATOMIC_RELEASE);
}

void ktr__proc_register(void)
{
	proc_fill();
	if (ktr__rec.proc)
		ktr__object_walk(proc_module, NULL);
}

/*
 * A forked child has its parent's objects at its parent's addresses. They are copied from the table:
 * walking them would take the loader's lock, which another thread of the parent may have held.
 */
void ktr__proc_fork_child(const struct ktr__session_rw *from)
{
	struct ktr_module_row *ours = ktr__region_rows(&ktr__own, module, struct ktr_module_row);
	uint32_t parent = ktr__rec.proc, n = from->control->n_modules;

	if (n > from->header.region[KTR_REGION_module].n_rows)
		n = from->header.region[KTR_REGION_module].n_rows;
	proc_fill();
	for (uint32_t i = 1; i < n && ktr__rec.proc && parent; i++) {
		const struct ktr_module_row *row = ktr__session_at(from, KTR_REGION_module, i);
		uint32_t copy;

		if (!row)
			return;
		if (__atomic_load_n(&row->state, __ATOMIC_ACQUIRE) != KTR_ROW_READY || row->proc != parent)
			continue;
		ktr__table_forget(); /* the rows may be those of two sessions */
		copy = ktr__table_row(&ktr__own.control->n_modules, KTR_REGION_module);
		if (!copy)
			return;
		memcpy((char *)&ours[copy] + sizeof(row->state), (const char *)row + sizeof(row->state),
		       sizeof(*row) - sizeof(row->state));
		ours[copy].proc = ktr__rec.proc;
		__atomic_store_n(&ours[copy].state, KTR_ROW_READY, __ATOMIC_RELEASE);
		ktr__table_forget();
	}
}

void ktr__proc_exit(void)
{
	struct ktr_proc_row *row = ktr__region_rows(&ktr__own, proc, struct ktr_proc_row) + ktr__rec.proc;

	if (!ktr__rec.proc)
		return;
	row->exit_ns = ktr__proc_now_ns();
	__atomic_store_n(&row->state, KTR_ROW_GONE, __ATOMIC_RELEASE);
}
