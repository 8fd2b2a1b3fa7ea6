/* SPDX-License-Identifier: BSD-2-Clause */
/* See event.h. Rings are no child's after fork(2), the kernel sees to that. */
#include "ktr/provider/profile/event.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENT_PAGE	4096ul
#define EVENT_ROOMY	(64ul << 20)  /* [bytes] of all rings: beyond it a further one is as small as can be */
#define EVENT_MOST	(256ul << 20) /* [bytes] beyond it there is none */
#define EVENT_REGISTERS (1u << 6 | 1u << 7 | 1u << 8) /* rbp, rsp, rip: enum perf_event_x86_regs */

static size_t event_bytes; /* of all rings; atomic */

/* It does not count before it is told to. The descriptor or -errno. */
static int event_descriptor(const struct ktr__task_event_ask *ask, bool user_only)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = ask->period_ns,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = EVENT_REGISTERS,
		.sample_stack_user = ask->stack_bytes,
		.sample_id_all = 1,
		.disabled = 1,
		.comm = !ask->once,
		.task = !ask->once,
		.use_clockid = 1,
		.clockid = ask->clock,
		.exclude_hv = 1,
		.exclude_kernel = user_only,
		.watermark = 1, /* nobody is woken */
		.wakeup_watermark = UINT32_MAX,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, (pid_t)ask->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Its ring; with less memory than was asked for where that is not to be had. 0 or -errno. */
static int event_map(struct ktr__task_event *event, int fd, size_t bytes, size_t least)
{
	size_t all = __atomic_load_n(&event_bytes, __ATOMIC_RELAXED);
	int code = -ENOMEM;

	if (all + least > EVENT_MOST)
		return -ENOMEM;
	if (all + bytes > EVENT_ROOMY)
		bytes = least;
	for (; bytes >= least && bytes >= EVENT_PAGE; bytes /= 2) {
		void *map = mmap(NULL, bytes + EVENT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (map == MAP_FAILED) {
			code = -errno;
			continue;
		}
		event->map = map;
		event->bytes = bytes;
		__atomic_fetch_add(&event_bytes, bytes, __ATOMIC_RELAXED);
		return 0;
	}
	return code;
}

/* The least that one sample has room in. */
static size_t event_least(uint32_t stack_bytes)
{
	size_t bytes = EVENT_PAGE;

	while (bytes < stack_bytes + 256)
		bytes *= 2;
	return bytes;
}

int ktr__task_event_open(struct ktr__task_event *event, const struct ktr__task_event_ask *ask)
{
	size_t least = event_least(ask->stack_bytes);
	int fd = event_descriptor(ask, false), code;

	*event = (struct ktr__task_event){ .map = NULL };
	if (fd == -EACCES || fd == -EPERM) {
		event->user_only = true;
		fd = event_descriptor(ask, true);
	}
	if (fd < 0)
		return fd;
	code = event_map(event, fd, ask->once ? least : ask->ring_bytes, least);
	if (!code && ioctl(fd, ask->once ? PERF_EVENT_IOC_REFRESH : PERF_EVENT_IOC_ENABLE, ask->once ? 1 : 0)) {
		code = -errno;
		ktr__task_event_close(event);
	}
	close(fd);
	return code;
}

void ktr__task_event_close(struct ktr__task_event *event)
{
	if (!event->map)
		return;
	munmap(event->map, event->bytes + EVENT_PAGE);
	event->map = NULL;
	__atomic_fetch_sub(&event_bytes, event->bytes, __ATOMIC_RELAXED);
}

void ktr__task_event_forked(void)
{
	__atomic_store_n(&event_bytes, 0, __ATOMIC_RELAXED);
}
