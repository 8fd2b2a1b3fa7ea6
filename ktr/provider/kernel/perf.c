/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_event_open(2), the part of it that asks for no privileges: software events of our own threads.
 *
 * Each thread has, per CPU, an event without a counter (PERF_COUNT_SW_DUMMY) that carries switches, ends
 * and names, and one each for minor and major faults when those are wanted. All events of a CPU write
 * to one buffer (PERF_EVENT_IOC_SET_OUTPUT), which makes its records come in order of time. An event with
 * inherit set and a buffer must belong to one CPU: hence one for each.
 *
 * Records end in what sample_id_all adds: pid, tid, time, cpu. The two kinds of faults are told apart by
 * the length of their samples, since major ones carry a period that says nothing.
 */
#include "ktr/provider/kernel/perf.h"

#include "ktr/session/cpu.h"
#include "ktr/session/kernel.h"

#include <ktr/session.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* [pages] kernel.perf_event_mlock_kb lets a user lock 129 per CPU; another session may want some. */
#define PERF_PAGES	64u
#define PERF_PAGES_LEAST 4u

#define PERF_RECORD_MAX 4096u /* [bytes] ours are far shorter */

struct perf_trailer {
	uint32_t pid, tid;
	uint64_t ns;
	uint32_t cpu, reserved;
};

struct perf_fault {
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t ns;
	uint64_t address;
	uint32_t cpu, reserved;
};

int ktr__perf_open(struct ktr__perf *perf, unsigned want, int clock)
{
	uint64_t online[KTR_CPU_MAX / 64];
	uint32_t n = ktr__cpus_online(online);

	memset(perf, 0, sizeof(*perf));
	perf->want = want;
	perf->clock = clock;
	perf->cpu = calloc(n ? n : 1, sizeof(*perf->cpu));
	if (!perf->cpu)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < KTR_CPU_MAX && perf->n_cpus < n; cpu++)
		if (online[cpu / 64] >> cpu % 64 & 1)
			perf->cpu[perf->n_cpus++] = (struct ktr__perf_cpu){ .leader = -1, .cpu = cpu };
	return 0;
}

void ktr__perf_close(struct ktr__perf *perf)
{
	long page = sysconf(_SC_PAGESIZE);

	for (uint32_t i = 0; i < perf->n_cpus; i++)
		if (perf->cpu[i].map)
			munmap(perf->cpu[i].map, perf->cpu[i].bytes + (size_t)page);
	for (uint32_t i = 0; i < perf->n_fds; i++)
		close(perf->fd[i]);
	free(perf->cpu);
	free(perf->fd);
	memset(perf, 0, sizeof(*perf));
}

