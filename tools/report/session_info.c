/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gathers numbers and names out of a session that may be live and may be hostile: each is bounded
 * where it is read, and bytes that are not printable become '?'.
 */
#include "tools/report/session_info.h"

#include "conf/names.h"
#include "conf/value.h"
#include "ktr/session/clock.h"
#include "ktr/session/drop.h"
#include "ktr/session/session_proc.h"
#include "writer/format/cmdline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void session_disarm(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

int session_class_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	static const char *const freebsd[] = {
#define SESSION_CLASS(n, bit, help) #n,
		KTR_CLASS_LIST(SESSION_CLASS)
#undef SESSION_CLASS
	};
	const unsigned n_freebsd = sizeof(freebsd) / sizeof(freebsd[0]);
	struct ktr_class_row row;
	int rc;

	if (idx < n_freebsd) {
		snprintf(name, size, "%s", freebsd[idx]);
		for (; *name; name++)
			*name = ktr__lower(*name);
		*value = 1ull << idx; /* the list is in the order of the bits */
		return 0;
	}
	if (idx == n_freebsd) {
		snprintf(name, size, "all");
		*value = KTR_ALL;
		return 0;
	}
	rc = ktr__map_class(context, idx - n_freebsd - 1, &row);
	if (rc)
		return rc == -ENOENT ? 1 : -ENOENT;
	row.name[sizeof(row.name) - 1] = '\0';
	session_disarm(row.name);
	snprintf(name, size, "%s", row.name);
	*value = row.mask;
	return 0;
}

static void session_mask(const struct ktr__session_map *map, uint64_t mask,
			 struct session_info *info)
{
	struct ktr__session_map copy = *map;

	if (ktr__print_mask(mask, session_class_names, &copy, 0, info->mask, sizeof(info->mask)))
		snprintf(info->mask, sizeof(info->mask), "0x%llx", (unsigned long long)mask);
}

int session_counts(const struct ktr__session_map *map, uint64_t *events, uint64_t *lost)
{
	uint32_t n = ktr__header_n_ring_rows(&map->header);
	struct ktr_control control;
	struct ktr_ring ring;
	uint64_t slots, conts, dropped[KTR_DROPS];
	int rc;

	*events = 0;
	rc = ktr__map_control(map, &control);
	if (rc)
		return rc;
	ktr__dropped(&control, dropped);
	*lost = ktr__dropped_sum(dropped);
	for (uint32_t i = 0; i < n; i++) {
		rc = ktr__map_ring(map, i, &ring);
		if (rc)
			return rc;
		slots = ring.head >> 1;
		conts = ring.cont[ring.head & 1];
		*events += slots > conts ? slots - conts : 0;
		*lost += ring.dropped;
	}
	return 0;
}

uint64_t session_now_ns(void)
{
	return ktr__clock_now(KTR_CLOCK_MONOTONIC);
}

/* Of another namespace's processes we know nothing but that they have not said good-bye. */
static int session_runs(const struct ktr_proc_row *proc, int ours)
{
	return ours ? ktr__proc_alive(proc) : proc->state == KTR_ROW_READY;
}

/* Of a live session its running processes, of a dead one those it had. */
static void session_processes(const struct ktr__session_map *map, const struct ktr_control *control,
			      struct session_info *info)
{
	uint32_t n = ktr__map_n_rows(map, control, KTR_REGION_proc);
	uint64_t first_ns = 0, now = session_now_ns();
	struct session_process *process;
	struct ktr_proc_row proc;
	int ours;

	for (uint32_t i = 1; i < n; i++) {
		if (ktr__map_proc(map, i, &proc))
			continue;
		if (!first_ns)
			first_ns = proc.start_ns;
		ours = proc.pid_ns == ktr__proc_own_ns();
		if (info->alive && !session_runs(&proc, ours))
			continue;
		if (info->n_pids++ >= SESSION_PIDS_MAX)
			continue;
		process = &info->process[info->n_pids - 1];
		process->pid = ours ? proc.pid : ktr__proc_foreign(&proc);
		process->its = proc.pid;
		snprintf(process->name, sizeof(process->name), "%.*s", (int)sizeof(proc.name) - 1, proc.name);
		session_disarm(process->name);
		if (info->n_pids == 1)
			ktr__map_cmdline(map, proc.cmdline, info->cmdline, sizeof(info->cmdline));
	}
	info->age_s = first_ns && first_ns < now ? (now - first_ns) / 1000000000 : 0;
	session_disarm(info->cmdline);
}

int session_info(const struct ktr__session_map *map, struct session_info *info)
{
	struct ktr_control control;
	struct stat st;
	int rc;

	memset(info, 0, sizeof(*info));
	memcpy(info->name, map->header.name, sizeof(info->name));
	rc = ktr__map_control(map, &control);
	if (rc == 0)
		rc = ktr__map_alive(map);
	if (rc < 0)
		return rc;
	info->alive = rc;
	info->frozen = control.frozen != 0;
	if (fstat(map->fd, &st) < 0)
		return -errno;
	info->bytes = (uint64_t)st.st_blocks * 512;
	session_mask(map, control.asked, info);
	session_processes(map, &control, info);
	return session_counts(map, &info->events, &info->lost);
}
