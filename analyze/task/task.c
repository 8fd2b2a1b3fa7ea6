/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads and memory of another process, one look each: what /proc tells, process_vm_readv(2), and a stop for the
 * registers. Structures grow at their end: their callers say how much of them they know.
 */
#include <ktr/task.h>

#include "analyze/live/live_take.h"
#include "analyze/task/task_call.h"
#include "analyze/task/task_refuse.h"
#include "ktr/provider/syscall/tracee_memory.h"
#include "ktr/provider/syscall/tracee_proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

/* What the first library of this number had. */
#define TASK_INFO_BYTES	  88
#define TASK_STATE_BYTES  (16 + sizeof(struct user_regs_struct))
#define TASK_REGION_BYTES (48 + KTR_VM_PATH)

_Static_assert(sizeof(struct ktr_thread_info) == TASK_INFO_BYTES, "grows at its end alone");
_Static_assert(sizeof(struct ktr_thread_state) == TASK_STATE_BYTES, "grows at its end alone");
_Static_assert(sizeof(struct ktr_vm_region) == TASK_REGION_BYTES, "grows at its end alone");

static int task_small(const char *what, struct ktr_error *err)
{
	return ktr_error_set(err, EINVAL, "struct %s: its size is not set, or too small", what);
}

/* ---- threads ---- */

static int task_threads(pid_t pid, pid_t **tid, uint32_t *n, struct ktr_error *err)
{
	int rc = ktr__task_check(pid, 0, 0, err);

	*tid = NULL;
	*n = 0;
	if (rc)
		return rc;
	*tid = ktr__live_threads(pid, n);
	return *tid ? 0 : ktr__task_refuse(pid, 0, errno, err);
}

int ktr_task_threads(pid_t pid, pid_t **tid, uint32_t *n, struct ktr_error *err)
{
	int before = ktr__task_enter(), rc = task_threads(pid, tid, n, err);

	return ktr__task_leave(before, rc);
}

