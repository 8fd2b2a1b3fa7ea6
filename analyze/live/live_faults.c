/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each thread that there is has an event on each CPU, inherited by the threads that it makes; all events of a CPU
 * write to one ring, which is read a hundred times a second. What a ring has no room for the kernel counts: it
 * tells of that with the next record that has room, and in the end by each event (PERF_FORMAT_LOST, Linux 6.0).
 * It leaves out, too, what comes faster than kernel.perf_event_max_sample_rate; where each fault is asked for,
 * the number of all tells how many.
 */
#include "analyze/live/live_faults.h"

#include "analyze/live/live_take.h"
#include "ktr/provider/syscall/tracee_wait.h"
#include "ktr/session/cpu.h"

#include <ktr/session.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FAULTS_STACK	 16384u /* [bytes] of a stack that a sample has */
#define FAULTS_PAGES	 1024u	/* of a ring; whoever may lock less gets half of that, and so on */
#define FAULTS_PAGES_MIN 16u
#define FAULTS_LOOK_NS	 10000000
#define FAULTS_REOPEN_NS 100000000ull /* objects that came, and an end, are looked for so often */
#define FAULTS_SOON_NS	 1000000 /* where a ring fills */
#define FAULTS_RECORD	 65536u /* [bytes] at most */

/* PERF_REG_X86_*, in their order: ax to ip, then r8 to r15. */
#define FAULTS_REGS   (0x1ffull | 0xffull << 16)
#define FAULTS_N_REGS 17

struct faults_cpu {
	char *map; /* NULL: none yet */
	size_t n_bytes; /* of the ring, behind the first page */
	int leader; /* whose ring it is */
	uint32_t cpu;
};

struct ktr__live_faults {
	struct faults_cpu *cpu; /* owned, as fd */
	int *fd;
	uint32_t n_cpus, n_fds, room;
	uint32_t every;
	int user_only, has_lost;
	uint64_t n_taken, n_lost; /* records of samples, and those that were told of as lost */
	struct ktr__live_frame frame[KTR__LIVE_FRAMES];
	char record[FAULTS_RECORD] __attribute__((aligned(8)));
};

/* A sample, by its sample_type. */
struct faults_sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t ns, address, abi;
	uint64_t reg[FAULTS_N_REGS];
	uint64_t n_stack; /* then so many bytes, and how many of them are there */
};

/* ---- events ---- */