/* One event; where the kernel does not let us see its own faults, without those. The descriptor or -errno. */
static int perf_event(struct ktr__perf *perf, uint32_t tid, uint32_t cpu, uint64_t config)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = config,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
		.inherit = 1,
		.use_clockid = 1,
		.clockid = perf->clock,
		.exclude_hv = 1,
		.exclude_kernel = perf->user_only,
	};
	int fd;

	if (config == PERF_COUNT_SW_DUMMY) {
		attr.context_switch = (perf->want & KTR_KERNEL_SWITCH) != 0;
		attr.task = 1;
		attr.comm = 1;
	} else {
		attr.sample_period = 1;
		attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
		if (config == PERF_COUNT_SW_PAGE_FAULTS_MAJ)
			attr.sample_type |= PERF_SAMPLE_PERIOD;
	}
	fd = (int)syscall(SYS_perf_event_open, &attr, (pid_t)tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && errno == EACCES && !perf->user_only) {
		perf->user_only = true;
		attr.exclude_kernel = 1;
		fd = (int)syscall(SYS_perf_event_open, &attr, (pid_t)tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

/* The CPU's buffer, which belongs to its first event. */
static int perf_map(struct ktr__perf_cpu *cpu, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int code = EPERM;

	for (size_t n = PERF_PAGES; n >= PERF_PAGES_LEAST; n /= 2) {
		void *map = mmap(NULL, (n + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (map != MAP_FAILED) {
			cpu->map = map;
			cpu->bytes = n * page;
			cpu->leader = fd;
			return 0;
		}
		code = errno;
	}
	return -code;
}

static int perf_keep(struct ktr__perf *perf, struct ktr__perf_cpu *cpu, int fd)
{
	int code = 0;

	if (perf->n_fds == perf->room) {
		uint32_t room = perf->room ? 2 * perf->room : 16;
		int *more = realloc(perf->fd, room * sizeof(*more));

		if (!more) {
			close(fd);
			return -ENOMEM;
		}
		perf->fd = more;
		perf->room = room;
	}
	if (!cpu->map)
		code = perf_map(cpu, fd);
	else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->leader))
		code = -errno;
	if (code) {
		close(fd);
		return code;
	}
	perf->fd[perf->n_fds++] = fd;
	return 0;
}

int ktr__perf_add(struct ktr__perf *perf, uint32_t tid)
{
	static const uint64_t kinds[] = { PERF_COUNT_SW_DUMMY, PERF_COUNT_SW_PAGE_FAULTS_MIN,
					  PERF_COUNT_SW_PAGE_FAULTS_MAJ };
	unsigned n = perf->want & KTR_KERNEL_FAULT ? 3 : 1;
	uint32_t n_before = perf->n_fds;
	int code = 0;

	for (uint32_t i = 0; i < perf->n_cpus && !code; i++)
		for (unsigned k = 0; k < n && !code; k++) {
			int fd = perf_event(perf, tid, perf->cpu[i].cpu, kinds[k]);

			code = fd < 0 ? fd : perf_keep(perf, &perf->cpu[i], fd);
		}
	/* Followed on all CPUs or on none; but a leader's buffer is in use from then on. */
	for (uint32_t i = perf->n_fds; code && i-- > n_before;) {
		bool leads = false;

		for (uint32_t c = 0; c < perf->n_cpus; c++)
			leads |= perf->cpu[c].leader == perf->fd[i];
		if (leads)
			break;
		close(perf->fd[i]);
		perf->n_fds = i;
	}
	return code;
}

unsigned ktr__perf_look(struct ktr__perf *perf)
{
	unsigned most = 0;

	for (uint32_t i = 0; i < perf->n_cpus; i++) {
		struct ktr__perf_cpu *cpu = &perf->cpu[i];
		const struct perf_event_mmap_page *page = cpu->map;
		uint64_t used;

		if (!page)
			continue;
		cpu->stop = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
		used = (cpu->stop - page->data_tail) * 1000 / cpu->bytes;
		if (used > most)
			most = (unsigned)used;
	}
	return most;
}

/* A record's meaning. False: it has none for us. */
static bool perf_parse(const struct perf_event_header *header, struct ktr__perf_event *event)
{
	const char *body = (const char *)(header + 1), *end = (const char *)header + header->size;
	const struct perf_trailer *trailer = (const void *)(end - sizeof(*trailer));
	const struct perf_fault *fault = (const void *)body;

	if (header->size < sizeof(*header) + sizeof(*trailer))
		return false;
	*event = (struct ktr__perf_event){ .pid = trailer->pid, .tid = trailer->tid, .ns = trailer->ns };
	switch (header->type) {
	case PERF_RECORD_SWITCH:
		event->kind = !(header->misc & PERF_RECORD_MISC_SWITCH_OUT)	 ? KTR__PERF_IN :
			      header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? KTR__PERF_PREEMPTED :
										   KTR__PERF_BLOCKED;
		return true;
	case PERF_RECORD_SAMPLE:
		if (header->size < sizeof(*header) + sizeof(*fault))
			return false;
		*event = (struct ktr__perf_event){ header->size > sizeof(*header) + sizeof(*fault) ?
							   KTR__PERF_MAJOR :
												    KTR__PERF_MINOR,
						   fault->pid, fault->tid, fault->ns, fault->address, fault->ip,
						   NULL };
		return true;
	case PERF_RECORD_EXIT:
		event->kind = KTR__PERF_EXIT;
		return true;
	case PERF_RECORD_COMM: /* pid, tid, name */
		event->kind = KTR__PERF_NAME;
		event->name = body + 8;
		return body + 8 < (const char *)trailer;
	case PERF_RECORD_LOST: /* id, number */
		event->kind = KTR__PERF_LOST;
		memcpy(&event->address, body + 8, sizeof(event->address));
		return true;
	default:
		return false;
	}
}

bool ktr__perf_read(struct ktr__perf *perf, uint32_t at, unsigned n,
		    void (*found)(void *context, uint32_t cpu, const struct ktr__perf_event *event),
		    void *context)
{
	struct ktr__perf_cpu *cpu = &perf->cpu[at];
	struct perf_event_mmap_page *page = cpu->map;
	const char *data = (const char *)cpu->map + sysconf(_SC_PAGESIZE);
	_Alignas(8) char copy[PERF_RECORD_MAX];
	uint64_t tail;

	if (!page)
		return false;
	tail = page->data_tail;
	while (n-- && tail != cpu->stop) {
		uint64_t from = tail & (cpu->bytes - 1);
		const struct perf_event_header *header = (const void *)(data + from);
		size_t size = header->size, first = cpu->bytes - from;
		struct ktr__perf_event event;

		if (size < sizeof(*header) || size > cpu->stop - tail || size > sizeof(copy)) {
			tail = cpu->stop; /* the kernel does not do that */
			break;
		}
		if (size > first) { /* it goes round */
			memcpy(copy, header, first);
			memcpy(copy + first, data, size - first);
			header = (const void *)copy;
		}
		if (perf_parse(header, &event))
			found(context, cpu->cpu, &event);
		tail += size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	return tail != cpu->stop;
}

void ktr__perf_tell(int code, char *line, size_t size)
{
	bool refused = code == -EACCES || code == -EPERM;
	char level[16] = "";
	bool at = refused && ktr__kernel_text("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level)) != 0;

	level[strcspn(level, "\n")] = '\0';
	errno = -code;
	snprintf(line, size, "no events of the kernel: perf_event_open: %m%s%s%s",
		 at ? " (kernel.perf_event_paranoid is " : "", level,
		 at ? ", 2 or less allows it; so must seccomp and containers)" : "");
}