static uint64_t task_ticks(unsigned long long ticks)
{
	return ticks * (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* proc(5), /proc/PID/stat: from the third field on, which stands behind the name's last bracket. 1 or 0. */
static int task_stat(const char *task, struct ktr_thread_info *info)
{
	unsigned long long user, system, start;
	char path[96], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "%s/stat", task);
	at = ktr__tracee_text(path, text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
	if (!at || sscanf(at + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %d %d %*d %*d %llu",
			  &info->state, &user, &system, &info->priority, &info->nice, &start) != 6)
		return 0;
	for (int i = 2; at && i < 39; i++)
		at = strchr(at + 1, ' ');
	info->cpu = at ? atoi(at) : 0;
	info->user_ns = task_ticks(user);
	info->system_ns = task_ticks(system);
	info->start_ns = task_ticks(start);
	return 1;
}

static void task_more(const char *task, pid_t tid, struct ktr_thread_info *info)
{
	char path[96], text[256];

	snprintf(path, sizeof(path), "%s/schedstat", task);
	if (ktr__tracee_text(path, text, sizeof(text)) > 0)
		info->cpu_ns = strtoull(text, NULL, 10);
	snprintf(path, sizeof(path), "%s/syscall", task);
	if (ktr__tracee_text(path, text, sizeof(text)) > 0 && text[0] >= '0' && text[0] <= '9')
		info->call = atoi(text);
	ktr__tracee_comm(tid, info->name);
	ktr__tracee_status(tid, "voluntary_ctxt_switches:", 10, &info->n_voluntary);
	ktr__tracee_status(tid, "nonvoluntary_ctxt_switches:", 10, &info->n_involuntary);
}

static int task_info(pid_t pid, pid_t tid, struct ktr_thread_info *info, struct ktr_error *err)
{
	struct ktr_thread_info got = { .call = -1 };
	char task[64];
	int rc;

	if (!ktr__task_size(info->size, TASK_INFO_BYTES))
		return task_small("ktr_thread_info", err);
	rc = ktr__task_check(pid, tid, 0, err);
	if (rc)
		return rc;
	tid = tid ? tid : pid;
	snprintf(task, sizeof(task), "/proc/%d/task/%d", (int)pid, (int)tid);
	if (!task_stat(task, &got))
		return ktr__task_refuse(pid, tid, ESRCH, err);
	task_more(task, tid, &got);
	ktr__task_give(info, &got, sizeof(got));
	return 0;
}

int ktr_thread_info(pid_t pid, pid_t tid, struct ktr_thread_info *info, struct ktr_error *err)
{
	int before = ktr__task_enter(), rc = task_info(pid, tid, info, err);

	return ktr__task_leave(before, rc);
}

static int task_state(pid_t pid, pid_t tid, struct ktr_thread_state *state, struct ktr_error *err)
{
	struct ktr__live_taken taken = { .pid = pid, .tid = tid ? tid : pid };
	struct ktr_thread_state got = { 0 };
	struct ktr__live_maps maps = { 0 };
	int rc;

	if (!ktr__task_size(state->size, TASK_STATE_BYTES))
		return task_small("ktr_thread_state", err);
	rc = ktr__task_check(pid, taken.tid, 1, err);
	if (rc)
		return rc;
	rc = ktr__live_maps_read(pid, &maps);
	if (!rc)
		rc = ktr__live_take_apart(&taken, &maps);
	if (!rc)
		rc = -taken.code;
	ktr__live_maps_free(&maps);
	if (rc)
		return ktr__task_refuse(pid, taken.tid, rc, err);
	got.state = taken.state;
	got.stopped_ns = taken.stopped_ns;
	got.regs = taken.stop.regs;
	ktr__task_give(state, &got, sizeof(got));
	return 0;
}

int ktr_thread_state(pid_t pid, pid_t tid, struct ktr_thread_state *state, struct ktr_error *err)
{
	int before = ktr__task_enter(), rc = task_state(pid, tid, state, err);

	return ktr__task_leave(before, rc);
}

/* ---- memory ---- */

static ssize_t task_read(pid_t pid, uint64_t address, void *to, size_t n, struct ktr_error *err)
{
	struct iovec local = { to, n }, remote = { .iov_len = n };
	ssize_t got = ktr__task_check(pid, 0, 1, err);
	size_t at = 0;
	pid_t living;

	if (got)
		return got;
	living = ktr__tracee_living(pid);
	do {
		uint64_t from = address + at;

		memcpy(&remote.iov_base, &from, sizeof(remote.iov_base));
		got = n ? process_vm_readv(living, &local, 1, &remote, 1, 0) : 0;
		at += got > 0 ? (size_t)got : 0;
		local = (struct iovec){ (char *)to + at, n - at };
		remote.iov_len = n - at;
	} while (got > 0 && at < n);
	if (at || !n)
		return (ssize_t)at;
	if (errno == EFAULT)
		return ktr_error_set(err, EFAULT, "process %d has nothing to be read at 0x%llx", (int)pid,
				     (unsigned long long)address);
	return ktr__task_refuse(pid, 0, errno, err);
}

ssize_t ktr_vm_read(pid_t pid, uint64_t address, void *to, size_t n, struct ktr_error *err)
{
	int before = ktr__task_enter();
	ssize_t rc = task_read(pid, address, to, n, err);

	return ktr__task_left(before, rc);
}

/* A line of /proc/PID/maps. 1 or 0. */
static int task_region(char *line, struct ktr_vm_region *region)
{
	unsigned long start, end, offset, inode;
	char access[5];
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &start, &end, access, &offset, &region->major, &region->minor,
		   &inode, &at) < 7)
		return 0;
	memcpy(region->access, access, sizeof(region->access));
	region->start = start;
	region->end = end;
	region->offset = offset;
	region->inode = inode;
	snprintf(region->path, sizeof(region->path), "%s", at ? line + at : "");
	return 1;
}

/* The file ends early when the process does, and is empty of one that has ended. */
static int task_none(pid_t pid, uint64_t address, int code, struct ktr_error *err)
{
	int rc = code ? ktr__task_refuse(pid, 0, code, err) : ktr__task_check(pid, 0, 1, err);

	return rc ? rc : ktr_error_set(err, ENOENT, "process %d has no memory at 0x%llx or above", (int)pid,
				       (unsigned long long)address);
}

static int task_find(pid_t pid, uint64_t address, struct ktr_vm_region *region, struct ktr_error *err)
{
	struct ktr_vm_region got = { 0 };
	char path[64], *line = NULL;
	size_t room = 0;
	int rc, found = 0, code;
	FILE *file;

	if (!ktr__task_size(region->size, TASK_REGION_BYTES))
		return task_small("ktr_vm_region", err);
	rc = ktr__task_check(pid, 0, 1, err);
	if (rc)
		return rc;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)ktr__tracee_living(pid));
	file = fopen(path, "re");
	if (!file)
		return ktr__task_refuse(pid, 0, errno, err);
	errno = 0;
	while (!found && getline(&line, &room, file) > 0)
		found = task_region(line, &got) && address < got.end;
	code = errno;
	free(line);
	fclose(file);
	if (!found)
		return task_none(pid, address, code, err);
	ktr__task_give(region, &got, sizeof(got));
	return 0;
}

int ktr_vm_region(pid_t pid, uint64_t address, struct ktr_vm_region *region, struct ktr_error *err)
{
	int before = ktr__task_enter(), rc = task_find(pid, address, region, err);

	return ktr__task_leave(before, rc);
}