/* The descriptor or -errno. */
static int faults_event(struct ktr__live_faults *faults, pid_t tid, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = faults->every, .inherit = 1, .inherit_thread = 1,
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = FAULTS_REGS, .sample_stack_user = FAULTS_STACK, .exclude_hv = 1,
		.exclude_kernel = faults->user_only, .read_format = faults->has_lost ? PERF_FORMAT_LOST : 0,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EINVAL && faults->has_lost) {
		attr.read_format = faults->has_lost = 0;
		fd = (int)syscall(SYS_perf_event_open, &attr, tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (fd < 0 && errno == EINVAL) { /* before Linux 5.13: children's are told of as lost */
		attr.inherit_thread = 0;
		fd = (int)syscall(SYS_perf_event_open, &attr, tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (fd < 0 && (errno == EACCES || errno == EPERM) && !faults->user_only) {
		attr.exclude_kernel = faults->user_only = 1;
		fd = (int)syscall(SYS_perf_event_open, &attr, tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

static int faults_map(struct faults_cpu *cpu, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int code = EPERM;

	for (size_t n = FAULTS_PAGES; n >= FAULTS_PAGES_MIN; n /= 2) {
		void *map = mmap(NULL, (n + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (map != MAP_FAILED) {
			cpu->map = map;
			cpu->n_bytes = n * page;
			cpu->leader = fd;
			return 0;
		}
		code = errno;
	}
	return -code;
}

static int faults_keep(struct ktr__live_faults *faults, struct faults_cpu *cpu, int fd)
{
	int code = 0;

	if (faults->n_fds == faults->room) {
		uint32_t room = faults->room ? 2 * faults->room : 64;
		int *more = realloc(faults->fd, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		faults->fd = more;
		faults->room = room;
	}
	if (!cpu->map)
		code = faults_map(cpu, fd);
	else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->leader))
		code = -errno;
	if (!code)
		faults->fd[faults->n_fds++] = fd;
	return code;
}

/* A thread on each CPU; one that has ended meanwhile has no more faults. */
static int faults_follow(struct ktr__live_faults *faults, pid_t tid)
{
	int code = 0;

	for (uint32_t i = 0; i < faults->n_cpus && !code; i++) {
		int fd = faults_event(faults, tid, faults->cpu[i].cpu);

		code = fd < 0 ? fd : faults_keep(faults, &faults->cpu[i], fd);
		if (code && fd >= 0)
			close(fd);
	}
	return code == -ESRCH ? 0 : code;
}

static int faults_cpus(struct ktr__live_faults *faults)
{
	uint64_t online[KTR_CPU_MAX / 64];
	uint32_t n = ktr__cpus_online(online);

	faults->cpu = calloc(n ? n : 1, sizeof(*faults->cpu));
	if (!faults->cpu)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < KTR_CPU_MAX && faults->n_cpus < n; cpu++)
		if (online[cpu / 64] >> cpu % 64 & 1)
			faults->cpu[faults->n_cpus++] = (struct faults_cpu){ .cpu = cpu };
	return faults->n_cpus ? 0 : -ENOSYS;
}

int ktr__live_faults_open(const struct ktr__live_rounds *rounds, struct ktr__live_faults **out)
{
	struct ktr__live_faults *faults = calloc(1, sizeof(*faults));
	uint32_t n = 1;
	pid_t *tid = NULL;
	int code = faults ? faults_cpus(faults) : -ENOMEM;

	*out = NULL;
	if (!code && !rounds->tid && !(tid = ktr__live_threads(rounds->pid, &n)))
		code = errno == ENOENT ? -ESRCH : -errno;
	if (!code) {
		faults->every = rounds->every;
		faults->has_lost = 1;
	}
	for (uint32_t i = 0; i < n && !code; i++)
		code = faults_follow(faults, tid ? tid[i] : rounds->tid);
	free(tid);
	if (!code && !faults->n_fds)
		code = -ESRCH;
	if (code)
		ktr__live_faults_close(faults);
	else
		*out = faults;
	return code;
}

void ktr__live_faults_close(struct ktr__live_faults *faults)
{
	if (!faults)
		return;
	for (uint32_t i = 0; i < faults->n_cpus; i++)
		if (faults->cpu[i].map)
			munmap(faults->cpu[i].map, faults->cpu[i].n_bytes + (size_t)sysconf(_SC_PAGESIZE));
	for (uint32_t i = 0; i < faults->n_fds; i++)
		close(faults->fd[i]);
	free(faults->cpu);
	free(faults->fd);
	free(faults);
}

/* ---- samples ---- */

static void faults_regs(const uint64_t reg[FAULTS_N_REGS], struct user_regs_struct *regs)
{
	unsigned long long *const to[FAULTS_N_REGS] = {
		&regs->rax, &regs->rbx, &regs->rcx, &regs->rdx, &regs->rsi, &regs->rdi,
		&regs->rbp, &regs->rsp, &regs->rip, &regs->r8,	&regs->r9,  &regs->r10,
		&regs->r11, &regs->r12, &regs->r13, &regs->r14, &regs->r15,
	};

	memset(regs, 0, sizeof(*regs));
	for (int i = 0; i < FAULTS_N_REGS; i++)
		*to[i] = reg[i];
}

static int faults_sample(struct ktr__live_faults *faults, struct ktr__live_rounds *rounds)
{
	const struct faults_sample *from = (const void *)faults->record;
	struct ktr__live_sample sample = { .state = 'R', .is_fault = 1, .frame = faults->frame };
	struct ktr__live_thread thread = { .tid = 0 };
	const char *why = NULL;
	uint64_t n_stack = 0;

	/* Of what has no registers nothing else is where it is. */
	if (from->header.size < offsetof(struct faults_sample, reg) || (pid_t)from->pid != rounds->pid ||
	    (rounds->tid && (pid_t)from->tid != rounds->tid))
		return 0;
	sample.row = ktr__live_rounds_row(rounds, (pid_t)from->tid);
	if (!sample.row)
		return -ENOMEM;
	sample.row->n++;
	sample.time_ns = from->ns;
	sample.round = from->address;
	if (from->abi != PERF_SAMPLE_REGS_ABI_64 ||
	    from->header.size < sizeof(*from) + sizeof(n_stack) + FAULTS_STACK || from->n_stack != FAULTS_STACK) {
		sample.code = ENOEXEC;
	} else {
		faults_regs(from->reg, &thread.regs);
		memcpy(&n_stack, (const char *)(from + 1) + FAULTS_STACK, sizeof(n_stack));
		thread.tid = (pid_t)from->tid;
		thread.base = ktr__live_sp(&thread.regs);
		thread.bytes = from + 1;
		thread.n_bytes = n_stack < FAULTS_STACK ? n_stack : FAULTS_STACK;
		sample.n_frames = ktr__live_frames(rounds->live, &thread, faults->frame, &why);
		sample.is_cut = why != NULL;
	}
	rounds->n_samples++;
	return rounds->sink->sample(rounds->sink->context, &sample);
}

static void faults_lost(struct ktr__live_faults *faults, struct ktr__live_rounds *rounds, uint64_t n)
{
	faults->n_lost += n;
	if (rounds->sink->lost)
		rounds->sink->lost(rounds->sink->context, n);
}

static int faults_record(struct ktr__live_faults *faults, struct ktr__live_rounds *rounds)
{
	const struct perf_event_header *header = (const void *)faults->record;
	uint64_t lost[2];

	if (header->type == PERF_RECORD_SAMPLE) {
		faults->n_taken++;
		return faults_sample(faults, rounds);
	}
	if (header->type == PERF_RECORD_LOST && header->size >= sizeof(*header) + sizeof(lost)) {
		memcpy(lost, header + 1, sizeof(lost));
		faults_lost(faults, rounds, lost[1]);
	}
	return 0;
}

/* What nobody has told of yet: events say how many faults there were, and how many records had no room. */
static void faults_missing(struct ktr__live_faults *faults, struct ktr__live_rounds *rounds)
{
	uint64_t all = 0, lost = 0, got[2] = { 0, 0 };
	size_t n = faults->has_lost ? sizeof(got) : sizeof(got[0]);

	for (uint32_t i = 0; i < faults->n_fds; i++)
		if (read(faults->fd[i], got, n) == (ssize_t)n) {
			all += got[0];
			lost += got[1];
		}
	if (faults->every == 1 && all > faults->n_taken && all - faults->n_taken > lost)
		lost = all - faults->n_taken;
	if (lost > faults->n_lost)
		faults_lost(faults, rounds, lost - faults->n_lost);
}

static void faults_copy(const struct faults_cpu *cpu, uint64_t at, void *to, size_t n)
{
	const char *ring = cpu->map + sysconf(_SC_PAGESIZE);
	size_t from = at % cpu->n_bytes, first = cpu->n_bytes - from < n ? cpu->n_bytes - from : n;

	memcpy(to, ring + from, first);
	memcpy((char *)to + first, ring, n - first);
}

/* What a ring has now. *fills: it was half full. */
static int faults_drain(struct ktr__live_faults *faults, struct faults_cpu *cpu, struct ktr__live_rounds *rounds,
			int *fills)
{
	struct perf_event_mmap_page *page = (void *)cpu->map;
	struct perf_event_header header;
	uint64_t at, end;
	int rc = 0;

	if (!page)
		return 0;
	end = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	*fills |= end - page->data_tail > cpu->n_bytes / 2;
	for (at = page->data_tail; at < end && (!rc || rc == -ECANCELED); at += header.size) {
		faults_copy(cpu, at, &header, sizeof(header));
		if (header.size < sizeof(header))
			return -EPROTO;
		faults_copy(cpu, at, faults->record, header.size);
		__atomic_store_n(&page->data_tail, at + header.size, __ATOMIC_RELEASE);
		rc = faults_record(faults, rounds);
	}
	return rc;
}

/* A process is over when all of its threads are. */
static int faults_is_over(const struct ktr__live_rounds *rounds)
{
	struct ktr__live_taken taken = { .pid = rounds->pid, .tid = rounds->tid };
	uint32_t n = 1;
	pid_t *tid = rounds->tid ? NULL : ktr__live_threads(rounds->pid, &n);

	if (!rounds->tid && !tid)
		return 1;
	taken.tid = tid ? tid[0] : rounds->tid;
	free(tid);
	return n == 1 && (ktr__live_look(&taken) || strchr("ZXx", taken.state));
}

int ktr__live_faults(struct ktr__live_faults *faults, struct ktr__live_rounds *rounds)
{
	uint64_t now = ktr__tracee_wait_now(), opened = now;
	int rc = 0, is_over = 0, ends = 0, fills = 0;

	while (!rc && !is_over && !ends) {
		/* Once more in the end: what there is of the last moment. */
		ends = rounds->sink->wait(rounds->sink->context, now + (fills ? FAULTS_SOON_NS : FAULTS_LOOK_NS));
		now = ktr__tracee_wait_now();
		if (now - opened > FAULTS_REOPEN_NS) {
			is_over = faults_is_over(rounds);
			ktr__live_rounds_reopen(rounds);
			opened = now;
		}
		fills = 0;
		if (ends || is_over)
			for (uint32_t i = 0; i < faults->n_fds; i++)
				ioctl(faults->fd[i], PERF_EVENT_IOC_DISABLE, 0);
		for (uint32_t i = 0; i < faults->n_cpus && (!rc || rc == -ECANCELED); i++)
			rc = faults_drain(faults, &faults->cpu[i], rounds, &fills);
		rounds->n_rounds++;
	}
	if (!rc || rc == -ECANCELED)
		faults_missing(faults, rounds);
	return !rc && is_over ? -ESRCH : rc;
}

#else

int ktr__live_faults_open(const struct ktr__live_rounds *rounds, struct ktr__live_faults **out)
{
	(void)rounds;
	*out = NULL;
	return -ENOTSUP;
}

void ktr__live_faults_close(struct ktr__live_faults *faults)
{
	(void)faults;
}

int ktr__live_faults(struct ktr__live_faults *faults, struct ktr__live_rounds *rounds)
{
	(void)faults, (void)rounds;
	return -ENOTSUP;
}

#endif
